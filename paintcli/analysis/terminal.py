"""The report as text: a screen that says it at a glance, then the details. Builds, never prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from paintcli.analysis.colours import label
from paintcli.analysis.report import number, signed, spanned

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Braille bits of a cell, by row and column."""

BAR = "▏▎▍▌▋▊▉█"


def title(report: dict[str, Any]) -> Text:
    from rich.text import Text

    text = Text(report["run"], style="bold")
    size = f"{report['rollouts']} rollouts in " if report["rollouts"] is not None else "a curve of "
    lengths = "/".join(str(row["steps"]) for row in report["thirds"])
    text.append(
        f"  {size}{plural(report['steps'], 'step')}, thirds of {lengths} (--split {report['split']})", style="dim"
    )
    return text


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def summary(report: dict[str, Any], width: int) -> Iterator[RenderableType]:
    """One screen: verdict, curve, thirds, decomposition."""
    from rich.text import Text

    yield title(report)
    for index, sentence in enumerate(report["verdict"]):
        yield Text(("▸ " if index else "") + sentence, style="bold" if index == 0 else "")
    yield Text()
    yield from curve(report, min(width, 110))
    yield Text()
    yield thirds_table(report)
    if report["decomposition"]:
        yield Text()
        yield from waterfall(report["decomposition"], report["gain"], min(width, 110))


def thirds_table(report: dict[str, Any]) -> Table:
    """The dataset card's table."""
    table = _table("steps", "rollouts", "mean reward", _under(report), "shapes per sketch")
    under = next((key for row in report["thirds"] for key in row if key.startswith("under_")), "")
    for row in report["thirds"]:
        table.add_row(
            f"{row['from']}–{row['to']}",
            "–" if row["rollouts"] is None else str(row["rollouts"]),
            number(row["mean_reward"]),
            "–" if row[under] is None else str(row[under]),
            number(row["shapes"], 1),
        )
    return table


def _under(report: dict[str, Any]) -> str:
    return next((key.replace("_", " ") for row in report["thirds"] for key in row if key.startswith("under_")), "under")


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold", min_width=16)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def curve(report: dict[str, Any], width: int, rows: int = 7) -> Iterator[Text]:
    """Mean reward by step in braille, a running mean through it; the draw-adjusted mean in another colour."""
    from rich.text import Text

    values = report["series"]["reward"]
    known = [value for value in values if value is not None]
    if len(known) < 3:
        return
    columns = max(20, min(width - 8, 2 * len(values)))
    low, high = math.floor(min(known) * 10) / 10, math.ceil(max(known) * 10) / 10
    high = max(high, low + 0.1)
    raw, smooth = _Canvas(columns, rows), _Canvas(columns, rows)

    def place(value: float) -> float:
        return (1 - (value - low) / (high - low)) * (rows * 4 - 1)

    for index, value in enumerate(values):
        if value is not None:
            raw.dot(index / max(len(values) - 1, 1) * (columns * 2 - 1), place(value))
    adjusted = (report["draw"].get("adjusted") or {}).get("curve")
    line = running_mean(adjusted or values)
    for x in range(columns * 2):
        value = line[round(x / (columns * 2 - 1) * (len(line) - 1))]
        if value is not None and low <= value <= high:
            smooth.dot(x, place(value))
    for row in range(rows):
        label = f"{high:.1f}" if row == 0 else f"{low:.1f}" if row == rows - 1 else ""
        text = Text(f"{label:>4} ┤", style="dim")
        for column in range(columns):
            over, under = smooth.cell(column, row), raw.cell(column, row)
            text.append(chr(0x2800 + (over | under)), style="bold cyan" if over else "default")
        yield text
    steps = report["series"]["step"]
    ends = f"step {steps[0]}", str(steps[-1])
    name = "running mean, draw taken out" if adjusted else "running mean"
    middle = f"reward · step means, ─ {name}"
    gap = max(columns - len(ends[0]) - len(ends[1]), len(middle) + 2)
    yield Text("      " + ends[0] + middle.center(gap) + ends[1], style="dim")


