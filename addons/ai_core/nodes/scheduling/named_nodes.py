"""How nodes find the nodes that their properties name, and why they do not."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from addons.ai_core.bridge.declarations import HINT_NODE_PATH_TYPES, exports_of


def named_node(node: Any, name: str) -> Any:
    """Return the node that a NodePath property names; None if it is empty, or names no node of its classes.

    The classes are those of the property's hint, ``node_path(...)``; without one, any node.
    """
    path = getattr(node, name)
    found = node.get_node_or_null(path) if path else None
    for kind in _kinds(type(node), name) if found is not None else ():
        if found.is_class(kind):
            return found
    return None


def why_not_named(node: Any, name: str) -> str:
    """Return why a NodePath property names no node of its classes; "" if it does, or is empty."""
    path = getattr(node, name)
    if not path or named_node(node, name) is not None:
        return ""
    found, wanted = node.get_node_or_null(path), " or ".join(_kinds(type(node), name))
    wrong = "is not in the scene" if found is None else f"is of class {found.get_class()}, not {wanted}"
    return f"{name} '{path}' {wrong}; choose a node of class {wanted}, or leave it empty"


@lru_cache(maxsize=128)
def _kinds(cls: type, name: str) -> tuple[str, ...]:
    hint = exports_of(cls)[name].hint
    return tuple(hint[1].split(",")) if hint is not None and hint[0] == HINT_NODE_PATH_TYPES else ("Node",)
