"""Node classes that the bridge's tests use; registered when this is imported."""
from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from addons.ai_core.bridge.gd import (
    CharacterBody3D,
    GDCallable,
    GDObject,
    Node,
    Node3D,
    ObjectIds,
    PackedVector3Array,
    RefusedValue,
    Resource,
    StringName,
    Variant,
    Vector3,
    export,
    gdclass,
    hook,
    method,
    register_all,
    signal,
)


@gdclass
class BridgeProbe(Node3D):
    """A node with one of everything."""

    class Mode(IntEnum):
        OFF = 0
        CHEAP = 1
        FULL = 5

    speed = export(float, 2.5, range=(0, 10, 0.5), unit="m/s", group="Motion", on_set="_speed_set", doc="How fast.")
    steps = export(int, 3, range=(1, 8), or_greater=True)
    label = export(str, "hello", group="Other")
    mode = export(Mode, Mode.CHEAP)
    offset = export(Vector3, Vector3(1, 2, 3))
    friend = export(Node3D, None)
    gear = export(int, 1, on_set="_gear_set")
    turn = export(float, 1.0, range=(0, math.tau), as_degrees=True)
    reach = export(float, 5.0, range=(0.001, 1_000_000))
    crowd = export(int, 5, range=(1, 1_000_000))
    hit = signal(("who", Node), ("amount", float))

    def __init__(self):
        self.frames = 0
        self.physics_frames = 0
        self.calls = []

    def _ready(self):
        self.calls.append("_ready")

    def _enter_tree(self):
        self.calls.append("_enter_tree")

    def _exit_tree(self):
        self.calls.append("_exit_tree")

    def _process(self, delta):
        self.frames += 1

    def _physics_process(self, delta):
        self.physics_frames += 1

    def _get_configuration_warnings(self):
        return ["first", "second"]

    def on_ready(self):
        self.calls.append("on_ready")

    def _gear_set(self):
        if self.gear == 4:
            raise RefusedValue("gear must not be 4 while it runs")

    def _speed_set(self):
        if self.speed == 9.0:
            raise OSError("the motor is gone")

    @method
    def echo(self, value: Variant) -> Variant:
        return value

    @method
    def add(self, a: int, b: int = 5, c: str = "x") -> str:
        return f"{a + b}{c}"

    @method
    def half(self, a: float) -> float:
        return a / 2

    @method
    def doubled(self, points: PackedVector3Array) -> PackedVector3Array:
        return points * 2

    @method
    def ids(self, objects: ObjectIds, times: int = 1) -> list:
        assert type(objects) is bytes
        return np.frombuffer(objects, np.int64).tolist() * times

    @method
    def fail(self) -> int:
        return {}["missing"]

    @method
    def call_it(self, function: GDCallable) -> Variant:
        return function(20, 22)

    @method
    def emit_hit(self, amount: float) -> None:
        self.hit.emit(self, amount)

    @method
    def same(self, other: GDObject) -> bool:
        return other is self

    @method
    def needs_node3d(self, other: Node3D) -> str:
        return "nothing" if other is None else other.get_class()

    @hook
    def _filter(self, value: int) -> int:
        return value + 1

    @method
    def filtered(self, value: int) -> int:
        return self._filter(value)

    def on_signal(self, *arguments):
        self.calls.append(arguments)
        if arguments[0] == "fail":
            raise ValueError("the handler failed")


@gdclass
class BridgeProbeChild(BridgeProbe):
    """Derived from a class of ours."""

    extra = export(StringName, StringName("more"))

    @method
    def half(self, a: float) -> float:
        return a / 4


@gdclass
class FailingProbe(Node):
    """Raises wherever it can."""

    def _ready(self):
        raise RuntimeError("ready failed")

    def _process(self, delta):
        raise RuntimeError("process failed")


@gdclass
class ForgetfulProbe(Node):
    """Would keep something, and the engine does not know its methods."""

    def _save_state(self) -> dict:
        return {"way": 1}

    def _load_state(self, state: dict) -> None:
        raise AssertionError("nothing was saved")


@gdclass
class FragileProbe(Node3D):
    """Keeps a level; some levels it cannot take back."""

    level = export(int, 1)
    refused = export(int, 0)

    @method
    def _save_state(self) -> dict:
        return {"level": self.level}

    @method
    def _load_state(self, state: dict) -> None:
        if state["level"] == self.refused:
            raise LookupError(f"no level {self.refused}")
        self.level = state["level"]


@gdclass
class BridgeData(Resource):
    """Data written in Python."""

    amount = export(int, 7)


register_all()


@gdclass
class WalkingProbe(CharacterBody3D):
    """Extends a class of the engine that has no base of its own in the bridge."""

    speed = export(float, 2.0, range=(0, 10), unit="m/s")

    def _physics_process(self, delta):
        self.velocity = Vector3(self.speed, 0, 0)
        self.move_and_slide()
