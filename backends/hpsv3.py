"""HPSv3 on this machine: the published checkpoint, loaded without its package, on current transformers.

The package pins transformers 4.45.2 and deepspeed, so this is a loader of our own. It was checked against the
original on a tiny random checkpoint (tests/fixtures/hpsv3): every mu equal to 1e-5, alone and in a batch.

The checkpoint is a Qwen2-VL-7B body with a head at the token `<|Reward|>`. Three things must be as they were when
it was trained, and none is what transformers does today:

* positions count 0, 1, 2 … through text and picture alike (no m-rope);
* the picture is resized once, by Pillow, to about 200,704 pixels; the processor must not resize again;
* the vocabulary has the rows that the file has, one more than the tokenizer of the body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.backends.local import (
    OneAtATime,
    Precision,
    fetch,
    from_hub_or_disk,
    loading_options,
    must_fit,
    pick_device,
    require,
)
from paintcli.errors import PaintError, Unavailable
from paintcli.painting import Painting

if TYPE_CHECKING:
    from PIL.Image import Image

REPO = "MizzenAI/HPSv3"
FILE = "HPSv3.safetensors"
BODY = "Qwen/Qwen2-VL-7B-Instruct"
"""Configuration and tokenizer come from here unless they lie beside the checkpoint; no weights do."""
REWARD_TOKEN = "<|Reward|>"
PIXELS = 256 * 28 * 28
FACTOR = 28
"""Pixels a side of one image token: patches of 14, merged two by two."""
EMBEDDING = "model.embed_tokens.weight"


def our_name(name: str) -> str | None:
    """A name in the checkpoint (transformers 4.45) as it is called in `Qwen2VLModel` today; None: not needed.

    The language head is not needed because nothing is generated, and the reward head is not part of the body.
    """
    if name.startswith(("lm_head.", "rm_head.")):
        return None
    return name if name.startswith("visual.") else name.replace("model.", "language_model.", 1)


def target_size(width: int, height: int) -> tuple[int, int]:
    """(width, height) in pixels that a picture is resized to: multiples of 28, about 200,704 pixels in all.

    The rounding is the original's to the last bit: 600×600 becomes 420×420, not 448×448, because 600/(600/448)
    falls just short of 448. Raises PaintError for a strip more than 200 times as long as wide.
    """
    if max(width, height) > 200 * min(width, height):
        raise PaintError(f"A picture of {width}×{height} pixels is too narrow a strip for HPSv3.")
    wide, high = (max(FACTOR, round(side / FACTOR) * FACTOR) for side in (width, height))
    if wide * high > PIXELS:
        shrink = math.sqrt(height * width / PIXELS)
        wide, high = (math.floor(side / shrink / FACTOR) * FACTOR for side in (width, height))
    elif wide * high < PIXELS:
        grow = math.sqrt(PIXELS / (height * width))
        wide, high = (math.ceil(side * grow / FACTOR) * FACTOR for side in (width, height))
    if min(wide, high) < FACTOR:
        raise PaintError(f"A picture of {width}×{height} pixels is too narrow a strip for HPSv3.")
    return wide, high


@cache
def _instruction() -> str:
    return (files("paintcli.prompts") / "hpsv3.md").read_text("utf-8")


def question(prompt: str) -> str:
    """The whole chat turn as text, with one `<|image_pad|>` where the picture's tokens go."""
    return (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>"
        + _instruction().replace("{text_prompt}", prompt)
        + "<|im_end|>\n<|im_start|>assistant\n"
    )


def reward_head(hidden: int) -> Any:
    """The head as trained, in float32: hidden → 1024 → 16 → (mu, sigma)."""
    from torch import nn

    return nn.Sequential(
        nn.Linear(hidden, 1024), nn.ReLU(), nn.Dropout(0.05), nn.Linear(1024, 16), nn.ReLU(), nn.Linear(16, 2)
    )


