"""Interest beyond the code: by mask, by predicate, by place, once, weakly, early."""
from __future__ import annotations

import gc
import logging
import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.event import EVERY_CODE, MOST_PRIORITY
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation


@pytest.fixture
def events():
    return EventManager(ManualClock(0.25))


class Guard:
    def __init__(self, position=(0.0, 0.0)):
        self.heard = []
        self.position = position

    def hear(self, event):
        self.heard.append(event.code)

    def where(self):
        return self.position

    def cares(self, event):
        return event.arguments != ("dull",)


def test_a_mask_stands_for_declared_codes():
    events = EventManager(ManualClock(), codes=["door", "shot", "siren"])
    guard = Guard()
    assert events.mask_of("door", "siren") == 0b101
    listening = events.listen(0b101, guard.hear)
    for code in events.codes:
        events.send_now(code)
    assert guard.heard == ["door", "siren"]
    assert listening.codes == ("door", "siren")


@pytest.mark.parametrize("mask", [0, -1, 0b1000])
def test_a_mask_of_codes_that_do_not_exist_is_refused(mask):
    events = EventManager(ManualClock(), codes=["door", "shot", "siren"])
    with pytest.raises(ValueError, match=r"codes must be at (least 1|most 7), got .*; use mask_of to make a mask"):
        events.listen(mask, print)


def test_masks_need_declared_codes(events):
    with pytest.raises(ValueError, match="a mask requires declared codes"):
        events.mask_of("door")
    for wrong in (3, True):
        with pytest.raises(TypeError, match=f"codes must be an event code or a sequence of event codes, got {wrong}"):
            events.listen(wrong, print)
    with pytest.raises(UnknownNameError, match="unknown event code 'dor'"):
        EventManager(ManualClock(), codes=["door"]).mask_of("dor")


def test_listener_to_every_code_receives_new_codes_in_order(events):
    told = []
    events.listen("x", lambda event: told.append("first"))
    listening = events.listen(EVERY_CODE, lambda event: told.append(event.code))
    events.listen("x", lambda event: told.append("last"))
    events.send_now("x")
    events.send_now("y")
    assert told == ["first", "x", "last", "y"]
    listening.stop()
    events.send_now("x")
    events.send_now("y")
    assert told[4:] == ["first", "last"]


def test_every_code_is_for_listening_alone(events):
    with pytest.raises(ValueError, match="'\\*' stands for every code and cannot be sent; send a single code"):
        events.send(EVERY_CODE)
    with pytest.raises(ValueError, match="'\\*' includes every other code; listen to it alone"):
        events.listen(["x", EVERY_CODE], print)
    with pytest.raises(ValueError, match="'\\*' stands for every code and cannot be declared"):
        EventManager(ManualClock(), codes=["x", EVERY_CODE])


def test_predicate_decides_delivery_and_count(events):
    guard = Guard()
    events.listen("news", guard.hear, where=guard.cares)
    for words in ("dull", "fire", "dull"):
        events.send_now("news", words)
    assert guard.heard == ["news"]
    assert events.counts.delivered == 1


@pytest.mark.parametrize(("x", "has_listeners"), [(49.9, True), (50.0, True), (50.1, False), (-50, True)])
def test_near_filter_delivers_grenades_within_fifty_metres(events, x, has_listeners):
    guard = Guard()
    events.listen("grenade", guard.hear, near=((0, 0, 0), 50))
    events.send_now("grenade", position=(x, 0))
    assert guard.heard == ["grenade"] * has_listeners


def test_a_region_moves_with_whoever_it_belongs_to(events):
    guard = Guard((100.0, 0.0, 7.0))
    events.listen("grenade", guard.hear, near=(guard.where, 5))
    events.send_now("grenade", position=(0, 0, 7))
    guard.position = (2.0, 0.0, 7.0)
    events.send_now("grenade", position=(0, 0, 7))
    assert guard.heard == ["grenade"]


def test_event_without_a_position_is_near_no_listener(events):
    guard = Guard()
    events.listen("grenade", guard.hear, near=((0, 0), 1e9))
    events.send_now("grenade")
    assert guard.heard == []


def test_failing_place_of_a_listener_fails_alone():
    faults = []
    events = EventManager(ManualClock(), faults=FaultIsolation(report=faults.append))
    lost, found = Guard((math.nan, 0)), Guard()
    for guard in (lost, found):
        events.listen("grenade", guard.hear, near=(guard.where, 5))
    events.send_now("grenade", position=(0, 0))
    assert (lost.heard, found.heard) == ([], ["grenade"])
    assert "place must be a finite number, got nan" in str(faults[0].error)
    assert "Guard.hear hearing 'grenade'" in faults[0].name


