"""The HPSv3 server with a real, tiny checkpoint (tests/fixtures/hpsv3): whose answer is whose, and what it refuses."""

import asyncio
import base64
import io
import itertools
import random
import struct
import zlib
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="HPSv3 needs torch: pip install 'paintcli[train]'")
pytest.importorskip("fastapi", reason="the servers need fastapi: pip install 'paintcli[serve]'")

from PIL import Image
from serving import Command, Running, ask

from paintcli.backends.hpsv3 import HPSv3
from paintcli.backends.hub.http import Patience
from paintcli.backends.hub.scorer import ScorerSpace
from paintcli.errors import PaintError, Unavailable
from paintcli.painting import Painting
from paintcli.reward import hpsv3_term
from paintcli.serving.scorer import create_app

FIXTURE = Path(__file__).parent / "fixtures" / "hpsv3"
FLOWER, TREE = "a loose watercolour flower", "a tree"
BRIEF = Patience(attempts=2, attempt=60.0, total=120.0, wait=0.05)
LONG = Patience(attempts=2, attempt=280.0, total=280.0)


class Watched(HPSv3):
    """The real model; `batches` remembers what it was asked together, `outage` is raised once."""

    def __init__(self) -> None:
        super().__init__(FIXTURE, precision="fp32", device="cpu")
        self.batches: list[tuple[int, str]] = []
        self.outage: Exception | None = None

    async def score_with_sigma(self, paintings, prompt):
        self.batches.append((len(paintings), prompt))
        if self.outage:
            raise self.outage
        return await super().score_with_sigma(paintings, prompt)


@pytest.fixture(scope="module")
def model():
    return Watched()


@pytest.fixture(scope="module")
def server(model):
    with Running(create_app(model)) as running:
        yield running


def picture(number: int, width: int = 56, height: int = 56) -> Painting:
    """Patches of colours that no other number has."""
    chance = random.Random(number)
    image = Image.new("RGB", (4, 4))
    image.putdata([tuple(chance.randrange(256) for _ in range(3)) for _ in range(16)])
    buffer = io.BytesIO()
    image.resize((width, height), Image.Resampling.NEAREST).save(buffer, "PNG")
    return Painting(buffer.getvalue())


def body(painting: Painting, prompt: str = FLOWER) -> dict:
    return {"png_base64": base64.b64encode(painting.png).decode(), "prompt": prompt}


def test_sixty_four_at_once_and_every_answer_is_its_picture_s(server, model) -> None:
    pictures = [picture(number) for number in range(64)]
    prompts = [FLOWER if number % 3 else TREE for number in range(64)]
    model.batches.clear()

    async def together() -> list[float]:
        space = ScorerSpace(server.address, concurrent=64, patience=LONG)
        return [
            m for [m] in await asyncio.gather(*(space.score([p], q) for p, q in zip(pictures, prompts, strict=True)))
        ]

    got = asyncio.run(together())
    sizes = [size for size, _ in model.batches]
    assert sum(sizes) == 64 and max(sizes) > 1 and max(sizes) <= 8  # asked together, in bounded batches

    local = HPSv3(FIXTURE, precision="fp32", device="cpu")
    local._queue.model = model._load()
    alone = [asyncio.run(local.score([p], q))[0] for p, q in zip(pictures, prompts, strict=True)]
    ordered = sorted(alone)
    nearest = min(b - a for a, b in itertools.pairwise(ordered))
    assert max(abs(a - b) for a, b in zip(got, alone, strict=True)) < nearest / 2  # nobody else's number would do


def test_the_published_answer(server) -> None:
    status, told = ask(f"{server.address}/score", body(picture(1)))
    assert status == 200 and told["available"] is True
    assert told["score"] == pytest.approx(hpsv3_term(told["mu"])) and isinstance(told["sigma"], float)


def test_a_picture_that_cannot_be_scored_fails_alone(server) -> None:
    strip = picture(5, width=400, height=1)

    async def together() -> list:
        space = ScorerSpace(server.address, concurrent=8, patience=BRIEF)
        return await asyncio.gather(
            *(space.score([p], FLOWER) for p in [picture(1), strip, picture(2)]), return_exceptions=True
        )

    first, refused, last = asyncio.run(together())
    assert isinstance(refused, Unavailable) and "too narrow a strip" in str(refused)
    assert first != last and len(first) == len(last) == 1


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header says it is that large, with next to nothing behind it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")


def jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (30, 30)).save(buffer, "JPEG")
    return buffer.getvalue()


