"""The Hub's judge, generator and scorer against a server on this machine that speaks their protocols and misbehaves."""

import asyncio
import base64
import io
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from loopback import Loopback, Reply, Request, chat
from loopback_hub import HubServer
from PIL import Image

from paintcli.backends.hub.http import Patience, retry_after
from paintcli.backends.hub.provider import Provider
from paintcli.backends.hub.scorer import ScorerSpace
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.painting import Painting

UNHURRIED = Patience(attempts=4, attempt=60.0, total=200.0, wait=0.03, longest_wait=0.1)
"""Where the time-out is not the subject: on a busy machine a slow answer must not be asked for a second time."""
HURRIED = Patience(attempts=400, attempt=0.4, total=200.0, wait=0.03, longest_wait=0.1)
"""For answers that come too late; on a busy machine some of the honest ones may too, and are asked for again."""
BRIEF = Patience(attempts=2, attempt=0.3, total=1.0, wait=0.03)
"""For servers that never answer well."""
TOO_LATE = 60.0
"""Seconds, far beyond BRIEF: whoever gives up sooner did not wait for the answer."""


def shade(red: int) -> Painting:
    buffer = io.BytesIO()
    Image.new("RGB", (24, 24), (red, 40, 90)).save(buffer, "PNG")
    return Painting(png=buffer.getvalue())


def red_of(encoded: str) -> int:
    return Image.open(io.BytesIO(base64.b64decode(encoded))).getpixel((0, 0))[0]


def mu_of(request: Request) -> float:
    """What the loopback scorer answers: a number that names the picture and the prompt it was asked about."""
    return red_of(request.body["png_base64"]) / 10 + len(request.body["prompt"])


def score(request: Request) -> Reply:
    return Reply({"available": True, "score": 0.5, "mu": mu_of(request), "sigma": 0.3})


def verdict(request: Request) -> Reply:
    """The redder picture wins; said in the published form."""
    images = [part["image_url"]["url"] for part in request.body["messages"][0]["content"] if "image_url" in part]
    first, second = (red_of(image.partition(",")[2]) for image in images)
    letter = "A" if first > second else "B"
    return Reply(chat(f'{{"verdict": "{letter}", "reason": "the washes of {letter} bleed"}}'))


def ask_scorer(server: Loopback, painting: Painting, patience: Patience = UNHURRIED) -> float:
    (mu,) = asyncio.run(ScorerSpace(server.address, patience=patience).score([painting], "flower"))
    return mu


def ask_judge(server: Loopback, first: Painting, second: Painting, patience: Patience = UNHURRIED) -> float:
    return asyncio.run(Provider(server.address, verdict=patience).prefer(first, second, ""))


FAULTS = {
    "503": Reply({"error": "busy"}, status=503),
    "502 without JSON": Reply(b"<html>Bad gateway</html>", status=502),
    "429": Reply({"error": "slow down"}, status=429, headers={"Retry-After": "0"}),
    "slow": Reply({}, delay=TOO_LATE),
    "dripping": Reply(chat("x" * 400), drip=TOO_LATE / 400),
    "truncated": Reply(chat('{"verdict": "A"'), cut=True),
    "half JSON": Reply(b'{"available": true, "mu": 3.'),
    "no JSON": Reply(b"ok"),
    "empty": Reply(b""),
    "closed": Reply(status=0),
    "a list": Reply([1, 2]),
    "null": Reply(None),
    "another object": Reply({"detail": "hello"}),
}
LATE = {"slow": HURRIED, "dripping": HURRIED}
SCORER_FAULTS = {
    "not available": Reply({"available": False, "score": None, "mu": None, "sigma": None}),
    "mu missing": Reply({"available": True, "score": 0.9}),
    "mu a word": Reply({"available": True, "mu": "3.2"}),
    "mu true": Reply({"available": True, "mu": True}),
    "mu not finite": Reply(b'{"available": true, "mu": NaN}'),
}
JUDGE_FAULTS = {
    "no choices": Reply({**chat(""), "choices": []}),
    "no content": Reply(chat(None)),
    "content a number": Reply(chat(7)),  # type: ignore[arg-type]
    "prose": Reply(chat("Picture A is painted better.")),
    "a third letter": Reply(chat('{"verdict": "C", "reason": ""}')),
    "reason first": Reply(chat('{"reason": "A is good", "verdict": "B"}')),
}


