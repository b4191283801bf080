"""The published figures come out of the published data; a set of the dataset card's shape comes out to the digit."""

import json
import math
import random
import statistics
from pathlib import Path

import analysis_data
import numpy as np
import pytest
from typer.testing import CliRunner

from paintcli.analysis import report, sources
from paintcli.analysis.gain import Options
from paintcli.cli.main import app

CURVES = Path(__file__).parent / "data/published"


def analyse(path, **options):
    [run] = sources.load(str(path))
    return report.analyse(run, Options(**options))


@pytest.mark.parametrize(
    ("name", "steps", "first", "last", "t"),
    [
        ("hps-only", 60, "0.579", "0.710", "+6.41"),
        ("judge-led", 110, "0.451", "0.721", "+10.54"),
        ("hps-led", 110, "0.573", "0.815", "+15.65"),
    ],
)
def test_published_curves(name, steps, first, last, t):
    found = analyse(CURVES / f"curve-{name}.csv")
    assert found["steps"] == steps and found["split"] == "ends" and found["rollouts"] is None
    assert f"{found['gain']['first']:.3f}" == first == f"{found['thirds'][0]['mean_reward']:.3f}"
    assert f"{found['gain']['last']:.3f}" == last == f"{found['thirds'][-1]['mean_reward']:.3f}"
    assert f"{found['slope']['t']:+.2f}" == t
    assert found["gain"]["change"]["low"] > 0
    assert found["health"]["collapsed_groups"] == 0
    assert found["verdict"][0].startswith("It learned")


@pytest.mark.parametrize(
    ("name", "term", "first", "last"),
    [
        ("judge-led", "judge", 0.36, 0.70),
        ("judge-led", "coverage", 0.11, 0.23),
        ("hps-led", "coverage", 0.13, 0.30),
        ("hps-only", "coverage", 0.11, 0.14),
    ],
)
def test_published_findings_about_terms(name, term, first, last):
    moved = analyse(CURVES / f"curve-{name}.csv")["terms"][term]
    assert moved["first"] == pytest.approx(first, abs=0.005) and moved["last"] == pytest.approx(last, abs=0.005)


def test_the_card_split_of_a_curve_is_another_and_says_so():
    found = analyse(CURVES / "curve-judge-led.csv", split="card")
    assert [(row["from"], row["to"], row["steps"]) for row in found["thirds"]] == [
        (0, 36, 37),
        (37, 73, 37),
        (74, 109, 36),
    ]
    assert found["split"] == "card"


def test_the_known_hard_draw_is_three_quarters_judge_and_not_all_draw():
    between = analyse(CURVES / "curve-judge-led.csv", between=(11, 12))["draw"]["between"]
    assert [round(value, 2) for value in between["reward"]] == [0.50, 0.18]
    assert between["terms"]["judge"]["share"] == pytest.approx(0.75, abs=0.03)
    assert between["terms"]["hpsv3"]["part"] < 0
    assert between["draw"] is None


def test_the_weights_behind_a_curve_are_recognised():
    """The judge-led recipe: judge before HPSv3; hps-only: no judge at all."""
    found = analyse(CURVES / "curve-judge-led.csv")
    weights = found["weights"]
    assert any(f"at the inferred weight {weights['judge']:.2f}" in sentence for sentence in found["verdict"])
    assert weights["origin"] == "inferred" and weights["judge"] == pytest.approx(0.6, abs=0.01)
    assert analyse(CURVES / "curve-hps-only.csv")["weights"]["judge"] == pytest.approx(0, abs=0.01)


# --- a set of the card's shape ------------------------------------------------------------------------------------

