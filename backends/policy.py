"""A language model on this machine that writes sketches, with an adapter whose every tensor found its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from paintcli.backends.local import (
    FENCE,
    OneAtATime,
    Precision,
    as_text,
    from_hub_or_disk,
    loading_options,
    must_fit,
    pick_device,
    require,
)
from paintcli.backends.protocols import EmptyReply, Message, Reply
from paintcli.errors import PaintError, UsageError

ADAPTER_FILE = "adapter_model.safetensors"


def load_base(model: str, precision: str = "bf16", device: str | None = None, multimodal: bool = False) -> Any:
    """(model, tokenizer) of a local folder or a Hub id. Raises PaintError in one sentence when there is none."""
    require("torch", "torch", "train")
    require("transformers", "transformers", "train")
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

    check_folder(model)
    options = loading_options(cast(Precision, precision), pick_device(device), whole=("lm_head",))
    kind = AutoModelForImageTextToText if multimodal else AutoModelForCausalLM
    loaded = from_hub_or_disk(kind.from_pretrained, model, **options)
    return loaded, from_hub_or_disk(AutoTokenizer.from_pretrained, model, padding_side="left")


def check_folder(model: str) -> None:
    """Raises PaintError when `model` is written as a folder and is none."""
    if model.startswith((".", "/", "~")) and not Path(model).expanduser().is_dir():
        raise PaintError(f"There is no model folder {model}.")


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


def saved_adapter(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(tensors by name, configuration) of a saved adapter. Raises PaintError when either cannot be read."""
    from safetensors.torch import load_file

    adapter_names(folder)  # says what is wrong with a file that is damaged or not there
    return load_file(folder / ADAPTER_FILE), adapter_config(folder)


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
        self.sampling = {"temperature": temperature, "top_p": top_p, "top_k": top_k, "do_sample": True}
        self.thinking = thinking
        ends = model.generation_config.eos_token_id
        self.stops: set[int] = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}
        self._queue = OneAtATime(name)

    async def write(self, messages: Sequence[Message], seed: int | None = None) -> Reply:
        """One reply. Raises EmptyReply when there is none, Unavailable when memory runs out."""
        chats = bool(self.tokenizer.chat_template)  # a base model has none: it continues the text
        prompt = self.encode(messages if chats else as_text(messages))

        def work() -> list[int]:
            if seed is not None:
                import torch

                torch.manual_seed(seed)
            return self.continued([prompt])[0]

        ids = await self._queue.run(work)
        reply = Reply(("" if chats else FENCE) + self.decode(ids), len(prompt), len(ids))
        if not reply.strip():
            raise EmptyReply(f"{self.name} gave no sketch: its reply is empty.", reply)
        return reply

    def encode(self, messages: Any) -> list[int]:
        """A chat up to where the reply begins, or plain text for a model without a chat template, as token ids."""
        if isinstance(messages, str):
            ids: list[int] = self.tokenizer(messages)["input_ids"]
        else:
            ids = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True, enable_thinking=self.thinking
            )["input_ids"]
        return ids

    def decode(self, reply: Sequence[int]) -> str:
        return str(self.tokenizer.decode(reply, skip_special_tokens=True))

    def continued(self, prompts: Sequence[Sequence[int]], fields: Mapping[str, Any] | None = None) -> list[list[int]]:
        """The replies to these prompts, in one batch; each ends with its stop token unless it was cut off.

        `fields` are further keyword arguments of the model; a list of lists holds a value for every prompt token.
        """
        import torch

        device, longest = self.model.device, max(map(len, prompts))
        pad = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.tokenizer.eos_token_id

        def padded(rows: Sequence[Sequence[int]], value: int) -> Any:
            return torch.tensor([[value] * (longest - len(row)) + list(row) for row in rows], device=device)

        extra = {k: padded(v, 0) if isinstance(v, list) else v.to(device) for k, v in (fields or {}).items()}
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                ids = self.model.generate(
                    input_ids=padded(prompts, pad), attention_mask=padded([[1] * len(p) for p in prompts], 0), **extra,
                    **self.sampling, max_new_tokens=self.tokens, use_cache=True, eos_token_id=sorted(self.stops),
                    pad_token_id=pad,
                )  # fmt: skip
        finally:
            self.model.train(training)
        replies = []
        for row in ids[:, longest:].tolist():
            end = next((i for i, token in enumerate(row) if token in self.stops), len(row))
            replies.append(row[: end + 1])
        return replies


class Writer:
    """A `Generator` of this machine by name: a Hub id or a folder, read at the first question or by `load`."""

    def __init__(self, model: str, *, tokens: int = 8192, precision: Precision = "bf16") -> None:
        """Raises PaintError for a folder that is not there, UsageError when a package is missing."""
        require("torch", "torch", "train")
        require("transformers", "transformers", "train")
        check_folder(model)
        self.name = f"hf:{model}"
        self._model, self._tokens, self._precision = model, tokens, precision
        self._queue = OneAtATime(self.name)

    def load(self) -> None:
        """Read the weights now. Raises PaintError when there are none, or when they cannot be talked to."""
        self._queue.run_sync(self._policy)

    async def write(self, messages: Sequence[Message], seed: int | None = None) -> Reply:
        policy = await self._queue.run(self._policy)
        return await policy.write(messages, seed)

    def _policy(self) -> Policy:
        return self._queue.read_once(self._read)

    def _read(self) -> Policy:
        with must_fit(self.name):
            model, tokenizer = load_base(self._model, self._precision)
        return Policy(model, tokenizer, tokens=self._tokens, name=self.name)
