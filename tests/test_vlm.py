"""The local judge on tiny models with random weights: what it says is arbitrary, how it is asked is not."""

import asyncio
import io
from pathlib import Path

import pytest
from PIL import Image

from paintcli.errors import PaintError, UsageError
from paintcli.judging import compare
from paintcli.painting import Painting

torch = pytest.importorskip("torch", reason="vlm: needs torch: pip install 'paintcli[train]'")
pytest.importorskip("transformers", reason="vlm: needs transformers: pip install 'paintcli[train]'")

from tiny_vlm import save_llava, save_qwen3_vl  # noqa: E402

from paintcli.backends.vlm import Vlm  # noqa: E402


def solid(colour: str, size: tuple[int, int] = (120, 100)) -> Painting:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return Painting(png=buffer.getvalue())


RED, NAVY = solid("red"), solid("navy", (100, 140))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen3_vl(tmp_path_factory.mktemp("qwen3-vl"))


@pytest.fixture(scope="module")
def judge(folder: Path) -> Vlm:
    return Vlm(str(folder), precision="fp32", device="cpu")


def ask(judge: Vlm, first: Painting, second: Painting, criteria: str = "") -> float:
    return asyncio.run(judge.prefer(first, second, criteria))


def test_an_answer_depends_on_pictures_order_and_criteria_and_on_nothing_else(judge: Vlm) -> None:
    answers = [ask(judge, RED, NAVY), ask(judge, NAVY, RED), ask(judge, RED, RED), ask(judge, RED, NAVY, "soft edges")]
    assert all(0 < answer < 1 for answer in answers)
    assert len({round(answer, 4) for answer in answers}) == 4
    assert ask(judge, RED, NAVY) == answers[0]


def test_the_two_orders_together_complement(judge: Vlm) -> None:
    """One order alone leans to a letter; red's score against navy and navy's against red make 1."""
    red = asyncio.run(compare(RED, NAVY, judge))
    navy = asyncio.run(compare(NAVY, RED, judge))
    assert ask(judge, RED, NAVY) + ask(judge, NAVY, RED) != pytest.approx(1, abs=1e-3)
    assert red[0] == pytest.approx(ask(judge, RED, NAVY), abs=1e-6)
    assert sum(red) / 2 + sum(navy) / 2 == pytest.approx(1, abs=1e-6)
    assert sum(red) / 2 != pytest.approx(0.5, abs=1e-3)


def test_the_first_picture_is_a_and_a_is_the_first_to_win(folder: Path) -> None:
    judge = Vlm(str(folder), precision="fp32", device="cpu")
    judge.load()
    model, prepare, a, b = judge._queue.model
    seen: dict = {}
    judge._queue.model = model, lambda messages: seen.setdefault("inputs", prepare(messages)), a, b
    ask(judge, RED, NAVY)
    inputs = seen["inputs"]
    text = judge_text(folder, inputs["input_ids"][0])
    first, second = text.index("Picture A:\n<|vision_start|><|image_pad|>"), text.index("Picture B:\n<|vision_start|>")
    assert first < second < text.index("Which one is painted better?")
    assert text.endswith("Answer with one letter, A or B.<|im_end|>\n<|im_start|>assistant\n")
    rows = inputs["image_grid_thw"].prod(dim=1).tolist()
    red, navy = inputs["pixel_values"].split(rows)
    assert red[:, :256].mean() == pytest.approx(1, abs=0.01)  # the red channel of red, −1 to 1
    assert navy[:, :256].mean() == pytest.approx(-1, abs=0.01)
    assert inputs["mm_token_type_ids"].sum() == sum(rows) // 4
    with torch.no_grad():
        model.lm_head.weight[b] = 0
        model.lm_head.weight[a] = 0
        hidden = model(**inputs, output_hidden_states=True).hidden_states[-1][0, -1]
        model.lm_head.weight[a] = hidden
    assert ask(judge, RED, NAVY) > 0.99  # the letter A is now certain, and A is the picture shown first


def judge_text(folder: Path, ids: "torch.Tensor") -> str:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder).decode(ids)


@pytest.mark.parametrize("precision", ["bf16", "8bit", "4bit"])
def test_smaller_precisions(folder: Path, judge: Vlm, precision: str) -> None:
    """The pictures' tower and the answer's head stay whole; the language body is what shrinks."""
    pytest.importorskip("bitsandbytes", reason="8 and 4 bit need bitsandbytes: pip install 'paintcli[train]'")
    small = Vlm(str(folder), precision=precision, device="cpu")  # type: ignore[arg-type]
    answer = ask(small, RED, NAVY)
    kinds = {name: type(module).__name__ for name, module in small._queue.model[0].named_modules()}
    assert kinds["model.language_model.layers.0.mlp.up_proj"] == {
        "bf16": "Linear", "8bit": "Linear8bitLt", "4bit": "Linear4bit"
    }[precision]  # fmt: skip
    assert kinds["model.visual.blocks.0.attn.qkv"] == kinds["lm_head"] == "Linear"
    assert 0 < answer < 1
    if precision == "bf16":
        assert answer == pytest.approx(ask(judge, RED, NAVY), abs=0.1)


def test_a_mixture_of_experts_judges_whole_and_refuses_four_bit(tmp_path: Path) -> None:
    folder = save_qwen3_vl(tmp_path, experts=True)
    assert 0 < ask(Vlm(str(folder), precision="fp32", device="cpu"), RED, NAVY) < 1
    with pytest.raises(UsageError, match=r"mixture of experts, which bitsandbytes cannot quantise; use it as gguf:"):
        Vlm(str(folder), precision="4bit", device="cpu").load()


def test_another_family_of_models(tmp_path: Path) -> None:
    judge = Vlm(str(save_llava(tmp_path)), precision="fp32", device="cpu")
    answers = {round(ask(judge, first, second), 4) for first in (RED, NAVY) for second in (RED, NAVY)}
    assert len(answers) == 4


def test_many_at_once_do_not_cross(judge: Vlm) -> None:
    colours = ["red", "navy", "olive", "white"]
    pairs = [(solid(first), solid(second)) for first in colours for second in colours]
    alone = [ask(judge, first, second) for first, second in pairs]

    async def together() -> list[float]:
        return await asyncio.gather(*(judge.prefer(first, second, "") for first, second in pairs))

    assert asyncio.run(together()) == pytest.approx(alone, abs=1e-6)


def test_no_such_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PaintError, match=r"^There is no model folder .*nowhere\.$"):
        Vlm(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(PaintError, match=r"^The folder .*empty holds nothing that can be loaded here \("):
        Vlm(str(tmp_path / "empty")).load()
    monkeypatch.setattr("paintcli.backends.local.hub_answers", lambda: False)
    with pytest.raises(PaintError, match=r"^The model nobody/nothing is not on this disk and the Hub cannot be"):
        Vlm("nobody/nothing").load()


def test_a_text_model_is_no_judge(tmp_path: Path) -> None:
    from transformers import Qwen3Config

    Qwen3Config().save_pretrained(tmp_path)
    with pytest.raises(PaintError, match="holds nothing that can be loaded here"):
        Vlm(str(tmp_path)).load()
