"""The live panel of `paint train`: curve, last group, exclusions, time left. Piped, it is a line a step."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.cli import output as o
from paintcli.cli.road import after_control, after_run

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from paintcli.training.recipe import Recipe
    from paintcli.training.run import Event, Outcome

BARS = " ▁▂▃▄▅▆▇█"


def sparkline(values: list[float | None], width: int) -> str:
    """Rewards, 0–1, as bars, one a step (the mean of several where there are more steps than columns); · for none."""
    if len(values) > width:
        edges = [round(i * len(values) / width) for i in range(width + 1)]
        parts = [values[a:b] for a, b in pairwise(edges)]
        values = [sum(k) / len(k) if (k := [v for v in p if v is not None]) else None for p in parts]
    return "".join("·" if v is None else BARS[1 + round(min(max(v, 0.0), 1.0) * (len(BARS) - 2))] for v in values)


class Panel:
    """What is shown of a run. `told` takes its events, from any thread."""

    def __init__(self, recipe: Recipe, folder: Path, done: int, as_json: bool) -> None:
        self.recipe, self.folder, self.as_json = recipe, folder, as_json
        self.first = done
        self.rewards: list[float | None] = []
        self.seconds: list[float] = []
        self.rows: list[Any] = []
        self.excluded = self.seen = 0
        self.probes: dict[str, Any] = {}
        self.exams: list[dict[str, Any]] = []
        self.live: Live | None = None

    def __enter__(self) -> Panel:
        from rich.live import Live

        from paintcli.rollouts import CURVE, read_curve

        self.rewards = [float(r["reward"]) if r["reward"] else None for r in read_curve(self.folder / CURVE)]
        self.rewards = self.rewards[: self.first]
        self.exams = exams(self.folder, self.first)
        if o.err().is_terminal:
            self.live = Live(self.render(), console=o.err(), refresh_per_second=2, transient=True)
            self.live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self.live:
            self.live.stop()

    def told(self, event: Event) -> None:
        match event.kind:
            case "note":
                o.say(event.text)
            case "probe":
                self.probes[event.text] = event.probe
                o.say(f"Probe {event.text}: {describe(event.probe)}")
            case "group":
                self.rows = event.rows
                self.seen += len(event.rows)
                self.excluded += sum(r.reward is None for r, _ in event.rows)
            case "exam":
                self.exams.append(event.curve)
                if self.as_json:
                    o.emit({"exam": event.curve})
                o.say(f"Exam after {event.step} steps: {examined(event.curve)}")
            case "step":
                self.rewards.append(event.curve["reward"])
                self.seconds.append(event.curve["step_time"])
                if self.as_json:
                    o.emit(event.curve)
                elif not self.live:
                    o.say(self.line(event.curve))
        if self.live:
            self.live.update(self.render())

    def left(self) -> str:
        """Time left in steps, from the pace of the last ten: a warm start and a probe before them say nothing of it."""
        if not self.seconds:
            return "–"
        last = self.seconds[-10:]
        seconds = sum(last) / len(last) * (self.recipe.steps - len(self.rewards))
        return f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.0f} min"

    def line(self, curve: dict[str, Any]) -> str:
        reward = "no reward" if curve["reward"] is None else f"reward {curve['reward']:.3f}"
        return f"step {curve['step'] + 1}/{self.recipe.steps}  {reward}  {curve['step_time']:.0f} s  left {self.left()}"

    def render(self) -> RenderableType:
        from rich.console import Group
        from rich.panel import Panel as Box
        from rich.text import Text

        width = max(20, o.err().width - 6)
        known = [r for r in self.rewards[-10:] if r is not None]
        head = Text.assemble(
            (f"step {len(self.rewards)}/{self.recipe.steps}", "bold"),
            f"   last ten {sum(known) / len(known):.3f}" if known else "",
            f"   left {self.left()}",
            (f"   {self.excluded} of {self.seen} not judged", "yellow") if self.excluded else "",
        )
        parts: list[RenderableType] = [head, Text(sparkline(self.rewards, width), style="green")]
        if self.exams:
            parts.append(
                Text(f"exam {sparkline([e['score'] for e in self.exams], width - 45)} {examined(self.exams[-1])}")
            )
        if self.rows:
            parts.append(self.thumbnails(width))
        return Box(Group(*parts), title=self.folder.name, title_align="left", border_style="dim")

    def thumbnails(self, width: int) -> RenderableType:
        """The last group: a small picture each, its reward or why there is none under it."""
        from PIL import Image
        from rich.table import Table
        from rich.text import Text

        halfcell = o.terminal_pictures().HalfcellImage

        cells = max(4, min(16, width // len(self.rows) - 1))
        table = Table.grid(padding=(0, 1, 0, 0))
        pictures: list[RenderableType] = []
        words: list[RenderableType] = []
        for rollout, png in self.rows:
            if png:
                with Image.open(io.BytesIO(png)) as image:
                    small = image.convert("RGB").resize((cells * 4, cells * 4))
                pictures.append(halfcell(small, width=cells, height=cells // 2))
            else:
                pictures.append(Text(""))
            if rollout.reward is None:
                words.append(Text("–", style="yellow"))
            elif rollout.violations:
                words.append(Text(rollout.violations[0]["code"][:cells], style="red"))
            else:
                words.append(Text(f"{rollout.reward:.2f}"))
        if any(png for _, png in self.rows):
            table.add_row(*pictures)
        table.add_row(*words)
        return table

    def summary(self, outcome: Outcome) -> None:
        """The result, on stdout."""
        from rich.table import Table

        known = [r for r in self.rewards if r is not None]
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_row("run", o.plain(str(outcome.folder)))
        table.add_row("steps", str(outcome.steps))
        if known:
            table.add_row(
                "reward", f"{mean(known[:10]):.3f} in the first ten steps, {mean(known[-10:]):.3f} in the last"
            )
        if outcome.excluded:
            table.add_row(
                "not judged", f"{outcome.excluded} of {outcome.rollouts} rollouts, {outcome.idle} whole steps"
            )
        for exam in self.exams[:1] + self.exams[1:][-1:]:
            table.add_row(f"exam at {exam['step']}", examined(exam))
        for when, result in self.probes.items():
            table.add_row(f"probe {when}", describe(result))
        o.out().print(table)
        if self.recipe.is_control:
            after_control(outcome.folder, known)
        else:
            after_run(outcome.folder, examined=bool(self.exams))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def exams(folder: Path, done: int) -> list[dict[str, Any]]:
    """What exam.csv holds of the first `done` steps."""
    from paintcli.rollouts import EXAM, read_exams

    return [row for row in read_exams(folder / EXAM) if row["step"] <= done]


def examined(row: dict[str, Any]) -> str:
    """A row of exam.csv in one line."""
    said = "nobody could judge it" if row["score"] is None else f"{row['score']:.3f}"
    said += "" if row["low"] is None else f" ({row['low']:.3f}–{row['high']:.3f})"
    said += "" if row["passed"] is None else f", {row['passed']:.0%} of {row['samples']} pass the gate"
    return said + (f", {row['unavailable']} not judged" if row["unavailable"] else "")


def describe(result: dict[str, Any]) -> str:
    """A probe in one line."""
    passed, reward = result["passed"], result["reward"]
    said = f"{result['samples']} samples"
    said += "" if passed is None else f", {passed:.0%} pass the gate"
    said += ", no reward" if reward is None else f", mean reward {reward:.3f}"
    return said + (f", {result['unavailable']} not judged" if result["unavailable"] else "")
