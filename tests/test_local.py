"""What models on this machine share: memory that runs out, and one call at a time."""

import asyncio
import threading
import time

import pytest
from loopback import Loopback, Reply

from paintcli.backends.local import OneAtATime, hub_answers, must_fit
from paintcli.errors import PaintError, Unavailable

torch = pytest.importorskip("torch", reason="local models need torch: pip install 'paintcli[train]'")


def greedy() -> None:
    """More than any machine has: torch fails as it would in earnest."""
    torch.empty(2**60, dtype=torch.uint8)


def test_memory_that_runs_out_at_work_is_an_outage() -> None:
    with pytest.raises(Unavailable, match=r"^hpsv3 ran out of memory while it worked\.$"):
        OneAtATime("hpsv3").run_sync(greedy)
    with pytest.raises(RuntimeError, match="a bug"):
        OneAtATime("hpsv3").run_sync(lambda: (_ for _ in ()).throw(RuntimeError("a bug")))


def test_memory_too_small_for_the_weights_is_said_at_the_start() -> None:
    with pytest.raises(PaintError, match=r"^hpsv3 does not fit into memory here; try PAINT_PRECISION=8bit or 4bit\.$"):
        OneAtATime("hpsv3").run_sync(lambda: loading())


def loading() -> None:
    with must_fit("hpsv3"):
        greedy()


def test_one_call_at_a_time_and_the_loop_goes_on() -> None:
    queue, inside, most, ticks = OneAtATime("x"), [0], [0], [0]
    guard = threading.Lock()

    def work() -> None:
        with guard:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.05)
        with guard:
            inside[0] -= 1

    async def tick() -> None:
        while True:
            ticks[0] += 1
            await asyncio.sleep(0.01)

    async def together() -> None:
        clock = asyncio.create_task(tick())
        await asyncio.gather(*(queue.run(work) for _ in range(5)))
        clock.cancel()

    asyncio.run(together())
    assert most[0] == 1
    assert ticks[0] > 5


def test_a_model_is_read_once_and_so_is_its_refusal() -> None:
    reads: list[str] = []

    def read(outcome: str) -> str:
        reads.append(outcome)
        if outcome == "refused":
            raise PaintError("There is no such model.")
        return outcome

    good, bad = OneAtATime("good"), OneAtATime("bad")
    assert [good.read_once(lambda: read("model")) for _ in range(3)] == ["model"] * 3
    for _ in range(3):
        with pytest.raises(PaintError, match="no such model"):
            bad.read_once(lambda: read("refused"))
    assert reads == ["model", "refused"]


@pytest.mark.parametrize("there", [True, False])
def test_whether_the_hub_answers_is_known_at_once(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    hub_answers.cache_clear()
    with Loopback(lambda request, number: Reply({})) as server:
        address = server.address
        if there:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
            assert hub_answers()
    if not there:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        start = time.monotonic()
        assert not hub_answers()
        assert time.monotonic() - start < 15  # the Hub's own client would go on for half a minute
    hub_answers.cache_clear()
