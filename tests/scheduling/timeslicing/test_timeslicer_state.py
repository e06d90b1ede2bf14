"""Saved timeslicers: results, ages, what is left of the batch, and what was under way."""
from __future__ import annotations

import copy

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.timeslicer import Timeslicer, Timing
from ai_core.snapshot import from_json, restore, take, to_json
from tests.scheduling.timeslicing.slicers import InlineExecutor, World
from tests.scheduling.timeslicing.test_timeslicer_threads import IdleExecutor

VARIANTS = [{}, {"executor": InlineExecutor()}]


@pytest.mark.parametrize("variant", VARIANTS, ids=["here", "threads"])
@pytest.mark.parametrize("timing", Timing, ids=lambda timing: timing.name)
def test_saved_at_any_update_it_continues_unchanged(timing, variant):
    for updates in range(9):
        first = World(timing, "abcde", jobs_per_update=2, **variant)
        first.bad.add("c")
        first.update(updates)
        second = World(timing, "edcba", jobs_per_update=2, **variant)
        second.bad.add("c")
        second.update(3)
        second.load(first.save())
        second.reports.clear()
        told = len(first.reports)
        assert second.seen() == first.seen()
        for _ in range(9):
            first.update()
            second.update()
            assert second.seen() == first.seen()
        assert [(one.name, one.frame) for one in second.reports] == [
            (one.name, one.frame) for one in first.reports[told:]
        ]


def test_job_that_failed_before_saving_is_reported_after_load():
    settings = {"keys": "a", "jobs_per_update": 1, "executor": InlineExecutor()}
    first, second = World(**settings), World(**settings)
    first.bad.add("a")
    first.update()
    second.load(first.save())
    second.update()
    assert str(second.reports[0].error) == "ValueError('a')"
    assert second.slicer.is_failing("a")


def test_jobs_cancelled_by_a_pool_are_saved_as_not_started():
    pool = IdleExecutor()
    first = World(Timing.SIAO, "abc", jobs_per_update=2, executor=pool)
    first.update()
    for future in pool.futures:
        future.cancel()
    second = World(Timing.SIAO, "abc", jobs_per_update=3)
    second.load(first.save())
    assert second.slicer.statistics()["jobs"] == 0
    second.update()
    assert second.results() == {"a": ["a", 1], "b": ["b", 1], "c": ["c", 1]}
    assert second.ran == ["a", "b", "c"]


def test_what_one_timing_saved_another_goes_on_with():
    first = World(Timing.SISO, "abcd", jobs_per_update=2)
    first.update()
    second = World(Timing.AIAO, "abcd", jobs_per_update=2)
    second.load(first.save())
    second.update(2)
    assert second.results() == {"a": ["a", 3], "b": ["b", 3], "c": ["c", 1], "d": ["d", 1]}
    second.update(2)
    assert second.results() == {"a": ["a", 5], "b": ["b", 5], "c": ["c", 4], "d": ["d", 4]}


def test_keys_that_are_only_here_are_kept_without_a_result():
    first, second = World(keys="ab"), World(keys="nab")
    first.update()
    second.update(5)
    second.load(first.save())
    assert second.slicer.keys == ("a", "b", "n")
    assert second.results() == {"a": ["a", 1], "b": ["b", 1], "n": None}
    second.update()
    assert second.slicer.result_of("n") == ["n", 2]


def test_saved_quarantine_is_restored_and_present_one_dropped():
    first, second = World(keys="ab"), World(keys="ab")
    first.bad.add("a")
    second.bad.add("b")
    first.update(3)
    second.update(3)
    second.load(first.save())
    assert [second.slicer.is_quarantined(key) for key in "ab"] == [True, False]
    second.bad.clear()
    second.slicer.release("a")
    second.update()
    assert second.slicer.result_of("a") == ["a", 4]
    assert second.faults.counts["quarantined"] == 0


def test_keys_and_results_json_lacks_are_restored_through_values():
    class Guard:
        pass

    bob, values = Guard(), SavedValues()
    values.names = {"Bob": bob}
    worlds = [World(keys=[bob, (1, 2), 7], values=values, job=lambda key, seen: (key, {seen})) for _ in range(2)]
    worlds[0].update()
    worlds[1].load(worlds[0].save())
    assert worlds[1].results() == {bob: (bob, {1}), (1, 2): ((1, 2), {1}), 7: (7, {1})}


