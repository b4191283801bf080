"""An OpenEnv environment as a renderer: what it tells becomes a Painting, what it does not stays unknown."""

import asyncio
import base64
import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from loopback_env import OBSERVED, PNG, Server, listening
from loopback_hub import HubServer

from paintcli import domains, gate
from paintcli.backends.hub import spaces
from paintcli.backends.hub.env import Environment, Waits
from paintcli.backends.hub.renderer import EnvironmentRenderer, painting, reply
from paintcli.backends.specs import make_renderer
from paintcli.errors import PaintError, Unavailable
from paintcli.painting import Painting
from paintcli.sketch import extract

UNHURRIED = Waits(answer=60.0, capacity=60.0, wake=120.0, pause=0.05, attempts=3)
SKETCH = """function setup() {
  createCanvas(120, 120, WEBGL);
  angleMode(DEGREES);
  background(250);
  translate(-60, -60);
  brush.noStroke();
  brush.fill(random(["#c33", "#36c"]), 220);
  brush.circle(60, 60, random(30, 40));
  noLoop();
}"""


def told(**changed):
    return painting({**OBSERVED, **changed}, "hub:me/env", 7, 1.5)


def test_what_the_published_environment_tells():
    seen = told(js_errors=["ReferenceError: x"])
    assert seen == Painting(
        PNG, seed=7, seconds=1.5, renderer="hub:me/env", finished=True, js_errors=("ReferenceError: x",)
    )
    assert seen.calls is None and not seen.versions  # nobody counted, nobody said


def test_its_gate_s_refusals():
    refused = {"gate_passed": False, "image": None}
    failed = told(**refused, violations=["render_failed: it threw"], js_errors=["it threw"])
    assert (failed.png, failed.fault, failed.fault_detail, failed.js_errors) == (
        None, "render_failed", "it threw", ("it threw",),
    )  # fmt: skip
    assert told(**refused, violations=["render_timeout: 60 s"]).fault == "render_timeout"
    blank = told(**refused, violations=["blank_canvas: 0.1 % painted"])
    codes = [v.code for v in gate.check_painting(blank, extract(SKETCH), domains.load()).violations]
    assert blank.fault is None and codes == ["blank_canvas"]
    # what was painted all the same is looked at by our own gate
    assert told(gate_passed=False, violations=["text_label: text on the canvas"]).png == PNG


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"render_unavailable": True}, "could not paint it: it does not say why"),
        ({"gate_passed": False, "image": None, "violations": ["external_access: medieval"]}, "its gate says external_"),
        ({"image": None}, "hub:me/env sent no picture"),
        ({"image": "!"}, "hub:me/env sent no picture"),
        ({"painting": {"png": "!"}}, "answered something that is no painting"),
    ],
)
def test_nobody_painted_it(changed, sentence):
    with pytest.raises(Unavailable, match=sentence):
        told(**changed)


@pytest.mark.parametrize("source", [SKETCH, "\n\n// a\n" + SKETCH + "\n\n", SKETCH + "\n// ```js\n"])
def test_the_sketch_arrives_as_it_is(source):
    sent = extract(reply(source))
    assert sent.source.strip() == source.strip()


def test_many_at_once_from_any_loop_each_its_own():
    async def observe(response, options):
        made = Painting(PNG, seed=options["seed"], renderer=response, calls={"brush.circle": options["seed"]})
        return {"painting": made.pack()}

    server = Server(observe=observe)
    with listening(server) as address, make_renderer(f"hub:{address}", workers=3) as renderer:

        async def together():
            return await asyncio.gather(
                *(renderer.render(f"function setup() {{ brush.circle({i}); }}", i) for i in range(12))
            )

        for _ in range(2):  # one renderer outlives loops
            got = asyncio.run(together())
            assert [p.seed for p in got] == list(range(12))
            assert [p.calls["brush.circle"] for p in got] == list(range(12))
            assert [extract(p.renderer).source.strip() for p in got] == [
                f"function setup() {{ brush.circle({i}); }}" for i in range(12)
            ]
        assert server.most == 3
        assert renderer.render_sync("again", 5).seed == 5
        assert server.resets[-1] == {"seed": 5, "return_image": True, "paint_only": True}
    assert server.now == 0  # closed, its sessions are free for others


def test_it_is_not_there():
    with EnvironmentRenderer("ws://127.0.0.1:9", waits=UNHURRIED) as renderer:
        with pytest.raises(Unavailable, match="failed 3 times"):
            renderer.render_sync(SKETCH)
        renderer.close()


# -- a Space that sleeps -------------------------------------------------------------------------------------------


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(spaces, "LOOK_AGAIN", 0.0)
    with HubServer() as server:
        server.connect(monkeypatch)
        yield server


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def asleep(hub, **runtime):
    """The Space me/env in some state, and the port where it will answer once it is up."""
    port = free_port()
    state = {"stage": "SLEEPING", "hardware": {"current": "cpu-upgrade", "requested": "cpu-upgrade"}, **runtime}
    return hub.repo("spaces", "me/env", host=f"http://127.0.0.1:{port}", runtime=state), port


