"""A pool folder: what is read, what is refused in one sentence, what a draw promises, what an import keeps."""

import inspect
import json
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from PIL import Image
from washes import make_pool, read_rows, wash, write_rows

from paintcli import pool as pools
from paintcli.errors import UsageError
from paintcli.pool import COLUMNS, Pool


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_pool(tmp_path_factory.mktemp("pools") / "made", per_tier=10)


@pytest.fixture
def pool(folder):
    return Pool.load(folder)


def listed(tmp_path, tiers):
    """A pool whose pictures are one and the same tiny file: draws never look at pixels."""
    picture = tmp_path / "p"
    picture.mkdir(parents=True)
    rows = []
    for i, tier in enumerate(tiers):
        Image.new("RGB", (4, 4)).save(picture / f"{i:02d}.png")
        rows.append({"file_name": f"{i:02d}.png", "tier": tier})
    write_rows(picture, rows)
    return Pool.load(picture)


# -- draws


def test_two_and_two_by_default(pool):
    draw = pool.draw(seed=3)
    assert Counter(e.tier for e in draw.references) == {"love": 2, "okay": 2}
    assert len({e.name for e in draw.references}) == 4
    assert draw.warnings == ()


def test_uniform_within_tiers_over_ten_thousand_seeds(pool):
    """Chi-square against equal chances: 8 drawable of each tier, so 7 degrees of freedom, 24.3 is p = 0.001."""
    counts = Counter(e.name for seed in range(10_000) for e in pool.draw(seed=seed).references)
    for members in pool.tiers(pool.drawable).values():
        assert len(members) == 8
        expected = 20_000 / 8
        # each seed draws two of eight without replacement, which shrinks the variance by (8 − 2)/(8 − 1)
        square = sum((counts[e.name] - expected) ** 2 for e in members) / expected / (6 / 7)
        assert square < 24.3


def test_pairs_are_uniform_too(pool):
    pairs = Counter(
        frozenset(e.name for e in pool.draw(seed=seed).references if e.tier == "love") for seed in range(10_000)
    )
    assert len(pairs) == 28
    square = sum((n - 10_000 / 28) ** 2 for n in pairs.values()) / (10_000 / 28)
    assert square < 55.5  # 27 degrees of freedom, p = 0.001


DRAWN = ["14.png", "00.png", "17.png", "13.png"]
"""What seed 7 draws from twenty rows, love on even numbers: written down once, the same on any machine for ever."""


def test_the_same_seed_draws_the_same_anywhere(tmp_path):
    tiers = ["love", "okay"] * 10
    assert [e.name for e in listed(tmp_path, tiers).draw(seed=7).references] == DRAWN
    code = (
        "import sys; from pathlib import Path; from paintcli.pool import Pool;"
        "print([e.name for e in Pool.load(Path(sys.argv[1])).draw(seed=7).references])"
    )
    for hash_seed in ("0", "1"):
        told = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "p")],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == str(DRAWN)


@pytest.mark.parametrize("python", ["python3.8", "python3.11", "python3.12", "python3.13", "python3.14"])
def test_the_order_is_the_same_on_every_python(python):
    """The sort key alone, on whichever interpreters are installed; it uses nothing of Python's own random."""
    installed = shutil.which(python)
    if installed is None or subprocess.run([installed, "--version"], capture_output=True).returncode:
        pytest.skip(f"{python} is not installed here")
    names = [f"{i:02d}.png" for i in range(20)]
    code = (
        f"import hashlib\n{inspect.getsource(pools.fair_order)}\nprint(sorted({names}, key=lambda n: fair_order(7, n)))"
    )
    code = "from __future__ import annotations\n" + code
    told = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(sorted(names, key=lambda n: pools.fair_order(7, n)))


def test_a_draw_does_not_depend_on_the_order_of_rows(tmp_path):
    one = listed(tmp_path, ["love", "okay"] * 10)
    write_rows(one.path, list(reversed(read_rows(one.path))))
    assert [e.name for e in Pool.load(one.path).draw(seed=7).references] == DRAWN


