"""llama.cpp on this machine: a judge (any vision GGUF with its projector, read from two logits) and a writer.

For mixtures of experts this is the way to four bits: bitsandbytes leaves fused experts whole, a Q4 GGUF does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from paintcli.backends import duel
from paintcli.backends.local import FENCE, OneAtATime, as_text, require
from paintcli.backends.protocols import EmptyReply, Message, Reply
from paintcli.errors import PaintError, Unavailable
from paintcli.painting import Painting

CONTEXT = 4096
"""Tokens: two pictures of 1,024 pixels are 2,048 of them for Qwen3-VL, the question about 150."""


class Gguf:
    """Comparer: the probability of the letter A against the letter B at the answer's first place.

    `model` and `mmproj` are GGUF files; layers go to the GPU where llama.cpp was built for one. Files are read at the
    first question, or by `load`; `close` frees the memory at once.
    """

    def __init__(self, model: str | Path, mmproj: str | Path, *, context: int = CONTEXT) -> None:
        require("llama_cpp", "llama-cpp-python", "gguf")
        self._model, self._mmproj = (Path(path).expanduser() for path in (model, mmproj))
        for path in (self._model, self._mmproj):
            _must_exist(path)
        self.name = f"gguf:{self._model.name}"
        self._context = context
        self._queue = OneAtATime(self.name)

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        """Probability that `first`, shown as picture A, is painted better. Raises Unavailable when decoding fails."""
        return await self._queue.run(lambda: self._prefer(first, second, criteria))

    def load(self) -> None:
        """Read the files now. Raises PaintError when they are no vision GGUF."""
        self._queue.run_sync(self._load)

    def close(self) -> None:
        """Free the model's memory; the next question reads it again."""
        if self._queue.model is not None:
            self._queue.model[0].close()
            self._queue.model = None

    def _load(self) -> tuple[Any, list[int], list[int]]:
        return self._queue.read_once(self._read)

    def _read(self) -> tuple[Any, list[int], list[int]]:
        from llama_cpp import Llama, mtmd_cpp
        from llama_cpp._logger import llama_log_callback
        from llama_cpp.llama_chat_format import MTMDChatHandler

        # verbose=False silences the language model only; the eyes would go on printing every picture they encode.
        mtmd_cpp.mtmd_log_set(llama_log_callback, None)
        mtmd_cpp.mtmd_helper_log_set(llama_log_callback, None)
        handler = MTMDChatHandler(clip_model_path=str(self._mmproj), verbose=False)
        try:
            model = Llama(
                str(self._model), chat_handler=handler, n_ctx=self._context, n_gpu_layers=-1, seed=0, verbose=False
            )
        except ValueError as error:
            raise PaintError(f"{self._model} is not a GGUF model that llama.cpp can read.") from error
        try:
            handler._init_mtmd_context(model)  # else a wrong projector shows at the first question only
        except ValueError as error:
            model.close()
            raise PaintError(f"{self._mmproj} is not a vision projector for {self._model.name}.") from error
        if not model.metadata.get("tokenizer.chat_template"):
            model.close()
            raise PaintError(f"{self._model} carries no chat template, so it cannot be asked anything.")
        return model, self._spellings(model, "A"), self._spellings(model, "B")

    def _spellings(self, model: Any, letter: str) -> list[int]:
        encoded = (model.tokenize(text.encode(), add_bos=False) for text in (letter, " " + letter))
        tokens = sorted({ids[0] for ids in encoded if len(ids) == 1})
        if not tokens:
            raise PaintError(f"{self._model} has no token for the letter {letter}, so its answer cannot be read.")
        return tokens

    def _prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        import numpy as np
        from llama_cpp import LogitsProcessorList

        model, a, b = self._load()
        seen: list[Any] = []

        def look(_: Any, logits: Any) -> Any:
            """Stands where a sampler's rules stand, and only reads: the one token sampled afterwards is thrown away."""
            seen.append(np.array(logits, dtype=np.float64))
            return logits

        parts = duel.image_url(first), duel.image_url(second)
        try:
            model.create_chat_completion(
                duel.messages(parts, criteria, duel.LETTER),
                max_tokens=1,
                temperature=0.0,
                logits_processor=LogitsProcessorList([look]),
            )
        except (ValueError, RuntimeError) as error:  # a context too short, or llama.cpp's own failure
            raise Unavailable(f"{self.name} could not answer ({error}).") from error
        logits = seen[0]
        gap = np.logaddexp.reduce(logits[a]) - np.logaddexp.reduce(logits[b])
        if not math.isfinite(gap):
            raise Unavailable(f"{self.name} answered with a number that is not finite.")
        return 1 / (1 + math.exp(-gap)) if gap > -700 else 0.0


