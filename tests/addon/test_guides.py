"""Each guide works as written: its scene and scripts in a blank project print what the guide says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.addon.documented_project import write_project
from tools.addon_install import install
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared

GUIDES = [ROOT / "docs/godot/five_minutes.md", *sorted((ROOT / "docs/guides").glob("*.md"))]
# Guides without a scene have tests of their own.
ABOUT_TOOLS = {"testing.md"}
# Game time: the longest guide plays for ten seconds, at sixty frames each. The squad waits for its navigation map,
# which is made on a thread, in real time.
FRAMES = {"squad.md": 6000}
FRAMES_OF_OTHERS = 900
# A start on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", [page for page in GUIDES if page.name not in ABOUT_TOOLS], ids=lambda page: page.stem)
def test_what_a_guide_shows_does_what_it_says(page: Path, prepared: Prepared, tmp_path: Path):
    expected = write_project(page, tmp_path)
    install(ROOT, tmp_path, prepared.python_settings)
    frames = str(FRAMES.get(page.name, FRAMES_OF_OTHERS))
    finished = prepared.engine.run(
        ["--headless", "--path", tmp_path, "--fixed-fps", "60", "--quit-after", frames], LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert complaints(finished.output) == []
    printed = [line for line in finished.output.splitlines() if line and not line.startswith("Godot Engine")]
    assert printed[: len(expected)] == expected


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_page_that_a_guide_leads_to_exists(page: Path):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} leads to {target}"
