"""The registry: small, quick to join and to leave."""
from __future__ import annotations

import gc
import tracemalloc

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import GroupRecipients, Narrowcast
from ai_core.faults import FaultIsolation


@pytest.mark.parametrize("n", [1_000, 2_000, 2_800, 5_500])  # just above a size of dict is worst
def test_a_registration_takes_at_most_200_bytes(n):
    events = EventManager(ManualClock())
    gc.collect()
    tracemalloc.start()
    try:
        kept = [events.listen("alarm", print) for _ in range(n)]
        assert events.has_listeners("alarm")  # the order of telling is made and kept, too
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken / len(kept) <= 200


@pytest.mark.parametrize("is_narrowcast", [False, True])
def test_freed_listeners_of_a_code_never_sent_are_removed(is_narrowcast):
    class Ear:
        heard = 0

        def hear(self, event):
            Ear.heard += 1

    narrowcast = Narrowcast(ManualClock())
    events = narrowcast.events if is_narrowcast else EventManager(ManualClock())
    place = narrowcast.add_member("post", narrowcast.add_group("house")) if is_narrowcast else events
    kept = [Ear() for _ in range(100)]
    for ear in kept:
        place.listen("never", ear.hear, weak=True)
    for _ in range(3000):
        place.listen("never", Ear().hear, weak=True)
    assert events.counts.freed >= 3000 - 256
    events.send_now("never", audience=GroupRecipients.of(place.group, "own") if is_narrowcast else None)
    assert Ear.heard == 100
    assert events.counts.freed == 3000


def test_stopping_one_of_many_compares_no_handlers():
    class Watched:
        compared = 0

        def __call__(self, event):
            """Hear."""

        def __eq__(self, other):
            Watched.compared += 1
            return self is other

        __hash__ = None

    events = EventManager(ManualClock())
    kept = [events.listen("alarm", Watched()) for _ in range(1000)]
    for listening in kept[::-2]:
        listening.stop()
    assert Watched.compared == 0
    events.send_now("alarm")
    assert events.counts.delivered == 500


def test_listeners_are_shown_by_name_and_codes():
    events = EventManager(ManualClock())
    listening = events.listen(("a", "b"), print)
    assert repr(listening) == "<Subscription of print to a, b>"
    listening.stop()
    assert repr(listening) == "<Subscription of print to nothing (stopped)>"


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("change", ["stop_next", "stop_last", "stop_self", "add", "fail", "nest", "stop_and_fail"])
def test_changes_in_a_broadcast_are_seen_after_unchanged_ones(position, change):
    def told_by(tell):
        events = EventManager(ManualClock(), faults=FaultIsolation(report=lambda fault: None))
        log, listenings, is_changing = [], [], [False]

        def hear(number):
            log.append(number)
            if number != position or not is_changing[0]:
                return
            is_changing[0] = False
            if change == "nest":
                tell(events)
            if change == "add":
                events.listen("x", lambda event: log.append("new"))
            if change.startswith("stop"):
                listenings[{"next": (position + 1) % 4, "last": 3}.get(change[5:], position)].stop()
            if change.endswith("fail"):
                raise RuntimeError("no")

        for number in range(4):
            listenings.append(events.listen("x", lambda event, number=number: hear(number)))
        for is_changing[0] in (False, False, True, False):
            tell(events)
        return log, events.counts

    def queued(events):
        events.send("x")
        events.advance(Budget.unlimited())

    at_once = told_by(lambda events: events.send_now("x"))
    if change != "nest":  # which is queued for the next advance
        assert at_once == told_by(queued)
    fewer = {"stop_next": 1 if position == 3 else 2, "stop_last": 1 if position == 3 else 2, "stop_self": 1,
             "stop_and_fail": 1, "add": -1, "fail": 0, "nest": -4}
    assert len(at_once[0]) == 16 - fewer[change]
    assert at_once[1].delivered == len(at_once[0])
