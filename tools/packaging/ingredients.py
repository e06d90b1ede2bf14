"""What a private Python is made of, fetched once into the cache: Debian's CPython and NumPy's wheel.

Why Debian's: it is built with a shared library, optimised by profile, patched for security, its
licences lie beside it, and it is the same whatever Python the machine of the builder has. Of the
releases that can be had with Python 3.11 or newer, bookworm's needs the oldest libc.
Rejected: copying the running interpreter (another on each machine, most without optimisation,
needing the builder's libc); portable builds, which no package registry carries.
"""
from __future__ import annotations

import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.debian_packages import fetch_without_dependencies
from tools.processes import check, run
from tools.progress import Step, step

SUITE = "bookworm"
"""Debian release: the oldest with a Python that the bridge can use, so the oldest libc."""

VERSION = "3.11"
"""Python of that release; the names of its files carry it."""

PACKAGES = (
    f"libpython{VERSION}", f"libpython{VERSION}-minimal", f"libpython{VERSION}-stdlib", f"python{VERSION}-minimal",
    "libexpat1", "libffi8", "zlib1g",
)
_DOWNLOAD_LIMIT_S = 600.0
# What NumPy's wheels for Linux are named by; pip takes the first that there is.
_WHEEL_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64")


@dataclass(frozen=True)
class Ingredients:
    """A folder with ``debian/`` (usr, lib), ``site/`` (NumPy), and what they are."""

    folder: Path
    numpy_version: str

    @property
    def debian(self) -> Path:
        return self.folder / "debian"

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def packages(self) -> list[str]:
        """Names and versions of the packages, such as ``zlib1g_1.2.13``."""
        noted = contents_note(self.folder)["packages"]
        assert isinstance(noted, list)
        return noted

    @property
    def interpreter(self) -> Path:
        """A program with the same Python; used to compile its modules, not shipped."""
        return self.debian / "usr/bin" / f"python{VERSION}"


def gather(root: Path, python: Path) -> Ingredients:
    """Return the ingredients, fetched if they are not in the cache yet.

    Args:
        root: this repository, whose pyproject.toml pins NumPy.
        python: a Python with pip.

    Raises:
        StepFailed: if a package cannot be had.
    """
    numpy_version = pinned_numpy((root / "pyproject.toml").read_text())
    folder = cache_folder() / f"private_python{VERSION}_{SUITE}_numpy{numpy_version}"
    if not is_whole(folder):
        with step(f"fetching CPython {VERSION} and NumPy {numpy_version} into {folder}") as progress:
            fill_whole(folder, lambda part: _fill(part, python, numpy_version, progress))
    return Ingredients(folder, numpy_version)


def pinned_numpy(pyproject: str) -> str:
    """Return the version of NumPy that everything is tested with."""
    pinned = tomllib.loads(pyproject)["dependency-groups"]["dev"]
    return next(one.partition("==")[2] for one in pinned if one.startswith("numpy=="))


def _fill(part: Path, python: Path, numpy_version: str, progress: Step) -> dict[str, object]:
    (part / "debian").mkdir()
    packages = fetch_without_dependencies(
        PACKAGES, part / "debian", progress, suite=SUITE, with_licences=True
    )
    progress.note(f"downloading NumPy {numpy_version}")
    wanted = [word for name in _WHEEL_PLATFORMS for word in ("--platform", name)]
    finished = run(
        [python, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
         "--python-version", VERSION, "--implementation", "cp", *wanted, "--dest", part, f"numpy=={numpy_version}"],
        timeout_s=_DOWNLOAD_LIMIT_S, on_line=progress.note,
    )
    check("downloading NumPy", "check the network and pip's set-up, then try again", finished)
    wheel = next(part.glob("numpy-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(part / "site")
    wheel.unlink()
    return {"packages": sorted([*(name.removesuffix("_amd64.deb") for name in packages), wheel.stem])}
