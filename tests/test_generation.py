"""Filling a pool: from models that write well, badly, slowly or not at all, through the real browser, past any kill."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Loopback, Reply, Scribe, chat
from PIL import Image
from test_startup import HEAVY, loaded_by
from washes import read_rows

from paintcli import critique, domains, generation
from paintcli.attempt import Attempt, attempt
from paintcli.backends.chromium import ChromiumRenderer
from paintcli.backends.hub.http import Patience
from paintcli.backends.hub.provider import Provider
from paintcli.backends.protocols import EmptyReply
from paintcli.backends.specs import make_generator
from paintcli.errors import PaintError, UsageError
from paintcli.gate import Verdict, Violation
from paintcli.generation import Generation, Team, plan
from paintcli.photos import from_folder
from paintcli.pool import COLUMNS, Pool
from paintcli.rating import Rating
from paintcli.sketch import extract

pytestmark = pytest.mark.browser
HIBISCUS = domains.load("hibiscus")
QUICK = Patience(attempts=3, attempt=60.0, total=200.0, wait=0.02, longest_wait=0.05)


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=2, deadline=120) as painter:
        yield painter


def scribe(model):
    return f"hub:scribes/{model}"


def fill(pool, server, models, renderer, count=3, critic=None, photos=(), **options):
    """Run a generation with these models of the server; returns it and what it told.

    Their names do not hold the server's port: a job's seed follows from them, and what the scribe writes from that.
    """
    specs = {scribe(model): Provider(f"{server.address}/v1#{model}", writing=QUICK) for model in models}
    jobs = plan(HIBISCUS, list(specs), count, photos)
    told = []
    eyes = Provider(f"{server.address}/v1#{critic}", writing=QUICK) if critic else None
    team = Team(specs, renderer, eyes, critic_name=critic or "")
    run = Generation(pool, HIBISCUS, jobs, team, told=told.append, **options)
    asyncio.run(run.run())
    return run, told


def contents(pool):
    """file_name → row, picture and sketch: what a pool is, whatever the order of its rows."""
    found = {}
    for row in read_rows(pool):
        assert row["file_name"] not in found, f"{row['file_name']} is there twice"
        sketch = (pool / row["source_file"]).read_text("utf-8")
        found[row["file_name"]] = (row, (pool / row["file_name"]).read_bytes(), sketch)
    return found


# -- the plan ------------------------------------------------------------------------------------------------------


def test_names_and_seeds_follow_from_what_is_asked(tmp_path):
    ours = plan(HIBISCUS, ["hub:zai-org/GLM-5.2", "gguf:/models/gemma.gguf"], 10)
    assert ours == plan(HIBISCUS, ["hub:zai-org/GLM-5.2", "gguf:/models/gemma.gguf"], 10)
    assert len({job.stem for job in ours}) == len({job.seed for job in ours}) == 20
    assert [job.subject for job in ours[:9]] == [*HIBISCUS.subjects, HIBISCUS.subjects[0]]
    assert ours[0].stem.startswith("glm-5.2-a-peach-hibiscus-01-")
    more = plan(HIBISCUS, ["hub:zai-org/GLM-5.2"], 12)
    assert more[:10] == ours[:10]  # asking for more later adds, and repeats nothing
    other = plan(replace(HIBISCUS, system="Paint badly."), ["hub:zai-org/GLM-5.2"], 10)
    assert not {job.stem for job in other} & {job.stem for job in ours}


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("hub:zai-org/GLM-5.2", "GLM-5.2"),
        ("hub:Qwen/Qwen3-Coder-Next:novita", "Qwen3-Coder-Next"),
        ("hub:http://127.0.0.1:8000/v1#some/model", "model"),
        ("hf:models/gemma-3-270m", "gemma-3-270m"),
        ("gguf:~/models/gemma.Q4.gguf", "gemma.Q4"),
    ],
)
def test_a_model_is_named_like_in_the_published_pool(spec, name):
    assert generation.model_name(spec) == name


# -- the critic without a model ------------------------------------------------------------------------------------


def look(renderer, body, setup="createCanvas(600, 600, WEBGL); noLoop();"):
    source = (
        f'function setup() {{ {setup} }}\nfunction draw() {{\nbackground("#fdfbf4"); translate(-300, -300); '
        f"brush.noStroke();\n{body}\n}}"
    )
    return asyncio.run(attempt(extract(source), renderer, HIBISCUS, anyway=True))


def test_what_can_be_measured_is_said_with_numbers(renderer):
    seen = look(
        renderer,
        'brush.fill("#d04030", 200); brush.circle(300, 300, 60);\nbrush.circle(700, 100, 40);\n'
        'brush.fill("#fff8ee", 200); brush.circle(200, 200, 50);\n'
        'brush.fill("#d04030", 3); brush.circle(450, 450, 40);',
    )
    said = critique.remarks(seen, HIBISCUS)
    assert said[0] == "Shapes painted: 4; 15 to 30 are asked for."
    assert said[1] == (
        "Off the canvas (600 × 600): 1 of 4 shapes, the first a circle filled with #d04030 at opacity 200, "
        "from x 660 to 740 and y 60 to 140."
    )
    assert re.fullmatch(r"Lost in the paper \(#fdfb..\): 1 of 4 shapes, filled with #fff8ee\.", said[2])
    assert said[3].startswith("Hardly a trace: 1 of 4 shapes, the first a circle filled with #d04030 at opacity 3")
    assert said[4] == "Opacity under 150: 1 of 4 fills, the lowest 3."
    assert "good ones cover 12% to 55%: paint more of the sheet" in said[5] and len(said) == 6


def test_shapes_are_where_the_matrix_put_them(renderer):
    seen = look(
        renderer,
        "push(); translate(100, 50); rotate(HALF_PI); brush.fill(200, 40, 40, 220); brush.beginShape();\n"
        "brush.vertex(0, 0); brush.vertex(80, 0); brush.vertex(80, 40); brush.endShape(true); pop();",
    )
    (mark,) = seen.painting.marks
    assert (mark.what, mark.colour, mark.opacity) == ("shape", "rgb(200,40,40)", 220)
    assert [mark.left, mark.top, mark.right, mark.bottom] == pytest.approx([60, 50, 100, 130], abs=0.01)


def test_violations_come_with_their_line_and_errors_with_their_words(renderer):
    seen = look(renderer, 'brush.fill("#d04030", 200); brush.circle(300, 300, 150);\ntext("rose", 9, 9);\nmissing();')
    said = critique.remarks(seen, HIBISCUS)
    assert said[0] == "Refused: text_label (line 5): p5's text writes text"
    assert any(words.startswith("The page reported: ") and "missing is not defined" in words for words in said)
    unpainted = Attempt(extract(""), 0, Verdict((Violation("no_sketch_in_response", None, "nothing"),)))
    assert critique.remarks(unpainted, HIBISCUS) == ["Refused: no_sketch_in_response: nothing"]


def test_a_good_painting_is_told_next_to_nothing(renderer):
    """Its thin glazes are under what the domain asks for; nothing else."""
    source = (Path(__file__).parent.parent / "examples" / "peach-hibiscus.js").read_text("utf-8")
    seen = asyncio.run(attempt(extract(source), renderer, HIBISCUS))
    assert critique.remarks(seen, HIBISCUS) == ["Opacity under 150: 25 of 93 fills, the lowest 120."]


# -- the pipeline --------------------------------------------------------------------------------------------------


def test_each_generator_gets_what_it_deserves_and_costs_only_its_own(tmp_path, renderer):
    pool = tmp_path / "pool"
    with Loopback(Scribe(delay=0.02)) as server:
        models = ("good", "mixed", "wild", "thinker", "denied", "broken")
        run, _ = fill(pool, server, models, renderer, count=4)
        name = {model: scribe(model) for model in models}
    tally, dropped = run.tally(), {model: run.dropped.get(name[model], "") for model in models}
    assert tally.painted[name["good"]] == 12 and not tally.refused[name["good"]]  # four flowers, three rounds
    assert dropped["good"] == dropped["mixed"] == ""
    assert dropped["wild"].startswith("3 of its first 3 sketches were not valid, one: ")
    assert "it thought, and wrote nothing" in dropped["thinker"]
    assert "refuses this token: it lacks the right" in dropped["denied"]
    assert "failed 3 times in a row" in dropped["broken"]
    assert run.unreliable == {name["wild"], name["thinker"]} and run.unfinished == 8

    rows = read_rows(pool)
    assert all(tuple(row)[: len(COLUMNS)] == COLUMNS for row in rows)
    assert {row["tier"] for row in rows} == {None} and {row["hpsv3_mu"] for row in rows} == {None}
    refused = [row for row in rows if row["gate_errors"]]
    assert refused and {row["gate_errors"][0].split(" (")[0] for row in refused} == {"text_label"}
    assert sum(tally.unpainted.values()) + len(rows) == len({(r["job"], r["round"]) for r in lines(pool, "reply")})

    waiting = Rating(pool, "somebody").order  # for a person: what the gate refused is not asked about
    assert set(waiting) == {row["file_name"] for row in rows if not row["gate_errors"]}
    unrated = Pool.load(pool)  # to be rated, and in nobody's way until then
    assert len(unrated) == len(rows) and not unrated.rated and not unrated.drawable
    assert all(
        entry.painting.coverage == pytest.approx(entry.row["paint_coverage"], abs=1e-4) for entry in unrated.entries
    )


def lines(pool, kind):
    found = [json.loads(line) for line in (pool / "generation.jsonl").read_text("utf-8").splitlines()]
    return [row for row in found if row["kind"] == kind]


def test_what_was_answered_is_not_asked_again_and_more_can_be_asked_for(tmp_path, renderer):
    scribe = Scribe()
    with Loopback(scribe) as server:
        fill(tmp_path, server, ["good"], renderer, count=1, trial=1)
        before, asked = contents(tmp_path), len(server.requests)
        fill(tmp_path, server, ["good"], renderer, count=1, trial=1)
        assert len(server.requests) == asked and contents(tmp_path) == before
        fill(tmp_path, server, ["good"], renderer, count=2, trial=1)
        assert max(scribe.answered.values()) == 1 and len(contents(tmp_path)) == 2 * len(before)


def test_the_author_is_shown_its_sketch_and_what_to_change(tmp_path, renderer):
    with Loopback(Scribe()) as server:
        fill(tmp_path, server, ["good"], renderer, count=1, trial=1, rounds=2)
        first, second = server.requests[0].body["messages"], server.requests[-1].body["messages"]
    assert second[:2] == first == HIBISCUS.messages("a peach hibiscus")
    (row,) = [r for r in read_rows(tmp_path) if r["refinement_round"] == 1]
    assert second[2]["content"] == f"```javascript\n{(tmp_path / row['source_file']).read_text('utf-8')}\n```"
    assert "Shapes painted: 1; 15 to 30 are asked for." in second[3]["content"]


def photo_folder(folder, **row):
    folder.mkdir()
    Image.new("RGB", (300, 200), "#c03020").save(folder / "one.jpg")
    known = {"file_name": "one.jpg", "licence": "cc-by", "attribution": "A. Botanist", "url": "https://example.org/1"}
    (folder / "photos.jsonl").write_text(json.dumps({**known, **row}) + "\n", "utf-8")
    return folder


def test_a_critic_with_eyes_sees_painting_and_photo_and_is_heard(tmp_path, renderer):
    scribe, words = Scribe(), iter(["Larger petals, please."])

    def answer(request, number):
        return Reply(chat(next(words))) if request.body["model"] == "eyes" else scribe(request, number)

    photos = from_folder(photo_folder(tmp_path / "photos"))
    with Loopback(answer) as server:
        fill(tmp_path / "pool", server, ["good"], renderer, count=1, trial=1, critic="eyes", photos=photos, rounds=2)
        looks = [r.body["messages"][0]["content"] for r in server.requests if r.body["model"] == "eyes"]
        asked = [r.body["messages"] for r in server.requests if r.body["model"] == "good"]
    assert [part["type"] for part in looks[0]].count("image_url") == 2
    assert "asked for: a peach hibiscus" in looks[0][-1]["text"]
    assert re.search(
        r"Paint it after a photograph whose colours are #[bc].[23].[12]. \(100%\)\.$", asked[0][-1]["content"]
    )
    assert "Larger petals, please." in asked[-1][-1]["content"]
    (one, two) = read_rows(tmp_path / "pool")
    assert [one["refinement_round"], two["refinement_round"]] == [1, 2]
    assert [one[c] for c in COLUMNS[9:]] == ["one.jpg", "cc-by", "A. Botanist", "https://example.org/1"]
    (criticised,) = lines(tmp_path / "pool", "critique")
    assert criticised["by"] == "eyes" and criticised["tokens_in"] == 1


def test_spend_is_told_as_far_as_it_is_known(tmp_path, renderer):
    with Loopback(Scribe()) as server:
        run, _ = fill(tmp_path, server, ["good"], renderer, count=1, trial=1, rounds=2)
    replies = lines(tmp_path, "reply")
    read, written = (sum(r[c] for r in replies) for c in ("tokens_in", "tokens_out"))
    known = generation.spent(run.journal, {"good": (1.0, 10.0)})["good"]
    assert (known.calls, known.tokens_in, known.tokens_out, known.unpriced) == (2, read, written, 0)
    assert known.cost == pytest.approx((read + 10 * written) / 1e6)
    assert generation.spent(run.journal, {})["good"].unpriced == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("name", ["generation.jsonl", "metadata.jsonl"])
def test_a_full_disk_is_said_and_nothing_paid_for_is_lost(tmp_path, renderer, monkeypatch, name):
    monkeypatch.setattr(generation, "RETRY", 0.05)
    (tmp_path / name).symlink_to("/dev/full")
    scribe, told = Scribe(), []
    with Loopback(scribe) as server:
        spec = f"hub:{server.address}/v1#good"

        def hear(event):
            told.append(event)
            if "the disk is full" in event.text:  # somebody makes room
                (tmp_path / name).unlink()

        team = Team({spec: Provider(f"{server.address}/v1#good", writing=QUICK)}, renderer)
        run = Generation(tmp_path, HIBISCUS, plan(HIBISCUS, [spec], 1), team, rounds=1, told=hear)
        asyncio.run(run.run())
    assert [e.kind for e in told].count("outage") == 1
    assert any(e.text.startswith("There is room on the disk again") for e in told)
    assert len(contents(tmp_path)) == 1 and len(lines(tmp_path, "reply")) == 1
    assert max(scribe.answered.values()) == 1


def test_a_folder_that_cannot_be_written_ends_the_run(tmp_path, renderer):
    (tmp_path / "images").write_text("in the way")
    with Loopback(Scribe()) as server, pytest.raises(PaintError, match="a part of the path is a file"):
        fill(tmp_path, server, ["good", "mixed"], renderer, count=2)


def test_two_do_not_fill_one_pool(tmp_path, renderer):
    from contextlib import ExitStack

    with ExitStack() as stack:
        generation.Journal(tmp_path, stack)
        with Loopback(Scribe()) as server, pytest.raises(UsageError, match=r"Another `paint pool generate` is filling"):
            fill(tmp_path, server, ["good"], renderer)


# -- killed --------------------------------------------------------------------------------------------------------


def start(pool, address, models, count):
    generators = [word for model in models for word in ("--generator", f"hub:{address}/v1#{model}")]
    return subprocess.Popen(
        [sys.executable, "-m", "paintcli", "pool", "generate", "--pool", str(pool), "-n", str(count), "--timeout", "5",
         "--check", "2", "--deadline", "120", *generators],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def finish(pool, address, models, count):
    """Run it to the end, where "wild" was not trusted (3); a machine too busy to paint (4) is asked again."""
    codes = [start(pool, address, models, count).wait(280)]
    while codes[-1] == 4 and len(codes) < 4:
        codes.append(start(pool, address, models, count).wait(280))
    assert codes[-1] == 3, codes


def journal_lines(pool):
    path = pool / "generation.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed_and_resumed(tmp_path, kills, count, seed):
    models = ("good", "mixed", "wild")
    scribe = Scribe(delay=0.1, stall=6.0)
    with Loopback(scribe) as server:
        whole, broken = tmp_path / "whole", tmp_path / "broken"
        finish(whole, server.address, models, count)
        moments = sorted(random.Random(seed).sample(range(1, journal_lines(whole)), kills))
        chance, jobs = random.Random(seed), plan(HIBISCUS, [f"hub:{server.address}/v1#{m}" for m in models], count)
        seeds = {job.stem: job.seed for job in jobs}
        scribe.asked.clear()
        scribe.answered.clear()
        paid = []  # at each kill: how many requests there had been, and what the journal held
        for moment in moments:
            process = start(broken, server.address, models, count)
            until = time.monotonic() + 240
            while journal_lines(broken) < moment and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.3))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait(240) == -signal.SIGKILL, "it ended before it was killed"
            written = lines_whole(broken)
            paid.append((len(server.requests), {(r["by"], seeds[r["job"]] + r["round"]) for r in written}))
        finish(broken, server.address, models, count)
        for before, known in paid:
            later = {(r.body["model"], r.body["seed"]) for r in server.requests[before:]}
            assert not later & known, "a call whose answer was on disk was made again"
        under_way = kills * 4 * len(models)  # answers that came when nobody was there to hear them
        assert sum(times - 1 for times in scribe.answered.values()) <= under_way
    assert contents(broken) == contents(whole)
    assert not [*broken.glob("**/*.tmp")]


def lines_whole(pool):
    """The replies in a journal that a kill may have torn."""
    data = (pool / "generation.jsonl").read_bytes()
    found = [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    return [row for row in found if row["kind"] == "reply"]


def test_killed_three_times_the_pool_is_the_same(tmp_path):
    killed_and_resumed(tmp_path, kills=3, count=2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_twenty_times_the_pool_is_the_same(tmp_path):
    killed_and_resumed(tmp_path, kills=20, count=3, seed=2)


def test_interrupted_it_waits_for_what_was_asked(tmp_path):
    scribe = Scribe(delay=1.0)
    with Loopback(scribe) as server:
        process = start(tmp_path, server.address, ["good"], 3)
        while not server.requests:
            assert process.poll() is None, "it ended before it was interrupted"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        assert len(lines_whole(tmp_path)) == sum(scribe.answered.values()) > 0


# -- models of this machine ----------------------------------------------------------------------------------------

GEMMA = Path(os.environ.get("PAINT_TEST_GEMMA", "gemma"))
"""A folder with Gemma 3 270M, as gemma-3-270m/ and as gemma.gguf; its weights are not ours to pass on."""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("spec", [f"hf:{GEMMA / 'gemma-3-270m'}", f"gguf:{GEMMA / 'gemma.gguf'}"])
def test_a_small_model_of_this_machine_is_refused_or_poor(tmp_path, paint, spec):
    if not Path(spec.partition(":")[2]).exists():
        pytest.skip("Gemma 3 270M is not on this machine")
    ran = paint("pool", "generate", "--pool", tmp_path, "--generator", spec, "-n", 1, "--rounds", 2, "--check", 0,
                "--tokens", 120, "--json")  # fmt: skip
    (told,) = [row for row in map(json.loads, ran.out.splitlines()) if "generators" in row]
    assert told["generators"][spec]["unpainted"] + told["generators"][spec]["painted"] == len(lines(tmp_path, "reply"))
    assert all(reply["tokens_out"] <= 120 for reply in lines(tmp_path, "reply"))


def test_a_gguf_writes_what_its_weights_say(tmp_path):
    """Random weights: words without sense, counted, and the same ones for the same seed."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("gguf")
    pytest.importorskip("transformers")
    from tiny_gguf import save_gguf
    from tiny_vlm import save_qwen3_vl

    save_gguf(save_qwen3_vl(tmp_path))
    writer = make_generator(f"gguf:{tmp_path / 'model.gguf'}", tokens=12)
    ask = [{"role": "user", "content": "Paint."}]
    try:
        first, again, other = (asyncio.run(said(writer, ask, seed)) for seed in (1, 1, 2))
    finally:
        writer.close()
    assert first == again != other
    assert 0 < first.tokens_out < 20 and first.tokens_in > 0  # it may finish a character of several bytes


