"""What people really have: files with holes, mixtures and lies. One sentence each, and whatever can be said is said."""

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import analysis_data
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from paintcli.analysis import report, sources, terminal
from paintcli.analysis.code import bleeds, opacities, reach, read
from paintcli.analysis.gain import Options
from paintcli.cli.main import app
from paintcli.errors import PaintError, UsageError
from paintcli.rollouts import Rollout, RunFolder


def load(tmp_path, rows, name="metadata.jsonl"):
    return sources.load(str(analysis_data.write(tmp_path / "run" / name, rows)))


def analyse(tmp_path, rows, **options):
    [run] = load(tmp_path, rows)
    found = report.analyse(run, Options(**options))
    json.dumps(found, allow_nan=False)  # every report is valid JSON
    return found


def test_missing_columns_are_named_and_the_rest_is_analysed(tmp_path):
    rows = [{k: row[k] for k in ("step", "reward")} for row in analysis_data.run(good=(0.5, 0.8))]
    found = analyse(tmp_path, rows)
    assert {"n_shapes", "code", "comparisons", "position_in_group"} <= set(found["missing"])
    assert found["gain"]["change"]["low"] > 0 and found["decomposition"]["good_got_better"]["low"] > 0
    assert found["thirds"][0]["shapes"] is None and found["correlations"] == {} and found["code"] is None
    assert found["draw"]["basis"] is None and "cannot say" in found["draw"]["reason"]


def test_without_reward_or_step_it_says_so_and_goes_on(tmp_path):
    rows = analysis_data.run(steps=9)
    found = analyse(tmp_path, [{k: v for k, v in row.items() if k != "reward"} for row in rows])
    assert "There is no column reward: nothing can be said about reward." in found["notes"]
    assert found["thirds"][0]["mean_reward"] is None and found["thirds"][0]["shapes"] is not None
    (tmp_path / "run/metadata.jsonl").unlink()
    no_step = [{k: v for k, v in row.items() if k not in ("step", "position_in_group")} for row in rows]
    found = analyse(tmp_path, no_step)
    assert "There is no column step: nothing can be said about change." in found["notes"]
    assert found["correlations"]["n_shapes"]["all"]["value"] is not None


def test_neither_step_nor_reward_is_no_rollouts_file(tmp_path):
    with pytest.raises(PaintError, match="neither a column step nor reward"):
        load(tmp_path, [{"name": "x"}])


def test_nan_rewards_are_left_out_and_counted_by_cause(tmp_path):
    rows = analysis_data.run(steps=12, bad=(0, 0))
    clean = report.analyse(load(tmp_path, rows)[0], Options())
    extra = [dict(rows[0], position_in_group=8 + i, reward=value) for i, value in enumerate((math.nan, None, "oops"))]
    extra[1]["unavailable"] = ["judge: the server said 503"]
    found = analyse(tmp_path, rows + extra)
    assert found["gain"] == clean["gain"] and found["slope"] == clean["slope"]
    assert found["health"]["excluded"] == {"rollouts": 3, "causes": {"not said": 2, "judge": 1}}


@pytest.mark.parametrize(("steps", "group"), [(1, 8), (1, 1), (2, 1), (2, 8), (3, 1), (4, 2)])
def test_tiny_runs(tmp_path, steps, group):
    found = analyse(tmp_path, analysis_data.run(steps=steps, group=group))
    assert found["rollouts"] == steps * group
    if steps == 1:
        assert found["verdict"][0] == "Nothing can be said about change: there is only one step."
    if steps in (2, 3):
        assert found["verdict"][0].startswith("Too few steps for an interval")
    assert CliRunner().invoke(app, ["analyze", str(tmp_path / "run")]).exit_code == 0


def test_runs_are_told_apart_by_their_column_and_refused_without_it(tmp_path):
    one, two = analysis_data.run(steps=9), analysis_data.run(steps=9, seed=1, good=(0.3, 0.9))
    for row in two:
        row["run"] = "other"
    runs = load(tmp_path, one + two)
    assert [(run.name, len(run)) for run in runs] == [("made-up", 72), ("other", 72)]
    mixed = [{k: v for k, v in row.items() if k != "run"} for row in one + two]
    with pytest.raises(
        PaintError, match=r"mixes several runs \(step 0, position 0 is there 2 times\) and has no column"
    ):
        load(tmp_path, mixed)


