"""Charts as SVG text: drawn with classes, so that a page colours them for light and dark; `standalone` makes a file."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from paintcli.analysis.report import number, signed
from paintcli.analysis.statistics import t_quantile

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 16, 34

STYLE = """
svg{font:13px system-ui,sans-serif}
.axis,.grid{stroke:var(--line,#d8d5cf)}.label{fill:var(--soft,#5c5a55)}.mark{fill:var(--ink,#22211f)}
.dot{fill:var(--soft,#8a8780)}.band{fill:var(--accent,#b4491f);opacity:.16}
.mean{fill:none;stroke:var(--accent,#b4491f);stroke-width:2.5}
.adjusted{fill:none;stroke:var(--second,#23699e);stroke-width:2;stroke-dasharray:6 4}
.whole{fill:var(--second,#23699e)}.up{fill:var(--up,#3c7d3f)}.down{fill:var(--down,#b3362b)}
.faint{fill:var(--line,#d8d5cf)}
.whisker{stroke:var(--ink,#22211f);stroke-width:1.5}
.run0{fill:none;stroke:var(--accent,#b4491f);stroke-width:2.5}
.run1{fill:none;stroke:var(--second,#23699e);stroke-width:2.5}
.run2{fill:none;stroke:var(--up,#3c7d3f);stroke-width:2.5}
.run3{fill:none;stroke:var(--soft,#8a8780);stroke-width:2.5}
"""


def standalone(svg: str) -> str:
    """The chart as a file of its own, on white."""
    head, _, rest = svg.partition(">")
    white = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{white}{rest}'


def _svg(title: str, parts: list[str], height: int = HEIGHT) -> str:
    name = escape(title, quote=True)
    box = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}"'
    return f"<svg {box}><title>{name}</title>{''.join(parts)}</svg>"


def _text(x: float, y: float, text: str, kind: str = "label", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, x2: float, y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _bar(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    inside = f"<title>{escape(title)}</title>" if title else ""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">{inside}</rect>'


def window(values: list[float | None], share: float = 0.12) -> list[tuple[float, float, float] | None]:
    """Running mean of step means with its 95 % interval: mean ± t · s/√n over the steps of the window."""
    half = max(2, round(len(values) * share / 2))
    quantiles: dict[int, float] = {}
    found: list[tuple[float, float, float] | None] = []
    for index in range(len(values)):
        near = [v for v in values[max(0, index - half) : index + half + 1] if v is not None]
        if len(near) < 3:
            found.append(None)
            continue
        mean = sum(near) / len(near)
        spread = math.sqrt(sum((v - mean) ** 2 for v in near) / (len(near) - 1) / len(near))
        if len(near) not in quantiles:
            quantiles[len(near)] = t_quantile(0.975, len(near) - 1)
        found.append((mean, mean - quantiles[len(near)] * spread, mean + quantiles[len(near)] * spread))
    return found


class _Plane:
    """Pixels for steps and rewards, and the axes."""

    def __init__(self, steps: list[int], values: list[float]) -> None:
        self.first, self.last = steps[0], max(steps[-1], steps[0] + 1)
        self.low = math.floor(min(values) * 10) / 10
        self.high = max(math.ceil(max(values) * 10) / 10, self.low + 0.1)

    def x(self, step: float) -> float:
        return LEFT + (step - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return TOP + (1 - (value - self.low) / (self.high - self.low)) * (HEIGHT - TOP - BOTTOM)

    def axes(self) -> list[str]:
        parts = []
        for tick in range(round(self.low * 10), round(self.high * 10) + 1):
            y = self.y(tick / 10)
            parts.append(_line(LEFT, WIDTH - RIGHT, y, "grid"))
            parts.append(_text(LEFT - 8, y + 4, f"{tick / 10:.1f}", anchor="end"))
        for part in (0, 0.25, 0.5, 0.75, 1):
            step = round(self.first + part * (self.last - self.first))
            parts.append(_text(self.x(step), HEIGHT - 12, str(step), anchor="middle"))
        return parts

    def line(self, steps: list[int], values: list[float | None], kind: str) -> str:
        pairs = [(s, v) for s, v in zip(steps, values, strict=True) if v is not None]
        points = " ".join(f"{self.x(s):.1f},{self.y(v):.1f}" for s, v in pairs)
        return f'<polyline class="{kind}" points="{points}"/>'


def curve(report: dict[str, Any]) -> str:
    """Step means as dots, their running mean with its interval, and the draw-adjusted running mean where known."""
    steps, values = report["series"]["step"], report["series"]["reward"]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    plane = _Plane(steps, known)
    parts = plane.axes()
    smooth = [(s, w) for s, w in zip(steps, window(values), strict=True) if w]
    if smooth:
        clip = lambda v: min(max(v, plane.low), plane.high)  # noqa: E731
        upper = [f"{plane.x(s):.1f},{plane.y(clip(w[2])):.1f}" for s, w in smooth]
        lower = [f"{plane.x(s):.1f},{plane.y(clip(w[1])):.1f}" for s, w in reversed(smooth)]
        parts.append(f'<polygon class="band" points="{" ".join(upper + lower)}"/>')
    for s, v in zip(steps, values, strict=True):
        if v is not None:
            place = f'cx="{plane.x(s):.1f}" cy="{plane.y(v):.1f}" r="2.4"'
            parts.append(f'<circle class="dot" {place}><title>step {s}: {v:.3f}</title></circle>')
    parts.append(plane.line([s for s, _ in smooth], [w[0] for _, w in smooth], "mean"))
    adjusted = (report["draw"].get("adjusted") or {}).get("curve")
    if adjusted:
        means = [w[0] if w else None for w in window(adjusted)]
        parts.append(plane.line(steps, means, "adjusted"))
    gain = report["gain"]
    return _svg(f"Mean reward by step, {number(gain['first'])} to {number(gain['last'])}", parts)


def exams(report: dict[str, Any]) -> str:
    """The exam's score by step, each with its interval as a whisker."""
    rows = [row for row in (report["exam"] or {}).get("series", []) if row["low"] is not None]
    if not rows:
        return ""
    steps = [row["step"] for row in rows]
    plane = _Plane(steps, [row[end] for row in rows for end in ("low", "high")])
    parts = [*plane.axes(), plane.line(steps, [row["score"] for row in rows], "mean")]
    for row in rows:
        x, ends = plane.x(row["step"]), (plane.y(row["low"]), plane.y(row["high"]))
        title = f"<title>after {row['step']} steps: {row['score']:.3f} ({row['low']:.3f}–{row['high']:.3f})</title>"
        parts.append(f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{plane.y(row["score"]):.1f}" r="4">{title}</circle>')
    return _svg(f"Exam by steps done, {number(rows[0]['score'])} to {number(rows[-1]['score'])}", parts)


def curves(reports: list[dict[str, Any]]) -> str:
    """Several runs' running means, named at their ends."""
    every = [w[0] for r in reports for w in window(r["series"]["reward"]) if w]
    if not every:
        return ""
    steps = sorted({s for r in reports for s in r["series"]["step"]})
    plane = _Plane(steps, every)
    parts = plane.axes()
    for index, report in enumerate(reports):
        means = [w[0] if w else None for w in window(report["series"]["reward"])]
        parts.append(plane.line(report["series"]["step"], means, f"run{index % 4}"))
        y = TOP + 12 + 18 * index
        parts.append(_line(LEFT + 12, LEFT + 34, y, f"run{index % 4}"))
        parts.append(_text(LEFT + 40, y + 4, report["run"]))
    return _svg("Running mean reward by step of " + ", ".join(r["run"] for r in reports), parts)


def distribution(report: dict[str, Any]) -> str:
    """How many rollouts have which reward, a histogram for each third on one scale of shares."""
    thirds = report["distributions"]
    if not thirds or not any(sum(third) for third in thirds):
        return ""
    panel = (WIDTH - LEFT - RIGHT) / 3
    top = max(count / max(sum(third), 1) for third in thirds for count in third)
    parts = []
    for index, third in enumerate(thirds):
        left = LEFT + index * panel
        total = max(sum(third), 1)
        step = (panel - 18) / len(third)
        for at, count in enumerate(third):
            height = count / total / top * (HEIGHT - TOP - BOTTOM - 20)
            middle = (at + 0.5) / len(third)
            kind = "down" if report["decomposition"] and middle < report["decomposition"]["threshold"] else "whole"
            title = f"{at / len(third):.2f}–{(at + 1) / len(third):.2f}: {count}"
            parts.append(_bar(left + at * step, HEIGHT - BOTTOM - height, step - 1, height, kind, title))
        parts.append(_line(left, left + panel - 18, HEIGHT - BOTTOM, "axis"))
        for value in (0, 0.5, 1):
            parts.append(_text(left + value * (panel - 18), HEIGHT - 14, f"{value:g}", anchor="middle"))
    for index, name in enumerate(("first third", "middle third", "last third")):
        parts.append(_text(LEFT + index * panel, TOP + 2, name, "mark"))
    return _svg("Distribution of reward in the first, middle and last third", parts)


def waterfall(report: dict[str, Any]) -> str:
    """From the first third's mean to the last's, part by part, with the interval of each part as a whisker."""
    parts_of, gain = report["decomposition"], report["gain"]
    if not parts_of or gain["change"]["value"] is None:
        return ""
    rows = [("first third", 0.0, gain["first"], "whole", None)]
    position = gain["first"]
    for key, name in (
        ("bad_became_rare", "bad ones became rare"),
        ("good_got_better", "good ones got better"),
        ("bad_got_better", "bad ones got better"),
    ):
        part = parts_of[key]
        rows.append((name, position, position + part["value"], "up" if part["value"] >= 0 else "down", part))
        position += part["value"]
    rows.append(("last third", 0.0, gain["last"], "whole", None))
    rows.append(("if every rollout were a good one", 0.0, parts_of["ceiling"]["value"], "faint", None))
    names, line = 220, 34
    height = len(rows) * line + 16
    top = max(max(one, two) for _, one, two, _, _ in rows) * 1.12
    scale = (WIDTH - names - 90) / top
    parts = []
    for index, (name, one, two, kind, part) in enumerate(rows):
        y = 8 + index * line
        low, high = sorted((one, two))
        parts.append(_text(names - 12, y + 19, name, "mark", "end"))
        parts.append(_bar(names + low * scale, y + 4, max((high - low) * scale, 1), 22, kind))
        end = high
        if part and part["low"] is not None:
            ends = [one + part["low"], one + part["high"]]
            parts.append(_line(names + ends[0] * scale, names + ends[1] * scale, y + 15, "whisker"))
            end = max(high, *ends)
        parts.append(_text(names + end * scale + 8, y + 19, signed(part["value"]) if part else number(two), "mark"))
    return _svg(f"What the change of {signed(gain['change']['value'])} is made of", parts, height)
