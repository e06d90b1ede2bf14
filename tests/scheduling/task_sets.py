"""Task sets that phasing is judged by, and what is true of them by plain counting."""
from __future__ import annotations

import random
from math import lcm

from ai_core.scheduling.phasing import PhaseTable, Slot, runs_per_frame

PERIODS = [2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30]


def random_sets(seed):
    """Return 150 lists of periods; those of seed 7 are the ones other schedulers were measured with."""
    choose = random.Random(seed).choice
    return [[choose(PERIODS) for _ in range(choose([5, 8, 12, 20, 30]))] for _ in range(150)]


def phased(periods, table=None):
    """Give each of the periods the best phase beside those before it."""
    table, slots = table or PhaseTable(), []
    for period in periods:
        slots.append(Slot(period, table.best_phase(period)))
        table.add(slots[-1])
    return slots


def load(slots):
    return runs_per_frame(slots, lcm(*(slot.period_frames for slot in slots)))


def peak(slots):
    return max(load(slots))


def mean_peak(sets):
    peaks = [peak(slots) for slots in sets]
    return sum(peaks) / len(peaks)
