"""The environment server: the real OpenEnv client and validator, our own client, and everybody who misbehaves."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import websockets

pytest.importorskip("fastapi", reason="the servers need fastapi: pip install 'paintcli[serve]'")

from loopback import Loopback, Reply
from serving import Command, Running, ask, wait_for

from paintcli import domains
from paintcli.backends.chromium import ChromiumRenderer
from paintcli.backends.hub.env import Environment, Waits
from paintcli.backends.hub.renderer import EnvironmentRenderer
from paintcli.backends.hub.scorer import ScorerSpace
from paintcli.backends.taste import Taste
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.pool import Pool, starter
from paintcli.reward import Assessor, Mix, length_term
from paintcli.serving import pulse
from paintcli.serving.environment import Easel, published_mix, watched
from paintcli.serving.openenv import create_app

pytestmark = pytest.mark.browser

OPENENV = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paint" / "openenv-0.10.0"
needs_openenv = pytest.mark.skipif(
    not (OPENENV / ".ready").exists(), reason="the real OpenEnv client is not here: .ci/openenv makes its environment"
)
HERE = Path(__file__).parent
PATIENT = Waits(answer=250.0, pause=0.05)

SKETCH = """function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  background(250, 246, 238);
  translate(-300, -300);
  brush.noStroke();
  brush.fillBleed(0.2);
  for (let i = 0; i < 3; i++) {
    brush.fill(random(["#c2412d", "#3a6ea5"]), 200);
    brush.circle(random(200, 400), random(200, 400), 120);
  }
}
"""
ENDLESS = SKETCH.replace("  for (let", "  while (true) {}\n  for (let")
PUBLISHED = {
    "gate_passed", "violations", "js_errors", "render_unavailable", "judged", "judge_score", "judge_weight",
    "quality_scored", "quality_score", "length_score", "paint_fraction", "finished", "task_id", "subject", "feedback",
    "breakdown",
}  # fmt: skip


def padded(number: int, sketch: str = SKETCH) -> str:
    """A sketch that its length term tells from every other number's."""
    return sketch + f"// {'x' * (40 * number)}\n"


def refused(number: int) -> str:
    """Refused by its syntax, without a browser."""
    return padded(number, SKETCH.replace("fillBleed(0.2)", "fillBleed(0.2); circle(0, 0, 9)"))


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=2) as local:
        local.warm_up()
        yield local


@pytest.fixture
def impatient(renderer, monkeypatch):
    """For sketches without an end: what begins now has two seconds."""
    monkeypatch.setattr(renderer, "deadline", 2.0)
    yield
    monkeypatch.undo()


@pytest.fixture(scope="module")
def assessor(renderer):
    pool = Pool.load(starter())
    taste = Taste(pool)
    mine = Assessor(
        mix=Mix.parse("judge-led"), domain=domains.load(), renderer=renderer, comparer=taste, scorer=taste,
        labels={"renderer": "local", "judge": "taste (stand-in)", "hpsv3": "taste (stand-in)"}, stand_in=True,
    )  # fmt: skip
    return mine, pool


@pytest.fixture
def easel(assessor):
    mine, pool = assessor
    mine, pulses = watched(mine, 2)
    return Easel(mine, pool, pulses=pulses)


@pytest.fixture
def app(easel):
    return create_app(easel, sessions=32)


@pytest.fixture
def server(app):
    with Running(app) as running:
        yield running


def play(address: str, replies: list[str], options: list[dict] | dict, sessions: int = 4) -> list:
    """Episodes of our own client, all at once."""
    each = options if isinstance(options, list) else [options] * len(replies)

    async def main():
        environment = Environment(address, sessions=sessions, waits=PATIENT)
        try:
            return await asyncio.gather(*(environment.episode(r, o) for r, o in zip(replies, each, strict=True)))
        finally:
            await environment.close()

    return asyncio.run(main())


def converse(address: str, messages: list) -> list[dict]:
    """Frames of one raw connection, one for each message (an object, or text as it is)."""

    async def main():
        async with websockets.connect(address.replace("http", "ws") + "/ws", max_size=None) as socket:
            frames = []
            for message in messages:
                await socket.send(message if isinstance(message, str) else json.dumps(message))
                frames.append(json.loads(await asyncio.wait_for(socket.recv(), 200)))
            return frames

    return asyncio.run(main())


def openenv(*arguments: object) -> list[str]:
    return [str(OPENENV / "bin" / "python"), str(HERE / "openenv_client.py"), *map(str, arguments)]


