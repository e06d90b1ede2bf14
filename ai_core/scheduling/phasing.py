"""Choosing phases so that periodic tasks do not coincide on the same frame.

The sign convention: a task with period ``n`` and phase ``p`` is due
on frame ``f`` when ``(f + p) % n == 0``. Two tasks meet on some frame if, and
only if, their phases agree modulo the greatest common divisor of their periods.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.described import Described
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.fields import LARGEST
from ai_core.scheduling.phase_loops import best_first_frames
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, NS_PER_US, Task, checked_period, checked_phase

__all__ = [
    "LOOK_AHEAD_FRAMES",
    "DryRun",
    "FrameLoad",
    "LoadMeasure",
    "PhaseSlot",
    "PhaseTable",
    "Rephasing",
    "check_one_per_slot",
    "checked_slot",
    "co_prime_count",
    "common_multiple",
    "first_frame",
    "least_peak_of",
    "mean_costs_us",
]

class FrameLoad:
    """Runs, or weights, due on each of a number of frames.

    A task of period ``n`` whose first frame is ``f`` is due on all frames of
    residue ``f`` modulo ``n``; these frames are compared together. A task rarer than
    ``frames`` counts on one frame, its first one modulo ``frames``; without ``counts_later``
    only if it is below ``frames``.
    """

    def __init__(self, frames: int, *, counts_later: bool = True) -> None:
        self.frames, self._counts_later = frames, counts_later
        # Twice as long, its second half empty: a table of any period has a complete last row.
        self._cells = np.zeros(2 * frames, np.int64)
        self.cells: NDArray[np.int64] = self._cells[:frames]

    def add(self, period_frames: int, first_frame: int, weight: int = 1) -> None:
        """Add the load of a task; a negative weight removes it. Cost: O(frames / period)."""
        if period_frames > self.frames and self._counts_later:
            first_frame %= self.frames
        self.cells[first_frame::period_frames] += weight

    def best_first_frame(self, period_frames: int, choice: int = 0) -> int:
        """Return the first frame for one more task, 0 to period - 1, as ``best_first_frames`` compares them.

        Among equal ones ``choice`` is an index, from the earliest, modulo their number.
        """
        if period_frames > self.frames:
            common = gcd(period_frames, self.frames)
            residue = self.best_first_frame(common)
            return residue + common * int(self.cells[residue::common].argmin())
        best = best_first_frames(self._cells, -(-self.frames // period_frames), period_frames)
        return int(best[choice % len(best)])


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


class PhaseTable(Described):
    """Finds the phase at which a new task meets the fewest others, over all frames it would join.

    A task joins the frames of one residue modulo its period. No phase has a
    lower busiest frame than the one found, over all time, if the common
    multiple of all periods is at most ``LOOK_AHEAD_FRAMES``; over the look-ahead
    otherwise. Tasks with periods above the look-ahead are spread over its frames.

    The best phase depends on the slots in the table, not on the order of adding.
    """

    def __init__(self) -> None:
        self._load = FrameLoad(LOOK_AHEAD_FRAMES)

    def add(self, slot: PhaseSlot) -> None:
        """Add the slot of a task.

        Raises:
            TypeError: if ``slot`` is not a period and a phase.
            ValueError: if a number is out of range.

        Cost: O(LOOK_AHEAD_FRAMES / period).
        """
        slot = checked_slot(slot)
        self._load.add(slot.period_frames, first_frame(slot))

    def remove(self, slot: PhaseSlot) -> None:
        """Remove the slot of a task.

        Raises:
            ValueError: if no task is due on its first frame, so that it was not added.
        """
        slot = checked_slot(slot)
        first = first_frame(slot)
        if not self._load.cells[first % self._load.frames] and first < self._load.frames:
            raise ValueError(f"{slot} must be in the table, and no task is due on frame {first}; remove each slot once")
        self._load.add(slot.period_frames, first, -1)

    def best_phase(self, period_frames: int) -> int:
        """Return the phase at which a new task meets the fewest others.

        Phases are compared by the busiest frame they would join, then by how
        many frames as busy they would join, then by the runs on all frames
        they would join; of equal ones the one due first is taken.

        Cost: O(LOOK_AHEAD_FRAMES), whatever the number of tasks.

        >>> table = PhaseTable()
        >>> table.add(PhaseSlot(2, 0))
        >>> table.best_phase(2)
        1
        """
        period = checked_period(period_frames)
        return -self._load.best_first_frame(period) % period if period > 1 else 0


class DryRun(PhaseTable):
    """The textbook method: simulate frames without working, and take the frame with the fewest runs.

    It compares one of the frames that a task would join, so its peaks are
    higher than those of a ``PhaseTable``; a short look-ahead is cheap.

    Args:
        look_ahead_frames: how many frames are simulated, 1 to MAX_PERIOD_FRAMES. The
            default sees every meeting of the usual periods.

    Source: 000_execution_management, Wright and Marshall's method.
    """

    def __init__(self, look_ahead_frames: int = LOOK_AHEAD_FRAMES) -> None:
        remedy = f"use {LOOK_AHEAD_FRAMES} if in doubt"
        frames = whole_number(
            "look_ahead_frames", look_ahead_frames, minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy)
        self._load = FrameLoad(frames, counts_later=False)

    def best_phase(self, period_frames: int) -> int:
        """Return the phase that is due on the first frame with the fewest runs.

        Cost: O(look_ahead_frames), whatever the number of tasks.

        >>> dry_run = DryRun(look_ahead_frames=10)
        >>> dry_run.add(PhaseSlot(2, 0))
        >>> dry_run.best_phase(2)
        1
        """
        return -int(self._load.cells.argmin()) % checked_period(period_frames)


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


def first_frame(slot: PhaseSlot) -> int:
    """Return the first frame, from 0, on which a task is due."""
    return -slot.phase_frames % slot.period_frames


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


MOST_PLACEMENTS = 1000
"""Most placements of the local search: 10 to 30 ms. More improve little: the mean peak of 150
sets of 5 to 30 tasks is 3.35 with 1000, 3.34 with 4000."""
CHUNK = 50
"""Tasks handled in one step (count); keeps a step below 0.2 ms."""
TAKEN_FROM_BUSIEST = 12
"""Most tasks taken out of a busiest frame at once (count). With more, there are fewer attempts."""
TAKEN_ELSEWHERE = 4
"""Tasks taken out of other frames at the same time (count); without them the mean peak is 3.413 instead of 3.347."""


class LoadMeasure(NamedTuple):
    """Measure of a load that a search minimises, in this order; in rounded weights, or runs."""

    peak: int
    """Load of the busiest frame."""
    frames_at_peak: int
    unevenness: int
    """Sum of the squares of all loads."""


FINEST = 4096
"""Weights are rounded to this part of the greatest: integers have the same sum in any order."""
MOST_WEIGHT = 1 << 25
"""Greatest sum of rounded weights: its square, on 5040 frames, fits in 64 bits."""


class Rephasing(Described):
    """Searches for phases with the lowest peak: create it, call ``advance``, read the best so far.

    Frames are looked at over the common multiple of all periods, or over
    ``LOOK_AHEAD_FRAMES`` if that is longer. By its measure the result is never
    worse than the phases it started with. The search is deterministic.

    Args:
        slots: periods and present phases of all tasks.
        weights: cost of a run of each, 0 to 1e100, any unit; None for equal.
            Rounded to 1/4096 of the greatest, and up to that at least.
        movable: whether each may get another phase; None for all.

    Attributes:
        measure_before: measure of the phases it started with; None until they are counted.
        measure: measure of ``result``; None until then.

    Raises:
        TypeError: if a slot, weight or flag is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(tasks) to begin, about 1 µs each; then about 150 ms in all for 10,000
    tasks of periods to 60, up to 30 ms for 30 tasks, 300 ms for 10,000 whose periods differ.
    Source: 000_execution_management, automatic phasing; there one by one only.
    """

    SHOWN = ("is_done",)

    def __init__(
        self,
        slots: Sequence[PhaseSlot],
        *,
        weights: Sequence[float] | None = None,
        movable: Sequence[bool] | None = None,
    ) -> None:
        self._slots = [checked_slot(slot) for slot in slots]
        check_one_per_slot("weights", weights, len(self._slots))
        check_one_per_slot("movable", movable, len(self._slots))
        costs = None if weights is None else [
            # The full check takes ten times as long; usual values pass this comparison.
            one if type(one) is float and 0 <= one <= LARGEST
            else finite_number("a weight in weights", one, minimum=0, maximum=LARGEST)
            for one in weights
        ]
        self._movable = [True] * len(self._slots) if movable is None else list(movable)
        for flag in self._movable:
            if type(flag) is not bool:
                raise TypeError(f"movable must hold only True and False, got {shown(flag)}")
        # Tasks are known by their first frame, as in a FrameLoad.
        self._weights = _rounded(costs, len(self._slots))
        self._may_move = np.array(self._movable, bool)
        self._periods = np.array([slot.period_frames for slot in self._slots], np.int64)
        self._given = np.array([slot.phase_frames for slot in self._slots], np.int64)
        self._first = -self._given % self._periods
        self._best = self._first.copy()
        self._mixed = 1
        self.measure_before: LoadMeasure | None = None
        self.measure: LoadMeasure | None = None
        self._steps = self._search()
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """True when the search has ended; ``result`` no longer changes."""
        return self._is_done

    @property
    def result(self) -> list[int]:
        """The best phases so far, in the order of the slots; tasks that did not move keep theirs. Cost: O(tasks)."""
        is_kept = (self._given + self._best) % self._periods == 0
        phases: list[int] = np.where(is_kept, self._given, -self._best % self._periods).tolist()
        return phases

    def advance(self, budget: Budget) -> None:
        """Continue the search until done, or until the budget is spent; each step costs one.

        One step takes about 0.2 ms at most with 10,000 tasks of usual periods;
        the first, and two later ones, up to 1.5 ms if all periods differ.
        """
        check_budget(budget)
        while not (self._is_done or budget.is_spent):
            self._is_done = next(self._steps, True) is True
            budget.spend()

    def _search(self) -> Iterator[None]:
        common = common_multiple(np.unique(self._periods).tolist(), LOOK_AHEAD_FRAMES)
        self._load = FrameLoad(LOOK_AHEAD_FRAMES if common is None else common)
        yield
        groups: dict[int, list[int]] = {}
        placed = FrameLoad(self._load.frames)
        for index, (period, _) in enumerate(self._slots):
            first, weight = int(self._first[index]), self._weights[index]
            self._load.add(period, first, weight)
            if self._movable[index]:
                groups.setdefault(period, []).append(index)
            else:
                placed.add(period, first, weight)
            if index % CHUNK == CHUNK - 1:
                yield
        self.measure = self.measure_before = _measured(self._load)
        yield
        yield from self._place_all(placed, groups)
        yield from self._improve()

    def _place_all(self, placed: FrameLoad, groups: dict[int, list[int]]) -> Iterator[None]:
        """Place all movable tasks again, the most frequent first; keep the result if it is better."""
        begun_with, self._load = self._load, placed
        for period in sorted(groups):
            group = sorted(groups[period], key=lambda index: (-self._weights[index], index))
            yield
            for index in group:
                self._place(index)
                yield
        measure = _measured(self._load)
        if self.measure is not None and measure < self.measure:
            self.measure = measure
            self._best[:] = self._first
        else:
            self._load = begun_with
            self._first[:] = self._best
        yield

    def _improve(self) -> Iterator[None]:
        """Take tasks out of a busiest frame, place them again, and undo each attempt that makes it worse."""
        movable = np.flatnonzero(self._may_move)
        least_peak, periods = -(-int(self._load.cells.sum()) // self._load.frames), np.unique(self._periods)
        if not (self._load.frames % periods).any():     # else these frames do not contain every meeting
            least_peak = max(least_peak, least_peak_of(periods.tolist()))
        placements = attempt = 0
        while placements < MOST_PLACEMENTS and len(movable) and self._load.cells.max() > least_peak:
            taken = self._taken_out(movable)
            attempt += 1
            if attempt % 2:
                taken.sort(key=lambda index: (self._slots[index].period_frames, index))
            yield
            for index in taken:
                self._place(index, choice=self._draw())
                yield
            placements += len(taken) + 1
            self._settle(taken)
            yield

    def _taken_out(self, movable: NDArray[np.int64]) -> list[int]:
        """Take some tasks of a busiest frame, and a few others, out of the load; return their indices."""
        busiest = np.flatnonzero(self._load.cells == self._load.cells.max())
        frame = int(busiest[self._draw() % len(busiest)])
        is_due = (frame - self._first[movable]) % self._periods[movable] == 0
        taken = self._drawn(movable[is_due], TAKEN_FROM_BUSIEST)
        taken += self._drawn(movable[~is_due], TAKEN_ELSEWHERE)
        for index in taken:
            self._take_out(index)
        return taken

    def _settle(self, taken: list[int]) -> None:
        """Keep the new places of these tasks, unless the measure is worse than before."""
        measure = _measured(self._load)
        if self.measure is None or measure <= self.measure:
            self.measure = measure
            self._best[taken] = self._first[taken]
            return
        for index in taken:
            self._take_out(index)
            self._first[index] = self._best[index]
            self._add(index)

    def _place(self, index: int, choice: int = 0) -> None:
        period = self._slots[index].period_frames
        self._first[index] = self._load.best_first_frame(period, choice)
        self._add(index)

    def _add(self, index: int) -> None:
        period, weight = self._slots[index].period_frames, self._weights[index]
        self._load.add(period, int(self._first[index]), weight)

    def _take_out(self, index: int) -> None:
        period, weight = self._slots[index].period_frames, self._weights[index]
        self._load.add(period, int(self._first[index]), -weight)

    def _drawn(self, indices: NDArray[np.int64], most: int) -> list[int]:
        """Return ``most`` of the indices, or all, in a pseudo-random order."""
        if len(indices) > most:
            start, stride = self._draw() % len(indices), 1 + self._draw() % (len(indices) // most)
            indices = indices[(start + stride * np.arange(most)) % len(indices)]
        rest: list[int] = indices.tolist()
        return [rest.pop(self._draw() % len(rest)) for _ in range(len(rest))]

    def _draw(self) -> int:
        # Knuth's multiplier for 64 bits; the upper bits are the most random.
        self._mixed = (self._mixed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return self._mixed >> 33


def _measured(load: FrameLoad) -> LoadMeasure:
    cells = load.cells
    peak = int(cells.max())
    return LoadMeasure(peak, int(np.count_nonzero(cells == peak)), int((cells * cells).sum()))


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
