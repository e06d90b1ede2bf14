"""The timeslicer: whose job runs, what is seen of it, and when?"""
from __future__ import annotations

import asyncio
import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.timeslicer import Timeslicer, Timing
from tests.scheduling.timeslicing.slicers import InlineExecutor, World


def test_ten_keys_three_per_update_take_four_updates_a_batch():
    world = World(keys=range(10), jobs_per_update=3)
    assert [world.update() for _ in range(8)] == [3, 3, 3, 1] * 2
    assert world.ran == [*range(10), *range(10)]
    assert world.slicer.statistics() == {"keys": 10, "updates": 8, "batches": 2, "jobs": 20, "failures": 0}


def test_without_limits_an_update_is_one_whole_batch():
    world = World(keys="abc")
    assert world.update() == 3
    assert world.ran == ["a", "b", "c"]


def test_inputs_one_by_one_are_of_the_moment_the_job_runs():
    world = World(Timing.AIAO, "abc", jobs_per_update=1)
    world.update(3)
    assert world.results() == {"a": ["a", 1], "b": ["b", 2], "c": ["c", 3]}


def test_inputs_together_are_of_the_moment_the_batch_begins():
    world = World(Timing.SIAO, "abc", jobs_per_update=1)
    world.update(4)
    assert world.results() == {"a": ["a", 4], "b": ["b", 1], "c": ["c", 1]}


def test_results_together_all_change_when_the_next_batch_begins():
    world = World(Timing.SISO, "abc", jobs_per_update=1)
    world.update(3)
    assert set(world.results().values()) == {None}
    world.update()
    assert world.results() == {"a": ["a", 1], "b": ["b", 1], "c": ["c", 1]}


def test_before_the_first_result_there_is_the_default_and_no_age():
    slicer = World(keys="a").slicer
    assert slicer.result_of("a") is None
    assert slicer.result_of("a", 7) == 7
    assert slicer.age_updates("a") is slicer.age_s("a") is None


def test_between_batches_it_says_so():
    world, seen = World(keys="abc", jobs_per_update=2), []
    for _ in range(5):
        seen.append(world.slicer.is_between_batches)
        world.update()
    assert seen == [True, False, True, False, True]


def test_a_result_may_be_none():
    world = World(keys="a", job=lambda key, seen: None)
    world.update()
    assert world.slicer.result_of("a", 7) is None
    assert world.slicer.age_updates("a") == 0


def test_age_in_seconds_goes_on_between_updates():
    world = World(Timing.SIAO, "ab", jobs_per_update=1)
    world.update(2)
    world.clock.advance(seconds=0.25)
    assert (world.slicer.age_s("b"), world.slicer.age_updates("b")) == (0.75, 1)


def test_a_job_without_inputs_is_told_its_key_alone(clock):
    slicer = Timeslicer(clock, str.upper)
    slicer.add("bob")
    slicer.advance(Budget.unlimited())
    assert slicer.result_of("bob") == "BOB"


def test_a_budget_of_steps_limits_jobs_too():
    world = World(keys="abcd", jobs_per_update=3)
    budget = Budget.of_steps(2)
    assert world.update(budget=budget) == 2
    assert (budget.used, budget.over) == (2, 0)
    assert world.update(budget=Budget.of_steps(9)) == 2


def test_a_budget_of_time_is_exceeded_by_the_last_job_alone(clock, stopwatch):
    slicer = Timeslicer(clock, lambda key: stopwatch.passes(30))
    for key in range(9):
        slicer.add(key)
    budget = Budget.of_time(100, stopwatch)
    assert slicer.advance(budget) == 4
    assert budget.over == 20


def test_a_spent_budget_starves_nobody():
    world = World(keys="abc")
    for _ in range(3):
        world.update(budget=Budget.of_steps(0))
    assert world.ran == ["a", "b", "c"]


def test_without_keys_there_is_nothing_to_do():
    world = World()
    assert world.update() == 0
    assert world.slicer.statistics()["batches"] == 0


def test_it_is_work_for_a_scheduler():
    world = World(keys="abcd", jobs_per_update=2)
    scheduler = Scheduler(world.clock, policy=Policy.FREQUENCY)
    scheduler.add(world.slicer, period_frames=2, phase_frames=0)
    for _ in range(3):
        scheduler.advance(Budget.unlimited())
    assert world.ran == ["a", "b", "c", "d"]


# Keys that come and go


def test_joining_key_waits_for_next_batch_and_costs_others_none():
    world = World(Timing.SISO, "ab", jobs_per_update=1)
    world.update()
    for key in range(100):
        world.slicer.add(key)
    world.update(2)
    assert world.ran == ["a", "b", "a"]
    world.update(101 + 1)
    assert all(result is not None for result in world.results().values())
    assert len(world.ran) == 2 + 102 + 1


