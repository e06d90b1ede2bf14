"""A sub-tree of habits is a scene: instanced in several places, overridden in one, and it fights as the source says."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, PackedStringArray, Vector2, Vector3, construct, singleton

SWING = """
    extends Habit
    var log := []
    func _enter() -> void:
        hold()                       # nobody interrupts a blow ...
        wait_s(0.2)
    func _tick(_elapsed_s: float) -> int:
        release()                    # ... and then recovers, for as long
        wait_s(0.2)
        return STATUS_RUNNING if get_time_in_habit() < 0.39 else STATUS_SUCCEEDED
"""


def habit(name, *children, script=None, **settings):
    one = construct("Habit") if script is None else script.new()
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    for child in children:
        one.add_child(child)
    return one


def saved(top, path):
    """Write what a node has below it as a scene; return the scene as it is read again."""
    for one in top.find_children("*", "", True, False):
        if one.owner is None:
            one.owner = top
    scene = construct("PackedScene")
    assert scene.pack(top) == 0
    assert singleton("ResourceSaver").save(scene, path) == 0
    top.free()
    return singleton("ResourceLoader").load(path, "", 0)


def test_a_copy_has_a_target_point_only_if_its_habit_has(node, scheduler):
    for kind, origin in (("Node2D", Vector2(0, 0)), ("Node3D", Vector3(0, 0, 0))):
        tree = brain(construct("HabitMoveTo"), construct("HabitLookAt"), construct("HabitMoveTo"))
        tree.sensor = NodePath("../Eye")
        tree.get_child(2).target_point = origin
        actor = node(kind, scheduler)
        actor.add_child(tree)
        for copied in (tree.duplicate(), saved(tree.duplicate(), "user://copied.tscn").instantiate()):
            actor.add_child(copied)
            assert [one.target_point for one in copied.get_children()] == [None, None, origin]


@pytest.fixture
def fight(gdscript):
    """Fight: dodge when shot at, swing when somebody is near, else aim and shoot."""
    return saved(habit(
        "fight",
        habit("dodge", begins_on=PackedStringArray(["shot at"]), remember_for=1.0, timeout=0.3),
        habit("melee", script=gdscript(SWING), condition="near", wakes_on=PackedStringArray(["near"])),
        habit("attack", habit("aim", timeout=0.05, outcome=2), habit("shoot"), launch=1),
    ), "user://fight.tscn")


def brain(*habits):
    tree = construct("HabitTree")
    tree.set("name", "Brain")
    tree.set("values", {"near": False})
    for one in habits:
        tree.add_child(one)
    return tree


def test_the_combat_of_the_source_step_by_step(node, scheduler, fight, physics_frames, signals):
    tree = brain(fight.instantiate())
    node("Node3D", scheduler).add_child(tree)
    entered, exited = signals(tree, "habit_entered"), signals(tree, "habit_exited")

    def path():
        return [one.removeprefix("Brain/fight/") for one in tree.get_active_paths()]

    physics_frames(2)
    assert path() == ["attack/aim"]
    physics_frames(5)
    assert path() == ["attack/shoot"]
    tree.notify("shot at")
    exited.clear(), entered.clear()
    physics_frames(1)
    assert path() == ["dodge"]
    assert [one.rpartition("/")[2] for one, _ in exited] == ["shoot", "attack"]      # gone before dodge begins
    assert [one.rpartition("/")[2] for one, _ in entered] == ["dodge"]
    physics_frames(25)
    tree.set_value("near", True)
    physics_frames(1)
    assert path() == ["melee"]
    tree.notify("shot at")
    physics_frames(8)
    assert path() == ["melee"]                    # the blow is not interrupted ...
    physics_frames(8)
    assert path() == ["dodge"]                    # ... and dodge comes right after it


def test_a_shared_subtree_can_be_overridden_by_one_character(node, scheduler, fight, physics_frames):
    own = fight.instantiate()
    own.get_node("dodge").set("condition", "false")
    brave = brain(own)
    top = construct("Node3D")
    top.add_child(brave)
    top.set_editable_instance(own, True)
    brave_scene = saved(top, "user://brave.tscn")
    others = []
    for _ in range(2):
        again = fight.instantiate()
        again.set("name", "again")
        others.append(brain(fight.instantiate(), again))
        node("Node3D", scheduler).add_child(others[-1])
    brave = brave_scene.instantiate()
    scheduler.add_child(brave)
    brave = brave.get_node("Brain")
    physics_frames(2)
    assert others[0].core.definition is others[1].core.definition
    assert brave.core.definition is not others[0].core.definition
    for tree in (*others, brave):
        tree.notify("shot at")
    physics_frames(1)
    assert [list(tree.get_active_paths()) for tree in (*others, brave)] == [
        ["Brain/fight/dodge"], ["Brain/fight/dodge"], ["Brain/fight/attack/aim"]]
