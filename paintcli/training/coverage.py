"""Adapter coverage: which parts of which layers a LoRA reaches, counted on the model itself, weights or no weights."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paintcli.errors import UsageError
from paintcli.training.recipe import Recipe

EXPERT_TENSORS = ("mlp.experts.gate_up_proj", "mlp.experts.down_proj")
"""The routed experts of a mixture are two fused tensors a layer, not linear modules: no `all-linear` finds them."""

VISION = re.compile(r"(^|\.)(visual|vision_tower|vision_model|multi_modal_projector)\.")
LAYER = re.compile(r"(^|\.)layers\.(\d+)\.")

PARTS = ("full attention", "linear attention", "MLP", "shared experts", "routed experts", "router", "vision")
MIXERS = ("full attention", "linear attention")


@dataclass(frozen=True)
class Coverage:
    """How many layers have each part, in how many of them it has an adapter, and the trainable parameters."""

    parts: dict[str, tuple[int, int]]
    """part → (layers with an adapter on it, layers that have it); only parts the model has."""
    parameters: int
    trainable: int

    @property
    def mixers(self) -> tuple[int, int]:
        """(layers whose token mixer has an adapter, layers)."""
        pairs = [self.parts[p] for p in MIXERS if p in self.parts]
        return sum(a for a, _ in pairs), sum(b for _, b in pairs)

    def check(self, minimum: float) -> None:
        """Raises UsageError when fewer than `minimum` (0–1) of the layers' token mixers have an adapter."""
        reached, layers = self.mixers
        if layers and reached < minimum * layers:
            raise UsageError(
                f"These targets put an adapter on the token mixers of {reached} of {layers} layers only; "
                "use targets=all-linear, or lower minimum_coverage if that is meant."
            )


def adapter(recipe: Recipe) -> Any:
    """The recipe's peft.LoraConfig."""
    from peft import LoraConfig

    return LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear"
        if recipe.targets == "all-linear"
        else [t.strip() for t in recipe.targets.split(",")],
        target_parameters=list(EXPERT_TENSORS) if recipe.experts else None,
        exclude_modules=None if recipe.vision else r".*(visual|vision_tower|vision_model)\..*",
        task_type="CAUSAL_LM",
    )


def with_adapter(model: Any, recipe: Recipe) -> Any:
    """`model` (real or skeleton) with the recipe's adapter. Raises UsageError when a target is nowhere in it."""
    from peft import get_peft_model

    config = adapter(recipe)
    if not recipe.vision and not any(VISION.search(name) for name, _ in model.named_modules()):
        config.exclude_modules = None  # peft warns of an exclusion that excludes nothing
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        if "target" not in str(error):
            raise
        raise UsageError(f"The adapter targets {recipe.targets!r} are not in the model {recipe.model}.") from error


def coverage(model: Any) -> Coverage:
    """What the adapter of a peft model reaches. Works on the meta device too."""
    have: dict[str, set[str]] = {}
    reached: dict[str, set[str]] = {}
    for name, _ in model.named_parameters():
        plain = _plain(name)
        if found := _part(plain):
            part, layer = found
            have.setdefault(part, set()).add(layer)
            if "lora_" in name:
                reached.setdefault(part, set()).add(layer)
    return Coverage(
        {p: (len(reached.get(p, ())), len(have[p])) for p in PARTS if p in have},
        sum(p.numel() for n, p in model.named_parameters() if "lora_" not in n),
        sum(p.numel() for p in model.parameters() if p.requires_grad),
    )


def _plain(name: str) -> str:
    """A parameter's name as the base model has it, without what peft wraps around."""
    return name.replace("base_model.model.", "", 1).replace(".base_layer", "")


def _part(name: str) -> tuple[str, str] | None:
    """(part, layer) that a parameter belongs to; None for norms, embeddings and the head."""
    if VISION.search(name):
        block = re.search(r"(blocks|layers)\.(\d+)\.", name)
        return ("vision", block.group(2)) if block else None
    layer = LAYER.search(name)
    if not layer or "norm" in name.rsplit(".", 2)[-2]:
        return None
    inside = name[layer.end() :]
    if inside.startswith(("linear_attn.", "mixer.", "mamba.")):
        return "linear attention", layer.group(2)
    if "attn" in inside.split(".")[0] or "attention" in inside.split(".")[0]:
        return "full attention", layer.group(2)
    if ".shared_expert" in inside:
        return "shared experts", layer.group(2)
    if ".experts." in inside:
        return "routed experts", layer.group(2)
    if inside.startswith("mlp.gate.") or ".router." in inside:
        return "router", layer.group(2)
    return ("MLP", layer.group(2)) if inside.startswith(("mlp.", "feed_forward.")) else None


def lost(adapter_names: Iterable[str], model: Any) -> list[str]:
    """Which tensors of a saved adapter found no place in the peft `model`.

    The published adapter was trained on the multimodal class; put on the text class most of it is dropped silently.
    """
    from peft import get_peft_model_state_dict

    there = set(get_peft_model_state_dict(model))
    return sorted(set(adapter_names) - there)
