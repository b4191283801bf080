"""The rollout record: nothing doubled, nothing torn, nothing lost but the step in flight."""

import json
import random

import pytest

from paintcli import rollouts
from paintcli.errors import PaintError
from paintcli.rollouts import CURVE, PAINTED, UNPAINTED, Rollout, RunFolder

CODE = 'function setup() { createCanvas(600, 600, WEBGL); }\n// a "quoted" \\ path\\\\, the end: \\"\n' + "x;" * 40


def rollout(step=0, position=0, **more):
    return Rollout(run="r", step=step, position_in_group=position, reward=0.5, code=CODE, **more)


def test_published_columns_come_first_in_their_published_order():
    published = (
        "file_name source_file run judge_weight hpsv3_weight step position_in_group reward code code_chars n_shapes "
        "n_vertices n_circles n_fill_calls brush_methods_used step_group_reward group_judge_mean group_length_mean "
        "group_paint_mean group_quality_mean"
    )
    assert rollouts.COLUMNS[:20] == rollouts.PUBLISHED_COLUMNS == tuple(published.split())


def test_a_painted_rollout_lies_beside_its_picture_and_source(tmp_path):
    run = RunFolder(tmp_path / "run")
    assert run.append(rollout(), b"png bytes")
    assert run.append(rollout(position=1))
    [painted] = rollouts.rows(tmp_path / "run" / PAINTED)
    [unpainted] = rollouts.rows(tmp_path / "run" / UNPAINTED)
    assert (tmp_path / "run" / painted["file_name"]).read_bytes() == b"png bytes"
    assert (tmp_path / "run" / painted["source_file"]).read_text() == CODE == painted["code"]
    assert unpainted["file_name"] is None
    assert painted.keys() == unpainted.keys() == set(rollouts.COLUMNS)


def test_nothing_is_doubled_within_a_writer_or_after_a_restart(tmp_path):
    run = RunFolder(tmp_path)
    assert run.append(rollout(3, 1), b"first")
    assert not run.append(rollout(3, 1))
    again = RunFolder(tmp_path)
    assert (3, 1) in again and again.next_step == 4
    assert not again.append(rollout(3, 1), b"second")
    assert [row["step"] for row in rollouts.stream(tmp_path)] == [3]
    assert (tmp_path / "images/step-00003-01.png").read_bytes() == b"first"


def test_a_line_torn_anywhere_costs_that_line_only(tmp_path):
    run = RunFolder(tmp_path)
    for position in range(3):
        run.append(rollout(position=position))
    whole = (tmp_path / UNPAINTED).read_bytes()
    second = whole.index(b"\n") + 1
    third = whole.index(b"\n", second) + 1
    for cut in (second + 1, third - 1, third + 5, len(whole) - 1):
        (tmp_path / UNPAINTED).write_bytes(whole[:cut])
        complete = whole[: cut + 1].count(b"\n")  # a line that lacks only its end is whole
        run = RunFolder(tmp_path)
        positions = [row["position_in_group"] for row in rollouts.stream(tmp_path)]
        assert positions == list(range(complete))
        assert run.append(rollout(position=complete))
        assert [row["position_in_group"] for row in rollouts.stream(tmp_path)] == list(range(complete + 1))


def test_reading_a_run_that_is_being_written_skips_the_torn_line(tmp_path):
    (tmp_path / PAINTED).write_text('{"step": 0, "position_in_group": 0}\n{"step": 1, "posi')
    assert len(list(rollouts.stream(tmp_path))) == 1


def test_rewind_forgets_the_step_in_flight_in_every_file(tmp_path):
    run = RunFolder(tmp_path)
    for step in range(4):
        run.append(rollout(step, 0), b"png")
        run.append(rollout(step, 1))
        run.append_curve({"step": step, "reward": step / 10})
    assert run.rewind(2) == 4
    assert sorted((row["step"], row["position_in_group"]) for row in rollouts.stream(tmp_path)) == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    assert [row["reward"] for row in rollouts.read_curve(tmp_path / CURVE)] == ["0.0", "0.1"]
    assert run.append(rollout(2, 0), b"new") and run.append_curve({"step": 2, "reward": 0.9})
    assert RunFolder(tmp_path).next_step == 3


def test_the_curve_has_the_published_header_and_line_ends(tmp_path):
    run = RunFolder(tmp_path)
    assert run.append_curve({"step": 0, "reward": 0.25, "entropy": None})
    assert not run.append_curve({"step": 0, "reward": 0.75})
    assert RunFolder(tmp_path).append_curve({"step": 1, "reward": 0.5})
    lines = (tmp_path / CURVE).read_bytes().split(b"\r\n")
    assert lines[0].decode() == ",".join(rollouts.CURVE_COLUMNS)
    assert lines[1].startswith(b"0,0.25,,") and lines[2].startswith(b"1,0.5,") and lines[3:] == [b""]
    with pytest.raises(ValueError, match="rewards"):
        run.append_curve({"step": 2, "rewards": 1})


def test_skipping_the_sketch_reads_the_same_row_and_finds_the_sketch_again(tmp_path):
    """Any text: quotes, backslashes, newlines, other alphabets, a violation whose key is also "code"."""
    draw = random.Random(0)
    path = tmp_path / "x.jsonl"
    codes = ["".join(draw.choices('ab"\\\n{}:,é→ code', k=draw.randint(0, 300))) for _ in range(300)]
    with path.open("w", encoding="utf-8") as file:
        for index, code in enumerate(codes):
            violations = [{"code": "text_label", "line": 3, "detail": 'says "code": "x"'}]
            row = {"code": code, "violations": violations} if index % 2 else {"violations": violations, "code": code}
            separators = (",", ":") if index % 3 else (", ", ": ")
            file.write(json.dumps(row, ensure_ascii=index % 5 == 0, separators=separators) + "\n")
    spans, keys = 0, {}
    for full, skipped in zip(rollouts.rows(path), rollouts.rows(path, code=False), strict=True):
        span = skipped.pop("code_span", None)
        if span:
            spans += 1
            keys[skipped.pop("code_key")] = full["code"]
            assert skipped["code"] is None
            skipped["code"] = rollouts.code_at(path, [span])[0]
        assert skipped == full
    assert len(keys) == spans > 80


def test_bad_lines_are_named(tmp_path):
    path = tmp_path / PAINTED
    path.write_text('{"step": 0}\nnot json\n{"step": 1}\n')
    with pytest.raises(PaintError, match=r"Line 2 of .*metadata\.jsonl is not JSON\."):
        list(rollouts.rows(path))
    path.write_text("[1]\n")
    with pytest.raises(PaintError, match=r"Line 1 of .* is not a JSON object"):
        list(rollouts.rows(path))
    path.unlink()
    (tmp_path / CURVE).write_text("a,b\n1,2\n")
    with pytest.raises(PaintError, match=r"curve\.csv is not a curve"):
        RunFolder(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PaintError, match="a part of the path is a file, not a folder"):
        RunFolder(tmp_path / "file" / "run")
