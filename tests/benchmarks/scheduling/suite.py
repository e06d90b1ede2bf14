"""When work runs: what schedulers, policies, phases and slices cost beside calling the work."""
from __future__ import annotations

from tests.benchmarks.scheduling.phasing import add_one_to, rephase_of
from tests.benchmarks.scheduling.policies import (
    backlog,
    load_balanced_work,
    prioritised_work,
    rare_backlog,
    requesting_work,
)
from tests.benchmarks.scheduling.schedulers import balanced, balanced_by_steps, changing, timed, untimed
from tests.benchmarks.scheduling.timeslicer import (
    jobs_limits_us,
    lookups_limits_us,
    result_by_key,
    timeslicer_jobs,
)
from tools.benchmarking.declarations import Measurement, Suite

CROWDS = (100, 1000, 10_000)
BATCHES = (10, 1000, 10_000)


def runs_limits_us(n: int) -> dict[int, float]:
    """Return 0.5 µs for each run of 60 frames of n tasks with periods 1 to 60."""
    return {n: 0.5 * sum(60 / (1 + number % 60) for number in range(n))}


def shares_limits_us(*sizes: int) -> dict[int, float]:
    """Return 1 µs over the call for each piece of work that is given a share, interpreted."""
    return {n: n * (1.0 + 0.05) for n in sizes}


SUITE = Suite(
    "schedulers beside bare loops over what is due",
    (
        Measurement(
            "60 frames of n, nothing timed", untimed, CROWDS,
            {"mesa": {10_000: 8.0}, "simpy": {10_000: 4.0}}, limits_us=runs_limits_us(10_000),
        ),
        Measurement("60 frames of n, three change each frame", changing, CROWDS),
        Measurement("60 frames of n, each run timed", timed, CROWDS, limits_us=runs_limits_us(10_000)),
        Measurement("60 frames of n, load balanced", balanced, CROWDS, limits_us=runs_limits_us(10_000)),
        Measurement(
            "60 frames of n, load balanced by steps", balanced_by_steps, CROWDS, limits_us=runs_limits_us(10_000)),
        Measurement("frame of n, load balanced", load_balanced_work, (10, 1000), limits_us=shares_limits_us(1000)),
        Measurement("frame of n, by priority", prioritised_work, (10, 1000), limits_us=shares_limits_us(1000)),
        Measurement("frame of n, by requested time", requesting_work, (10, 1000)),
        Measurement("100 of n run, all due", backlog, (200, 1100, 10_000), limits_us={1100: 300.0}),
        Measurement("100 of n run, 100 newly due", rare_backlog, (1100, 10_000), limits_us={10_000: 300.0}),
        Measurement("phase for one more beside n", add_one_to, CROWDS, limits_us={10_000: 15.0}),
        Measurement("phases of n chosen anew", rephase_of, CROWDS, limits_us={10_000: 200_000.0}),
        Measurement("n jobs in slices", timeslicer_jobs, BATCHES, limits_us=jobs_limits_us(*BATCHES)),
        Measurement("results by key, batch of n", result_by_key, BATCHES, limits_us=lookups_limits_us(*BATCHES)),
    ),
)
