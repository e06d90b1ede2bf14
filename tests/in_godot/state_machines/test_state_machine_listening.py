"""Who listens to a StateMachine, its states and transitions is told of each change; asking who does costs little."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, NodeRow, construct

EAR = """
    extends Node
    var heard := []
    func hear(what = null) -> void: heard.append(what)
    func connect_to(signal_of: Node) -> void: signal_of.exited.connect(func() -> void: heard.append("exited"))
"""


@pytest.fixture
def machine(node, scheduler):
    """In ``one``; "flip" leads to ``two`` and back."""
    character = node("Node", scheduler, name="Bob")
    made = construct("StateMachine")
    made.set("name", "Mind")
    for name, other in (("one", "two"), ("two", "one")):
        state = construct("AIState")
        state.set("name", name)
        way = construct("StateTransition")
        for key, value in {"name": "flip", "event": "flip", "to": NodePath(f"../../{other}")}.items():
            way.set(key, value)
        state.add_child(way)
        made.add_child(state)
    character.add_child(made)
    return made


@pytest.fixture
def ear(node, scheduler, gdscript):
    made = node("Node", scheduler, name="Ear")
    made.set_script(gdscript(EAR))
    return made


def test_who_names_a_signal_of_a_state_hears_the_next_change(machine, ear, physics_frames):
    physics_frames(2)
    machine.send_event("flip")
    ear.call("connect_to", machine.get_node("two"))
    machine.send_event("flip")
    machine.send_event("flip")
    machine.send_event("flip")
    assert ear.get("heard") == ["exited", "exited"]


def test_connecting_by_name_to_a_running_machine_works_soon(machine, ear, physics_frames):
    physics_frames(2)
    machine.send_event("flip")
    machine.call("connect", "state_entered", ear.call("get", "hear"))
    physics_frames(30)
    machine.send_event("flip")
    assert ear.get("heard") == ["one"]


def test_connecting_by_name_early_hears_the_first_entry(machine, ear, physics_frames):
    machine.get_node("one").call("connect", "entered", ear.call("get", "hear"))
    physics_frames(2)
    assert ear.get("heard") == [None]


def test_a_row_remembers_that_nobody_listens_until_somebody_may(machine, ear):
    row = NodeRow([machine, machine.get_node("one")], [("state_entered",), ("entered", "exited")])
    assert not row.may_be_heard(1.0)
    machine.call("connect", "state_entered", ear.call("get", "hear"))
    assert not row.may_be_heard(1.3)
    assert row.may_be_heard(1.41)
    machine.call("disconnect", "state_entered", ear.call("get", "hear"))
    assert not row.may_be_heard(2.0)
    ear.call("connect_to", machine.get_node("one"))
    assert row.may_be_heard(2.0)


def test_a_row_looks_again_when_time_goes_back_or_stands_still(machine, ear):
    row = NodeRow([machine], [("state_entered",)])
    assert not row.may_be_heard(5.0)
    machine.call("connect", "state_entered", ear.call("get", "hear"))
    assert row.may_be_heard(4.9)
    machine.call("disconnect", "state_entered", ear.call("get", "hear"))
    assert [row.may_be_heard(4.9) for _ in range(64)][-1] is False
