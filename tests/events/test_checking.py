"""The checking engine: what is looked for, when, and for whom?"""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.checking import CheckingEngine
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


class Level:
    def __init__(self, **settings):
        self.clock = ManualClock(0.25)
        self.faults = []
        isolation = FaultIsolation(report=self.faults.append)
        self.scheduler = Scheduler(self.clock, policy=Policy.FREQUENCY, faults=isolation)
        self.events = EventManager(self.clock, **settings)
        self.engine = CheckingEngine(self.events, self.scheduler, self.clock)
        self.siren_is_on = False
        self.looked = []

    def look(self, wanted):
        self.looked.append((self.clock.now.frame, wanted))
        if self.siren_is_on:
            self.events.send("siren")

    def live(self, frames):
        for _ in range(frames):
            self.scheduler.advance(Budget.unlimited())
            self.events.advance(Budget.unlimited())
            self.clock.advance()


@pytest.fixture
def level():
    return Level()


def test_check_is_skipped_without_listeners(level):
    check = level.engine.add(("siren", "fire"), level.look)
    level.live(3)
    assert level.looked == []
    listening = level.events.listen("siren", print)
    level.live(1)
    level.events.listen("fire", print)
    level.live(1)
    listening.stop()
    level.live(1)
    assert level.looked == [(3, ("siren",)), (4, ("siren", "fire")), (5, ("fire",))]
    assert (check.runs, check.skips) == (3, 3)


def test_check_sends_its_event(level):
    heard = []
    level.events.listen("siren", heard.append)
    level.engine.add("siren", level.look)
    level.live(2)
    level.siren_is_on = True
    level.live(1)
    assert [one.code for one in heard] == ["siren"]


def test_check_runs_at_its_period(level):
    level.events.listen("siren", print)
    level.engine.add("siren", level.look, period_frames=4, phase_frames=0)
    level.live(12)
    assert [frame for frame, _ in level.looked] == [0, 4, 8]


def test_a_check_that_fails_is_isolated_under_its_name(level):
    def fail(wanted):
        raise RuntimeError("no physics")

    level.events.listen("siren", print)
    level.engine.add("siren", fail, name="siren check")
    level.engine.add("siren", level.look)
    level.live(5)
    assert [one.name for one in level.faults] == ["siren check"] * 3
    assert len(level.looked) == 5


def test_a_check_is_removed_and_no_other(level):
    level.events.listen("siren", print)
    check = level.engine.add("siren", level.look)
    level.engine.remove(check)
    level.live(2)
    assert level.looked == []
    assert level.engine.checks == ()
    with pytest.raises(ValueError, match="is not a check of this engine; pass the result of add"):
        level.engine.remove(check)


def test_checks_are_written_in_the_log(level):
    level.events.log = EventLog()
    level.events.listen("siren", print)
    level.engine.add("siren", level.look, name="ears")
    level.live(1)
    assert [(one.code, one.name) for one in level.events.log.entries(kinds="check")] == [("siren", "ears")]


def test_counts_are_saved_with_the_scheduler(level):
    other = Level()
    for one in (level, other):
        one.events.listen("siren", print)
        one.engine.add("siren", one.look)
    level.live(3)
    other.scheduler.prepare_state(level.scheduler.save_state())()
    assert other.engine.checks[0].runs == 3


def test_checks_run_for_a_narrowcast_too(level):
    cast = Narrowcast(level.clock)
    engine = CheckingEngine(cast, level.scheduler, level.clock)
    engine.add("siren", level.look)
    level.live(1)
    cast.add_member("bob", cast.add_group("room")).listen("siren", print)
    level.live(1)
    assert level.looked == [(1, ("siren",))]


def test_a_code_that_no_group_of_a_narrowcast_knows_is_refused(level):
    cast = Narrowcast(level.clock, codes=["siren"])
    cast.add_group("room")
    with pytest.raises(UnknownNameError, match="did you mean 'siren'"):
        CheckingEngine(cast, level.scheduler, level.clock).add("sirn", level.look)


def test_misuse_is_refused():
    level = Level(codes=["siren"])
    with pytest.raises(UnknownNameError, match="did you mean 'siren'"):
        level.engine.add("sirn", level.look)
    with pytest.raises(TypeError, match="check must be a callable, got None; it is called with a tuple of codes"):
        level.engine.add("siren", None)
    with pytest.raises(ValueError, match="codes must name at least one"):
        level.engine.add([], level.look)
    with pytest.raises(ValueError, match="period_frames"):
        level.engine.add("siren", level.look, period_frames=0)
    assert level.engine.checks == ()
