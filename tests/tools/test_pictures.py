"""The pictures of the documentation: each can be drawn, and each is shown."""
from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tools.pictures.animation import apng, indexed
from tools.pictures.plots import PICTURES
from tools.pictures.scenes import SCENES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_picture_of_a_concept_is_drawn_from_a_run(name):
    drawing = PICTURES[name]()
    assert ElementTree.fromstring(drawing.svg()).tag.endswith("svg")
    assert drawing.width <= 1250, "wider than a page"
    shown = ElementTree.parse(ROOT / "docs" / "images" / f"{name}.svg").getroot()
    assert (shown.get("width"), shown.get("height")) == (str(drawing.width), str(drawing.height)), (
        f"docs/images/{name}.svg is not what its run draws: tools/dev.py pictures {name}")


def test_every_picture_is_shown_and_described():
    shown = set(re.findall(r"!\[[^\]]{10,}\]\((?:[\w./]*/)?images/([\w.]+)\)", TEXT))
    there = {file.name for file in (ROOT / "docs" / "images").iterdir() if file.name != ".gdignore"}
    assert there == shown
    assert {f"{name}.svg" for name in PICTURES} | {f"{name}.png" for name in SCENES} <= there


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "concepts").glob("*.md")), ids=lambda page: page.stem)
def test_a_concept_has_a_picture(page):
    assert "](../images/" in page.read_text(encoding="utf-8")


def shown_frames(data: bytes, height: int, width: int) -> list[np.ndarray]:
    """The pictures of an APNG, as a browser composes them."""
    frames, place, at = [], None, 8
    canvas = np.zeros((height, width), np.uint8)
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"fcTL":
            _, columns, rows, left, top = struct.unpack(">5I", body[:20])
            place = slice(top, top + rows), slice(left, left + columns)
        elif kind in (b"IDAT", b"fdAT"):
            raw = np.frombuffer(zlib.decompress(body[4:] if kind == b"fdAT" else body), np.uint8)
            part = raw.reshape(canvas[place].shape[0], -1)[:, 1:]
            canvas = canvas.copy()
            canvas[place] = np.where(part == 255, canvas[place], part)
            frames.append(canvas)
        at += 12 + size
    return frames


def test_an_animation_shows_the_frames_it_was_made_of():
    pixels = np.zeros((4, 6, 8, 3), np.uint8)
    pixels[:, 2:, :] = (40, 80, 120)
    for number in range(3):                                    # the last two frames are the same
        pixels[number, 1 + number, 2:4] = (250, 250, 40)
    pixels[3] = pixels[2]
    palette, numbers = indexed(pixels)
    data = apng(palette, numbers, 100)
    found = shown_frames(data, 6, 8)
    assert len(found) == 4
    for frame, wanted in zip(found, pixels, strict=True):
        assert np.abs(palette[frame].astype(int) - wanted).max() <= 8
