"""The llama.cpp judge on a tiny vision GGUF, written here from the same weights that transformers reads."""

import asyncio
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paintcli.errors import PaintError, Unavailable
from paintcli.judging import compare
from paintcli.painting import Painting

BUILD = "llama-cpp-python comes as source and takes minutes to build: run .ci/llama-cpp once, it keeps the wheel"
pytest.importorskip("llama_cpp", reason=BUILD)
pytest.importorskip("gguf", reason=BUILD)
pytest.importorskip("transformers", reason="the tiny model is made with transformers: pip install 'paintcli[train]'")

from tiny_gguf import save_gguf  # noqa: E402
from tiny_vlm import save_qwen3_vl  # noqa: E402

from paintcli.backends.gguf import Gguf  # noqa: E402
from paintcli.backends.vlm import Vlm  # noqa: E402


def patches(seed: int) -> Painting:
    """Sixteen flat squares, 128 pixels a side: a size that neither engine resizes."""
    colours = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(colours).resize((128, 128), Image.Resampling.NEAREST).save(buffer, "PNG")
    return Painting(png=buffer.getvalue())


PAIRS = [(patches(a), patches(b)) for a, b in ((0, 10), (10, 0), (1, 11), (11, 1), (2, 12), (12, 2))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_qwen3_vl(tmp_path_factory.mktemp("tiny"))
    save_gguf(folder)
    return folder


@pytest.fixture(scope="module")
def judge(folder: Path):
    judge = Gguf(folder / "model.gguf", folder / "mmproj.gguf")
    yield judge
    judge.close()


def ask(judge: Gguf | Vlm, first: Painting, second: Painting, criteria: str = "") -> float:
    return asyncio.run(judge.prefer(first, second, criteria))


def test_two_engines_say_the_same_of_the_same_weights(judge: Gguf, folder: Path) -> None:
    """llama.cpp computes in half precision here and there; transformers in float32. Measured: at most 0.023 apart."""
    theirs = Vlm(str(folder), precision="fp32", device="cpu")
    ours = np.array([ask(judge, *pair) for pair in PAIRS])
    reference = np.array([ask(theirs, *pair) for pair in PAIRS])
    assert np.ptp(reference) > 0.2
    assert ours == pytest.approx(reference, abs=0.04)
    assert (np.argsort(ours) == np.argsort(reference)).all()


def test_asking_again_gives_the_same_number_whatever_was_asked_between(judge: Gguf) -> None:
    first = ask(judge, *PAIRS[0])
    assert ask(judge, *PAIRS[2]) != pytest.approx(first, abs=1e-3)
    assert ask(judge, *PAIRS[0], "granulation") != pytest.approx(first, abs=1e-4)
    assert ask(judge, *PAIRS[0]) == pytest.approx(first, abs=1e-6)


def test_the_two_orders_together_complement(judge: Gguf) -> None:
    one, other = PAIRS[0]
    forward = asyncio.run(compare(one, other, judge))
    backward = asyncio.run(compare(other, one, judge))
    assert sum(forward) / 2 + sum(backward) / 2 == pytest.approx(1, abs=1e-6)
    assert forward[0] == pytest.approx(ask(judge, one, other), abs=1e-6)


def test_many_at_once_do_not_cross(judge: Gguf) -> None:
    alone = [ask(judge, *pair) for pair in PAIRS]

    async def together() -> list[float]:
        return await asyncio.gather(*(judge.prefer(*pair, "") for pair in PAIRS))

    assert asyncio.run(together()) == pytest.approx(alone, abs=1e-6)


def test_nothing_is_printed(judge: Gguf, capfd: pytest.CaptureFixture[str]) -> None:
    ask(judge, *PAIRS[0])
    assert capfd.readouterr() == ("", "")


def test_closed_and_asked_again(folder: Path, judge: Gguf) -> None:
    again = Gguf(folder / "model.gguf", folder / "mmproj.gguf")
    again.load()
    again.close()
    assert ask(again, *PAIRS[0]) == pytest.approx(ask(judge, *PAIRS[0]), abs=1e-6)
    again.close()


def test_a_context_too_short_is_no_number(folder: Path) -> None:
    short = Gguf(folder / "model.gguf", folder / "mmproj.gguf", context=64)
    with pytest.raises(Unavailable, match="could not answer"):
        ask(short, *PAIRS[0])
    short.close()


def test_files_that_are_not_there_or_not_theirs(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PaintError, match=r"^There is no GGUF file .*none\.gguf\.$"):
        Gguf(folder / "none.gguf", folder / "mmproj.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes((folder / "model.gguf").read_bytes()[:5000])
    with pytest.raises(PaintError, match=r"broken\.gguf is not a GGUF model"):
        Gguf(broken, folder / "mmproj.gguf").load()
    with pytest.raises(PaintError, match=r"model\.gguf is not a vision projector for model\.gguf"):
        Gguf(folder / "model.gguf", folder / "model.gguf").load()
