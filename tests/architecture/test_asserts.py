"""Exported games are compiled without asserts: an assert says what is so, and does nothing."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    file for folder in ("ai_core", "addons/ai_core") for file in (ROOT / folder).rglob("*.py")
    if "bin" not in file.relative_to(ROOT).parts)
HARMLESS = {"isinstance", "len", "callable"}


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))


def _calls(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and one.func.id in HARMLESS)
        for one in ast.walk(node))


def _is_property(function: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in function.decorator_list)


BUSY_PROPERTIES = {
    function.name for file in FILES for function in _functions(ast.parse(file.read_text()))
    if _is_property(function) and any(_calls(line) for line in function.body)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_assert_calls_nothing_and_reads_no_property_that_does(file):
    asserts = [one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.Assert)]
    assert [ast.unparse(one) for one in asserts if _calls(one.test)] == []
    read = {
        part.attr for one in asserts for part in ast.walk(one.test)
        if isinstance(part, ast.Attribute) and not part.attr.startswith("_")}
    assert read & BUSY_PROPERTIES == set()