def test_the_reserved_part_is_never_drawn(pool):
    assert Counter(e.tier for e in pool.reserved) == {"love": 2, "okay": 2}
    drawn = {e.name for seed in range(500) for e in pool.draw(seed=seed).references}
    assert drawn == {e.name for e in pool.drawable}
    assert drawn.isdisjoint(e.name for e in pool.reserved)
    assert all(e in pool.reserved for e in pool.draw(seed=1, entries=pool.reserved).references)


def test_a_column_may_say_what_is_reserved(folder):
    rows = read_rows(folder)
    rows[0]["reserved"] = True
    pool = Pool.load(folder).with_rows(rows)
    assert [e.name for e in pool.reserved] == [rows[0]["file_name"]]


def test_shares_and_a_third_rung(tmp_path):
    pool = listed(tmp_path, ["love", "okay", "weak", "no"] * 4)
    draw = pool.draw({"weak": 3, "love": 1}, seed=0)
    assert [e.tier for e in draw.references] == ["love", "weak", "weak", "weak"]
    assert {e.tier for e in pool.drawable} == {"love", "okay", "weak"}


def test_a_schedule_from_easy_to_hard(tmp_path):
    two = listed(tmp_path / "a", ["love", "okay"] * 4)
    assert two.scheduled(4, 0.0) == {"okay": 4}
    assert two.scheduled(4, 0.4) == {"love": 2, "okay": 2}
    assert two.scheduled(4, 0.8) == two.scheduled(4, 1.0) == {"love": 4}
    three = listed(tmp_path / "b", ["love", "okay", "weak"] * 4)
    assert [three.scheduled(4, p) for p in (0.0, 0.2, 0.4, 1.0)] == [
        {"weak": 4}, {"okay": 2, "weak": 2}, {"okay": 4}, {"love": 4},
    ]  # fmt: skip
    assert listed(tmp_path / "c", ["okay"] * 3).scheduled(4, 0.0) == {"okay": 4}


def test_odd_pools_draw_sensibly_and_say_so(tmp_path):
    one_tier = listed(tmp_path / "a", ["love"] * 4).draw(seed=0)
    assert len(one_tier.references) == 4
    assert one_tier.warnings == ("The pool has 2 too few 'okay' paintings for this draw: 2 from love instead.",)
    few = listed(tmp_path / "b", ["love", "okay"]).draw(seed=0)
    assert [e.tier for e in few.references] == ["love", "okay"]
    assert len(few.warnings) == 2
    assert "none could take its place" in few.warnings[0]
    alone = listed(tmp_path / "c", ["okay"]).draw(seed=0)
    assert len(alone.references) == 1
    assert len(alone.warnings) == 2


def test_nothing_to_draw(tmp_path):
    with pytest.raises(UsageError, match="no rated painting"):
        listed(tmp_path, ["no", None]).draw()


# -- reading and writing


def test_unknown_columns_survive_a_save(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2, my_note="mine", nested={"a": [1, 2]})
    before = read_rows(folder)
    Pool.load(folder).save()
    after = read_rows(folder)
    assert list(after[0])[: len(COLUMNS)] == list(COLUMNS)
    assert [{k: row[k] for k in old} for row, old in zip(after, before, strict=True)] == before
    assert after[0]["reference_photo"] is None


def test_a_split_folder_is_found(tmp_path):
    make_pool(tmp_path / "dataset" / "train", per_tier=2)
    assert len(Pool.load(tmp_path / "dataset")) == 4


def test_a_folder_of_links_is_a_pool(tmp_path):
    """As the Hub's cache keeps a snapshot: every file a link to a blob outside the folder."""
    folder = make_pool(tmp_path / "p", per_tier=2)
    (tmp_path / "blobs").mkdir()
    for number, file in enumerate([path for path in folder.rglob("*") if path.is_file()]):
        file.rename(tmp_path / f"blobs/{number}")
        file.symlink_to(tmp_path / f"blobs/{number}")
    assert len(Pool.load(folder)) == 4


