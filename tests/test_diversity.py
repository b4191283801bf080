"""How varied a pool is: planted pools whose answer is known, and the packaged ones."""

import json

import numpy as np
import pytest
from PIL import Image, ImageDraw
from washes import make_pool, read_rows, wash, write_rows

from paintcli import diversity, pool
from paintcli.backends.taste import FEATURES, pool_features
from paintcli.painting import Painting
from paintcli.pool import Pool


def planted(folder, pictures, **columns):
    """A pool of given pictures: name → (tier, image); every column may be a function of the name."""
    folder.mkdir(parents=True)
    rows = []
    for name, (tier, image) in pictures.items():
        image.save(folder / f"{name}.png")
        row = {"file_name": f"{name}.png", "tier": tier, "subject": "a hibiscus"}
        rows.append(row | {key: value(name) if callable(value) else value for key, value in columns.items()})
    write_rows(folder, rows)
    return Pool.load(folder)


def disc(colour, radius=50, side=200, at=(100, 100)):
    sheet = Image.new("RGB", (side, side), "white")
    x, y = at
    ImageDraw.Draw(sheet).ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    return sheet


# -- the number -----------------------------------------------------------------------------------------------------


def test_the_effective_number_counts_what_has_nothing_in_common():
    assert diversity.effective(np.zeros((7, 7))) == pytest.approx(1)
    far = np.full((7, 7), 100.0)
    np.fill_diagonal(far, 0)
    assert diversity.effective(far) == pytest.approx(7)
    kind = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert diversity.effective(np.where(kind[:, None] == kind, 0.0, 100.0)) == pytest.approx(2)
    uneven = np.array([0] * 7 + [1])
    assert 1 < diversity.effective(np.where(uneven[:, None] == uneven, 0.0, 100.0)) < 2, (
        "one stray is not a second half"
    )


def test_its_units_are_those_of_the_starter_pool():
    starter = Pool.load(pool.starter("hibiscus"))
    table = pool_features(starter)
    measured = np.stack([table[e.name] for e in starter.entries]).std(axis=0)
    assert list(diversity.UNIT) == list(FEATURES)
    assert np.allclose(measured, list(diversity.UNIT.values()), atol=0.0006)
    assert 8 < diversity.diversity(starter)["effective"] < 39


def test_a_pool_of_one_flower_is_called_so(paint, tmp_path):
    one = wash("round", 14, 4.0, 1)
    noise = np.random.default_rng(0)
    again = {}
    for i in range(8):
        grainy = np.asarray(one) + noise.integers(0, 3, (200, 200, 3))
        again[f"again-{i}"] = ("love" if i % 2 else "okay", Image.fromarray(grainy.clip(0, 255).astype("uint8")))
    planted(tmp_path / "one", again)
    ran = paint("pool", "stats", "--pool", tmp_path / "one")
    assert ran.code == 0, ran.err
    assert "8 paintings, as varied as 1 that have nothing in common" in ran.out
    assert "a pool of one picture trains one picture" in ran.out
    assert "8 paintings are nearly one: again-0.png, again-1.png, " in ran.out and " and 4 more." in ran.out
    (finding,) = paint("pool", "check", "--pool", tmp_path / "one", "--no-render").out.splitlines()
    assert finding.startswith("near-duplicate: again-0.png is nearly ") and finding.count("again-") == 8
    make_pool(tmp_path / "four", per_tier=4)
    told = paint("pool", "stats", "--pool", tmp_path / "four")
    assert "one picture" not in told.out


def test_one_painting_alone(paint, tmp_path):
    planted(tmp_path / "p", {"a": ("love", disc("red"))})
    ran = paint("pool", "stats", "--pool", tmp_path / "p")
    assert ran.code == 0 and "1 painting, as varied as 1" in ran.out
    told = json.loads(paint("pool", "stats", "--pool", tmp_path / "p", "--json").out)["diversity"]
    assert told["nearest_min"] is None and told["closest"] == [] and told["standing_alone"] == []


# -- what is twice, what is thin --------------------------------------------------------------------------------------


