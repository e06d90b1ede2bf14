"""Engine types of Python annotations."""
from __future__ import annotations

import inspect
from enum import IntEnum
from typing import Any, get_origin

import numpy as np
from _bridge import (
    AABB,
    RID,
    Basis,
    Color,
    EngineMember,
    GDCallable,
    GDObject,
    NodeObject,
    NodePath,
    PackedStringArray,
    PackedVector4Array,
    Plane,
    Projection,
    Quaternion,
    Rect2,
    Rect2i,
    Signal,
    StringName,
    Transform2D,
    Transform3D,
    Vector2,
    Vector2i,
    Vector3,
    Vector3i,
    Vector4,
    Vector4i,
    registered_classes,
    singleton,
)


class Variant:
    """Annotation: a value of any type."""


class ObjectIds:
    """Annotation of a parameter: an Array of objects, in Python bytes: their instance ids as int64.

    0 stands for a value that is not an object; ``numpy.frombuffer(ids, numpy.int64)`` reads them, and get_object(id)
    returns one object. Takes a twentieth of the time of an Array.
    """


class PackedInt32Array:
    """Annotation: whole numbers, an int32 array in Python."""


class PackedInt64Array:
    """Annotation: whole numbers, an int64 array in Python."""


class PackedFloat32Array:
    """Annotation: numbers, a float32 array in Python."""


class PackedFloat64Array:
    """Annotation: numbers, a float64 array in Python."""


class PackedVector2Array:
    """Annotation: points, a float32 array of shape (n, 2) in Python."""


class PackedVector3Array:
    """Annotation: points, a float32 array of shape (n, 3) in Python."""


class PackedColorArray:
    """Annotation: colors, a float32 array of shape (n, 4) in Python."""


OBJECT = 24

TYPE_NUMBERS: dict[object, int] = {
    Variant: 0, Any: 0, object: 0, inspect.Parameter.empty: 0,
    bool: 1, int: 2, float: 3, str: 4,
    Vector2: 5, Vector2i: 6, Rect2: 7, Rect2i: 8, Vector3: 9, Vector3i: 10, Transform2D: 11,
    Vector4: 12, Vector4i: 13, Plane: 14, Quaternion: 15, AABB: 16, Basis: 17, Transform3D: 18,
    Projection: 19, Color: 20, StringName: 21, NodePath: 22, RID: 23,
    GDObject: OBJECT, GDCallable: 25, Signal: 26, dict: 27, list: 28, ObjectIds: 28,
    bytes: 29, PackedInt32Array: 30, PackedInt64Array: 31, PackedFloat32Array: 32,
    PackedFloat64Array: 33, PackedStringArray: 34, PackedVector2Array: 35,
    PackedVector3Array: 36, PackedColorArray: 37, PackedVector4Array: 38,
}
"""Variant type of each annotation; the numbers are the engine's."""


class Node(NodeObject):
    """Base of nodes written in Python."""

    __engine_class__ = "Node"
    ON_ANY_SET = ""
    """Name of a method that is called in the tree after any export without an ``on_set`` was set; "" for none."""


class Node2D(Node):
    """Base of nodes with a position in 2D."""

    __engine_class__ = "Node2D"


class Node3D(Node):
    """Base of nodes with a position in 3D."""

    __engine_class__ = "Node3D"


class RefCounted(GDObject):
    """Base of objects that exist while they are referenced."""

    __engine_class__ = "RefCounted"
    ON_ANY_SET = ""


class Resource(RefCounted):
    """Base of data that is saved in .tres files and scenes."""

    __engine_class__ = "Resource"


BASES: dict[str, type[GDObject]] = {
    base.__engine_class__: base for base in (Node, Node2D, Node3D, RefCounted, Resource)}
"""Python base of each class of the engine that is in use."""


def add_engine_members() -> None:
    """Add the methods, properties, signals and constants of engine classes to their Python bases.

    They are attributes of the class, not found by ``__getattr__``, so that a node's own attributes stay fast.

    Cost: a few milliseconds, once.
    """
    for base in BASES.values():
        _add_members(base)


def engine_class(name: str) -> type[GDObject]:
    """Return the Python base of a class of the engine, such as "CharacterBody3D".

    Raises:
        LookupError: if the engine has no such class, or it is neither a Node nor a RefCounted, is abstract, or is
            declared in Python; import it from its module then.

    Cost: about 0.1 ms at the first call.
    """
    class_db = singleton("ClassDB")
    if not any(class_db.is_parent_class(name, root) for root in ("Node", "RefCounted")):
        raise LookupError(f"the engine has no class {name!r} that is a Node or RefCounted")
    if name in registered_classes() or not class_db.can_instantiate(name):
        raise LookupError(f"{name!r} is declared in Python, or abstract; extend another class")
    return _base_of(name)


def _base_of(name: str) -> type[GDObject]:
    if name not in BASES:
        parent = _base_of(singleton("ClassDB").get_parent_class(name))
        BASES[name] = base = type(name, (parent,), {
            "__engine_class__": name, "__doc__": f"Base of classes that extend {name}.", "__module__": __name__})
        _add_members(base)
    return BASES[name]


class EngineSignal:
    """A signal of an engine class, as an attribute of its Python base; an attribute of a node hides it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: GDObject | None, owner: type) -> Any:
        """Return the signal of a node."""
        return self if instance is None else Signal(instance, self.name)


def _add_members(base: type[GDObject]) -> None:
    class_db, native = singleton("ClassDB"), base.__engine_class__
    taken = set(dir(NodeObject if issubclass(base, NodeObject) else GDObject))
    inherited = {getattr(one, "__engine_class__", "") for one in base.__mro__[1:]}
    while native and native not in inherited:
        for is_method, listed in (
            (False, class_db.class_get_property_list(native, True)),
            (True, class_db.class_get_method_list(native, True)),
        ):
            for name in {one["name"] for one in listed} - taken:
                if name.isidentifier() and not name.startswith("_"):
                    setattr(base, name, EngineMember(name, is_method))
        for name in {one["name"] for one in class_db.class_get_signal_list(native, True)} - taken - set(base.__dict__):
            setattr(base, name, EngineSignal(name))
        for name in {*class_db.class_get_integer_constant_list(native, True)} - taken - set(base.__dict__):
            setattr(base, name, class_db.class_get_integer_constant(native, name))
        native = class_db.get_parent_class(native)


def describe(annotation: object, name: str, where: str) -> dict[str, Any]:
    """Return the engine's description of a slot with this annotation.

    Raises:
        TypeError: if the annotation has no engine type; raised at import, not in a game.
    """
    if isinstance(annotation, type) and issubclass(annotation, GDObject) and annotation is not GDObject:
        class_name = annotation.__dict__.get("__engine_class__", annotation.__name__)
        return {"name": name, "type": OBJECT, "class_name": class_name,
                "is_ref": issubclass(annotation, RefCounted)}
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return {"name": name, "type": 2}
    bare = get_origin(annotation) or annotation
    if bare is np.ndarray:
        raise TypeError(f"{where}: {name!r} is annotated as an array; use a packed array, such as PackedVector3Array")
    if bare not in TYPE_NUMBERS:
        raise TypeError(
            f"{where}: {name!r} is annotated {annotation!r}, which has no engine type;"
            " use a number, str, list, dict, an engine type, a node class or Variant"
        )
    return {"name": name, "type": TYPE_NUMBERS[bare], **({"as_ids": True} if bare is ObjectIds else {})}
