"""A trained policy found again: from a run folder or an adapter to a model that writes, every tensor accounted for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paintcli.errors import UsageError
from paintcli.training import state
from paintcli.training.policy import ADAPTER, device_of, sampler
from paintcli.training.recipe import FILE, Recipe, compose

ADAPTER_CONFIG = "adapter_config.json"

if TYPE_CHECKING:
    from paintcli.backends.policy import Policy


HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class Trained:
    """Where a trained policy lies. `step` and `run` are None for an adapter that is no run's."""

    name: str
    recipe: Recipe
    adapter: Path
    step: int | None = None
    run: Path | None = None


def is_trained(folder: Path) -> bool:
    """Whether a folder is a run or an adapter."""
    return (folder / FILE).is_file() or (folder / ADAPTER_CONFIG).is_file()


def find(spec: str) -> Trained:
    """What "RUN_OR_ADAPTER" names: a run's final adapter, else its newest whole state; an adapter folder, also one of
    a run's states; or an adapter on the Hub, owner/name, downloaded when the cache lacks it.

    Raises UsageError or PaintError in one sentence.
    """
    folder = Path(spec)
    if not folder.exists() and HUB_ID.fullmatch(spec):
        return alone(from_hub(spec), spec)
    if (folder / FILE).is_file():
        recipe = recipe_of(folder)
        if (folder / ADAPTER / ADAPTER_CONFIG).is_file():
            return Trained(folder.name, recipe, folder / ADAPTER, recipe.steps, folder)
        saved, _ = state.newest(folder)
        if saved is None:
            raise UsageError(f"{folder} has no saved state yet: not one step is done.")
        return Trained(folder.name, recipe, saved, state.step_of(saved), folder)
    if (folder / ADAPTER_CONFIG).is_file():
        run = folder.resolve().parent.parent
        if (run / FILE).is_file() and folder.resolve().parent.name == state.FOLDER:
            return Trained(run.name, recipe_of(run), folder, state.step_of(folder), run)
        return alone(folder, folder.name)
    raise UsageError(f"{spec} is neither a run (no {FILE}) nor an adapter (no {ADAPTER_CONFIG}).")


def recipe_of(run: Path) -> Recipe:
    recipe = Recipe.read(run)
    if recipe.is_control:
        raise UsageError(f"{run} is a control run: its policy writes digits, there is nothing to paint.")
    return recipe


def alone(adapter: Path, name: str) -> Trained:
    """An adapter that came without its run: it samples as the published recipe does."""
    from paintcli.backends.policy import adapter_config

    base = str(adapter_config(adapter).get("base_model_name_or_path") or "")
    if not base:
        raise UsageError(f"The adapter {name} does not say which model it belongs to (base_model_name_or_path).")
    return Trained(name.replace("/", "--"), compose("judge-led", None, {"model": base, "stand_ins": True}), adapter)


def from_hub(repo: str) -> Path:
    """The folder of an adapter on the Hub. Raises PaintError when there is none, or it is not to be had."""
    from paintcli.backends.local import fetch
    from paintcli.backends.policy import ADAPTER_FILE

    fetch(repo, ADAPTER_FILE)
    return fetch(repo, ADAPTER_CONFIG).parent


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
    return sampler(recipe, policy.with_saved_adapter(model, trained.adapter).eval(), words, trained.name)
