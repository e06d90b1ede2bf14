"""When Python looks through all objects for circles that nobody holds: as characters leave, not while they play.

Whoever is freed leaves a circle behind: a tree and its habits know each other. Python by itself looks
through everything whenever so much was made since the last time, in whatever frame that is: 50 ms with
500 guards, who leave nothing to be found as long as they live.
"""
from __future__ import annotations

import gc

YOUNG, MIDDLE = 2_000, 10
"""Objects more than before (count), and looks at them (count), after which Python looks at what is young.

Python's own 700 are there in any frame in which hundreds hear something, and gone after it: a look took 0.4 ms.
With 5,000 a look took 2.5 ms.
"""

RARELY = 250
"""Looks at what is young and middle-aged before one at everything (count); Python's own is 10.

A safeguard for circles that scripts make: the museum of 500 guards gets there after hours.
"""

MOST_LEFT = 500
"""Characters that leave before their circles are collected (count), some 10 MB; sooner costs more frames 20 ms."""

WORTH_IT = 100
"""Characters of a scene that ends (count), from which on it is worth a look, which takes 20 ms."""

_left = 0


def begin() -> None:
    """Look at everything rarely from now on."""
    gc.set_threshold(YOUNG, MIDDLE, RARELY)


def keep_what_is_loaded() -> None:
    """Never look at what is here by now, modules above all, half of all objects; until ``end``."""
    gc.freeze()


def end() -> None:
    """Look at everything once more: what was freed may hold resources, which the engine counts as leaked."""
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