async def said(writer, messages, seed):
    try:
        return await writer.write(messages, seed)
    except EmptyReply as nothing:
        return nothing.reply


def test_a_folder_writes_what_it_learned(tmp_path):
    pytest.importorskip("transformers")
    import tiny_policy

    writer = make_generator(f"hf:{tiny_policy.save(tmp_path / 'tiny', steps=60)}", tokens=20)
    first, again = (asyncio.run(writer.write(tiny_policy.PROMPT, seed)) for seed in (1, 1))
    assert first == again and first.tokens_out <= 20 and "javascript" in first


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["--generator", "gpt:x"],
            2,
            "There is no generator 'gpt:x'; choose hub:<model>, hf:<model>, gguf:<model.gguf>.",
        ),
        (["--generator", "gguf:/none.gguf"], 1, "There is no GGUF file /none.gguf."),
        (["--generator", "hf:/none"], 1, "There is no model folder /none."),
        ([], 1, "Asking zai-org/GLM-5.2 on the Hub needs a token: run `hf auth login`, set HF_TOKEN, or choose"),
        (["--generator", "hub:http://127.0.0.1:1#x", "--photos", "empty"], 2, "empty holds no photos."),
        (["--generator", "hub:http://127.0.0.1:1#x", "--photos", "none"], 2, "The photos none are not a folder."),
        (["--generator", "hub:http://127.0.0.1:1#x", "--critic", "taste"], 2, "There is no critic 'taste'"),
        (["--generator", "hub:http://127.0.0.1:1#x", "--scorer", "taste"], 2, "taste is no HPSv3"),
        (["--generator", "hub:http://127.0.0.1:1#x", "--price", "x=free"], 2, "The price of x is two numbers"),
        (["--pool", "hub:a/b"], 2, "A pool on the Hub is not filled from here; copy it first: paint pool import"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, paint, arguments, code, sentence):
    if "gguf:/none.gguf" in arguments:
        pytest.importorskip("llama_cpp")
    if "hf:/none" in arguments:
        pytest.importorskip("transformers")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    ran = paint("pool", "generate", *arguments)
    assert (ran.code, ran.out) == (code, "") and ran.err.startswith(f"paint: {sentence}"), ran
    assert not (tmp_path / "pool").exists()


