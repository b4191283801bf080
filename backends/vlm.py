"""A judge on this machine: any image-text model of transformers, asked for one letter, read from its logits."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.backends import duel
from paintcli.backends.local import (
    OneAtATime,
    Precision,
    from_hub_or_disk,
    loading_options,
    must_fit,
    pick_device,
    require,
)
from paintcli.backends.protocols import Message
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.painting import Painting

if TYPE_CHECKING:
    from PIL.Image import Image

WHOLE = ("visual", "vision_tower", "vision_model", "multi_modal_projector", "lm_head")
"""Modules kept in bf16 when the language model is quantised: they see the paintings, and are small."""
PROMPT = {"add_generation_prompt": True, "enable_thinking": False, "return_tensors": "pt"}
"""For chat templates. A model that may think would put its thoughts where the letter is read."""


class Vlm:
    """Comparer: the probability of the letter A against the letter B at the answer's first place.

    Nothing is sampled and nothing parsed, so the same two pictures in the same order give the same number. One order
    alone leans to one letter; `judging.compare` asks both. `model` is a folder or a Hub id; the weights are read at
    the first question, or by `load`. 8 and 4 bit are for dense models only.
    """

    def __init__(self, model: str, *, precision: Precision = "bf16", device: str | None = None) -> None:
        require("torch", "torch", "train")
        require("transformers", "transformers", "train")
        if model.startswith((".", "/", "~")):  # a path, never a Hub id
            model = str(Path(model).expanduser())
            if not Path(model).is_dir():
                raise PaintError(f"There is no model folder {model}.")
        self.name = f"vlm:{model}"
        self._model = model
        self._precision: Precision = precision
        self._device = device
        self._queue = OneAtATime(self.name)

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        """Probability that `first`, shown as picture A, is painted better. Raises Unavailable when memory runs out."""
        return await self._queue.run(lambda: self._prefer(duel.shown(first), duel.shown(second), criteria))

    def load(self) -> None:
        """Read the weights now. Raises PaintError when the model is not there or no image-text model."""
        self._queue.run_sync(self._load)

    def close(self) -> None:
        """Let go of the weights; the next question reads them again."""
        self._queue.model = None

    def _load(self) -> tuple[Any, Callable[..., Any], list[int], list[int]]:
        return self._queue.read_once(self._read)

    def _read(self) -> tuple[Any, Callable[..., Any], list[int], list[int]]:
        from transformers import AutoConfig, AutoModelForImageTextToText

        config = from_hub_or_disk(AutoConfig.from_pretrained, self._model)
        text = config.get_text_config()
        experts = getattr(text, "num_experts", None) or getattr(text, "num_local_experts", None)
        if experts and self._precision in ("8bit", "4bit"):
            # Fused experts are not Linear layers: of Qwen3-VL-30B-A3B 4-bit loading would leave nine tenths in bf16.
            raise UsageError(
                f"{self._model} is a mixture of experts, which bitsandbytes cannot quantise; "
                "use it as gguf:<model>+<mmproj>, or in bf16."
            )
        options = loading_options(self._precision, pick_device(self._device), whole=WHOLE)
        with must_fit(self.name):
            model = from_hub_or_disk(AutoModelForImageTextToText.from_pretrained, self._model, **options).eval()
        prepare, tokenizer = _preparer(self._model, config.model_type)
        return model, prepare, _spellings(tokenizer, "A"), _spellings(tokenizer, "B")

    def _prefer(self, first: Image, second: Image, criteria: str) -> float:
        import torch

        model, prepare, a, b = self._load()
        parts = {"type": "image", "image": first}, {"type": "image", "image": second}
        inputs = prepare(duel.messages(parts, criteria, duel.LETTER))
        inputs = {
            name: value.to(model.device, model.dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
        }
        with torch.inference_mode():
            logits = model(**inputs, logits_to_keep=1, use_cache=False).logits[0, -1].float()
        gap = torch.logsumexp(logits[a], 0) - torch.logsumexp(logits[b], 0)
        probability = torch.sigmoid(gap).item()
        if not math.isfinite(probability):
            raise Unavailable(f"{self.name} answered with a number that is not finite.")
        return probability


def _spellings(tokenizer: Any, letter: str) -> list[int]:
    """The tokens that are `letter` alone, with and without the space that some tokenizers put before a word."""
    encoded = (tokenizer.encode(text, add_special_tokens=False) for text in (letter, " " + letter))
    tokens = sorted({ids[0] for ids in encoded if len(ids) == 1})
    if not tokens:
        raise PaintError(
            f"This model has no token for the letter {letter}, so its answer cannot be read from its logits."
        )
    return tokens


def _preparer(model: str, kind: str) -> tuple[Callable[[list[Message]], dict[str, Any]], Any]:
    """A function from one user turn with its pictures to the model's tensors, and the tokenizer."""
    from transformers import AutoProcessor

    if kind.startswith("qwen"):
        return _qwen_preparer(model)
    processor = from_hub_or_disk(AutoProcessor.from_pretrained, model)

    def prepare(messages: list[Message]) -> dict[str, Any]:
        return dict(processor.apply_chat_template(messages, tokenize=True, return_dict=True, **PROMPT))

    return prepare, processor.tokenizer


def _qwen_preparer(model: str) -> tuple[Callable[[list[Message]], dict[str, Any]], Any]:
    """The Qwen-VL family, put together from its parts: its own processor wants torchvision, for videos alone."""
    import torch
    from transformers import AutoTokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    tokenizer = from_hub_or_disk(AutoTokenizer.from_pretrained, model)
    pictures = from_hub_or_disk(Qwen2VLImageProcessorPil.from_pretrained, model)
    pad = "<|image_pad|>"
    pad_id = tokenizer.convert_tokens_to_ids(pad)

    def prepare(messages: list[Message]) -> dict[str, Any]:
        images = [part["image"] for part in messages[0]["content"] if part["type"] == "image"]
        seen = pictures(images=images, return_tensors="pt")
        text, *rest = tokenizer.apply_chat_template(messages, tokenize=False, **PROMPT).split(pad)
        for grid, after in zip(seen["image_grid_thw"], rest, strict=True):
            text += pad * int(grid.prod() // pictures.merge_size**2) + after
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        kinds = (ids == pad_id).to(torch.int32)  # without them the model cannot lay out its three position axes
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "mm_token_type_ids": kinds, **seen}

    return prepare, tokenizer
