"""A language model on this machine that writes sketches, with an adapter whose every tensor found its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from paintcli.backends.local import OneAtATime, Precision, from_hub_or_disk, loading_options, pick_device, require
from paintcli.backends.protocols import Message
from paintcli.errors import PaintError, UsageError

ADAPTER_FILE = "adapter_model.safetensors"


def load_base(model: str, precision: str = "bf16", device: str | None = None, multimodal: bool = False) -> Any:
    """(model, tokenizer) of a local folder or a Hub id. Raises PaintError in one sentence when there is none."""
    require("torch", "torch", "train")
    require("transformers", "transformers", "train")
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer

    if model.startswith((".", "/", "~")) and not Path(model).expanduser().is_dir():
        raise PaintError(f"There is no model folder {model}.")
    options = loading_options(cast(Precision, precision), pick_device(device), whole=("lm_head",))
    kind = AutoModelForImageTextToText if multimodal else AutoModelForCausalLM
    loaded = from_hub_or_disk(kind.from_pretrained, model, **options)
    words = from_hub_or_disk(
        (AutoProcessor if multimodal else AutoTokenizer).from_pretrained, model, padding_side="left"
    )
    return loaded, words


def adapter_names(folder: Path) -> dict[str, tuple[int, ...]]:
    """The tensors of a saved adapter: name → shape, read from the file's header. Raises UsageError if it is none."""
    from safetensors import SafetensorError, safe_open

    path = folder / ADAPTER_FILE
    if not path.is_file():
        raise UsageError(f"{folder} holds no adapter: there is no {ADAPTER_FILE}.")
    try:
        with safe_open(path, "pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise PaintError(f"{path} is damaged ({error}).") from error


def adapter_config(folder: Path) -> dict[str, Any]:
    path = folder / "adapter_config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} holds no adapter: its adapter_config.json cannot be read.") from error
    return config


def was_multimodal(names: Sequence[str]) -> bool:
    """Whether an adapter was trained on the multimodal class: there the layers lie under `language_model`."""
    return any(".language_model." in name or ".visual." in name for name in names)


def with_saved_adapter(model: Any, folder: Path, trainable: bool = False) -> Any:
    """`model` with the adapter of `folder`. Raises PaintError unless every saved tensor found its place.

    peft itself only warns: on the wrong class of model most of an adapter is dropped and the base model answers.
    """
    from peft import PeftModel, get_peft_model_state_dict

    saved = adapter_names(folder)
    try:
        adapted = PeftModel.from_pretrained(model, str(folder), is_trainable=trainable)
    except (RuntimeError, ValueError) as error:
        raise PaintError(
            f"The adapter {folder} does not fit its model ({' '.join(str(error).split())[:160]})."
        ) from error
    placed = {name: tuple(tensor.shape) for name, tensor in get_peft_model_state_dict(adapted).items()}
    homeless = sorted(name for name, shape in saved.items() if placed.get(name) != shape)
    empty = sorted(placed.keys() - saved.keys())
    if homeless or empty:
        example = (homeless or empty)[0]
        raise PaintError(
            f"Of the {len(saved)} tensors of the adapter {folder}, {len(homeless)} found no place in this model and "
            f"{len(empty)} places stayed empty (for one, {example}): it belongs to another model or class of model."
        )
    return adapted


class Policy:
    """A `Generator` on this machine. `model` is loaded (with or without an adapter), `tokenizer` its tokenizer.

    Sampling as in training: `temperature`, `top_p`, `top_k`, at most `tokens` new tokens.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, tokens: int = 8192, temperature: float = 1.0, top_p: float = 0.95,
        top_k: int = 20, thinking: bool = False, name: str = "policy",
    ) -> None:  # fmt: skip
        self.model, self.tokenizer, self.name, self.tokens = model, tokenizer, name, tokens
        self.words = getattr(tokenizer, "tokenizer", tokenizer)
        self.sampling = {"temperature": temperature, "top_p": top_p, "top_k": top_k, "do_sample": True}
        self.thinking = thinking
        self._queue = OneAtATime(name)

    async def write(self, messages: Sequence[Message]) -> str:
        """One reply. Raises Unavailable when memory runs out."""
        replies = await self._queue.run(lambda: self._write(messages, 1))
        return replies[0][0]

    def write_many(self, messages: Any, count: int, seed: int) -> list[tuple[str, int, bool]]:
        """`count` replies to the same prompt in one batch: (text, tokens, whether it ended by itself).

        Equal seed, equal replies, on one machine. `messages` may be plain text for a model without a chat template.
        """
        from transformers import set_seed

        def work() -> list[tuple[str, int, bool]]:
            set_seed(seed)
            return self._write(messages, count)

        return self._queue.run_sync(work)

    def _write(self, messages: Any, count: int) -> list[tuple[str, int, bool]]:
        prompt = self.encode(messages)
        ends = self.model.generation_config.eos_token_id
        stops = {self.words.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}
        training = self.model.training
        self.model.eval()
        try:
            ids = self.model.generate(
                **prompt, **self.sampling, num_return_sequences=count, max_new_tokens=self.tokens, use_cache=True,
                eos_token_id=sorted(stops), pad_token_id=_pad(self.words),
            )  # fmt: skip
        finally:
            self.model.train(training)
        replies = []
        for row in ids[:, prompt["input_ids"].shape[1] :].tolist():
            end = next((i for i, token in enumerate(row) if token in stops), None)
            kept = row if end is None else row[: end + 1]
            replies.append((self.words.decode(kept, skip_special_tokens=True), len(kept), end is not None))
        return replies

    def encode(self, messages: Any) -> dict[str, Any]:
        """The prompt as tensors on the model's device."""
        if isinstance(messages, str):
            encoded = self.words(messages, return_tensors="pt", return_token_type_ids=False)
        else:
            encoded = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt",
                enable_thinking=self.thinking,
            )  # fmt: skip
        return {k: v.to(self.model.device) for k, v in encoded.items()}


def _pad(words: Any) -> int:
    return int(words.pad_token_id if words.pad_token_id is not None else words.eos_token_id)