class HPSv3:
    """Scorer: HPSv3's raw mu, unbounded; the published pool lies at about 3.5 to 7.6, a blank canvas near −10.

    `model` is None for the published checkpoint, a folder holding HPSv3.safetensors (with config.json and the
    tokenizer of the body beside it, or without), or such a file. Weights are read at the first score, or by `load`.
    bf16 takes 16.6 GB; 8 and 4 bit quantise the language body only. A missing model is a PaintError.
    """

    name = "hpsv3"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        precision: Precision = "bf16",
        device: str | None = None,
        batch: int = 8,
    ) -> None:
        require("torch", "torch", "train")
        require("transformers", "transformers", "train")
        self._path = None if model is None else Path(model).expanduser()
        if self._path is not None and self._path.is_dir():
            self._path /= FILE
        if self._path is not None and not self._path.is_file():
            raise PaintError(f"There is no HPSv3 checkpoint at {self._path}.")
        self._precision: Precision = precision
        self._device = device
        self._batch = batch
        self._queue = OneAtATime(self.name)

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        """mu of each painting, in order. Raises Unavailable when memory runs out or a number is not finite."""
        return await self._queue.run(lambda: [mu for mu, _ in self._score(paintings, prompt)])

    async def score_with_sigma(self, paintings: Sequence[Painting], prompt: str) -> list[tuple[float, float]]:
        """(mu, sigma) of each painting; sigma is the head's second output, raw. The scorer Space answers with both."""
        return await self._queue.run(lambda: list(self._score(paintings, prompt)))

    def load(self) -> None:
        """Read the weights now instead of at the first score. Raises PaintError."""
        self._queue.run_sync(self._load)

    def close(self) -> None:
        """Let go of the weights; the next score reads them again."""
        self._queue.model = None

    def _load(self) -> tuple[Any, Any, Any, Any]:
        return self._queue.read_once(self._read)

    def _read(self) -> tuple[Any, Any, Any, Any]:
        from safetensors import SafetensorError, safe_open
        from transformers import AutoConfig, AutoTokenizer, Qwen2VLModel
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        path = self._path or fetch(REPO, FILE)
        body = str(path.parent) if (path.parent / "config.json").is_file() else BODY
        config = from_hub_or_disk(AutoConfig.from_pretrained, body)
        tokenizer = from_hub_or_disk(AutoTokenizer.from_pretrained, body)
        tokenizer.add_special_tokens({"additional_special_tokens": [REWARD_TOKEN]}, replace_extra_special_tokens=False)
        reward_id = tokenizer.convert_tokens_to_ids(REWARD_TOKEN)
        device = pick_device(self._device)
        try:
            with safe_open(path, framework="pt") as checkpoint:
                config.text_config.vocab_size = checkpoint.get_slice(EMBEDDING).get_shape()[0]
                names = [name for name in checkpoint.keys() if not name.startswith("lm_head.")]  # noqa: SIM118 not a dict
                weights = {name: checkpoint.get_tensor(name) for name in names}
            head = reward_head(config.text_config.hidden_size)
            head.load_state_dict(
                {n.removeprefix("rm_head."): w for n, w in weights.items() if n.startswith("rm_head.")}
            )
        except (SafetensorError, RuntimeError) as error:
            raise PaintError(f"{path} is not an HPSv3 checkpoint ({' '.join(str(error).split())[:160]}).") from error
        with must_fit(self.name):
            model, report = Qwen2VLModel.from_pretrained(
                None,
                config=config,
                state_dict={ours: weights[name] for name in weights if (ours := our_name(name))},
                output_loading_info=True,
                **loading_options(self._precision, device, whole=("visual",)),
            )
        if reward_id >= config.text_config.vocab_size:
            raise PaintError(f"{path} and the tokenizer of {body} do not belong together: no row for {REWARD_TOKEN}.")
        if wrong := [*report["missing_keys"], *report["unexpected_keys"], *report["mismatched_keys"]]:
            raise PaintError(f"{path} is not an HPSv3 checkpoint: {len(wrong)} tensors do not fit, such as {wrong[0]}.")
        # The Pillow form of the processor: the default one needs torchvision, which nothing else here does.
        processor = Qwen2VLImageProcessorPil(do_resize=False)
        return model.eval(), head.float().to(device).eval(), tokenizer, processor

    def _score(self, paintings: Sequence[Painting], prompt: str) -> Iterator[tuple[float, float]]:
        for start in range(0, len(paintings), self._batch):
            images = [painting.image for painting in paintings[start : start + self._batch]]
            yield from self._score_batch(images, prompt)

    def _score_batch(self, images: list[Image], prompt: str) -> list[tuple[float, float]]:
        import torch
        from PIL.Image import Resampling

        model, head, tokenizer, processor = self._load()
        resized = [image.resize(target_size(*image.size), Resampling.BICUBIC) for image in images]
        pixels = processor(images=resized, return_tensors="pt")
        counts = (pixels["image_grid_thw"].prod(dim=1) // processor.merge_size**2).tolist()
        texts = [question(prompt).replace("<|image_pad|>", "<|image_pad|>" * count) for count in counts]
        # Padded on the right, as in training: behind causal attention a painting's number cannot depend on the batch.
        tokens = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
        ids = tokens["input_ids"]
        places = (ids == tokenizer.convert_tokens_to_ids(REWARD_TOKEN)).nonzero()
        if len(places) != len(images):
            raise PaintError(f"The prompt {prompt!r} may not contain {REWARD_TOKEN}.")
        with torch.inference_mode():
            hidden = model(
                input_ids=ids.to(model.device),
                attention_mask=tokens["attention_mask"].to(model.device),
                position_ids=torch.arange(ids.shape[1], device=model.device)[None, None].expand(3, *ids.shape),
                pixel_values=pixels["pixel_values"].to(model.device, model.dtype),
                image_grid_thw=pixels["image_grid_thw"].to(model.device),
                use_cache=False,
            ).last_hidden_state
            answers = head(hidden[places[:, 0], places[:, 1]].float()).tolist()
        if not all(math.isfinite(number) for answer in answers for number in answer):
            raise Unavailable("HPSv3 answered with a number that is not finite.")
        return [(mu, sigma) for mu, sigma in answers]