def test_family_is_the_column_or_the_generator(pool, folder):
    assert {e.family for e in pool.entries} == {"hand-round", "hand-windy", "hand-upright", "hand-scattered"}
    rows = [row | {"family": "wet"} for row in read_rows(folder)]
    assert {e.family for e in pool.with_rows(rows).entries} == {"wet"}


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda rows: rows[0].update(file_name="gone.png"), "file_name gone.png, which does not exist"),
        (lambda rows: rows[0].update(source_file="sources/gone.js"), "source_file sources/gone.js, which does not"),
        (lambda rows: rows.append(rows[0]), "is named twice in metadata.jsonl (again on line 5)"),
        (lambda rows: rows[0].update(file_name="../../secret.png"), "points outside the pool"),
        (lambda rows: rows[0].pop("file_name"), "line 1 names no picture"),
        (lambda rows: rows.clear(), "has no rows"),
    ],
)
def test_a_faulty_pool_is_one_sentence(tmp_path, spoil, sentence):
    folder = make_pool(tmp_path / "p", per_tier=2)
    rows = read_rows(folder)
    spoil(rows)
    write_rows(folder, rows)
    with pytest.raises(UsageError) as said:
        Pool.load(folder)
    assert sentence in str(said.value)
    assert "\n" not in str(said.value)


