"""A private Python for games: laid out so that it runs wherever it is put, without what no game needs.

    lib/libpython3.11.so.1.0, libexpat.so.1 …   opened by the loader
    lib/python311.zip                           the standard library, compiled
    lib/python3.11/lib-dynload/                 its compiled modules
    lib/python3.11/numpy, numpy.libs            NumPy, and OpenBLAS unless it was built without
"""
from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.packaging.archive import pack
from tools.packaging.ingredients import VERSION, Ingredients
from tools.processes import Finished, check

LIBRARIES = (f"libpython{VERSION}.so.1.0", "libexpat.so.1", "libffi.so.8", "libz.so.1")
"""Under these names they ask for each other. libstdc++ and libgcc, which NumPy needs, are the
system's: an old one of ours, loaded first, would break graphics drivers that need a newer."""

# Modules of the standard library for tools, tests, terminals, servers and other programs' files.
_NO_GAME_NEEDS = {
    "__phello__", "crypt.py", "curses", "dbm", "distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "sqlite3",
    "test", "tkinter", "turtle.py", "turtledemo", "venv", "wsgiref", "xmlrpc", "LICENSE.txt",
}
# Compiled modules kept; what else there is belongs to the above, or needs libraries worth megabytes (OpenSSL).
_COMPILED = (
    "_asyncio", "_contextvars", "_ctypes", "_decimal", "_json", "_lsprof", "_multibytecodec", "_multiprocessing",
    "_posixshmem", "_queue", "_typing", "_zoneinfo", "mmap", "resource", "termios",
)
# Folders and files of NumPy for tests, for building other packages, and for editors.
_NUMPY_DEVELOPMENT = {"tests", "testing", "f2py", "distutils", "include", "_pyinstaller", "conftest.py", "_examples"}
_NUMPY_KINDS = {".py", ".so", ".pyd"}
_TEST_LIBRARIES = ("_simd.", "_multiarray_tests.", "_umath_tests.", "_rational_tests.", "_struct_ufunc_tests.",
                   "_operand_flag_tests.")

RunPython = Callable[[Sequence[str | Path]], Finished]
"""Runs a Python of the version that will read what is compiled, with these arguments."""


def lay_out(ingredients: Ingredients, target: Path) -> None:
    """Make a private Python in ``target``, an empty or missing folder."""
    modules = target / "lib" / f"python{VERSION}"
    modules.mkdir(parents=True)
    for name in LIBRARIES:
        [found] = [file for file in ingredients.debian.rglob(name) if file.is_file()]
        shutil.copy(found, target / "lib" / name)
    standard = ingredients.debian / "usr/lib" / f"python{VERSION}"
    for name in _COMPILED:
        [found] = (standard / "lib-dynload").glob(f"{name}.*.so")
        _copy(found, modules / "lib-dynload" / found.name)
    with tempfile.TemporaryDirectory() as scratch:
        compiled = Path(scratch) / "compiled"
        zipped = f"python{VERSION.replace('.', '')}.zip"
        compile_modules(
            ingredients.run_python, standard, compiled, zipped,
            lambda name: name.suffix == ".py" and not _NO_GAME_NEEDS & set(name.parts)
            and not name.parts[0].startswith("config-") and "lib-dynload" not in name.parts,
        )
        pack(compiled, target / "lib" / zipped)
    numpy = ingredients.site / "numpy"
    compile_modules(ingredients.run_python, numpy, modules / "numpy", "numpy", is_of_numpy_for_games)
    for library in _libraries_of_numpy(ingredients.site):
        _copy(library, modules / library.relative_to(ingredients.site))
    (target / ".gdignore").touch()


def compile_modules(
    run_python: RunPython, source: Path, target: Path, shown: str, wanted: Callable[[Path], bool], way: str = "alone"
) -> None:
    """Compile the modules below ``source`` whose relative names are wanted, into ``target``.

    Args:
        run_python: runs the Python that will read them.
        shown: the folder that tracebacks name.
        way: ``alone`` or ``beside``; see compile_modules.py.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for file in source.rglob("*.py"):
            name = file.relative_to(source)
            if wanted(name):
                _copy(file, Path(scratch) / name)
        script = Path(__file__).with_name("compile_modules.py")
        finished = run_python([script, scratch, target, shown, way])
        check(f"compiling the modules of {shown}", "read Python's output above", finished)


def is_of_numpy_for_games(name: Path) -> bool:
    """Return whether a game needs this file of NumPy, named relative to its folder."""
    is_ours = name.suffix in _NUMPY_KINDS and not name.name.startswith(_TEST_LIBRARIES)
    return is_ours and not _NUMPY_DEVELOPMENT & set(name.parts)


def _libraries_of_numpy(site: Path) -> list[Path]:
    """Return NumPy's libraries. Those in numpy.libs must never be stripped: they no longer load then."""
    own = [file for file in (site / "numpy").rglob("*.so") if is_of_numpy_for_games(file.relative_to(site))]
    return sorted([*own, *(site / "numpy.libs").glob("*")])


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
