"""The manual builds without a warning, has a page for every node, and what it says of errors and samples is so."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.documentation.site import build_site
from tools.preparation import ROOT, Prepared, prepare

# Said by the engine, not by us.
OF_THE_ENGINE = (
    "GDExtension dynamic library", "Index p_index", "Cannot get class", "Cannot convert argument",
    "Attempt to disconnect", "Signal: ", "ai_core/",
)
SOURCES = [file for folder in ("addons/ai_core", "ai_core") for file in (ROOT / folder).rglob("*")
           if file.suffix in {".py", ".c", ".gd", ".pyx", ".pxi", ".h"}]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return prepare(ROOT)


@pytest.fixture(scope="module")
def site(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(prepared, tmp_path_factory.mktemp("manual"))


def test_the_manual_has_a_page_for_every_node_and_member(site):
    reference = sorted((ROOT / "build/doc_classes").glob("*.xml"))
    assert len(reference) > 35
    for file in reference:
        page = (site / "nodes" / f"{file.stem}.html").read_text()
        for member in re.findall(r'<(?:member|method|signal) name="(\w+)"', file.read_text()):
            assert f">{member}<" in page, f"{file.stem}.{member}"


def test_every_page_can_be_reached_from_the_menu(site):
    menu = (site / "index.html").read_text()
    pages = {file.relative_to(site).as_posix() for file in site.rglob("*.html")} - {"404.html", "index.html"}
    assert [page for page in sorted(pages) if f'href="{page}"' not in menu] == []


@pytest.mark.parametrize("page", ["troubleshooting.md", "export.md"])
def test_each_error_in_the_tables_is_said_by_our_sources(page):
    text = "\n".join(file.read_text(errors="replace") for file in SOURCES)
    text = re.sub(r'"\s*\n\s*f?"', "", text)                  # texts that go on in the next line
    first = re.findall(r"^\| [^|`]*`([^`|]+)`", (ROOT / "docs" / "godot" / page).read_text(), re.MULTILINE)
    said = [part.strip("' ") for quoted in first for part in quoted.split("…")]
    checked = [part for part in said if part and not part.startswith(OF_THE_ENGINE)]
    assert len(checked) > 2
    assert [part for part in checked if part not in text] == []


def test_samples_without_an_engine_print_their_comments(capsys):
    samples = re.findall(r"```python\n(.*?)```", (ROOT / "docs/library/index.md").read_text(), re.DOTALL)
    assert len(samples) == 2
    for sample in samples:
        exec(sample, {})
        assert capsys.readouterr().out.strip() == re.findall(r"print\(.*\) +# (.*)", sample)[0]
