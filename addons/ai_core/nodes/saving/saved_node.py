"""Nodes of the game that are saved with the AI: positions, velocities and data of scripts."""
from __future__ import annotations

import math
from inspect import getattr_static
from types import FunctionType
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    converts_strictly,
    has_script_method,
    report_warning,
    singleton,
    variant_type_name,
    variant_type_of,
)
from addons.ai_core.nodes.saving.scene_values import SceneValues
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Saveable
from ai_core.saving.fields import State, StateError, brief, place_in, refuse
from ai_core.saving.kinds import Kind, MapOf

GROUP = "ai_saved"

METHOD_FLAG_VARARG = 16
HINTS_OF_ELEMENT_TYPES = (31, 38)
"""PROPERTY_HINT_ARRAY_TYPE and PROPERTY_HINT_DICTIONARY_TYPE: element types of a container."""

MOTION = {
    "Node3D": ("transform",),
    "Node2D": ("transform",),
    "CharacterBody3D": ("velocity",),
    "CharacterBody2D": ("velocity",),
    "RigidBody3D": ("linear_velocity", "angular_velocity", "sleeping"),
    "RigidBody2D": ("linear_velocity", "angular_velocity", "sleeping"),
}
"""Properties of position and movement, by class."""


class SavedNode(Saveable):
    """A node in the group "ai_saved", as a part of a snapshot.

    Args:
        node: the node.
        values: converts the data of the script.
        signatures: signature of each script's ``_load_state``, by script; shared by the nodes of one save or
            load, because reading it from the engine takes longer than everything else.
    """

    STATE = DeclaredState(motion=Hook(), script=Hook())

    def __init__(self, node: Any, values: SceneValues, signatures: dict[object, Any]) -> None:
        self._node = node
        self._values = values
        self._signatures = signatures
        self._motion = [name for kind, names in MOTION.items() if node.is_class(kind) for name in names]

    def reset_unsaved(self) -> None:
        """Do nothing: a node without saved data stays as it is."""

    def _save_script(self) -> Any:
        node = self._node
        if node.has_method("_save_state"):
            kept = node.call("_save_state")
            self._need_load_state(kept)
            return self._values.plain(kept, "_save_state()")
        if isinstance(getattr_static(node, "_save_state", None), FunctionType):
            raise StateError("its _save_state() is not a method of the engine; add @method to it and to _load_state()")
        return None

    def _prepare_script(self, plain: object, place: str) -> Change:
        of_script = self._values.engine_value(plain, place)
        if of_script is None:
            return int
        self._need_load_state(of_script)
        return lambda: self._hand_back(of_script)

    def _hand_back(self, of_script: Any) -> None:
        """Call ``_load_state``; a Python method directly, because the engine does not pass on its exceptions."""
        if has_script_method(self._node, "_load_state") or not hasattr(type(self._node), "_load_state"):
            self._node.call("_load_state", of_script)
        else:
            self._node._load_state(of_script)

    def _save_motion(self) -> State:
        return {name: self._saved_motion(name) for name in self._motion}

    def _saved_motion(self, name: str) -> Any:
        """Return a property as plain data; None for a value that is not finite, which loading would refuse."""
        value = self._node.get(name)
        if _is_finite(value):
            return self._values.plain(value, name)
        report_warning(
            f"{name} is {value!r} and is left out of the save; loading keeps the value of the node", self._node)
        return None

    def _prepare_motion(self, plain: object, place: str) -> Change:
        motion = {}
        for name, one in MapOf(Kind(), names=self._motion).read(plain, place, self).items():
            where = place_in(place, name)
            value = self._values.value(one, where)
            if value is None:
                continue
            wanted = type(self._node.get(name))
            if type(value) is not wanted:
                refuse(where, f"must be a {wanted.__name__}, got {brief(value)}")
            if not _is_finite(value):
                refuse(where, f"must have finite numbers, got {value!r}")
            motion[name] = value

        def change() -> None:
            for name, value in motion.items():
                self._node.set(name, value)
            if motion:
                self._node.call("reset_physics_interpolation")   # no interpolation from the old place

        return change

    def _need_load_state(self, kept: object) -> None:
        """Raise StateError unless the script's ``_load_state`` accepts the saved data."""
        if not self._node.has_method("_load_state"):
            raise StateError("its script has _save_state() but no _load_state(state); add it")
        script = self._node.get_script()
        key = self._node.get_class() if script is None else script.instance_id
        if key not in self._signatures:
            self._signatures[key] = _signature_of(self._node, script)
        if kept is not None:
            _check_argument(self._signatures[key], kept)


def _signature_of(node: Any, script: Any) -> dict[str, Any] | None:
    """Return the engine's description of ``_load_state``, None if there is none."""
    methods = [] if script is None else script.get_script_method_list()
    found = [one for one in methods if one["name"] == "_load_state"]
    if not found:
        methods = singleton("ClassDB").class_get_method_list(node.get_class())
        found = [one for one in methods if one["name"] == "_load_state"]
    return found[0] if found else None


def _check_argument(signature: dict[str, Any] | None, kept: object) -> None:
    """Raise StateError if a method cannot be called with one value."""
    if signature is None or signature["flags"] & METHOD_FLAG_VARARG:
        return
    arguments = signature["args"]
    if not arguments or len(arguments) - len(signature["default_args"]) > 1:
        raise StateError(
            f"its _load_state() must take one argument, the value of _save_state(), but it takes {len(arguments)}")
    first, got = arguments[0], variant_type_of(kept)
    wanted = variant_type_name(first["type"])
    rule = f"its _load_state({first['name']}: {wanted})"
    if first["hint"] in HINTS_OF_ELEMENT_TYPES:
        of = first["hint_string"]
        raise StateError(f"{rule} has typed elements ({of}), but saves have none; remove the element type")
    if first["type"] and not converts_strictly(got, first["type"]):
        raise StateError(
            f"{rule} cannot take a {variant_type_name(got)}, which _save_state() returned; change the type of the"
            " argument")
    if isinstance(kept, GDObject) and singleton("ClassDB").class_exists(first["class_name"]) \
            and not kept.is_class(first["class_name"]):
        raise StateError(f"its _load_state({first['name']}: {first['class_name']}) cannot take a {kept.get_class()}")


def _is_finite(value: Any) -> bool:
    return all(map(math.isfinite, [value] if isinstance(value, (int, float)) else value))
