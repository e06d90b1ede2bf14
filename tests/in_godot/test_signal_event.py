"""SignalEvent: how and how far a signal is told, and the debug key."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

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


def test_a_signal_event_at_once_tells_before_the_signal_returns(manager, bell, node):
    heard = []
    manager.listen("rang", lambda code, arguments: heard.append(arguments))
    node("SignalEvent", source="../Bell", signal_name="rang", delivery=1, parent=manager)
    bell.emit_signal("rang", 0.5, None)
    assert heard == [[0.5, None]]


def test_a_signal_event_reaches_down_with_priority_position_and_delay(manager, node, gdscript, physics_frames):
    squad, heard = node("AIEventManager", manager), []
    squad.listen("*", lambda code, arguments: heard.append(code), {"near": Vector3(1, 0, 0), "range_m": 2})
    bell = gdscript("extends Node3D\nsignal rang").new()
    manager.add_child(bell)
    bell.set("name", "Bell")
    node("SignalEvent", source="../Bell", signal_name="rang", reach=1, priority=3, has_position=True, delay_s=0.05,
         deadline_s=0.02, parent=manager)
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


def test_an_action_that_is_not_in_the_input_map_is_an_error(manager, bell, node, expect_errors):
    expect_errors("debug_action 'cheat' is no action of the InputMap", times=1)
    node("SignalEvent", source="../Bell", signal_name="rang", debug_action="cheat", parent=manager)
