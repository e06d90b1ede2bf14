"""Values of a scene in saves: engine values as numbers, nodes as paths."""
from __future__ import annotations

import math
from posixpath import dirname, join, normpath
from typing import Any

from addons.ai_core.bridge.gd import (
    AABB,
    Basis,
    Color,
    GDObject,
    NodePath,
    Plane,
    Projection,
    Quaternion,
    Rect2,
    Rect2i,
    StringName,
    Transform2D,
    Transform3D,
    Vector2,
    Vector2i,
    Vector3,
    Vector3i,
    Vector4,
    Vector4i,
    variant_type_of,
)
from ai_core.saving.fields import LARGEST_FLOAT32, StateError, brief
from ai_core.saving.values import ODD_FLOATS, SavedValues

FLOATS = (AABB, Basis, Color, Plane, Projection, Quaternion, Rect2, Transform2D, Transform3D, Vector2, Vector3, Vector4)
WHOLES = (Rect2i, Vector2i, Vector3i, Vector4i)
TEXTS = (NodePath, StringName)
COUNTS = {cls: len(cls()) for cls in FLOATS + WHOLES}
"""Numbers in a value of each class (count)."""

MOST_INT32 = (1 << 31) - 1
"""Largest integer component of an engine value (no unit)."""

KINDS: dict[str, Any] = {cls.__name__: cls for cls in FLOATS + WHOLES + TEXTS}


class SceneValues(SavedValues):
    """Converts data of scripts: numbers, strings, lists, dictionaries, engine values and nodes.

    A node is saved as its path from the scheduler, and is looked up when the save is loaded; a freed node, and one
    outside the tree, is saved as null, and one that a load leaves out is null. Resources and callables are refused.

    Args:
        scheduler: the node from which paths begin.

    Attributes:
        outside: names of nodes outside the tree that were saved as null, until the list is cleared.
    """

    KEPT = "plain data or a node"
    REMEDY = "store a name, or the resource_path of a saved Resource, and get the object by it when it is used"

    def __init__(self, scheduler: Any) -> None:
        super().__init__()
        self._scheduler = scheduler
        self.outside: dict[str, None] = {}

    def engine_value(self, plain: object, place: str) -> Any:
        """Return the value for a script from the data of ``plain``.

        Raises:
            StateError: if the data is invalid, or the engine has no type for it; names the place.
        """
        value = self.value(plain, place)
        try:
            variant_type_of(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise StateError(f"{place!r} has a value without a type in the engine: {error}") from None
        return value

    def encoded(self, value: object) -> tuple[str, object] | None:
        kind = type(value)
        if kind in COUNTS:
            return kind.__name__, [one if math.isfinite(one) else repr(one) for one in value]
        if kind in TEXTS:
            return kind.__name__, str(value)
        if isinstance(value, GDObject):
            if not value.is_valid():
                return "freed", None
            if value.is_class("Node"):
                if value.is_inside_tree():
                    return "node", path_of(self._scheduler, value)
                self.outside[str(value.get_name())] = None
                return "freed", None        # no path leads to a node in a pool
        return None

    def decoded(self, kind: str, of: Any, place: str | None, depth: int) -> Any:
        if kind == "freed":
            self.left_out += 1
            return None
        if kind == "node" and type(of) is str:
            node = self._scheduler.get_node_or_null(of)
            if node is None:
                leave_out(self._scheduler, of, place)
                self.left_out += 1
            return node
        cls = KINDS.get(kind)
        if cls is None:
            return super().decoded(kind, of, place, depth)
        if cls in TEXTS and type(of) is str:
            return cls(of)
        numbers = [ODD_FLOATS.get(one) if isinstance(one, str) else one for one in of] if isinstance(of, list) else []
        whole = cls in WHOLES
        good = all(_fits(one, whole) for one in numbers)
        if cls in TEXTS or not good or len(numbers) != COUNTS[cls]:
            raise StateError(f"{place!r} must have the numbers of a {kind}, got {brief(of)}")
        return cls(*((int(one) if whole else float(one)) for one in numbers))


def _fits(number: object, whole: bool) -> bool:
    """Return whether an engine value can hold a number; infinity and NaN were saved as names."""
    if type(number) is int:
        return abs(number) <= (MOST_INT32 + (number < 0) if whole else LARGEST_FLOAT32)
    if type(number) is not float:
        return False
    if whole:
        return number.is_integer() and abs(number) <= MOST_INT32
    return not math.isfinite(number) or abs(number) <= LARGEST_FLOAT32


def path_of(scheduler: Any, node: Any) -> str:
    """Return the path of a node from its scheduler, which is the same after the scene was loaded again.

    "Bob" is below the scheduler, "../Bob" beside it. If the scheduler was freed, the name of the node.
    """
    return str(scheduler.get_path_to(node) if scheduler.is_valid() else node.get_name())


def leave_out(scheduler: Any, path: str, place: object, was: str = "node") -> None:
    """Note that the load under way leaves out what was saved of a node; for one that is missing, or another now.

    Args:
        scheduler: the node from which the path begins.
        path: path of the node.
        place: its place in the saved state, for the message.
        was: what was saved of it, for the message: "SquadMember".

    Raises:
        StateError: unless the load leaves out missing nodes; the message has both remedies.
    """
    top = getattr(scheduler, "top", None)
    missing = None if top is None else top.leaving_out
    start = scheduler if top is None else top
    if start is not scheduler:
        path = normpath(join(path_of(start, scheduler), path))
    while (above := dirname(path)) and start.get_node_or_null(above) is None:
        path = above            # the character is missing, not only this part of it
    node = start.get_node_or_null(path)
    why, remedy = ("is not in the scene", "add it under this name") if node is None else (
        f"is in the scene, but is no {was}: it is of the class {node.get_class()}", "restore it")
    if missing is None:
        raise StateError(
            f"{place!r} is of the node {path!r}, which {why}; {remedy} before loading, or leave it out with"
            " load_state(state, true) of the AIScheduler")
    missing.setdefault(path, why)