# -- an episode ----------------------------------------------------------------------------------------------------


def test_an_episode_of_our_own_client(server, renderer) -> None:
    options = {"seed": 7, "references": 2, "return_image": True, "subject": "a lilac hibiscus"}
    one, again, other, plain = play(
        server.address, [SKETCH] * 4, [options, options, {**options, "seed": 8}, {**options, "return_image": False}]
    )
    seen = one.observation
    assert set(seen) == PUBLISHED | {"image_png_base64"} and "image_png_base64" not in plain.observation
    assert seen["gate_passed"] and seen["finished"] and seen["judged"] and not seen["render_unavailable"]
    assert seen["subject"] == "a lilac hibiscus" and seen["violations"] == []
    assert seen["image_png_base64"] == again.observation["image_png_base64"] != other.observation["image_png_base64"]
    assert seen["paint_fraction"] == pytest.approx(renderer.render_sync(SKETCH, 7).coverage, abs=1e-6)
    told = seen["breakdown"]
    points = {term: told["terms"][term] * weight for term, weight in told["weights"].items() if weight}
    assert one.reward == pytest.approx(sum(points.values()), abs=1e-5) and set(points) == {
        "gate", "length", "judge", "taste"
    }  # fmt: skip
    assert told["seed"] == 7 and [r["tier"] for r in told["references"]] == ["love", "okay"]
    assert told["references"] == again.observation["breakdown"]["references"]
    assert len(told["comparisons"]) == 2 and told["renderer"] and told["versions"]["p5.brush"]


def test_a_stand_in_never_fills_the_quality_score(server) -> None:
    (step,) = play(server.address, [SKETCH], {"seed": 1})
    assert step.observation["quality_scored"] is False and step.observation["quality_score"] == 0
    assert step.observation["breakdown"]["terms"]["taste"] > 0
    assert step.observation["breakdown"]["backends"]["taste"] == "taste (stand-in)"


def test_a_refused_sketch_earns_nothing_and_says_why(server) -> None:
    (step,) = play(server.address, [refused(3)], {"seed": 1})
    seen = step.observation
    assert step.reward == 0 and not seen["gate_passed"] and seen["violations"] == ["bare_primitives"]
    assert seen["breakdown"]["violations"][0]["line"] == 11 and seen["feedback"] == "refused: bare_primitives"
    assert seen["length_score"] == pytest.approx(length_term(refused(3).strip()), abs=1e-3)


def test_a_step_that_takes_too_long_is_nobody_s_fault(server, easel, impatient) -> None:
    easel.limit = 0.5
    (step,) = play(server.address, [padded(9, ENDLESS)], {"seed": 1})
    assert step.reward is None and step.observation["render_unavailable"]
    late = [f"{term}: no answer within 0.5 s" for term in ("gate", "judge", "taste")]
    assert step.observation["breakdown"]["unavailable"] == late and step.observation["length_score"] > 0


def test_only_the_painting_for_a_renderer_elsewhere(server, renderer) -> None:
    """`paint_only`: byte-equal to painting at home, whatever the gate would say, and nobody judges it."""
    with EnvironmentRenderer(server.address, workers=2, waits=PATIENT) as remote:
        for sketch in (SKETCH, refused(0)):
            there, here = remote.render_sync(sketch, 5), renderer.render_sync(sketch, 5)
            assert there.png == here.png and there.calls == here.calls and there.renderer == here.renderer


def test_a_single_request_over_http_is_an_episode(server) -> None:
    status, opened = ask(f"{server.address}/reset", {"subject": "a pear"})
    assert status == 200 and opened["observation"]["prompt"] == "Paint a pear." and opened["reward"] is None
    status, told = ask(f"{server.address}/step", {"action": {"response": refused(1)}, "seed": 9, "timeout_s": 5})
    assert status == 200 and told["done"] and told["observation"]["breakdown"]["seed"] == 9
    assert told["observation"]["breakdown"]["notes"] == []
    for body, code, words in (
        (b"rose", 422, "this is no JSON"),
        ({"action": "rose"}, 422, "An action is"),
        ({"action": {"response": ""}, "seed": "x"}, 422, "seed is a whole number"),
        (b" " * (17 << 20), 413, "at most 16 MiB"),
    ):
        status, told = ask(f"{server.address}/step", body)
        assert status == code and words in told["error"]


# -- the protocol --------------------------------------------------------------------------------------------------

