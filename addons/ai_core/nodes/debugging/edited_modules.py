"""Python that is edited while a game runs: read again when it is next needed, where that is safe.

The rule: a module that a node names is read again, if its file was edited since, when the node's definition is
made: as its scene is loaded, as it is added, or at ``rebuild()``. What is under way ends with the code that it began
with. A module that declares nodes is not read again: its classes are the engine's until the game ends. Games
that are exported without debugging look at no files.
"""
from __future__ import annotations

import importlib
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
    """Return what changes when the file of a module is edited; the same for ever in a release build."""
    if not singleton("OS").call("is_debug_build"):
        return (0, 0)
    try:
        file = getattr(importlib.import_module(name), "__file__", None)
        facts = Path(file or "").stat()
    except (ImportError, OSError):
        return (0, 0)
    return (facts.st_mtime_ns, facts.st_size)


def _declares_nodes(module: ModuleType) -> bool:
    return any(isinstance(one, type) and one.__module__ == module.__name__ and "__declared__" in vars(one)
               for one in vars(module).values())