def test_a_doubled_row_is_left_out_and_said(tmp_path):
    rows = analysis_data.run(steps=6)
    found = analyse(tmp_path, [*rows, rows[5]])
    assert found["rollouts"] == 48 and "1 rollout with a step and position seen before left out." in found["notes"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.parquet", b"step,reward\n0,1\n", "is not a Parquet file"),
        ("x.csv", b"\x89PNG\r\n\x1a\n\xff\xfe\x00", "is not a CSV file"),
        ("x.csv", b"a,b\n1,2\n", "is not a curve: it has no column step and reward"),
        ("x.csv", b"step,reward\n0,1\n0,2\n", "has a step twice"),
        ("x.csv", b"step,reward\n", "holds no steps"),
        ("x.jsonl", b"PAR1\0\0\0\0", "is not a JSON-lines file"),
        ("x.jsonl", b"step,reward\n0,1\n", "Line 1 of .* is not JSON"),
        ("x.jsonl", b"", "holds no rollouts"),
        ("x.jsonl", b'{"reward": 1, "step": null}\n', "has no number in its column step"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path, name, content, sentence):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PaintError, match=sentence):
        sources.load(str(tmp_path / name))
    result = CliRunner().invoke(app, ["analyze", str(tmp_path / name)])
    assert isinstance(result.exception, PaintError)


def test_names_that_lead_nowhere(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        sources.load(str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="holds no rollouts"):
        sources.load(str(tmp_path))
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match=r"is none of \.jsonl"):
        sources.load(str(tmp_path / "notes.txt"))
    for arguments, sentence in (
        (["--split", "half"], "--split is card or ends"),
        (["--between", "1"], "--between takes two steps"),
        (["--between", "1,x"], "--between takes step numbers"),
    ):
        result = CliRunner().invoke(app, ["analyze", str(tmp_path), *arguments])
        assert isinstance(result.exception, UsageError) and sentence in str(result.exception)


def test_a_step_the_run_has_not(tmp_path):
    with pytest.raises(UsageError, match="has no step 99"):
        analyse(tmp_path, analysis_data.run(steps=6), between=(1, 99))


def test_corrupt_and_missing_and_foreign_pictures_are_counted_not_fatal(tmp_path):
    rows = analysis_data.run(steps=6, group=2, bad=(0, 0))
    (tmp_path / "run/images").mkdir(parents=True)
    Image.new("RGB", (60, 60), "red").save(tmp_path / "outside.png")
    for row in rows:
        path = tmp_path / "run" / row["file_name"]
        pixels = np.full((60, 60, 3), 250, np.uint8)
        pixels[20:40, 20:50] = (200, 60, 40 + 20 * row["position_in_group"])
        Image.fromarray(pixels).save(path)
    (tmp_path / "run" / rows[0]["file_name"]).write_bytes(b"\x89PNG not really")
    (tmp_path / "run" / rows[1]["file_name"]).unlink()
    rows[2]["file_name"] = "../outside.png"
    found = analyse(tmp_path, rows, images=True)
    assert "3 of 12 pictures looked at are missing or not readable." in found["notes"]
    assert found["colours"]["pictures"] == 9
    assert found["terms"]["coverage"]["last"] == pytest.approx(600 / 3600)


def test_our_own_run_folder_with_what_was_never_painted(tmp_path):
    run = RunFolder(tmp_path / "tag")
    for step in range(6):
        for position in range(4):
            passed = position > 0
            run.append(
                Rollout(
                    run="tag", step=step, position_in_group=position, reward=0.5 + step / 20 if passed else 0.0,
                    code=analysis_data.sketch(6), code_chars=900, gate=float(passed), judge_weight=0.6,
                    judge=None if position == 1 else 0.5, n_shapes=6, finish_reason="stop" if passed else "length",
                    violations=[] if passed else [{"code": "truncated", "line": None, "detail": "cut"}],
                ),
                b"png" if passed else None,
            )  # fmt: skip
        run.append_curve({"step": step, "reward": 0.5, "entropy": 0.3, "learning_rate": 5e-5})
    [loaded] = sources.load(str(tmp_path / "tag"))
    found = report.analyse(loaded, Options())
    assert found["rollouts"] == 24 and found["thirds"][0]["under_0.3"] == 2
    truncated = found["hacking"]["violations"]["truncated"]
    assert truncated["counts"] == [2, 2, 2] and truncated["by_step"] == [1] * 6
    assert found["health"]["clipped"]["first"] == 0.25 and found["health"]["entropy"]["first"] == 0.3
    assert found["health"]["phantom_zeros"]["rollouts"] == 6  # passed, rewarded, weighted, and never judged
    assert loaded.code([0, 23]) == [analysis_data.sketch(6)] * 2


