"""The reference of the library and the page of the sources say what the code says."""
from __future__ import annotations

import importlib
import re

import pytest

import ai_core
from tools.documentation import library_pages, sources_page
from tools.documentation.library_pages import page_of, public_names

PACKAGES = [ai_core, *(importlib.import_module(f"ai_core.{name}") for name in ai_core.PACKAGES)]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_has_an_entry(package):
    page = page_of(package)
    titles = set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) | set(re.findall(r"^- `(\w+)`: \[", page, re.MULTILINE))
    assert set(public_names(package)) - titles == set()


def test_an_argument_has_its_type_unit_and_errors():
    page = page_of(importlib.import_module("ai_core.senses"))
    entry = page.partition("### add_sensor\n")[2].partition("\n### ")[0]
    assert "- `position: ArrayLike`: " in entry
    assert "(m)" in entry
    assert "- `ValueError`: " in entry


def test_costs_sources_and_examples_are_shown():
    page = page_of(importlib.import_module("ai_core.paths"))
    entry = page.partition("## AnytimeSearch\n")[2].partition("\n## ")[0]
    assert "**Cost**: O(cells)" in entry
    assert "**Source**: Likhachev" in entry
    assert "```pycon\n>>> " in entry


def test_long_declarations_have_an_argument_a_line():
    text = library_pages._code("f(a: dict[str, int], b: tuple[int, ...] = (1, 2), *, a_long_name: str = '') -> int")
    assert text.splitlines()[1:5] == ["f(", "    a: dict[str, int],", "    b: tuple[int, ...] = (1, 2),", "    *,"]


def test_every_system_of_the_sources_has_class_and_test():
    page = sources_page.page()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) == len(sources_page.SYSTEMS) > 50
    for row in rows:
        for file in re.findall(r"`((?:ai_core|tests)/[\w/]+\.py)`", row):
            assert (sources_page.ROOT / file).is_file(), row
