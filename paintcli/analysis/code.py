"""The sketches themselves: what the code does early and late, and whether it obeys the prompt's numbers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from statistics import median
from typing import Any

import numpy as np

from paintcli.analysis.steps import Steps

SAMPLE = 150
"""Sketches read of each end third, evenly over it: a share of one half is then known to ±0.08."""

FEWEST = 0.2
"""Share of the sketches read, in each end third, of which reach must be known: fewer may be of another kind."""

CALLS = """
(call_expression function: (member_expression object: (identifier) @object property: (property_identifier) @method)
  arguments: (arguments) @arguments) @call
"""
IDIOMS = """
(for_statement) @loop (for_in_statement) @loop (while_statement) @loop
(function_declaration) @function (arrow_function) @function (function_expression) @function
(class_declaration) @class (array) @array (comment) @comment (template_string) @template
(call_expression function: (identifier) @name)
"""


@dataclass
class Reading:
    """What one sketch holds: idioms present, method → the numbers it was given as (argument index, value)."""

    idioms: set[str] = field(default_factory=set)
    methods: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, list[tuple[int, int, float]]] = field(default_factory=dict)
    """method → (argument index, how many arguments, value)"""
    shapes: list[list[tuple[float, float]]] | None = field(default_factory=list)
    """The vertices of each beginShape, in order; None when they are not all written as numbers, or turned or scaled."""


@cache
def _grammar() -> tuple[Any, Any, Any]:
    import tree_sitter_javascript
    from tree_sitter import Language, Parser, Query

    language = Language(tree_sitter_javascript.language())
    return Parser(language), Query(language, CALLS), Query(language, IDIOMS)


def read(code: str) -> Reading:
    """Parse a sketch; one with syntax errors gives what could be read."""
    from tree_sitter import QueryCursor

    parser, calls, idioms = _grammar()
    root = parser.parse(code.encode()).root_node
    found = Reading()
    corners: list[tuple[int, tuple[float, ...] | None]] = []  # (byte, None for a beginShape, else the vertex)
    for _, captures in QueryCursor(calls).matches(root):
        if captures["object"][0].text != b"brush":
            continue
        method = _text(captures["method"][0])
        found.methods[method] += 1
        arguments = [node for node in captures["arguments"][0].named_children if node.type != "comment"]
        for index, node in enumerate(arguments):
            if node.type == "number":
                try:
                    value = float(_text(node))
                except ValueError:  # 0x10, 1_000: nobody writes an opacity so
                    continue
                found.numbers.setdefault(method, []).append((index, len(arguments), value))
        if method == "beginShape":
            corners.append((captures["call"][0].start_byte, None))
        elif method == "vertex":
            corners.append((captures["call"][0].start_byte, _point(arguments)))
    for name, nodes in QueryCursor(idioms).captures(root).items():
        if name == "name":
            called = {_text(node) for node in nodes}
            if called & {"rotate", "scale", "applyMatrix"}:
                found.shapes = None
            found.idioms |= {f"{call}()" for call in called & {"random", "noise", "sin", "cos", "map", "lerp"}}
        else:
            found.idioms.add(
                {"loop": "loops", "function": "own functions", "class": "classes", "array": "arrays",
                 "comment": "comments", "template": "template strings"}[name]
            )  # fmt: skip
    if found.shapes is not None:
        found.shapes = _shapes(corners)
    # setup and draw are functions too: only a third one is the sketch's own
    own = [node for node in root.children if node.type == "function_declaration"]
    if len(own) <= 2 and "own functions" in found.idioms:
        found.idioms.discard("own functions")
    return found


def _shapes(corners: list[tuple[int, tuple[float, ...] | None]]) -> list[list[tuple[float, float]]] | None:
    """Vertices by shape from calls in the order of the source; None when one is not two numbers or has no shape."""
    shapes: list[list[tuple[float, float]]] = []
    for _, point in sorted(corners, key=lambda corner: corner[0]):
        if point is None:
            shapes.append([])
        elif len(point) != 2 or not shapes:
            return None
        else:
            shapes[-1].append((point[0], point[1]))
    return shapes


def _point(arguments: list[Any]) -> tuple[float, ...]:
    """The first two arguments as numbers; shorter when they are something else."""
    texts = [_text(node).replace(" ", "") for node in arguments[:2]]
    return tuple(float(text) for text in texts if re.fullmatch(r"[-+]?\d+(\.\d*)?|[-+]?\.\d+", text))


def _text(node: Any) -> str:
    return str(node.text, "utf-8")


def opacities(reading: Reading) -> list[float]:
    """The opacity of each brush.fill: its last argument where there are two or four (colour, opacity)."""
    return [v for index, count, v in reading.numbers.get("fill", []) if count in (2, 4) and index == count - 1]


def bleeds(reading: Reading) -> list[float]:
    return [v for index, _, v in reading.numbers.get("fillBleed", []) if index == 0]


def reach(reading: Reading) -> float | None:
    """How far the petals reach: the middle one of the shapes' farthest vertices, in units from the flower's heart.

    The heart is the median of all vertices across and down. None when fewer than three shapes can be read.
    """
    shapes = [np.array(shape) for shape in reading.shapes or [] if len(shape) > 2]
    if len(shapes) < 3:
        return None
    heart = np.median(np.concatenate(shapes), axis=0)
    return median(float(np.hypot(*(shape - heart).T).max()) for shape in shapes)


def sample(rows: np.ndarray) -> np.ndarray:
    """At most SAMPLE of the rows, evenly spaced."""
    if len(rows) <= SAMPLE:
        return rows
    return rows[np.linspace(0, len(rows) - 1, SAMPLE).astype(int)]


def code(steps: Steps, targets: dict[str, Any] | None) -> dict[str, Any] | None:
    """ "changes" of methods and idioms, "obedience" to the domain's numbers; None when there are no sketches.

    "unread" says of a number that the sketches do not show why: reach, where vertices are computed.
    """
    run = steps.run
    obedience: dict[str, Any] = {}
    targets = targets or {}
    for name, column in (("shapes", "n_shapes"), ("coverage", "coverage")):
        values = run.column(column)
        if values is not None and name in targets:
            low, high = targets[name]
            obedience[name] = _obeyed(
                [values[(steps.third_of == third) & np.isfinite(values)] for third in (0, 2)], low, high
            )
    rows = (
        [np.flatnonzero((steps.third_of == third) & (run.code_keys != 0)) for third in (0, 2)]
        if (run.code_keys is not None)
        else []
    )
    if not rows or not all(len(part) for part in rows):
        return {"read": 0, "changes": [], "obedience": obedience, "unread": {}} if obedience else None
    readings = [[read(text) for text in run.code(sample(part).tolist())] for part in rows]
    for name, numbers in (("opacity", opacities), ("bleed", bleeds)):
        if name in targets:
            ends = [np.array([value for reading in part for value in numbers(reading)]) for part in readings]
            if all(len(end) for end in ends):
                obedience[name] = _obeyed(ends, *targets[name])
    unread: dict[str, str] = {}
    if "reach" in targets:
        ends = [np.array([value for reading in part if (value := reach(reading)) is not None]) for part in readings]
        if all(len(end) >= FEWEST * len(part) for end, part in zip(ends, readings, strict=True)):
            obedience["reach"] = _obeyed(ends, *targets["reach"])
        else:
            count, of = (sum(map(len, parts)) for parts in (ends, readings))
            unread["reach"] = f"cannot be read: only {count} of {of} sketches write their shapes as unturned numbers"
    changes: list[dict[str, Any]] = []
    sizes = [len(part) for part in readings]
    names = {("method", f"brush.{m}") for part in readings for r in part for m in r.methods}
    names |= {("idiom", idiom) for part in readings for r in part for idiom in r.idioms}
    for kind, name in sorted(names):
        counts = [
            sum((name.removeprefix("brush.") in r.methods) if kind == "method" else name in r.idioms for r in part)
            for part in readings
        ]
        first, last = (count / size for count, size in zip(counts, sizes, strict=True))
        pooled = sum(counts) / sum(sizes)
        error = sqrt(pooled * (1 - pooled) * sum(1 / size for size in sizes))
        changes.append(
            {"kind": kind, "name": name, "first": first, "last": last, "z": (last - first) / error if error else 0.0}
        )
    changes.sort(key=lambda change: -abs(change["z"]))
    return {"read": sum(sizes), "changes": changes, "obedience": obedience, "unread": unread}


def _obeyed(ends: list[np.ndarray], low: float, high: float) -> dict[str, Any]:
    share = [float(((end >= low) & (end <= high)).mean()) if len(end) else None for end in ends]
    middle = [median(end.tolist()) if len(end) else None for end in ends]
    return {
        "asked": [low, high],
        "median_first": middle[0],
        "median_last": middle[1],
        "within_first": share[0],
        "within_last": share[1],
    }
