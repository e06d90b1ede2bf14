"""The parts of the test run, and their closing table."""
from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.preparation import Prepared

# Started by other parts, or only when asked for.
_NOT_UNIT = ("in_godot", "addon", "benchmarks")


@dataclass(frozen=True)
class Part:
    """One part: its command, and whether it needs Godot and the bridge."""

    name: str
    what: str
    command: Callable[[Path, Path], list[str]]
    needs_godot: bool = False


def _pytest(python: Path, *arguments: str) -> list[str]:
    return [str(python), "-m", "pytest", "-q", *arguments]


def _unit(python: Path, root: Path) -> list[str]:
    return _pytest(python, "tests", *(f"--ignore=tests/{name}" for name in _NOT_UNIT))


PARTS = (
    Part("lint", "ruff over everything", lambda python, root: [str(python), "-m", "ruff", "check", "."]),
    Part("types", "mypy --strict over ai_core", lambda python, root: [str(python), "-m", "mypy"]),
    Part("unit", "tests without Godot", _unit),
    Part(
        "in_godot", "tests inside headless Godot",
        lambda python, root: _pytest(python, "tests/in_godot", "--godot-project", str(root)), needs_godot=True,
    ),
    Part(
        "addon", "starts Godot as a user would",
        lambda python, root: _pytest(python, "tests/addon"), needs_godot=True,
    ),
)


def part_names() -> list[str]:
    """Return the names that ``test`` takes, without "all"."""
    return [part.name for part in PARTS]


def run_parts(names: Sequence[str], root: Path, python: Path, prepared: Prepared | None) -> int:
    """Run the named parts to their ends, print a table, return 0 if all passed, else 1.

    Args:
        names: parts to run, in the order of PARTS.
        root: the repository.
        python: the environment's Python.
        prepared: needed by parts that start Godot.
    """
    environment = dict(os.environ)
    if prepared is not None:
        environment = prepared.engine.environment()
        environment["AI_CORE_GODOT_PREFIX"] = str(prepared.engine.prefix or "")
    rows = []
    for part in PARTS:
        if part.name not in names:
            continue
        print(f"== {part.name}: {part.what}", flush=True)
        started = time.monotonic()
        code = subprocess.run(part.command(python, root), cwd=root, env=environment, check=False).returncode
        rows.append((part.name, code, time.monotonic() - started))
    print(table(rows), flush=True)
    return 1 if any(code for _, code, _ in rows) else 0


def table(rows: Sequence[tuple[str, int, float]]) -> str:
    """Return the closing table of (name, exit status, seconds)."""
    lines = ["", "part        result  seconds"]
    for name, code, seconds in rows:
        lines.append(f"{name:<11} {'passed' if code == 0 else 'FAILED':<7} {seconds:7.1f}")
    return "\n".join(lines)