def test_key_leaving_mid_batch_is_left_out_and_costs_no_turn():
    world = World(keys="abcd", jobs_per_update=1)
    world.update()
    world.slicer.remove("b")
    world.slicer.remove("c")
    world.update()
    world.slicer.remove("d")
    world.update()
    assert world.ran == ["a", "d", "a"]


def test_a_batch_whose_rest_has_left_is_over():
    world = World(Timing.SISO, "abc", jobs_per_update=1)
    world.update()
    world.slicer.remove("b")
    world.slicer.remove("c")
    world.update()
    assert world.results() == {"a": ["a", 1]}


def test_a_key_that_leaves_and_comes_back_begins_anew():
    world = World(keys="ab", jobs_per_update=1)
    world.update(2)
    world.slicer.remove("b")
    world.slicer.add("b")
    assert world.slicer.result_of("b") is None
    world.update(2)
    assert world.ran == ["a", "b", "a", "b"]


@pytest.mark.parametrize("timing", Timing)
def test_jobs_and_inputs_may_add_and_remove_keys(timing):
    def meddle(key):
        if key == "a" and "c" in world.slicer:
            world.slicer.remove("c")
            world.slicer.remove("a")
            world.slicer.add("new")
        return 1

    world = World(timing, "abcd", jobs_per_update=3, inputs=meddle)
    world.update(4)
    assert world.slicer.keys == ("b", "d", "new")
    assert "c" not in world.ran
    assert world.ran.count("new") >= 1
    assert world.results()["b"] == ["b", 1]


def test_nothing_is_read_for_a_key_that_left_during_reading():
    read = []
    world = World(Timing.SIAO, "ab", inputs=lambda key: read.append(key) or world.slicer.remove("b"))
    world.update()
    assert read == ["a"]


def test_the_number_of_jobs_can_be_changed_between_updates():
    world = World(keys=range(9), jobs_per_update=2)
    assert world.update() == 2
    world.slicer.run_on(None, 5)
    assert world.update() == 5
    world.slicer.run_on(None)
    assert world.update() == 2


# Faults


@pytest.mark.parametrize("timing", Timing)
def test_raising_job_keeps_last_good_result_and_harms_no_other(timing):
    world = World(timing, "abc")
    world.update(2)
    world.bad.add("b")
    good = world.slicer.result_of("b")
    world.update()
    if timing in (Timing.SISO, Timing.AISO):
        good = ["b", 2]  # was not to be seen yet
    assert world.slicer.result_of("b") == good
    assert world.slicer.is_failing("b")
    assert not world.slicer.is_failing("a")
    world.update()
    assert world.slicer.result_of("c")[1] >= 3
    assert [(one.name, one.frame) for one in world.reports] == [("decide('b')", 3), ("decide('b')", 4)]
    world.bad.clear()
    world.update(2)
    assert world.slicer.age_updates("b") == world.slicer.age_updates("a")
    assert not world.slicer.is_failing("b")


@pytest.mark.parametrize("timing", Timing)
def test_an_input_that_cannot_be_read_is_a_failure_of_that_key(timing):
    world = World(timing, "abc")
    world.unreadable.add("b")
    world.update()
    assert world.ran == ["a", "c"]
    assert [one.name for one in world.reports] == ["decide('b')"]
    assert isinstance(world.reports[0].error, LookupError)


def test_failures_that_are_not_in_a_row_are_forgiven():
    world = World(keys="a")
    for _ in range(3):
        world.bad = {"a"}
        world.update(2)
        world.bad = set()
        world.update()
    assert not world.slicer.is_quarantined("a")


def test_thrice_failing_key_is_quarantined_until_released():
    world = World(keys="ab")
    world.bad.add("a")
    world.update(5)
    assert world.slicer.is_quarantined("a")
    assert world.ran.count("a") == 3
    world.bad.clear()
    world.slicer.release("a")
    world.update()
    assert world.slicer.result_of("a") == ["a", 6]
    assert not world.slicer.is_failing("a")


def test_a_key_added_again_has_all_its_tries():
    world = World(keys="a")
    world.bad.add("a")
    world.update(3)
    world.slicer.remove("a")
    assert world.faults.counts["quarantined"] == 0
    world.slicer.add("a")
    assert not world.slicer.is_quarantined("a")


def test_job_removing_its_key_and_failing_leaves_nothing():
    world = World(keys="ab", job=lambda key, seen: world.slicer.remove(key) or 1 / 0)
    world.update()
    assert world.slicer.keys == ()
    assert world.faults.counts == {"failures": 2, "quarantined": 0}
    assert not world.faults._in_a_row


