"""SignalEvent: how and how far a signal is told, and the debug key."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton

BELL = "extends Node\nsignal rang(how_loud: float, who: Node)"


@pytest.fixture
def manager(node, scheduler):
    return node("AIEventManager", scheduler)


@pytest.fixture
def bell(gdscript, manager):
    made = gdscript(BELL).new()
    made.set("name", "Bell")
    manager.add_child(made)
    return made


def test_signal_event_at_once_delivers_before_signal_returns(manager, bell, node):
    heard = []
    manager.listen("rang", lambda code, arguments: heard.append(arguments))
    node("SignalEvent", source="../Bell", signal_name="rang", delivery=1, parent=manager)
    bell.emit_signal("rang", 0.5, None)
    assert heard == [[0.5, None]]


def test_a_signal_event_sends_priority_position_and_delay(manager, node, gdscript, physics_frames):
    squad, heard = node("AIEventManager", manager), []
    squad.listen("*", lambda code, arguments: heard.append(code), {"near": Vector3(1, 0, 0), "range": 2})
    bell = gdscript("extends Node3D\nsignal rang").new()
    manager.add_child(bell)
    bell.set("name", "Bell")
    node("SignalEvent", source="../Bell", signal_name="rang", reach=1, priority=3, has_position=True, delay=0.05,
         deadline=0.02, parent=manager)
    bell.emit_signal("rang")
    physics_frames(1)
    assert heard == []
    physics_frames(4)
    assert heard == ["rang"]


def test_a_signal_event_follows_a_change_of_its_source(manager, bell, node, physics_frames):
    heard = []
    manager.listen("*", lambda code, arguments: heard.append(code))
    event = node("SignalEvent", source="../Bell", signal_name="rang", parent=manager)
    event.signal_name = "renamed"
    bell.emit_signal("rang", 0.5, None)
    bell.set("name", "Gong")
    physics_frames(1)
    assert heard == ["renamed"]


def test_a_key_sends_the_event_by_hand(manager, bell, node, root, physics_frames):
    heard = []
    manager.listen("rang", lambda code, arguments: heard.append(code))
    node("SignalEvent", source="../Bell", signal_name="rang", debug_key=4194340, parent=manager)
    for key in (4194340, 4194341):
        press = construct("InputEventKey")
        press.keycode = key
        press.pressed = True
        root.push_input(press)
    physics_frames(1)
    assert heard == ["rang"]


def test_an_action_that_is_not_in_the_input_map_is_an_error(manager, bell, node, expect_errors, physics_frames):
    expect_errors("debug_action 'cheat' is not an action of the InputMap", times=1)
    node("SignalEvent", source="../Bell", signal_name="rang", debug_action="cheat", parent=manager)
    physics_frames(2)


WORLD = """
    extends Node
    signal bell_rang(how_loud: float)
    func _ready() -> void: ($AIScheduler/Manager as AIEventManager).listen("rang", on_rang)
    func on_rang(_code: String, arguments: Array) -> void:
        get_tree().root.set_meta("heard", get_tree().root.get_meta("heard", []) + [arguments])
"""


@pytest.fixture
def saved_world(gdscript):
    """The path of a scene: its root has a signal, a SignalEvent below makes it an event, the root listens."""

    def save(delivery):
        top = gdscript(WORLD).new()
        scheduler, manager, event = construct("AIScheduler"), construct("AIEventManager"), construct("SignalEvent")
        top.name, scheduler.name, manager.name = "World", "AIScheduler", "Manager"
        scheduler.budget = 0.0
        event.source, event.signal_name, event.code, event.delivery = "../../..", "bell_rang", "rang", delivery
        for parent, child in ((top, scheduler), (scheduler, manager), (manager, event)):
            parent.add_child(child)
            child.owner = top
        scene, path = construct("PackedScene"), "user://world_with_a_bell.tscn"
        assert scene.pack(top) == 0
        assert singleton("ResourceSaver").save(scene, path) == 0
        top.free()
        return path

    return save


@pytest.mark.parametrize("delivery", [0, 1])
def test_a_signal_event_survives_a_reload_of_its_scene(
        saved_world, tree, root, frames, physics_frames, delivery):
    path, before = saved_world(delivery), tree.current_scene

    def told():
        frames(2)
        root.set_meta("heard", [])
        tree.current_scene.emit_signal("bell_rang", 0.5)
        physics_frames(2)
        return root.get_meta("heard")

    tree.current_scene = None
    try:
        assert tree.change_scene_to_file(path) == 0
        assert told() == [[0.5]]
        first = tree.current_scene
        for _ in range(3):
            assert tree.reload_current_scene() == 0
            assert told() == [[0.5]]  # once: the scene before hears nothing more
        assert not first.is_valid()
        assert tree.change_scene_to_file(path) == 0
        assert told() == [[0.5]]
    finally:
        if tree.current_scene is not None:
            tree.current_scene.free()
        tree.current_scene = before
        root.remove_meta("heard")


@pytest.fixture
def level(node, gdscript):
    """``level()``: a scene beside the AI, with a Bell in it, loaded anew."""
    world = node("Node", name="World")

    def load():
        top, bell = construct("Node"), gdscript(BELL).new()
        top.name, bell.name = "Level", "Bell"
        top.add_child(bell)
        world.add_child(top)
        return bell

    return load


def heard_at(manager):
    heard = []
    manager.listen("rang", lambda _code, arguments: heard.append(arguments[0]))
    return heard


def test_a_signal_event_finds_its_source_in_a_reloaded_scene(
    manager, level, node, physics_frames,
):
    bell, heard = level(), heard_at(manager)
    node("SignalEvent", manager, source=bell.get_path(), signal_name="rang")
    for number in range(3):
        bell.emit_signal("rang", number, None)
        physics_frames(1)
        bell.get_parent().free()
        physics_frames(1)
        bell = level()
    assert heard == [0, 1, 2]
    world = bell.get_parent().get_parent()
    world.remove_child(bell.get_parent())          # goes and comes back: connected once
    away = bell.get_parent()
    bell.emit_signal("rang", 3, None)
    world.add_child(away)
    bell.emit_signal("rang", 4, None)
    physics_frames(1)
    assert heard == [0, 1, 2, 3, 4]
    world.remove_child(away)                       # another takes its place: the one before is heard no more
    other = level()
    bell.emit_signal("rang", 5, None)
    other.emit_signal("rang", 6, None)
    physics_frames(1)
    away.free()
    assert heard == [0, 1, 2, 3, 4, 6]


def test_a_missing_source_is_reported_once_and_used_later(
        manager, level, node, physics_frames, expect_errors):
    heard = heard_at(manager)
    expect_errors("source '/root/World/Level/Bell' is not in the scene", times=1)
    expect_errors("(AIScheduler) has no signal 'rang'", times=1)
    event = node("SignalEvent", manager, source="/root/World/Level/Bell", signal_name="rang")
    physics_frames(2)
    bell = level()
    bell.emit_signal("rang", 1, None)
    event.source = ""                              # looks for another one now
    bell.emit_signal("rang", 2, None)
    physics_frames(1)
    assert heard == [1]
    physics_frames(2)


def test_a_source_that_comes_back_without_the_signal_is_an_error(manager, level, node, physics_frames, expect_errors):
    bell = level()
    node("SignalEvent", manager, source=bell.get_path(), signal_name="rang")
    top = bell.get_parent()
    bell.free()
    expect_errors("'Bell' (Node) has no signal 'rang'", times=1)
    node("Node", top, name="Bell")
    physics_frames(1)
    physics_frames(2)
