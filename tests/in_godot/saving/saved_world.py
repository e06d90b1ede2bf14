"""A small world that is saved and loaded: a keeper with eyes, a source, a behavior and habits."""
from __future__ import annotations

from addons.ai_core.bridge.gd import construct
from tests.in_godot.bridge import bridge_nodes  # noqa: F401 - registers the classes

KEEPER = """
    extends CharacterBody3D
    var way := PackedVector3Array()
    var friends: Array[Node3D] = []
    var farthest := Vector3.INF
    var thoughts := 0
    func think(_elapsed_s: float) -> void: thoughts += 1
    func befriend(one: Node3D) -> void: friends.append(one)
    func _save_state() -> Variant: return {"way": way, "friends": friends, "farthest": farthest}
    func _load_state(state: Variant) -> void:
        way = state["way"]
        friends.assign(state["friends"])
        farthest = state["farthest"]
"""


def put(made, parent, name):
    made.set("name", name)
    parent.add_child(made)
    return made


class World:
    """A keeper with eyes, a source, a behavior and habits, and a scheduler that is stepped by hand."""

    def __init__(self, script):
        self.top = construct("Node3D")
        self.top.set("name", "World")
        self.scheduler = put(construct("AIScheduler"), self.top, "AI")
        self.scheduler.set("update", 2)
        self.scheduler.set("budget", 0.0)
        put(construct("SenseManager"), self.top, "Senses")
        self.keeper = put(script.new(), self.top, "Keeper")
        self.keeper.call("add_to_group", "ai_saved")
        self.eyes = put(construct("Sensor3D"), self.keeper, "Eyes")
        self.source = put(construct("SenseSource3D"), self.keeper, "Source")
        self.behavior = put(construct("AIBehavior"), self.keeper, "Think")
        self.tree = construct("HabitTree")
        put(construct("Habit"), self.tree, "Idle")
        put(self.tree, self.keeper, "Brain")

    def add(self, class_name, name, **settings):
        made = construct(class_name)
        for key, value in settings.items():
            made.set(key, value)
        made.call("add_to_group", "ai_saved")
        return put(made, self.top, name)

    def save(self):
        return self.scheduler.call("save_state")

    def load(self, state):
        return self.scheduler.call("load_state", state)


def world_maker(gdscript, nodes_of_test):
    """Return ``world()``: a World in the tree; the one before is gone."""
    script, built = gdscript(KEEPER), []

    def make():
        for one in built:
            one.top.free()
        built[:] = [World(script)]
        nodes_of_test.keep(built[0].top, None)
        return built[0]

    return make
