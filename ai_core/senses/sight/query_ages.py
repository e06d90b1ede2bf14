"""How long pairs wait for their line of sight: the oldest query now, and the longest wait so far."""
from __future__ import annotations

from collections import deque
from itertools import pairwise
from types import SimpleNamespace

from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import Flag, ListOf, Number, Optional, Seconds, Whole

__all__ = ["QueryAges"]

PASSES_TIMED = 32
"""Passes of which the slowest says how long a pass may take (count), half a second of frames."""


class QueryAges(Saveable):
    """The times at which passes ended, and so the age of a moment of the queue.

    Moments are those of ``PairsInView.waiting_since``: twice the number of a pass, and one more
    for pairs asked after it.

    Attributes:
        passes: passes that have ended (count).
        is_long: whether times of so many passes are kept that it is worth forgetting some.
        longest_wait_passes: the most that any pair has waited until it was asked (count).
        longest_wait_s: likewise (s).
        is_late: whether one of the last rounds of notices was interrupted by the budget.
    """

    STATE = DeclaredState(
        ended_s=ListOf(Seconds(), make=deque, at="_ended_s"), longest_wait_passes=Whole(), longest_wait_s=Number(0),
        rounds_s=ListOf(Number(0), make=deque, at="_rounds_s"),
        round_began_s=Optional(Seconds(), at="_round_began_s"), is_late=Flag())

    def __init__(self) -> None:
        self.passes = 0
        self.is_long = False
        self.longest_wait_passes = 0
        self.longest_wait_s = 0.0
        self._ended_s: deque[float] = deque()  # of the last passes, as far back as is needed
        self._cut_short: deque[tuple[int, int]] = deque()  # which passes, and how many pairs each asked
        self.is_late = False
        self._rounds_s: deque[float] = deque()  # durations of the last rounds, 0 for one that was not interrupted
        self._round_began_s: float | None = None

    @property
    def new(self) -> int:
        """Moment of pairs that this pass found: after all that were asked before, which are odd."""
        return 2 * self.passes

    def end_pass(self, now_s: float) -> int:
        """Note that a pass has ended; return the moment of pairs that it found."""
        ended_s = self._ended_s
        ended_s.append(now_s)
        self.passes += 1
        self.is_long = len(ended_s) > 2 * PASSES_TIMED
        return 2 * self.passes

    def forget_before(self, oldest: int | None) -> None:
        """Drop the times of passes before the oldest moment in the queue; None for an empty queue."""
        first = self.passes if oldest is None else oldest // 2
        kept = max(self.passes - first + 1, PASSES_TIMED)
        while len(self._ended_s) > kept:
            self._ended_s.popleft()
        self.is_long = len(self._ended_s) > 2 * PASSES_TIMED

    def note_asked(self, oldest: int, now_s: float) -> None:
        """Note that pairs are asked that have waited since a moment at most."""
        passes, ended_s = self.passes - oldest // 2, self._ended_s
        if passes > self.longest_wait_passes:
            self.longest_wait_passes = passes
        if ended_s and now_s - ended_s[max(0, len(ended_s) - 1 - passes)] > self.longest_wait_s:
            self.longest_wait_s = self.age_s(oldest, now_s)

    def note_cut_short(self, pairs: int) -> None:
        """Note the number of pairs asked in a pass that could not ask all it should."""
        self._cut_short.append((self.passes, pairs))
        self._forget_cut_short()

    def fewest(self, pairs_at_once: int) -> int:
        """Return the fewest pairs asked in any of the last ``PASSES_TIMED`` passes that had enough."""
        self._forget_cut_short()
        return min((pairs for _, pairs in self._cut_short), default=pairs_at_once)

    def age_passes(self, moment: int) -> int:
        """Return the age of a moment (passes)."""
        return self.passes - moment // 2

    def age_s(self, moment: int, now_s: float) -> float:
        """Return the age of a moment (s), as far back as is known."""
        place = max(0, len(self._ended_s) - 1 - self.age_passes(moment))
        return max(0.0, now_s - self._ended_s[place]) if self._ended_s else 0.0

    @property
    def slowest_pass_s(self) -> float:
        """The longest time between the ends of two of the last ``PASSES_TIMED`` passes (s)."""
        ended_s = list(self._ended_s)[-PASSES_TIMED:]
        return max((b - a for a, b in pairwise(ended_s)), default=0.0)

    def note_round(self, now_s: float, *, is_done: bool) -> None:
        """Note that a round of notices has ended or was interrupted; call it for each advance while ``is_late``.

        A round passes over all percepts and notifies the listeners.
        """
        if self._round_began_s is None:
            self._round_began_s = now_s
        if is_done:
            self._rounds_s.append(now_s - self._round_began_s)
            self._round_began_s = None
            if len(self._rounds_s) > PASSES_TIMED:
                self._rounds_s.popleft()
        self.is_late = not is_done or any(self._rounds_s)

    def notice_s(self, now_s: float) -> float:
        """Return how long it takes at most to notify a listener of a target in view (s); 0 is at once."""
        if not self.is_late:
            return 0.0
        under_way_s = 0.0 if self._round_began_s is None else now_s - self._round_began_s
        # A target that comes into view when the round has passed its percept is found by the next round.
        return 2 * max(under_way_s, *self._rounds_s, 0.0) + self.slowest_pass_s

    def _forget_cut_short(self) -> None:
        while self._cut_short and self._cut_short[0][0] <= self.passes - PASSES_TIMED:
            self._cut_short.popleft()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        looking = values.within
        if len(values.ended_s) > looking.passes:
            refuse("ended_s", "must not hold more items than passes")
        if max(values.ended_s, default=-LATEST_S) > looking.within.now.seconds:
            refuse("ended_s", f"must be at most {looking.within.now.seconds:g}, the time of the save")

    def _finish_load(self) -> None:
        self.is_long = len(self._ended_s) > 2 * PASSES_TIMED
        self._cut_short.clear()