def test_help_imports_nothing_heavy():
    assert loaded_by("pool", "generate", "--help") & HEAVY == set()


def test_a_photo_without_licence_is_refused_unless_allowed(tmp_path, monkeypatch, paint):
    monkeypatch.chdir(tmp_path)
    photo_folder(tmp_path / "photos", licence="")
    ran = paint("pool", "generate", "--generator", "hub:http://127.0.0.1:1#x", "--photos", "photos")
    assert ran.code == 2 and "one.jpg has no licence" in ran.err


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "refuses the token; run `hf auth login` or set HF_TOKEN"),
        (403, "refuses this token: it lacks the right"),
        (404, "does not exist, or not for this token"),
    ],
)
def test_nobody_left_to_write(tmp_path, monkeypatch, paint, status, sentence):
    monkeypatch.chdir(tmp_path)
    with Loopback(lambda request, number: Reply({"error": "no"}, status=status)) as server:
        ran = paint("pool", "generate", "--generator", f"hub:{server.address}#x", "-n", 2)
    assert ran.code == 1 and f"paint: No generator is left. hub:{server.address}#x: " in ran.err and sentence in ran.err


def test_the_prices_of_a_project(tmp_path, monkeypatch, paint):
    (tmp_path / "paint.toml").write_text('[generate]\nprices = {"good" = [1000.0, 0]}\n')
    monkeypatch.chdir(tmp_path)
    with Loopback(Scribe()) as server:
        ran = paint(
            "pool", "generate", "--generator", f"hub:{server.address}/v1#good", "-n", 1, "--rounds", 1, "--json"
        )
        *rows, told = map(json.loads, ran.out.splitlines())
    assert ran.code == 0 and [row["file_name"] for row in rows] == [
        row["file_name"] for row in read_rows(tmp_path / "pool")
    ]
    assert told["spend"]["good"]["cost"] == pytest.approx(0.102)
    (tmp_path / "paint.toml").write_text("[generate]\ncolour = 1\n")
    ran = paint("pool", "generate")
    assert ran.code == 2 and "unknown key 'colour' under [generate]" in ran.err