ANSWERS = [
    ("rose", "INVALID_JSON", "no JSON"),
    ("[1]", "INVALID_JSON", "a JSON object"),
    ({"type": "paint"}, "UNKNOWN_TYPE", "not 'paint'"),
    ({}, "UNKNOWN_TYPE", "not None"),
    ({"type": "step", "data": {"response": "x"}}, "EXECUTION_ERROR", "reset first"),
    ({"type": "reset", "data": [1]}, "VALIDATION_ERROR", "an object of options"),
    ({"type": "reset", "data": {"seed": -1}}, "VALIDATION_ERROR", "seed is a whole number from 0 to"),
    ({"type": "reset", "data": {"seed": True}}, "VALIDATION_ERROR", "not True"),
    ({"type": "reset", "data": {"references": 0}}, "VALIDATION_ERROR", "references is a whole number from 1 to 64"),
    ({"type": "reset", "data": {"subject": 3}}, "VALIDATION_ERROR", "subject is a text"),
    ({"type": "reset", "data": {"subject": "x" * 501}}, "VALIDATION_ERROR", "at most 500 characters"),
    ({"type": "reset", "data": {"return_image": "yes"}}, "VALIDATION_ERROR", "return_image is true or false"),
]


def test_every_mistake_is_one_frame_and_the_session_goes_on(server) -> None:
    after = [{"type": "reset"}, {"type": "step", "data": {"reply": "x"}}, {"type": "state"}]
    frames = converse(server.address, [message for message, _, _ in ANSWERS] + after)
    for (_, code, words), frame in zip(ANSWERS, frames, strict=False):
        assert frame["type"] == "error" and frame["data"]["code"] == code and words in frame["data"]["message"]
    opened, wrong, state = frames[-3:]
    assert opened["data"]["observation"]["prompt"] == "Paint a peach hibiscus."
    assert opened["data"]["observation"]["system_prompt"].startswith("You paint watercolours")
    assert wrong["data"]["code"] == "VALIDATION_ERROR" and "An action is" in wrong["data"]["message"]
    assert state == {
        "type": "state",
        "data": {
            "episode_id": opened["data"]["observation"]["task_id"],
            "step_count": 0, "subject": "a peach hibiscus", "seed": 0,
        },
    }  # fmt: skip


def test_an_option_nobody_knows_is_not_passed_over_in_silence(server) -> None:
    (opened,) = converse(server.address, [{"type": "reset", "data": {"refrences": 2, "episode_id": "e1"}}])
    assert opened["data"]["observation"]["breakdown"]["notes"] == ["reset does not know 'refrences'"]
    assert opened["data"]["observation"]["task_id"] == "e1"


def test_a_message_over_sixteen_mib_closes_with_1009(server) -> None:
    with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
        converse(server.address, [" " * (17 << 20)])
    assert closed.value.code == 1009


# -- who is connected ----------------------------------------------------------------------------------------------


def test_a_full_house_says_so_and_the_silent_make_room(easel) -> None:
    app = create_app(easel, sessions=2, idle=0.5)

    async def main(address: str) -> None:
        first, second = await websockets.connect(address), await websockets.connect(address)
        await first.send('{"type": "reset"}')
        await first.recv()
        turned_away = await websockets.connect(address)
        frame = json.loads(await turned_away.recv())
        assert frame["data"]["code"] == "CAPACITY_REACHED" and frame["data"]["max_sessions"] == 2
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            await turned_away.recv()
        assert "CAPACITY_REACHED" in str(closed.value)  # what our own client waits at
        await asyncio.sleep(0.6)
        await first.send('{"type": "state"}')  # not silent any more
        await first.recv()
        third = await websockets.connect(address)
        await third.send('{"type": "reset"}')
        assert json.loads(await third.recv())["type"] == "observation"
        with pytest.raises(websockets.exceptions.ConnectionClosed, match="silent for too long"):
            await second.recv()
        await first.send('{"type": "state"}')
        assert json.loads(await first.recv())["data"]["step_count"] == 0
        await first.close()
        await third.close()

    with Running(app) as running:
        asyncio.run(main(running.address.replace("http", "ws") + "/ws"))
        wait_for(lambda: not app.state.sessions.open)


