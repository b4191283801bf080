"""The memory plan: what a run will need on its card, part by part, before anything is loaded."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paintcli.errors import PaintError
from paintcli.training.recipe import Recipe

GB = 1e9
"""Gigabytes are 10⁹ bytes here, as on the card's label."""

H200 = 141.0
PROMPT_TOKENS = 1500
"""What the hibiscus prompt takes, rounded up."""

CONTEXT = 1.5 * GB
"""CUDA context, kernels and cuBLAS workspaces."""
FRAGMENTATION = 0.06
"""Share of what is not weights that the caching allocator loses."""


@dataclass(frozen=True)
class Part:
    """One thing on the card. `size` in bytes; `why` is the arithmetic in words."""

    name: str
    size: float
    why: str


@dataclass(frozen=True)
class Plan:
    """Everything that lies on the device at the worst moment of a step. Sizes in bytes."""

    parts: tuple[Part, ...]
    capacity: float
    where: str

    @property
    def total(self) -> float:
        return sum(p.size for p in self.parts)

    @property
    def fits(self) -> bool:
        return self.total <= self.capacity

    def check(self) -> None:
        """Raises PaintError, in one sentence, when it does not fit."""
        if self.fits:
            return
        largest = max(self.parts, key=lambda p: p.size)
        raise PaintError(
            f"This run needs about {self.total / GB:.0f} GB, most of it for {largest.name} "
            f"({largest.size / GB:.0f} GB), but {self.where} has {self.capacity / GB:.0f} GB: "
            "run it with --where hub, or choose a smaller model (--preset 4b) or another --judge or --scorer."
        )


def plan(recipe: Recipe, config: Any, parameters: int, trainable: int, where: str = "local") -> Plan:
    """The plan of `recipe` for a policy of this configuration and these parameter counts (coverage.py counts them)."""
    text = config.get_text_config()
    small = {"fp32": 4, "bf16": 2, "4bit": 2}[recipe.precision]
    parts = [_weights(recipe, text, parameters, small)]
    parts.append(Part("adapter", trainable * 16, f"{trainable:,} parameters × 16 bytes: fp32, gradient, two moments"))
    parts.append(max(_training(recipe, text, small), _generation(recipe, text, small), key=lambda p: p.size))
    parts += _scorer(recipe) + _judge(recipe)
    capacity, place, is_gpu = machine(recipe, where)
    loose = sum(p.size for p in parts if not p.name.startswith("policy"))
    if is_gpu:
        parts.append(
            Part("context and gaps", CONTEXT + FRAGMENTATION * loose, "1.5 GB, and 6 % of what is not weights")
        )
    else:
        parts.append(Part("libraries", 1.0 * GB, "Python, torch and the browser"))
    return Plan(tuple(parts), capacity, place)


def machine(recipe: Recipe, where: str = "local") -> tuple[float, str, bool]:
    """(bytes, in words, whether it is a GPU) of what the run would be on."""
    if where == "hub":
        return (recipe.memory_gb or H200) * GB, "an H200", True
    import psutil
    import torch

    if recipe.device in ("auto", "cuda") and torch.cuda.is_available():
        total = torch.cuda.get_device_properties(0).total_memory
        return recipe.memory_gb * GB or float(total), torch.cuda.get_device_name(0), True
    if recipe.device == "cuda":
        raise PaintError("device = cuda was asked for, but torch sees no GPU on this machine.")
    return recipe.memory_gb * GB or float(psutil.virtual_memory().total), "this machine, without a GPU,", False


def _weights(recipe: Recipe, text: Any, parameters: int, small: int) -> Part:
    if recipe.precision != "4bit":
        return Part("policy weights", parameters * small, f"{parameters / 1e9:.2f} billion × {small} bytes")
    # NF4 quantises linear modules only: embeddings, head and fused experts keep 16 bits
    experts = getattr(text, "num_experts", 0) or 0
    whole = text.vocab_size * text.hidden_size * (1 if text.tie_word_embeddings else 2)
    whole += experts * text.num_hidden_layers * 3 * text.hidden_size * (getattr(text, "moe_intermediate_size", 0) or 0)
    size = whole * 2 + (parameters - whole) * 0.57  # 4 bits, block scales, and norms left whole
    return Part("policy weights", size, f"{(parameters - whole) / 1e9:.2f} billion in 4 bits, {whole / 1e9:.2f} in 16")


