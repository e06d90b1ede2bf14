"""A round of a bucket whose work is called many at once, by a batch that the work brings along.

Work that offers ``batch_of`` is called by its batch, not task by task.
"""
from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Protocol

from ai_core.budget import Budget, Stopwatch
from ai_core.scheduling.rounds import NEVER_NS, Call, FrameMoment, Row, round_times
from ai_core.scheduling.task import Turn

__all__ = ["Batch", "BatchOf", "BatchedRound"]


class Batch(Iterator[Call], Protocol):
    """Calls what it can of a row in one go, again and again, and yields what it cannot call.

    Work offers one as an attribute ``batch_of``, a function of a Row that counts
    its ``changes``. Work that runs may change what is still to come in the row, but
    not its length. ``operator.length_hint`` tells at any moment how many calls are
    still to begin.
    """

    def begin(self, turn: Turn) -> None:
        """Start anew, with the first call."""
        ...

    def timed(self, stamps: array[int], limit_ns: int) -> Call | None:
        """Go on, and return what is to be called next: None at the end, and after one that was late.

        Args:
            stamps: one more (ns, whole, of 8 bytes) than there are calls: when the round began, then
                when each of its calls ended. Those made here are to be put there, in their places.
            limit_ns: who ends after it is late.
        """
        ...


BatchOf = Callable[[Row], Batch]
"""What makes a batch, for one row."""


class BatchedRound:
    """A ``Round`` over one bucket, frame after frame.

    Reading a stopwatch takes longer than a small piece of work that is called in a batch, so most rounds are timed as
    a whole; ``is_timed`` says whether this one is timed call by call.

    Args:
        row: the bucket.
        batch_of: makes the batch, which is dropped when the row changes.
    """

    def __init__(self, row: Row, batch_of: BatchOf) -> None:
        self.turn: Turn
        self.bucket: Row | None = None
        self.begun_ns = self.ended_ns = 0
        self.is_timed = False
        self._row, self._batch_of = row, batch_of
        self._batch: Batch | None = None
        self._is_stale = False
        self._moment = row.last
        self._stopwatch: Stopwatch | None = None
        self._limit_ns = NEVER_NS
        self._longest_ns = 0
        self._rounds = 0
        self._is_late = False
        self._stamps = array("q")

    def begin(
        self, moment: FrameMoment, budget: Budget, stopwatch: Stopwatch | None, limit_ns: int, timed_every: int
    ) -> None:
        """Prepare a round.

        Args:
            moment: the frame that runs.
            budget: of the Turn that all calls are made with.
            stopwatch, limit_ns: as ``begin_round`` takes them.
            timed_every: one of this number of rounds is timed call by call.
        """
        self.turn = turn = Turn(moment[0], moment[1] - self._row.last[1], budget)
        self._moment, self._stopwatch, self._limit_ns = moment, stopwatch, limit_ns
        self.bucket, self._is_late = self._row, False
        batch = self._batch
        if batch is None:
            self._batch = batch = self._batch_of(self._row)
            self._stamps = array("q", bytes(8 * (len(self._row) + 1)))
        batch.begin(turn)
        if stopwatch is not None:
            self.begun_ns = self.ended_ns = begun_ns = stopwatch()
            left_ns = limit_ns - begun_ns
            self.is_timed = self._rounds % timed_every == 0 or left_ns < 2 * self._longest_ns
            self._rounds += 1
            self._stamps[0] = begun_ns

    @property
    def place(self) -> int:
        """Number of calls begun."""
        return len(self._row) - length_hint(self._batch or ())

    def goes_on(self) -> bool:
        """Return whether calls remain; ends the round if not."""
        if self.bucket is None:
            return False
        if length_hint(self._batch or ()):
            return True
        self._end()
        return False

    def run(self) -> bool:
        """Make the remaining calls, and return whether the round is over and no call was late.

        It ends after a late call, too: check ``was_late``, then ``goes_on``. Exceptions of calls are let through.
        """
        for call in self:
            call(self.turn)
        self._see_end()
        return not (self._is_late or self.goes_on())

    def __iter__(self) -> Iterator[Call]:
        assert self._batch is not None
        return self._timed(self._batch, self._stopwatch) if self._stopwatch and self.is_timed else self._batch

    def end_call(self) -> None:
        """Note that a call has ended."""
        if self._stopwatch is not None and self.is_timed:
            self._stamps[self.place] = self._stopwatch()
            self._is_over_limit(self.place)
        else:
            self._see_end()

    def call_changed(self, bucket: Row) -> None:
        """Nothing to do: the batch looks at what has changed."""

    def row_changes(self) -> None:
        """Drop the calls, now or when the round has ended."""
        self._is_stale = self.bucket is not None
        if not self._is_stale:
            self._batch = None

    def was_late(self) -> bool:
        """Return whether a call ended beyond the limit since the last query."""
        was_late, self._is_late = self._is_late, False
        return was_late

    def _see_end(self) -> None:
        """A round that is timed as a whole has ended, if it has."""
        if self._stopwatch is not None and not self.is_timed and not length_hint(self._batch or ()):
            self.ended_ns = self._stopwatch()
            self._is_late = self.ended_ns > self._limit_ns

    def _timed(self, batch: Batch, stopwatch: Stopwatch) -> Iterator[Call]:
        while True:
            call = batch.timed(self._stamps, self._limit_ns)
            if self._is_over_limit(self.place - (call is not None)) or call is None:
                return
            yield call
            self._stamps[self.place] = stopwatch()
            if self._is_over_limit(self.place):
                return

    def _is_over_limit(self, ended: int) -> bool:
        """Look at the last of so many calls that have ended."""
        if ended:
            self.begun_ns, self.ended_ns = self._stamps[ended - 1: ended + 1]
        is_over = self.ended_ns > self._limit_ns
        if is_over:
            self._is_late, self._limit_ns = True, NEVER_NS
        return is_over

    def _end(self) -> None:
        self.bucket, self._row.last = None, self._moment
        if self._stopwatch is not None:
            if self.is_timed:
                if self._row.times is None:
                    self._row.times = round_times(len(self._row))
                self._row.times.note(self._stamps.tolist())
            # Forgotten slowly, as one round that the system interrupted says little.
            before_ns = self._longest_ns
            self._longest_ns = max(before_ns - before_ns // 16, self.ended_ns - self._stamps[0])
        if self._is_stale:
            self._batch, self._is_stale = None, False
