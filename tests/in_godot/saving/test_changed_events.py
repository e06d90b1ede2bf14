"""Saves of a scene that has other AIEventManagers, radios or times of day now."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

GUARD = """
    extends Node3D
    var heard := []
    func begin(manager: AIEventManager, has_radio: bool) -> void:
        manager.listen("alarm", on_alarm)
        if has_radio: manager.add_radio(self)
    func on_alarm(_code: String, arguments: Array) -> void: heard.append_array(arguments)
"""


@pytest.fixture
def scene(gdscript, nodes_of_test):
    """``scene(names)``: a level with these AIEventManagers, "Far/Near" inside "Far", and a guard at each."""
    script, made = gdscript(GUARD), []

    def build(*names, radios=(), days=()):
        for one in made:
            one.free()
        top = construct("Node3D")
        top.set("name", "Level")
        made[:] = [nodes_of_test.keep(top, None)]
        ai = construct("AIScheduler")
        for key, value in {"name": "AI", "update": 2, "budget": 0.0}.items():
            ai.set(key, value)
        top.add_child(ai)
        for path in names:
            above, _, name = path.rpartition("/")
            manager = construct("AIEventManager")
            manager.set("name", name)
            manager.set("day_length", 100.0 if name in days else 0.0)
            (top.get_node_or_null(above) or top).add_child(manager)
            guard = script.new()
            guard.set("name", f"Guard{name}")
            top.add_child(guard)
            guard.call("begin", manager, name in radios)
        ai.step(0.1)
        return top, ai

    return build


def send(top, *names):
    """Queue an event at each manager, with its name."""
    for name in names:
        top.get_node(name).send("alarm", [name])


def heard(top, ai, *names):
    """What each guard hears in the next frames."""
    for _ in range(3):
        ai.step(0.1)
    return [list(top.get_node(f"Guard{name}").get("heard")) for name in names]


def test_new_managers_radios_and_days_keep_their_state(scene):
    top, ai = scene("Events", "Other", radios=["Other"])
    send(top, "Events", "Other")
    state = ai.save_state()
    top, ai = scene("Early", "Events", "Other", radios=["Early", "Events", "Other"], days=["Early"])
    assert ai.load_state(state) is True
    assert heard(top, ai, "Early", "Events", "Other") == [[], ["Events"], ["Other"]]


@pytest.mark.parametrize(("left", "gone"), [("Other", "Events"), ("Events", "Other")])
def test_only_the_events_of_a_missing_manager_are_left_out(scene, expect_errors, left, gone):
    top, ai = scene("Events", "Other", radios=["Events", "Other"], days=["Events", "Other"])
    send(top, "Events", "Other")
    top.get_node(gone).send("stays", [], 0.0, {"sticky": True})
    state = ai.save_state()
    top, ai = scene(left, radios=[left], days=[left])
    expect_errors(f"'groups' is of the node '../{gone}', which is not in the scene; add it under this name", times=1)
    assert ai.call("load_state", state) is False
    expect_errors("load_state() left out 1 parts", times=1)
    assert ai.call("load_state", state, True) is True
    assert ai.get_left_out() == {f"../{gone}": "is not in the scene"}
    assert heard(top, ai, left) == [[left]]
    assert ai.load_state(ai.save_state()) is True


def test_managers_inside_a_missing_one_come_under_the_next(scene, expect_errors):
    top, ai = scene("Events", "Events/Far", "Events/Far/Near")
    top.get_node("Events").send_down("alarm", ["Events"])
    state = ai.save_state()
    top, ai = scene("Events")
    near = construct("AIEventManager")
    near.set("name", "Near")
    far = construct("Node")
    far.set("name", "Far")
    top.get_node("Events").add_child(far)
    far.add_child(near)
    ai.step(0.1)
    expect_errors("../Events/Far: is in the scene, but is no running AIEventManager: it is of the class Node", times=1)
    assert ai.call("load_state", state, True) is True
    assert heard(top, ai, "Events") == [["Events"]]
    assert ai.load_state(ai.save_state()) is True


def test_a_radio_and_a_day_that_are_gone_are_left_out(scene, expect_errors):
    top, ai = scene("Events", radios=["Events"], days=["Events"])
    send(top, "Events")
    state = ai.save_state()
    top, ai = scene("Events")
    expect_errors("load_state() left out 2 parts", times=1)
    assert ai.call("load_state", state, True) is True
    assert ai.get_left_out() == {
        "../Events":
            "is in the scene, but is no AIEventManager with a time of day: it is of the class AIEventManager",
        "../GuardEvents": "is in the scene, but is no holder of a radio: it is of the class Node3D"}
    assert heard(top, ai, "Events") == [["Events"]]