def test_near_duplicates_are_named_in_pairs(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=4)
    rows = read_rows(folder)
    Image.open(folder / "love-00.png").save(folder / "copy.png")
    (folder / "sources" / "okay-02.js").write_text((folder / "sources" / "okay-01.js").read_text() + "\n\n")
    write_rows(folder, [*rows, {"file_name": "copy.png", "tier": "okay", "subject": "a hibiscus"}])
    pairs = diversity.duplicates(Pool.load(folder).entries)
    assert [(p["first"], p["second"], p["why"]) for p in pairs] == [
        ("love-00.png", "copy.png", "nearly the same picture (distance 0.000)"),
        ("okay-01.png", "okay-02.png", "the same sketch"),
    ]


def test_a_region_that_one_tier_lacks_is_told(tmp_path):
    """Loved ones are red, the others blue but one: colour and taste cannot be told apart in such a pool."""
    pictures = {f"love-{i}": ("love", disc("#d02030", 40 + i)) for i in range(6)}
    pictures |= {f"okay-{i}": ("okay", disc("#2040c0", 40 + i)) for i in range(6)}
    pictures["okay-red"] = ("okay", disc("#d02030", 61))
    pictures |= {f"no-{i}": ("no", disc("#20a040", 50 + i)) for i in range(9)}
    mine = planted(
        tmp_path / "p", pictures, subject=lambda name: "two flowers" if name in ("love-0", "okay-0") else "one"
    )
    gaps = diversity.thin(mine.entries)
    assert [(g["tier"], g["by"], g["value"], g["paintings"]) for g in gaps] == [
        ("love", "hue", "blue", 0), ("okay", "hue", "red", 1),
    ]  # fmt: skip
    assert gaps[0]["expected"] == pytest.approx(6 * 6 / 13, abs=0.05)
    said = diversity.in_words(diversity.diversity(mine), len(mine))
    assert any(s.startswith("love has none in blue, where the pool as a whole would give it 3") for s in said)
    assert any(s.startswith("okay has only 1 in red") for s in said)


def test_the_like_of_nothing_stands_alone(tmp_path):
    pictures = {f"w-{i}": ("love" if i % 2 else "okay", wash("round", 10, 3.0, i)) for i in range(9)}
    pictures["odd"] = ("love", disc("#00ff00", 95))
    told = diversity.diversity(planted(tmp_path / "p", pictures))
    assert told["standing_alone"] == ["odd.png"]
    assert all("odd.png" not in (p["first"], p["second"]) for p in told["closest"]) and len(told["closest"]) == 3
    assert told["nearest_min"] <= told["nearest_median"] <= told["distance_median"]


@pytest.mark.parametrize(
    ("colour", "word"),
    [
        ("#d01818", "red"), ("#d0181c", "red"), ("#e07818", "orange"), ("#e8d020", "yellow"), ("#30a040", "green"),
        ("#2040c0", "blue"), ("#7020c0", "violet"), ("#e040a0", "pink"), ("#303030", "grey"),
    ],
)  # fmt: skip
def test_hues_have_the_names_a_painter_gives_them(tmp_path, colour, word):
    disc(colour).save(tmp_path / "a.png")
    assert diversity.hue(Painting.from_file(tmp_path / "a.png")) == word


def test_no_paint_has_no_hue(tmp_path):
    Image.new("RGB", (60, 60), "white").save(tmp_path / "a.png")
    blank = Painting.from_file(tmp_path / "a.png")
    assert diversity.hue(blank) == "grey" and diversity.coverage_class(blank).startswith("airy")


def test_an_unrated_pool_has_its_diversity_too(paint, tmp_path):
    planted(tmp_path / "p", {f"a{i}": (None, disc(c)) for i, c in enumerate(("red", "blue", "green"))})
    told = json.loads(paint("pool", "stats", "--pool", tmp_path / "p", "--json").out)
    assert told["unrated"] == 3 and told["diversity"]["thin"] == [] and told["diversity"]["effective"] >= 1
