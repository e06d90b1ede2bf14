"""What a private Python is made of, fetched once into the cache: Debian's CPython and NumPy.

NumPy comes as its wheel, or, for a small package, built from its own sources without OpenBLAS, which is
28 MB of the wheel: its linear algebra is then NumPy's own copy of LAPACK, whole, slower on large matrices.

Why Debian's: it is built with a shared library, optimised by profile, patched for security, its
licences lie beside it, and it is the same whatever Python the machine of the builder has. Of the
releases that can be had with Python 3.11 or newer, bookworm's needs the oldest libc.
Rejected: copying the running interpreter (another on each machine, most without optimisation,
needing the builder's libc); portable builds, which no package registry carries.
"""
from __future__ import annotations

import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.debian_packages import fetch_without_dependencies
from tools.processes import Finished, check, run
from tools.progress import Step, StepFailed, step
from tools.targets import TARGETS, Target

SUITE = "bookworm"
"""Debian release: the oldest with a Python that the bridge can use, so the oldest libc."""

VERSION = "3.11"
"""Python of that release; the names of its files carry it."""

PACKAGES = (
    f"libpython{VERSION}", f"libpython{VERSION}-minimal", f"libpython{VERSION}-stdlib", f"python{VERSION}-minimal",
    "libexpat1", "libffi8", "zlib1g",
)
_DOWNLOAD_LIMIT_S = 600.0
# Building NumPy takes 8 minutes of a processor here, and more where others use it.
_BUILD_LIMIT_S = 3600.0
# A cached wheel may have been built with other settings, against a BLAS of the system.
_WITHOUT_BLAS = (
    "--no-cache-dir", "--no-binary", "numpy", "-Csetup-args=-Dblas=none", "-Csetup-args=-Dlapack=none",
    "-Csetup-args=-Dallow-noblas=true", "-Cinstall-args=--strip",
)
# What NumPy's wheels for Linux are named by; pip takes the first that there is.
_WHEEL_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17")
# Debian's names of processors, and those of wheels.
_PROCESSORS = {"linux.x86_64": ("amd64", "x86_64"), "linux.arm64": ("arm64", "aarch64")}
_COMPILE_LIMIT_S = 300.0


@dataclass(frozen=True)
class Ingredients:
    """A folder with ``debian/`` (usr, lib), ``site/`` (NumPy), and what they are.

    Args:
        folder: where they lie.
        target: the platform that they are for.
        runs_here: Debian's Python of the same version for this machine; it compiles modules, and is not shipped.
    """

    folder: Path
    target: Target
    runs_here: Path

    version = VERSION

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

    def run_python(self, arguments: Sequence[str | Path]) -> Finished:
        """Run the same Python on this machine, without what it finds in the environment."""
        libraries = [self.runs_here / "lib/x86_64-linux-gnu", self.runs_here / "usr/lib/x86_64-linux-gnu"]
        # Hash and environment are fixed: the order of sets, which bytecode contains, follows from them.
        environment = {
            "PYTHONHOME": str(self.runs_here / "usr"), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        }
        interpreter = self.runs_here / "usr/bin" / f"python{VERSION}"
        return run([interpreter, "-S", "-B", "-W", "ignore", *arguments], timeout_s=_COMPILE_LIMIT_S, env=environment)

    def licences(self) -> dict[str, Path]:
        """Return the texts of the licences of what is shipped, by the names of files."""
        return {**debian_licences(self.debian), **numpy_licences(self.site)}


def debian_licences(debian: Path) -> dict[str, Path]:
    """Return the texts for CPython and the libraries it needs, as Debian has them."""
    packages = {"cpython": f"libpython{VERSION}", "expat": "libexpat1", "libffi": "libffi8", "zlib": "zlib1g"}
    return {f"{name}.txt": debian / "usr/share/doc" / package / "copyright" for name, package in packages.items()}


def numpy_licences(site: Path) -> dict[str, Path]:
    """Return NumPy's texts; the first also holds those of OpenBLAS and of the Fortran library in numpy.libs."""
    [described] = site.glob("numpy-*.dist-info")
    files = sorted(path for path in (described / "licenses").rglob("*") if path.is_file())
    return {f"numpy/{file.relative_to(described / 'licenses')}": file for file in files}


