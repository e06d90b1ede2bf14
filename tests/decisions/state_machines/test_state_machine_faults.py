"""Callbacks that fail: reported by name, and the machine goes on."""
from __future__ import annotations

import pytest

from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition, Transition
from ai_core.faults import FaultIsolation


@pytest.fixture
def reports():
    return []


def machine(reports, **broken):
    """A machine of which one callback raises."""
    calls = []

    def fails(one):
        calls.append(one.state)
        raise RuntimeError("broken")

    parts = dict.fromkeys(broken, fails)
    definition = StateMachineDefinition(
        "m",
        [State("a", exit=parts.get("exit"), update=parts.get("update")), State("b", enter=parts.get("enter"))],
        [
            Transition("go", "a", "b", guard=parts.get("guard"), action=parts.get("action")),
            Transition("back", "b", "a")])
    one = StateMachine(definition, name="bob", faults=FaultIsolation(report=reports.append))
    one.owner = calls
    return one


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("exit", "bob: exit of a"), ("enter", "bob: enter of b"),
        ("action", "bob: action of transition 'go' from 'a' (1)")])
def test_the_state_is_entered_all_the_same(reports, moment, name):
    one = machine(reports, **{moment: True})
    assert one.send("go") is True
    assert one.state == "b"
    assert [fault.name for fault in reports] == [name]


def test_a_guard_that_raises_says_no(reports):
    one = machine(reports, guard=True)
    assert one.send("go") is False
    assert one.state == "a"
    assert [fault.name for fault in reports] == ["bob: guard of transition 'go' from 'a' (1)"]


@pytest.mark.parametrize("moment", ["update", "guard"])
def test_what_keeps_failing_is_left_out_until_released(reports, moment):
    one = machine(reports, **{moment: True})
    for _ in range(5):
        one.update(0.1)
        if moment == "guard":
            one.send("go")
    assert len(one.owner) == 3
    assert reports[-1].is_quarantined
    one.release_quarantined()
    one.update(0.1)
    one.send("go")
    assert len(one.owner) == 4


def test_failures_not_in_a_row_do_not_quarantine(reports):
    answers = iter([1, 0, 0] * 4)
    one = StateMachine(
        StateMachineDefinition("m", [State("a", update=lambda machine: 1 // next(answers))]),
        faults=FaultIsolation(report=reports.append))
    for _ in range(12):
        one.update(0.1)
    assert len(reports) == 8
    assert not any(fault.is_quarantined for fault in reports)


def test_in_tests_a_failure_is_raised_once_machine_is_consistent():
    one = StateMachine(
        StateMachineDefinition("m", [State("a", enter=lambda machine: 1 / 0)]), faults=FaultIsolation(reraise=True))
    with pytest.raises(ZeroDivisionError):
        one.start()
    assert one.state == "a"
    assert not one.is_busy


def test_unknown_event_sent_inside_is_the_fault_of_the_sender(reports):
    one = StateMachine(
        StateMachineDefinition("m", [State("a", enter=lambda machine: machine.send("nonsense"))]),
        faults=FaultIsolation(report=reports.append))
    one.start()
    assert "unknown event of 'm' 'nonsense'" in str(reports[0].error)


def test_two_machines_of_one_isolation_fail_for_themselves(reports):
    faults = FaultIsolation(report=reports.append)
    definition = StateMachineDefinition("m", [State("a", update=lambda machine: 1 // machine.owner)])
    bad, good = (StateMachine(definition, owner=owner, faults=faults) for owner in (0, 1))
    for _ in range(4):
        bad.update(0.1)
        good.update(0.1)
    good.owner = 0
    good.update(0.1)
    assert len(reports) == 4
