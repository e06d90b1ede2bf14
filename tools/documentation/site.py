"""``dev.py docs``: the manual as a site, a page for each node from the same text that the editor shows on hover."""
from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from xml.etree import ElementTree

from tools import preparation
from tools.documentation.class_pages import class_page, text_of
from tools.documentation.class_reference import write_reference
from tools.environment import install_group
from tools.godot_project import hide_from_godot
from tools.processes import check, run
from tools.progress import step

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "build" / "manual"
"""Where mkdocs.yml looks for pages: docs/, the changelog, and what is generated."""

ARGUMENTS = [
    (["--out"], {"type": Path, "metavar": "FOLDER", "default": ROOT / "dist" / "manual", "help": "(dist/manual)"}),
]
_PAGES_LIMIT_S, _BUILD_LIMIT_S = 60.0, 300.0
_NODES = "# Nodes and resources\n\nEach page is made of what the editor shows on hover.\n\n| | |\n|---|---|\n"


def start(options: argparse.Namespace) -> int:
    """build the manual as a site: guides, reference, troubleshooting"""
    print(build_site(preparation.prepare(ROOT), options.out.absolute()) / "index.html")
    return 0


def build_site(prepared: preparation.Prepared, out: Path) -> Path:
    """Build the site in ``out``; return it.

    Raises:
        StepFailed: if a link leads nowhere, a page is in no menu, or anything else is warned of.
    """
    python = prepared.python
    for folder in (SOURCES, out):
        hide_from_godot(ROOT, folder)
    if not run([python, "-c", "import mkdocs, material"], timeout_s=60.0).succeeded:
        install_group(ROOT, python, "docs")
    gather_pages(write_reference(prepared.engine, ROOT, ROOT / "build" / "doc_classes"), SOURCES)
    with step("writing the library's reference"):
        for module, place in (("library_pages", "reference"), ("sources_page", "project/sources.md")):
            written = run(
                [python, "-m", f"tools.documentation.{module}", SOURCES / place], timeout_s=_PAGES_LIMIT_S, cwd=ROOT)
            check(f"writing {place}", "read the error above", written)
    settings = SOURCES.with_name("mkdocs.yml")
    settings.write_text(with_menu((ROOT / "mkdocs.yml").read_text(), SOURCES), encoding="utf-8")
    with step("building the manual") as progress:
        finished = run(
            [python, "-m", "mkdocs", "build", "--strict", "--clean", "-f", settings, "-d", out],
            timeout_s=_BUILD_LIMIT_S, cwd=ROOT, on_line=progress.note,
        )
    check("building the manual", "put right what MkDocs warns of, above", finished)
    return out


def with_menu(settings: str, sources: Path) -> str:
    """Return mkdocs.yml's text with all nodes in the menu, and at its end the pages that it does not name."""
    nodes = [f"nodes/{file.name}" for file in sorted((sources / "nodes").glob("*.md")) if file.stem != "index"]
    settings = settings.replace("Nodes: nodes/", f"Nodes: [nodes/index.md, {', '.join(nodes)}]")
    packages = [f"reference/{file.name}" for file in sorted((sources / "reference").glob("ai_core*.md"))]
    settings = settings.replace("Reference: reference/", f"Reference: [reference/index.md, {', '.join(packages)}]")
    pages = (file.relative_to(sources).as_posix() for file in sorted(sources.rglob("*.md")))
    unnamed = [page for page in pages if page not in settings]
    more = ["  - More:", *(f"      - {page}" for page in unnamed)] if unnamed else []
    return "\n".join([settings.rstrip("\n"), *more]) + "\n"


def gather_pages(reference: list[Path], sources: Path) -> None:
    """Put all pages into ``sources``: those of docs/, the changelog, and one for each class of the reference."""
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(ROOT / "docs", sources)
    shutil.copy(ROOT / "CHANGELOG.md", sources / "changelog.md")
    changelog = (sources / "changelog.md").read_text().replace("](docs/", "](")
    (sources / "changelog.md").write_text(changelog)
    names = [file.stem for file in reference]
    (sources / "nodes").mkdir()
    rows = []
    for file in reference:
        page = ElementTree.parse(file).getroot()
        (sources / "nodes" / f"{file.stem}.md").write_text(class_page(page, names), encoding="utf-8")
        rows.append(f"| [{file.stem}]({file.stem}.md) | {text_of(page, 'brief_description')} |")
    (sources / "nodes" / "index.md").write_text(_NODES + "\n".join(rows) + "\n", encoding="utf-8")
