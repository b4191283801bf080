"""What every model loaded on this machine needs: the device, the precision, its files, and one thread to run in."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from paintcli.backends.protocols import Message
from paintcli.errors import PaintError, Unavailable, UsageError

Precision = Literal["fp32", "bf16", "8bit", "4bit"]
PRECISIONS = ("fp32", "bf16", "8bit", "4bit")

T = TypeVar("T")


def require(module: str, package: str, extra: str) -> None:
    """Raises UsageError naming the extra to install when `module` cannot be imported. Imports nothing."""
    if importlib.util.find_spec(module) is None:
        raise UsageError(f"This needs {package}, which is not installed: pip install 'paintcli[{extra}]'.")


def pick_device(device: str | None = None) -> str:
    """`device` when given, else the best torch sees: cuda, mps or cpu."""
    import torch

    if device is not None:
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def loading_options(precision: Precision, device: str, whole: tuple[str, ...] = ()) -> dict[str, Any]:
    """Keyword arguments of transformers' `from_pretrained` for `precision` on `device`.

    `whole` names modules that stay unquantised. 8 and 4 bit are bitsandbytes (LLM.int8, NF4) with bf16 arithmetic.
    """
    import torch
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # nothing but the command line prints
    if precision not in PRECISIONS:
        raise UsageError(f"There is no precision {precision!r}; choose one of {', '.join(PRECISIONS)}.")
    options: dict[str, Any] = {
        "dtype": torch.float32 if precision == "fp32" else torch.bfloat16,
        "device_map": {"": device},
    }
    if precision in ("8bit", "4bit"):
        require("bitsandbytes", "bitsandbytes", "train")
        # It warns of the same cast once a layer and picture.
        logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
        from transformers import BitsAndBytesConfig

        whole = tuple(rf"(?:.*\.)?{name}" for name in whole)  # read as regular expressions from the full name's start
        options["quantization_config"] = (
            BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=list(whole))
            if precision == "8bit"
            else BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_compute_dtype=torch.bfloat16,
                llm_int8_skip_modules=list(whole),
            )
        )
    return options


@cache
def hub_answers() -> bool:
    """Whether the Hub can be reached, asked once and briefly: its own client would retry for half a minute a file."""
    import httpx2
    from huggingface_hub import constants
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    try:
        get_session().head(constants.ENDPOINT, timeout=5)
    except (httpx2.RequestError, OfflineModeIsEnabled):
        return False
    return True


def fetch(repo: str, filename: str) -> Path:
    """A file of a Hub model: from the local cache, else downloaded. Raises PaintError when it cannot be had."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        return Path(hf_hub_download(repo, filename, local_files_only=not hub_answers()))
    except GatedRepoError:
        raise PaintError(f"The model {repo} asks for its licence to be accepted on the Hub, and for a token.") from None
    except RepositoryNotFoundError:
        raise PaintError(f"There is no model {repo} on the Hub, or your token may not read it.") from None
    except RemoteEntryNotFoundError:
        raise PaintError(f"{repo} on the Hub holds no {filename}.") from None
    except LocalEntryNotFoundError:
        raise PaintError(f"The model {repo} is {NOT_AT_HAND}.") from None
    except HfHubHTTPError as error:
        raise PaintError(f"The Hub did not hand out {repo}/{filename} ({error}).") from error


NOT_AT_HAND = "not on this disk and the Hub cannot be reached; connect once, or give a local path"


def from_hub_or_disk(load: Callable[..., T], model: str, **options: Any) -> T:
    """`load(model, **options)` (a transformers `from_pretrained`) with its many failures as one PaintError sentence."""
    folder = Path(model).is_dir()
    offline = not folder and not hub_answers()
    try:
        return load(model, local_files_only=folder or offline, **options)
    except (OSError, ValueError, KeyError) as error:  # what transformers raises for absent, half and foreign folders
        if offline:
            raise PaintError(f"The model {model} is {NOT_AT_HAND}.") from error
        reason = " ".join(str(error).split())[:160]
        where = "folder" if folder else "model of the Hub"
        raise PaintError(f"The {where} {model} holds nothing that can be loaded here ({reason}).") from error


@contextmanager
def must_fit(name: str) -> Iterator[None]:
    """Around the reading of weights: too little memory is no outage there, but the wrong model for this machine."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise PaintError(f"{name} does not fit into memory here; try PAINT_PRECISION=8bit or 4bit.") from error


def is_out_of_memory(error: Exception) -> bool:
    """Told by name and words, not by torch's own class (a RuntimeError), so that llama.cpp needs no torch."""
    words = str(error)
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"  # a GPU's
        or "not enough memory" in words  # a CPU's, on Windows and elsewhere
        or "can't allocate memory" in words
    )


FENCE = "```javascript\n"


def as_text(messages: Sequence[Message]) -> str:
    """A chat for a model that never learned one: plain text up to where the sketch begins (FENCE)."""
    return "\n\n".join(str(message["content"]) for message in messages) + f"\n\n{FENCE}"


class OneAtATime:
    """Runs a model's blocking calls in a thread, one at a time, and turns running out of memory into Unavailable.

    One at a time because two forward passes side by side only double the memory: a GPU, like llama.cpp, is busy
    with one already.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.model: Any = None
        self._refusal: PaintError | None = None
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(self.run_sync, work)

    def run_sync(self, work: Callable[[], T]) -> T:
        with self._lock:
            try:
                return work()
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                raise Unavailable(f"{self.name} ran out of memory while it worked.") from error

    def read_once(self, read: Callable[[], T]) -> T:
        """The model as `read` returned it the first time; a PaintError, too, is kept: it would only come again.

        To be called inside `run`.
        """
        if self._refusal is not None:
            raise self._refusal
        if self.model is None:
            try:
                self.model = read()
            except PaintError as error:
                self._refusal = error
                raise
        return cast(T, self.model)