class _Canvas:
    def __init__(self, columns: int, rows: int) -> None:
        self.cells = [[0] * columns for _ in range(rows)]

    def dot(self, x: float, y: float) -> None:
        column, row = min(max(round(x), 0), len(self.cells[0]) * 2 - 1), min(max(round(y), 0), len(self.cells) * 4 - 1)
        self.cells[row // 4][column // 2] |= DOTS[row % 4][column % 2]

    def cell(self, column: int, row: int) -> int:
        return self.cells[row][column]


def running_mean(values: list[float | None], share: float = 0.12) -> list[float | None]:
    """Mean over a window of `share` of the steps (at least three), shorter at the ends."""
    half = max(1, round(len(values) * share / 2))
    found: list[float | None] = []
    for index in range(len(values)):
        near = [value for value in values[max(0, index - half) : index + half + 1] if value is not None]
        found.append(sum(near) / len(near) if near else None)
    return found


def waterfall(parts: dict[str, Any], gain: dict[str, Any], width: int) -> Iterator[Text]:
    """From the first third's mean to the last's, part by part, and the ceiling; the formula below."""
    from rich.text import Text

    top = max(gain["first"], gain["last"], parts["ceiling"]["value"], 1e-9)
    room = max(20, width - 62)
    position = gain["first"]

    def bar(start: float, end: float, style: str) -> Text:
        low, high = sorted((start, end))
        scale = room * 8 / top
        left, length = round(max(low, 0) * scale), round((high - max(low, 0)) * scale)
        text = Text(" " * (left // 8))
        if length:
            text.append("█" * max(0, length // 8) + (BAR[length % 8 - 1] if length % 8 else ""), style=style)
        return text

    yield Text(f"{'first third':<22}{number(gain['first']):>7}{'':<25}").append_text(bar(0, gain["first"], "blue"))
    for key, name in (
        ("bad_became_rare", "bad became rare"),
        ("good_got_better", "good got better"),
        ("bad_got_better", "bad got better"),
    ):
        part = parts[key]
        spread = "" if part["low"] is None else f"  {signed(part['low'])} to {signed(part['high'])}"
        style = "green" if part["value"] >= 0 else "red"
        line = Text(f"  {name:<20}{signed(part['value']):>7}").append(f"{spread:<25}", style="dim")
        yield line.append_text(bar(position, position + part["value"], style))
        position += part["value"]
    yield Text(f"{'last third':<22}{number(gain['last']):>7}{'':<25}").append_text(bar(0, gain["last"], "blue"))
    ceiling = parts["ceiling"]
    spread = "" if ceiling["low"] is None else f"   {number(ceiling['low'])} to {number(ceiling['high'])}"
    yield Text(f"{'if all were good ones':<22}{number(ceiling['value']):>7}{spread:<25}", style="dim").append_text(
        bar(0, ceiling["value"], "dim")
    )
    yield Text(
        f"{parts['formula']}; bad: under {parts['threshold']:g}; "
        f"p {number(parts['share_first'])} → {number(parts['share_last'])}, "
        f"g {number(parts['good_first'])} → {number(parts['good_last'])}, "
        f"b {number(parts['bad_first'])} → {number(parts['bad_last'])}",
        style="dim",
    )


def details(report: dict[str, Any]) -> Iterator[RenderableType]:
    """Everything else, section by section."""
    from rich.text import Text

    def heading(text: str) -> Text:
        return Text(f"\n{text}", style="bold underline")

    yield heading("What moved")
    table = _table("", "first third", "last third", "change (95 %)", "weight", "of the gain")
    table.add_row("mean reward", *_changed(report["gain"]))
    for name, entry in report["order"].items():
        table.add_row(f"  {name} of each step", *_changed(entry))
    slope = report["slope"]
    for name, entry in report["terms"].items():
        share = report["gain"]["change"]["value"]
        part = entry["contribution"]
        table.add_row(
            name,
            *_changed(entry),
            "" if entry["weight"] is None else f"{entry['weight']:.2f}",
            "" if part is None or not share else f"{signed(part)}",
        )
    yield table
    origin = {
        "inferred": "weights inferred from the curve by least squares",
        "logged": "",
        "unknown": "weights unknown",
    }
    yield Text(
        f"slope {spanned(slope, 5)} a step, t {signed(slope['t'], 2)} (least squares on step means)"
        + (f"; {told}" if (told := origin[report["weights"]["origin"]]) else ""),
        style="dim",
    )
    if report["correlations"]:
        yield heading("Correlation with reward")
        table = _table("", "over all", "n", f"reward ≥ {report['top_band']:g}", "n")
        for name, where in report["correlations"].items():
            cells: list[str] = []
            for part in (where["all"], where["top"]):
                cells += [spanned(part), str(part["rollouts"])]
            table.add_row(name, *cells)
        yield table
    yield from _code(report["code"], heading)
    yield from _draw(report["draw"], heading)
    yield from _health(report, heading)
    if report["missing"]:
        yield Text(f"\nThe data has no column {', '.join(report['missing'])}.", style="dim")
    for note in report["notes"]:
        yield Text(note, style="yellow")


def _changed(entry: dict[str, Any]) -> tuple[str, str, str]:
    return number(entry["first"]), number(entry["last"]), spanned(entry["change"])


def _code(code: dict[str, Any] | None, heading: Any) -> Iterator[RenderableType]:
    from rich.text import Text

    if not code:
        return
    if code["obedience"] or code["unread"]:
        yield heading("Obedience to the prompt's numbers")
    if code["obedience"]:
        table = _table("", "asked", "median, first third", "last third", "within, first third", "last third")
        for name, row in code["obedience"].items():
            low, high = row["asked"]
            shares = ["–" if s is None else f"{s:.0%}" for s in (row["within_first"], row["within_last"])]
            medians = ["–" if m is None else f"{m:.3g}" for m in (row["median_first"], row["median_last"])]
            table.add_row(name, f"{low:g}–{high:g}", *medians, *shares)
        yield table
    for name, why in code["unread"].items():
        yield Text(f"{name}: {why}", style="dim")
    changes = [change for change in code["changes"] if abs(change["z"]) >= 3]
    if code["read"]:
        yield heading(f"What changed in the code ({code['read']} sketches read)")
        if not changes:
            yield Text("no method or idiom became more or less common (none beyond 3 standard errors)", style="dim")
        for change in changes[:8]:
            yield Text(f"{change['name']:<20} in {change['first']:.0%} → {change['last']:.0%} of the sketches")


def _draw(draw: dict[str, Any], heading: Any) -> Iterator[RenderableType]:
    from rich.text import Text

    yield heading("The draw")
    if draw["basis"] is None:
        yield Text(draw["reason"][0].upper() + draw["reason"][1:] + ".")
    else:
        adjusted = draw["adjusted"]
        yield Text(
            f"by {draw['basis']}: the judge term moves by ±{number(draw['judge_sd'])} with the draw, the reward by "
            f"±{number(draw['reward_sd'])}" + (f" ({draw['reason']})" if draw["reason"] else "")
        )
        yield Text(
            f"with the draw taken out: {number(adjusted['first'])} → {number(adjusted['last'])}, "
            f"{spanned(adjusted['change'])}, slope t {signed(adjusted['slope']['t'], 2)}"
        )
        if draw["hardest"]:
            hard = ", ".join(f"{row['reference']} ({signed(-row['costs'], 2)})" for row in draw["hardest"])
            easy = ", ".join(f"{row['reference']} ({signed(-row['costs'], 2)})" for row in draw["easiest"])
            yield Text(f"hardest references: {hard}; easiest: {easy}", style="dim")
    between = draw["between"]
    if between and between["change"]:
        parts = [
            f"{name} {number(term['from'])} → {number(term['to'])}"
            + (f" ({round(100 * term['share'])}% of it)" if term["share"] is not None else "")
            for name, term in between["terms"].items()
        ]
        one, two = between["reward"]
        line = f"step {between['from']} → {between['to']}: {number(one)} → {number(two)}, {signed(between['change'])}"
        yield Text(line + (": " + "; ".join(parts) if parts else ""))
        yield Text(f"  {explained(between)}", style="dim")


def explained(between: dict[str, Any]) -> str:
    """How much of two steps' difference the draw explains, or at most can."""
    if between["draw_share"] is not None:
        return f"the draw explains {signed(between['draw'])}, {between['draw_share']:.0%} of it"
    judge, hpsv3 = between["terms"].get("judge"), between["terms"].get("hpsv3")
    if not judge or judge["share"] is None:
        return "the data does not say how much of it the draw explains"
    most = f"the draw acts through the judge term alone, so it explains at most {max(judge['share'], 0):.0%}"
    if hpsv3 and hpsv3["part"] is not None and hpsv3["part"] * between["change"] > 0:
        return most + "; HPSv3, which sees no reference, moved the same way, so not all of it is the draw"
    return most


def _health(report: dict[str, Any], heading: Any) -> Iterator[RenderableType]:
    from rich.text import Text

    yield heading("Health")
    health, hacking, colours = report["health"], report["hacking"], report["colours"]
    lines = []
    if health["collapsed_groups"] is not None:
        lines.append(f"groups with one reward throughout: {health['collapsed_groups']} of {report['steps']}")
    if health["excluded"] is not None:
        causes = ", ".join(f"{cause} {count}" for cause, count in health["excluded"]["causes"].items())
        lines.append(
            f"left out for want of a reward: {health['excluded']['rollouts']}" + (f" ({causes})" if causes else "")
        )
    if health["phantom_zeros"] is not None:
        lines.append(
            f"suspected phantom zeros: {health['phantom_zeros']['rollouts']}, by {health['phantom_zeros']['known_by']}"
        )
    names = {"entropy": "entropy", "clipped": "replies cut off"}
    for key, name in names.items():
        if health[key]:
            digits = 2 if key == "entropy" else 3
            lines.append(f"{name}: {number(health[key]['first'], digits)} → {number(health[key]['last'], digits)}")
    named = {"reward_sd": "reward spread", "shapes_sd": "spread of shapes", "distinct_sketches": "distinct sketches"}
    for key, ends in (health["diversity"] or {}).items():
        if ends:
            lines.append(f"{named[key]} within a group: {number(ends['first'], 2)} → {number(ends['last'], 2)}")
    if colours:
        within = colours["within_group"]
        noise = colours["renderer_noise"]
        against = (
            f", the renderer's own noise {number(noise, 2)}"
            if noise is not None
            else ", the renderer's own noise is not known"
        )
        lines.append(
            f"colour distance within a group: {number(within['first'], 2)} → {number(within['last'], 2)}{against} "
            f"({colours['pictures']} pictures)"
        )
    for line in lines:
        yield Text(line)
    if hacking:
        yield heading("Gaming the reward?")
        if hacking["violations"]:
            table = _table("violation", "first third", "middle", "last third", "by step")
            for code, row in hacking["violations"].items():
                cells = [
                    f"{c} ({s:.0%})" if s is not None else str(c)
                    for c, s in zip(row["counts"], row["shares"], strict=True)
                ]
                table.add_row(code, *cells, sparkline(row["by_step"]))
            yield table
        agreement = hacking["judge_against_hpsv3"]
        if agreement:
            values = " → ".join(number(value, 2) for value in agreement["correlation"])
            yield Text(f"judge against HPSv3, correlation over {agreement['unit']} by third: {values}")
        for row in hacking["far_above"]:
            where = f"step {row['step']}" + (
                "" if row["position_in_group"] is None else f", position {row['position_in_group']:g}"
            )
            yield Text(
                f"{where}: reward {number(row['reward'])} where its neighbours have {number(row['neighbours'])} "
                f"({row['deviations']:.1f} deviations): look at it"
            )
        if not hacking["violations"] and not hacking["far_above"]:
            yield Text("no violations in the data, no reward far above its neighbours'", style="dim")


def sparkline(counts: list[int], most: int = 24) -> str:
    """Counts as bars as high as the largest; at most `most` bars, each the mean of its share of the counts."""
    size = min(len(counts), most)
    edges = [round(i * len(counts) / size) for i in range(size + 1)]
    means = [sum(counts[low:high]) / (high - low) for low, high in pairwise(edges)]
    top = max(means) or 1
    return "".join("▁▂▃▄▅▆▇█"[math.ceil(7 * mean / top)] for mean in means)


def colours_apart(reports: list[dict[str, Any]]) -> Iterator[Text]:
    """A line for each two runs with pictures: how far apart their colours are, by third."""
    from rich.text import Text

    for one, two in combinations(reports, 2):
        names = label(one, reports), label(two, reports)
        if one["colours"] and (apart := one["colours"]["other_runs"].get(names[1])):
            noise = [n for r in (one, two) if (n := r["colours"]["renderer_noise"]) is not None]
            yield Text(
                f"colour distance of {names[0]} and {names[1]} by third: "
                + " → ".join(number(value, 2) for value in apart)
                + (f", the renderer's own noise {number(max(noise), 2)}" if noise else ""),
                style="dim",
            )


def comparison(reports: list[dict[str, Any]]) -> Table:
    """Several runs side by side, one a row."""
    table = _table(
        "run", "steps", "first third", "last third", "change (95 %)", "slope t", "bad became rare", "good got better"
    )
    for report in reports:
        parts = report["decomposition"] or {}
        table.add_row(
            report["run"],
            str(report["steps"]),
            *_changed(report["gain"]),
            signed(report["slope"]["t"], 2),
            signed(parts["bad_became_rare"]["value"]) if parts else "–",
            signed(parts["good_got_better"]["value"]) if parts else "–",
        )
    return table
