"""HPSv3's loader against the original package (tests/fixtures/hpsv3 says how its answers were recorded)."""

import asyncio
import itertools
import json
from pathlib import Path

import pytest

from paintcli.backends.hpsv3 import EMBEDDING, HPSv3, our_name, question, reward_head, target_size
from paintcli.errors import PaintError, Unavailable
from paintcli.painting import Painting

torch = pytest.importorskip("torch", reason="HPSv3 needs torch: pip install 'paintcli[train]'")
pytest.importorskip("transformers", reason="HPSv3 needs transformers: pip install 'paintcli[train]'")

FIXTURE = Path(__file__).parent / "fixtures" / "hpsv3"
ORACLE = json.loads((FIXTURE / "oracle.json").read_text("utf-8"))
PROMPTS = sorted({case["prompt"] for case in ORACLE["cases"]})


def cases(prompt: str) -> list[dict]:
    return [case for case in ORACLE["cases"] if case["prompt"] == prompt]


def pictures(prompt: str) -> list[Painting]:
    return [Painting.from_file(FIXTURE / case["picture"]) for case in cases(prompt)]


@pytest.fixture(scope="module")
def scorer() -> HPSv3:
    return HPSv3(FIXTURE, precision="fp32", device="cpu")


@pytest.mark.parametrize("prompt", PROMPTS)
def test_agrees_with_the_original_in_a_batch_and_alone(scorer: HPSv3, prompt: str) -> None:
    batch = asyncio.run(scorer.score_with_sigma(pictures(prompt), prompt))
    for case, painting, (mu, sigma) in zip(cases(prompt), pictures(prompt), batch, strict=True):
        (alone,) = asyncio.run(scorer.score([painting], prompt))
        assert mu == pytest.approx(case["mu"], abs=1e-3)
        assert sigma == pytest.approx(case["sigma"], abs=1e-3)
        assert alone == pytest.approx(case["mu"], abs=1e-3)
        assert alone == pytest.approx(mu, abs=1e-4)


def test_the_oracle_tells_pictures_and_prompts_apart() -> None:
    """An agreement to 1e-3 says something only where the answers lie further apart than that."""
    numbers = sorted(case["mu"] for case in ORACLE["cases"])
    assert min(b - a for a, b in itertools.pairwise(numbers)) > 0.02


def test_more_paintings_than_a_batch_come_back_in_order(scorer: HPSv3) -> None:
    prompt = PROMPTS[0]
    small = HPSv3(FIXTURE, precision="fp32", device="cpu", batch=3)
    small._queue.model = scorer._load()
    got = asyncio.run(small.score([*pictures(prompt), *reversed(pictures(prompt))], prompt))
    want = [case["mu"] for case in cases(prompt)]
    assert got == pytest.approx([*want, *reversed(want)], abs=1e-3)


def test_concurrent_scores_do_not_cross(scorer: HPSv3) -> None:
    async def together() -> list[list[float]]:
        return await asyncio.gather(
            *(scorer.score([Painting.from_file(FIXTURE / c["picture"])], c["prompt"]) for c in ORACLE["cases"])
        )

    got = [mu for (mu,) in asyncio.run(together())]
    assert got == pytest.approx([case["mu"] for case in ORACLE["cases"]], abs=1e-3)


def test_the_question_is_the_originals_to_the_letter() -> None:
    padded = ORACLE["text"]  # the first case of the batch is the shortest, so padding follows it
    assert question(ORACLE["cases"][0]["prompt"]) == padded.split("<|endoftext|>")[0]


