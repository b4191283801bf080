"""Turns: the policy is shown its own painting and the gate's words, replies again, and is trained on its words only."""

import io

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from datasets import Dataset  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402
from tiny_vlm import save_qwen3_vl  # noqa: E402

from paintcli.attempt import Attempt  # noqa: E402
from paintcli.errors import UsageError  # noqa: E402
from paintcli.gate import Verdict, Violation  # noqa: E402
from paintcli.painting import Painting  # noqa: E402
from paintcli.sketch import extract  # noqa: E402
from paintcli.training import coverage, recipe, trainer, turns  # noqa: E402
from paintcli.training.turns import Look  # noqa: E402

PROMPT = [{"role": "user", "content": "paint"}]


def png(colour):
    image = Image.new("RGB", (64, 64), "#fffdf5")
    ImageDraw.Draw(image).rectangle((16, 8, 47, 39), fill=colour)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def attempt(violations=(), painting=None, unavailable=None):
    return Attempt(extract("function setup() {}"), 0, Verdict(tuple(violations)), painting, unavailable)


def test_the_words_are_the_gates_and_the_paintings_own():
    refused = turns.look(attempt([Violation("text_label", 12, "text() writes on the canvas")]), pictures=False)
    assert "- text_label (line 12): text() writes on the canvas" in refused.words and refused.png is None
    painted = attempt(painting=Painting(png("#d04030")))
    seen = turns.look(painted, pictures=False)
    assert "paint on 25% of the 64 × 64 sheet, from x 16 to 47 and y 8 to 39, mostly #d04030." in seen.words
    eyes = turns.look(painted, pictures=True)
    assert eyes.png == png("#d04030") and "#d04030" not in eyes.words
    assert turns.look(attempt(unavailable="the browser died"), pictures=True) is None


@pytest.fixture(scope="module")
def vlm(tmp_path_factory):
    return save_qwen3_vl(tmp_path_factory.mktemp("vlm"))


def words_of(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, padding_side="left")


def test_what_is_shown_continues_the_chat_exactly(vlm):
    """Reply, what is shown, next reply: the ids put together are those of the whole conversation."""
    words = words_of(vlm)
    end = {words.eos_token_id}
    seen = Look("refused: no brush", None)
    chat = [*PROMPT, {"role": "assistant", "content": "one"}]
    asked = words.apply_chat_template(PROMPT, add_generation_prompt=True)["input_ids"]
    reply = words("one<|im_end|>", add_special_tokens=False)["input_ids"]
    dialogue = turns.Dialogue.begin(asked, reply, "one", end)
    turns.converse([dialogue], 2, lambda those: [seen], lambda prompts, fields: [reply], words, end)
    whole = words.apply_chat_template([*chat, {"role": "user", "content": seen.words}], add_generation_prompt=True)
    assert asked + dialogue.ids == whole["input_ids"] + reply


class Scripted(trainer.PaintTrainer):
    """Replies are given, everything after them is real; what was asked is kept."""

    def _generate_single_turn(self, prompt_ids, images, fields, *_):
        self.asked.append((prompt_ids, fields))
        return [list(r) for r in self.replies.pop(0)], None


def made(tmp_path, folder, replies, look, rewards, multimodal):
    from transformers import AutoModelForImageTextToText

    chosen = recipe.compose(
        "judge-led", None, {"generations": 4, "steps": 1, "turns": 2, "precision": "fp32", "multimodal": multimodal}
    )
    words = words_of(folder)
    model = coverage.with_adapter(AutoModelForImageTextToText.from_pretrained(folder), chosen)
    assessed = []

    def assess(samples, step, seconds):
        assessed.extend(samples)
        return rewards

    found = Scripted(
        assess=assess,
        look=look,
        turns=2,
        model=model,
        args=trainer.arguments(chosen, tmp_path, "cpu"),
        train_dataset=Dataset.from_list([{"prompt": PROMPT}]),
        eyes=turns.Eyes(str(folder), words) if multimodal else None,
        processing_class=words,
    )
    end = words.convert_tokens_to_ids("<|im_end|>")
    found.replies = [[words(r)["input_ids"] + ([end] if e else []) for r, e in batch] for batch in replies]
    found.asked = []
    return found, assessed, words


