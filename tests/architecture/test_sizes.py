"""Folders and functions are seen at a glance, and named by what is in them."""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("ai_core", "addons", "demo_project", "tests", "tools")
WRITTEN_BY_HAND = {".py", ".pyx", ".pxd", ".pxi", ".c", ".h", ".gd"}
MADE_BY_TOOLS = {"bin", "build", "generated", "__pycache__", ".godot"}
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}

MOST_LINES_IN_A_FUNCTION = 50
MOST_MODULES_IN_A_FOLDER = 20
MOST_LINES_IN_A_FRONT_DOOR_DOCSTRING = 15
LONGEST_TEST_NAME = 60
MOST_CHARACTERS_IN_AN_ENTRY = 400
MOST_LINES_IN_THE_CHANGELOG_OF_A_VERSION = 140


def files(suffixes):
    return sorted(
        file
        for part in PARTS
        for file in (ROOT / part).rglob("*")
        if file.suffix in suffixes and not MADE_BY_TOOLS & set(file.relative_to(ROOT).parts)
    )


def for_each(found):
    return pytest.mark.parametrize("file", found, ids=lambda f: str(f.relative_to(ROOT)))


def code_lines(function):
    """Lines of a function, without its docstring and without declarations of the types of variables."""
    lines = function.end_lineno - function.lineno + 1
    lines -= sum(isinstance(node, ast.AnnAssign) for node in ast.walk(function))
    if ast.get_docstring(function) is not None:
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


def modules(folder):
    return [file for file in folder.glob("*.py") if file.name != "__init__.py"]


@pytest.mark.parametrize("part", ["ai_core", "addons/ai_core"])
def test_a_folder_is_seen_at_a_glance(part):
    folders = {file.parent for file in (ROOT / part).rglob("*.py") if not MADE_BY_TOOLS & set(file.parts)}
    many = {
        str(folder.relative_to(ROOT)): len(modules(folder)) for folder in sorted(folders)
        if len(modules(folder)) > MOST_MODULES_IN_A_FOLDER}
    assert many == {}, "give concepts folders of their own, or merge files that are never read apart"


@for_each(files(WRITTEN_BY_HAND))
def test_a_file_is_named_by_its_concept(file):
    assert file.stem.strip("_") not in NAMES_THAT_SAY_NOTHING, f"{file}: what is in it?"


@for_each(files({".py"}))
def test_a_function_fits_on_a_screen(file):
    long = [
        f"{file}:{node.lineno}: {node.name} has {code_lines(node)} lines"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and code_lines(node) > MOST_LINES_IN_A_FUNCTION
    ]
    assert not long, "\n".join(long)


@for_each(sorted((ROOT / "ai_core").rglob("__init__.py")))
def test_a_front_door_says_briefly_what_to_choose(file):
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert text, f"{file}: say which one to choose"
    assert len(text.splitlines()) <= MOST_LINES_IN_A_FRONT_DOOR_DOCSTRING


def test_the_changelog_says_in_short_what_there_is():
    _, latest, *_ = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    lines = latest.splitlines()
    long = [line for line in lines if len(line) > MOST_CHARACTERS_IN_AN_ENTRY]
    hint = ("what a user needs is in docs/, how it came to be in git's history; a merge of this file may keep "
            "the lines of both sides: take out again what came back")
    assert not long, f"{hint}\n" + "\n".join(long)
    assert len(lines) <= MOST_LINES_IN_THE_CHANGELOG_OF_A_VERSION, f"{len(lines)} lines; {hint}"


def test_names_of_tests_are_short():
    """A longer name belongs into the test's docstring."""
    names = [
        (file.name, one.name)
        for file in (ROOT / "tests").rglob("*.py") for one in ast.walk(ast.parse(file.read_text()))
        if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
    assert len(names) > 2000
    assert [one for one in names if len(one[1]) > LONGEST_TEST_NAME] == []