def gather(
    root: Path, python: Path, *, is_small: bool = False, target: Target = TARGETS["linux.x86_64"]
) -> Ingredients:
    """Return the ingredients, fetched and built if they are not in the cache yet.

    Args:
        root: this repository, whose pyproject.toml pins NumPy.
        python: a Python with pip.
        is_small: NumPy without OpenBLAS; building it needs g++, and ten minutes. For this machine alone.
        target: one of the platforms with Linux.

    Raises:
        StepFailed: if a package cannot be had.
    """
    folder = place(root, is_small=is_small, target=target)
    numpy_version = pinned_numpy((root / "pyproject.toml").read_text())
    if not is_whole(folder):
        with step(f"fetching CPython {VERSION} and NumPy {numpy_version} for {target.name}") as progress:
            fill_whole(folder, lambda part: _fill(part, python, numpy_version, progress, is_small, target))
    built_here = TARGETS["linux.x86_64"]
    runs_here = folder / "debian" if target == built_here else gather(root, python).debian
    return Ingredients(folder, target, runs_here)


def place(root: Path, *, is_small: bool = False, target: Target = TARGETS["linux.x86_64"]) -> Path:
    """Return the folder in the cache in which the ingredients are kept, once they are there."""
    numpy_version = pinned_numpy((root / "pyproject.toml").read_text())
    way = "_without_blas" if is_small else ""
    if target.name != "linux.x86_64":
        way += f"_{target.name}"
    return cache_folder() / f"private_python{VERSION}_{SUITE}_numpy{numpy_version}{way}"


def pinned_numpy(pyproject: str) -> str:
    """Return the version of NumPy that everything is tested with; the first, where newer Pythons have another."""
    pinned = tomllib.loads(pyproject)["dependency-groups"]["dev"]
    requirement = next(one for one in pinned if one.startswith("numpy=="))
    return requirement.partition(";")[0].partition("==")[2]


def _fill(
    part: Path, python: Path, numpy_version: str, progress: Step, is_small: bool, target: Target
) -> dict[str, object]:
    debians, wheels = _PROCESSORS[target.name]
    (part / "debian").mkdir()
    packages = fetch_without_dependencies(
        PACKAGES, part / "debian", progress, suite=SUITE, with_licences=True,
        architecture=debians if debians != "amd64" else "",
    )
    if is_small:
        _build_numpy(part, python, numpy_version, progress)
    else:
        _download_numpy(part, python, numpy_version, progress, wheels)
    wheel = next(part.glob("numpy-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(part / "site")
    wheel.unlink()
    # NumPy keeps by whom it was built: the place is of this machine, and nobody's business.
    described = part / "site/numpy/__config__.py"
    described.write_text(described.read_text().replace(str(python), f"python{VERSION}"))
    made = f"{wheel.stem}_without_blas" if is_small else wheel.stem
    return {"packages": sorted([*(name.removesuffix(f"_{debians}.deb") for name in packages), made])}


def _download_numpy(part: Path, python: Path, numpy_version: str, progress: Step, processor: str) -> None:
    progress.note(f"downloading NumPy {numpy_version}")
    wanted = [word for name in _WHEEL_PLATFORMS for word in ("--platform", f"{name}_{processor}")]
    finished = run(
        [python, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
         "--python-version", VERSION, "--implementation", "cp", *wanted, "--dest", part, f"numpy=={numpy_version}"],
        timeout_s=_DOWNLOAD_LIMIT_S, on_line=progress.note,
    )
    check("downloading NumPy", "check the network and pip's set-up, then try again", finished)


def _build_numpy(part: Path, python: Path, numpy_version: str, progress: Step) -> None:
    asked = run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], timeout_s=60.0)
    if asked.output.strip() != VERSION:
        raise StepFailed(
            "building NumPy", f"the environment has Python {asked.output.strip()}, and what is shipped is {VERSION}",
            f"make .venv with Python {VERSION}, or package without --small",
        )
    progress.note(f"building NumPy {numpy_version} from its sources: ten minutes, once")
    finished = run(
        [python, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", *_WITHOUT_BLAS,
         "--wheel-dir", part, f"numpy=={numpy_version}"],
        timeout_s=_BUILD_LIMIT_S,
    )
    check("building NumPy", "install g++, or package without --small", finished)
