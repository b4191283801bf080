"""What is known of a model without its weights: its configuration, and its skeleton on the meta device."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any

from paintcli.errors import PaintError

# it warns of a missing 4-bit kernel for CPUs whenever peft is imported, 4 bit or not
getLogger("bitsandbytes").setLevel(ERROR)

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    # transformers' defaults of this configuration class are this checkpoint's shape
    "Qwen/Qwen3.5-35B-A3B": ("Qwen3_5MoeConfig", {}),
    "Qwen/Qwen3-4B-Instruct-2507": (
        "Qwen3Config",
        {
            "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": True,
        },
    ),
}  # fmt: skip
"""Published shapes of the recipes' models: a plan needs no network."""


def configuration(model: str) -> Any:
    """The transformers configuration of a local folder, a model of SHAPES, or one the Hub's cache or the Hub has.

    Raises PaintError in one sentence when there is none.
    """
    import transformers

    with quiet():
        if not Path(model).is_dir() and model in SHAPES:
            name, values = SHAPES[model]
            return getattr(transformers, name)(**values)
        try:
            return transformers.AutoConfig.from_pretrained(model)
        except (OSError, ValueError, KeyError) as error:
            where = "that folder holds no model" if Path(model).is_dir() else "it is not on disk and the Hub gave none"
            raise PaintError(f"The model {model} cannot be used: {where}.") from error


def skeleton(config: Any, multimodal: bool = False) -> Any:
    """The model without weights (meta device): its modules and shapes in under a second, for any size.

    Raises PaintError when transformers has no such class for it.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    with torch.device("meta"), quiet():
        try:
            if multimodal:
                return AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16)
            return AutoModelForCausalLM.from_config(config.get_text_config(), dtype=torch.bfloat16)
        except ValueError as error:
            kind = "no picture class" if multimodal else "no text class"
            raise PaintError(
                f"A {config.model_type} model has {kind} in transformers; try multimodal={str(not multimodal).lower()}."
            ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and advice from transformers and the Hub's client inside."""
    import datasets
    from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    disable_progress_bars()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        logging.enable_progress_bar()
        datasets.enable_progress_bars()
        if not os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS"):
            enable_progress_bars()
