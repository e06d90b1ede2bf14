"""Callbacks that only tell whoever listens are left out while nobody does."""
from __future__ import annotations

import pytest

from ai_core.clock import ManualClock
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import PREVIOUS, State, StateMachineDefinition, Transition


class Notice:
    is_notice = True

    def __init__(self, diary, what):
        self.diary, self.what = diary, what

    def __call__(self, machine):
        self.diary.append(self.what)


@pytest.fixture
def diary():
    return []


@pytest.fixture
def listening(diary):
    """``listening.answer`` is what it says; ``listening.asked`` when it was asked."""
    class Listening:
        answer, asked = False, []

        def __call__(self, parts, now_s):
            self.asked.append(now_s)
            return self.answer

    made = Listening()
    made.asked = []
    return made


def door(diary, listening, clock=None, **calls):
    def state(name):
        return State(name, enter=calls.get(f"+{name}", Notice(diary, f"+{name}")), exit=Notice(diary, f"-{name}"))

    transitions = [
        Transition("open", "closed", "ajar", action=calls.get("open", Notice(diary, "open"))),
        Transition("shut", "ajar", "closed"),
        Transition("back", None, PREVIOUS)]
    definition = StateMachineDefinition("door", [state("closed"), state("ajar")], transitions)
    return StateMachine(definition, listening=listening, clock=clock)


def test_notices_are_left_out_while_nobody_listens(diary, listening):
    machine = door(diary, listening)
    machine.start()
    assert machine.send("open")
    assert (machine.state, diary) == ("ajar", [])
    listening.answer = True
    machine.send("shut")
    assert diary == ["-ajar", "+closed"]
    listening.answer = False
    assert machine.send("back")
    assert (machine.state, diary) == ("ajar", ["-ajar", "+closed"])


def test_all_are_called_of_a_change_that_makes_other_calls(diary, listening):
    machine = door(diary, listening, open=lambda machine: diary.append("creaks"))
    machine.start()
    machine.send("open")
    assert diary == ["-closed", "creaks", "+ajar"]
    machine.send("shut")
    assert len(diary) == 3
    machine = door(diary, listening, **{"+ajar": lambda machine: diary.append("draught")})
    machine.start()
    machine.send("open")
    assert diary[3:] == ["-closed", "open", "draught"]


def test_who_is_to_be_told_is_asked_with_the_time_of_the_change(diary, listening):
    clock = ManualClock(0.5)
    machine = door(diary, listening, clock)
    machine.start()
    clock.advance()
    machine.send("open")
    assert listening.asked == [0.0, 0.5]
    clock.advance()
    assert machine.time_in_state_s == 0.5


def test_notices_without_a_filter_are_called_like_others(diary):
    machine = door(diary, None)
    machine.send("open")
    assert diary == ["+closed", "-closed", "open", "+ajar"]
