"""Python modules named by nodes: checked before import, and reloaded after editing.

A scene may come from any source, and importing a module runs it, so the source file is checked first.

Rule for editing: a module named by a node is reloaded, if its file has changed, when the node builds its definition:
when its scene is loaded, when the node is added, or by ``rebuild()``. Running work ends with the code with which it
began. A module that declares nodes is not reloaded, because the engine keeps its classes until the game ends. Games
exported without debugging check no files.
"""
from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from addons.ai_core.bridge.gd import report_exception, singleton

Stamp = tuple[int, int]

_read: dict[str, Stamp] = {}


def current_module(name: str) -> ModuleType:
    """Return a module in the present version of its file.

    Raises:
        ImportError: if there is no such module. An error in an edited module is reported, and the module stays as it
            was.
    """
    module = importlib.import_module(name)
    stamp = stamp_of(name)
    if _read.get(name, stamp) != stamp and not _declares_nodes(module):
        try:
            importlib.reload(module)
        except Exception as error:
            report_exception(error, f"reloading '{name}', which was edited; the old version stays in use")
    _read[name] = stamp
    return module


def stamp_of(name: str) -> Stamp:
    """Return a stamp that changes when the file of a module is edited; constant in a release build.

    The module is not imported.
    """
    if not singleton("OS").call("is_debug_build"):
        return (0, 0)
    spec = spec_of(name)
    try:
        facts = Path((spec and spec.origin) or "").stat()
    except OSError:
        return (0, 0)
    return (facts.st_mtime_ns, facts.st_size)


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module, None if there is none. Neither the module nor its packages are imported."""
    places: list[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        if not parts[depth - 1].isidentifier() or (depth > 1 and places is None):
            return None
        full = ".".join(parts[:depth])
        loaded = sys.modules.get(full)
        spec = _found(full, places) if loaded is None else loaded.__spec__
        if spec is None:
            return None
        inside = spec.submodule_search_locations
        places = None if inside is None else list(inside)
    return spec


def may_have_class(spec: ModuleSpec, name: str) -> bool:
    """Return False if the source of a module that is not imported shows that it has no class of this name.

    Only names bound by its top-level statements count: derived classes, assignments, imports. True if the source is
    missing or invalid: importing the module reports the error.
    """
    get_source = getattr(spec.loader, "get_source", None)
    if spec.name in sys.modules or get_source is None:
        return True
    try:
        source = get_source(spec.name)
        bound = set(_bound_by(ast.parse(source).body)) if source is not None else {"*"}
    except (SyntaxError, ImportError):
        return True
    return not bound.isdisjoint((name, "*", "__getattr__"))


def _found(name: str, places: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, places)
        except KeyError:             # a namespace package asks for its parent package, which is not imported
            spec = ModuleSpec(name, None, is_package=True)
            folders = (Path(place) / name.rpartition(".")[2] for place in places or ())
            spec.submodule_search_locations = [str(folder) for folder in folders if folder.is_dir()]
        if spec is not None:
            return spec
    return None


def _bound_by(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of derived classes, and other names that statements bind; "*" for any name."""
    for one in statements:
        if isinstance(one, ast.ClassDef):
            yield from [one.name] if one.bases else []
        elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from [one.name] if one.name == "__getattr__" else []
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in one.names)
        elif isinstance(one, ast.Name):
            yield from [one.id] if isinstance(one.ctx, ast.Store) else []
        else:
            yield from _bound_by(ast.iter_child_nodes(one))


def _declares_nodes(module: ModuleType) -> bool:
    return any(isinstance(one, type) and one.__module__ == module.__name__ and "__declared__" in vars(one)
               for one in vars(module).values())
