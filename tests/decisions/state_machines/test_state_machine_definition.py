"""A definition that cannot work is refused, and the error names the place."""
from __future__ import annotations

import pytest

from ai_core.decisions.state_machine_definition import (
    MAXIMUM_DEPTH,
    PREVIOUS,
    History,
    State,
    StateMachineDefinition,
    Transition,
)
from ai_core.errors import UnknownNameError

A, B = State("a"), State("b", [State("c")])


def nothing(machine):
    pass


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: State(""), ValueError, "the name of a state must be a non-empty string without '/', got ''"),
        (lambda: State("a/b"), ValueError, "got 'a/b'"),
        (lambda: State(3), ValueError, "got 3"),
        (lambda: State(PREVIOUS), ValueError, "got '<previous>'"),
        (lambda: State("a", [State("x"), State("x")]), ValueError, "state 'a': two states are named 'x'; rename one"),
        (lambda: State("a", ["x"]), TypeError, "state 'a': states must hold State, got 'x'"),
        (lambda: State("a", [State("x")], initial="y"), ValueError,
         "state 'a': initial must be the name of a child state ('x'), got 'y'"),
        (lambda: State("a", initial="y"), ValueError, "(none), got 'y'"),
        (lambda: State("a", enter=3), TypeError, "state 'a': enter must be a callable or None, got 3"),
        (lambda: State("a", update="x"), TypeError, "state 'a': update must be a callable"),
        (lambda: Transition(3, "a", "b"), TypeError, "event of a transition must be a non-empty string"),
        (lambda: Transition("e", "a", ""), TypeError, "target of a transition must be a non-empty string"),
        (lambda: Transition("e", "a", "b", guard=1), TypeError, "transition 'e' from 'a': guard must be a callable"),
        (lambda: Transition("e", "a", "b", action=1), TypeError, "transition 'e' from 'a': action must be a callable"),
        (lambda: Transition("e", "a", "b", history="deep"), TypeError, "history must be a History or None"),
        (lambda: Transition("e", "a", None, history=History.DEEP), ValueError, "history requires a target state"),
        (lambda: Transition("e", "a", PREVIOUS, history=History.DEEP), ValueError, "history requires a target state"),
        (lambda: Transition("e", "a", "b", after_s=1.0), ValueError, "event and after_s exclude each other"),
        (lambda: Transition(None, "a", "b"), ValueError,
         "transition without event from 'a': must have an event, a guard or after_s"),
        (lambda: Transition(None, "a", None, after_s=1.0), ValueError, "must have a target or an action"),
        (lambda: Transition(None, "a", "b", after_s=-1.0), ValueError, "after_s must be at least 0, got -1.0"),
        (lambda: Transition(None, "a", "b", after_s=float("nan")), ValueError, "after_s must be a finite number"),
        (lambda: StateMachineDefinition("", [A]), ValueError, "name of a state machine must be a non-empty string"),
        (lambda: StateMachineDefinition("m", []), ValueError, "state machine 'm' must have at least one state"),
        (lambda: StateMachineDefinition("m", [A, A]), ValueError, "state machine 'm': two states are named 'a'"),
        (lambda: StateMachineDefinition("m", [A], ["x"]), TypeError, "transitions must hold Transition, got 'x'"),
        (lambda: StateMachineDefinition("m", [A], initial="z"), ValueError, "initial must be the name"),
        (lambda: StateMachineDefinition("m", [A, B], [Transition("e", "a", "bb")]), UnknownNameError,
         "unknown state of 'm' (target of transition 'e' from 'a') 'bb'"),
        (lambda: StateMachineDefinition("m", [A, B], [Transition("e", "c", "a")]), UnknownNameError,
         "unknown state of 'm' (source of transition 'e' from 'c') 'c'; known: 'a', 'b', 'b/c'"),
        (lambda: StateMachineDefinition("m", [A], [Transition("e", PREVIOUS, "a")]), ValueError,
         "PREVIOUS must be used as a target only"),
        (lambda: StateMachineDefinition("m", [A], [Transition("e", "a", "a", history=History.DEEP)]), ValueError,
         "history requires a target with child states, and 'a' has none"),
        (lambda: StateMachineDefinition("m", [A, B], [
            Transition("e", "a", "b"), Transition("e", "a", "a", guard=nothing)]),
         ValueError, "transition 'e' from 'a' to 'a' is never taken: the earlier one to 'b' always is"),
        (lambda: StateMachineDefinition("m", [A, B], [
            Transition(None, "a", "b", after_s=1.0), Transition(None, "a", "b/c", after_s=2.0)]),
         ValueError, "is never taken")])
def test_what_cannot_work_is_refused(make, error, says):
    with pytest.raises(error) as raised:
        make()
    assert says in str(raised.value)


def test_states_nest_only_so_deep():
    inner = State("x")
    for _ in range(MAXIMUM_DEPTH):
        inner = State("x", [inner])
    with pytest.raises(ValueError, match=f"nest deeper than {MAXIMUM_DEPTH} at 'x/x"):
        StateMachineDefinition("deep", [inner])


def test_the_text_lists_states_and_the_transitions_from_them():
    def is_loud(machine):
        return True

    definition = StateMachineDefinition(
        "guard", [A, B], [
            Transition("noise", "a", "b", guard=is_loud, history=History.SHALLOW),
            Transition(None, "b", PREVIOUS, after_s=2.5), Transition("ring", None, None, action=nothing),
        ], initial="b")
    assert definition.to_text().splitlines() == [
        "guard",
        "  ring -> stays",
        "  a",
        "    noise -> b (shallow history) if is_loud",
        "  b (initial)",
        "    after 2.5 s -> <previous>",
        "    c (initial)"]
