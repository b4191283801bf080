"""The policy of a recipe: base model, fresh adapter, and the check that the adapter reaches what it should."""

from __future__ import annotations

from typing import Any

from paintcli.errors import UsageError
from paintcli.training import control
from paintcli.training.coverage import coverage, with_adapter
from paintcli.training.recipe import Recipe
from paintcli.training.run import device_of


def load_policy(recipe: Recipe) -> tuple[Any, Any]:
    """(model with a fresh adapter, tokenizer). Raises PaintError when it cannot be had or reached."""
    from transformers import set_seed

    if recipe.is_control:
        model, words = control.policy(recipe)
    else:
        from paintcli.backends.policy import load_base

        model, words = load_base(recipe.model, recipe.precision, device_of(recipe), recipe.multimodal)
        if words.chat_template is None:
            raise UsageError(f"The model {recipe.model} has no chat template, so it cannot be asked for a sketch.")
    set_seed(recipe.seed)  # the adapter's start is random
    adapted = with_adapter(model, recipe)
    coverage(adapted).check(recipe.minimum_coverage)
    return adapted, words
