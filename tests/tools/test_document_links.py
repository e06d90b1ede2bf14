"""Every link of a page leads to a page, a picture or a heading that exists."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ("nodes/", "reference/", "project/sources.md")
"""What stands beside docs/index.md and ``dev.py docs`` makes."""


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"\s+", "-", title) for title in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_what_exists(page):
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if link.startswith("http") or target.relative_to(ROOT).as_posix().startswith(
                tuple(f"docs/{folder}" for folder in GENERATED)):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []
