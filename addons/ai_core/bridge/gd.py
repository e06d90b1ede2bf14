"""Everything a node written in Python needs, in one import.

- declare a class: ``@gdclass``, ``export``, ``signal``, ``@method``, ``@hook``, a base such as ``Node3D``;
- annotate: ``Vector3``, ``NodePath``, ``PackedVector3Array``, ``Variant``, …;
- reach the engine: ``construct``, ``singleton``, ``get_object``;
- report: ``report_error`` for wrong settings, ``report_exception`` for failures.
"""
from __future__ import annotations

from _bridge import (
    AABB,
    RID,
    Basis,
    Color,
    GDCallable,
    GDObject,
    GodotCallError,
    GodotFreedError,
    NodePath,
    Plane,
    Projection,
    Quaternion,
    Rect2,
    Rect2i,
    RefusedValue,
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
    cast_rays,
    construct,
    get_object,
    has_script_method,
    read_transforms,
    report_error,
    report_exception,
    singleton,
)

from addons.ai_core.bridge.declarations import export, hook, method, node_path, signal
from addons.ai_core.bridge.engine_types import (
    Node,
    Node2D,
    Node3D,
    PackedColorArray,
    PackedFloat32Array,
    PackedFloat64Array,
    PackedInt32Array,
    PackedInt64Array,
    PackedStringArray,
    PackedVector2Array,
    PackedVector3Array,
    PackedVector4Array,
    RefCounted,
    Resource,
    Variant,
)
from addons.ai_core.bridge.registration import gdclass, register, register_all

__all__ = [
    "AABB", "RID", "Basis", "Color", "GDCallable", "GDObject", "GodotCallError", "GodotFreedError",
    "Node", "Node2D", "Node3D", "NodePath", "PackedColorArray", "PackedFloat32Array",
    "PackedFloat64Array", "PackedInt32Array", "PackedInt64Array", "PackedStringArray",
    "PackedVector2Array", "PackedVector3Array", "PackedVector4Array", "Plane", "Projection",
    "Quaternion", "Rect2", "Rect2i", "RefCounted", "RefusedValue", "Resource", "Signal",
    "StringName", "Transform2D", "Transform3D", "Variant", "Vector2", "Vector2i", "Vector3",
    "Vector3i", "Vector4", "Vector4i", "cast_rays", "construct", "export", "gdclass", "get_object",
    "has_script_method", "hook", "method", "node_path", "read_transforms", "register",
    "register_all", "report_error", "report_exception", "signal", "singleton",
]
