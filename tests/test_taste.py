"""The embedded judge: what it measures, that it learns a planted preference, that it is not fooled by non-paintings."""

import asyncio
import io
import time

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter
from washes import HANDS, make_pool, read_rows, wash

from paintcli import pool as pools
from paintcli.backends import taste
from paintcli.backends.protocols import Comparer, Scorer
from paintcli.errors import UsageError
from paintcli.painting import Painting
from paintcli.pool import Pool


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAINT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    return Pool.load(make_pool(tmp_path_factory.mktemp("pools") / "p", per_tier=16))


@pytest.fixture(scope="module")
def judge(pool):
    return taste.Taste(pool)


def picture(image):
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, "PNG")
    return Painting(buffer.getvalue())


def photograph(side=600):
    """What a camera would give: a lit sky, a textured ground, an object with a shadow, sensor noise everywhere."""
    random = np.random.default_rng(5)
    y, x = np.mgrid[0:side, 0:side] / side
    sky = np.stack([110 + 100 * y, 150 + 60 * y, 230 - 30 * y], axis=-1)
    ground = np.stack([90 + 40 * x, 80 + 40 * x, 50 + 20 * x], axis=-1)
    rough = sum(
        np.asarray(
            Image.fromarray(random.integers(0, 255, (n, n)).astype(np.uint8)).resize((side, side), Image.BICUBIC), float
        )
        - 127
        for n in (8, 32, 128, 400)
    )
    scene = np.where((y > 0.6)[..., None], ground + 0.35 * rough[..., None], sky + 0.05 * rough[..., None])
    image = Image.fromarray(np.clip(scene, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    draw.ellipse((230, 420, 470, 470), fill=(40, 36, 30))
    draw.rectangle((240, 190, 400, 440), fill=(150, 60, 40))
    draw.polygon([(400, 190), (460, 230), (460, 430), (400, 440)], fill=(90, 35, 25))
    noisy = np.asarray(image.filter(ImageFilter.GaussianBlur(0.7)), float) + random.normal(0, 5, (side, side, 3))
    return picture(np.clip(noisy, 0, 255).astype(np.uint8))


def strangers():
    random = np.random.default_rng(1)
    disc = Image.new("RGB", (600, 600), (250, 246, 236))
    ImageDraw.Draw(disc).ellipse((150, 150, 450, 450), fill=(230, 120, 90))
    return {
        "blank": picture(np.full((600, 600, 3), (250, 246, 236), np.uint8)),
        "white": picture(np.full((600, 600, 3), 255, np.uint8)),
        "noise": picture(random.integers(0, 256, (600, 600, 3)).astype(np.uint8)),
        "faint noise": picture((240 + random.integers(0, 12, (600, 600, 3))).astype(np.uint8)),
        "flat disc": picture(disc),
        "photograph": photograph(),
    }


STRANGERS = strangers()


# -- features


def test_features_are_finite_for_any_picture():
    odd = [Image.new("RGB", (1, 1)), Image.new("L", (3, 700), 9), Image.new("RGBA", (40, 40), (255, 0, 0, 90))]
    for painting in [*STRANGERS.values(), *map(picture, odd)]:
        row = taste.features(painting)
        assert row.shape == (len(taste.FEATURES),)
        assert np.isfinite(row).all()
        assert np.abs(row).max() < 20


def by_name(image):
    return dict(zip(taste.FEATURES, taste.features(picture(image)), strict=True))


def test_features_measure_what_they_say():
    hard, soft = by_name(wash("round", 6, 0.5, seed=3, side=256)), by_name(wash("round", 6, 6.0, seed=3, side=256))
    assert soft["edge sharpness"] < 0.7 * hard["edge sharpness"]
    one, many = by_name(wash("round", 2, 1, seed=3)), by_name(wash("round", 14, 1, seed=3))
    assert many["coverage"] > one["coverage"]
    assert many["tonal steps"] > one["tonal steps"]
    assert many["depth"] > one["depth"]

    sheet = Image.new("RGB", (256, 256), "white")
    ImageDraw.Draw(sheet).rectangle((0, 64, 127, 191), fill=(240, 140, 20))
    box = by_name(sheet)
    assert box["coverage"] == pytest.approx(0.5, abs=0.01)
    assert box["paper"] == pytest.approx(0.75, abs=0.01)
    assert box["off-centre"] == pytest.approx(2.5, abs=0.05)
    assert box["imbalance"] == pytest.approx(0.5, abs=0.01)
    assert box["hue focus"] == pytest.approx(1, abs=0.01)
    assert box["warmth"] > 0.5
    assert box["tonal steps"] == pytest.approx(1, abs=0.01)
    assert box["granulation"] == pytest.approx(0, abs=0.01)


def test_a_larger_copy_measures_alike():
    small = wash("windy", 10, 3, seed=1, side=256)
    large = small.resize((1024, 1024), Image.BICUBIC)
    assert taste.features(picture(large)) == pytest.approx(taste.features(picture(small)), rel=0.15, abs=0.15)


def test_a_palette_of_its_own_colours_changes_little(judge, pool):
    """Decoding is sound: what does change a painting is a fixed palette, whose dither makes still paper restless."""
    for entry in pool.rated[:4]:
        image = entry.painting.image
        own, fixed = (judge.worth(picture(copy)) for copy in (image.quantize(256), image.convert("P")))
        assert abs(own - judge.worth(entry.painting)) < 0.5
        assert fixed < own


def test_the_blur_is_the_mean_of_its_box():
    plane = np.random.default_rng(0).random((20, 31))
    blurred = taste._blur(plane, 2)
    assert blurred.shape == plane.shape
    assert blurred[7, 9] == pytest.approx(plane[5:10, 7:12].mean())


# -- the model


def test_weights_are_the_minimum():
    """Against plain gradient descent on the same objective, written here again."""
    random = np.random.default_rng(0)
    better, worse = random.normal(0.4, 1, (60, 3)), random.normal(0, 1, (60, 3))
    weights = taste.fit_pairs(better, worse, ridge=0.1)
    slow = np.zeros(3)
    for _ in range(5000):
        lost = 1 / (1 + np.exp((better - worse) @ slow))
        slow -= 0.2 * (0.1 * slow - ((better - worse) * lost[:, None]).mean(axis=0))
    assert weights == pytest.approx(slow, abs=1e-6)


def test_pairs_are_all_those_of_different_tiers_in_order():
    pairs = taste.rated_pairs(["okay", "love", "no", "love"])
    assert sorted(map(tuple, pairs)) == [(0, 2), (1, 0), (1, 2), (3, 0), (3, 2)]


def test_symmetric_in_order_by_construction(judge, pool):
    paintings = [e.painting for e in pool.entries[::5]] + list(STRANGERS.values())

    async def both():
        return [
            (await judge.prefer(a, b, ""), await judge.prefer(b, a, "other words"))
            for a in paintings
            for b in paintings
        ]

    for forward, reverse in asyncio.run(both()):
        assert forward + reverse == pytest.approx(1, abs=1e-12)


def test_one_class_for_both_protocols(judge):
    assert isinstance(judge, Comparer)
    assert isinstance(judge, Scorer)


def test_score_and_prefer_tell_one_story(judge, pool):
    a, b = pool.entries[0].painting, pool.entries[-1].painting
    mu = asyncio.run(judge.score([a, b], ""))
    assert asyncio.run(judge.prefer(a, b, "")) == pytest.approx(1 / (1 + np.exp((mu[1] - mu[0]) / 4)))


def test_a_fit_takes_less_than_a_second(pool):
    taste.pool_features(pool)
    rows = np.random.default_rng(0).normal(size=(200, len(taste.FEATURES)))
    start = time.process_time()
    taste.Model.fit(rows, ["love", "okay"] * 100)
    assert time.process_time() - start < 1


def test_it_is_fitted_without_the_reserved_part(pool, judge):
    assert judge.model.paintings == len(pool.rated) - len(pool.reserved) == 26


def test_a_planted_preference_is_learned_in_hands_never_seen(pool):
    result = taste.leave_family_out(pool)
    assert result.families == len(HANDS)
    assert result.pairs == 256
    assert result.low <= result.value <= result.high
    assert result.value > 0.9


def test_labels_without_meaning_are_not_learned(pool):
    """The same pictures with shuffled tiers: leaving families out must not find what is not there."""
    tiers = [e.tier for e in pool.entries]
    values = []
    for seed in range(8):
        rows = read_rows(pool.path)
        for row, tier in zip(rows, np.random.default_rng(seed).permutation(tiers), strict=True):
            row["tier"] = str(tier)
        values.append(taste.leave_family_out(pool.with_rows(rows)).value)
    assert 0.35 < np.mean(values) < 0.65


def test_strangers_score_below_the_okay_tiers_median(pool, judge):
    okay = np.median([judge.worth(e.painting) for e in pool.tiers()["okay"]])
    for name, painting in STRANGERS.items():
        assert judge.worth(painting) < okay, name


def test_what_decided(judge, pool):
    weights = judge.decided()
    assert {name for name, _ in weights} == set(taste.FEATURES)
    assert [abs(v) for _, v in weights] == sorted((abs(v) for _, v in weights), reverse=True)
    painting = pool.entries[0].painting
    gave = dict(judge.decided(painting))
    assert sum(gave.values()) - judge.model.middle == pytest.approx(judge.worth(painting))
    assert dict(judge.decided(STRANGERS["noise"]))["novelty"] < -1


def test_features_come_from_the_cache_the_second_time(pool, monkeypatch):
    first = taste.pool_features(pool)

    def fail(_):
        raise AssertionError("measured again")

    monkeypatch.setattr(taste, "remembered", fail)
    again = taste.pool_features(Pool.load(pool.path))
    assert {k: list(v) for k, v in again.items()} == {k: list(v) for k, v in first.items()}


def test_a_damaged_cache_is_measured_again(pool, tmp_path, monkeypatch):
    monkeypatch.setenv("PAINT_CACHE", str(tmp_path))
    first = taste.pool_features(pool)
    (stored,) = (tmp_path / "taste").iterdir()
    for damaged in (b"", stored.read_bytes()[:200], b"not an archive at all"):
        stored.write_bytes(damaged)
        assert list(taste.pool_features(pool)["love-00.png"]) == list(first["love-00.png"])


# -- bad input


def test_a_pool_of_one_tier_teaches_nothing(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    rows = [row | {"tier": "love"} for row in read_rows(folder)]
    with pytest.raises(UsageError, match="has only 'love'"):
        taste.Taste(Pool.load(folder).with_rows(rows))
    with pytest.raises(UsageError, match="no rated paintings"):
        taste.Taste(Pool.load(folder).with_rows([row | {"tier": None} for row in rows]))


def test_a_pool_of_two_works(tmp_path):
    pool = Pool.load(make_pool(tmp_path / "p", per_tier=1))
    love, okay = (e.painting for e in pool.entries)
    assert asyncio.run(taste.Taste(pool).prefer(love, okay)) > 0.5


def test_a_painting_without_a_picture(judge):
    with pytest.raises(UsageError, match="without a picture"):
        asyncio.run(judge.score([Painting(None)]))


def test_one_family_cannot_be_left_out(tmp_path):
    pool = Pool.load(make_pool(tmp_path / "p", per_tier=2, hands=("round",)))
    with pytest.raises(UsageError, match="one family"):
        taste.leave_family_out(pool)


# -- the starter pools


STARTERS = ["hibiscus", "koi"]


def starter(name):
    return Pool.load(pools.starter(name))


@pytest.mark.parametrize("name", STARTERS)
def test_starter_pools_are_told_apart_better_than_by_coverage_or_file_size(name, capsys):
    """Leaving whole families out. The interval is printed (pytest -s) beside the two simplest explanations."""
    pool = starter(name)
    ours = taste.leave_family_out(pool)
    simple = {
        "coverage alone": taste.leave_family_out(pool, lambda e: [e.painting.coverage]),
        "file size alone": taste.leave_family_out(pool, lambda e: [e.path.stat().st_size / 1e5]),
    }
    with capsys.disabled():
        for words, told in {"taste": ours, **simple}.items():
            print(f"\n{name}, {words}: {told.value:.3f} ({told.low:.3f}–{told.high:.3f}, {told.pairs} pairs)", end="")
    assert ours.low > 0.5
    assert all(ours.value > told.value for told in simple.values())


@pytest.mark.parametrize("name", STARTERS)
def test_strangers_score_below_the_starter_pools_okay_median(name):
    pool = starter(name)
    judge = taste.Taste(pool)
    okay = np.median([judge.worth(e.painting) for e in pool.tiers()["okay"]])
    for stranger, painting in STRANGERS.items():
        assert judge.worth(painting) < okay - 1, stranger


@pytest.mark.parametrize("name", STARTERS)
def test_reserved_paintings_belong_to_the_pool(name):
    """The guard against strangers must not hit what is honestly painted: novelty of the reserved ones stays small."""
    pool = starter(name)
    judge = taste.Taste(pool)
    assert max(judge.model.novelty(taste.remembered(e.painting)) for e in pool.reserved) < 2
