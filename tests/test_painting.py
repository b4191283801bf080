"""The measures of a picture, on pictures whose answer can be counted by hand."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from paintcli.errors import PaintError
from paintcli.painting import Mark, Painting, coverage_of, flatten, paper_colour


def picture(width=10, height=10, colour=(250, 246, 238)):
    return np.full((height, width, 3), colour, dtype=np.uint8)


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def test_paper_is_the_mean_of_the_most_populous_bin():
    rgb = picture()
    rgb[:, :4] = (248, 246, 238)  # same 4-bit bin as 250: the paper is their mean
    assert paper_colour(rgb) == pytest.approx([249.2, 246, 238])


def test_coverage_counts_pixels_further_than_32():
    rgb = picture()
    rgb[0, :3] = (250 - 33, 246, 238)  # 33 away: paint
    rgb[1, :5] = (250 - 32, 246, 238)  # exactly 32: still paper
    assert coverage_of(rgb) == 0.03


def test_a_blank_canvas_covers_nothing():
    assert coverage_of(picture()) == 0.0


def test_pigment_is_full_at_the_target():
    rgb = picture()
    rgb[0] = 0
    painting = Painting(png=png(Image.fromarray(rgb)))
    assert painting.coverage == 0.1
    assert painting.pigment(0.4) == pytest.approx(0.25)
    assert painting.pigment(0.05) == 1.0


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "I;16", "1", "CMYK"])
def test_every_mode_becomes_rgb(mode):
    image = Image.new("L", (4, 3), 255).convert("L" if mode == "I;16" else mode)
    if mode == "I;16":
        image = Image.fromarray(np.full((3, 4), 65535, dtype=np.uint16))
    assert flatten(image).shape == (3, 4, 3)
    assert flatten(image).max() == 255


def test_alpha_goes_over_white():
    assert (flatten(Image.new("RGBA", (2, 2), (255, 0, 0, 0))) == 255).all()


def test_a_dark_sixteen_bit_picture_is_scaled_like_a_bright_one(tmp_path):
    """The mode, not the brightest pixel, says how deep a picture is."""
    path = tmp_path / "dark.png"
    Image.fromarray(np.full((3, 4), 200, dtype=np.uint16)).save(path)
    assert Painting.from_file(path).rgb.max() == 1  # 200 of 65535 is all but black


def test_any_format_is_loaded(tmp_path):
    Image.fromarray(picture()).save(tmp_path / "a.webp", lossless=True)
    assert (Painting.from_file(tmp_path / "a.webp").rgb == picture()).all()


@pytest.mark.parametrize("content", [b"", b"not a picture", png(Image.new("RGB", (64, 64), "red"))[:60]])
def test_what_is_not_a_picture_is_one_sentence(tmp_path, content):
    path = tmp_path / "bad.png"
    path.write_bytes(content)
    with pytest.raises(PaintError, match=r"bad\.png is not a readable picture") as said:
        Painting.from_file(path)
    assert "object at 0x" not in str(said.value)


def test_no_picture_covers_nothing_and_has_no_size():
    painting = Painting(png=None, fault="render_failed")
    assert (painting.coverage, painting.width, painting.height) == (0.0, 0, 0)


def test_a_painting_travels_whole_as_json():
    sent = Painting(
        png(Image.fromarray(picture())), seed=7, seconds=1.25, renderer="chromium 156 llvmpipe", finished=True,
        js_errors=("ReferenceError: x",), calls={"brush.circle": 3}, versions={"p5": "2.3.4"},
        marks=(Mark("circle", 1, 2, 3.5, 4, "#fff", 180),),
    )  # fmt: skip
    assert Painting.unpack(json.loads(json.dumps(sent.pack()))) == sent
    failed = Painting(None, fault="render_timeout", fault_detail="30 s")
    assert Painting.unpack(json.loads(json.dumps({**failed.pack(), "mood": "of a newer version"}))) == failed


@pytest.mark.parametrize("packed", [{}, {"png": 3}, {"png": "no base64!"}, {"png": None, "marks": [{"what": "x"}]}])
def test_what_is_no_packed_painting(packed):
    with pytest.raises(ValueError, match="no packed painting"):
        Painting.unpack(packed)