@contextmanager
def waking(hub, space, port):
    """The Space starts once it was looked at three times, and then answers."""
    done = threading.Event()

    def wake():
        while len(hub.asked("GET /api/spaces/me/env/runtime")) < 3:
            time.sleep(0.01)
        space.runtime["stage"] = "APP_STARTING"
        time.sleep(0.2)
        with listening(Server(), port):
            space.runtime["stage"] = "RUNNING"
            done.wait(280)

    thread = threading.Thread(target=wake)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_sleeping_space_is_waited_for_and_said_so_once(hub, caplog):
    with waking(hub, *asleep(hub)), EnvironmentRenderer("me/env", workers=4, waits=UNHURRIED) as renderer:

        async def together():
            return await asyncio.gather(*(renderer.render(SKETCH, i) for i in range(6)))

        assert [p.png for p in asyncio.run(together())] == [PNG] * 6
    assert [r.getMessage() for r in caplog.records] == ["The Space me/env was asleep and wakes; waiting for it."]


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("PAUSED", r"^The Space me/env is paused; `paint doctor --hub --wake me/env` starts it\.$"),
        ("RUNTIME_ERROR", r"^The Space me/env does not run: its state is RUNTIME_ERROR\.$"),
    ],
)
def test_a_space_that_will_not_come_is_not_waited_for(hub, stage, sentence):
    asleep(hub, stage=stage)
    with (
        EnvironmentRenderer("me/env", waits=UNHURRIED) as renderer,
        pytest.raises(PaintError, match=sentence) as raised,
    ):
        renderer.render_sync(SKETCH)
    assert not isinstance(raised.value, Unavailable)
    assert len(hub.asked("runtime")) == 1


def test_a_space_that_wakes_for_ever_is_given_up(hub):
    asleep(hub, stage="BUILDING")
    waits = Waits(answer=60.0, wake=0.5, pause=0.05, attempts=2)
    with EnvironmentRenderer("me/env", waits=waits) as renderer, pytest.raises(Unavailable, match="failed 2 times"):
        renderer.render_sync(SKETCH)


@pytest.mark.parametrize("private", [True, False])
def test_a_token_goes_to_private_spaces_only(hub, private):
    space, port = asleep(hub, stage="RUNNING")
    space.private = private
    seen = []

    async def greet(connection):
        seen.append(connection.request_headers.get("Authorization"))
        await server(connection)

    server = Server()
    with listening(greet, port):

        async def once():
            environment = Environment("me/env", waits=UNHURRIED)
            await environment.reset({})
            await environment.close()

        asyncio.run(once())
    assert [bool(header) for header in seen] == [private]


def test_no_such_space(hub):
    sentence = r"^There is no Space me/none, or not for your token\.$"
    with EnvironmentRenderer("me/none", waits=UNHURRIED) as renderer, pytest.raises(PaintError, match=sentence):
        renderer.render_sync(SKETCH)


# -- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def served():
    """The address of `paint env serve` in a process of its own."""
    for package in ("fastapi", "uvicorn", "wsproto"):
        pytest.importorskip(package, reason="paint env serve needs it")
    command = [sys.executable, "-m", "paintcli", "env", "serve", "--port", "0", "--mix", "gate=.5,length=.5"]
    running = subprocess.Popen([*command, "--workers", "1"], stdout=subprocess.PIPE, text=True)
    try:
        yield running.stdout.readline().strip()
    finally:
        running.terminate()
        running.wait(240)


def test_a_painting_through_our_own_environment_is_the_painting(paint, tmp_path, served):
    """`paint render --renderer hub:` and `paint env serve`: the bytes and facts that the renderer behind it gives."""
    from paintcli.backends.chromium import ChromiumRenderer

    cheat = SKETCH.replace("noLoop();", "text('rose', 0, 0); noLoop();")
    (tmp_path / "rose.js").write_text(SKETCH)
    (tmp_path / "cheat.js").write_text(cheat)
    (tmp_path / "broken.js").write_text(SKETCH.replace("noLoop();", "missing();"))
    away = paint(
        "render", tmp_path, "--seed", 3, "--renderer", f"hub:{served}", "-o", tmp_path, "--anyway", "--json"
    )  # fmt: skip
    assert away.code == 3, away.err
    rows = {Path(row["sketch"]).stem: row for row in map(json.loads, away.out.splitlines())}
    with ChromiumRenderer(workers=1) as renderer, EnvironmentRenderer(served) as remote:
        here, there = renderer.render_sync(SKETCH, 3), remote.render_sync(SKETCH, 3)
    if renderer.gl == "llvmpipe":
        assert (tmp_path / "rose.png").read_bytes() == here.png == there.png
    assert replace(there, png=here.png, seconds=here.seconds) == here
    assert rows["rose"]["passed"] and rows["rose"]["renderer"] == here.renderer
    # refused by its syntax, painted all the same because --anyway asks for it
    assert "text_label" in [v["code"] for v in rows["cheat"]["violations"]] and rows["cheat"]["png"]
    assert "missing is not defined" in rows["broken"]["js_errors"][0]


def test_the_command_says_that_a_space_wakes(paint, hub, tmp_path, monkeypatch):
    monkeypatch.setattr("paintcli.backends.hub.renderer.RENDERING", UNHURRIED)
    (tmp_path / "rose.js").write_text(SKETCH)
    with waking(hub, *asleep(hub)):
        done = paint("render", tmp_path / "rose.js", "--renderer", "hub:me/env", "-o", tmp_path / "rose.png", "--json")
    # the loopback's picture is none; what counts here is what was said
    assert done.err.splitlines()[0] == "The Space me/env was asleep and wakes; waiting for it."


def test_base64_of_a_data_address():
    coded = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert told(image=coded).png == PNG
