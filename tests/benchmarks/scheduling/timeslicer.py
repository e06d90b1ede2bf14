"""The timeslicer beside a loop over the jobs, and its results beside a dictionary and a ring."""
from __future__ import annotations

import time

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.timeslicer import Timeslicer, Timing
from tools.benchmarking.declarations import Case, Contest

UPDATES = 10
LOOKUPS = 100

LIMITS_PER_JOB_US = 0.5
"""What a job may cost over calling it and reading its input (µs)."""

LIMIT_PER_LOOKUP_US = 0.2
"""What asking for a result may cost, whatever the number of keys (µs)."""

CALLS_US = 0.15
"""What calling job and input costs (µs): two empty calls with arguments, and the loop."""

BUDGET_US = 0.85
"""What an update costs whoever asks for it (µs): making a budget of time and asking it, as beside it in the table."""


class Crowd:
    """What jobs look at, and how often."""

    def __init__(self) -> None:
        self.target = 0
        self.runs = 0

    def read(self, key: int) -> int:
        return self.target

    def decide(self, key: int, seen: int) -> int:
        self.runs += 1
        return seen - key


def timeslicer_jobs(n: int) -> Contest:
    """A batch of n jobs in 10 updates under a budget of time, each input read as its job runs."""
    crowds = [Crowd(), Crowd()]

    def complaint() -> str:
        uneven = [crowd.runs for crowd in crowds if crowd.runs % n]
        return f"{uneven} jobs ran, which is not a whole number of batches of {n}" if uneven else ""

    others = {"loop over the jobs": _loop(crowds[1], n), "loop with a budget an update": _budgets(Crowd(), n)}
    return Contest(_slicer(crowds[0], n), others, complaint=complaint)


def jobs_limits_us(*sizes: int) -> dict[int, float]:
    """Return for each size how long ``timeslicer_jobs`` may take (µs)."""
    return {n: n * (LIMITS_PER_JOB_US + CALLS_US) + UPDATES * BUDGET_US for n in sizes}


def result_by_key(n: int) -> Contest:
    """100 results asked for by key, of n that there are."""
    keys = [number * n // LOOKUPS for number in range(LOOKUPS)]
    crowd = Crowd()
    slicer = _filled(crowd, n)
    slicer.advance(Budget.unlimited())
    results = {key: slicer.result_of(key) for key in range(n)}
    ring = list(results.items())

    def ours() -> list[int]:
        return [slicer.result_of(key) for key in keys]

    def plain() -> list[int]:
        return [results[key] for key in keys]

    def searched() -> list[int]:
        """As the source does it: from the newest to the oldest."""
        return [next(result for other, result in reversed(ring) if other == key) for key in keys]

    return Contest(ours, {"dictionary": plain, "textbook's ring": searched})


def lookups_limits_us(*sizes: int) -> dict[int, float]:
    """Return for each size how long ``result_by_key`` may take (µs)."""
    return dict.fromkeys(sizes, LOOKUPS * LIMIT_PER_LOOKUP_US)


def _filled(crowd: Crowd, n: int, **settings: int) -> Timeslicer:
    slicer = Timeslicer(ManualClock(), crowd.decide, inputs=crowd.read, timing=Timing.AIAO, **settings)
    for key in range(n):
        slicer.add(key)
    return slicer


def _slicer(crowd: Crowd, n: int) -> Case:
    slicer = _filled(crowd, n, jobs_per_update=-(-n // UPDATES))

    def batch() -> list[int]:
        for _ in range(UPDATES):
            slicer.advance(Budget.of_time(1e9, time.perf_counter_ns))
        return [slicer.result_of(0), slicer.result_of(n - 1)]

    return batch


def _budgets(crowd: Crowd, n: int) -> Case:
    """The floor: whoever advances a slicer makes a budget for it, and asks it after each job."""
    results: dict[int, int] = {}
    slices = [range(begin, min(n, begin - (-n // UPDATES))) for begin in range(0, n, -(-n // UPDATES))]

    def batch() -> list[int]:
        read, decide = crowd.read, crowd.decide
        for keys in slices:
            budget = Budget.of_time(1e9, time.perf_counter_ns)
            for key in keys:
                results[key] = decide(key, read(key))
                if budget.is_spent:
                    break
        return [results[0], results[n - 1]]

    return batch


def _loop(crowd: Crowd, n: int) -> Case:
    results: dict[int, int] = {}

    def batch() -> list[int]:
        read, decide = crowd.read, crowd.decide
        for key in range(n):
            results[key] = decide(key, read(key))
        return [results[0], results[n - 1]]

    return batch
