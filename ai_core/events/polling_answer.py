"""What a poll returns beside the answer itself: how it came about, that it was refused, and how often."""
from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["NO_FALLBACK", "REFUSED", "Answer", "TopicStatistics"]


class _NoFallback:
    def __repr__(self) -> str:
        return "NO_FALLBACK"


class _Refused:
    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "REFUSED"


NO_FALLBACK = _NoFallback()
"""Stands for "no fallback", because None may be one."""

REFUSED = _Refused()
"""What an agent gets that may not ask; false, and equal only to itself."""


class Answer(NamedTuple):
    """An answer, and how it came about."""

    value: Any
    age_frames: int | None
    """Frames since it was computed; None for a fallback or a refusal."""
    how: str
    """"computed", "kept", "stale", "fallback" or "refused"."""

    @property
    def is_stale(self) -> bool:
        """True for an old answer, or a fallback, in place of one that is good now."""
        return self.how in ("stale", "fallback")


class TopicStatistics(NamedTuple):
    """How one topic was used since it was added."""

    code: str
    hits: int
    """Polls answered from what was kept, or together with an equal one of the same batch."""
    misses: int
    """Polls that found nothing fresh."""
    computations: int
    """Answers computed, those that failed and those for nobody included."""
    failures: int
    """Computations that raised; a batch that raises counts as one."""
    keys: int
    """Answers kept now, stale ones included."""
    stale: int
    """Polls that had to make do with an old answer or the fallback: the budget was spent."""
    refused: int
    """Polls of agents that may not ask."""
    waiting: int
    """Keys now waiting to be computed."""
