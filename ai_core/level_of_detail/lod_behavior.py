"""One of the behaviors that a character has for different importances, and one that is forced."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ai_core.scheduling.task import Work

__all__ = ["Force", "LODBehavior"]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class LODBehavior:
    """One of the behaviors a character has for different importances.

    Args:
        name: unique within its character.
        work: a callable, a generator function, or an object with ``advance``.
        lowest, highest: importances for which it may run; ranges of neighbours
            overlap by the hysteresis wanted. A fallback's are not used.
        enter: called with the behavior left (or None) and what its exit gave.
        exit: called with the behavior entered next (or None); what it returns
            is compressed data for that one.
    """

    name: str
    work: Work
    lowest: float = 0.0
    highest: float = 1.0
    enter: Callable[[LODBehavior | None, Any], object] | None = None
    exit: Callable[[LODBehavior | None], Any] | None = None


class Force(NamedTuple):
    """A behavior that runs whatever the importance.

    Attributes:
        behavior: which.
        left_s: for how long (s), infinite until it is taken back.
        has_begun: whether a turn has seen it: time before that is not its own.
    """

    behavior: LODBehavior
    left_s: float
    has_begun: bool = False
