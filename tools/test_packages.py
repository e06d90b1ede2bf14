"""pytest and what tests use, for a Python of another platform."""
from __future__ import annotations

import shutil
from pathlib import Path

from tools.cache_folder import contents_note, fill_whole, is_whole
from tools.environment import pinned_requirements
from tools.processes import check, run
from tools.progress import step

_LIMIT_S = 600.0


def install_test_packages(root: Path, python: Path, site: Path, *platforms: str, version: str) -> None:
    """Put them into the folder ``site`` unless they are there already.

    Args:
        root: this repository, whose pyproject.toml pins them.
        python: a Python with pip.
        site: a folder of the cache.
        platforms: what wheels call the platform; pip takes the first that there is.
        version: of the other Python, such as "3.12".

    Raises:
        StepFailed: if a package cannot be had.
    """
    pinned = pinned_requirements((root / "pyproject.toml").read_text())
    wanted = [one for one in pinned if one.lower().startswith(("pytest", "hypothesis", "cython", "greenlet"))]
    if is_whole(site) and contents_note(site)["packages"] == wanted:
        return
    shutil.rmtree(site, ignore_errors=True)
    named = [word for platform in platforms for word in ("--platform", platform)]
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile", *named,
               "--python-version", version, "--only-binary=:all:"]

    def fill(part: Path) -> dict[str, object]:
        finished = run([*install, "--target", part, *wanted, "colorama"], timeout_s=_LIMIT_S)
        check("fetching pytest", "check the network and pip's set-up, then try again", finished)
        return {"packages": wanted}

    with step(f"fetching pytest for {platforms[0]}"):
        fill_whole(site, fill)
