"""Options and settings; known inside Godot too, where the same configuration file is read."""
from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest

DEFAULT_LIMIT_S = 60.0
"""Longest silence of Godot (s): while it starts and collects, or in one test. Longer for slow tests.

A shorter one that is set holds for tests alone: see ``godot_process.STARTING_LIMIT_S``.
"""


def declare_options(parser: pytest.Parser) -> None:
    """Make our options and settings known to pytest."""
    group = parser.getgroup("godot", "tests inside headless Godot")
    group.addoption("--godot", metavar="COMMAND", help="command line that starts Godot")
    group.addoption("--godot-project", metavar="FOLDER", help="folder with project.godot")
    parser.addini("godot_tests", "folders whose tests run inside Godot", type="paths", default=[])
    parser.addini(
        "godot_modules", type="linelist", default=[],
        help="modules that declare node classes, imported when Godot starts; classes declared later"
        " count as the editor's, which no game can make",
    )
    parser.addini("godot_project", "folder with project.godot; by default pytest's root folder")
    parser.addini("godot_command", "command line that starts Godot")
    parser.addini("godot_timeout_s", "longest silence of Godot, in seconds", default=str(DEFAULT_LIMIT_S))


def godot_folders(config: pytest.Config) -> list[Path]:
    """Return the folders whose tests run inside Godot."""
    return [Path(folder).resolve() for folder in config.getini("godot_tests")]


def godot_command(config: pytest.Config) -> list[str]:
    """Return how Godot is started: option, $PYTEST_GODOT, $GODOT, setting, then PATH.

    Raises:
        pytest.UsageError: if there is no Godot; says where it was looked for.
    """
    for line in (config.getoption("godot"), os.environ.get("PYTEST_GODOT")):
        if line:
            return shlex.split(line)
    program = os.environ.get("GODOT")
    if program:
        return [program]
    if config.getini("godot_command"):
        return shlex.split(config.getini("godot_command"))
    for name in ("godot4", "godot"):
        found = shutil.which(name)
        if found:
            return [found]
    raise pytest.UsageError(
        "no Godot for the tests inside it: neither --godot, $PYTEST_GODOT, $GODOT, the setting"
        " godot_command nor godot4 or godot on PATH; install Godot 4.4 or newer, or name it with --godot"
    )


def project_folder(config: pytest.Config) -> Path:
    """Return the folder of the Godot project.

    Raises:
        pytest.UsageError: if it holds no project.godot.
    """
    named = config.getoption("godot_project") or config.getini("godot_project") or ""
    folder = (config.rootpath / named).resolve()
    if not (folder / "project.godot").is_file():
        raise pytest.UsageError(f"{folder} holds no project.godot; name the project with --godot-project")
    return folder


def silence_limit_s(config: pytest.Config) -> float:
    """Return the longest silence that is taken for work (s).

    Raises:
        pytest.UsageError: if the setting is no number above 0.
    """
    text = config.getini("godot_timeout_s")
    try:
        limit_s = float(text)
    except ValueError:
        limit_s = 0.0
    if not 0 < limit_s < float("inf"):
        raise pytest.UsageError(f"godot_timeout_s must be a number of seconds above 0, got {text!r}")
    return limit_s
