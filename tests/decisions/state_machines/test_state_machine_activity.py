"""Which states are active inside callbacks, and to which one history leads, as SCXML has it."""
from __future__ import annotations

import pytest

from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import History, State, StateMachineDefinition, Transition


@pytest.mark.parametrize(("history", "state"), [(History.SHALLOW, "work/dig/down"), (History.DEEP, "work/dig/up")])
def test_history_of_an_active_state_is_where_it_is_left_now(history, state):
    machine = StateMachine(StateMachineDefinition(
        "digger", [State("work", [State("talk"), State("dig", [State("down"), State("up")])]), State("rest")],
        [Transition("lift", None, "work/dig/up"), Transition("again", None, "work", history=history)]))
    machine.start()
    machine.send("again")
    assert machine.state == "work/talk"
    machine.send("lift")
    machine.send("again")          # talk is what the last exit of work had noted
    assert machine.state == state


def test_left_inner_state_is_inactive_when_the_outer_is_left():
    """What SCXML asks in W3C test 409; and none that is left counts in the transition's action."""
    seen = []

    def look(machine):
        seen.append((machine.state, machine.is_in("s0/s01"), machine.is_in("s0"), machine.is_in("s1")))

    machine = StateMachine(StateMachineDefinition(
        "w3c 409", [State("s0", [State("s01", exit=look)], exit=look), State("s1", enter=look)],
        [Transition("go", "s0", "s1", action=look)]))
    machine.send("go")
    assert seen == [
        ("s0/s01", True, True, False), ("s0", False, True, False), ("", False, False, False),
        ("s1", False, False, True)]


def test_inner_state_is_inactive_before_the_outer_is_entered():
    """What SCXML asks in W3C test 411."""
    seen = []

    def look(machine):
        seen.append((machine.state, machine.is_in("s0"), machine.is_in("s0/s01")))

    machine = StateMachine(StateMachineDefinition(
        "w3c 411", [State("s0", [State("s01", enter=look), State("s02")], enter=look)],
        [Transition("on", "s0/s01", "s0/s02", action=look)]))
    machine.start()
    assert seen == [("s0", True, False), ("s0/s01", True, True)]
    machine.send("on")
    assert seen[2:] == [("s0", True, False)]       # what stays active counts in the action
    assert machine.state == "s0/s02"


def test_stopping_counts_states_as_they_are_left():
    seen = []
    machine = StateMachine(StateMachineDefinition(
        "stopped", [State("out", [State("in", exit=lambda machine: seen.append(machine.state))],
                          exit=lambda machine: seen.append(machine.state))],
        [Transition("on", None, None)]))
    machine.start()
    machine.stop()
    assert (seen, machine.state) == (["out/in", "out"], "")


def test_action_knows_how_long_the_left_state_was_active():
    found = []
    machine = StateMachine(StateMachineDefinition(
        "bomb", [State("lit"), State("out")],
        [Transition("wet", "lit", "out", action=lambda machine: found.append(machine.time_in_state_s))]))
    machine.update(0.0)
    machine.update(2.5)
    machine.send("wet")
    assert (found, machine.time_in_state_s) == ([2.5], 0.0)