def test_broken_json_names_the_line(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    with (folder / "metadata.jsonl").open("a") as file:
        file.write('{"file_name": \n')
    with pytest.raises(UsageError, match="line 5 is not JSON"):
        Pool.load(folder)


def test_a_line_ends_where_json_lines_end(tmp_path):
    """U+2028 in an author's name is text, and so is half of a surrogate pair, which is no UTF-8."""
    folder = make_pool(tmp_path / "p", per_tier=2)
    rows = read_rows(folder)
    rows[0]["reference_photo_attribution"] = "Ada\u2028Lovelace\x85"
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    lines[1] = json.dumps({**rows[1], "subject": "rose \ud83d"})
    (folder / "metadata.jsonl").write_text("\r\n".join(lines), "utf-8")  # from another system, without a last line end
    pool = Pool.load(folder)
    assert [e.name for e in pool.entries] == [row["file_name"] for row in rows]
    assert pool.entries[0].row["reference_photo_attribution"] == "Ada\u2028Lovelace\x85"
    pool.save()
    assert [e.subject for e in Pool.load(folder).entries][:2] == [rows[0]["subject"], "rose ?"]


def test_metadata_that_is_not_text(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    (folder / "metadata.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"metadata\.jsonl is not UTF-8 text"):
        Pool.load(folder)


def test_several_faults_are_counted(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    rows = [row | {"file_name": f"gone-{i}.png"} for i, row in enumerate(read_rows(folder))]
    write_rows(folder, rows)
    with pytest.raises(UsageError, match=r"does not exist \(and 3 more: `paint pool check` lists them\)\.$"):
        Pool.load(folder)


def test_what_is_no_pool(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        Pool.load(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="holds no metadata"):
        Pool.load(tmp_path)


def test_the_digest_sees_pixels_and_tiers(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    first = Pool.load(folder).digest
    assert Pool.load(folder).digest == first
    rows = read_rows(folder)
    rows[0]["tier"] = "okay"
    assert Pool.load(folder).with_rows(rows).digest != first
    Image.new("RGB", (9, 9)).save(folder / rows[0]["file_name"])
    assert Pool.load(folder).digest != first


# -- which pool


def test_the_projects_own_pool_comes_first(tmp_path):
    make_pool(tmp_path / "pools" / "mine", per_tier=2)
    found = pools.resolve(None, project=tmp_path, hub=True)
    assert found.name == "mine"
    make_pool(tmp_path / "pools" / "other", per_tier=2)
    with pytest.raises(UsageError, match="several pools"):
        pools.resolve(None, project=tmp_path)
    assert len(pools.resolve(str(tmp_path / "pools" / "other"), project=tmp_path)) == 4


def test_no_starter_pool_for_an_unknown_domain():
    with pytest.raises(UsageError, match="no starter pool for 'cathedral'"):
        pools.resolve(None, domain="cathedral")


def test_without_a_pool_and_a_hub_the_starter_pool_is_used_and_said(tmp_path):
    found = pools.resolve(None, project=tmp_path)
    assert "starter pool (no pool of your own was found)" in found.origin
    assert {"love", "okay"} == set(found.tiers())
    assert pools.resolve(None, domain="koi", hub=True).name == "koi"  # nobody published a pool of koi


def test_with_a_hub_the_published_pool_is_next_and_its_outage_is_no_fallback(tmp_path):
    """In a process of its own, told to stay off the network: an empty cache is then the Hub not answering."""
    code = "from paintcli import pool; pool.resolve(None, hub=True)"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    last = told.stderr.splitlines()[-1]
    assert "Unavailable: The dataset HuggingEnvs/watercolour-reference-pool is not in the cache" in last
    assert "--pool" in last


def test_a_published_pool_in_the_cache_loads_at_its_revision(tmp_path, folder):
    """The Hub's own cache layout, filled by hand, so that the real client finds the pinned revision offline."""
    repo = tmp_path / "hub" / "datasets--HuggingEnvs--watercolour-reference-pool"
    revision = pools.PUBLISHED.partition("@")[2]
    shutil.copytree(folder, repo / "snapshots" / revision)
    code = "from paintcli import pool; found = pool.resolve(None, hub=True); print(len(found), found.origin)"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip() == "20 the published pool (no pool of your own was found)", told.stderr


# -- stats and checks


def test_near_duplicates_are_found(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=3)
    picture = np.asarray(Image.open(folder / "love-00.png")).copy()
    picture[:4, :4] = 0
    Image.fromarray(picture).save(folder / "love-02.png")
    pairs = pools.near_duplicates(Pool.load(folder).entries)
    assert [(a.name, b.name) for a, b, _ in pairs] == [("love-00.png", "love-02.png")]


def test_what_pairs_join_is_one_group():
    assert pools.groups([]) == []
    assert pools.groups([("a", "b"), ("c", "d"), ("e", "f"), ("d", "b")]) == [["e", "f"], ["a", "b", "c", "d"]]
    assert pools.groups([("a", "b"), ("b", "c"), ("a", "c")]) == [["a", "b", "c"]]


def test_licences(tmp_path):
    folder = make_pool(tmp_path / "p", per_tier=2)
    rows = read_rows(folder)
    rows[0] |= {"reference_photo": "1.jpg"}
    rows[1] |= {"reference_photo": "2.jpg", "reference_photo_licence": "cc-by"}
    rows[2] |= {"reference_photo": "3.jpg", "reference_photo_licence": "cc0"}
    problems = pools.licence_problems(Pool.load(folder).with_rows(rows).entries)
    assert [(p.file, p.detail.split()[-1]) for p in problems] == [
        ("love-00.png", "licence."),
        ("love-01.png", "attribute."),
    ]


def test_stats(pool):
    told = pools.stats(pool)
    json.dumps(told)
    assert told["paintings"] == 20
    assert told["tiers"] == {"love": 10, "okay": 10}
    assert told["reserved"] == 4
    assert told["coverage"]["love"][0] <= told["coverage"]["love"][2] <= told["coverage"]["love"][4]
    assert told["consistency"] is None


def test_consistency_comes_from_rechecks(pool, folder):
    rows = read_rows(folder)
    for row, again in zip(rows, ["love", "okay", "love"], strict=False):
        row["recheck_tier"] = again
    assert pools.consistency(pool.with_rows(rows)) == {"rechecked": 3, "same": pytest.approx(2 / 3)}


# -- import


def test_import_keeps_everything(tmp_path, folder):
    target = tmp_path / "mine"
    added, left_out = pools.import_paintings(target, pools.rows_of_folder(folder), "hub:someone/pool@abc")
    assert len(added) == 20
    assert left_out == []
    mine, theirs = read_rows(target), read_rows(folder)
    for new, old in zip(mine, theirs, strict=True):
        assert new["imported_from"] == "hub:someone/pool@abc"
        assert new["imported_name"] == old["file_name"]
        assert {k: new[k] for k in ("tier", "subject", "generator_model")} == {
            k: old[k] for k in ("tier", "subject", "generator_model")
        }
        assert (target / new["source_file"]).read_bytes() == (folder / old["source_file"]).read_bytes()
        assert (target / new["file_name"]).read_bytes() == (folder / old["file_name"]).read_bytes()
    again, left_out = pools.import_paintings(target, pools.rows_of_folder(folder), "x")
    assert again == []
    assert len(left_out) == 20
    assert read_rows(target) == mine


def test_import_of_plain_pictures(tmp_path):
    plain = tmp_path / "pictures"
    plain.mkdir()
    wash("round", 5, 1, seed=1).save(plain / "a.png")
    wash("round", 5, 1, seed=2).convert("P").save(plain / "b.gif")
    (plain / "a.js").write_text("function setup() {}")
    (plain / "c.png").write_bytes((plain / "a.png").read_bytes()[:300])
    (plain / "notes.txt").write_text("not a picture")
    added, left_out = pools.import_paintings(tmp_path / "pool", pools.rows_of_folder(plain), str(plain))
    assert added == ["a.png", "b.gif"]
    assert [p.file for p in left_out] == ["c.png"]
    loaded = Pool.load(tmp_path / "pool")
    assert [e.tier for e in loaded.entries] == ["", ""]
    assert loaded.entries[0].code == "function setup() {}"
    assert loaded.entries[1].code is None
    assert 0 < loaded.entries[0].row["paint_coverage"] < 1


def test_import_of_a_runs_best(tmp_path):
    run = tmp_path / "run"
    (run / "images").mkdir(parents=True)
    (run / "sources").mkdir()
    rows = []
    for i, reward in enumerate([0.2, 0.9, None, 0.7]):
        wash("windy", 5, 1, seed=i).save(run / "images" / f"s{i}.png")
        (run / "sources" / f"s{i}.js").write_text(f"// {i}")
        rows.append({"file_name": f"images/s{i}.png", "source_file": f"sources/s{i}.js", "run": "r", "reward": reward})
    write_rows(run, rows)
    best = pools.rows_of_folder(run, best=2)
    assert [row["reward"] for _, _, row in best] == [0.9, 0.7]
    added, _ = pools.import_paintings(tmp_path / "pool", best, "r")
    assert added == ["s1.png", "s3.png"]
    loaded = Pool.load(tmp_path / "pool")
    assert loaded.entries[0].row["reward"] == 0.9
    assert loaded.entries[0].row["imported_name"] == "images/s1.png"
    assert loaded.entries[0].code == "// 1"
    assert len(pools.rows_of_folder(run, sample=3, seed=5)) == 3
    assert pools.rows_of_folder(run, sample=3, seed=5) == pools.rows_of_folder(run, sample=3, seed=5)


def test_two_pictures_of_one_name_both_come_in(tmp_path):
    for i, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        wash("round", 5, 1, seed=i).save(tmp_path / name / "a.png")
        pools.import_paintings(tmp_path / "pool", pools.rows_of_folder(tmp_path / name), name)
    assert [e.name for e in Pool.load(tmp_path / "pool").entries] == ["a.png", "a-2.png"]


def test_best_of_a_folder_without_rewards(folder):
    with pytest.raises(UsageError, match="no rewards"):
        pools.rows_of_folder(folder, best=3)


def test_sketches_may_lie_apart_from_their_pictures(tmp_path):
    """As `paint render sketches/ -o paintings/` leaves them."""
    (tmp_path / "sketches").mkdir()
    (tmp_path / "paintings").mkdir()
    (tmp_path / "sketches" / "rose.js").write_text("// a rose")
    for seed, name in enumerate(("rose", "fern")):
        wash("round", 5, 1, seed=seed).save(tmp_path / "paintings" / f"{name}.png")
    rows = pools.rows_of_folder(tmp_path / "paintings", sources=tmp_path / "sketches")
    pools.import_paintings(tmp_path / "pool", rows, "paintings")
    assert {r["file_name"]: r["source_file"] for r in read_rows(tmp_path / "pool")} == {
        "fern.png": None, "rose.png": "sources/rose.js",
    }  # fmt: skip
    assert (tmp_path / "pool" / "sources" / "rose.js").read_text() == "// a rose"
    assert [s for _, s, _ in pools.rows_of_folder(tmp_path / "paintings")] == [None, None]
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        pools.rows_of_folder(tmp_path / "paintings", sources=tmp_path / "nowhere")
