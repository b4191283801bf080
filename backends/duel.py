"""The question a vision model is asked about two paintings: the same words and pictures for every judge."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

from paintcli.backends.protocols import Message
from paintcli.painting import Painting

LONGEST = 1024
"""Longest side, in pixels, that a judge is shown: a painting is 600, and a photograph's pixels buy no verdict."""

CRITERIA = (
    "Washes that bleed and overlap, translucent layers, edges both soft and crisp, colour that varies within a shape, "
    "light kept by leaving paper bare, and a picture that holds together."
)
"""What counts as painted well where the domain says nothing of its own."""


def shown(painting: Painting) -> Image.Image:
    """The painting as RGB, at most 1024 pixels on its longer side."""
    image = painting.image
    image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    return image


def image_url(painting: Painting) -> Message:
    """The painting as shown, as a content part of chat completion: a `data:` address holding a PNG."""
    buffer = io.BytesIO()
    shown(painting).save(buffer, "PNG")
    address = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": address}}


def question(criteria: str, answer: str) -> str:
    """What stands under the two pictures. `answer` says in which form the verdict is wanted."""
    return (
        "Both are paintings of the same kind of subject. Compare how they are painted, not what they show: "
        "neither the subject nor likeness nor effort decides.\n"
        f"What counts: {criteria.strip() or CRITERIA}\n"
        f"Which one is painted better? {answer}"
    )


LETTER = "Answer with one letter, A or B."


def messages(pictures: tuple[Any, Any], criteria: str, answer: str) -> list[Message]:
    """One user turn: picture A, picture B, the question. The pictures are content parts of the caller's form."""
    return [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Picture A:\n"},
                pictures[0],
                {"type": "text", "text": "\nPicture B:\n"},
                pictures[1],
                {"type": "text", "text": "\n" + question(criteria, answer)},
            ],
        }
    ]