PROMPT = 8192
"""Tokens of context kept for what is asked: the instructions, the last sketch and the critique."""


class GgufWriter:
    """Generator: a text GGUF asked through its own chat template, sampled as in training (top-p 0.95, top-k 20).

    One without a template is a base model: it continues plain text up to where the sketch begins.

    `model` is the file, `tokens` the most that a reply may have. Read at the first question or by `load`.
    """

    def __init__(self, model: str | Path, *, tokens: int = 8192) -> None:
        require("llama_cpp", "llama-cpp-python", "gguf")
        self._model = Path(model).expanduser()
        _must_exist(self._model)
        self.name = f"gguf:{self._model.name}"
        self._tokens = tokens
        self._queue = OneAtATime(self.name)

    def load(self) -> None:
        """Read the file now. Raises PaintError when it is no GGUF that can be asked anything."""
        self._queue.run_sync(self._llama)

    def close(self) -> None:
        """Free the model's memory; the next question reads it again."""
        if self._queue.model is not None:
            self._queue.model.close()
            self._queue.model = None

    async def write(self, messages: Sequence[Message], seed: int | None = None) -> Reply:
        """One reply. Raises EmptyReply when there is none, Unavailable when llama.cpp fails."""
        return await self._queue.run(lambda: self._write(messages, seed))

    def _llama(self) -> Any:
        return self._queue.read_once(self._read)

    def _read(self) -> Any:
        from llama_cpp import Llama

        _silence()
        try:
            words = Llama(str(self._model), vocab_only=True, verbose=False)  # what it was trained for, in no time
            trained = int(words.metadata[f"{words.metadata['general.architecture']}.context_length"])
            words.close()
            context = min(PROMPT + self._tokens, trained)
            model = Llama(str(self._model), n_ctx=context, n_gpu_layers=-1, verbose=False)
        except ValueError as error:
            raise PaintError(f"{self._model} is not a GGUF model that llama.cpp can read.") from error
        return model

    def _write(self, messages: Sequence[Message], seed: int | None) -> Reply:
        model = self._llama()
        how = {"max_tokens": self._tokens, "temperature": 1.0, "top_p": 0.95, "top_k": 20, "min_p": 0.0,
               "repeat_penalty": 1.0, "seed": seed}  # fmt: skip
        try:
            if model.metadata.get("tokenizer.chat_template"):
                answer = model.create_chat_completion(list(messages), **how)
                text = answer["choices"][0]["message"]["content"] or ""
            else:
                answer = model.create_completion(as_text(messages), stop=["```"], **how)
                text = FENCE + answer["choices"][0]["text"]
        except (ValueError, RuntimeError) as error:  # a context too short, or llama.cpp's own failure
            raise Unavailable(f"{self.name} could not answer ({error}).") from error
        used = answer["usage"]
        reply = Reply(text, used["prompt_tokens"], used["completion_tokens"])
        if not reply.strip():
            raise EmptyReply(f"{self.name} gave no sketch: its reply is empty.", reply)
        return reply


@cache
def _silence() -> Any:
    """Stop llama.cpp from printing: its levels were renumbered, and warnings pass as errors through verbose=False."""
    import ctypes

    import llama_cpp

    @llama_cpp.llama_log_callback
    def nothing(*_: Any) -> None:
        pass

    llama_cpp.llama_log_set(nothing, ctypes.c_void_p(0))
    return nothing  # kept: C goes on calling it


def _must_exist(path: Path) -> None:
    if not path.is_file():
        raise PaintError(f"There is no GGUF file {path}.")