def got_over(server: Loopback, fault: str) -> bool:
    """Whether there was one failure, then the answer."""
    return len(server.requests) >= 2 if fault in LATE else len(server.requests) == 2


@pytest.mark.parametrize("fault", [*FAULTS, *SCORER_FAULTS])
def test_scorer_gets_over_a_fault_and_never_makes_a_number_of_one(fault: str) -> None:
    broken = (FAULTS | SCORER_FAULTS)[fault]
    with Loopback(lambda request, number: broken if number < 1 else score(request)) as server:
        assert ask_scorer(server, shade(70), LATE.get(fault, UNHURRIED)) == pytest.approx(13)
        assert got_over(server, fault)
    with Loopback(lambda request, number: broken) as server:
        start = time.monotonic()
        with pytest.raises(Unavailable, match=r"^hub:http://127.* gave no answer in \d attempts \(.+\)\.$"):
            ask_scorer(server, shade(70), BRIEF)
        assert time.monotonic() - start < TOO_LATE / 2


@pytest.mark.parametrize("fault", [*FAULTS, *JUDGE_FAULTS])
def test_judge_gets_over_a_fault_and_never_makes_a_verdict_of_one(fault: str) -> None:
    broken = (FAULTS | JUDGE_FAULTS)[fault]
    with Loopback(lambda request, number: broken if number < 1 else verdict(request)) as server:
        assert ask_judge(server, shade(200), shade(10), LATE.get(fault, UNHURRIED)) == 1.0
        assert got_over(server, fault)
    with Loopback(lambda request, number: broken) as server:
        start = time.monotonic()
        with pytest.raises(Unavailable, match=r"gave no answer in \d attempts"):
            ask_judge(server, shade(200), shade(10), BRIEF)
        assert time.monotonic() - start < TOO_LATE / 2


def test_nobody_listens() -> None:
    with Loopback(lambda request, number: score(request)) as server:
        pass
    with pytest.raises(Unavailable, match="gave no answer in 4 attempts"):
        ask_scorer(server, shade(70))
    with pytest.raises(Unavailable, match="gave no answer in 4 attempts"):
        ask_judge(server, shade(70), shade(80))


def chaos(honest: Callable[[Request], Reply], faults: dict[str, Reply]) -> Callable[[Request, int], Reply]:
    """Two requests of five fail in some way, the rest answer after an uneven while."""
    dice = random.Random(4)
    choices = list(faults.values())

    def answer(request: Request, number: int) -> Reply:
        if dice.random() < 0.4:
            return dice.choice(choices)
        time.sleep(dice.uniform(0, 0.05))
        return honest(request)

    return answer


STUBBORN = Patience(attempts=400, attempt=0.5, total=250.0, wait=0.02, longest_wait=0.05)


def test_thirty_two_scores_at_once_do_not_cross() -> None:
    with Loopback(chaos(score, FAULTS | SCORER_FAULTS)) as server:
        scorer = ScorerSpace(server.address, concurrent=8, patience=STUBBORN)

        async def together() -> list[list[float]]:
            return await asyncio.gather(*(scorer.score([shade(7 * i)], "p" * i) for i in range(32)))

        assert [mu for (mu,) in asyncio.run(together())] == pytest.approx([0.7 * i + i for i in range(32)])
        assert len(server.requests) > 40 and server.most >= 2


def test_thirty_two_verdicts_at_once_do_not_cross() -> None:
    pairs = [(shade(7 * i), shade(7 * ((i * 13 + 5) % 32))) for i in range(32)]
    with Loopback(chaos(verdict, FAULTS | JUDGE_FAULTS)) as server:
        judge = Provider(server.address, concurrent=8, verdict=STUBBORN)

        async def together() -> list[float]:
            return await asyncio.gather(*(judge.prefer(first, second, "") for first, second in pairs))

        got = asyncio.run(together())
    assert got == [float(7 * i > 7 * ((i * 13 + 5) % 32)) for i in range(32)]
    assert {0.0, 1.0} == set(got)


