"""Task sets that phasing is judged by, and what is true of them by plain counting."""
from __future__ import annotations

import random
from math import gcd, lcm

import numpy as np

from ai_core.scheduling.phasing import PhaseSlot, PhaseTable

PERIODS = [2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30]


def random_sets(seed, periods=PERIODS):
    """Return 150 lists of periods; those of seed 7 are the ones other schedulers were measured with."""
    choose = random.Random(seed).choice
    return [[choose(periods) for _ in range(choose([5, 8, 12, 20, 30]))] for _ in range(150)]


def phased(periods, table=None):
    """Give each of the periods the best phase beside those before it."""
    table, slots = table or PhaseTable(), []
    for period in periods:
        slots.append(PhaseSlot(period, table.best_phase(period)))
        table.add(slots[-1])
    return slots


def meet(first, second):
    """Return whether two tasks are ever due on the same frame."""
    common = gcd(first.period_frames, second.period_frames)
    return (first.phase_frames - second.phase_frames) % common == 0


def runs_per_frame(slots, frames):
    """Return how many tasks are due on each of the first frames."""
    runs = [0] * frames
    for slot in slots:
        for frame in range(slot.first_frame, frames, slot.period_frames):
            runs[frame] += 1
    return runs


def load(slots):
    return runs_per_frame(slots, lcm(*(slot.period_frames for slot in slots)))


def peak(slots):
    return max(load(slots))


def mean_peak(sets, frames=None):
    """Return the mean of the most runs in a frame: of all frames there are, or of so many."""
    peaks = [peak(slots) if frames is None else _peak_within(slots, frames) for slots in sets]
    return sum(peaks) / len(peaks)


def _peak_within(slots, frames):
    runs = np.zeros(frames, np.int32)
    for slot in slots:
        runs[slot.first_frame::slot.period_frames] += 1
    return int(runs.max())


def greedy(granted, name="greedy"):
    """Work that notes what it is granted, and uses it up."""

    def work(turn):
        granted.append((name, turn.budget.left))
        while not turn.budget.is_spent:
            turn.budget.spend()

    return work
