"""Nodes of a class of ours below a node."""
from __future__ import annotations

from addons.ai_core.bridge.gd import construct, first_below, has_child, parent_of, read_branch
from addons.ai_core.nodes.habits.habit import Habit

METHODS = ("_enter", "_tick", "_exit")


def below(parent, kind, name, script=None):
    made = construct(kind)
    made.set("name", name)
    if script is not None:
        made.call("set_script", script)
    parent.add_child(made)
    return made


def test_parents_precede_children_in_the_order_of_the_dock(node):
    root = node("Node")
    fight = below(root, "Habit", "fight")
    walk = below(root, "HabitWait", "walk")
    dodge, attack = below(fight, "Habit", "dodge"), below(fight, "Habit", "attack")
    assert read_branch(root, Habit) == [
        (fight, -1, "fight", 0, 0), (dodge, 0, "dodge", 0, 0), (attack, 0, "attack", 0, 0), (walk, -1, "walk", 0, 0)]


def test_nodes_of_other_classes_hide_those_below_them(node):
    root = node("Node")
    below(below(root, "Node", "between"), "Habit", "hidden")
    assert read_branch(root, Habit) == []
    assert not has_child(root, Habit)
    below(root, "Habit", "seen")
    assert has_child(root, Habit)


def test_script_and_its_methods_are_read(node, gdscript):
    script = gdscript("extends Habit\nfunc _enter() -> void: pass\nfunc _exit() -> void: pass")
    root = node("Node")
    habit = below(root, "Habit", "scripted", script)
    assert read_branch(root, Habit, METHODS) == [(habit, -1, "scripted", script.instance_id, 0b101)]


def test_parent_is_read_or_none(node):
    root = node("Node")
    assert parent_of(below(root, "Habit", "walk")) == root
    outside = construct("Node")
    assert parent_of(outside) is None
    outside.call("free")


def test_first_node_of_a_class_below_is_the_first_in_scene_order(node):
    root = node("Node3D")
    head = node("Node3D", root)
    node("Camera3D", root, name="later")
    first = node("Camera3D", node("Node3D", head), name="first")
    assert first_below(root, "Camera3D") == root.find_children("*", "Camera3D", True, False)[0] == first
    assert first_below(root, "Node") == head
    assert first_below(first, "Node") is None
    assert first_below(root, "NoSuchClass") is None