def test_integers_an_engine_made_floats_are_still_the_same_keys():
    first, second = World(keys=[1, 2]), World(keys=[1, 2])
    first.update()
    state = first.save()
    for row in state["slicer"]["keys"]:
        row["key"] = float(row["key"])
    second.load(state)
    assert [type(key) for key in second.slicer.keys] == [int, int]
    second.update()
    assert second.ran == [1, 2]
    assert [type(key) for key in second.ran] == [int, int]


@pytest.mark.parametrize(
    ("timing", "returned", "place"),
    [(Timing.AIAO, object(), "result of a"), (Timing.SISO, object(), "result of a")],
)
def test_a_result_that_is_not_plain_is_named(timing, returned, place):
    world = World(timing, "ab", jobs_per_update=1, job=lambda key, seen: returned)
    world.update()
    with pytest.raises(StateError, match=f"{place}.*must be plain data or a named object"):
        world.slicer.save_state()


def test_an_input_that_is_still_needed_must_be_plain():
    world = World(Timing.SIAO, "ab", jobs_per_update=1, job=lambda key, seen: 1, inputs=lambda key: object())
    world.update()
    with pytest.raises(StateError, match="input of b"):
        world.slicer.save_state()


def test_it_is_saved_with_its_scheduler_and_in_a_snapshot():
    def world():
        clock = ManualClock()
        slicer = Timeslicer(clock, str.upper, jobs_per_update=1, faults=FaultIsolation(reraise=True))
        scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
        scheduler.add(slicer, name="slicer")
        for key in ("ann", "bob"):
            slicer.add(key)
        return slicer, {"clock": clock, "scheduler": scheduler}

    _, parts = world()
    parts["scheduler"].advance(Budget.unlimited())
    other, others = world()
    restore(from_json(to_json(take(parts))), others)
    others["scheduler"].advance(Budget.unlimited())
    assert (other.result_of("ann"), other.result_of("bob")) == ("ANN", "BOB")


def mid_batch():
    settings = {"jobs_per_update": 2, "executor": InlineExecutor()}
    world = World(Timing.SISO, "abcdef", **settings)
    world.bad.add("b")
    world.update(2)
    return world


def put(path, value):
    def damage(state):
        *parents, last = path
        for one in parents:
            state = state[one]
        state[last] = value

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (put(["version"], 2), "'version' is 2, and this ai_core reads up to 1"),
        (put(["updates"], -1), "'updates' must be at least 0"),
        (put(["updates"], 0), r"is of update 1, but there were only 0"),
        (put(["jobs"], 1.5), "'jobs' must be an integer"),
        (put(["surprise"], 1), "'surprise' is an unknown field"),
        (put(["keys", 0, "key"], "zoe"), "unknown key 'zoe'.*; add the saved keys before loading"),
        (put(["keys", 0, "key"], "b"), "'keys\\[1\\].key' occurs twice"),
        (put(["keys", 0, "key"], [1]), r"unknown key \[1\]"),
        (put(["keys", 0, "key"], {"!": "tuple", "of": [[]]}), "unknown key"),
        (put(["keys", 0, "key"], {"!": "float", "of": "nan"}), "unknown key nan"),
        (put(["keys", 0, "result_at"], [1, 1e9]), r"must be at most 1"),
        (put(["keys", 0, "failures", 1], 1), "must be true or false"),
        (put(["keys", 0, "failures", 0], 2), "'keys\\[0\\].is_failing' must be true"),
        (put(["keys", 2, "error"], 5), "'keys\\[2\\].error' must be a string"),
        (put(["keys", 2, "read_at"], 5), "'keys\\[2\\].read_at' must be a list"),
        (put(["keys", 2, "read_at"], None), "'keys\\[2\\].read_at' is missing"),
        (put(["keys", 4, "read_at"], [9, 0.5]), "is of update 9, but there were only 2"),
        (put(["keys", 4, "value"], float("nan")), "must be a finite number"),
        (put(["keys", 4, "stage"], "done"), "must be 'idle' or 'rest' or 'running' or 'unseen'"),
        (put(["keys"], None), "'keys' must be a list"),
        (put(["keys", 0], []), "must be a dict"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_changes(damage, message):
    state = mid_batch().save()["slicer"]
    damage(state)
    world = mid_batch()
    before = copy.deepcopy(world.save())
    with pytest.raises(StateError, match=message):
        world.slicer.prepare_state(state)
    assert world.save() == before


def test_the_undamaged_state_loads():
    world = mid_batch()
    world.load(mid_batch().save())
    world.update(3)
    assert world.results()["f"] == ["f", 1]
