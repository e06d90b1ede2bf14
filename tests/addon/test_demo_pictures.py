"""Each demonstration is drawn under a virtual display without an error."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.demo import scene_names
from tools.preparation import ROOT, Prepared
from tools.screenshot import take_screenshot

# Drawing in software takes 5 to 10 s a picture.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

BLANK_BYTES = 8000
"""A picture of one color is smaller."""


@pytest.mark.parametrize("name", scene_names(ROOT).split(", "))
def test_a_demo_is_drawn_without_an_error(name: str, prepared: Prepared, tmp_path: Path):
    picture = tmp_path / f"{name}.png"
    take_screenshot(prepared.engine, prepared.root, name, picture, after_s=3.0)
    assert picture.stat().st_size > BLANK_BYTES