def test_a_flat_run_names_its_fault(tmp_path):
    rows = analysis_data.run(steps=30, bad=(0.9, 0.9))
    assert analyse(tmp_path, rows)["flat"]["fault"] == "gate"
    for row in rows:
        row |= {"reward": 0.2, "gate": 1.0, "judge": 0.5}
    assert analyse(tmp_path, rows)["flat"]["fault"] == "trainer"  # every group the same: no gradient


def test_numbers_in_a_sketch_are_read_from_its_calls_not_its_comments():
    found = read(
        "// brush.fill('#fff', 20)\nconst petals = [1];\nfunction petal() { brush.fill(1, 2, 3, 180); }\n"
        "function setup() {}\nfunction draw() { for (;;) brush.fill('#f00', 150); brush.fill(9, 9, 9);"
        " brush.fillBleed(0.25); random(2); }"
    )
    assert opacities(found) == [180.0, 150.0] and bleeds(found) == [0.25]
    assert found.idioms == {"comments", "arrays", "loops", "own functions", "random()"}
    assert found.methods == {"fill": 3, "fillBleed": 1}
    assert read("this is { not javascript").methods == {}


def flower(reach: float, vertex: str = "brush.vertex({x:.1f}, {y:.1f});", more: str = "") -> str:
    """Five petals around (300, 280), each from the heart to `reach` units away, written out as numbers."""
    petals = ""
    for petal in range(5):
        points = [(0, 0)]
        points += [(reach * part, 2 * math.pi * petal / 5 + turn) for part, turn in ((0.6, 0.3), (1, 0), (0.6, -0.3))]
        corners = " ".join(vertex.format(x=300 + r * math.cos(a), y=280 + r * math.sin(a)) for r, a in points)
        petals += f"  brush.beginShape(); {corners} brush.endShape();\n"
    return f"function setup() {{ createCanvas(600, 600, WEBGL); }}\nfunction draw() {{\n{more}{petals}}}\n"


def test_reach_is_read_where_it_is_written_and_only_there(tmp_path):
    assert reach(read(flower(220))) == pytest.approx(220, abs=6)  # the median of the vertices is near the heart
    assert reach(read(flower(220, "brush.vertex({x:.1f} + 1, {y:.1f});"))) is None
    assert reach(read(flower(220, more="  rotate(1);\n"))) is None
    rows = analysis_data.run(steps=9, group=4)
    for row in rows:
        row["code"] = flower(100 if row["step"] < 3 else 220)
    found = analyse(tmp_path, rows, targets={"reach": [200, 240]})["code"]
    assert (found["obedience"]["reach"]["within_first"], found["obedience"]["reach"]["within_last"]) == (0, 1)
    for row in rows:
        row["code"] = flower(220, "brush.vertex({x:.1f} + wobble, {y:.1f});")
    found = analyse(tmp_path, rows, targets={"reach": [200, 240]})["code"]
    assert found["obedience"] == {} and found["unread"]["reach"].startswith("cannot be read: only 0 of 24 sketches")


def test_colours_of_runs_that_part_and_violations_by_step(tmp_path):
    """Two runs that paint alike at first; at last one paints in blue and the other still in red."""
    for name in ("one", "other"):
        rows = analysis_data.run(steps=6, group=2)
        folder = analysis_data.write(tmp_path / name / "metadata.jsonl", rows).parent
        (folder / "images").mkdir()
        for row in rows:
            row["run"] = name
            row["violations"] = [{"code": "blank_canvas", "line": None, "detail": ""}] if row["step"] == 5 else []
            picture = Image.new("RGB", (60, 60), (250, 250, 245))
            picture.paste((40, 60, 200) if name == "other" and row["step"] > 3 else (200, 60, 40), (10, 10, 40, 40))
            picture.save(folder / row["file_name"])
        analysis_data.write(folder / "metadata.jsonl", rows)
    both = [str(tmp_path / name) for name in ("one", "other")]
    lines = [json.loads(x) for x in CliRunner().invoke(app, ["analyze", *both, "--json"]).stdout.splitlines()]
    assert lines[0]["colours"]["other_runs"] == {"other": [0, 0, 1]}
    assert lines[1]["colours"]["other_runs"] == {"one": [0, 0, 1]}
    assert lines[0]["hacking"]["violations"]["blank_canvas"]["by_step"] == [0, 0, 0, 0, 0, 2]
    twice = CliRunner().invoke(app, ["analyze", both[0], both[0], "--json"]).stdout  # one name: told apart by place
    alone, again = (json.loads(x) for x in twice.splitlines())
    assert alone["colours"]["other_runs"] == {again["source"]: [0, 0, 0]}
    text = CliRunner().invoke(app, ["analyze", *both]).stdout
    assert "colour distance of one and other by third: 0.00 → 0.00 → 1.00" in text
    assert "▁▁▁▁▁█" in text


