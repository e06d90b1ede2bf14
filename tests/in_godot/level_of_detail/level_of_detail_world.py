"""A small world for tests of level of detail: a viewer, scripted levels and groups along a line."""
from __future__ import annotations

import math

from addons.ai_core.bridge.gd import Vector3, construct

LEVEL = """
    extends LODBehavior
    var told: Array = []
    var elapsed: Array[float] = []
    func _lod_enter(previous: String, data: Variant) -> void: told.append(["enter", previous, data])
    func _lod_exit(following: String) -> Variant:
        told.append(["exit", following])
        return String(name) + "'s goal"
    func _lod_tick(elapsed_s: float) -> void: elapsed.append(elapsed_s)
"""

GROUP = """
    extends GroupLOD
    var told: Array = []
    func _simulate(elapsed_s: float) -> void: told.append(["simulate", elapsed_s])
    func _expand() -> PackedStringArray:
        told.append(["expand"])
        return ["Ann", "Bert"]
    func _tick_member(member: String, elapsed_s: float) -> void: told.append([member, elapsed_s])
    func _compress() -> void: told.append(["compress"])
"""


TWO_LEVELS = (("Plan", 0.5, 1.0), ("Idle", 0.0, 0.6))


class Town:
    """A group of a script, and where it is."""

    def __init__(self, body, group):
        self.body, self.group = body, group

    def told(self):
        """What its script was told since the last call."""
        rows = self.group.get("told")
        self.group.set("told", [])
        return [row[0] for row in rows]


class WatchedWorld:
    """A manager that follows at once, and a viewer at 0 that sees all around, up to 100 m."""

    def __init__(self, node, scheduler, physics_frames, gdscript):
        self.scheduler, self.step, self._node = scheduler, physics_frames, node
        self.level_script, self.group_script = gdscript(LEVEL), gdscript(GROUP)
        self.manager = node(
            "ImportanceManager", scheduler, period=1, smoothing_time=0.0, distance_weight=1.0, view_weight=0.0,
            approach_weight=0.0, size_weight=0.0, near_distance=0.0, far_distance=100.0)
        self.camera = node("Node3D", scheduler)
        self.viewer = node("ImportanceViewer", self.camera, field_of_view=math.tau)

    def put(self, who, x):
        who.set("position", Vector3(x, 0.0, 0.0))

    def place(self, x, parent=None):
        return self._node("Node3D", parent or self.scheduler, position=Vector3(x, 0.0, 0.0))

    def character(self, x=0.0, ranges=TWO_LEVELS, levels=None, place=None, **settings):
        """A body with a BehavioralLOD of scripted levels; ``levels`` are settings by name."""
        body = place or self.place(x)
        lod = construct("BehavioralLOD")
        for name, lowest, highest in ranges:
            level = self.level_script.new()
            own = {"name": name, "lowest": lowest, "highest": highest, **(levels or {}).get(name, {})}
            for key, value in own.items():
                level.set(key, value)
            lod.add_child(level)
        for key, value in {"period": 1, **settings}.items():
            lod.set(key, value)
        body.add_child(lod)
        lod.body = body
        return lod

    def group(self, x, parent=None, script=None, **settings):
        """A place with a GroupLOD of a script that tells what it is told."""
        body = self.place(x, parent)
        group = (script or self.group_script).new()
        for name, value in {"radius": 0.0, "closed_period": 3, "member_period": 1, **settings}.items():
            group.set(name, value)
        body.add_child(group)
        return Town(body, group)
