"""The status and the outcome of habits, and the launch modes of their children."""
from __future__ import annotations

import math
from enum import Enum
from typing import Protocol

__all__ = ["FOR_EVER", "STATUS_OF_CODE", "Launch", "Outcome", "RandomSource", "Status"]

FOR_EVER = math.inf
"""Value of ``repeats`` or ``retries``: repeat until the habit is interrupted."""


class Launch(Enum):
    """The launch mode of a habit: how it runs its children."""

    PRIORITIZED = "prioritized"
    """Priority selector: runs one child at a time; earlier children are more urgent and
    interrupt later ones. The habit ends only by its own ``tick``."""
    SEQUENTIAL = "sequential"
    """Sequence: runs the children in order; the habit ends with the last child, or with
    a child that fails."""
    RANDOM = "random"
    """Random selector: runs one child, chosen by weight among those that can run; the
    habit ends with it."""
    FALLBACK = "fallback"
    """Fallback: runs the children in order, skipping those that cannot run, until a child
    succeeds; the habit ends with it, and fails if no child succeeds."""
    UTILITY = "utility"
    """Utility selector: runs the child with the highest ``score`` above 0; a child whose
    score exceeds that of the active one by more than ``inertia`` interrupts it. The habit
    ends only by its own ``tick``."""


class Status(Enum):
    """The status of a habit after a tick."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


STATUS_OF_CODE = (Status.RUNNING, Status.SUCCEEDED, Status.FAILED)
"""Meaning of the codes returned by ``tick_batch``: 0 running, 1 succeeded, 2 failed."""


class Outcome(Enum):
    """The result that a habit reports to its parent when it ends."""

    UNCHANGED = "as it ended"
    INVERTED = "inverted"
    ALWAYS_SUCCEEDED = "always succeeded"
    ALWAYS_FAILED = "always failed"


class RandomSource(Protocol):
    """Interface of the random source of random habits: ``random.Random(seed)``, for example."""

    def random(self) -> float:
        """Return the next number, 0 <= number < 1."""
        ...