THIRDS = ((range(37), 7, 0.459, 99, 7.8), (range(37, 74), 6, 0.655, 36, 7.9), (range(74, 110), 6, 0.732, 16, 6.8))


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    """861 rows: 110 groups of 8, 19 of them one short; rewards to four digits so that sums are what they say."""
    draw = random.Random(7)
    rows = []
    for steps, short, mean, bad, shapes in THIRDS:
        missing = set(draw.sample(list(steps), short))
        places = [(step, at) for step in steps for at in range(8 - (step in missing))]
        size = len(places)
        low = [round(draw.uniform(0.0, 0.29), 4) for _ in range(bad)]
        high_mean = (mean * size - sum(low)) / (size - bad)
        high = [high_mean + draw.uniform(-0.06, 0.06) for _ in range(size - bad)]
        drift = high_mean - statistics.fmean(high)
        high = [round(value + drift, 4) for value in high]
        high[0] = round(high[0] + mean * size - sum(low) - sum(high), 4)
        rewards = low + high
        draw.shuffle(rewards)
        total = round(shapes * size)
        counts = [total // size + (i < total % size) for i in range(size)]
        for _ in range(size * 3):  # spread them out; the sum stays
            a, b = draw.randrange(size), draw.randrange(size)
            if counts[a] > 1:
                counts[a] -= 1
                counts[b] += 1
        for (step, at), reward, count in zip(places, rewards, counts, strict=True):
            rows.append({"step": step, "position_in_group": at, "reward": reward, "n_shapes": count})
    third = [next(i for i, part in enumerate(THIRDS) if row["step"] in part[0]) for row in rows]
    shapes_of, rewards_of = [row["n_shapes"] for row in rows], [row["reward"] for row in rows]
    while round(r := np.corrcoef(shapes_of, rewards_of)[0, 1], 3) != -0.141:
        a, b = draw.randrange(861), draw.randrange(861)  # swapping neighbours in count moves r a little, no mean
        apart = (shapes_of[a] - shapes_of[b]) * (rewards_of[a] - rewards_of[b])
        if third[a] == third[b] and abs(shapes_of[a] - shapes_of[b]) == 1 and apart * (r + 0.141) > 0:
            shapes_of[a], shapes_of[b] = shapes_of[b], shapes_of[a]
    for row, count in zip(rows, shapes_of, strict=True):
        row["n_shapes"] = count
    for row in rows:
        row |= {"run": "judge-led", "judge_weight": 0.6, "hpsv3_weight": 0.3, "file_name": f"{row['step']}.png"}
        row["code"] = analysis_data.sketch(row["n_shapes"], note=str(draw.random()))
        row |= {"code_chars": len(row["code"]), "brush_methods_used": ["fill", "vertex"]}
    path = tmp_path_factory.mktemp("card") / "metadata.jsonl"
    return rows, analysis_data.write(path, rows).parent


def test_the_cards_table(card):
    _, folder = card
    result = CliRunner().invoke(app, ["analyze", str(folder), "--by-third", "--json"])
    found = json.loads(result.stdout)
    table = [
        (r["from"], r["to"], r["rollouts"], f"{r['mean_reward']:.3f}", r["under_0.3"], f"{r['shapes']:.1f}")
        for r in found["thirds"]
    ]
    assert table == [
        (0, 36, 289, "0.459", 99, "7.8"),
        (37, 73, 290, "0.655", 36, "7.9"),
        (74, 109, 282, "0.732", 16, "6.8"),
    ]
    assert f"{found['correlations']['n_shapes']['all']['value']:.3f}" == "-0.141"
    assert found["rollouts"] == 861 and found["steps"] == 110 and found["split"] == "card"
    printed = CliRunner().invoke(app, ["analyze", str(folder), "--by-third"]).stdout
    assert "--split card" in printed and "0.459" in printed and "282" in printed


def test_every_other_figure_of_it_by_plain_arithmetic(card):
    rows, folder = card
    found = analyse(folder)
    ends = [[r for r in rows if r["step"] in THIRDS[i][0]] for i in (0, 2)]
    mean = [statistics.fmean(r["reward"] for r in end) for end in ends]
    bad = [[r["reward"] for r in end if r["reward"] < 0.3] for end in ends]
    good = [[r["reward"] for r in end if r["reward"] >= 0.3] for end in ends]
    p = [len(b) / len(end) for b, end in zip(bad, ends, strict=True)]
    b, g = [statistics.fmean(x) for x in bad], [statistics.fmean(x) for x in good]
    parts = found["decomposition"]
    close = lambda x: pytest.approx(x, abs=1e-12)  # noqa: E731
    assert parts["bad_became_rare"]["value"] == close((p[0] - p[1]) * ((g[0] + g[1]) / 2 - (b[0] + b[1]) / 2))
    assert parts["good_got_better"]["value"] == close((g[1] - g[0]) * (1 - (p[0] + p[1]) / 2))
    assert parts["bad_got_better"]["value"] == close((b[1] - b[0]) * (p[0] + p[1]) / 2)
    assert sum(parts[k]["value"] for k in ("bad_became_rare", "good_got_better", "bad_got_better")) == close(
        mean[1] - mean[0]
    )
    assert parts["ceiling"]["value"] == close(g[1])
    for name, pick in (("best", max), ("median", statistics.median), ("worst", min)):
        by_step = [
            statistics.fmean(pick([r["reward"] for r in end if r["step"] == s]) for s in {r["step"] for r in end})
            for end in ends
        ]
        assert found["order"][name]["first"] == close(by_step[0]) and found["order"][name]["last"] == close(by_step[1])
    top = [r for r in rows if r["reward"] >= 0.65]
    for column in ("n_shapes", "code_chars"):
        for where, chosen in (("all", rows), ("top", top)):
            expected = statistics.correlation([r[column] for r in chosen], [r["reward"] for r in chosen])
            assert found["correlations"][column][where]["value"] == close(expected)
            assert found["correlations"][column][where]["rollouts"] == len(chosen)
    step_means = [statistics.fmean(r["reward"] for r in rows if r["step"] == s) for s in range(110)]
    slope = statistics.linear_regression(range(110), step_means)
    residual = sum((y - slope.intercept - slope.slope * x) ** 2 for x, y in enumerate(step_means))
    error = math.sqrt(residual / 108 / sum((x - 54.5) ** 2 for x in range(110)))
    assert found["slope"]["value"] == close(slope.slope)
    assert found["slope"]["t"] == pytest.approx(slope.slope / error, rel=1e-9)
    assert found["health"]["collapsed_groups"] == 0 and found["health"]["excluded"]["rollouts"] == 0


def test_the_same_rows_as_parquet_csv_and_lines_give_the_same_report(card, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import csv

    import pyarrow.parquet as pq

    rows, folder = card
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    expected = analyse(folder)
    for path in (folder / "metadata.jsonl", tmp_path / "train.parquet", tmp_path / "rows.csv"):
        found = analyse(path)
        for key in ("thirds", "gain", "slope", "order", "decomposition", "correlations", "code", "health"):
            assert found[key] == expected[key], (path, key)
