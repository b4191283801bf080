"""The policy of a recipe: base model, fresh adapter, and the check that the adapter reaches what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paintcli.errors import UsageError
from paintcli.training import control
from paintcli.training.coverage import coverage, with_adapter
from paintcli.training.recipe import Recipe
from paintcli.training.turns import Eyes

if TYPE_CHECKING:
    from paintcli.backends.policy import Policy

ADAPTER = "adapter"
"""The folder of a run that holds what it trained."""


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


def sampler(recipe: Recipe, model: Any, tokenizer: Any, name: str = "policy") -> Policy:
    """The policy of a recipe, sampling as it trains."""
    from paintcli.backends.policy import Policy

    return Policy(
        model, tokenizer, tokens=recipe.max_completion, temperature=recipe.temperature, top_p=recipe.top_p,
        top_k=recipe.top_k, thinking=recipe.thinking, name=name,
    )  # fmt: skip


def eyes_of(recipe: Recipe, tokenizer: Any) -> Eyes | None:
    """What a policy that is shown its paintings sees them with."""
    return Eyes(recipe.model, tokenizer) if recipe.multimodal and recipe.turns > 1 else None


def device_of(recipe: Recipe) -> str:
    if recipe.device != "auto":
        return recipe.device
    from paintcli.backends.local import pick_device

    return pick_device()
