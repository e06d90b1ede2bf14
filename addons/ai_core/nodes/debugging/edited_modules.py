"""Python that nodes name: imported once it is sure that it may hold what is named, read again when it was edited.

A scene may come from anywhere, and importing a module runs it: so its file is looked at first.

The rule of editing: a module that a node names is read again, if its file was edited since, when the node's definition
is made: as its scene is loaded, as it is added, or at ``rebuild()``. What is under way ends with the code that it began
with. A module that declares nodes is not read again: its classes are the engine's until the game ends. Games
that are exported without debugging look at no files.
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
    """Return a module as its file says now.

    Raises:
        ImportError: if there is none. An edited one with a mistake is reported, and stays as it was.
    """
    module = importlib.import_module(name)
    stamp = stamp_of(name)
    if _read.get(name, stamp) != stamp and not _declares_nodes(module):
        try:
            importlib.reload(module)
        except Exception as error:
            report_exception(error, f"reading '{name}' again, which was edited; what it had stays")
    _read[name] = stamp
    return module


def stamp_of(name: str) -> Stamp:
    """Return what changes when the file of a module is edited; the same for ever in a release build.

    The module is not imported for it.
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
    """Return where a module is found, None if there is none. It is not imported, nor are the packages around it."""
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
    """Return False if a module that is not imported says in its source that it has no class of this name.

    Only what its outermost statements bind counts: classes that extend something, assignments, imports. True
    if there is no source, or none that can be read: importing it says what is wrong.
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
        except KeyError:             # a folder that is no package asks for the package around it, which is not imported
            spec = ModuleSpec(name, None, is_package=True)
            folders = (Path(place) / name.rpartition(".")[2] for place in places or ())
            spec.submodule_search_locations = [str(folder) for folder in folders if folder.is_dir()]
        if spec is not None:
            return spec
    return None


def _bound_by(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of classes that extend something, and other names that statements bind; "*" for any."""
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
