"""Turns: the policy sees its own painting and the gate's words and writes again. Nothing of references or scores."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from paintcli.attempt import Attempt
from paintcli.painting import PAINT_DISTANCE, Painting, paper_colour

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
        for violation in attempt.verdict.violations:
            where = f" (line {violation.line})" if violation.line else ""
            lines.append(f"- {violation.code}{where}: {violation.detail}")
    painting = attempt.painting
    if painting and painting.js_errors:
        lines.append(f"The page reported: {painting.js_errors[0]}")
    png = painting.png if painting else None
    if painting and png:
        lines.append("This is what it painted." if pictures else f"What it painted: {in_words(painting)}")
    lines.append("Look at it as a painter would, and write the whole sketch again, better.")
    return Look("\n".join(lines), png if pictures else None)


def in_words(painting: Painting) -> str:
    """A painting for a policy without eyes: how much paint, where it lies (pixels), its three main colours."""
    rgb = painting.rgb.astype(np.float64)
    paint = ((rgb - paper_colour(painting.rgb)) ** 2).sum(axis=-1) > PAINT_DISTANCE**2
    if not paint.any():
        return "an empty sheet."
    down, across = np.nonzero(paint)
    # 3 bits a channel: fine enough to name a wash, coarse enough to gather one
    bins = painting.rgb[paint] >> 5
    keys, counts = np.unique(bins, axis=0, return_counts=True)
    main = keys[np.argsort(-counts)[:3]]
    colours = []
    for key in main:
        colour = painting.rgb[paint][(bins == key).all(axis=1)].mean(axis=0).round().astype(int)
        colours.append("#" + "".join(f"{c:02x}" for c in colour))
    return (
        f"paint on {paint.mean():.0%} of the {painting.width} × {painting.height} sheet, from x {across.min()} to "
        f"{across.max()} and y {down.min()} to {down.max()}, mostly {', '.join(colours)}."
    )


def after_reply(words: Any, seen: Look, thinking: bool) -> str:
    """The chat template's text from the end of a reply to where the next begins. `words`: tokenizer or processor."""
    content: Any = seen.words
    if seen.png:
        content = [{"type": "image"}, {"type": "text", "text": seen.words}]
    chat = [
        {"role": "user", "content": "?" if not seen.png else [{"type": "text", "text": "?"}]},
        {"role": "assistant", "content": REPLY if not seen.png else [{"type": "text", "text": REPLY}]},
        {"role": "user", "content": content},
    ]
    text: str = words.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, enable_thinking=thinking)
    return text[text.index(REPLY) + len(REPLY) :]


def encode(words: Any, seen: Look, thinking: bool, last: int) -> tuple[list[int], dict[str, Any]]:
    """(token ids, picture tensors) that go between a reply ending in token `last` and the next reply."""
    text = after_reply(words, seen, thinking)
    tensors: dict[str, Any] = {}
    if seen.png:
        with Image.open(io.BytesIO(seen.png)) as image:
            made = words(text=[text], images=[image.convert("RGB")], return_tensors="pt", add_special_tokens=False)
        ids = made["input_ids"][0].tolist()
        tensors = {k: made[k] for k in ("pixel_values", "image_grid_thw") if k in made}
    else:
        ids = getattr(words, "tokenizer", words)(text, add_special_tokens=False)["input_ids"]
    return (ids[1:] if ids and ids[0] == last else ids), tensors


def chat(prompt: Sequence[Any], replies: Sequence[tuple[str, Look]]) -> list[Any]:
    """The conversation so far, for sampling outside training: (reply, what was shown of it) pairs after the prompt."""
    messages = list(prompt)
    for reply, seen in replies:
        content: Any = seen.words
        if seen.png:
            content = [
                {"type": "image", "image": Image.open(io.BytesIO(seen.png))},
                {"type": "text", "text": seen.words},
            ]
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": content}]
    return messages