def encoded(data: bytes) -> dict:
    return {"png_base64": base64.b64encode(data).decode(), "prompt": FLOWER}


REFUSED = {
    "no JSON": (b"rose", 422, 'A request is {"png_base64": …, "prompt": …}.'),
    "a list": ([1], 422, 'A request is {"png_base64": …, "prompt": …}.'),
    "no prompt": ({"png_base64": ""}, 422, 'A request is {"png_base64": …, "prompt": …}.'),
    "a prompt that is none": (
        {**body(picture(1)), "prompt": 7},
        422,
        "A prompt is a text of at most 2,000 characters.",
    ),
    "an endless prompt": (body(picture(1), "x" * 3000), 422, "A prompt is a text of at most 2,000 characters."),
    "a prompt with the model's own token": (body(picture(1), "<|Reward|>"), 422, "may not contain"),
    "no base64": ({"png_base64": "*", "prompt": ""}, 422, "png_base64 is not base64."),
    "a number": ({"png_base64": 5, "prompt": ""}, 422, "png_base64 is not base64."),
    "no picture": (encoded(b"rose"), 422, "png_base64 is not a whole PNG picture."),
    "a JPEG": (encoded(jpeg()), 422, "png_base64 is not a whole PNG picture."),
    "half a picture": (encoded(picture(1).png[:90]), 422, "png_base64 is not a whole PNG picture."),
    "a bomb": (encoded(png_of_size(60_000, 60_000)), 413, "a picture 16,777,216 pixels."),
    "a large canvas": (encoded(png_of_size(5_000, 5_000)), 413, "a picture 16,777,216 pixels."),
    "seventeen MiB": (b" " * (17 << 20), 413, "A request has at most 16 MiB"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_it_refuses_in_one_sentence(server, what: str) -> None:
    sent, status, words = REFUSED[what]
    got, told = ask(f"{server.address}/score", sent)
    assert got == status and words in told["error"]


def test_an_outage_is_no_score_and_health_says_so(server, model) -> None:
    model.outage = Unavailable("hpsv3 ran out of memory while it worked.")
    status, told = ask(f"{server.address}/score", body(picture(3)))
    assert status == 200 and told["available"] is False
    assert told["mu"] is told["score"] is None and "out of memory" in told["reason"]
    status, health = ask(f"{server.address}/health")
    assert status == 503 and health["status"] == "unhealthy" and "out of memory" in health["why"]
    with pytest.raises(Unavailable, match="not available"):
        asyncio.run(ScorerSpace(server.address, patience=BRIEF).score([picture(3)], FLOWER))
    model.outage = None
    asyncio.run(ScorerSpace(server.address, patience=BRIEF).score([picture(3)], FLOWER))
    status, health = ask(f"{server.address}/health")
    assert status == 200 and health["status"] == "healthy" and health["waiting"] == 0


def test_the_command_asks_for_its_token(monkeypatch) -> None:
    """The whole way: `paint env scorer` in a process of its own, with a secret, and our client."""
    with Command(
        "scorer", "--scorer", f"hpsv3:{FIXTURE}", PAINT_SCORER_TOKEN="a secret", PAINT_PRECISION="fp32"
    ) as served:
        assert ask(f"{served.address}/health")[0] == 200
        for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "a secret"}):
            status, told = ask(f"{served.address}/score", body(picture(1)), headers)
            assert status == 401 and "asks for a token" in told["error"]
        space = ScorerSpace(served.address, patience=BRIEF)
        with pytest.raises(PaintError, match="refuses the token"):
            asyncio.run(space.score([picture(1)], FLOWER))
        monkeypatch.setenv("PAINT_SCORER_TOKEN", "a secret")
        [mu] = asyncio.run(space.score([picture(1)], FLOWER))
        assert mu == pytest.approx(asyncio.run(Watched().score([picture(1)], FLOWER))[0], abs=1e-4)
        assert served.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scorer", "taste"], "Only HPSv3 is served"),
        (["--scorer", "hpsv3:/nowhere"], "There is no HPSv3 checkpoint at /nowhere"),
        (["--host", "nowhere.invalid"], "is not the name of a machine"),
        (["--host", "192.0.2.1"], "192.0.2.1 is not an address of this machine"),
    ],
)
def test_bad_input_is_one_sentence(paint, arguments, words) -> None:
    ran = paint("env", "scorer", "--port", 0, *arguments)
    assert ran.code in (1, 2) and words in ran.err and len(ran.err.strip().splitlines()) == 1
