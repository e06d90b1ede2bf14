"""Which tasks are due on a frame, found without looking at the others."""
from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

import ai_core.scheduling.rounds as rounds
from ai_core.scheduling.bucket import Bucket
from ai_core.scheduling.rounds import Call, FrameMoment

if TYPE_CHECKING:
    from ai_core.scheduling.rounds import Round
    from ai_core.scheduling.task import Task

__all__ = ["DueTable"]

SHORT_PERIOD_FRAMES = 64
"""Longest period that has a ring of buckets (frames); longer ones wait in a calendar.

A ring is looked at on every frame, also when it has become empty: 6 to 50 ns for each
short period that was ever in use, so 3 µs at most. A calendar costs 0.3 µs for each
bucket that is due, and nothing for the others. With a longer ring little is won: rare
buckets are rarely due.
"""

by_period = attrgetter("period")


class DueTable:
    """Tasks in buckets by period and phase.

    Attributes:
        frame: the frame that comes next; one more while a frame runs.
        moment: the frame that runs, None between two.
        has_batches: whether any bucket is or was called in batches.
        round: the calls of the frame that runs, if its buckets make them.

    Cost: O(due) a frame, whatever the number of tasks and periods.
    """

    def __init__(self) -> None:
        self.frame = 0
        self.moment: FrameMoment | None = None
        self.round: Round | None = None
        self.has_batches = False
        self._rings: dict[int, list[Bucket]] = {}
        self._in_order: rounds.PeriodRings | None = None
        self._rare: dict[tuple[int, int], Bucket] = {}
        self._calendar: dict[int, list[Bucket]] = {}

    def add(self, task: Task, call: Call) -> None:
        """Take in a task that has period and phase; due from ``frame`` on."""
        period = task._period
        residue = -task._phase % period
        if period <= SHORT_PERIOD_FRAMES:
            ring = self._rings.get(period)
            if ring is None:
                ring = self._rings[period] = [Bucket(self, period, one) for one in range(period)]
                self._in_order = None
            bucket = ring[residue]
        else:
            bucket = self._rare_bucket(period, residue)
        bucket.insert_task(task, call)

    def remove(self, task: Task) -> None:
        """Let go of a task, if it is here."""
        bucket = task._bucket
        if bucket is None:
            return
        bucket.remove_task(task)
        if bucket.period > SHORT_PERIOD_FRAMES and not bucket:
            soonest = self.frame + (bucket.residue - self.frame) % bucket.period
            self._calendar[soonest].remove(bucket)
            del self._rare[bucket.period, bucket.residue]

    def due(self) -> list[Bucket]:
        """Return the buckets due on ``frame``, by ascending period, and go on to the next."""
        frame, in_order = self.frame, self._in_order
        if in_order is None:
            in_order = self._in_order = rounds.PeriodRings(sorted(self._rings.items(), key=itemgetter(0)))
        due: list[Bucket] = in_order.due(frame)  # type: ignore[assignment]  # what is in is what comes out
        rare = self._calendar.pop(frame, None) if self._calendar else None
        if rare is not None:
            rare.sort(key=by_period)
            due += rare
            for bucket in rare:
                self._calendar.setdefault(frame + bucket.period, []).append(bucket)
        self.frame = frame + 1
        return due

    def _rare_bucket(self, period: int, residue: int) -> Bucket:
        bucket = self._rare.get((period, residue))
        if bucket is None:
            bucket = self._rare[period, residue] = Bucket(self, period, residue)
            first = self.frame + (residue - self.frame) % period
            self._calendar.setdefault(first, []).append(bucket)
        return bucket