def test_what_waits_for_dead_clients_is_never_painted(app, server, easel, renderer, impatient) -> None:
    """Four endless sketches, two places: the two under way end with their deadline, the two behind them never begin."""
    painting = easel.pulses["renderer"]

    async def main() -> None:
        address = server.address.replace("http", "ws") + "/ws"
        dying = [await websockets.connect(address) for _ in range(4)]
        for socket in dying:
            await socket.send('{"type": "reset"}')
            await socket.recv()
            await socket.send(json.dumps({"type": "step", "data": {"response": ENDLESS}}))
        while painting.under_way < 2:
            await asyncio.sleep(0.05)
        for socket in dying:
            socket.transport.abort()

    asyncio.run(main())
    wait_for(lambda: not app.state.sessions.open)
    wait_for(lambda: painting.under_way == 0)
    renderer.deadline = 30.0
    (step,) = play(server.address, [SKETCH], {"seed": 1})  # and the next client is served
    assert step.reward is not None and step.observation["gate_passed"]
    assert painting.begun == 3


# -- health --------------------------------------------------------------------------------------------------------


def test_health_tells_the_truth_about_a_scorer(renderer, monkeypatch) -> None:
    monkeypatch.setattr(pulse, "FRESH", 0.0)
    state = {"status": 200}
    with Loopback(lambda request, number: Reply({"status": "x"}, status=state["status"])) as scorer:
        mine = Assessor(
            mix=Mix.parse("hps-only"), domain=domains.load(), renderer=renderer, scorer=ScorerSpace(scorer.address),
            labels={"renderer": "local", "hpsv3": f"hub:{scorer.address}"},
        )  # fmt: skip
        mine, pulses = watched(mine, 2, scorer.address)
        app = create_app(Easel(mine, None, pulses=pulses))
        with Running(app) as running:
            for status, healthy in ((200, True), (503, False), (200, True), (404, True)):
                state["status"] = status
                code, told = ask(f"{running.address}/health")
                assert code == 200 and told["status"] == ("healthy" if healthy else "degraded")
                assert told["backends"]["scorer"]["state"] == ("ok" if healthy else "down")
                assert told["backends"]["renderer"]["state"] == "ok" and told["backends"]["renderer"]["why"] == ""
    mine, pulses = watched(replace(mine, renderer=renderer), 2, scorer.address)
    told = asyncio.run(Easel(mine, None, pulses=pulses).health())
    assert told["status"] == "degraded" and "does not answer" in told["backends"]["scorer"]["why"]


def test_without_a_renderer_it_is_not_healthy(assessor) -> None:
    mine, pool = assessor
    browser = pulse.Pulse("local")
    with pytest.raises(Unavailable), browser.watching():
        raise Unavailable("The browser died twice.")
    with Running(create_app(Easel(mine, pool, pulses={"renderer": browser}))) as running:
        code, told = ask(f"{running.address}/health")
        assert code == 503 and told["status"] == "unhealthy"
        assert told["backends"]["renderer"]["why"] == "The browser died twice."
        with browser.watching():
            pass
        assert ask(f"{running.address}/health")[1]["status"] == "healthy"


# -- the real OpenEnv ----------------------------------------------------------------------------------------------


@needs_openenv
def test_openenv_validates_the_package_and_the_running_server(server) -> None:
    for arguments in (
        ["--level", "static", "--skip-build", HERE.parent / "spaces/environment"],
        ["--url", server.address],
    ):
        ran = subprocess.run(
            [OPENENV / "bin/openenv", "validate", "--timeout", "100", *arguments], capture_output=True, text=True
        )
        assert ran.returncode == 0 and "Verdict: PASS" in ran.stdout, ran.stdout + ran.stderr


@needs_openenv
def test_sixteen_sessions_of_the_real_client_at_once(server, app) -> None:
    """All sixteen have reset before any steps; every fourth is painted, and every answer is its own session's."""
    replies = [padded(n) if n % 4 == 0 else refused(n) for n in range(16)]
    ran = subprocess.run(openenv("many", server.address, 16, json.dumps(replies)), capture_output=True, text=True)
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [t["number"] for t in told] == list(range(16)), ran.stderr
    for n, (reply, one) in enumerate(zip(replies, told, strict=True)):
        seen = one["observation"]
        assert one["prompt"] == f"Paint flower {n}." and seen["subject"] == f"flower {n}" and one["done"]
        assert seen["breakdown"]["seed"] == one["state"]["seed"] == n and one["state"]["step_count"] == 1
        assert seen["length_score"] == pytest.approx(length_term(reply.strip()), abs=1e-3)
        assert seen["gate_passed"] is (n % 4 == 0) and ("image_png_base64" in seen) is (n % 4 == 0)
        assert one["reward"] == 0 if n % 4 else one["reward"] > 0.05
    wait_for(lambda: not app.state.sessions.open)