def test_a_sparkline_is_as_long_as_it_may_be():
    assert terminal.sparkline([0, 1, 2, 7]) == "▁▂▃█"
    assert terminal.sparkline([0] * 100) == "▁" * 24
    assert terminal.sparkline([0] * 50 + [3] * 50) == "▁" * 12 + "█" * 12
    assert terminal.sparkline([0] * 99 + [1])[-1] == "█"


def test_json_of_several_runs_is_one_object_a_line(tmp_path):
    a = analysis_data.write(tmp_path / "a/metadata.jsonl", analysis_data.run(steps=9))
    b = analysis_data.write(tmp_path / "b/metadata.jsonl", analysis_data.run(steps=9, good=(0.4, 0.9)))
    result = CliRunner().invoke(app, ["analyze", str(a.parent), str(b.parent), "--json"])
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(reports) == 2 and reports[0].keys() == reports[1].keys()
    assert reports[0]["gain"] != reports[1]["gain"]


def test_of_a_hub_dataset_only_the_tables_are_fetched_unless_pictures_are_asked_for(tmp_path):
    """A Hub on this machine: the API's two addresses that a snapshot needs, and the files."""
    rows = analysis_data.run(steps=6, group=2)
    folder = analysis_data.write(tmp_path / "served/metadata.jsonl", rows).parent
    (folder / "images").mkdir()
    for row in rows:
        Image.new("RGB", (8, 8), (200, 60, 90)).save(folder / row["file_name"])
    (folder / "film.mp4").write_bytes(b"large")
    fetched = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            if path.startswith("/api/datasets/me/rollouts"):
                names = [str(file.relative_to(folder)) for file in files]
                listed = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in names]
                whole = {"id": "me/rollouts", "sha": "a" * 40, "siblings": [{"rfilename": name} for name in names]}
                self.answer(json.dumps(listed if "/tree/" in path else whole).encode(), "application/json")
            elif "/resolve/" in path:
                name = path.partition(f"/resolve/{'a' * 40}/")[2]
                if self.command == "GET":
                    fetched.append(name)
                self.answer((folder / name).read_bytes(), "application/octet-stream")
            else:  # the client asks for other things too, and does without
                self.send_error(404)

        do_HEAD = do_GET

        def answer(self, data, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", "a" * 40)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        environment = os.environ | {
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}", "HF_HUB_CACHE": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_XET": "1",
        }  # fmt: skip
        environment.pop("HF_HUB_OFFLINE", None)

        def paint(*arguments):
            command = [sys.executable, "-m", "paintcli", "analyze", "me/rollouts", "--json", *arguments]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        without = paint()
        assert fetched == ["metadata.jsonl"]
        assert without["colours"] is None and any("--images" in note for note in without["notes"])
        assert paint("--images")["colours"]["pictures"] == len(rows)
        assert "film.mp4" not in fetched
        hub.shutdown()


def test_a_run_is_held_to_the_numbers_of_its_own_domain(tmp_path):
    rows = analysis_data.run(steps=6, group=4)
    analysis_data.write(tmp_path / "run" / "metadata.jsonl", rows)
    (tmp_path / "own.toml").write_text(
        'title = "Own"\nsubject = "a leaf"\nhpsv3_prompt = "a leaf"\n[prompt]\nrequest = "Paint {subject}."\n'
        '[gate]\nmethods = ["circle"]\nenforce_allowlist = true\npaint_floor = 0.01\n[targets]\nopacity = [10, 20]\n'
    )

    def asked(*more: str) -> list[str]:
        ran = CliRunner().invoke(app, ["analyze", str(tmp_path / "run"), "--json", *more])
        assert ran.exit_code == 0, ran.output
        found = json.loads(ran.stdout)
        return [list(found["code"]["obedience"]), found["notes"]]

    recipe = tmp_path / "run" / "recipe.toml"
    assert "shapes" in asked()[0]  # no recipe: the domain of the settings
    recipe.write_text(f'mix = "judge-led"\ndomain = "{tmp_path / "own.toml"}"\n')
    assert asked()[0] == ["opacity"]
    assert "shapes" in asked("--domain", "hibiscus")[0]
    recipe.write_text('mix = "control"\ndomain = "control"\n')
    assert asked() == [[], asked("--domain", "hibiscus")[1]]  # it paints nothing: no numbers, and no word of it
    recipe.write_text(f'mix = "judge-led"\ndomain = "{tmp_path / "gone.toml"}"\n')
    obedience, notes = asked()
    assert obedience == [] and any("gone.toml is not here" in note for note in notes)