@pytest.mark.parametrize("threads", [{}, {"executor": InlineExecutor(), "jobs_per_update": 9}])
def test_a_failure_that_is_let_through_loses_no_other_job(threads):
    world = World(keys="abc", reraise=True, **threads)
    world.bad.add("b")
    with pytest.raises(ValueError, match="b"):
        world.update(2 if threads else 1)
    world.bad.clear()
    world.update()
    assert world.ran[:3] == ["a", "b", "c"]
    assert world.slicer.result_of("c") is not None


# Misuse


def test_an_unknown_key_is_named_with_what_is_close():
    world = World(keys=["bob", "ann"])
    for call in (world.slicer.remove, world.slicer.release, world.slicer.result_of, world.slicer.age_updates,
                 world.slicer.age_s, world.slicer.is_failing, world.slicer.is_quarantined):
        with pytest.raises(UnknownNameError, match="unknown key 'bop'; did you mean 'bob'"):
            call("bop")


def test_a_key_is_unknown_after_removal():
    slicer = World(keys="a").slicer
    slicer.remove("a")
    with pytest.raises(UnknownNameError):
        slicer.result_of("a")


def test_a_key_must_be_one_that_can_be_found_again():
    slicer = World(keys="a").slicer
    with pytest.raises(ValueError, match="key 'a' already has a job; remove it first"):
        slicer.add("a")
    with pytest.raises(ValueError, match="key must be equal to itself, got nan"):
        slicer.add(math.nan)
    for key in ([], (1, [])):
        for call in (slicer.add, slicer.remove, slicer.result_of):
            with pytest.raises(TypeError, match="key must be hashable"):
                call(key)
        assert key not in slicer
    assert len(slicer) == 1


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"job": 3}, TypeError, "job must be a callable, got 3"),
        ({"job": lambda key: 1}, TypeError, r"job must take \(key, input\), got .* with \(key\)"),
        ({"job": asyncio.sleep}, TypeError, "job must not be async"),
        ({"job": lambda key, seen: (yield)}, TypeError, "must not yield"),
        ({"inputs": "read"}, TypeError, "inputs must be a callable, got 'read'"),
        ({"inputs": lambda: 1}, TypeError, r"inputs must take \(key\)"),
        ({"inputs": None, "job": str, "timing": Timing.SIAO}, ValueError, "inputs must be given with SIAO"),
        ({"timing": "SIAO"}, TypeError, "timing must be a Timing, got 'SIAO'"),
        ({"jobs_per_update": 0}, ValueError, "jobs_per_update must be at least 1, got 0; use None"),
        ({"jobs_per_update": -3}, ValueError, "at least 1"),
        ({"jobs_per_update": True}, TypeError, "must be an integer, got True"),
        ({"jobs_per_update": 2.0}, TypeError, "must be an integer"),
        ({"jobs_per_update": math.nan}, TypeError, "must be an integer"),
        ({"jobs_per_update": math.inf}, TypeError, "must be an integer"),
        ({"executor": InlineExecutor()}, ValueError, "jobs_per_update must be given with an executor"),
        ({"executor": 4, "jobs_per_update": 1}, TypeError, "executor must be a concurrent.futures.Executor"),
        ({"name": ""}, TypeError, "name must be a non-empty string"),
    ],
)
def test_what_it_is_made_with_is_checked(settings, error, message):
    usual = {"job": lambda key, seen: 1, "inputs": lambda key: 1}
    with pytest.raises(error, match=message):
        Timeslicer(ManualClock(), **{**usual, **settings})


def test_a_clock_must_have_a_now():
    with pytest.raises(TypeError, match="clock must have a 'now', got 3; use ManualClock"):
        Timeslicer(3, str)


def test_what_is_set_later_is_checked_too(clock):
    slicer = Timeslicer(clock, str, jobs_per_update=2, executor=InlineExecutor())
    with pytest.raises(ValueError, match="must be given with an executor"):
        slicer.run_on(InlineExecutor())
    with pytest.raises(TypeError, match="executor must be"):
        slicer.run_on("pool")


@pytest.mark.parametrize("budget", [None, 3, math.nan, -1])
def test_a_budget_must_be_one(budget):
    with pytest.raises(TypeError, match="budget must be a Budget"):
        World(keys="a").slicer.advance(budget)


def test_a_job_cannot_advance_save_or_load_its_timeslicer():
    def meddle(key, seen):
        (world.slicer.save_state, lambda: world.slicer.prepare_state({}),
         lambda: world.slicer.advance(Budget.unlimited()))[key]()

    world = World(keys=range(3), job=meddle)
    world.update()
    assert [type(one.error) for one in world.reports] == [RuntimeError] * 3
    assert [str(one.error).split(";")[0] for one in world.reports] == [
        "jobs are running", "jobs are running", "the timeslicer is already advancing",
    ]
