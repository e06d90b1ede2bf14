"""Events that answer each other at once, without end."""
from __future__ import annotations

import contextlib
import traceback

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from ai_core.faults import FaultIsolation


@pytest.fixture
def reports():
    return []


@pytest.fixture
def faults(reports):
    return FaultIsolation(report=reports.append)


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("is_queued", [False, True])
def test_endless_answering_is_cut_off_and_reported_once(faults, reports, weak, is_queued):
    events = EventManager(ManualClock(), faults=faults)
    calls, told = [], []

    class Ear:
        def answer(self, event):
            calls.append(event.code)
            events.send_now("pong" if event.code == "ping" else "ping")

        def hear(self, event):
            told.append(event.code)

    ears = [Ear() for _ in range(3)]
    for ear in ears:
        events.listen(["ping", "pong"], ear.answer, weak=weak)
    events.listen("ping", ears[0].hear)
    if is_queued:
        events.send("ping")
        events.advance(Budget.unlimited())
    else:
        events.send_now("ping")
    assert len(reports) == 3  # each of those who began to answer
    assert len(calls) < 5000  # and not three times as many with each level
    assert told == ["ping"]
    assert "events were delivered inside each other without end: 'ping' -> 'pong' -> 'ping'" in str(
        reports[0].error)
    assert len("".join(traceback.format_exception(reports[0].error))) < 1000


def test_handler_that_recovers_is_called_again(faults, reports):
    events, answers = EventManager(ManualClock(), faults=faults), [True]
    heard = []

    def answer(event):
        heard.append(event.code)
        if answers:
            events.send_now("ping")

    events.listen("ping", answer)
    events.send_now("ping")
    answers.clear()
    heard.clear()
    events.send_now("ping")
    assert heard == ["ping"]


def test_a_squad_that_answers_itself_without_end_is_ended(faults, reports):
    army = Narrowcast(ManualClock(), faults=faults)
    squad = army.add_group("red")
    for name in ("ann", "bob"):
        army.add_member(name, squad).listen("go", lambda event: squad.send_now("go"))
    squad.send_now("go")
    assert len(reports) == 2
    assert "'go' -> 'go'" in str(reports[0].error)


def test_endless_recursion_without_events_is_an_ordinary_failure(faults, reports):
    events, told = EventManager(ManualClock(), faults=faults), []

    def falls(event):
        falls(event)

    events.listen("ping", falls)
    events.listen("ping", lambda event: told.append(event.code))
    events.send_now("ping")
    assert told == ["ping"]
    assert type(reports[0].error) is RecursionError


@pytest.mark.parametrize("codes", [("alarm",), ("alarm", "fire")])
def test_sticky_event_listened_to_again_by_its_handler_ends(faults, reports, codes):
    events, calls = EventManager(ManualClock(), faults=faults), []

    def again(event):
        calls.append(event.code)
        events.listen_again(listening)

    listening = events.listen(codes, again, once=True)
    for code in codes:
        events.send(code, is_sticky=True)
    events.advance(Budget.unlimited())
    assert len(calls) == 64 * len(codes)
    assert len(reports) == len(codes)
    assert "'alarm' -> 'alarm'" in str(reports[0].error)
    assert "do not listen again to a sticky event" in str(reports[0].error)


def test_member_moved_on_and_on_by_sticky_events_ends(faults, reports):
    army, calls = Narrowcast(ManualClock(), faults=faults), []
    groups = [army.add_group(name) for name in ("red", "blue", "green")]
    for number, group in enumerate(groups):
        for code in ("alarm", "fire"):
            group.send_now(code, number, is_sticky=True)
    ann = army.add_member("ann", groups[0])

    def flee(event):
        calls.append(event.code)
        ann.move_to(groups[(event.arguments[0] + 1) % 3])

    handle = ann.listen(("alarm", "fire"), flee)
    assert len(calls) == 64
    assert handle.is_active
    assert len(reports) == 1


def test_endless_answers_whose_errors_are_caught_end(faults):
    events, calls = EventManager(ManualClock(), faults=faults), []

    def answer(event):
        calls.append(event.code)
        for _ in range(2):
            with contextlib.suppress(RecursionError):
                events.send_now("ping")

    events.listen("ping", answer)
    events.send_now("ping")
    assert len(calls) == 64
    calls.clear()
    events.send_now("ping")
    assert len(calls) == 64


def test_events_after_a_caught_error_are_refused_and_said_once(faults, reports, caplog):
    events, told = EventManager(ManualClock(), faults=faults), []
    events.log = EventLog()

    def answer(event):
        with contextlib.suppress(RecursionError):
            events.send_now("ping")
        events.send_now("door")

    events.listen("ping", answer)
    events.listen("ping", lambda event: events.send_now("door"))
    events.listen("door", lambda event: told.append(event.code))
    for _ in range(2):
        events.send_now("ping")
    assert told == []
    assert events.counts.refused == 2 * 2 * 64
    assert reports == []
    assert [record.getMessage() for record in caplog.records] == [
        "event 'door' was refused, as the handlers of 'ping' have answered each other without end, and nothing more is"
        " delivered inside it; answer with send instead of send_now; further refused events are counted without a"
        " warning"]
    assert "refused" in {one.kind for one in events.log.entries()}
    events.send_now("door")
    assert told == ["door"]


@pytest.mark.parametrize("use", ["advance", "save_state", "prepare_state"])
def test_handler_of_a_sticky_event_is_inside_a_delivery(faults, reports, use):
    events = EventManager(ManualClock(), faults=faults)
    events.send_now("alarm", is_sticky=True)
    given = {"advance": [Budget.unlimited()], "save_state": [], "prepare_state": [events.save_state()]}[use]
    events.listen("alarm", lambda event: getattr(events, use)(*given))
    assert [type(one.error) for one in reports] == [RuntimeError]