def test_pictures_are_resized_as_the_original_does() -> None:
    for case in ORACLE["cases"]:
        width, height = target_size(*Painting.from_file(FIXTURE / case["picture"]).image.size)
        assert case["grid"] == [1, height // 14, width // 14]
    assert target_size(600, 600) == (420, 420)


def test_every_tensor_of_the_published_shape_finds_its_place() -> None:
    """The 7B body on the meta device: names and shapes only, from the original class."""
    from transformers import AutoConfig, Qwen2VLModel

    shapes = json.loads((FIXTURE / "full_shapes.json").read_text("utf-8"))
    config = AutoConfig.from_pretrained(FIXTURE / "full")
    config.text_config.vocab_size = shapes[EMBEDDING][0]
    with torch.device("meta"):
        body = Qwen2VLModel(config)
        head = reward_head(config.text_config.hidden_size)
        weights = {name: torch.empty(shape) for name, shape in shapes.items()}
    ours = {our_name(name): weight for name, weight in weights.items() if our_name(name)}
    rest = {name: weight for name, weight in weights.items() if not our_name(name)}
    language_head = rest.pop("lm_head.weight")
    body.load_state_dict(ours, strict=True, assign=True)
    head.load_state_dict({n.removeprefix("rm_head."): w for n, w in rest.items()}, strict=True, assign=True)
    assert language_head.shape == (151658, 3584)
    assert sum(w.numel() for w in ours.values()) == pytest.approx(7.75e9, rel=0.01)


@pytest.mark.parametrize("precision", ["bf16", "8bit", "4bit"])
def test_smaller_precisions(precision: str) -> None:
    """bf16 stays near the float32 answers; quantisation touches the language body and nothing else."""
    pytest.importorskip("bitsandbytes", reason="8 and 4 bit need bitsandbytes: pip install 'paintcli[train]'")
    scorer = HPSv3(FIXTURE, precision=precision, device="cpu")  # type: ignore[arg-type]
    got = asyncio.run(scorer.score(pictures(PROMPTS[0]), PROMPTS[0]))
    model, head, _, _ = scorer._load()
    kinds = {name: type(module).__name__ for name, module in model.named_modules()}
    projection = kinds["language_model.layers.0.mlp.up_proj"]
    assert projection == {"bf16": "Linear", "8bit": "Linear8bitLt", "4bit": "Linear4bit"}[precision]
    assert kinds["visual.blocks.0.mlp.fc1"] == "Linear"
    assert head[0].weight.dtype == torch.float32
    assert len(set(got)) == len(got)
    if precision == "bf16":
        assert got == pytest.approx([case["mu"] for case in cases(PROMPTS[0])], abs=0.15)


def test_closed_and_asked_again(scorer: HPSv3) -> None:
    again = HPSv3(FIXTURE, precision="fp32", device="cpu")
    again.load()
    again.close()
    (mu,) = asyncio.run(again.score(pictures(PROMPTS[0])[:1], PROMPTS[0]))
    assert mu == pytest.approx(cases(PROMPTS[0])[0]["mu"], abs=1e-3)


def test_no_checkpoint_there(tmp_path: Path) -> None:
    with pytest.raises(PaintError, match=r"^There is no HPSv3 checkpoint at .*HPSv3\.safetensors\.$"):
        HPSv3(tmp_path)


def test_no_model_on_disk_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paintcli.backends.local.hub_answers", lambda: False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        PaintError, match=r"^The model MizzenAI/HPSv3 is not on this disk and the Hub cannot be reached"
    ):
        asyncio.run(HPSv3().score(pictures(PROMPTS[0])[:1], PROMPTS[0]))


def test_a_file_that_is_no_checkpoint(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((FIXTURE / name).read_bytes())
    whole = (FIXTURE / "HPSv3.safetensors").read_bytes()
    for content in (b"not a checkpoint", whole[: len(whole) // 2]):
        (tmp_path / "HPSv3.safetensors").write_bytes(content)
        with pytest.raises(PaintError, match=r"is not an HPSv3 checkpoint"):
            HPSv3(tmp_path).load()


def test_a_checkpoint_that_lacks_a_tensor(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((FIXTURE / name).read_bytes())
    weights = load_file(FIXTURE / "HPSv3.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, tmp_path / "HPSv3.safetensors")
    with pytest.raises(PaintError, match=r"1 tensors do not fit, such as language_model\.layers\.1\.mlp\.up_proj"):
        HPSv3(tmp_path, device="cpu").load()


def test_a_number_that_is_not_finite_is_no_score(scorer: HPSv3) -> None:
    model, _head, tokenizer, processor = scorer._load()
    broken = HPSv3(FIXTURE, precision="fp32", device="cpu")
    dead = reward_head(64)
    torch.nn.init.constant_(dead[5].bias, float("nan"))
    broken._queue.model = model, dead, tokenizer, processor
    with pytest.raises(Unavailable, match="not finite"):
        asyncio.run(broken.score(pictures(PROMPTS[0])[:1], PROMPTS[0]))


def test_a_strip_too_narrow() -> None:
    with pytest.raises(PaintError, match="too narrow a strip"):
        target_size(3000, 10)
