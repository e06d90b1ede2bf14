"""A round: in one frame, the work of all due buckets is called in turn, and timed if asked.

This is the twin in Python of ``_rounds``, which is used in its place where it
was built. Whoever runs a round makes the calls, so that they cost what they
would in a bare loop::

    round = begin_round(buckets, moment, turn, stopwatch, limit_ns)
    while round.goes_on():
        turn = round.turn
        for call in round:
            call(turn)
"""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import length_hint
from sys import getrefcount
from typing import NamedTuple, Protocol

import numpy as np

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import TimeIndex
from ai_core.scheduling.statistics import RECENT_RUNS
from ai_core.scheduling.task import Turn
from ai_core.twins import twin

__all__ = [
    "INTERFACE", "NEVER_NS", "Call", "Column", "FrameMoment", "PeriodRings", "Round", "RoundTimes", "Row",
    "begin_round",
    "round_times",
]

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the kernel."""

NEVER_NS = 1 << 62
"""Later than any stopwatch shows (ns); whole, as comparing with a float takes twice as long."""

Column = tuple[int, int, int, list[int]]
"""Of one task: rounds, their total and the longest (ns), the latest ones (ns), the last at the end."""


Call = Callable[[Turn], object]
"""What a bucket calls for a task: its work if it is in step, else what runs it by itself."""


class FrameMoment(NamedTuple):
    """One frame of a scheduler, as all work that runs in it shares it: two of one time are not the same."""

    now: TimeIndex
    seconds: float


@twin
class Row:
    """What is called for the tasks of a bucket, by ascending id, with the moment and the times of its rounds."""

    __slots__ = ("_calls", "_ids", "last", "times")

    def __init__(self, last: FrameMoment) -> None:
        self._calls: list[Call] = []
        self._ids: list[int] = []
        self.last = last
        self.times: RoundTimes | None = None

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def calls(self) -> tuple[Call, ...]:
        """What is called, in order."""
        return tuple(self._calls)

    def place_of(self, task_id: int) -> int:
        """Return the place of a task, or the one it would take."""
        return bisect_left(self._ids, task_id)

    def insert_call(self, task_id: int, call: Call) -> int:
        """Take in what to call for one more task, and return its place; not while a round goes through it."""
        place = self.place_of(task_id)
        self._ids.insert(place, task_id)
        self._calls.insert(place, call)
        return place

    def remove_call(self, place: int) -> None:
        """Let go of a call; not while a round goes through it."""
        del self._ids[place], self._calls[place]

    def put_call(self, place: int, call: Call) -> None:
        """Call another thing from now on; a round that goes through it must be told."""
        self._calls[place] = call


class Round(Protocol):
    """Calls to be made, in order; going through it ends where the next call needs another Turn."""

    turn: Turn
    """What to make the calls with."""
    bucket: Row | None
    """Whose calls are made; None between two of them."""
    begun_ns: int
    ended_ns: int
    """When the last call that was timed began and ended."""

    @property
    def place(self) -> int:
        """How many calls of the bucket have begun."""
        ...

    def goes_on(self) -> bool:
        """Return whether there are calls left, and make ready for them."""
        ...

    def __iter__(self) -> Iterator[Call]: ...

    def end_call(self) -> None:
        """Take note that the last call has raised."""
        ...

    def call_changed(self, bucket: Row) -> None:
        """Take note that a call of a bucket is another now; of one that is to come, or runs."""

    def was_late(self) -> bool:
        """Return True once, if a call ended after the limit."""
        ...


class RoundTimes(Protocol):
    """How long each of several tasks took in rounds that ended; of constant size."""

    def note(self, stamps: Sequence[int]) -> None:
        """Note a round: when it began, and when each task ended (ns)."""

    def columns(self) -> list[Column]:
        """Return what was noted, for each task."""
        ...


@twin
class PeriodRings:
    """Finds what is due on a frame.

    Args:
        rings: a period (frames) each, and as many rows, by the remainder of their frames.

    Raises:
        ValueError: if a ring has not as many rows as its period, or none.
    """

    __slots__ = ("_rings",)

    def __init__(self, rings: Iterable[tuple[int, Sequence[Row]]]) -> None:
        self._rings = [(period, tuple(ring)) for period, ring in rings]
        for period, ring in self._rings:
            if period < 1 or len(ring) != period:
                raise ValueError(f"a ring must have as many rows as its period, not 0; got {len(ring)} for {period}")

    def due(self, frame: int) -> list[Row]:
        """Return the rows that are due on a frame, 0 or later, and are not empty, in the order of the rings."""
        return [row for period, ring in self._rings if (row := ring[frame % period])._calls]


@twin
def begin_round(
    buckets: Sequence[Row], moment: FrameMoment, turn: Turn, stopwatch: Stopwatch | None, limit_ns: int
) -> Round:
    """Return a round through buckets, none of them empty.

    Args:
        buckets: whose calls are made; ``last`` and ``times`` of each are kept up to date.
        moment: the frame that runs.
        turn: what calls are made with; it is filled in anew for each bucket, or
            replaced where work has kept it. Elapsed time is 0 in it.
        stopwatch: times each call; None for none.
        limit_ns: a call that ends after it is late; at most NEVER_NS.
    """
    return _Round(buckets, moment, turn, stopwatch, limit_ns)


@twin
def round_times(tasks: int) -> RoundTimes:
    """Return times of so many tasks that run in each round, empty."""
    return _RoundTimes(tasks)


class _Round:
    __slots__ = (
        "_buckets", "_calls", "_is_late", "_limit_ns", "_moment", "_stamps", "_stopwatch", "begun_ns", "bucket",
        "ended_ns", "turn",
    )

    def __init__(
        self, buckets: Sequence[Row], moment: FrameMoment, turn: Turn, stopwatch: Stopwatch | None, limit_ns: int
    ) -> None:
        self._buckets = iter(buckets)
        self._moment = moment
        self._stopwatch = stopwatch
        self._limit_ns = limit_ns
        self._calls: Iterator[Call] = iter(())
        self._is_late = False
        self._stamps: list[int] = []
        self.turn = turn
        self.bucket: Row | None = None
        self.begun_ns = self.ended_ns = 0 if stopwatch is None else stopwatch()

    @property
    def place(self) -> int:
        return 0 if self.bucket is None else len(self.bucket) - length_hint(self._calls)

    def goes_on(self) -> bool:
        before, moment = self.bucket, self._moment
        if before is not None:
            if length_hint(self._calls):
                return True
            before.last = moment
            if self._stopwatch is not None:
                if before.times is None:
                    before.times = _RoundTimes(len(before))
                before.times.note(self._stamps)
        self.bucket = bucket = next(self._buckets, None)
        if bucket is None:
            return False
        elapsed_s = moment[1] - bucket.last[1]
        if elapsed_s != self.turn.elapsed_s:
            if getrefcount(self.turn) > NOT_KEPT:
                self.turn = Turn(self.turn.now, elapsed_s, self.turn.budget)
            else:
                self.turn.elapsed_s = elapsed_s
        self._calls = iter(bucket._calls)
        if self._stopwatch is not None:
            self._stamps = [self.ended_ns]
        return True

    def __iter__(self) -> Iterator[Call]:
        return self._calls if self._stopwatch is None else self._timed(self._stopwatch)

    def end_call(self) -> None:
        if self._stopwatch is not None:
            self._stamp(self._stopwatch())

    def call_changed(self, bucket: Row) -> None:
        """Nothing to do: calls are read as they are made."""

    def was_late(self) -> bool:
        was_late, self._is_late = self._is_late, False
        return was_late

    def _timed(self, stopwatch: Stopwatch) -> Iterator[Call]:
        note, limit_ns, ended_ns = self._stamps.append, self._limit_ns, self.ended_ns
        for call in self._calls:
            yield call
            self.ended_ns = ended_ns = stopwatch()
            note(ended_ns)
            if ended_ns > limit_ns:
                self._stamps.pop()
                self._stamp(ended_ns)
                return

    def _stamp(self, ended_ns: int) -> None:
        self.begun_ns, self.ended_ns = self._stamps[-1], ended_ns
        self._stamps.append(ended_ns)
        if ended_ns > self._limit_ns:
            self._is_late, self._limit_ns = True, NEVER_NS


class _RoundTimes:
    """Keeps whole rounds, and sums them up when there are many."""

    __slots__ = ("_longest_ns", "_pending", "_recent", "_rounds", "_total_ns")

    def __init__(self, tasks: int) -> None:
        self._rounds = 0
        self._total_ns, self._longest_ns = np.zeros((2, tasks), np.int64)
        self._recent = np.zeros((0, tasks), np.int64)
        self._pending: list[Sequence[int]] = []

    def note(self, stamps: Sequence[int]) -> None:
        if len(stamps) != len(self._total_ns) + 1:
            raise ValueError(f"stamps must be {len(self._total_ns) + 1}, got {len(stamps)}")
        self._rounds += 1
        self._pending.append(tuple(stamps))  # whoever noted them may fill them in anew
        if len(self._pending) >= RECENT_RUNS:
            self._sum_up()

    def columns(self) -> list[Column]:
        self._sum_up()
        lists = self._total_ns.tolist(), self._longest_ns.tolist(), self._recent.T.tolist()
        return [(self._rounds, *one) for one in zip(*lists, strict=True)]

    def _sum_up(self) -> None:
        if self._pending:
            stamps = np.array(self._pending, np.int64)
            used = stamps[:, 1:] - stamps[:, :-1]
            self._pending = []
            self._total_ns += used.sum(axis=0)
            np.maximum(self._longest_ns, used.max(axis=0), out=self._longest_ns)
            self._recent = np.concatenate([self._recent, used])[-RECENT_RUNS:]


def _references_of_ours() -> int:
    round = _Round([], FrameMoment(TimeIndex(0, 0.0), 0.0), Turn(TimeIndex(0, 0.0), 0.0, Budget.unlimited()), None, 0)
    turn = round.turn  # as whoever makes the calls has it
    references = getrefcount(round.turn)
    del turn
    return references


NOT_KEPT = _references_of_ours()
"""References to a Turn that only the round and its caller hold: then it may be filled in anew.

Counted and not written down, as Python versions differ. A new Turn for each
bucket would take longer than all else that is done for it.
"""