@needs_openenv
def test_a_real_client_killed_while_its_sketch_is_painted(server, app, easel, renderer, impatient) -> None:
    painting = easel.pulses["renderer"]
    with subprocess.Popen(openenv("one", server.address, json.dumps([ENDLESS])), stdout=subprocess.PIPE) as client:
        assert client.stdout is not None and json.loads(client.stdout.readline()) == {"begun": True}
        wait_for(lambda: painting.under_way == 1)
        client.kill()
    wait_for(lambda: not app.state.sessions.open)  # its place is free at once, while the sketch may still run
    wait_for(lambda: painting.under_way == 0)
    renderer.deadline = 30.0
    (step,) = play(server.address, [SKETCH], {"seed": 1})
    assert step.reward is not None and painting.begun == 2


@needs_openenv
def test_the_server_is_restarted_and_its_clients_go_on() -> None:
    """OpenEnv's client in the middle of an episode, ours between two; the server is killed outright and comes back."""
    command = ("serve", "--mix", "gate=.5,length=.5", "--workers", 1)
    replies = [refused(n) for n in range(8)]
    ours: list = []
    killed = threading.Event()

    def play_on(address: str) -> None:
        async def main() -> None:
            environment = Environment(address, sessions=1, waits=replace(PATIENT, pause=0.5, attempts=30))
            for number, reply in enumerate(replies):
                if number == 3:
                    await asyncio.to_thread(killed.wait)
                ours.append((number, await environment.episode(reply, {"seed": number})))
            await environment.close()

        asyncio.run(main())

    with Command(*command) as first:
        port = int(first.address.rpartition(":")[2])
        thread = threading.Thread(target=play_on, args=(first.address,))
        thread.start()
        arguments = openenv("on", first.address, 8, json.dumps(replies))
        client = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert client.stdin is not None and client.stdout is not None
        told = [json.loads(client.stdout.readline()) for _ in range(4)]
        assert told.pop() == {"waiting": True}
        wait_for(lambda: len(ours) == 3)
        kill_tree(first.process)
    killed.set()
    client.stdin.write("\n")  # both go on at once, and find nobody for a while
    client.stdin.flush()
    with Command(*command, port=port):
        told += [json.loads(line) for line in client.stdout]
        assert client.wait(240) == 0
        thread.join(250)
    assert [t["number"] for t in told] == [n for n, _ in ours] == list(range(8))
    assert told[-1]["failures"] > 0
    for number, seen in [(t["number"], t["observation"]) for t in told] + [(n, step.observation) for n, step in ours]:
        assert seen["violations"] == ["bare_primitives"] and seen["breakdown"]["seed"] == number
        assert seen["length_score"] == pytest.approx(length_term(replies[number].strip()), abs=1e-3)


def kill_tree(process: subprocess.Popen) -> None:
    """The process and its browser, without a goodbye."""
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for one in family:
        one.kill()
    process.wait(240)


# -- the command ---------------------------------------------------------------------------------------------------


def test_weights_are_the_published_variables() -> None:
    assert published_mix({"PATH": "/bin", "WATERCOLOUR_JUDGE_WEIGHT": ""}) is None
    mix = published_mix({"WATERCOLOUR_JUDGE_WEIGHT": "0.3", "WATERCOLOUR_QUALITY_WEIGHT": "0.6"})
    assert mix is not None and mix.weights == Mix.parse("hps-led").weights
    for variables, words in (
        (
            {"WATERCOLOUR_COLOUR_WEIGHT": "1"},
            "There is no weight WATERCOLOUR_COLOUR_WEIGHT; there are WATERCOLOUR_GATE",
        ),
        ({"WATERCOLOUR_JUDGE_WEIGHT": "much"}, "WATERCOLOUR_JUDGE_WEIGHT: The weight of judge must be a number"),
        (
            {"WATERCOLOUR_JUDGE_WEIGHT": "0.5"},
            "JUDGE_WEIGHT: The weights of the mix must sum to 1, not 0.9",
        ),
        ({"WATERCOLOUR_JUDGE_WEIGHT": "-1"}, "must be between 0 and 1"),
    ):
        with pytest.raises(UsageError, match=words):
            published_mix(variables)


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (["--mix", "beauty"], {}, "There is no mix 'beauty'"),
        ([], {"WATERCOLOUR_BEAUTY_WEIGHT": "1"}, "There is no weight WATERCOLOUR_BEAUTY_WEIGHT"),
        (["--pool", "/nowhere"], {}, "The pool /nowhere"),
        (["--judge", "hub", "--pool", "UNRATED"], {}, "no rated painting to compare with"),
        (["--scorer", "hub"], {}, "The scorer hub needs a Space"),
        (["--domain", "roses"], {}, "There is no domain 'roses'"),
        (["--host", "nowhere.invalid"], {}, "'nowhere.invalid' is not the name of a machine"),
    ],
)
def test_bad_input_is_one_sentence(paint, monkeypatch, tmp_path, arguments, variables, words) -> None:
    (tmp_path / "images").mkdir()
    shutil.copy(next((starter() / "images").glob("*.png")), tmp_path / "images" / "one.png")
    (tmp_path / "metadata.jsonl").write_text('{"file_name": "images/one.png"}\n')
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = paint("env", "serve", "--port", 0, *(str(tmp_path) if a == "UNRATED" else a for a in arguments))
    *_, said = ran.err.strip().splitlines()
    assert ran.code in (1, 2) and words in said and said.startswith("paint: "), ran


