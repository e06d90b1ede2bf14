"""Choosing phases so that periodic tasks do not coincide on the same frame.

The sign convention: a task with period ``n`` and phase ``p`` is due
on frame ``f`` when ``(f + p) % n == 0``. Two tasks meet on some frame if, and
only if, their phases agree modulo the greatest common divisor of their periods.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import ceil, gcd, lcm, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.fields import LARGEST, Fields, State
from ai_core.scheduling.frame_load import FrameLoad
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, checked_period, checked_phase

LOOK_AHEAD_FRAMES = 5040
"""How far ahead phases are judged, in frames.

5040 = lcm(1, ..., 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, ...) has 60
divisors: among tasks whose periods are such, every meeting that can ever
happen happens within it. A longer one makes adding a task slower; a shorter
one misses meetings.
"""


class PhaseSlot(NamedTuple):
    """The frames of a task: every ``period_frames``, offset by ``phase_frames``."""

    period_frames: int
    phase_frames: int


class PhaseTable:
    """Finds the phase at which a new task meets the fewest others, over all frames it would join.

    A task joins the frames of one residue modulo its period. No phase has a
    lower busiest frame than the one found, over all time, if the common
    multiple of all periods is at most ``LOOK_AHEAD_FRAMES``; over the look-ahead
    otherwise. Tasks with periods above the look-ahead share no frame with others of the
    same period as long as there are frames enough.

    Its answers depend on its content, not on the order of adding.
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
            ValueError: if no slot that is due on the same frames was added.
        """
        slot = checked_slot(slot)
        self._load.remove(slot.period_frames, first_frame(slot))

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


class DryRun:
    """The textbook method: simulate frames without working, and take the frame with the fewest runs.

    It looks at one of the frames a task would join, so its peaks are
    higher than those of a ``PhaseTable``; in return a short look-ahead is cheap.

    Args:
        look_ahead_frames: how many frames are simulated, 1 to MAX_PERIOD_FRAMES. The
            default sees every meeting of the usual periods.

    Source: 000_execution_management, Wright and Marshall's method.
    """

    def __init__(self, look_ahead_frames: int = LOOK_AHEAD_FRAMES) -> None:
        remedy = f"use {LOOK_AHEAD_FRAMES} if in doubt"
        frames = whole_number(
            "look_ahead_frames", look_ahead_frames,
            minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy,
        )
        self._load = np.zeros(frames, np.int32)
        self._counts: Counter[tuple[int, int]] = Counter()

    @property
    def load(self) -> NDArray[np.int32]:
        """Runs on each frame of the look-ahead, a copy."""
        return self._load.copy()

    def add(self, slot: PhaseSlot) -> None:
        """Add the slot of a task. Cost: O(look_ahead_frames / period)."""
        slot = checked_slot(slot)
        first = first_frame(slot)
        self._counts[slot.period_frames, first] += 1
        self._load[first :: slot.period_frames] += 1

    def remove(self, slot: PhaseSlot) -> None:
        """Remove the slot of a task.

        Raises:
            ValueError: if no slot that is due on the same frames was added.
        """
        slot = checked_slot(slot)
        first = first_frame(slot)
        left = self._counts.pop((slot.period_frames, first), 0) - 1
        if left < 0:
            raise ValueError(f"{shown(slot)} is not counted; remove each added slot only once")
        if left:
            self._counts[slot.period_frames, first] = left
        self._load[first :: slot.period_frames] -= 1

    def best_phase(self, period_frames: int) -> int:
        """Return the phase that is due on the first frame with the fewest runs.

        Cost: O(look_ahead_frames), whatever the number of tasks.

        >>> dry_run = DryRun(look_ahead_frames=10)
        >>> dry_run.add(PhaseSlot(2, 0))
        >>> dry_run.best_phase(2)
        1
        """
        return -int(self._load.argmin()) % checked_period(period_frames)


def common_multiple(periods: Iterable[int], most: int) -> int | None:
    """Return the least common multiple of periods (frames); None if it is above ``most``."""
    common = 1
    for period in periods:
        common = lcm(common, period)
        if common > most:
            return None
    return common


def first_frame(slot: PhaseSlot) -> int:
    """Return the first frame, from 0, on which a task is due."""
    return -slot.phase_frames % slot.period_frames


def checked_slot(value: object) -> PhaseSlot:
    """Return ``value`` as a Slot, if it is a period and a phase in range."""
    if type(value) is PhaseSlot:
        period, phase = value
        if type(period) is type(phase) is int and 0 < period <= MAX_PERIOD_FRAMES and 0 <= phase <= MAX_PERIOD_FRAMES:
            return value
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"a slot must be a period and a phase, got {shown(value)}; use PhaseSlot(10, 0)")
    return PhaseSlot(checked_period(value[0]), checked_phase(value[1]))


MOST_HINTS = 3
"""Changes of periods named at once; after these the picture is another."""
NEAR = 8
"""A period may be moved by this part of itself, and by 1 frame at least."""
MOST_HINTED = 100
"""Different periods among which hints are looked for; among more, a few changes alter little."""


def least_peak_of(periods: list[int]) -> int:
    """Return a number of runs that the busiest frame reaches whatever the phases.

    It is the mean load rounded up, or how many periods share no factor if
    those are more.

    >>> least_peak_of([2, 3, 5, 7, 11]), least_peak_of([2, 2, 2])
    (5, 2)
    """
    # A sum that should be whole may come out a little above it.
    mean = ceil(sum(1 / period for period in periods) - 1e-9)
    return max(mean, _co_prime(periods))


def advice_on(periods: list[int], peak: int, least_peak: int, *, is_exact: bool) -> tuple[bool, str]:
    """Return whether other phases can help, and in words what could be done."""
    count = len(periods)
    if count < 2:
        return False, "There is nothing to phase: at most one task."
    if _co_prime(periods) == count:
        product = prod(periods)
        often = f"once in {product} frames" if product > 1 else "in every frame"
        fact = (
            f"Phasing cannot help: no two periods share a factor,"
            f" so all {count} tasks meet {often}, whatever the phases."
        )
        return False, fact + _hints(periods)
    if peak > least_peak:
        text = f"Re-phasing may lower the peak of {peak}; no phases go below {least_peak}."
        return True, text + _hints(periods)
    if is_exact:
        return False, f"No phases have a lower peak than {peak}." + _hints(periods)
    return True, "In this sample the peak is as low as phases can make it; elsewhere it may be higher."


def kinder_periods(periods: list[int]) -> list[tuple[int, int]]:
    """Return changes, as pairs of periods, of those that share no factor with any other.

    >>> kinder_periods([2, 3, 5, 7, 11])
    [(11, 10), (7, 6)]
    """
    counts, changes = Counter(periods), []
    for period in sorted(counts, reverse=True):
        others = counts.copy()
        others[period] -= 1
        if period == 1 or _avoidable(period, others) > 0:
            continue
        reach = max(1, period // NEAR)
        near = [n for n in range(max(2, period - reach), period + reach + 1) if n != period]
        best = min(near, key=lambda n: (-_avoidable(n, others), abs(n - period), n))
        if _avoidable(best, others) > 0:
            changes.append((period, best))
            counts = others + Counter([best])
        if len(changes) == MOST_HINTS:
            break
    return changes


def _hints(periods: list[int]) -> str:
    if len(set(periods)) > MOST_HINTED:
        return ""
    changes = kinder_periods(periods)
    if not changes:
        return ""
    named = ", ".join(f"{old} to {new}" for old, new in changes)
    return (
        f" A period that shares a factor with others can keep out of their way: change {named}."
    )


def _avoidable(period: int, others: Counter[int]) -> float:
    """Return how many meetings, per run of it, phases could spare a task."""
    return sum(count * (1 - 1 / gcd(period, other)) for other, count in others.items() if count)


def _co_prime(periods: list[int]) -> int:
    """Return how many periods share no factor with each other, taken as they come by size."""
    product, count = 1, 0
    for period in sorted(periods):
        if gcd(product, period) == 1:
            product = lcm(product, period)
            count += 1
    return count


MOST_EXACT_FRAMES = 1_000_000
"""Longest common multiple that is looked at whole (frames); takes up to half a second and 20 MB."""
SAMPLED_FRAMES = 100_000
"""Frames looked at if the common multiple is longer: 28 minutes at 60 frames a second."""
BINS = 16
"""Bars of a histogram of cost; runs have one for each number."""
COUNTED_PERIOD_FRAMES = 1000
"""Longest period whose tasks are first counted by residue (frames); rarer ones are few enough."""
WIDEST_BAR = 40
"""Characters of the longest bar when printed."""


class LoadSpread(NamedTuple):
    """The distribution of a load over frames."""

    minimum: float
    maximum: float
    mean: float
    spread: float
    """Standard deviation; 0 if all frames are equal."""
    histogram: tuple[tuple[float, int], ...]
    """Pairs of a load, and the frames that have it; of cost, the lower edges of equal bins."""


@dataclass(frozen=True)
class PhaseQuality:
    """The load that phases result in.

    Attributes:
        frames: how many frames were looked at, from ``from_frame`` on.
        from_frame: the first of them.
        is_exact: whether they are a whole cycle, which then repeats.
        common_multiple: length of that cycle (frames); None if
            it is more than MOST_EXACT_FRAMES.
        runs: tasks due in a frame.
        cost_us: their cost (µs); None if no costs were given.
        worst_frame: the frame with the highest cost, or without costs with the most runs;
            the first of equal ones.
        worst_tasks: the tasks that run in it, as indices of slots.
        worst_names: the same by name; empty if no names were given.
        least_peak: lower bound on the runs of the busiest frame, for any phases.
        can_phasing_help: False if certainly no other phases have a lower peak.
        advice: possible improvements, in words.
    """

    frames: int
    from_frame: int
    is_exact: bool
    common_multiple: int | None
    runs: LoadSpread
    cost_us: LoadSpread | None
    worst_frame: int
    worst_tasks: tuple[int, ...]
    worst_names: tuple[str, ...]
    least_peak: int
    can_phasing_help: bool
    advice: str

    def as_dict(self) -> dict[str, object]:
        """Return all of it as plain data."""
        return {
            "frames": self.frames,
            "from_frame": self.from_frame,
            "is_exact": self.is_exact,
            "common_multiple": self.common_multiple,
            "runs": _plain(self.runs),
            "cost_us": None if self.cost_us is None else _plain(self.cost_us),
            "worst_frame": self.worst_frame,
            "worst_tasks": list(self.worst_tasks),
            "worst_names": list(self.worst_names),
            "least_peak": self.least_peak,
            "can_phasing_help": self.can_phasing_help,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        """Return a table for people."""
        whole = "all there are" if self.is_exact else "a sample"
        who = [str(one) for one in self.worst_names or self.worst_tasks]
        rest = f" and {len(who) - 8} more" if len(who) > 8 else ""
        lines = [f"{self.frames} frames from {self.from_frame}, {whole}", _table("runs", self.runs)]
        if self.cost_us is not None:
            lines.append(_table("cost (µs)", self.cost_us))
        lines.append(f"worst frame {self.worst_frame}: {', '.join(who[:8]) or 'nobody'}{rest}")
        return "\n".join([*lines, self.advice])


def phase_quality(
    slots: Sequence[PhaseSlot],
    *,
    costs_us: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    frames: int = SAMPLED_FRAMES,
    from_frame: int = 0,
) -> PhaseQuality:
    """Return how evenly the phases of ``slots`` spread runs and cost over frames.

    Exact over the common multiple of all periods if that is at most
    MOST_EXACT_FRAMES, else over a sample of ``frames`` frames in a row.

    Args:
        slots: period and phase of each task.
        costs_us: mean cost of a run of each (µs), 0 or more.
        names: of the tasks, for the report.
        frames: size of the sample, 1 to MOST_EXACT_FRAMES.
        from_frame: first frame, 0 or more.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(frames * different periods + frames / period, summed over tasks).
    Source: 000_execution_management, phase quality; there by random samples only.
    """
    checked = [checked_slot(slot) for slot in slots]
    costs, labels = _checked_costs(costs_us, len(checked)), _checked_names(names, len(checked))
    frames = whole_number("frames", frames, minimum=1, maximum=MOST_EXACT_FRAMES)
    from_frame = whole_number("from_frame", from_frame, minimum=0)
    common = common_multiple((slot.period_frames for slot in checked), MOST_EXACT_FRAMES)
    frames = frames if common is None else common
    runs = _load(checked, [1.0] * len(checked), frames, from_frame)
    cost = None if costs is None else _load(checked, costs, frames, from_frame)
    worst_frame = from_frame + int((runs if cost is None else cost).argmax())
    meeting = tuple(
        index for index, slot in enumerate(checked)
        if (worst_frame + slot.phase_frames) % slot.period_frames == 0
    )
    periods = [slot.period_frames for slot in checked]
    peak, least_peak = int(runs.max()), least_peak_of(periods)
    can_help, advice = advice_on(periods, peak, least_peak, is_exact=common is not None)
    return PhaseQuality(
        frames, from_frame, common is not None, common,
        _runs_spread(runs), None if cost is None else _cost_spread(cost),
        worst_frame, meeting, tuple(labels[index] for index in meeting) if labels else (),
        least_peak, can_help, advice,
    )


def _checked_costs(costs_us: Sequence[float] | None, count: int) -> list[float] | None:
    if costs_us is None:
        return None
    if len(costs_us) != count:
        raise ValueError(f"costs_us must hold a value for each of {count} slots, got {len(costs_us)}")
    return [finite_number("a cost in costs_us", cost, minimum=0) for cost in costs_us]


def _checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a list of strings, got {shown(names)}")
    if len(names) != count:
        raise ValueError(f"names must hold a name for each of {count} slots, got {len(names)}")
    return list(names)


def _load(
    slots: list[PhaseSlot], weights: list[float], frames: int, from_frame: int
) -> NDArray[np.float64]:
    """Return the sum of weights due on each frame."""
    load = np.zeros(frames)
    by_residue: dict[int, NDArray[np.float64]] = {}
    for slot, weight in zip(slots, weights, strict=True):
        period = slot.period_frames
        first = (first_frame(slot) - from_frame) % period
        if period > COUNTED_PERIOD_FRAMES:
            load[first::period] += weight
        else:
            by_residue.setdefault(period, np.zeros(period))[first] += weight
    for period, residues in sorted(by_residue.items(), key=lambda item: item[0]):
        whole = frames - frames % period
        load[:whole].reshape(-1, period)[:] += residues
        load[whole:] += residues[: frames - whole]
    return load


def _runs_spread(load: NDArray[np.float64]) -> LoadSpread:
    frames_with = np.bincount(load.astype(np.int64))
    histogram = tuple((runs, int(n)) for runs, n in enumerate(frames_with.tolist()) if n)
    mean, spread = float(load.mean()), float(load.std())
    return LoadSpread(int(load.min()), int(load.max()), mean, spread, histogram)


def _cost_spread(load: NDArray[np.float64]) -> LoadSpread:
    least, most = float(load.min()), float(load.max())
    histogram: tuple[tuple[float, int], ...] = ((least, len(load)),)
    if most - least > 1e-9 * most:  # else they differ by rounding alone
        counts, edges = np.histogram(load, bins=BINS, range=(least, most))
        histogram = tuple(zip(edges[:-1].tolist(), counts.tolist(), strict=True))
    return LoadSpread(least, most, float(load.mean()), float(load.std()), histogram)


def _plain(load: LoadSpread) -> dict[str, object]:
    return {**load._asdict(), "histogram": [list(bar) for bar in load.histogram]}


def _table(title: str, load: LoadSpread) -> str:
    head = (
        f"{title}: {load.minimum:g} to {load.maximum:g},"
        f" mean {load.mean:.2f}, spread {load.spread:.2f}"
    )
    widest = max(frames for _, frames in load.histogram)
    bars = [
        f"{value:>10.6g} {frames:>8} {'#' * ceil(WIDEST_BAR * frames / widest)}"
        for value, frames in load.histogram
    ]
    return "\n".join([head, *bars])


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


class LoadMeasure(NamedTuple):
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

    def __init__(self, slots: list[PhaseSlot], weights: list[int], movable: list[bool]) -> None:
        self._slots, self._weights, self._movable = slots, weights, movable
        self._may_move = np.array(movable, bool)
        self._periods = np.array([slot.period_frames for slot in slots], np.int64)
        self._given = np.array([slot.phase_frames for slot in slots], np.int64)
        self._first = -self._given % self._periods
        self._mixed = 1
        self.best = self._first.copy()
        self.measure_before: LoadMeasure | None = None
        self.measure: LoadMeasure | None = None

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


def _measured(load: FrameLoad) -> LoadMeasure:
    cells = load.cells
    peak = int(cells.max())
    return LoadMeasure(peak, int(np.count_nonzero(cells == peak)), int((cells * cells).sum()))


VERSION = 1
FINEST = 4096
"""Weights are rounded to this part of the greatest: whole numbers add up the same in any order."""
MOST_WEIGHT = 1 << 25
"""Greatest sum of rounded weights: its square, on 5040 frames, fits in 64 bits."""


class Rephasing:
    """Searches for phases with the lowest peak: create it, call ``advance``, read the best so far.

    Frames are looked at over the common multiple of all periods, or over
    ``LOOK_AHEAD_FRAMES`` if that is longer. By its measure the result is never
    worse than the phases it started with. The search is deterministic.

    Args:
        slots: periods and present phases of all tasks.
        weights: cost of a run of each, 0 to 1e100, any unit; None for equal.
            Rounded to 1/4096 of the greatest, and up to that at least.
        movable: whether each may get another phase; None for all.

    Raises:
        TypeError: if a slot, weight or flag is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(tasks) to begin, about 1 µs each; then about 80 ms in all for 10,000
    tasks of periods to 60, up to 30 ms for 30 tasks, 300 ms for 10,000 whose periods differ.
    Source: 000_execution_management, automatic phasing; there one by one only.
    """

    def __init__(
        self,
        slots: Sequence[PhaseSlot],
        *,
        weights: Sequence[float] | None = None,
        movable: Sequence[bool] | None = None,
    ) -> None:
        self._begin(*_checked(slots, weights, movable))

    def _begin(self, slots: list[PhaseSlot], weights: list[float] | None, movable: list[bool]) -> None:
        self._slots, self._weights, self._movable = slots, weights, movable
        self._search = PhaseSearch(slots, _rounded(weights, len(slots)), movable)
        self._steps = self._search.steps()
        self._steps_taken = 0
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """True when the search has ended; ``result`` no longer changes."""
        return self._is_done

    @property
    def result(self) -> list[int]:
        """The best phases so far, in the order of the slots. Cost: O(tasks)."""
        return self._search.phases()

    @property
    def measure_before(self) -> LoadMeasure | None:
        """Measure of the phases it started with; None until they are counted."""
        return self._search.measure_before

    @property
    def measure(self) -> LoadMeasure | None:
        """Measure of ``result``; None until the phases it started with are counted."""
        return self._search.measure

    def advance(self, budget: Budget) -> None:
        """Continue the search until done, or until the budget is spent; each step costs one.

        One step takes about 0.2 ms at most with 10,000 tasks of usual periods;
        the first, and two later ones, up to 1.5 ms if all periods differ.
        """
        check_budget(budget)
        while not (self._is_done or budget.is_spent):
            self._step()
            budget.spend()

    def save_state(self) -> State:
        """Return tasks, weights and the progress of the search."""
        return {
            "version": VERSION,
            "periods_frames": [slot.period_frames for slot in self._slots],
            "phases_frames": [slot.phase_frames for slot in self._slots],
            "weights": None if self._weights is None else list(self._weights),
            "movable": list(self._movable),
            "steps": self._steps_taken,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that loads it, by repeating all its steps.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=VERSION)
        periods, phases = fields.wholes("periods_frames"), fields.wholes("phases_frames")
        weights = None if fields.anything("weights") is None else fields.numbers("weights")
        movable, steps = fields.items("movable"), fields.whole("steps")
        fields.end()
        try:
            slots = [PhaseSlot(*pair) for pair in zip(periods, phases, strict=True)]
            arguments = _checked(slots, weights, movable)
        except (TypeError, ValueError) as error:
            fields.refuse("periods_frames", f"is inconsistent with the other fields: {error}")

        def change() -> None:
            self._begin(*arguments)
            while self._steps_taken < steps and not self._is_done:
                self._step()

        return change

    def _step(self) -> None:
        self._steps_taken += 1
        self._is_done = next(self._steps, True) is True


def _checked(
    slots: Sequence[PhaseSlot], weights: Sequence[float] | None, movable: Sequence[bool] | None
) -> tuple[list[PhaseSlot], list[float] | None, list[bool]]:
    checked = [checked_slot(slot) for slot in slots]
    for name, values in (("weights", weights), ("movable", movable)):
        if values is not None and len(values) != len(checked):
            raise ValueError(f"{name} must hold a value for each of {len(checked)} slots, got {len(values)}")
    if weights is not None:
        weights = [
            # The full check takes ten times as long; of thousands all pass this one.
            one if type(one) is float and 0 <= one <= LARGEST
            else finite_number("a weight in weights", one, minimum=0, maximum=LARGEST)
            for one in weights
        ]
    flags = [True] * len(checked) if movable is None else list(movable)
    for flag in flags:
        if type(flag) is not bool:
            raise TypeError(f"movable must hold only True and False, got {shown(flag)}")
    return checked, weights, flags


def _rounded(weights: list[float] | None, count: int) -> list[int]:
    if weights is None or not any(weights):
        return [1] * count
    greatest = max(weights)
    parts = [weight / greatest for weight in weights]
    scale = min(FINEST, MOST_WEIGHT / sum(parts))
    return [max(1, round(part * scale)) for part in parts]


__all__ = [
    "LOOK_AHEAD_FRAMES",
    "MOST_EXACT_FRAMES",
    "SAMPLED_FRAMES",
    "DryRun",
    "LoadMeasure",
    "LoadSpread",
    "PhaseQuality",
    "PhaseSearch",
    "PhaseSlot",
    "PhaseTable",
    "Rephasing",
    "advice_on",
    "checked_slot",
    "common_multiple",
    "first_frame",
    "kinder_periods",
    "least_peak_of",
    "phase_quality",
]
