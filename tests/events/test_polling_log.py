"""The log of a polling station: what is noted, for how long, and how it reads."""
from __future__ import annotations

import gc
import weakref

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.polling.polling_log import PollingLog
from ai_core.events.polling.polling_station import PollingStation


@pytest.fixture
def station():
    station = PollingStation(ManualClock(0.5))
    station.add_topic("near", lambda a, b: a + b, fallback=-1, lifetime_frames=2)
    station.add_topic("secret", lambda n: n, may_ask=lambda asker, n: asker == n)
    station.add_topic("bad", lambda: 1 / 0)
    station.log = PollingLog()
    return station


def lived(station):
    station.poll_as("Ann", "near", 1, 2)
    station.poll("near", 1, 2)
    station.poll_many("near", [(1, 2), (3, 4)], asker="Bob")
    station.poll_as(8, "secret", 7)
    with pytest.raises(ZeroDivisionError):
        station.poll("bad")
    station.clock.advance(2)
    station.invalidate("near", 3, 4)
    station.begin_frame(Budget.of_steps(0))
    station.poll("near", 1, 2)
    station.poll("near", 5, 6)
    return station.log


def test_every_poll_is_noted_with_how_it_was_answered(station):
    log = lived(station)
    assert [one.how for one in log.entries()] == [
        "computed", "kept", "kept", "computed", "refused", "raised", "invalidated", "stale", "fallback",
    ]
    assert log.entries()[-2] == (2, 1.0, "near", ("1", "2"), "", "stale", 2, "3")


def test_entries_are_found_by_topic_way_asker_key_and_frame(station):
    log = lived(station)
    assert len(log) == 9
    assert [one.code for one in log.entries(how="refused")] == ["secret"]
    assert len(log.entries(code="near")) == 7
    assert [one.question for one in log.entries(asker="Bob")] == ["near(1, 2)", "near(3, 4)"]
    assert [one.how for one in log.entries(about=4)] == ["computed", "invalidated"]
    assert len(log.entries(since_frame=2, code="near")) == 3
    with pytest.raises(UnknownNameError, match="unknown origin of an answer 'hit'"):
        log.entries(how="hit")


def test_the_table_reads(station):
    text = lived(station).table(max_rows=3)
    assert text.splitlines() == [
        "frame  question    asker  how          age  answer",
        "-----  ----------  -----  -----------  ---  ------",
        "    2  near(3, 4)         invalidated",
        "    2  near(1, 2)         stale          2  3",
        "    2  near(5, 6)         fallback          -1",
    ]
    assert text.isascii()


def test_a_log_is_bounded_and_can_be_emptied_and_taken_away(station):
    station.log = log = PollingLog(3)
    lived(station)
    assert [one.how for one in log.entries()] == ["invalidated", "stale", "fallback"]
    log.clear()
    station.log = None
    station.poll("near", 1, 2)
    assert len(log) == 0


def test_a_log_changes_no_answer_and_no_count():
    def counted(log):
        station = PollingStation(ManualClock())
        station.add_topic("t", lambda n: n)
        station.log = log
        answers = [station.poll("t", n % 3) for n in range(9)] + station.poll_many("t", [(1,), (5,), (5,)])
        return answers, station.statistics()

    assert counted(PollingLog()) == counted(None)


def test_a_topic_added_later_is_logged_too(station):
    station.add_topic("late", lambda: 1)
    station.poll("late")
    station.poll("late")
    assert [one.how for one in station.log.entries(code="late")] == ["computed", "kept"]


def test_a_log_keeps_nothing_alive(station):
    class Guard:
        def __add__(self, _other):
            return 1

    guard = Guard()
    gone = weakref.ref(guard)
    station.poll_as(guard, "near", guard, 1)
    station.remove_topic("near")
    del guard
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(("most", "error"), [(0, ValueError), (True, TypeError), (2.5, TypeError)])
def test_a_log_of_nothing_is_refused(most, error):
    with pytest.raises(error, match="maximum_entries must be"):
        PollingLog(most)


def test_only_a_log_is_a_log(station):
    with pytest.raises(TypeError, match="log must be of class PollingLog or None, got 3"):
        station.log = 3
