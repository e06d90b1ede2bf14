"""Delivery: each listener is called once, whatever the listeners change meanwhile."""
from __future__ import annotations

import weakref

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
def test_weak_listeners_are_called_in_order(events, crowd, kinds):
    event, log, ears, _ = crowd(kinds)
    events.deliver(event)
    events.deliver(event)
    assert log == [*ears] * 2
    assert events.counts.delivered == 3 * len(kinds)


@pytest.mark.parametrize("who", ["w1", "w2", "w3", "s4"])
def test_stopped_listener_is_skipped_and_others_called_once(events, crowd, who):
    stopped = []
    event, log, ears, listenings = crowd("wwwws", w0=lambda: [listenings_of[one].stop() for one in stopped])
    listenings_of = listenings
    stopped.append(who)
    events.deliver(event)
    assert log == [one for one in ears if one != who]


def test_raising_one_of_a_run_is_quarantined_and_others_called(events, crowd):
    wrong = []
    event, log, _ears, _ = crowd("www", w1=lambda: wrong and wrong[0]["nobody"])
    wrong.append({})
    for _ in range(5):
        events.deliver(event)
    assert log.count("w0") == log.count("w2") == 5
    assert log.count("w1") == 3
    assert events.counts.failed == 3


def test_one_of_a_run_that_is_freed_is_dropped_and_counted(events, crowd):
    event, log, ears, listenings = crowd("wwww")
    del ears["w2"]
    events.deliver(event)
    events.deliver(event)
    assert log == ["w0", "w1", "w3"] * 2
    assert events.counts.freed == 1
    assert not listenings["w2"].is_active


def test_nested_send_now_delivers_to_each_listener_twice(events, crowd):
    depth = []

    def again():
        if events.counts.sent and not depth:
            depth.append(1)
            events.deliver(event)

    event, log, ears, _ = crowd("www")
    ear = Ear("again", log, again)
    events.listen("bell", ear.hear, weak=True)
    events.deliver(event)
    assert log == [*ears, "again"] * 2


def test_handler_registered_twice_is_called_twice(events):
    log, broken = [], [False]

    def hear(event):
        log.append("twice")
        if broken[0]:
            raise ValueError("broken")

    first = events.listen("bell", hear)
    events.listen("bell", lambda event: log.append("other"))
    second = events.listen("bell", hear)
    event = events.send_now("bell")
    events.deliver(event)
    assert log == ["twice", "other", "twice"] * 2
    broken[0] = True
    for _ in range(4):
        events.deliver(event)
    assert events.counts.failed == 6  # each of both until it is left out
    first.stop()
    broken[0] = False
    events.faults.release(second)
    log.clear()
    events.deliver(event)
    assert log == ["other", "twice"]


def test_listener_that_stops_all_others_is_the_last_called(events, crowd):
    stopped = []
    event, log, _ears, listenings = crowd("sws", s0=lambda: [one.stop() for one in stopped])
    stopped += listenings.values()
    events.deliver(event)
    assert log == ["s0"]
    events.deliver(event)
    assert log == ["s0"]
    assert events.counts.unheard == 1


class Dog(Ear):
    """Has a method of its own to hear with."""

    def hear(self, event):
        super().hear(event)


class Hut:
    """Whose methods all hear, and who keeps a function."""

    def __init__(self, log):
        self.log = log

        def bell(event):
            self.log.append("function")

        self.function = bell

    def door(self, event):
        self.log.append("door")

    def window(self, event):
        self.log.append("window")


@pytest.fixture
def village(events):
    """Weak and strong listeners of several functions, some of one and the same keeper."""
    log = []
    hut, other = Hut(log), Hut(log)
    ears = [Ear("ear", log), Dog("dog", log), Ear("last", log)]
    handlers = [ears[0].hear, hut.door, hut.window, hut.function, ears[1].hear, other.function, ears[2].hear]
    are_weak = [True, True, True, True, False, False, True]
    listenings = [events.listen("bell", one, weak=weak) for one, weak in zip(handlers, are_weak, strict=True)]
    del handlers
    event = events.send_now("bell")
    log.clear()
    return event, log, listenings, hut, ears


ALL = ["ear", "door", "window", "function", "dog", "function", "last"]


def test_mixed_methods_and_functions_are_called_in_their_places(events, village):
    event, log, *_ = village
    events.deliver(event)
    assert log == ALL


