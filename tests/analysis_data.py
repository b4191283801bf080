"""Made-up runs with known truth, for the analysis tests and benchmarks: nothing here uses the analyser."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PETAL = """  brush.fill('#f2a68a', {opacity});
  brush.fillBleed({bleed});
  brush.beginShape(0.4);
  brush.vertex({x}, 210); brush.vertex(360, 240); brush.vertex(310, 320);
  brush.endShape(true);
"""


def sketch(shapes: int, opacity: int = 120, bleed: float = 0.15, note: str = "") -> str:
    """An honest sketch with `shapes` petals."""
    petals = "".join(PETAL.format(opacity=opacity, bleed=bleed, x=200 + 7 * i) for i in range(shapes))
    return (
        f"// {note}\nfunction setup() {{\n  createCanvas(600, 600, WEBGL); brush.scaleBrushes(3);"
        " angleMode(DEGREES); noLoop();\n}\nfunction draw() {\n  translate(-width / 2, -height / 2);\n"
        f"  background('#fbf7ee'); brush.noStroke(); brush.fillTexture(0.4, 0.4);\n{petals}}}\n"
    )


def write(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def run(
    steps: int = 60,
    group: int = 8,
    bad: tuple[float, float] = (0.3, 0.3),
    good: tuple[float, float] = (0.6, 0.6),
    hard: float = 0.0,
    references: int = 40,
    step_noise: float = 0.04,
    seed: int = 0,
    judge_weight: float = 0.6,
) -> list[dict]:
    """Rows of a run whose share of bad ones and mean of good ones go linearly from first to last of the pairs.

    `hard` is the standard deviation of the references' hardness on the judge term; four are drawn for each step.
    Only the good ones, which pass the gate, meet references; what they lose or win there shifts their reward.
    """
    rng = np.random.default_rng(seed)
    hardness = rng.normal(0, 1, references) * hard
    rows = []
    for step in range(steps):
        part = step / max(steps - 1, 1)
        share = bad[0] + (bad[1] - bad[0]) * part
        level = good[0] + (good[1] - good[0]) * part + rng.normal(0, step_noise)
        drawn = rng.choice(references, 4, replace=False)
        for position in range(group):
            row = {"run": "made-up", "step": step, "position_in_group": position, "judge_weight": judge_weight}
            row |= {
                "hpsv3_weight": 0.4,
                "file_name": f"images/{step}-{position}.png",
                "n_shapes": int(rng.integers(5, 11)),
            }
            row["code"] = sketch(row["n_shapes"], note=f"{step} {position}")
            row["code_chars"] = len(row["code"])
            if rng.random() < share:
                row |= {"reward": float(rng.uniform(0.0, 0.2)), "judge": None, "hpsv3": None, "gate": 0.0}
                row |= {"comparisons": [], "violations": [{"code": "text_label", "line": 4, "detail": "text()"}]}
            else:
                own = rng.normal(0, 0.05)
                scores = 0.5 + own - hardness[drawn] + rng.normal(0, 0.1, 4)
                shift = judge_weight * float(scores.mean() - 0.5)
                row |= {"reward": level + shift, "judge": float(scores.mean()), "hpsv3": level, "gate": 1.0}
                row["comparisons"] = [
                    {"reference": f"ref-{r}", "tier": "love", "forward": s, "backward": s, "score": float(s)}
                    for r, s in zip(drawn.tolist(), scores.tolist(), strict=True)
                ]
                row["violations"] = []
            rows.append(row)
    return rows
