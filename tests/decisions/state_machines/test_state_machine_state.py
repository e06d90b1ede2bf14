"""Saved machines: loading begins and ends nothing, and refuses what does not fit."""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import History, State, StateMachineDefinition, Transition
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.scheduling.scheduler import Scheduler
from ai_core.snapshot import from_json, restore, take, to_json

DEFINITION = StateMachineDefinition(
    "guard",
    [State("peace", [State("idle"), State("patrol", update=lambda machine: 1 / 0)]), State("hostile")],
    [
        Transition("bored", "peace/idle", "peace/patrol"), Transition("see", "peace", "hostile"),
        Transition("calm", "hostile", "peace", history=History.DEEP), Transition(None, "peace", "hostile", after_s=3.0),
    ])


def machine(**more):
    return StateMachine(DEFINITION, name="bob", faults=FaultIsolation(report=lambda fault: None), **more)


def lived():
    one = machine()
    one.send("bored")
    one.update(0.5)
    one.update(0.5)
    return one


def test_a_machine_is_a_part_of_a_snapshot_with_its_clock():
    clocks = ManualClock(), ManualClock()
    first, second = (machine(clock=clock) for clock in clocks)
    clocks[0].advance(seconds=5.0)
    first.send("bored")
    clocks[0].advance(seconds=1.0)
    text = to_json(take({"bob": first, "clock": clocks[0]}))
    restore(from_json(text), {"bob": second, "clock": clocks[1]})
    assert second.time_in_state_s == 1.0
    assert second.state == "peace/patrol"


def test_times_history_and_failures_come_back():
    first, second = lived(), machine()
    second.prepare_state(first.save_state())()
    for one in (first, second):
        one.update(0.5)  # the third failure in a row: left out
        one.update(1.5)
    assert second.state == first.state == "hostile"
    assert second.save_state() == first.save_state()
    assert second.save_state()["failing"] == [["update of peace/patrol", [3, True]]]
    second.send("calm")
    assert second.state == "peace/patrol"


def test_a_machine_that_has_not_begun_is_saved_and_loaded_so():
    second = lived()
    second.prepare_state(machine().save_state())()
    assert second.state == ""
    assert second.save_state() == machine().save_state()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"state": "peace/idl"},
         "'state': unknown state 'peace/idl'; did you mean 'peace/idle'"),
        ({"state": "peace"}, "'state' must be a state without child states, got 'peace'"),
        ({"previous": 3}, "'previous': unknown state 3"),
        ({"left": [["peace", "hostile"]]}, "'left[0][1]' must be a state inside 'peace' without child states"),
        ({"left": [["pace", "hostile"]]}, "'left[0][0]': unknown state 'pace'"),
        ({"since_around": [["war", 1.0]]}, "'since_around[0][0]': unknown state 'war'"),
        ({"updates": -1}, "'updates' must be at least 0"),
        ({"failing": [["enter of war", [1, False]]]}, "'failing[0][0]': unknown callback 'enter of war'"),
        ({"failing": [["its own events", [1, False]]] * 2}, "'failing[1][0]' occurs twice")])
def test_what_does_not_fit_is_refused_and_nothing_changes(change, says):
    one = lived()
    before = one.save_state()
    with pytest.raises(StateError) as raised:
        one.prepare_state({**before, **change})
    assert says in str(raised.value)
    assert one.save_state() == before


def test_time_in_which_it_stood_still_counts_in_no_state():
    clock = ManualClock()
    one = machine(clock=clock)
    one.start()
    clock.advance(seconds=2.0)
    one.send("bored")
    clock.advance(seconds=5.0)
    one.skip_time(4.5)
    assert one.time_in_state_s == 0.5
    one.update(0.1)
    assert one.state == "peace/patrol"      # in peace for 2.5 of 7 seconds
    one.skip_time(100.0)
    assert one.time_in_state_s == 0.0
    clock.advance(seconds=3.0)
    one.update(0.1)
    assert one.state == "hostile"


@pytest.mark.parametrize("has_clock", [False, True])
def test_a_pause_of_its_scheduler_is_left_out_once(has_clock):
    clock = ManualClock()
    one, scheduler = machine(clock=clock if has_clock else None), Scheduler(clock)
    scheduler.add(one)
    for _ in range(8):
        clock.advance(seconds=0.25)
        scheduler.advance(Budget.unlimited())
    before_s = one.time_in_state_s
    clock.advance(seconds=5.0)
    scheduler.skip_time(5.0)
    assert one.time_in_state_s == before_s > 0.0


@pytest.mark.parametrize(("seconds", "error"), [(-1.0, ValueError), (float("nan"), ValueError), ("1", TypeError)])
def test_it_stands_still_for_seconds(seconds, error):
    with pytest.raises(error, match="seconds must be"):
        machine().skip_time(seconds)