@pytest.mark.parametrize("place", range(len(ALL)))
def test_stopped_listener_among_mixed_handlers_is_skipped(events, village, place):
    event, log, listenings, *_ = village
    first = events.listen("bell", lambda event: listenings[place].stop(), priority=1)
    events.deliver(event)
    assert log == [one for number, one in enumerate(ALL) if number != place]
    first.stop()


@pytest.mark.parametrize("place", range(len(ALL)))
def test_failing_one_of_a_mix_is_reported_and_others_are_called(events, village, place):
    event, log, listenings, *_ = village
    called = []

    class Broken:
        def hear(self, event):
            called.append(1)
            raise ValueError("broken")

    broken = Broken()
    listenings[place].stop()
    log.clear()
    ended = events.listen("bell", broken.hear, weak=True, priority=place % 2)
    events.deliver(event)
    assert log == [one for number, one in enumerate(ALL) if number != place]
    assert (called, events.counts.failed, ended.is_active) == ([1], 1, True)


def test_listener_that_dies_mid_run_is_dropped_and_others_called(events, village):
    event, log, listenings, _, ears = village
    ears[0].reaction = lambda: ears.pop()
    events.deliver(event)
    assert log == ALL[:-1]
    assert (events.counts.freed, listenings[-1].is_active) == (1, False)
    log.clear()
    events.deliver(event)
    assert (log, events.counts.freed) == (ALL[:-1], 1)


def test_the_first_of_all_may_be_dead_and_so_may_everybody(events, crowd):
    event, log, ears, _ = crowd("www")
    del ears["w0"]
    events.deliver(event)
    assert log == ["w1", "w2"]
    ears.clear()
    events.deliver(event)
    assert log == ["w1", "w2"]
    assert (events.counts.freed, events.counts.delivered) == (3, 3 + 2)


def test_weak_and_strong_listener_is_always_called_twice(events):
    log, wrong = [], []
    ear = Ear("twice", log, lambda: wrong and wrong[0]["nobody"])
    for weak in (True, False):
        events.listen("bell", ear.hear, weak=weak)
    event = events.send_now("bell")
    wrong.append({})
    events.deliver(event)
    assert log == ["twice"] * 4
    assert events.counts.failed == 2


def test_weak_objects_may_equal_everything_and_be_unhashable(events):
    log = []

    class Odd:
        __hash__ = None

        def __eq__(self, other):
            return True

        def hear(self, event):
            log.append(self)

    odd = [Odd() for _ in range(3)]
    listenings = [events.listen("bell", one.hear, weak=True) for one in odd]
    event = events.send_now("bell")
    log.clear()
    events.listen("bell", lambda event: listenings[1].stop(), priority=1)
    events.deliver(event)
    assert [id(one) for one in log] == [id(odd[0]), id(odd[2])]


MANY = 96
each_place = pytest.mark.parametrize("place", [0, 1, MANY // 2, MANY - 1])


@each_place
def test_stopped_guards_are_left_out_and_the_others_called_once(events, crowd, place):
    stopped = []
    event, log, ears, listenings = crowd("s" * MANY)
    events.listen("bell", lambda event: stopped and stopped.pop().stop(), priority=1)
    stopped.append(listenings[f"s{place}"])
    events.deliver(event)
    assert log == [one for one in ears if one != f"s{place}"]


@each_place
def test_failing_guards_are_reported_and_the_others_called_once(events, crowd, place):
    wrong = []
    event, log, ears, _ = crowd("s" * MANY, **{f"s{place}": lambda: wrong and wrong[0]["nobody"]})
    wrong.append({})
    for _ in range(4):
        events.deliver(event)
    assert events.counts.failed == 3
    assert log == [*ears] * 3 + [one for one in ears if one != f"s{place}"]


@pytest.mark.parametrize("is_method", [True, False])
def test_guards_are_called_as_often_as_they_listen_and_counted(events, is_method):
    log = []
    guards = [Ear(str(number), log) for number in range(MANY)]
    for one in (*guards, guards[0]):
        events.listen("bell", one.hear if is_method else lambda event, one=one: one.hear(event))
    event = events.send_now("bell")
    for _ in range(2):
        events.deliver(event)
    assert log == [*map(str, range(MANY)), "0"] * 3
    assert events.counts.delivered == 3 * (MANY + 1)


def test_caller_of_many_guards_is_not_kept_after_they_stop(events):
    guards = [Ear(str(number), []) for number in range(MANY)]
    known = [weakref.ref(one) for one in guards]
    listenings = [events.listen("bell", one.hear) for one in guards]
    events.send_now("bell")
    for one in listenings:
        one.stop()
    guards.clear()
    del listenings, one
    assert [one() for one in known] == [None] * MANY
