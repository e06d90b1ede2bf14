"""ai_core has floors; a file imports from floors below, never from beside or above."""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "ai_core"

FLOORS = [
    {"errors", "loops"},
    {"described"},
    {"saving"},
    {"clock"},
    {"trace", "budget", "faults"},
    {"scheduling", "recording", "snapshot"},
    {"level_of_detail", "events", "maps", "plots"},
    {"senses", "paths", "decisions"},
    {"squads"},
]
FLOOR_OF = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
OUTSIDE = {"godot", "addons", "demo_project", "tests", "tools"}
HANDED_IN = {"time", "datetime", "random", "secrets"}


def part_of(file: Path) -> str:
    return file.relative_to(CORE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, "." * node.level + (node.module or "")))
    return found


FILES = sorted(file for file in CORE.rglob("*.py") if file != CORE / "__init__.py")
each_file = pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(CORE)))


@each_file
def test_imports_point_down(file):
    here = part_of(file)
    assert here in FLOOR_OF, f"{file}: give {here!r} a floor in FLOORS"
    for line, name in imports_of(file):
        if name.split(".")[0] != "ai_core":
            continue
        assert name != "ai_core", f"{file}:{line}: import the defining file, not the front door"
        there = name.split(".")[1]
        assert there == here or FLOOR_OF[there] < FLOOR_OF[here], (
            f"{file}:{line}: {here} (floor {FLOOR_OF[here]}) imports {name}"
            f" (floor {FLOOR_OF[there]}). Move the shared part down, or hand it in."
        )


@each_file
def test_imports_are_written_in_full_from_the_defining_file(file):
    packages = {
        ".".join(("ai_core", *door.parent.relative_to(CORE).parts))
        for door in CORE.rglob("__init__.py")
    }
    for line, name in imports_of(file):
        assert not name.startswith("."), f"{file}:{line}: write the import in full"
        assert name not in packages, f"{file}:{line}: import the file that defines it, not {name}"


@each_file
def test_the_core_knows_no_engine(file):
    for line, name in imports_of(file):
        assert name.split(".")[0] not in OUTSIDE, f"{file}:{line}: ai_core must not know {name}"


@each_file
def test_time_and_chance_are_handed_in(file):
    for line, name in imports_of(file):
        assert name.split(".")[0] not in HANDED_IN, (
            f"{file}:{line}: {name}; take a Clock, a stopwatch or a random generator instead"
        )
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert not called.startswith(("np.random.", "numpy.random.")), (
                f"{file}:{node.lineno}: {called}(); take a random generator instead"
            )
