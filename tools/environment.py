"""The repository's virtual environment: .venv with the versions that pyproject.toml pins."""
from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.debian_packages import fetch_without_dependencies
from tools.processes import check, run
from tools.progress import Step, StepFailed, step

# A slow line and a compiler run where no wheel fits.
_INSTALL_LIMIT_S = 1200.0
_REMEDY = "check the network and pip's set-up (does `python3 -m pip download numpy` work?), then try again"


def ensure_environment(root: Path) -> Path:
    """Make or bring up to date ``root/.venv`` and return its Python.

    Done already: milliseconds. An environment that somebody else made is kept and
    brought up to date; one whose Python no longer runs is made anew.

    Raises:
        StepFailed: if the environment cannot be made or a package cannot be installed.
    """
    folder = root / ".venv"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "ai_core_stamp"
    digest = requirements_digest((root / "pyproject.toml").read_text(), root)
    if python.exists() and stamp.is_file() and stamp.read_text() == digest:
        return python
    with step("making the Python environment .venv") as progress:
        if not _runs(python):
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, python, progress)
        _install(root, python, progress)
    stamp.write_text(digest)
    return python


def pinned_requirements(pyproject: str) -> list[str]:
    """Return the pinned development requirements in a pyproject.toml's text."""
    requirements = tomllib.loads(pyproject)["dependency-groups"]["dev"]
    for requirement in requirements:
        if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+(; python_version .*)?", requirement):
            raise ValueError(f"dependency-groups.dev must pin each version with ==, got {requirement!r}")
    return list(requirements)


def group_requirements(pyproject: str, group: str) -> list[str]:
    """Return the requirements of an optional dependency group in a pyproject.toml's text."""
    return list(tomllib.loads(pyproject)["dependency-groups"][group])


def install_group(root: Path, python: Path, group: str) -> None:
    """Install an optional dependency group into the environment of ``python``.

    Raises:
        StepFailed: if a package of it cannot be installed.
    """
    wanted = group_requirements((root / "pyproject.toml").read_text(), group)
    with step(f"installing the packages of the group {group}") as progress:
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *wanted]
        check(f"installing the group {group}", _REMEDY, run(
            command, timeout_s=_INSTALL_LIMIT_S, on_line=progress.note))


def requirements_digest(pyproject: str, root: Path) -> str:
    """Return a hash of everything in pyproject.toml that decides what is installed, and where."""
    settings = tomllib.loads(pyproject)
    deciding = {
        "root": str(root), "pinned": pinned_requirements(pyproject), "project": settings["project"],
        "build": settings["build-system"], "packages": settings["tool"]["setuptools"],
    }
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def _runs(python: Path) -> bool:
    if not python.exists():
        return False
    finished = run([python, "-c", "import sys; assert sys.version_info >= (3, 11); import pip"], timeout_s=60.0)
    return finished.succeeded


def _make(folder: Path, python: Path, progress: Step) -> None:
    has_pip = run([sys.executable, "-c", "import venv, ensurepip; ensurepip.version()"], timeout_s=30.0).succeeded
    options = [] if has_pip else ["--without-pip"]
    finished = run(
        [sys.executable, "-m", "venv", *options, folder], timeout_s=_INSTALL_LIMIT_S, on_line=progress.note
    )
    remedy = f"give {sys.executable} its venv module (Debian: apt-get install python3-venv), or use another Python"
    check("making the Python environment", remedy, finished)
    if not has_pip:
        _install_pip(python, progress)


def _install_pip(python: Path, progress: Step) -> None:
    """Put pip into an environment whose Python came without it, as Debian's does without python3-venv."""
    package, wheels = "python3-pip-whl", cache_folder() / "pip_wheel"
    try:
        if not is_whole(wheels):
            fill_whole(
                wheels, lambda part: {"packages": fetch_without_dependencies([package], part, progress)}
            )
    except StepFailed as failure:
        raise StepFailed(
            "getting pip", f"{sys.executable} has no ensurepip\n{failure.step}: {failure.why}",
            "apt-get install python3-venv, or use another Python, then try again",
        ) from None
    wheel = next(wheels.glob("usr/share/python-wheels/pip-*.whl"))
    # A wheel is a folder of modules in one file: pip can install itself from there.
    finished = run([python, f"{wheel}/pip", "install", "--no-index", wheel], timeout_s=_INSTALL_LIMIT_S)
    check("installing pip", "apt-get install python3-venv, remove .venv, then try again", finished)


def _install(root: Path, python: Path, progress: Step) -> None:
    requirements = pinned_requirements((root / "pyproject.toml").read_text())
    quiet = ["--disable-pip-version-check", "--no-input"]
    pip = [str(python), "-m", "pip", "install", *quiet]
    finished = run([*pip, *requirements], timeout_s=_INSTALL_LIMIT_S, on_line=progress.note)
    check("installing the pinned packages", _REMEDY, finished)
    # Without kernels: those of tools/build_bridge.py must not be replaced by setup.py's.
    ours = [one for folder in (root, root / "tools" / "pytest_godot_headless") for one in ("--editable", str(folder))]
    finished = run(
        [*pip, "--no-deps", "--no-build-isolation", *ours],
        timeout_s=_INSTALL_LIMIT_S, on_line=progress.note, env={**os.environ, "AI_CORE_PURE_PYTHON": "1"},
    )
    check("installing this repository into .venv", "read pip's output above", finished)
