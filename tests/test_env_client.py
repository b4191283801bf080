"""The environment client against servers that speak OpenEnv's frames and misbehave."""

import asyncio
from dataclasses import replace

import pytest
import websockets
from loopback_env import OBSERVED, PNG, Server

from paintcli import domains
from paintcli.backends.hub.env import Environment, Waits, address
from paintcli.errors import PaintError, Unavailable, UsageError

UNHURRIED = Waits(answer=60.0, capacity=60.0, pause=0.05, attempts=3)
"""Where the time-out is not the subject: on a busy machine a slow answer must not be an outage."""
HURRIED = replace(UNHURRIED, answer=0.5, attempts=100)
"""For answers that come too late; on a busy machine some of the honest ones may too, and are asked for again."""


def run(server, work, sessions=4, waits=UNHURRIED):
    async def main():
        async with websockets.serve(server, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            environment = Environment(f"http://127.0.0.1:{port}", sessions=sessions, waits=waits)
            try:
                return await work(environment)
            finally:
                await environment.close()

    return asyncio.run(main())


def episodes(count):
    async def work(environment):
        return await asyncio.gather(*(environment.episode(f"reply {i}", {"seed": 7}) for i in range(count)))

    return work


def test_every_answer_belongs_to_its_reply():
    server = Server()
    steps = run(server, episodes(24))
    assert [s.observation["echo"] for s in steps] == [f"reply {i}" for i in range(24)]
    assert {s.reward for s in steps} == {0.5} and {s.observation["seed"] for s in steps} == {7}
    assert server.most == 4


def test_an_environment_for_one_client_is_used_one_after_the_other():
    server = Server(places=1)
    steps = run(server, episodes(8), sessions=4)
    assert [s.observation["echo"] for s in steps] == [f"reply {i}" for i in range(8)]
    assert server.most == 1


def test_it_waits_for_a_place_another_client_has():
    server = Server(places=0)

    async def work(environment):
        async def leave():
            await asyncio.sleep(0.4)
            server.places = 1

        leaving = asyncio.create_task(leave())
        step = await environment.episode("reply", {"seed": 7})
        await leaving
        return step

    assert run(server, work).observation["echo"] == "reply"


def test_a_place_that_never_comes_is_an_outage():
    with pytest.raises(Unavailable, match="had no free session for 0 s"):
        run(Server(places=0), episodes(1), waits=replace(UNHURRIED, capacity=0.2))


@pytest.mark.parametrize(("fault", "waits"), [("close", UNHURRIED), ("silent", HURRIED)])
def test_a_closed_or_silent_socket_is_dropped_and_the_episode_begun_anew(fault, waits):
    server = Server(faults=[fault, fault])
    (step,) = run(server, episodes(1), waits=waits)
    assert step.observation["echo"] == "reply 0"
    # reset again each time: the environment's state went with the socket
    assert len(server.resets) >= 3 if waits is HURRIED else len(server.resets) == 3


def test_a_late_answer_is_never_taken_for_the_next():
    server = Server(faults=["silent"])

    async def work(environment):
        return [await environment.episode(f"reply {i}", {"seed": 7}) for i in range(3)]

    steps = run(server, work, sessions=1, waits=HURRIED)
    assert [s.observation["echo"] for s in steps] == ["reply 0", "reply 1", "reply 2"]


def test_it_gives_up_in_the_end():
    with pytest.raises(Unavailable, match="failed 3 times"):
        run(Server(faults=["close"] * 9), episodes(1))


def test_nobody_there():
    async def work():
        await Environment("ws://127.0.0.1:9", waits=UNHURRIED).episode("reply", {})

    with pytest.raises(Unavailable, match="failed 3 times"):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("EXECUTION_ERROR", Unavailable, "failed on its side: EXECUTION_ERROR, why"),
        ("VALIDATION_ERROR", PaintError, "does not speak our protocol: VALIDATION_ERROR, why"),
        ("garbage", Unavailable, "answered something that is no frame"),
    ],
)
def test_error_frames_by_their_code(fault, error, words):
    async def work(environment):
        with pytest.raises(error, match=words):
            await environment.episode("reply", {"seed": 7})
        return await environment.episode("after", {"seed": 7})  # the session is not lost

    assert run(Server(faults=[fault]), work, sessions=1).observation["echo"] == "after"


def test_a_message_over_the_limit_is_not_sent():
    async def work(environment):
        with pytest.raises(PaintError, match="at most 16 MiB"):
            await environment.episode("x" * (17 * 2**20), {"seed": 7})

    run(Server(), work)


def test_addresses():
    assert address("https://host:1/env/") == "wss://host:1/env/ws"
    assert address("ws://127.0.0.1:8/ws") == "ws://127.0.0.1:8/ws"
    with pytest.raises(UsageError, match="is an address or a Space owner/name, not 'ftp://x'"):
        address("ftp://x")


def remote(environment):
    pytest.importorskip("torch")
    from paintcli.training import recipe
    from paintcli.training.remote import Remote

    return Remote(recipe.compose("judge-led", None, {"seed": 1}), domains.load(), environment)


def test_the_published_fields_become_a_rollout():
    from paintcli.training.task import Sample

    sketch = "function setup() { createCanvas(600, 600, WEBGL); brush.circle(0, 0, 9); }"

    async def work(environment):
        task = remote(environment)
        await task.learn_prompt()
        return task, await task.assess([Sample(sketch, 20, "stop")], 5)

    server = Server()
    task, group = run(server, work)
    assert [m["content"] for m in task.prompt] == ["You paint.", "Paint it."]
    ((rollout, png),) = group.rows
    assert rollout.reward == pytest.approx(0.05 + 0.05 * 0.2 + 0.6 * 0.75 + 0.3 * 0.5)
    assert (rollout.gate, rollout.length, rollout.judge, rollout.hpsv3, rollout.coverage) == (1, 0.2, 0.75, 0.5, 0.21)
    assert png == PNG and rollout.n_circles == 1
    assert server.resets[-1] == {
        "subject": "a peach hibiscus", "references": 4, "return_image": True, "seed": 1_000_005
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "reward", "unavailable"),
    [
        (
            {"gate_passed": False, "violations": ["blank_canvas: nothing"], "judged": False, "quality_scored": False},
            0,
            [],
        ),
        ({"judged": False}, None, ["judge: not answered"]),
        ({"quality_scored": False}, None, ["hpsv3: not answered"]),
        ({"render_unavailable": True, "gate_passed": False}, None, ["gate: the environment could not paint it"]),
    ],
)
def test_refused_is_0_and_unanswered_is_none(changed, reward, unavailable):
    task = remote(Environment("ws://127.0.0.1:9"))
    rollout = task.rollout("function setup() {}", {**OBSERVED, **changed}, {})
    assert rollout.reward == reward and rollout.unavailable == unavailable


def test_an_environment_that_is_down_is_none():
    from paintcli.training.task import Sample

    task = remote(Environment("ws://127.0.0.1:9", waits=UNHURRIED))
    ((rollout, png),) = asyncio.run(task.assess([Sample("function setup() {}", 9, "stop")], 0)).rows
    assert rollout.reward is None and png is None and "failed 3 times" in rollout.unavailable[0]