def test_once_means_once_even_when_the_handler_sends_it_again(events):
    told = []

    def hear(event):
        told.append(event.code)
        events.send_now("x")

    listening = events.listen("x", hear, once=True)
    events.send_now("x")
    events.send_now("x")
    assert told == ["x"]
    assert not listening.is_active


def test_once_listener_waits_for_the_first_delivered_event(events):
    guard = Guard()
    events.listen("news", guard.hear, once=True, where=guard.cares)
    for words in ("dull", "fire", "fire"):
        events.send_now("news", words)
    assert guard.heard == ["news"]


def test_higher_priorities_are_called_first_and_ties_in_order(events):
    told = []
    for name, priority in [("b", 0), ("c", -1), ("a", 5), ("b2", 0), ("a2", 5)]:
        events.listen("x", lambda event, name=name: told.append(name), priority=priority)
    events.send_now("x")
    assert told == ["a", "a2", "b", "b2", "c"]


def test_freed_weak_listener_is_removed_and_no_other_skipped(events, caplog):
    caplog.set_level(logging.INFO, "ai_core")
    gone, other, stays = Guard(), Guard(), Guard()
    for guard in (gone, other, stays):
        events.listen("x", guard.hear, weak=True, near=(guard.where, 9), where=guard.cares)
    del gone, other, guard
    gc.collect()
    for _ in range(2):
        events.send_now("x", position=(0, 0))
    assert stays.heard == ["x", "x"]
    assert (events.counts.delivered, events.counts.freed) == (2, 2)
    assert [one.message for one in caplog.records] == [
        "Guard.hear was freed and no longer listens; further freed listeners are counted without a warning"]


def test_weak_function_listens_while_it_is_referenced(events):
    told = []

    def hear(event):
        told.append(event.code)

    listening = events.listen("x", hear, weak=True)
    events.send_now("x")
    del hear
    gc.collect()
    events.send_now("x")
    assert told == ["x"]
    assert not listening.is_active
    assert "hear" in listening.name


class Unheld:
    __slots__ = ()

    def __call__(self, event):
        """Hear."""


@pytest.mark.parametrize("handler", [[].append, Unheld(), Unheld().__call__])
def test_what_cannot_be_held_weakly_is_refused(events, handler):
    with pytest.raises(TypeError, match="handler must support weak references"):
        events.listen("x", handler, weak=True)
    assert events.codes == ()


def test_a_weak_listener_that_fails_is_isolated_and_still_weak():
    events = EventManager(ManualClock(), faults=FaultIsolation(report=lambda fault: None))

    class Broken(Guard):
        def hear(self, event):
            super().hear(event)
            raise RuntimeError("no")

    guard = Broken()
    events.listen("x", guard.hear, weak=True)
    for _ in range(5):
        events.send_now("x")
    assert guard.heard == ["x"] * 3
    assert events.counts.failed == 3


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"where": "loud"}, TypeError, "where must be callable with an event, got 'loud'"),
        ({"near": (1, 2, 3)}, TypeError, "near must be a tuple of a place and a range in metres"),
        ({"near": ((0, 0), -1)}, ValueError, "range_m must be at least 0, got -1"),
        ({"near": ((0, 0), math.nan)}, ValueError, "range_m must be a finite number"),
        ({"near": ((0,), 1)}, ValueError, "place must be two or three coordinates"),
        ({"near": ((0, math.inf), 1)}, ValueError, "place must be a finite number"),
        ({"near": ("here", 1)}, TypeError, "place must be two or three coordinates"),
        ({"priority": 0.5}, TypeError, "priority must be an integer"),
        ({"priority": MOST_PRIORITY + 1}, ValueError, "priority must be at most 1000000")])
def test_an_interest_that_makes_no_sense_is_refused(events, settings, error, message):
    with pytest.raises(error, match=message):
        events.listen("x", print, **settings)
    assert not events.has_listeners("x")


def test_listener_removed_between_halves_is_left_out(events):
    guards = [Guard() for _ in range(3)]
    listenings = [events.listen("x", one.hear, once=True, where=one.cares) for one in guards]
    events.send("x")
    events.advance(Budget.of_steps(1))
    listenings[1].stop()
    events.advance(Budget.unlimited())
    assert [one.heard for one in guards] == [["x"], [], ["x"]]
