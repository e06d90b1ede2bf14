"""Compiled loops, and the switch that turns them off.

A hot loop is a module ``*_loops.py`` in Cython's pure-Python mode. Where it was compiled,
its library lies beside it and Python imports that, or, where one copy of the sources serves
several platforms, in the same folders below another entry of ``sys.path``, which holds the
libraries of one platform and comes first; elsewhere, and everywhere with
``AI_CORE_PURE_PYTHON=1`` in the environment, the same file is interpreted, which needs the
package ``cython`` and is some hundred times slower. Results are the same to the last bit.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

__all__ = ["SWITCH", "compiled", "is_switched_off", "loop_modules"]

SWITCH = "AI_CORE_PURE_PYTHON"
"""Environment variable; any value but "" and "0" turns all compiled loops off."""

CYTHON_NAMES = (
    "NULL", "Py_ssize_t", "annotation_typing", "bint", "cast", "ccall", "cclass", "cfunc", "compiled",
    "const", "declare", "double", "exceptval", "final", "float", "inline", "int", "longlong", "no_gc", "nogil", "short",
    "struct", "uchar", "uint", "ulonglong", "ushort", "void")
"""Names of the package cython that loops use."""

is_switched_off = os.environ.get(SWITCH, "") not in ("", "0")
"""Whether all loops are interpreted in this process; the environment is read once."""


def loop_modules() -> tuple[str, ...]:
    """Return the full names of all modules of hot loops, compiled or not.

    Cost: about 5 ms, a look into every folder of the package.
    """
    root = Path(__file__).parent
    files = {file.relative_to(root.parent).with_name(file.name.split(".")[0]) for file in root.rglob("*_loops.*")}
    return tuple(sorted(".".join(file.parts) for file in files if "__pycache__" not in file.parts))


def compiled() -> tuple[str, ...]:
    """Return those of ``loop_modules`` that are compiled, without importing them; none if they are turned off."""
    folder = Path(__file__).parents[1]
    specs = [
        (name, _Loops.spec_of(name, [str(folder.joinpath(*name.split(".")[:-1]))])) for name in loop_modules()]
    return tuple([name for name, spec in specs if spec is not None and not _is_interpreted(spec)])


def _is_interpreted(spec: ModuleSpec) -> bool:
    return isinstance(spec.loader, SourceFileLoader)


def _what_is_missing() -> str:
    """Return what the package cython lacks for interpreted loops, after its name; "" for nothing."""
    try:
        cython = import_module("cython")
    except ModuleNotFoundError as error:
        if error.name != "cython":
            raise
        return ", which is not installed"
    lacking = [name for name in CYTHON_NAMES if not hasattr(cython, name)]
    if not lacking:
        return ""
    file = getattr(cython, "__file__", None) or "a module without a file"
    return f", but {file} is another one, or too old: it lacks {', '.join(lacking[:3])}; rename or remove it"


class _Loops:
    """Finds the libraries of loops, those in the folders of this platform first, or their sources."""

    roots = tuple(
        entry for entry in map(Path, sys.path)
        if (entry / "ai_core").is_dir() and not (entry / "ai_core" / "__init__.py").exists()
    )

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None or not (name.startswith("ai_core.") and name.endswith(("_loops", "._memoryviews"))):
            return None
        spec = cls.spec_of(name, path)
        if spec is not None and _is_interpreted(spec) and (missing := _what_is_missing()):
            why = f"{SWITCH} is set" if is_switched_off else "it is not compiled"
            also = f", or unset {SWITCH}" if is_switched_off else ""
            raise ModuleNotFoundError(
                f"{name} is interpreted, because {why}, which needs the package cython{missing};"
                f" run 'pip install cython'{also}", name="cython")
        return spec

    @classmethod
    def spec_of(cls, name: str, path: Sequence[str]) -> ModuleSpec | None:
        if is_switched_off:
            return FileFinder(next(iter(path)), (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)
        folders = [str(root.joinpath(*name.split(".")[:-1])) for root in cls.roots]
        return PathFinder.find_spec(name, [*folders, *path])


sys.meta_path.insert(0, _Loops)