FIRST = [("one", True), ("two", True), ("three", False), ("four", True)]


def test_every_reply_is_trained_on_and_nothing_that_was_shown(tmp_path, vlm):
    """The third reply was cut off and the fourth could not be painted: these two get no second turn."""
    looks = [Look("seen 1", None), Look("seen 2", None), Look("seen 3", None), None]
    trained, assessed, words = made(
        tmp_path, vlm, [FIRST, [("better", True), ("worse", True)]], lambda samples, step: looks, [1.0, 0.0, 0.5, None],
        multimodal=False,
    )  # fmt: skip
    batch = trained._generate_and_score_completions([{"prompt": PROMPT}] * 4)
    assert [s.text for s in assessed] == ["better", "worse", "three", "four"]
    assert [s.finish for s in assessed] == ["stop", "stop", "length", "stop"]
    own = batch["completion_mask"] * batch["tool_mask"]
    texts = [words.decode(ids[mask.bool()]) for ids, mask in zip(batch["completion_ids"], own, strict=True)]
    assert texts == ["one<|im_end|>better<|im_end|>", "two<|im_end|>worse<|im_end|>", "three", ""]
    whole = words.decode(batch["completion_ids"][0][batch["completion_mask"][0].bool()])
    assert whole == "one<|im_end|>\n<|im_start|>user\nseen 1<|im_end|>\n<|im_start|>assistant\nbetter<|im_end|>"
    assert int(batch["num_items_in_batch"]) == int(own.sum())
    assert torch.allclose(batch["advantages"], torch.tensor([0.5, -0.5, 0.0, 0.0]))


def test_a_policy_with_eyes_is_shown_the_picture_itself(tmp_path, vlm):
    looks = [Look("seen", png("#d04030")), Look("seen", png("#3040d0")), None, Look("seen", png("#20a020"))]
    trained, _, words = made(
        tmp_path, vlm, [FIRST, [("a", True), ("b", True), ("c", True)]], lambda samples, step: looks,
        [1.0, 0.0, 0.5, 0.2], multimodal=True,
    )  # fmt: skip
    batch = trained._generate_and_score_completions([{"prompt": PROMPT}] * 4)
    pad = words.convert_tokens_to_ids("<|image_pad|>")
    asked, fields = trained.asked[1]
    patches = fields["image_grid_thw"].prod(dim=1).tolist()
    assert fields["pixel_values"].shape[0] == sum(patches)
    assert [row.count(pad) for row in asked] == [n // 4 for n in patches]
    assert batch["num_images"] == [1, 1, 0, 1]
    together = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    assert torch.equal(batch["mm_token_type_ids"], (together == pad).long())

    # the picture decides: another one, another likelihood of the same words
    likelihoods = []
    for pixels in (batch["pixel_values"], batch["pixel_values"].flip(0)):
        with torch.no_grad():
            logps, _, _ = trained._get_per_token_logps_and_entropies(
                trained.model, together, torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1),
                batch["completion_ids"].shape[1], pixel_values=pixels, image_grid_thw=batch["image_grid_thw"],
                num_images=batch["num_images"], mm_token_type_ids=batch["mm_token_type_ids"],
            )  # fmt: skip
        likelihoods.append(logps[0])
    assert not torch.allclose(*likelihoods)


def test_a_step_with_pictures_trains(tmp_path, vlm):
    """The whole of TRL's path, micro-batches of one with and without a picture."""
    looks = [Look("seen", png("#d04030")), Look("seen", png("#3040d0")), None, Look("seen", png("#20a020"))]
    trained, _, _ = made(
        tmp_path, vlm, [FIRST, [("a", True), ("b", True), ("c", True)]], lambda samples, step: looks,
        [1.0, 0.0, 0.5, 0.2], multimodal=True,
    )  # fmt: skip
    trained.train()
    logs = [entry for entry in trained.state.log_history if "grad_norm" in entry]
    assert len(logs) == 1 and logs[0]["grad_norm"] > 0


def test_the_control_task_has_one_turn():
    with pytest.raises(UsageError, match="one turn"):
        recipe.compose("control", None, {"turns": 2})
