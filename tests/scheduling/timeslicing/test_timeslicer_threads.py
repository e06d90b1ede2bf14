"""Jobs on an executor: the same results as on one thread, and nothing lost."""
from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.timeslicer import Timeslicer, Timing
from tests.scheduling.timeslicing.slicers import InlineExecutor, World

timings = pytest.mark.parametrize("timing", Timing, ids=lambda timing: timing.name)


class IdleExecutor(Executor):
    """Never begins with what is submitted."""

    def __init__(self):
        self.futures = []

    def submit(self, fn, /, *args, **kwargs):
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def lived(timing, updates=25, **settings):
    """Return what could be seen after each update while keys came, went and failed."""
    world = World(timing, range(7), jobs_per_update=3, **settings)
    seen = []
    for update in range(updates):
        if update == 4:
            world.slicer.remove(5)
        if update == 6:
            world.bad.add(2)
            world.slicer.add("late")
        if update == 17:
            world.bad.clear()
            world.slicer.release(2)
        world.update()
        seen.append(world.seen())
    world.save()  # waits for those under way
    return seen, sorted(map(str, world.ran)), [(one.name, one.frame, str(one.error)) for one in world.reports]


@timings
def test_threads_joined_next_update_give_single_thread_results(timing, pool):
    # Inline the jobs run at once and in order: only when they are taken is the same.
    assert lived(timing, executor=pool) == lived(timing, executor=InlineExecutor())


@pytest.mark.parametrize("timing", [Timing.SISO, Timing.AISO])
def test_variants_show_the_same_where_results_appear_together(timing, pool):
    world, other = World(timing, range(7), jobs_per_update=2), World(
        timing, range(7), jobs_per_update=2, executor=pool
    )
    for _ in range(20):
        world.update()
        other.update()
        assert other.results() == world.results()
        assert other.ages() == world.ages()


def test_results_seen_one_by_one_come_one_update_later(pool):
    world = World(keys="ab", jobs_per_update=2, executor=pool)
    assert world.update() == 2
    assert world.results() == {"a": None, "b": None}
    world.update()
    assert world.results() == {"a": ["a", 1], "b": ["b", 1]}
    assert world.ages() == {"a": 1, "b": 1}


def test_update_waits_for_no_thread_if_joined_in_the_next(pool):
    gate = threading.Event()
    world = World(keys="a", jobs_per_update=1, executor=pool,
                  job=lambda key, seen: gate.wait(20))
    world.update()  # would wait for the gate
    gate.set()
    world.update()
    assert world.slicer.result_of("a") is True


def test_inputs_are_read_by_the_thread_that_advances(pool):
    readers, workers = set(), set()
    slicer = Timeslicer(
        ManualClock(), lambda key, seen: workers.add(threading.get_ident()), jobs_per_update=2, executor=pool,
        inputs=lambda key: readers.add(threading.get_ident()),
    )
    for key in range(4):
        slicer.add(key)
    slicer.advance(Budget.unlimited())
    assert readers == {threading.get_ident()}
    assert threading.get_ident() not in workers


@given(st.integers(1, 5), st.integers(0, 6))
def test_a_budget_of_steps_limits_what_is_started(jobs_per_update, steps):
    world = World(keys=range(7), jobs_per_update=jobs_per_update, executor=InlineExecutor())
    assert world.update(budget=Budget.of_steps(steps)) == max(1, min(steps, jobs_per_update))


def test_job_of_a_key_that_left_is_discarded_silently():
    world = World(keys="ab", jobs_per_update=2, executor=InlineExecutor())
    world.bad.add("a")
    world.update()
    for key in "ab":
        world.slicer.remove(key)
    world.slicer.add("a")
    world.update()
    assert world.reports == []
    assert world.results() == {"a": None}


def test_a_pool_that_shuts_down_mid_batch_finishes_what_it_began(pool):
    world = World(keys="abcd", jobs_per_update=2, executor=pool)
    world.update()
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        world.update()
    assert world.results() == {"a": ["a", 1], "b": ["b", 1], "c": None, "d": None}
    world.slicer.run_on(None)
    world.update()
    assert world.results() == {"a": ["a", 1], "b": ["b", 1], "c": ["c", 3], "d": ["d", 3]}
    assert world.ran == ["a", "b", "c", "d"]
    assert world.slicer.statistics()["jobs"] == 4


@pytest.mark.parametrize(("timing", "read"), [(Timing.AIAO, 2), (Timing.SIAO, 1)])
def test_jobs_a_pool_cancels_restart_with_what_was_read_together(timing, read):
    pool = IdleExecutor()
    world = World(timing, "abcd", jobs_per_update=3, executor=pool)
    world.update()
    for future in pool.futures:
        future.cancel()
    world.slicer.run_on(None, 3)
    world.update()
    assert world.ran == ["a", "b", "c"]
    assert world.results() == {"a": ["a", read], "b": ["b", read], "c": ["c", read], "d": None}
    assert world.slicer.statistics()["jobs"] == 3


def test_pool_closed_with_all_waiting_cancelled_hangs_nobody():
    gate, pool = threading.Event(), ThreadPoolExecutor(1)
    world = World(keys="abc", jobs_per_update=3, executor=pool,
                  job=lambda key, seen: gate.wait(20) and key)
    world.update()
    pool.shutdown(wait=False, cancel_futures=True)
    gate.set()
    world.slicer.run_on(None)
    world.update()
    assert world.results() == {"a": "a", "b": "b", "c": "c"}


def test_who_interrupts_the_waiting_loses_no_result(monkeypatch):
    world = World(keys="abc", jobs_per_update=3, executor=InlineExecutor())
    world.update()

    def interrupted(future, timeout=None):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Future, "exception", interrupted)
        with pytest.raises(KeyboardInterrupt):
            world.update()
    world.update()
    assert world.results() == {"a": ["a", 1], "b": ["b", 1], "c": ["c", 1]}


def test_a_job_that_raises_cancelled_error_itself_has_failed():
    def job(key, seen):
        raise CancelledError

    world = World(keys="a", jobs_per_update=1, executor=InlineExecutor(), job=job)
    world.update(2)
    assert len(world.reports) == 1


@pytest.mark.slow
def test_processes_do_as_well_as_threads():
    with ProcessPoolExecutor(1) as pool:
        slicer = Timeslicer(ManualClock(), pow, inputs=lambda key: 2, jobs_per_update=9, executor=pool)
        for key in range(5):
            slicer.add(key)
        for _ in range(2):
            slicer.advance(Budget.unlimited())
    assert [slicer.result_of(key) for key in range(5)] == [0, 1, 4, 9, 16]
