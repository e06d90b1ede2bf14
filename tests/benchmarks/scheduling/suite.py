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
from tests.benchmarks.scheduling.schedulers import changing, looked_for, timed, untimed
from tests.benchmarks.scheduling.timeslicer import (
    jobs_limits_us,
    lookups_limits_us,
    result_by_key,
    timeslicer_jobs,
)
from tools.benchmarking.declarations import Measurement, Suite

LOOP = "loop over what is due"
CROWDS = (100, 1000, 10_000)
BATCHES = (10, 1000, 10_000)


def shares_limits_us(*sizes: int) -> dict[int, float]:
    """Return 1 µs over the call for each piece of work that is given a share, interpreted."""
    return {n: n * (1.0 + 0.05) for n in sizes}


SUITE = Suite(
    "schedulers beside bare loops over what is due",
    (
        Measurement(
            "60 frames of n, nothing timed", untimed, CROWDS,
            {LOOP: {10_000: 1 / 1.2}, "mesa": {10_000: 20.0}, "simpy": {10_000: 20.0}},
        ),
        Measurement("60 frames of n, three change each frame", changing, CROWDS, {LOOP: {10_000: 1 / 2.5}}),
        Measurement("60 frames of n, each run timed", timed, CROWDS, {LOOP: {10_000: 1 / 3}}),
        Measurement("60 frames of n, all looked at", looked_for, CROWDS),
        Measurement("frame of n, load balanced", load_balanced_work, (10, 1000), limits_us=shares_limits_us(1000)),
        Measurement("frame of n, by priority", prioritised_work, (10, 1000), limits_us=shares_limits_us(1000)),
        Measurement("frame of n, by requested time", requesting_work, (10, 1000)),
        Measurement("100 of n run, all due", backlog, (200, 1100, 10_000), limits_us={1100: 300.0}),
        Measurement("100 of n run, 100 newly due", rare_backlog, (1100, 10_000), limits_us={10_000: 300.0}),
        Measurement("phase for one more beside n", add_one_to, CROWDS, limits_us={10_000: 50.0}),
        Measurement("phases of n chosen anew", rephase_of, CROWDS, limits_us={10_000: 200_000.0}),
        Measurement("n jobs in slices", timeslicer_jobs, BATCHES, limits_us=jobs_limits_us(*BATCHES)),
        Measurement("results by key, batch of n", result_by_key, BATCHES, limits_us=lookups_limits_us(*BATCHES)),
    ),
)
