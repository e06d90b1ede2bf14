"""Bare loops over calls: whoever changes what under them, each listener is told once."""
from __future__ import annotations

import pytest

from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation


class Ear:
    def __init__(self, name, log, reaction=None):
        self.name, self.log, self.reaction = name, log, reaction

    def hear(self, event):
        self.log.append(self.name)
        if self.reaction is not None:
            self.reaction()


@pytest.fixture
def events():
    return EventManager(ManualClock(), faults=FaultIsolation(report=lambda fault: None))


@pytest.fixture
def crowd(events):
    """``crowd("sww")``: listeners by name, one held strongly, two weakly."""

    def make(kinds, **reactions):
        log, ears, listenings = [], {}, {}
        for number, kind in enumerate(kinds):
            name = f"{kind}{number}"
            ears[name] = Ear(name, log, reactions.get(name))
            listenings[name] = events.listen("bell", ears[name].hear, weak=kind == "w")
        event = events.send_now("bell")
        log.clear()
        return event, log, ears, listenings

    return make


@pytest.mark.parametrize("kinds", ["w", "ww", "sww", "wws", "wsw", "swwsww"])
def test_listeners_held_weakly_are_told_in_their_places(events, crowd, kinds):
    event, log, ears, _ = crowd(kinds)
    events.tell(event)
    events.tell(event)
    assert log == [*ears] * 2
    assert events.counts.delivered == 3 * len(kinds)


@pytest.mark.parametrize("who", ["w1", "w2", "w3", "s4"])
def test_who_is_stopped_by_an_earlier_one_hears_nothing_and_the_rest_is_told_once(events, crowd, who):
    stopped = []
    event, log, ears, listenings = crowd("wwwws", w0=lambda: [listenings_of[one].stop() for one in stopped])
    listenings_of = listenings
    stopped.append(who)
    events.tell(event)
    assert log == [one for one in ears if one != who]


def test_one_of_a_run_that_raises_is_left_out_after_three_times_and_the_others_are_told(events, crowd):
    wrong = []
    event, log, _ears, _ = crowd("www", w1=lambda: wrong and wrong[0]["nobody"])
    wrong.append({})
    for _ in range(5):
        events.tell(event)
    assert log.count("w0") == log.count("w2") == 5
    assert log.count("w1") == 3
    assert events.counts.failed == 3


def test_one_of_a_run_that_is_freed_is_dropped_and_counted(events, crowd):
    event, log, ears, listenings = crowd("wwww")
    del ears["w2"]
    events.tell(event)
    events.tell(event)
    assert log == ["w0", "w1", "w3"] * 2
    assert events.counts.freed == 1
    assert not listenings["w2"].is_active


def test_a_run_that_tells_itself_again_tells_each_twice(events, crowd):
    depth = []

    def again():
        if events.counts.sent and not depth:
            depth.append(1)
            events.tell(event)

    event, log, ears, _ = crowd("www")
    ear = Ear("again", log, again)
    events.listen("bell", ear.hear, weak=True)
    events.tell(event)
    assert log == [*ears, "again"] * 2


def test_who_listens_twice_is_told_twice_whatever_happens(events):
    log, broken = [], [False]

    def hear(event):
        log.append("twice")
        if broken[0]:
            raise ValueError("broken")

    first = events.listen("bell", hear)
    events.listen("bell", lambda event: log.append("other"))
    second = events.listen("bell", hear)
    event = events.send_now("bell")
    events.tell(event)
    assert log == ["twice", "other", "twice"] * 2
    broken[0] = True
    for _ in range(4):
        events.tell(event)
    assert events.counts.failed == 6  # each of both until it is left out
    first.stop()
    broken[0] = False
    events.dispatcher.faults.release(second)
    log.clear()
    events.tell(event)
    assert log == ["other", "twice"]


def test_who_stops_everybody_from_within_is_the_last_to_be_told(events, crowd):
    stopped = []
    event, log, _ears, listenings = crowd("sws", s0=lambda: [one.stop() for one in stopped])
    stopped += listenings.values()
    events.tell(event)
    assert log == ["s0"]
    events.tell(event)
    assert log == ["s0"]
    assert events.counts.unheard == 1
