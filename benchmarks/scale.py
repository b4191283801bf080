"""What 10, 1,000 and 100,000 paintings an hour need: arithmetic from what one painting costs.

    python -m benchmarks.scale

Prints the table of docs/scale.md. Each cost says where it comes from; `benchmarks.render` measures painting anew.
"""

from __future__ import annotations

import math

from paintcli.training.pace import JUDGING, SCORING

PAINTING = 0.66
"""Core seconds of a painting of 14 shapes, by `python -m benchmarks.render`; 0.45 with 7 shapes, 0.93 with 36."""

GATE = 0.05
"""Core seconds in which the asking process gates a sketch before and after painting and measures it (measured)."""

TASTE = 0.31
"""Core seconds in which the embedded judge compares a painting with four references, both ways round (measured)."""

QUESTIONS = 2 * 4
"""What a judge is asked about a painting: four references, both orders."""

PICTURE = 0.22
"""10⁶ bytes of a picture: the mean of the 55 in the starter pools."""

BUSY = 0.7
"""Share of a machine's time that is planned for; the rest is browsers that start and nodes that are lost."""

RATES = (10, 1_000, 100_000)


def need(rate: int, seconds: float) -> str:
    """How many cores or GPUs to have for `rate` an hour at `seconds` each, and how busy they are."""
    busy = rate * seconds / 3600
    have = math.ceil(busy / BUSY)
    return f"{have:,} ({100 * busy / have:.2g} % busy)"


def table() -> list[tuple[str, ...]]:
    costs = [
        ("painting", PAINTING, "cores"),
        ("asking: gates, coverage", GATE, "processes"),
        ("judging by `taste`", TASTE, "cores"),
        ("judging by `vlm:`", QUESTIONS * JUDGING, "GPUs"),
        ("scoring by `hpsv3`", SCORING, "GPUs"),
    ]
    rows = [(f"{name}, {unit}", f"{cost:g} s", *(need(rate, cost) for rate in RATES)) for name, cost, unit in costs]
    pictures = [f"{rate * PICTURE / 1000:.3g} GB/h" for rate in RATES]
    return [*rows, ("pictures", f"{PICTURE:g} MB", *pictures)]


def main() -> None:
    head = ("paintings an hour", "of one", *(f"{rate:,}" for rate in RATES))
    for row in (head, ("---",) * len(head), *table()):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
