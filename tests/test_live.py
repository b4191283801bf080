"""The live panel: what it says of the time that is left."""

from pathlib import Path

from paintcli.cli.live import Panel
from paintcli.training.recipe import compose
from paintcli.training.run import Event


def stepped(panel: Panel, step: int, seconds: float) -> None:
    panel.told(Event("step", step, curve={"step": step, "reward": 0.5, "step_time": seconds}))


def test_time_left_is_the_pace_of_the_last_ten_steps(tmp_path: Path) -> None:
    panel = Panel(compose("control", None, {"steps": 60}), tmp_path, 0, False)
    assert panel.left() == "–"
    stepped(panel, 0, 300.0)  # the first step loads and compiles: it soon stops counting
    assert panel.left() == "4.9 h"
    for step in range(1, 21):
        stepped(panel, step, 60.0)
    assert panel.left() == "39 min"
