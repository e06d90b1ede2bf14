"""The log: what is written, what is found, what it looks like."""
from __future__ import annotations

import gc
import weakref

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.faults import FaultIsolation


@pytest.fixture
def events():
    manager = EventManager(ManualClock(0.25), faults=FaultIsolation(report=lambda fault: None))
    manager.log = EventLog()
    return manager


def kinds(log, **conditions):
    return [(one.kind, one.code, one.name) for one in log.entries(**conditions)]


def test_events_and_deliveries_are_written_in_order(events):
    events.listen("alarm", lambda event: None, name="dog")
    events.listen("alarm", lambda event: 1 / 0, name="cat")
    events.send("alarm", "loud", sender="bell", deadline_s=0)
    events.send_now("whisper")
    events.clock.advance()
    events.advance(Budget.unlimited())
    assert kinds(events.log) == [
        ("sent", "alarm", "bell"), ("sent", "whisper", ""), ("unheard", "whisper", ""),
        ("delivered", "alarm", "dog"), ("failed", "alarm", "cat"), ("late", "alarm", "")]
    assert events.log.entries(kinds="sent")[0].detail == "('loud',)"
    assert events.log.entries(kinds="late")[0].detail == "by 0.250 s"


def test_entries_are_found_by_kind_code_name_and_frame(events):
    for name in ("dog", "cat"):
        events.listen(("a", "b"), lambda event: None, name=name)
    events.send_now("a")
    events.clock.advance()
    events.send_now("b")
    log = events.log
    assert kinds(log, kinds="delivered", name="dog") == [("delivered", "a", "dog"), ("delivered", "b", "dog")]
    assert kinds(log, kinds=("sent", "delivered"), code="b") == [
        ("sent", "b", ""), ("delivered", "b", "dog"), ("delivered", "b", "cat")]
    assert kinds(log, since_frame=1) == kinds(log, code="b")
    with pytest.raises(ValueError, match=r"kinds must be any of check, sent, .*, got 'tolled'"):
        log.entries(kinds="tolled")


def test_injected_event_is_delivered_and_logged_as_injected(events):
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
    events.deliver(event)
    assert [(one.kind, one.name) for one in log.entries()] == [("sent", ""), ("delivered", "picky")]


def test_the_ring_keeps_the_latest(events):
    events.log = EventLog(capacity=3)
    for number in range(5):
        events.send("x", number)
    assert len(events.log) == 3
    assert events.log.dropped == 2
    assert [one.detail for one in events.log.entries()] == ["(2,)", "(3,)", "(4,)"]
    events.log.clear()
    assert (len(events.log), events.log.dropped) == (0, 0)


def test_the_table_has_a_row_per_entry_and_cuts_long_text():
    log = EventLog()
    log.note("sent", TimeIndex(9, 0.5), "alarm", "Zoë", "x" * 50)
    log.note("delivered", TimeIndex(10, 0.75), "alarm", "dog", "two\nlines")
    assert log.table().splitlines() == [
        "frame  seconds  kind       code   name  detail",
        "-----  -------  ---------  -----  ----  " + "-" * 40,
        "    9     0.50  sent       alarm  Zoë   " + "x" * 37 + "...",
        "   10     0.75  delivered  alarm  dog   two?lines"]
    assert log.table([]).split()[:6] == ["frame", "seconds", "kind", "code", "name", "detail"]


def test_log_does_not_change_deliveries():
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
    ("capacity", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_a_capacity_that_is_none_is_refused(capacity, error):
    with pytest.raises(error, match="capacity must be"):
        EventLog(capacity)


@pytest.fixture
def station():
    station = PollingStation(ManualClock(0.5))
    station.add_topic("near", lambda a, b: a + b, fallback=-1, lifetime_frames=2)
    station.add_topic("bad", lambda: 1 / 0)
    station.log = EventLog()
    return station


def test_polls_are_logged_with_the_origin_of_the_answer(station):
    station.poll_as("Ann", "near", 1, 2)
    station.poll("near", 1, 2)
    station.poll_many("near", [(1, 2), (3, 4)], asker="Bob")
    with pytest.raises(ZeroDivisionError):
        station.poll("bad")
    station.clock.advance(2)
    station.invalidate("near", 3, 4)
    station.begin_frame(Budget.of_steps(0))
    station.poll("near", 1, 2)
    station.poll("near", 5, 6)
    assert [(one.kind, one.code, one.name, one.detail) for one in station.log.entries()] == [
        ("computed", "near", "Ann", "(1, 2) = 3"), ("cached", "near", "", "(1, 2) = 3"),
        ("cached", "near", "Bob", "(1, 2) = 3"), ("computed", "near", "Bob", "(3, 4) = 7"),
        ("failed", "bad", "", "()"), ("invalidated", "near", "", "(3, 4)"),
        ("stale", "near", "", "(1, 2) = 3, 2 frames old"), ("fallback", "near", "", "(5, 6) = -1")]
    assert station.log.entries()[-1].at == (2, 1.0)


def test_an_event_manager_and_a_station_share_a_log(events, station):
    station.log = events.log
    events.listen("fall", lambda event: station.poll("near", 1, 1), name="guard")
    events.send_now("fall")
    assert [one.kind for one in events.log.entries()] == ["sent", "computed", "delivered"]


def test_a_log_changes_no_answer_and_no_count():
    def counted(log):
        station = PollingStation(ManualClock())
        station.add_topic("t", lambda n: n)
        station.log = log
        answers = [station.poll("t", n % 3) for n in range(9)] + station.poll_many("t", [(1,), (5,), (5,)])
        return answers, station.statistics()

    assert counted(EventLog()) == counted(None)


def test_a_log_keeps_no_answer_alive(station):
    class Thing:
        pass

    thing = Thing()
    station.add_topic("thing", lambda one: None, lifetime_frames=0)
    station.poll_as(thing, "thing", thing)
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_a_station_takes_only_a_log(station):
    with pytest.raises(TypeError, match="log must be an EventLog or None, got 3"):
        station.log = 3