def _training(recipe: Recipe, text: Any, small: int) -> Part:
    tokens = (PROMPT_TOKENS + recipe.max_completion * recipe.turns) * recipe.micro_batch
    hidden, layers = text.hidden_size, text.num_hidden_layers
    active = (getattr(text, "num_experts_per_tok", 0) or 0) * (getattr(text, "moe_intermediate_size", 0) or 0)
    width = active + (getattr(text, "shared_expert_intermediate_size", 0) or 0) or text.intermediate_size
    # inside a layer: about 16 activations as wide as the residual stream and 4 as wide as the MLP, for the backward
    layer = tokens * (16 * hidden + 4 * width) * small
    kept = tokens * hidden * small
    # the fused head makes tiles of logits (1,024 positions) in fp32, forward and backward
    head = min(tokens, 1024) * text.vocab_size * 4 * 2
    if recipe.gradient_checkpointing:
        return Part("activations", layers * kept + layer + head, f"{tokens:,} tokens, {layers} checkpoints, one layer")
    return Part("activations", layers * layer + head, f"{tokens:,} tokens through {layers} layers, none recomputed")


def _generation(recipe: Recipe, text: Any, small: int) -> Part:
    tokens = (PROMPT_TOKENS + recipe.max_completion * recipe.turns) * recipe.generations
    kinds = getattr(text, "layer_types", None) or ["full_attention"] * text.num_hidden_layers
    full = sum("linear" not in kind for kind in kinds)
    head_dim = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    cache = 2 * full * text.num_key_value_heads * head_dim * small * tokens
    state = 0.0
    if full < len(kinds):
        per_head = text.linear_key_head_dim * text.linear_value_head_dim
        state = (len(kinds) - full) * text.linear_num_value_heads * per_head * 4 * recipe.generations
    # the sampler sorts a copy of the logits of every sequence, in fp32
    logits = recipe.generations * text.vocab_size * 4 * 4
    return Part(
        "generation", cache * 1.5 + state + logits, f"key-value cache of {tokens:,} tokens, half as much growing"
    )


def _scorer(recipe: Recipe) -> list[Part]:
    if recipe.is_control or not recipe.weights().wants("hpsv3") or recipe.scorer.partition(":")[0] != "hpsv3":
        return []
    # 16.6 is the file's size: bf16 body, fp32 head; 4 and 8 bit leave embeddings and vision tower whole
    size = {"4bit": 6.2, "8bit": 9.4, "fp32": 33.2}.get(_precision(), 16.6)
    return [Part("HPSv3", (size + 1.0) * GB, f"{size} GB of weights, 1 GB at work")]


def _judge(recipe: Recipe) -> list[Part]:
    name, _, rest = recipe.judge.partition(":")
    if recipe.is_control or not recipe.weights().wants("judge"):
        return []
    if name == "gguf":
        files = [Path(f) for f in rest.split("+")]
        size = float(sum(f.stat().st_size for f in files if f.is_file()))
        return [Part("judge", size + 2 * GB, "its files, 2 GB of context and picture")]
    if name == "vlm":
        billions = re.search(r"(\d+(?:\.\d+)?)B", rest)
        each = {"4bit": 0.7, "8bit": 1.2, "fp32": 4.2}.get(_precision(), 2.1)
        size = float(billions.group(1) if billions else 8) * each * GB
        return [Part("judge", size + 2 * GB, f"{rest} at {each} bytes a parameter, 2 GB at work")]
    return []


def _precision() -> str:
    """What HPSv3 and a local judge are loaded in (backends/specs.py reads the same variable)."""
    return os.environ.get("PAINT_PRECISION") or "bf16"
