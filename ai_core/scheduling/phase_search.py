"""The search for better phases, step by step: all placed anew, then local search."""
from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.scheduling.frame_load import FrameLoad
from ai_core.scheduling.phase_advice import least_peak_of
from ai_core.scheduling.phasing import LOOK_AHEAD_FRAMES, Slot, common_multiple

__all__ = ["Measure", "PhaseSearch"]

MOST_PLACEMENTS = 1000
"""Placements that local search may try: 10 to 30 ms. More finds little: the mean peak of 150
sets of 5 to 30 tasks is 3.35 with 1000, 3.34 with 4000."""

CHUNK = 50
"""Cheap pieces of work done in one step; keeps a step below 0.2 ms."""

TAKEN_FROM_BUSIEST = 12
"""Most tasks taken out of a busiest frame at once. With more, fewer attempts fit in."""

TAKEN_ELSEWHERE = 4
"""Tasks taken out of other frames with them, to make room. Without, 3.413 instead of 3.347."""

HEAPED_PERIOD_FRAMES = 256
"""Longest period whose residues are held in a heap (frames): making one stays below 0.1 ms."""


class Measure(NamedTuple):
    """What is made smaller, in this order; rounded weights, or runs."""

    peak: int
    """Load of the busiest frame."""
    frames_at_peak: int
    unevenness: int
    """Squares of all loads, summed up."""


class PhaseSearch:
    """Phases of all tasks on their way to a lower peak; ``steps`` does the work.

    Tasks are known by their first frame, the first from 0 on which they are
    due, as it says where they are in a FrameLoad.

    Args:
        slots: periods and present phases.
        weights: of one run of each, whole numbers above 0.
        movable: which may get another phase.

    Attributes:
        best: first frames of the best phases so far.
        measure_before: of the phases given; None until they are counted.
        measure: of ``best``; None until then.
    """

    def __init__(self, slots: list[Slot], weights: list[int], movable: list[bool]) -> None:
        self._slots, self._weights, self._movable = slots, weights, movable
        self._may_move = np.array(movable, bool)
        self._periods = np.array([slot.period_frames for slot in slots], np.int64)
        self._given = np.array([slot.phase_frames for slot in slots], np.int64)
        self._first = -self._given % self._periods
        self._mixed = 1
        self.best = self._first.copy()
        self.measure_before: Measure | None = None
        self.measure: Measure | None = None

    def phases(self) -> list[int]:
        """Return the best phases so far; tasks that did not move keep what they were given."""
        is_kept = (self._given + self.best) % self._periods == 0
        phases: list[int] = np.where(is_kept, self._given, -self.best % self._periods).tolist()
        return phases

    def steps(self) -> Iterator[None]:
        """Do everything; pause after each step."""
        slots = self._slots
        common = common_multiple(np.unique(self._periods).tolist(), LOOK_AHEAD_FRAMES)
        self._load = FrameLoad(LOOK_AHEAD_FRAMES if common is None else common)
        yield
        groups: dict[int, list[int]] = {}
        placed = FrameLoad(self._load.frames)
        for index, (period, _) in enumerate(slots):
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
        """Place all that may move anew, the most frequent first; keep it if it is better."""
        begun_with, self._load = self._load, placed
        for period in sorted(groups):
            group = sorted(groups[period], key=lambda index: (-self._weights[index], index))
            yield
            if len(group) > 2 and period <= min(HEAPED_PERIOD_FRAMES, placed.frames):
                yield from self._place_group(period, group)
                continue
            for index in group:
                self._place(index)
                yield
        measure = _measured(self._load)
        if self.measure is not None and measure < self.measure:
            self.measure = measure
            self.best[:] = self._first
        else:
            self._load = begun_with
            self._first[:] = self.best
        yield

    def _place_group(self, period: int, group: list[int]) -> Iterator[None]:
        """Place tasks of one period: what goes to one residue changes nothing for the others."""
        columns = self._load.by_first_frame(period)
        heap = [(*judged, frame) for frame, judged in enumerate(zip(*columns, strict=True))]
        heapify(heap)
        rows = self._load.frames // period
        yield
        for number, index in enumerate(group):
            weight = self._weights[index]
            busiest, as_busy, total, frame = heap[0]
            heapreplace(heap, (busiest + weight, as_busy, total + rows * weight, frame))
            self._first[index] = frame
            self._load.add(period, frame, weight)
            if number % CHUNK == CHUNK - 1:
                yield
        yield

    def _improve(self) -> Iterator[None]:
        """Take tasks out of a busiest frame, put them back elsewhere, undo what made it worse."""
        movable = np.flatnonzero(self._may_move)
        least_peak = self._least_peak()
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

    def _least_peak(self) -> int:
        """Return a peak that no phases go below: looking on after it is reached is in vain."""
        mean = -(-int(self._load.cells.sum()) // self._load.frames)
        periods = np.unique(self._periods)
        if (self._load.frames % periods).any():
            return mean  # not all meetings that must happen do so on these frames
        return max(mean, least_peak_of(periods.tolist()))

    def _taken_out(self, movable: NDArray[np.int64]) -> list[int]:
        """Take some tasks of a busiest frame, and few others, out of the load."""
        busiest = np.flatnonzero(self._load.cells == self._load.cells.max())
        frame = int(busiest[self._draw() % len(busiest)])
        is_due = (frame - self._first[movable]) % self._periods[movable] == 0
        taken = self._drawn(movable[is_due], TAKEN_FROM_BUSIEST)
        taken += self._drawn(movable[~is_due], TAKEN_ELSEWHERE)
        for index in taken:
            self._take_out(index)
        return taken

    def _settle(self, taken: list[int]) -> None:
        """Keep where the tasks taken are now, unless it is worse than where they were."""
        measure = _measured(self._load)
        if self.measure is None or measure <= self.measure:
            self.measure = measure
            self.best[taken] = self._first[taken]
            return
        for index in taken:
            self._take_out(index)
            self._first[index] = self.best[index]
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
        self._load.remove(period, int(self._first[index]), weight)

    def _drawn(self, indices: NDArray[np.int64], most: int) -> list[int]:
        """Return ``most`` of the indices, or all, in a mixed order."""
        if len(indices) > most:
            start, stride = self._draw() % len(indices), 1 + self._draw() % (len(indices) // most)
            indices = indices[(start + stride * np.arange(most)) % len(indices)]
        rest: list[int] = indices.tolist()
        return [rest.pop(self._draw() % len(rest)) for _ in range(len(rest))]

    def _draw(self) -> int:
        """Return the next of a fixed series of numbers that look drawn by chance."""
        # Knuth's multiplier for 64 bits; the upper bits are the well mixed ones.
        self._mixed = (self._mixed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return self._mixed >> 33


def _measured(load: FrameLoad) -> Measure:
    cells = load.cells
    peak = int(cells.max())
    return Measure(peak, int(np.count_nonzero(cells == peak)), int((cells * cells).sum()))
