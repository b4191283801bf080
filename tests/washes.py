"""Small pools made without a browser: soft translucent blobs with Pillow, a planted preference, several hands."""

import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

HANDS = {"round": (20, 0.5), "windy": (60, 0.9), "upright": (5, 0.25), "scattered": (35, 0.7)}
"""Hand → (hue in degrees of warmth, how long its marks are)."""


def wash(hand: str, layers: int, softness: float, seed: int, side: int = 200) -> Image.Image:
    """A sheet of `side` pixels with `layers` translucent marks, blurred by `softness` pixels."""
    warmth, length = HANDS[hand]
    random = np.random.default_rng(seed)
    sheet = Image.new("RGB", (side, side), (250, 246, 236))
    for _ in range(layers):
        mask = Image.new("L", sheet.size, 0)
        x, y = random.normal(side / 2, side / 8, 2)
        r = side * random.uniform(0.08, 0.16)
        ImageDraw.Draw(mask).ellipse((x - r, y - r * length, x + r, y + r * length), fill=int(random.integers(70, 120)))
        mask = mask.rotate(float(random.uniform(0, 360))).filter(ImageFilter.GaussianBlur(softness))
        colour = (220 - int(random.integers(0, 40)), 60 + warmth, 70 + int(random.integers(0, 40)))
        sheet.paste(Image.new("RGB", sheet.size, colour), mask=mask)
    return sheet


def make_pool(folder: Path, per_tier: int = 8, hands=tuple(HANDS), weak: int = 0, **columns) -> Path:
    """A pool whose rater loves many soft layers and finds few hard ones okay. `columns` are added to every row."""
    rows = []
    (folder / "sources").mkdir(parents=True)
    for tier, count, layers, softness in (
        ("love", per_tier, 14, 4.0),
        ("okay", per_tier, 6, 1.0),
        ("weak", weak, 2, 0),
    ):
        for i in range(count):
            name = f"{tier}-{i:02d}"
            hand = hands[i % len(hands)]
            jitter = np.random.default_rng(i + 100).uniform(0.7, 1.3)
            wash(hand, max(1, round(layers * jitter)), softness * jitter, hash_seed(name)).save(folder / f"{name}.png")
            (folder / "sources" / f"{name}.js").write_text(f"// {name}\nfunction setup() {{}}\n")
            rows.append(
                {"file_name": f"{name}.png", "source_file": f"sources/{name}.js", "tier": tier, "subject": "a hibiscus",
                 "generator_model": f"hand-{hand}", "refinement_round": 0, **columns}
            )  # fmt: skip
    write_rows(folder, rows)
    return folder


def hash_seed(name: str) -> int:
    return int.from_bytes(name.encode()[-6:], "big")


def write_rows(folder: Path, rows) -> None:
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def read_rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metadata.jsonl").read_text("utf-8").splitlines()]
