"""The live chart of a StateMachine: active states, taken transitions, and why others are not taken."""
from __future__ import annotations

import pytest

from addons.ai_core.nodes.debugging.debug_watch import DebugWatch
from addons.ai_core.nodes.debugging.probe import CharacterProbes
from addons.ai_core.nodes.debugging.state_probe import StateProbe

HEARD_AFTER = 60
"""Physics frames after which the signals of a running machine are heard."""


@pytest.fixture
def door(node):
    root = node("Node3D", name="Level")
    node("AIScheduler", root, name="AI", budget=0.0)
    door = node("Node3D", root, name="Door")
    machine = node("StateMachine", door, name="Machine")
    closed = node("AIState", machine, name="Closed")
    opened = node("AIState", machine, name="Open")
    node("AIState", opened, name="Ajar")
    machine.set_value("locked", True)
    node("StateTransition", closed, name="Push", event="push", to="../../Open", guard_expression="not locked")
    node("StateTransition", opened, name="Back", after=100.0, to="../../Closed")
    node("StateTransition", opened, name="Blow", event="wind", target=2)
    node("StateTransition", machine, name="Burn", event="fire", to="../Closed", guard_method="is_wooden")
    return door


@pytest.fixture
def looked_at(door, gdscript, physics_frames):
    said = []
    door.set_script(gdscript("extends Node3D\nfunc is_wooden() -> bool: return false"))
    probes = CharacterProbes({"StateMachine": StateProbe}, said.append)
    watch = DebugWatch(door.get_node("../AI"), probes)
    physics_frames(2)
    watch.choose("habits", str(door.get_path()), "")
    physics_frames(HEARD_AFTER)
    yield watch, said, probes
    watch.close()


def test_states_and_reasons_of_transitions_not_taken(door, looked_at):
    watch, _, _ = looked_at
    chart = watch.report()["chart"]
    assert [row["path"] for row in chart["rows"]] == ["Closed", "Open", "Open/Ajar"]
    assert [row["is_initial"] for row in chart["rows"]] == [True, False, True]
    assert [state[0] for state in chart["states"]] == ["active", "pending", "pending"]
    assert chart["arrows"][0] == ["Closed", "Open", "on push, if not locked", 0]
    assert chart["waiting"] == [
        ["Closed", "Open", "on push, if not locked", "waits for push, `not locked` is false: locked is true"],
        ["", "Closed", "on fire, if is_wooden()", "waits for fire"]]
    assert chart["values"] == [["character", "locked", "true"]]
    assert door.get_node("Machine").send_event("fire") is False
    assert watch.report()["chart"]["waiting"][1][3] == "waits for fire, is_wooden() of the actor returned false"


def test_a_taken_transition_has_its_time(door, looked_at, physics_frames):
    watch, _, _ = looked_at
    machine = door.get_node("Machine")
    watch.report()
    machine.set_value("locked", False)
    machine.send_event("push")
    physics_frames(30)
    machine.send_event("wind")
    report = watch.report()
    chart = report["chart"]
    assert [taken[1:] for taken in chart["taken"]] == [
        ["Closed", "Open", "on push, if not locked"], ["Open", "", "on wind"]]
    assert report["seconds"] - chart["taken"][0][0] == pytest.approx(0.5, abs=0.1)
    assert [state[0] for state in chart["states"]] == ["pending", "active", "active"]
    assert chart["states"][2][1] == "push"
    assert chart["states"][2][2] == pytest.approx(0.5, abs=0.1)
    assert chart["states"][0][4].endswith("s ago: ended")
    assert "after 0.5 of 100 s" in [waiting[3] for waiting in chart["waiting"]]
    assert chart["rows"] == []
    assert watch.report()["chart"]["taken"] == []


def test_breakpoints_on_a_state_and_on_a_guard(door, looked_at):
    _, said, probes = looked_at
    machine = door.get_node("Machine")
    probes.set_breakpoint(machine, "Open", "begins")
    probes.set_breakpoint(machine, "Closed", "condition changes")
    probes.check_conditions()
    machine.set_value("locked", False)
    probes.check_conditions()
    machine.send_event("push")
    assert said == ["Closed: guard of Push is true", "Open begins: began, push"]


def test_a_machine_that_is_not_looked_at_has_no_listeners(door, looked_at):
    watch, _, _ = looked_at
    machine = door.get_node("Machine")
    transition = machine.get_node("Closed/Push")
    assert len(transition.get_signal_connection_list("taken")) == 1
    watch.choose("scheduler", "", "")
    assert len(transition.get_signal_connection_list("taken")) == 0
    assert len(machine.get_signal_connection_list("state_entered")) == 0
