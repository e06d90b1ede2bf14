"""Nodes of the game that are saved with the AI: where they stand, how they move, what their scripts keep."""
from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from types import FunctionType
from typing import Any

from addons.ai_core.nodes.saving.scene_values import SceneValues
from ai_core.saving.fields import Fields, State, StateError

GROUP = "ai_saved"

MOTION = {
    "Node3D": ("transform",),
    "Node2D": ("transform",),
    "CharacterBody3D": ("velocity",),
    "CharacterBody2D": ("velocity",),
    "RigidBody3D": ("linear_velocity", "angular_velocity", "sleeping"),
    "RigidBody2D": ("linear_velocity", "angular_velocity", "sleeping"),
}
"""Properties that say where a node is and how it moves, by class."""


class SavedNode:
    """A node in the group "ai_saved", as a part of a snapshot.

    Args:
        node: it.
        values: writes what the script keeps.
    """

    def __init__(self, node: Any, values: SceneValues) -> None:
        self._node = node
        self._values = values
        self._motion = [name for kind, names in MOTION.items() if node.is_class(kind) for name in names]

    def save_state(self) -> State:
        node, values = self._node, self._values
        of_script = None
        if node.has_method("_save_state"):
            self._need_load_state()
            of_script = values.plain(node.call("_save_state"), "_save_state()")
        elif isinstance(getattr_static(node, "_save_state", None), FunctionType):
            raise StateError("the engine does not know its _save_state(); write @method above it and _load_state()")
        motion = {name: values.plain(node.get(name), name) for name in self._motion}
        return {"version": 1, "motion": motion, "script": of_script}

    def prepare_state(self, state: object) -> Callable[[], None]:
        fields = Fields.versioned(state, version=1)
        motion = self._read_motion(fields.group("motion"))
        of_script = self._values.value(fields.anything("script"), "script")
        if of_script is not None:
            self._need_load_state()
        fields.end()

        def change() -> None:
            for name, value in motion.items():
                self._node.set(name, value)
            if motion:
                self._node.call("reset_physics_interpolation")   # it did not glide here
            if of_script is not None:
                self._node.call("_load_state", of_script)

        return change

    def begin_anew(self) -> None:
        """What was not in a save stays as it is."""

    def _read_motion(self, fields: Fields) -> dict[str, Any]:
        motion = {}
        for name in self._motion:
            value = self._values.value(fields.anything(name), fields.place_of(name))
            wanted = type(self._node.get(name))
            if type(value) is not wanted:
                fields.refuse(name, f"must be a {wanted.__name__}, got {value!r}")
            motion[name] = value
        fields.end()
        return motion

    def _need_load_state(self) -> None:
        if not self._node.has_method("_load_state"):
            raise StateError("its script has _save_state() and no _load_state(state); write both")
