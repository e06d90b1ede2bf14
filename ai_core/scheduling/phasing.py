"""Choosing phases so that periodic tasks do not coincide on the same frame.

The sign convention: a task with period ``n`` and phase ``p`` is due
on frame ``f`` when ``(f + p) % n == 0``. Two tasks meet on some frame if, and
only if, their phases agree modulo the greatest common divisor of their periods.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.fields import LARGEST
from ai_core.scheduling.run_loops import best_first_frame
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, NS_PER_US, Task, checked_period, checked_phase

__all__ = [
    "LOOK_AHEAD_FRAMES",
    "DryRun",
    "PhaseSlot",
    "PhaseTable",
    "check_one_per_slot",
    "checked_slot",
    "co_prime_count",
    "common_multiple",
    "least_peak_of",
    "mean_costs_us",
    "rephased",
]

LOOK_AHEAD_FRAMES = 5040
"""Look-ahead in which phases are compared (frames).

5040 = lcm(1, ..., 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, ...) has 60
divisors: tasks with such periods have every possible meeting within it.
A longer look-ahead makes adding a task slower; a shorter one misses meetings.
"""


class PhaseSlot(NamedTuple):
    """The frames of a task: every ``period_frames``, offset by ``phase_frames``."""

    period_frames: int
    phase_frames: int

    @property
    def first_frame(self) -> int:
        """The first frame, from 0, on which the task is due."""
        return -self.phase_frames % self.period_frames


class PhaseTable(Described):
    """Finds the phase at which a new task meets the fewest others, over all frames it would join.

    A task joins the frames of one residue modulo its period. No phase has a
    lower busiest frame than the one found, over all time, if the common
    multiple of all periods is at most ``LOOK_AHEAD_FRAMES``; over the look-ahead
    otherwise. Tasks with periods above the look-ahead are spread over its frames.

    The best phase depends on the slots in the table, not on the order of adding.

    Args:
        look_ahead_frames: how many frames are compared, 1 to MAX_PERIOD_FRAMES.

    Attributes:
        load: number of tasks, or their total weight, due on each of these frames.
    """

    _wraps = True       # whether a task whose first frame is later counts on that frame modulo the look-ahead

    def __init__(self, look_ahead_frames: int = LOOK_AHEAD_FRAMES) -> None:
        remedy = f"use {LOOK_AHEAD_FRAMES} if in doubt"
        frames = whole_number(
            "look_ahead_frames", look_ahead_frames, minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy)
        # Twice as long, its second half empty: a table of any period has a complete last row.
        self._cells = np.zeros(2 * frames, np.int64)
        self.load: NDArray[np.int64] = self._cells[:frames]

    def add(self, slot: PhaseSlot, weight: int = 1) -> None:
        """Add the slot of a task.

        Raises:
            TypeError: if ``slot`` is not a period and a phase.
            ValueError: if a number is out of range.

        Cost: O(look_ahead_frames / period).
        """
        slot = checked_slot(slot)
        self.load[self._first_frame(slot)::slot.period_frames] += weight

    def remove(self, slot: PhaseSlot, weight: int = 1) -> None:
        """Remove the slot of a task.

        Raises:
            ValueError: if no task is due on its first frame, so that it was not added.
        """
        slot = checked_slot(slot)
        first = self._first_frame(slot)
        if first < len(self.load) and self.load[first] < weight:
            raise ValueError(f"{slot} must be in the table, and no task is due on frame {first}; remove each slot once")
        self.load[first::slot.period_frames] -= weight

    def _first_frame(self, slot: PhaseSlot) -> int:
        return slot.first_frame % len(self.load) if self._wraps else slot.first_frame

    def best_phase(self, period_frames: int) -> int:
        """Return the phase at which a new task meets the fewest others.

        Phases are compared by the busiest frame they would join, then by how
        many frames as busy they would join, then by the runs on all frames
        they would join; of equal ones the one due first is taken.

        Cost: O(look_ahead_frames), whatever the number of tasks.

        >>> table = PhaseTable()
        >>> table.add(PhaseSlot(2, 0))
        >>> table.best_phase(2)
        1
        """
        period, frames = checked_period(period_frames), len(self.load)
        if period == 1:
            return 0
        common = gcd(period, frames) if period > frames else period
        first = int(best_first_frame(self._cells, -(-frames // common), common))
        if period > frames:
            first += common * int(self.load[first::common].argmin())
        return -first % period


class DryRun(PhaseTable):
    """The textbook method: simulate frames without working, and take the frame with the fewest runs.

    It compares one of the frames that a task would join, so its peaks are
    higher than those of a ``PhaseTable``; a short look-ahead is cheap.

    Source: 000_execution_management, Wright and Marshall's method.
    """

    _wraps = False

    def best_phase(self, period_frames: int) -> int:
        """Return the phase that is due on the first frame with the fewest runs.

        Cost: O(look_ahead_frames), whatever the number of tasks.

        >>> dry_run = DryRun(look_ahead_frames=10)
        >>> dry_run.add(PhaseSlot(2, 0))
        >>> dry_run.best_phase(2)
        1
        """
        return -int(self.load.argmin()) % checked_period(period_frames)


def common_multiple(periods: Iterable[int], most: int) -> int | None:
    """Return the least common multiple of periods (frames); None if it is above ``most``."""
    common = 1
    for period in periods:
        common = lcm(common, period)
        if common > most:
            return None
    return common


def least_peak_of(periods: list[int]) -> int:
    """Return a lower bound on the runs of the busiest frame, for any phases.

    It is the mean load rounded up, or the number of periods that share no factor,
    whichever is greater.

    >>> least_peak_of([2, 3, 5, 7, 11]), least_peak_of([2, 2, 2])
    (5, 2)
    """
    # The rounded sum may exceed an integer by a little.
    mean = ceil(sum(1 / period for period in periods) - 1e-9)
    return max(int(mean), co_prime_count(periods))


def co_prime_count(periods: list[int]) -> int:
    """Return how many periods share no factor with each other, chosen greedily from the smallest."""
    product, count = 1, 0
    for period in sorted(periods):
        if gcd(product, period) == 1:
            product = lcm(product, period)
            count += 1
    return count


def check_one_per_slot(name: str, values: Sequence[object] | None, count: int) -> None:
    """Raise ValueError unless ``values`` is None or has a value for each slot."""
    if values is not None and len(values) != count:
        raise ValueError(f"{name} must hold a value for each of {count} slots, got {len(values)}")


def checked_slot(value: object) -> PhaseSlot:
    """Return ``value`` as a PhaseSlot if it is a period and a phase in range."""
    if type(value) is PhaseSlot:
        period, phase = value
        if type(period) is type(phase) is int and 0 < period <= MAX_PERIOD_FRAMES and 0 <= phase <= MAX_PERIOD_FRAMES:
            return value
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"a slot must be a period and a phase, got {shown(value)}; use PhaseSlot(10, 0)")
    return PhaseSlot(checked_period(value[0]), checked_phase(value[1]))


PASSES = 2
"""Times that all tasks are placed (count), each time beside all others. The mean peak of 150 sets of 5 to 30 tasks is
3.45 after the first and 3.39 after two as after sixteen."""
FINEST = 4096
"""Weights are rounded to this part of the greatest: integers have the same sum in any order."""
MOST_WEIGHT = 1 << 25
"""Greatest sum of rounded weights: its square, on 5040 frames, fits in 64 bits."""


def rephased(
    slots: Sequence[PhaseSlot], *, weights: Sequence[float] | None = None, movable: Sequence[bool] | None = None
) -> list[int]:
    """Return phases with a lower busiest frame, chosen for all tasks together: the most frequent and costly first.

    Phases are chosen as by a ``PhaseTable``, over the common multiple of all periods, at most ``LOOK_AHEAD_FRAMES``.
    If that does not lower the load of the busiest frame, the number of frames as busy, or else the unevenness,
    the present phases are returned.

    Args:
        slots: periods and present phases of all tasks.
        weights: cost of a run of each, 0 to 1e100, any unit; None for equal.
            Rounded to 1/4096 of the greatest, and up to that at least.
        movable: whether each may get another phase; None for all.

    Raises:
        TypeError: if a slot, weight or flag is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(LOOK_AHEAD_FRAMES) for each task and pass at most; 0.15 s for 10,000 tasks of periods to 60.
    Source: 000_execution_management, automatic phasing; there one by one only.
    """
    checked = [checked_slot(slot) for slot in slots]
    check_one_per_slot("weights", weights, len(checked))
    check_one_per_slot("movable", movable, len(checked))
    costs = _rounded(weights if weights is None else [
        finite_number("a weight in weights", one, minimum=0, maximum=LARGEST) for one in weights], len(checked))
    may_move = [True] * len(checked) if movable is None else list(movable)
    for flag in may_move:
        if type(flag) is not bool:
            raise TypeError(f"movable must hold only True and False, got {shown(flag)}")
    common = common_multiple({slot.period_frames for slot in checked}, LOOK_AHEAD_FRAMES)
    present, table = (PhaseTable(LOOK_AHEAD_FRAMES if common is None else common) for _ in range(2))
    for slot, cost, may in zip(checked, costs, may_move, strict=True):
        present.add(slot, cost)
        if not may:
            table.add(slot, cost)
    order = sorted(
        (index for index, may in enumerate(may_move) if may),
        key=lambda index: (checked[index].period_frames, -costs[index]))
    least, best, placed = _measure(present), checked, list(checked)
    for number in range(PASSES):
        for index in order:
            period = checked[index].period_frames
            if number:
                table.remove(placed[index], costs[index])
            placed[index] = PhaseSlot(period, table.best_phase(period))
            table.add(placed[index], costs[index])
        if (measure := _measure(table)) < least:
            least, best = measure, list(placed)
    # A task that did not move keeps its phase, which may exceed its period.
    return [
        slot.phase_frames if slot.first_frame == new.first_frame else new.phase_frames
        for slot, new in zip(checked, best, strict=True)]


def _measure(table: PhaseTable) -> tuple[int, int, int]:
    """Return what a choice of phases minimises: the busiest frame's load, frames as busy, the sum of squares."""
    peak = int(table.load.max())
    return peak, int(np.count_nonzero(table.load == peak)), int((table.load * table.load).sum())


def _rounded(weights: list[float] | None, count: int) -> list[int]:
    if weights is None or not any(weights):
        return [1] * count
    greatest = max(weights)
    parts = [weight / greatest for weight in weights]
    scale = min(FINEST, MOST_WEIGHT / sum(parts))
    return [max(1, round(part * scale)) for part in parts]


def mean_costs_us(tasks: list[Task]) -> list[float] | None:
    """Return the mean time of a run of each task (µs); None if no run was measured.

    A task that has not run yet counts as the mean of the others.
    """
    means = [task._used_ns / NS_PER_US / task._measured_runs if task._measured_runs else None for task in tasks]
    known = [mean for mean in means if mean is not None]
    if not known:
        return None
    usual = sum(known) / len(known)
    return [usual if mean is None else mean for mean in means]
