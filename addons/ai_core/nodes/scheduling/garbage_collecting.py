"""When Python looks through all objects for circles that nobody holds: as characters leave, not while they play.

Whoever is freed leaves a circle behind: a tree and its habits know each other. Python by itself looks
through everything whenever so much was made since the last time, in whatever frame that is: 50 ms with
500 guards, who leave nothing to be found as long as they live.
"""
from __future__ import annotations

import gc
import sys
from typing import Any

YOUNG, MIDDLE = 2_000, 10
"""Objects more than before (count), and looks at them (count), after which Python looks at what is young.

Python's own 700 are there in any frame in which hundreds hear something, and gone after it: a look took 0.4 ms.
With 5,000 a look took 2.5 ms.
"""

RARELY = 250
"""Looks at what is young and middle-aged before one at everything (count); Python's own is 10.

With nothing else, scripts that make circles had 900 MB of them before somebody looked, which took 3.6 s.
"""

MORE, MORE_SHARE = 100_000, 0.25
"""Objects more than after the last look at everything (count, and share), from which on another is worth it: 15 MB.

Circles that scripts make, of whose characters nobody is told here. The museum, which leaves none, never gets there.
"""

MOST_LEFT = 500
"""Characters that leave before their circles are collected (count), some 10 MB; sooner costs more frames 20 ms."""

WORTH_IT = 100
"""Characters of a scene that ends (count), from which on it is worth a look, which takes 20 ms."""

SELDOM, SOON = (YOUNG, MIDDLE, RARELY), (YOUNG, MIDDLE, 0)
"""What Python is told: to look at everything rarely, or as soon as it looks at anything."""

_left = 0
_held = 0       # objects after the last look at everything, and all else in memory that Python has (count)


def begin() -> None:
    """Look at everything rarely from now on."""
    gc.set_threshold(*SELDOM)


def keep_what_is_loaded() -> None:
    """Never look at what is here by now, modules above all, half of all objects, and see what comes; until ``end``."""
    global _held
    gc.freeze()
    _held = sys.getallocatedblocks()
    gc.callbacks.append(_looked)


def end() -> None:
    """Look at everything once more: what was freed may hold resources, which the engine counts as leaked."""
    if _looked in gc.callbacks:
        gc.callbacks.remove(_looked)
    gc.unfreeze()
    gc.collect()


def characters_left(count: int = 1) -> None:
    """Count those who are freed, and collect the circles of all when they are many."""
    global _left
    _left += count
    if _left >= MOST_LEFT:
        _collect()


def scene_ended() -> None:
    """Collect the circles of those who left, if they are many; who plays the next scene waits for that anyway."""
    if _left >= WORTH_IT:
        _collect()


def _collect() -> None:
    global _left
    _left = 0
    gc.collect()


def _looked(phase: str, look: dict[str, Any]) -> None:
    """After looks at what is middle-aged, see whether there is much more than before; thresholds of others stay."""
    global _held
    if phase == "start" or look["generation"] == 0:
        return
    thresholds = gc.get_threshold()
    if look["generation"] == 2:
        _held = sys.getallocatedblocks()
        if thresholds == SOON:
            gc.set_threshold(*SELDOM)
    elif thresholds == SELDOM and sys.getallocatedblocks() > _held + max(MORE, MORE_SHARE * _held):
        gc.set_threshold(*SOON)
