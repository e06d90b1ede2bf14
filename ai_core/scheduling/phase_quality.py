"""How evenly the phases of tasks spread their runs and their cost over frames, with advice."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil, gcd, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown, whole_number
from ai_core.scheduling.phasing import (
    PhaseSlot,
    check_one_per_slot,
    checked_slot,
    co_prime_count,
    common_multiple,
    first_frame,
    least_peak_of,
)

__all__ = [
    "MOST_FRAMES",
    "LoadSpread",
    "PhaseQuality",
    "advice_on",
    "kinder_periods",
    "phase_quality",
]

MOST_HINTS = 3
"""Most changes of periods in one piece of advice (count)."""
NEAR = 8
"""A suggested period differs by at most this part (1 / it) of the present one, or by 1 frame."""
MOST_HINTED = 100
"""Most different periods for which changes are suggested (count); among more, a few changes have little effect."""


def advice_on(periods: list[int], peak: int, least_peak: int, *, is_exact: bool) -> tuple[bool, str]:
    """Return whether other phases can lower the peak, and advice as text."""
    count = len(periods)
    if count < 2:
        return False, "At most one task runs periodically, so phases have no effect."
    if co_prime_count(periods) == count:
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
    """Return suggested changes, as pairs of periods, for periods that share no factor with any other.

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
        f" A period that shares a factor with others can avoid their frames: change {named}."
    )


def _avoidable(period: int, others: Counter[int]) -> float:
    """Return how many meetings per run phases could avoid for a task of this period."""
    return sum(count * (1 - 1 / gcd(period, other)) for other, count in others.items() if count)


MOST_FRAMES = 100_000
"""Most frames examined, of a longer common multiple as a sample: 28 minutes at 60 frames a second. They take 10 to
20 ms; the debugger asks once a second."""
BINS = 16
"""Bars of a histogram of cost (count); runs have a bar for each number."""
COUNTED_PERIOD_FRAMES = 1000
"""Longest period whose tasks are first counted by residue (frames); rarer tasks are added one by one."""
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
        frames: number of frames examined, from ``from_frame`` on.
        from_frame: the first of them.
        is_exact: True if they are a whole cycle, which then repeats.
        common_multiple: length of that cycle (frames); None if
            it is more than MOST_FRAMES.
        runs: tasks due in a frame.
        cost_us: their cost (µs); None if no costs were given.
        worst_frame: the frame with the highest cost, or without costs with the most runs;
            the first of equal ones.
        worst_tasks: the tasks that run in it, as indices of slots.
        worst_names: the same by name; empty if no names were given.
        least_peak: lower bound on the runs of the busiest frame, for any phases.
        can_phasing_help: False if certainly no other phases have a lower peak.
        advice: possible improvements, as text.
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
        """Return all attributes as plain data."""
        return {
            **asdict(self),
            "runs": _plain(self.runs), "cost_us": None if self.cost_us is None else _plain(self.cost_us),
            "worst_tasks": list(self.worst_tasks), "worst_names": list(self.worst_names)}

    def __str__(self) -> str:
        """Return a readable table."""
        extent = "a whole cycle" if self.is_exact else "a sample"
        names = [str(one) for one in self.worst_names or self.worst_tasks]
        rest = f" and {len(names) - 8} more" if len(names) > 8 else ""
        lines = [f"{self.frames} frames from {self.from_frame}, {extent}", _table("runs", self.runs)]
        if self.cost_us is not None:
            lines.append(_table("cost (µs)", self.cost_us))
        lines.append(f"worst frame {self.worst_frame}: {', '.join(names[:8]) or 'no task'}{rest}")
        return "\n".join([*lines, self.advice])


def phase_quality(
    slots: Sequence[PhaseSlot],
    *,
    costs_us: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    from_frame: int = 0,
) -> PhaseQuality:
    """Return how evenly the phases of ``slots`` spread runs and cost over frames.

    Exact over the common multiple of all periods if that is at most MOST_FRAMES, else over a sample of so many
    frames in a row.

    Args:
        slots: period and phase of each task.
        costs_us: mean cost of a run of each (µs), 0 or more.
        names: of the tasks, for the report.
        from_frame: first frame, 0 or more.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(frames * different periods + frames / period, summed over tasks).
    Source: 000_execution_management, phase quality; there by random samples only.
    """
    checked = [checked_slot(slot) for slot in slots]
    check_one_per_slot("costs_us", costs_us, len(checked))
    costs = None if costs_us is None else [
        finite_number("a cost in costs_us", cost, minimum=0) for cost in costs_us]
    labels = _checked_names(names, len(checked))
    from_frame = whole_number("from_frame", from_frame, minimum=0)
    common = common_multiple((slot.period_frames for slot in checked), MOST_FRAMES)
    frames = MOST_FRAMES if common is None else common
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


def _checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a list of strings, got {shown(names)}")
    check_one_per_slot("names", names, count)
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
    if most - least > 1e-9 * most:  # otherwise they differ by rounding only
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