def test_a_port_in_use_is_one_sentence(paint, server) -> None:
    ran = paint("env", "serve", "--port", server.address.rpartition(":")[2])
    assert ran.code == 2 and "is in use; choose another --port" in ran.err


def test_the_command_says_its_weights_and_ends_well() -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PAINT_", "WATERCOLOUR_"))}
    environment |= {
        f"WATERCOLOUR_{name}_WEIGHT": weight
        for name, weight in (("GATE", "0.4"), ("LENGTH", "0.6"), ("JUDGE", "0"), ("QUALITY", "0"))
    }
    arguments = [sys.executable, "-m", "paintcli", "env", "serve", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        browsers = psutil.Process(served.pid).children(recursive=True)
        (step,) = play(address, [SKETCH], {"seed": 1})
        assert step.reward == pytest.approx(0.4 + 0.6 * length_term(SKETCH.strip()), abs=1e-5)
        served.send_signal(signal.SIGTERM)
        _, talk = served.communicate(timeout=100)
    assert served.returncode == 0 and "Weights: gate 0.4, length 0.6" in talk and "Served 1 steps." in talk
    assert browsers and not [one for one in browsers if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_thousand_steps_without_growth() -> None:
    """Every fifth is painted and judged. Memory, sessions and processes after 300 steps and after 1,000."""
    with Command("serve", "--workers", 2) as served:
        process = psutil.Process(served.process.pid)

        def steps(begin: int, end: int) -> None:
            replies = [padded(n % 10) if n % 5 == 0 else refused(n % 10) for n in range(begin, end)]
            told = play(served.address, replies, [{"seed": n} for n in range(begin, end)], sessions=16)
            assert [step.observation["breakdown"]["seed"] for step in told] == list(range(begin, end))
            assert all((step.reward or 0) > 0.05 for step in told[::5])

        def measure() -> dict[str, float]:
            family = process.children(recursive=True)
            return {
                "server MiB": process.memory_info().rss / 2**20,
                "browser MiB": sum(one.memory_info().rss for one in family) / 2**20,
                "processes": len(family),
                "threads": process.num_threads(),
                "files": process.num_fds(),
            }

        steps(0, 300)
        time.sleep(2)
        before = measure()
        steps(300, 1000)
        wait_for(lambda: ask(f"{served.address}/health")[1]["sessions"]["open"] == 0)
        time.sleep(2)
        after = measure()
        print(json.dumps({"after 300": before, "after 1000": after}))
        assert ask(f"{served.address}/health")[1]["steps"] == 1000
        for what, slack in (("server MiB", 40), ("browser MiB", 200), ("processes", 2), ("threads", 4), ("files", 8)):
            assert after[what] <= before[what] + slack, what


def test_a_backend_that_refuses_us_altogether_is_an_error_frame(assessor) -> None:
    """No token for the judge: that concerns every step, and it is no reward of 0."""

    class Closed:
        async def prefer(self, first, second, criteria):
            raise PaintError("The judge refuses the token.")

    mine, pool = assessor
    mine, pulses = watched(replace(mine, comparer=Closed()), 2)
    with Running(create_app(Easel(mine, pool, pulses=pulses))) as running:
        frames = converse(running.address, [{"type": "reset"}, {"type": "step", "data": {"response": SKETCH}}])
        assert frames[1]["data"] == {"message": "The judge refuses the token.", "code": "EXECUTION_ERROR"}
        told = ask(f"{running.address}/health")[1]
        assert told["status"] == "degraded" and told["backends"]["judge"]["why"] == "The judge refuses the token."
