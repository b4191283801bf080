"""A trained policy found again: from a run folder or an adapter to a model that writes, every tensor accounted for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paintcli.errors import UsageError
from paintcli.training import state
from paintcli.training.recipe import FILE, Recipe, compose
from paintcli.training.run import ADAPTER, device_of

if TYPE_CHECKING:
    from paintcli.backends.policy import Policy


@dataclass(frozen=True)
class Trained:
    """Where a trained policy lies. `step` is None for an adapter that is no run's."""

    name: str
    recipe: Recipe
    adapter: Path
    step: int | None


def find(spec: str) -> Trained:
    """What "RUN_OR_ADAPTER" names: a run's final adapter, else its newest whole state; or an adapter folder.

    Raises UsageError in one sentence.
    """
    folder = Path(spec)
    if (folder / FILE).is_file():
        recipe = Recipe.read(folder)
        if recipe.is_control:
            raise UsageError(f"{folder} is a control run: its policy writes digits, there is nothing to paint.")
        if (folder / ADAPTER / "adapter_config.json").is_file():
            return Trained(folder.name, recipe, folder / ADAPTER, recipe.steps)
        saved, _ = state.newest(folder)
        if saved is None:
            raise UsageError(f"{folder} has no saved state yet: not one step is done.")
        return Trained(folder.name, recipe, saved, state.step_of(saved))
    if (folder / "adapter_config.json").is_file():
        from paintcli.backends.policy import adapter_config

        base = str(adapter_config(folder).get("base_model_name_or_path") or "")
        recipe = compose("judge-led", None, {"model": base, "stand_ins": True})
        return Trained(folder.name, recipe, folder, None)
    raise UsageError(f"{spec} is neither a run (no {FILE}) nor an adapter (no adapter_config.json).")


def load(trained: Trained) -> Policy:
    """The `backends.policy.Policy` of a trained policy, sampling as it was trained.

    The class of the base follows from the adapter's tensors: one trained on the multimodal class has its layers under
    another name. Raises PaintError when base or adapter cannot be had, or a tensor finds no place.
    """
    from paintcli.backends import policy

    recipe = trained.recipe
    names = list(policy.adapter_names(trained.adapter))
    model, words = policy.load_base(
        recipe.model, recipe.precision, device_of(recipe), policy.was_multimodal(names) or recipe.multimodal
    )
    return policy.Policy(
        policy.with_saved_adapter(model, trained.adapter).eval(),
        words,
        tokens=recipe.max_completion,
        temperature=recipe.temperature,
        top_p=recipe.top_p,
        top_k=recipe.top_k,
        thinking=recipe.thinking,
        name=trained.name,
    )
