"""The parts of the test run, and their closing table."""
from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.godot_engine import GodotEngine
from tools.progress import StepFailed

# Started by other parts, or only when asked for.
_NOT_UNIT = ("in_godot", "addon", "benchmarks", "platforms")
# Files are shared out whole to as many processes as there are processors: what a file sets up
# once stays so. More than four gain nothing: a few long files decide.
_AT_ONCE = ["-n", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile"]
# What takes long is named at the end, so that a slow machine shows where its time went.
_SLOWEST = ["--durations", "12", "--durations-min", "5"]


@dataclass(frozen=True)
class Part:
    """One part: its command, whether it needs Godot and the bridge, and whether compiled loops are turned off.

    A part that ``is_for_others`` builds and tests for another platform, and runs only when it is named.
    """

    name: str
    what: str
    command: Callable[[Path, Path], list[str]]
    needs_godot: bool = False
    is_interpreted: bool = False
    is_for_others: bool = False


def _pytest(python: Path, *arguments: str) -> list[str]:
    return [str(python), "-m", "pytest", "-q", *arguments]


def _unit(python: Path, root: Path) -> list[str]:
    return _pytest(python, *_AT_ONCE, *_SLOWEST, "tests", *(f"--ignore=tests/{name}" for name in _NOT_UNIT))


def _interpreted(python: Path, root: Path) -> list[str]:
    return _pytest(python, *_AT_ONCE, "-m", "not slow", "tests/paths", "tests/senses", "tests/squads")


PARTS = (
    Part("lint", "ruff over everything", lambda python, root: [str(python), "-m", "ruff", "check", "."]),
    Part("types", "mypy --strict over ai_core", lambda python, root: [str(python), "-m", "mypy"]),
    Part("unit", "tests without Godot", _unit),
    Part("interpreted", "quick tests of what has compiled loops, without them", _interpreted, is_interpreted=True),
    Part(
        "in_godot", "tests inside headless Godot",
        lambda python, root: _pytest(python, *_AT_ONCE, *_SLOWEST, "tests/in_godot"), needs_godot=True,
    ),
    Part(
        "addon", "starts Godot as a user would",
        lambda python, root: _pytest(python, *_AT_ONCE, *_SLOWEST, "tests/addon"), needs_godot=True,
    ),
    Part(
        "stand_in", "loader, bridge and loops of Windows, by wine, if its parts are in the cache",
        lambda python, root: _pytest(python, "-rs", "-m", "not slow", "tests/platforms/test_windows.py"),
        needs_godot=True,
    ),
    Part(
        "windows", "the loader, the bridge, the library and Godot itself, if it was built, on Windows, by wine",
        lambda python, root: _pytest(
            python, "-rs", "tests/platforms/test_windows.py", "tests/platforms/test_windows_godot.py"),
        needs_godot=True, is_for_others=True,
    ),
    Part(
        "arm64", "the loader, the bridge and compiled loops on Linux on ARM, by qemu",
        lambda python, root: _pytest(python, "-rs", "tests/platforms/test_arm64.py"),
        needs_godot=True, is_for_others=True,
    ),
    Part(
        "macos", "what is built for macOS, read and not run",
        lambda python, root: _pytest(python, "-rs", "tests/platforms/test_macos.py"),
        needs_godot=True, is_for_others=True,
    ),
)


def part_names() -> str:
    """Return the names of all parts, for people."""
    return ", ".join(part.name for part in PARTS)


def chosen(names: Sequence[str]) -> list[Part]:
    """Return the named parts in the order of PARTS; for no name or "all", all that are for this platform.

    Raises:
        StepFailed: if there is no part of such a name.
    """
    known = {part.name for part in PARTS}
    for name in names:
        if name not in known | {"all"}:
            raise StepFailed("choosing tests", f"there is no part {name!r}", f"use some of: {part_names()}, all")
    is_all = not names or "all" in names
    return [part for part in PARTS if part.name in names or (is_all and not part.is_for_others)]


def run_parts(parts: Sequence[Part], root: Path, python: Path, engine: GodotEngine | None) -> int:
    """Run parts to their ends, print a table, return 0 if all passed, else 1.

    Args:
        parts: what to run.
        root: the repository.
        python: the environment's Python.
        engine: needed by parts that start Godot; they find it as $GODOT.
    """
    environment = dict(os.environ)
    if engine is not None:
        environment = {**engine.environment(), "GODOT": str(engine.program)}
    rows = []
    for part in parts:
        print(f"== {part.name}: {part.what}", flush=True)
        started = time.monotonic()
        switches = {"AI_CORE_PURE_PYTHON": "1"} if part.is_interpreted else {}
        code = subprocess.run(
            part.command(python, root), cwd=root, env={**environment, **switches}, check=False).returncode
        rows.append((part.name, code, time.monotonic() - started))
    print(table(rows), flush=True)
    return 1 if any(code for _, code, _ in rows) else 0


def table(rows: Sequence[tuple[str, int, float]]) -> str:
    """Return the closing table of (name, exit status, seconds)."""
    lines = ["", "part        result  seconds"]
    for name, code, seconds in rows:
        lines.append(f"{name:<11} {'passed' if code == 0 else 'FAILED':<7} {seconds:7.1f}")
    return "\n".join(lines)