def test_no_more_at_once_than_asked_for() -> None:
    """Neither while all goes well nor when every fourth request has to be made again."""

    def answer(request: Request, number: int) -> Reply:
        return Reply({}, status=503) if number % 4 == 1 else Reply(score(request).body, delay=0.1)

    with Loopback(answer) as server:
        scorer = ScorerSpace(server.address, concurrent=3, patience=UNHURRIED)
        got = asyncio.run(scorer.score([shade(i) for i in range(12)], ""))
        assert got == pytest.approx([i / 10 for i in range(12)])
        assert server.most == 3 and len(server.requests) > 12


def test_waiting_in_the_queue_is_not_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer takes 100 s by the client's clock, and one at a time the last has waited for 1,100: its own 300 s
    begin when its turn comes."""
    with Loopback(lambda request, number: score(request)) as server:
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 100 * len(server.requests))
        monkeypatch.setattr("paintcli.backends.hub.http.time", clock)
        scorer = ScorerSpace(server.address, concurrent=1, patience=Patience(total=300.0))
        assert len(asyncio.run(scorer.score([shade(i) for i in range(12)], ""))) == 12


def test_one_backend_outlives_many_event_loops() -> None:
    with Loopback(lambda request, number: score(request)) as server:
        scorer = ScorerSpace(server.address, concurrent=1, patience=UNHURRIED)
        for step in range(3):
            assert asyncio.run(scorer.score([shade(step), shade(10)], "")) == pytest.approx([step / 10, 1])


def test_retry_after_is_honoured() -> None:
    busy = Reply({}, status=429, headers={"Retry-After": "1"})
    with Loopback(lambda request, number: busy if number == 0 else score(request)) as server:
        assert ask_scorer(server, shade(0)) == pytest.approx(6)
        first, second = server.requests
        assert second.at - first.at >= 1


def test_a_wait_beyond_all_patience_is_given_up_at_once() -> None:
    with Loopback(lambda request, number: Reply({}, status=503, headers={"Retry-After": "600"})) as server:
        with pytest.raises(Unavailable, match="in 1 attempts"):
            ask_scorer(server, shade(0))
        assert len(server.requests) == 1


def test_both_forms_of_retry_after() -> None:
    assert retry_after("7") == 7
    assert 20 < retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)) <= 30
    assert retry_after(format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)) == 0
    assert retry_after("soon") == retry_after(None) == retry_after("-3") == 0


def test_waits_double_spread_and_end() -> None:
    patience = Patience(wait=1, longest_wait=10)
    for number, most in ((1, 1), (2, 2), (4, 8), (9, 10)):
        waits = [patience.before_retry(number, 0) for _ in range(50)]
        assert most / 2 <= min(waits) < max(waits) <= most
    assert patience.before_retry(1, 25) == 25


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, r"refuses the token; run `hf auth login` or set HF_TOKEN\.$"),
        (402, r"asks for payment: the account's credits are used up\.$"),
        (403, r"refuses this token: it lacks the right\.$"),
        (404, r"does not exist, or not for this token\.$"),
    ],
)
def test_what_asking_again_cannot_change_stops_at_once(status: int, sentence: str) -> None:
    with Loopback(lambda request, number: Reply({"error": "no"}, status=status)) as server:
        for ask in (
            lambda: ask_scorer(server, shade(1)), lambda: ask_judge(server, shade(1), shade(2)),
        ):  # fmt: skip
            with pytest.raises(PaintError, match=sentence) as raised:
                ask()
            assert not isinstance(raised.value, Unavailable)
        assert len(server.requests) == 2


def test_a_refused_request_is_no_number_and_is_not_repeated() -> None:
    with Loopback(lambda request, number: Reply({"error": "image too large"}, status=413)) as server:
        with pytest.raises(Unavailable, match=r"refused this request \(413: image too large\)"):
            ask_judge(server, shade(1), shade(2))
        assert len(server.requests) == 1


# -- the judge's own protocol -------------------------------------------------------------------------------------


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch):
    """The Hub's router, played by this machine: a model's id goes there as it would in the world."""
    from huggingface_hub.inference._providers import CONVERSATIONAL_AUTO_ROUTER

    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with Loopback(lambda request, number: verdict(request)) as server:
        monkeypatch.setattr(CONVERSATIONAL_AUTO_ROUTER, "base_url", server.address)
        yield server


def test_what_the_router_is_asked(router: Loopback) -> None:
    judge = Provider(verdict=UNHURRIED)
    assert asyncio.run(judge.prefer(shade(3), shade(9), "soft edges")) == 0.0
    (request,) = router.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer hf_secret"
    assert request.body["model"] == "Qwen/Qwen3-VL-30B-A3B-Instruct"
    assert request.body["temperature"] == 0
    schema = request.body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["verdict", "reason"]
    assert schema["properties"]["verdict"]["enum"] == ["A", "B"]
    (turn,) = request.body["messages"]
    kinds = [part["type"] for part in turn["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]
    texts = [part["text"] for part in turn["content"] if part["type"] == "text"]
    assert "Picture A" in texts[0] and "Picture B" in texts[1] and "soft edges" in texts[2]
    shown = [part["image_url"]["url"] for part in turn["content"] if part["type"] == "image_url"]
    assert [red_of(uri.removeprefix("data:image/png;base64,")) for uri in shown] == [3, 9]


@pytest.mark.parametrize(
    "content",
    [
        '{"verdict": "B", "reason": "A',
        '{"verdict":"B"}',
        '```json\n{\n "verdict": "B",\n "reason": "x"}\n```',
        '  {"verdict" : "B", "reason": "the verdict is \\"A\\""}',
    ],
)
def test_a_verdict_that_stands_first_is_read_whatever_follows(content: str) -> None:
    with Loopback(lambda request, number: Reply(chat(content))) as server:
        assert ask_judge(server, shade(200), shade(10)) == 0.0


def test_a_large_picture_is_sent_small() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (3000, 1500), "red").save(buffer, "PNG")
    with Loopback(lambda request, number: verdict(request)) as server:
        ask_judge(server, Painting(png=buffer.getvalue()), shade(10))
        url = server.requests[0].body["messages"][0]["content"][1]["image_url"]["url"]
    assert Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size == (1024, 512)


def test_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(PaintError, match=r"needs a token: run `hf auth login`, set HF_TOKEN, or choose"):
        Provider()
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "sk-other")
    with pytest.raises(PaintError, match="begin with hf_"):
        Provider()


def test_a_token_goes_to_the_hub_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with Loopback(lambda request, number: verdict(request) if "messages" in request.body else score(request)) as server:
        ask_judge(server, shade(1), shade(2))
        ask_scorer(server, shade(1))
        assert not any("hf_secret" in str(request.headers) for request in server.requests)
    assert Provider("https://x1.us-east-1.aws.endpoints.huggingface.cloud")._token == "hf_secret"
    assert Provider("https://endpoints.huggingface.cloud.example.org")._token == "none"


# -- generator and critic -----------------------------------------------------------------------------------------


def test_a_generator_writes_and_is_asked_for_what_was_set() -> None:
    with Loopback(lambda request, number: Reply(chat("```js\nfunction setup() {}\n```"))) as server:
        writer = Provider(server.address + "/v1#my/model", max_tokens=99, top_p=0.95, writing=UNHURRIED)
        messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
        assert asyncio.run(writer.write(messages)) == "```js\nfunction setup() {}\n```"
        (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["messages"] == messages
    assert (request.body["model"], request.body["max_tokens"], request.body["top_p"]) == ("my/model", 99, 0.95)
    assert "temperature" not in request.body


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"reasoning": "let me think"}, "it thought, and wrote nothing"),
        ({"reasoning_content": "let me think"}, "it thought, and wrote nothing"),
        ({}, "its reply is empty"),
    ],
)
def test_an_empty_reply_is_named_and_not_paid_for_twice(message: dict, why: str) -> None:
    with Loopback(lambda request, number: Reply(chat("", **message))) as server:
        with pytest.raises(Unavailable, match=why):
            asyncio.run(Provider(server.address, writing=UNHURRIED).write([{"role": "user", "content": "u"}]))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}, (3, 4, 0.5)),
        ({"prompt_tokens": "many", "completion_tokens": -4, "cost": "1"}, (None, None, None)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "cost": float("inf")}, (3, 4, None)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "cost": float("nan")}, (3, 4, None)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "cost": -1}, (3, 4, None)),
        (None, (None, None, None)),
    ],
)
def test_what_a_server_says_of_the_price_is_a_number_or_nothing(usage: dict | None, known: tuple) -> None:
    with Loopback(lambda request, number: Reply({**chat("a sketch \ud83d"), "usage": usage})) as server:
        reply = asyncio.run(Provider(server.address, writing=UNHURRIED).write([{"role": "user", "content": "paint"}]))
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == known
    assert reply == "a sketch ?"


def test_a_critic_sees_painting_and_photograph_in_that_order() -> None:
    with Loopback(lambda request, number: Reply(chat("More bleed."))) as server:
        critic = Provider(server.address, writing=UNHURRIED)
        assert asyncio.run(critic.critique(shade(20), shade(30), "What to change?")) == "More bleed."
        assert asyncio.run(critic.critique(shade(20), None, "What to change?")) == "More bleed."
        contents = [request.body["messages"][0]["content"] for request in server.requests]
    seen = [[red_of(p["image_url"]["url"].partition(",")[2]) for p in c if "image_url" in p] for c in contents]
    assert seen == [[20, 30], [20]]
    assert contents[0][-1]["text"].strip() == "What to change?"


# -- Spaces by name -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("private", [True, False])
def test_a_space_is_found_by_its_name_and_only_a_private_one_gets_the_token(
    private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")

    def answer(request: Request, number: int) -> Reply:
        if request.path.startswith("/api/spaces/me/hpsv3"):
            return Reply({"id": "me/hpsv3", "private": private, "host": server.address, "subdomain": "me-hpsv3"})
        return score(request)

    with Loopback(answer) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
        scorer = ScorerSpace("me/hpsv3", patience=UNHURRIED)
        assert asyncio.run(scorer.score([shade(50), shade(60)], "")) == pytest.approx([5, 6])
        hub, *scores = server.requests
    assert hub.path == "/api/spaces/me/hpsv3"
    assert [request.path for request in scores] == ["/score", "/score"]
    assert all(("authorization" in request.headers) == private for request in scores)


def test_no_such_space(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Reply({"error": "Repository not found"}, status=404, headers={"X-Error-Code": "RepoNotFound"})
    with Loopback(lambda request, number: gone) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
        with pytest.raises(PaintError, match=r"^There is no Space me/none, or not for your token\.$"):
            asyncio.run(ScorerSpace("me/none", patience=UNHURRIED).score([shade(1)], ""))
    for name in ("none", "a/b/c", "http://", "http://host:port"):
        with pytest.raises(UsageError):
            ScorerSpace(name)


def test_a_scorer_that_sleeps_is_woken_and_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A Space takes longer to come up than a server that is merely busy is given."""
    monkeypatch.setattr("paintcli.backends.hub.spaces.LOOK_AGAIN", 0.0)

    def answer(request: Request, number: int) -> Reply:
        if number > 20:
            space.runtime["stage"] = "RUNNING"
        return Reply(b"<html>It wakes.</html>", status=503) if number <= 20 else score(request)

    with HubServer() as hub, Loopback(answer) as server:
        hub.connect(monkeypatch)
        space = hub.repo("spaces", "me/hpsv3", host=server.address, runtime={"stage": "SLEEPING", "hardware": {}})
        scorer = ScorerSpace("me/hpsv3", patience=UNHURRIED)
        assert asyncio.run(scorer.score([shade(50), shade(60)], "")) == pytest.approx([5, 6])
        assert [r.getMessage() for r in caplog.records] == ["The Space me/hpsv3 was asleep and wakes; waiting for it."]
        space.runtime["stage"] = "PAUSED"
        server.requests.clear()  # and it is down again
        with pytest.raises(PaintError, match=r"^The Space me/hpsv3 is paused; `paint doctor --hub --wake me/hpsv3`"):
            asyncio.run(scorer.score([shade(50)], ""))


def test_an_endpoint_that_starts_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("paintcli.backends.hub.provider.ENDPOINTS", "127.0.0.1")
    starting = Reply({"error": "no replica is ready"}, status=503)
    with Loopback(lambda request, number: starting if number < 12 else verdict(request)) as server:
        assert ask_judge(server, shade(200), shade(10)) == 1.0
        assert [r.getMessage() for r in caplog.records] == [f"hub:{server.address} starts; waiting for it."]
