"""Everything a node written in Python needs, in one import.

- declare a class: ``@gdclass``, ``export``, ``signal``, ``@method``, ``@hook``, a base: ``Node3D``, or any class of
  the engine that is a node or counted by references, such as ``CharacterBody3D``;
- annotate: ``Vector3``, ``NodePath``, ``PackedVector3Array``, ``Variant``, …;
- reach the engine: ``construct``, ``singleton``, ``get_object``;
- report: ``report_error`` for wrong settings, ``report_warning``, ``report_exception`` for failures; ``refusing``
  for errors of the library.
"""
# ruff: noqa: F401 - other modules import these names from here
from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import TYPE_CHECKING

from _bridge import (
    AABB,
    ABOVE_MAP_M,
    RID,
    STANDS_WITHIN_M,
    AgentPath,
    Basis,
    Color,
    GDCallable,
    GDObject,
    GoalWithin,
    GodotCallError,
    GodotFreedError,
    HeldCourse,
    KeptCall,
    KeptHook,
    KeptNotice,
    NodePath,
    NodePlaces,
    NodeRow,
    Plane,
    Projection,
    Quaternion,
    RayBatch,
    Rect2,
    Rect2i,
    RefusedValue,
    Results,
    SafeVelocity,
    SharedCall,
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
    WalkRow,
    body_id,
    call_run,
    cast_through,
    construct,
    converts_strictly,
    delta_time_of,
    emit_each,
    engine_step,
    first_below,
    follow_path,
    forget_progress,
    get_object,
    has_child,
    has_entered,
    has_listeners,
    has_script_method,
    is_misuse,
    is_overridden,
    listeners_counter,
    moving_body_id,
    parent_of,
    physics_delta_time_of,
    place_of,
    pose_of,
    position_of,
    read_branch,
    read_transforms,
    read_velocities,
    report_error,
    report_exception,
    report_warning,
    right_on_map,
    see_between,
    singleton,
    slide_pairs,
    turns_first,
    values_of,
    variant_type_name,
    variant_type_of,
    vector3_of,
    walk_body,
    with_connections,
    without_turn,
)

from addons.ai_core.bridge.declarations import (
    editor_method,
    export,
    hook,
    method,
    node_path,
    refusing,
    signal,
)
from addons.ai_core.bridge.engine_types import (
    Node,
    Node2D,
    Node3D,
    ObjectIds,
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
    engine_class,
)
from addons.ai_core.bridge.in_editor import is_in_editor
from addons.ai_core.bridge.notified import branch_member, notify, reads_branch
from addons.ai_core.bridge.registration import declared_classes, gdclass, register, register_all

if not TYPE_CHECKING:           # so that type checkers find misspelt names

    def __getattr__(name: str) -> type[GDObject]:
        """Return the base of a class of the engine: ``from addons.ai_core.bridge.gd import CharacterBody3D``."""
        if not name[:1].isupper():
            raise AttributeError(f"{__name__} has no {name!r}")
        for declared in declared_classes:
            if declared.__name__ == name:
                refused = ImportError if _imports(sys._getframe(1)) else AttributeError
                raise refused(f"{name} is declared in Python: from {declared.__module__} import {name}")
        try:
            return engine_class(name)
        except LookupError as unknown:
            raise AttributeError(f"{__name__} has no {name!r}, and {unknown}") from None

    def _imports(asking: FrameType) -> bool:
        """Return whether a name is imported by ``from … import``, which would hide the message of an AttributeError."""
        return dis.opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM"
