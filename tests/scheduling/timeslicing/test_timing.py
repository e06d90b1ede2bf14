"""The four timings: how old can a result be?"""
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.scheduling.timeslicer import Timing
from tests.scheduling.timeslicing.slicers import InlineExecutor, World, age_bounds

timings = pytest.mark.parametrize("timing", Timing, ids=lambda timing: timing.name)


def ages_of(timing, jobs=10, batches=4, **settings):
    """Return the ages of all results after each update, once every key has a result."""
    world = World(timing, range(jobs), **settings)
    found = []
    for _ in range((batches + 2) * jobs):
        world.update()
        if None not in world.ages().values():
            found.append([*world.ages().values()])
    return found


@pytest.mark.parametrize(
    ("timing", "least", "most"),
    [(Timing.AIAO, 0, 9), (Timing.SIAO, 0, 18), (Timing.SISO, 10, 19), (Timing.AISO, 1, 19)],
)
def test_ten_jobs_one_per_update_grow_as_old_as_the_table_says(timing, least, most):
    ages = [age for row in ages_of(timing, jobs_per_update=1) for age in row]
    assert (min(ages), max(ages)) == (least, most)
    assert age_bounds(timing, 10) == (least, most)


@timings
def test_only_joint_inputs_and_outputs_give_results_of_one_age(timing):
    spread = max(max(row) - min(row) for row in ages_of(timing, jobs_per_update=1))
    assert spread == {Timing.AIAO: 9, Timing.SIAO: 10, Timing.SISO: 0, Timing.AISO: 9}[timing]


@timings
def test_joining_later_ages_only_results_that_are_seen_singly(timing):
    ages = [age for row in ages_of(timing, jobs_per_update=1, executor=InlineExecutor())
            for age in row]
    wanted = {Timing.AIAO: (1, 10), Timing.SIAO: (1, 19), Timing.SISO: (10, 19), Timing.AISO: (1, 19)}[timing]
    assert (min(ages), max(ages)) == wanted == age_bounds(timing, 10, later=True)


@given(st.sampled_from(Timing), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_the_bounds_hold_and_are_reached_whatever_the_numbers(timing, jobs, jobs_per_update, has_threads):
    threads = {"executor": InlineExecutor()} if has_threads else {}
    ages = [age for row in ages_of(timing, jobs, jobs_per_update=jobs_per_update, **threads) for age in row]
    updates = -(-jobs // jobs_per_update)
    assert (min(ages), max(ages)) == age_bounds(timing, updates, later=has_threads)
