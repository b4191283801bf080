"""Turns: the policy sees its own painting and the gate's words and writes again. Nothing of references or scores."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from paintcli.attempt import Attempt
from paintcli.critique import in_words, violations_in_words

REPLY = "(the reply)"


@dataclass(frozen=True)
class Look:
    """What a policy is shown of its own last reply: words, and the picture where there is one."""

    words: str
    png: bytes | None


def look(attempt: Attempt, pictures: bool) -> Look | None:
    """What to show for an attempt; None when nobody could paint it. `pictures`: the policy has eyes."""
    if attempt.unavailable:
        return None
    lines = []
    if attempt.verdict.violations:
        lines.append("Your sketch was refused:")
        lines += [f"- {words}" for words in violations_in_words(attempt.verdict.violations)]
    painting = attempt.painting
    if painting and painting.js_errors:
        lines.append(f"The page reported: {painting.js_errors[0]}")
    png = painting.png if painting else None
    if painting and png:
        lines.append("This is what it painted." if pictures else f"What it painted: {in_words(painting)}")
    lines.append("Look at it as a painter would, and write the whole sketch again, better.")
    return Look("\n".join(lines), png if pictures else None)


class Eyes:
    """Turns a picture into what a Qwen-VL policy takes in. Its own processor wants torchvision, for videos alone."""

    PAD = "<|image_pad|>"

    def __init__(self, model: str, tokenizer: Any) -> None:
        """Raises PaintError when the model's folder or repository has no picture settings."""
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        from paintcli.backends.local import from_hub_or_disk

        self.process = from_hub_or_disk(Qwen2VLImageProcessorPil.from_pretrained, model)
        self.token = tokenizer.convert_tokens_to_ids(self.PAD)

    def see(self, png: bytes) -> dict[str, Any]:
        """One picture as `pixel_values` and `image_grid_thw`."""
        with Image.open(io.BytesIO(png)) as image:
            made = self.process(images=[image.convert("RGB")], return_tensors="pt")
        return {"pixel_values": made["pixel_values"], "image_grid_thw": made["image_grid_thw"]}

    def tokens(self, seen: dict[str, Any]) -> int:
        """How many places a picture takes in the prompt."""
        return int(seen["image_grid_thw"][0].prod()) // int(self.process.merge_size) ** 2

    def fields(self, pictures: Sequence[dict[str, Any]], ids: Sequence[Sequence[int]]) -> dict[str, Any]:
        """The pictures of a batch, in the order of its rows `ids`, as the model's keyword arguments."""
        import torch

        if not pictures:
            return {}
        made: dict[str, Any] = {name: torch.cat([p[name] for p in pictures]) for name in pictures[0]}
        made["mm_token_type_ids"] = [[int(token == self.token) for token in row] for row in ids]
        return made


def after_reply(tokenizer: Any, seen: Look, thinking: bool) -> str:
    """The chat template's text from the end of a reply to where the next one begins."""
    content: Any = seen.words
    if seen.png:
        content = [{"type": "image"}, {"type": "text", "text": seen.words}]
    chat = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": REPLY},
        {"role": "user", "content": content},
    ]
    text: str = tokenizer.apply_chat_template(
        chat, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
    )
    return text[text.index(REPLY) + len(REPLY) :]


@dataclass
class Dialogue:
    """One rollout of several turns. `ids`: everything after the prompt; `own`: 1 where the policy wrote it, else 0."""

    prompt: list[int]
    ids: list[int]
    own: list[int]
    text: str
    """The last reply."""
    ended: bool
    """Whether the last reply ended by itself."""
    pictures: list[dict[str, Any]]

    @classmethod
    def begin(cls, prompt: Sequence[int], reply: Sequence[int], text: str, stops: Collection[int]) -> Dialogue:
        return cls(list(prompt), list(reply), [1] * len(reply), text, bool(reply) and reply[-1] in stops, [])


def converse(
    dialogues: Sequence[Dialogue],
    turns: int,
    look: Callable[[Sequence[Dialogue]], Sequence[Look | None]],
    write: Callable[[list[list[int]], dict[str, Any]], list[list[int]]],
    tokenizer: Any,
    stops: Collection[int],
    eyes: Eyes | None = None,
    thinking: bool = False,
) -> None:
    """Let every dialogue see its painting and reply again, `turns` − 1 times, in place.

    `write(prompts, fields)` continues token ids. One whose reply was cut off, or that nobody could paint (a Look of
    None), gets no further turn.
    """
    for _ in range(1, turns):
        going = []
        for dialogue, seen in zip(dialogues, look(dialogues), strict=True):
            if not dialogue.ended or seen is None:
                continue
            shown = _encode(dialogue, seen, tokenizer, eyes, thinking)
            dialogue.ids += shown
            dialogue.own += [0] * len(shown)
            going.append(dialogue)
        if not going:
            return
        prompts = [d.prompt + d.ids for d in going]
        fields = eyes.fields([p for d in going for p in d.pictures], prompts) if eyes else {}
        for dialogue, reply in zip(going, write(prompts, fields), strict=True):
            dialogue.ids += reply
            dialogue.own += [1] * len(reply)
            dialogue.text = tokenizer.decode(reply, skip_special_tokens=True)
            dialogue.ended = bool(reply) and reply[-1] in stops


def _encode(dialogue: Dialogue, seen: Look, tokenizer: Any, eyes: Eyes | None, thinking: bool) -> list[int]:
    """Token ids that go between the last reply and the next; the picture joins the dialogue's."""
    text = after_reply(tokenizer, seen, thinking)
    if seen.png and eyes:
        dialogue.pictures.append(eyes.see(seen.png))
        text = text.replace(eyes.PAD, eyes.PAD * eyes.tokens(dialogue.pictures[-1]))
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids[1:] if ids and ids[0] == dialogue.ids[-1] else ids  # both end the reply: once is enough
