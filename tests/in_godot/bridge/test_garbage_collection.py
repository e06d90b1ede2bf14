"""Garbage is collected seldom, and when memory has grown."""
from __future__ import annotations

import gc
import weakref

import pytest

from addons.ai_core.nodes.scheduling import garbage_collection


class Circle:
    """Nobody holds it but itself, as with what a script of a character leaves behind."""

    def __init__(self):
        self.me = self


def test_what_was_loaded_at_the_start_is_looked_at_no_more():
    assert gc.get_freeze_count() > 10_000


in_steps = pytest.mark.skipif(not gc.get_threshold()[2], reason="a Python that looks at old objects in steps")


@in_steps
def test_old_cycles_are_collected_when_memory_has_grown():
    gc.collect()
    circle = Circle()
    left = weakref.ref(circle)
    gc.collect(1)
    del circle
    gc.collect(1)
    assert left() is not None
    more = [[] for _ in range(2 * garbage_collection.GROWTH)]
    assert left() is None
    assert gc.get_threshold() == garbage_collection.SELDOM
    del more


@in_steps
def test_who_sets_thresholds_of_their_own_keeps_them():
    gc.collect()
    own = (1_000, 10, 10_000)
    gc.set_threshold(*own)
    more = [[] for _ in range(2 * garbage_collection.GROWTH)]
    assert gc.get_threshold() == own
    gc.set_threshold(*garbage_collection.SELDOM)
    del more


def collections():
    """Return how many collections there were of generations 0 and 1."""
    young, middle, _ = gc.get_stats()
    return young["collections"] + middle["collections"]


def test_a_spawn_of_twenty_guards_is_not_interrupted():
    gc.collect()
    before = collections()
    kept = [[] for _ in range(1_100)]
    assert collections() == before
    del kept


@in_steps
def test_a_frame_of_ai_begins_with_the_collection_that_is_due(scheduler):
    gc.collect()
    seen = []
    kept = [[] for _ in range(2 * garbage_collection.YOUNG)]
    scheduler.add_behavior(lambda _: seen.append(collections()))
    before = collections()
    for _ in range(garbage_collection.COLLECTED_EVERY):
        scheduler.step()
    assert seen[-1] == collections() == before + 1
    del kept


@in_steps
def test_a_frame_in_which_objects_are_made_is_not_interrupted(scheduler):
    gc.collect()
    seen = []

    def make(_: float) -> None:
        before = collections()
        made = [[] for _ in range(3 * garbage_collection.YOUNG)]
        seen.append((len(made), collections() - before))

    scheduler.add_behavior(make)
    scheduler.step()
    assert seen == [(3 * garbage_collection.YOUNG, 0)]


@in_steps
def test_frames_collect_nothing_while_the_collector_is_off(scheduler):
    gc.collect()
    kept = [[] for _ in range(2 * garbage_collection.YOUNG)]
    gc.disable()
    try:
        before = collections()
        for _ in range(garbage_collection.COLLECTED_EVERY):
            scheduler.step()
        assert collections() == before
    finally:
        gc.enable()
    del kept
