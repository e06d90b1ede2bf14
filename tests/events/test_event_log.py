"""The log: what is written, what is found, what it looks like."""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation


@pytest.fixture
def events():
    manager = EventManager(ManualClock(0.25), faults=FaultIsolation(report=lambda fault: None))
    manager.log = EventLog()
    return manager


def kinds(log, **conditions):
    return [(one.kind, one.code, one.who) for one in log.entries(**conditions)]


def test_events_and_deliveries_are_written_in_order(events):
    events.listen("alarm", lambda event: None, name="dog")
    events.listen("alarm", lambda event: 1 / 0, name="cat")
    events.send("alarm", "loud", sender="bell", deadline_s=0)
    events.send_now("whisper")
    events.clock.advance()
    events.advance(Budget.unlimited())
    assert kinds(events.log) == [
        ("sent", "alarm", "bell"), ("sent", "whisper", ""), ("unheard", "whisper", ""),
        ("told", "alarm", "dog"), ("failed", "alarm", "cat"), ("late", "alarm", ""),
    ]
    assert events.log.entries(kinds="sent")[0].detail == "('loud',)"
    assert events.log.entries(kinds="late")[0].detail == "by 0.250 s"


def test_entries_are_found_by_kind_code_name_and_frame(events):
    for name in ("dog", "cat"):
        events.listen(("a", "b"), lambda event: None, name=name)
    events.send_now("a")
    events.clock.advance()
    events.send_now("b")
    log = events.log
    assert kinds(log, kinds="told", who="dog") == [("told", "a", "dog"), ("told", "b", "dog")]
    assert kinds(log, kinds=("sent", "told"), code="b") == [
        ("sent", "b", ""), ("told", "b", "dog"), ("told", "b", "cat"),
    ]
    assert kinds(log, since_frame=1) == kinds(log, code="b")
    with pytest.raises(ValueError, match=r"kinds must be any of check, sent, .*, got 'tolled'"):
        log.entries(kinds="tolled")


def test_what_is_injected_by_hand_is_told_and_shown_as_such(events):
    heard = []
    events.listen("alarm", heard.append)
    event = events.inject("alarm", 3, sender="debug key")
    events.advance(Budget.unlimited())
    assert heard == [event]
    assert kinds(events.log)[0] == ("injected", "alarm", "debug key")


def test_event_sent_again_is_logged_though_listener_was_left_out(events):
    log, events.log = events.log, None
    is_wanted = []
    events.listen("x", lambda event: None, name="picky", where=lambda event: is_wanted)
    event = events.send_now("x")
    is_wanted.append(True)
    events.log = log
    events.tell(event)
    assert [(one.kind, one.who) for one in log.entries()] == [("sent", ""), ("told", "picky")]


def test_the_ring_keeps_the_latest(events):
    events.log = EventLog(capacity=3)
    for number in range(5):
        events.send("x", number)
    assert len(events.log) == 3
    assert events.log.dropped == 2
    assert [one.detail for one in events.log.entries()] == ["(2,)", "(3,)", "(4,)"]
    events.log.clear()
    assert (len(events.log), events.log.dropped) == (0, 0)


def test_the_table_is_ascii_and_lined_up():
    log = EventLog()
    log.note("sent", TimeIndex(9, 0.5), "alarm", "Zoë", "x" * 50)
    log.note("told", TimeIndex(10, 0.75), "alarm", "dog", "two\nlines")
    lines = log.table().splitlines()
    assert lines[0].split() == ["frame", "seconds", "kind", "code", "who", "detail"]
    assert lines[1] == "9      0.500    sent  alarm  Zo\\xeb  " + "x" * 37 + "..."
    assert lines[2] == "10     0.750    told  alarm  dog     two\\nlines"
    assert log.table([]) == "frame  seconds  kind  code  who  detail"


def test_what_is_told_does_not_depend_on_the_log():
    def told(log):
        events = EventManager(ManualClock(), faults=FaultIsolation(report=lambda fault: None))
        events.log, heard = log, []
        events.listen("x", lambda event: heard.append(("a", event.arguments)))
        events.listen("x", lambda event: 1 / 0, priority=1)
        events.listen("x", lambda event: heard.append(("b", event.arguments)), once=True)
        for number in range(5):
            events.send("x", number)
            events.advance(Budget.of_steps(2))
        return heard, events.counts

    assert told(EventLog()) == told(None)


def test_without_a_log_nothing_is_written(events):
    log, events.log = events.log, None
    events.send_now("x")
    assert len(log) == 0


@pytest.mark.parametrize(
    ("capacity", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_a_capacity_that_is_none_is_refused(capacity, error):
    with pytest.raises(error, match="capacity must be"):
        EventLog(capacity)
