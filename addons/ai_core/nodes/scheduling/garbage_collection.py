"""Times of Python's garbage collections: at the begin of frames of AI, seldom all, and all when memory has grown.

By default Python collects all generations after a number of allocations, in whatever frame that happens: 50 ms with
500 guards, which leave no garbage, neither while they exist nor when they are freed. What is collected at the begin of
a frame counts for its budget; in the middle it would prolong a piece of work that was begun because it fitted.
"""
from __future__ import annotations

import gc
import sys
from typing import Any

YOUNG = 100
"""New objects from which a frame begins with a collection of them (count).

A collection takes 0.2 to 0.4 µs an object where the caches are cold: of 2,000 new objects 0.2 to 0.7 ms, as long as a
small budget, of 100 some 40 µs, as long as other pieces of work. Both young generations are collected together, so that
no collection goes over several times as many.
"""

COLLECTED_EVERY = 4
"""Frames of AI from one look at the number of new objects to the next (count)."""

BY_ITSELF = (2_000, 1)
"""Thresholds of the young generations for what is made between frames of AI, by scripts and spawns.

Twenty guards are 1,100 objects: a collection among them takes 0.2 ms, and the next frame collects the same again.
"""

RARELY = 50_000
"""Collections of generation 1 before a full collection (count), after 5 million new objects.

Without the other rules below, scripts that create cycles reached 900 MB before a full collection, which took 3.6 s.
"""

CHECKED = 64
"""Collections at the begin of frames from one check of the growth to the next (count): counting blocks takes 0.1 ms.

What Python collects by itself is checked each time, so that a spawn is followed by a full collection before the game
goes on, not by one in a frame later.
"""

GROWTH, GROWTH_SHARE = 100_000, 0.25
"""Growth since the last full collection (objects, and share) that causes another one: 15 MB.

It is due to cycles of scripts. The museum demo, which leaves none, never reaches it.
"""

SELDOM, SOON = (*BY_ITSELF, RARELY), (*BY_ITSELF, 0)
"""Thresholds for Python: full collections rarely, or with the next collection."""

_held = 0       # allocated blocks after the last full collection (count)
_is_in_frame = False


def begin() -> None:
    """Make full collections rare from now on."""
    gc.set_threshold(*SELDOM)


def freeze_loaded_objects() -> None:
    """Exclude the present objects, mostly modules, from collections, and watch growth; until ``end``."""
    global _held
    gc.freeze()
    _held = sys.getallocatedblocks()
    gc.callbacks.append(_looked)


def collect_due() -> None:
    """Run the collection that is due, at the begin of some frames; none where other code set thresholds or stopped it.

    Cost: 0.1 µs where none is due.
    """
    global _is_in_frame
    young, _, old = gc.get_count()
    if young < YOUNG or not gc.isenabled():
        return
    thresholds = gc.get_threshold()
    if thresholds in (SELDOM, SOON):
        _is_in_frame = True
        gc.collect(2 if thresholds == SOON or old > RARELY else 1)
        _is_in_frame = False


def end() -> None:
    """Run a last full collection: garbage may hold resources, which the engine reports as leaked."""
    if _looked in gc.callbacks:
        gc.callbacks.remove(_looked)
    gc.unfreeze()
    gc.collect()


def _looked(phase: str, look: dict[str, Any]) -> None:
    """Check the growth after collections of generation 1 or 2; thresholds that other code has set stay."""
    global _held
    if phase == "start" or look["generation"] == 0:
        return
    thresholds = gc.get_threshold()
    if look["generation"] == 2:
        _held = sys.getallocatedblocks()
        if thresholds == SOON:
            gc.set_threshold(*SELDOM)
    elif (thresholds == SELDOM and not (_is_in_frame and gc.get_count()[2] % CHECKED)
            and sys.getallocatedblocks() > _held + max(GROWTH, GROWTH_SHARE * _held)):
        gc.set_threshold(*SOON)
