"""Installing the libraries that suites compare with: the group ``bench`` of pyproject.toml."""
from __future__ import annotations

import tomllib
from pathlib import Path

from tools.processes import check, run
from tools.progress import step

_INSTALL_LIMIT_S = 600.0


def pinned_peers(pyproject: str) -> list[str]:
    """Return the requirements of the group in a pyproject.toml's text."""
    return list(tomllib.loads(pyproject)["dependency-groups"]["bench"])


def install(root: Path, python: Path) -> None:
    """Install the peers into the environment of ``python``.

    Raises:
        StepFailed: if one cannot be installed.
    """
    wanted = pinned_peers((root / "pyproject.toml").read_text())
    with step("installing peers") as progress:
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *wanted]
        finished = run(command, timeout_s=_INSTALL_LIMIT_S, on_line=progress.note)
        check("installing peers", "check the network and pip's set-up, then try again", finished)
