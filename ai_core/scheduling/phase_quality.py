"""How evenly the phases of tasks spread their runs and their cost over frames, with advice."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown, whole_number
from ai_core.scheduling.phasing import (
    PhaseSlot,
    check_one_per_slot,
    checked_slot,
    co_prime_count,
    common_multiple,
    least_peak_of,
)

__all__ = ["MOST_FRAMES", "LoadSpread", "PhaseQuality", "advice_on", "phase_quality"]

MOST_FRAMES = 100_000
"""Most frames examined, of a longer common multiple as a sample: 28 minutes at 60 frames a second. They take 10 to
20 ms; the debugger asks once a second."""
WIDEST_BAR = 40
"""Characters of the longest bar when printed."""


def advice_on(periods: list[int], peak: int, least_peak: int, *, is_exact: bool) -> tuple[bool, str]:
    """Return whether other phases can lower the peak, and advice as text."""
    count = len(periods)
    if count < 2:
        return False, "At most one task runs periodically, so phases have no effect."
    if co_prime_count(periods) == count:
        product = prod(periods)
        often = f"once in {product} frames" if product > 1 else "in every frame"
        return False, (
            f"Phasing cannot help: no two periods share a factor, so all {count} tasks meet {often}, whatever the"
            " phases. Periods that share a factor, such as 6, 9 and 12, can avoid each other's frames.")
    if peak > least_peak:
        return True, f"Re-phasing may lower the peak of {peak}; no phases go below {least_peak}."
    if is_exact:
        return False, f"No phases have a lower peak than {peak}."
    return True, "In this sample the peak is as low as phases can make it; elsewhere it may be higher."


@dataclass(frozen=True)
class LoadSpread:
    """The distribution of a load over frames.

    Attributes:
        minimum: load of the frame with the least.
        maximum: load of the frame with the most.
        mean: of all frames.
        spread: standard deviation; 0 if all frames are equal.
    """

    minimum: float
    maximum: float
    mean: float
    spread: float

    def __str__(self) -> str:
        return f"{self.minimum:g} to {self.maximum:g}, mean {self.mean:.2f}, spread {self.spread:.2f}"


@dataclass(frozen=True)
class PhaseQuality:
    """The load that phases result in.

    Attributes:
        frames: number of frames examined, from ``from_frame`` on.
        from_frame: the first of them.
        is_exact: True if they are a whole cycle, which then repeats; False if that has more than MOST_FRAMES.
        runs: tasks due in a frame.
        frames_with: the frames in which so many tasks are due, by that number (count), from 0 on.
        cost_us: their cost (µs); None if no costs were given.
        worst_frame: the frame with the highest cost, or without costs with the most runs;
            the first of equal ones.
        worst_names: the tasks that run in it; by their indices if no names were given.
        least_peak: lower bound on the runs of the busiest frame, for any phases.
        can_phasing_help: False if certainly no other phases have a lower peak.
        advice: possible improvements, as text.
    """

    frames: int
    from_frame: int
    is_exact: bool
    runs: LoadSpread
    frames_with: list[int]
    cost_us: LoadSpread | None
    worst_frame: int
    worst_names: list[str]
    least_peak: int
    can_phasing_help: bool
    advice: str

    def __str__(self) -> str:
        """Return a readable table."""
        widest = max(self.frames_with)
        bars = [
            f"{runs:>10} {frames:>8} {'#' * ceil(WIDEST_BAR * frames / widest)}"
            for runs, frames in enumerate(self.frames_with) if frames]
        names = self.worst_names
        rest = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return "\n".join([
            f"{self.frames} frames from {self.from_frame}, {'a whole cycle' if self.is_exact else 'a sample'}",
            f"runs: {self.runs}", *bars, *([] if self.cost_us is None else [f"cost (µs): {self.cost_us}"]),
            f"worst frame {self.worst_frame}: {', '.join(names[:8]) or 'no task'}{rest}", self.advice])


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
    count = len(checked)
    check_one_per_slot("costs_us", costs_us, count)
    check_one_per_slot("names", names, count)
    if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
        raise TypeError(f"names must be a list of strings, got {shown(names)}")
    costs = None if costs_us is None else [
        finite_number("a cost in costs_us", cost, minimum=0) for cost in costs_us]
    from_frame = whole_number("from_frame", from_frame, minimum=0)
    common = common_multiple((slot.period_frames for slot in checked), MOST_FRAMES)
    frames = MOST_FRAMES if common is None else common
    runs = _load(checked, [1.0] * count, frames, from_frame)
    cost = None if costs is None else _load(checked, costs, frames, from_frame)
    worst_frame = from_frame + int((runs if cost is None else cost).argmax())
    worst = [
        names[index] if names else str(index) for index, slot in enumerate(checked)
        if (worst_frame + slot.phase_frames) % slot.period_frames == 0]
    periods = [slot.period_frames for slot in checked]
    least_peak = least_peak_of(periods)
    can_help, advice = advice_on(periods, int(runs.max()), least_peak, is_exact=common is not None)
    return PhaseQuality(
        frames, from_frame, common is not None, _spread(runs), np.bincount(runs.astype(np.int64)).tolist(),
        None if cost is None else _spread(cost), worst_frame, worst, least_peak, can_help, advice)


def _load(
    slots: list[PhaseSlot], weights: list[float], frames: int, from_frame: int
) -> NDArray[np.float64]:
    """Return the sum of weights due on each frame."""
    load, together = np.zeros(frames), defaultdict[tuple[int, int], float](float)
    for slot, weight in zip(slots, weights, strict=True):
        together[slot.period_frames, (slot.first_frame - from_frame) % slot.period_frames] += weight
    for (period, first), weight in together.items():
        load[first::period] += weight
    return load


def _spread(load: NDArray[np.float64]) -> LoadSpread:
    return LoadSpread(float(load.min()), float(load.max()), float(load.mean()), float(load.std()))
