"""The exam beside the reward: what a run's exam.csv and exams/ say (see `paintcli.training.exam`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from paintcli import rollouts
from paintcli.analysis.gain import interval
from paintcli.analysis.statistics import crossed_difference


def exam(run: Path | None) -> dict[str, Any] | None:
    """{"series": [{"step", "score", "low", "high"}], "change": interval, "samples", "references"}; None without one.

    `change` is from the first exam to the last: sample is paired with sample (they have the same seeds) and reference
    with reference, so it is much surer than the distance of two intervals. Null bounds where a result is not kept.
    """
    rows = rollouts.read_exams(run / rollouts.EXAM) if run else []
    if run is None or not rows:
        return None
    ends = [run / "exams" / f"{rows[i]['key']}.json" for i in (0, -1)]
    change: dict[str, float | None] = {"value": None, "low": None, "high": None}
    references = 0
    if len(rows) > 1 and all(path.is_file() for path in ends):
        first, last = (json.loads(path.read_text("utf-8")) for path in ends)
        strata = np.array([tier for tier, _ in last["facts"]["references"].values()])
        references = len(strata)
        before, after = (np.array(side["table"], float) for side in (first, last))
        change = interval(crossed_difference(after, before, strata, paired=True))
    return {
        "series": [{name: row[name] for name in ("step", "score", "low", "high")} for row in rows],
        "change": change,
        "samples": rows[-1]["samples"],
        "references": references,
    }
