"""Times of runs, and runs that are given shares of time, in both forms."""
from __future__ import annotations

import gc
import random
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.scheduling.run_times as run_times
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.priority import PriorityScheduler
from ai_core.scheduling.run_times import RECENT_RUNS
from ai_core.scheduling.task import Turn
from ai_core.twins import INTERPRETED, kernel_of

NAMES = ("RunTimes", "begin_shares")
TWINS = {name: INTERPRETED[f"{run_times.__name__}.{name}"] for name in NAMES}
KERNELS = {name: kernel for name, one in TWINS.items() if (kernel := kernel_of(one)) is not None}
FORMS = {"interpreted": TWINS, **({"compiled": KERNELS} if KERNELS else {})}

each_form = pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
with_kernels = pytest.mark.skipif(not KERNELS, reason="kernels are not built here")

lengths_ns = st.integers(0, 1 << 40)
runs = st.tuples(st.just("run"), st.one_of(lengths_ns, st.floats(0, 1e12)), lengths_ns)
rounds = st.tuples(st.just("rounds"), st.lists(lengths_ns, min_size=1, max_size=9))


def noted(form, notes):
    times = form["RunTimes"]()
    for kind, *values in notes:
        if kind == "run":
            times.note_run(*values)
        else:
            times.note_rounds(sum(values[0]), max(values[0]), values[0])
    return times


@given(notes=st.lists(st.one_of(runs, rounds), max_size=20), repeated=st.sampled_from([1, 5, RECENT_RUNS]))
def test_sums_maxima_and_the_latest_runs_are_kept(notes, repeated):
    notes = notes * repeated
    given_ns = [int(values[0]) for kind, *values in notes if kind == "run"]
    used_ns = [one for kind, *values in notes for one in ([values[1]] if kind == "run" else values[0])]
    for form in FORMS.values():
        times = noted(form, notes)
        assert times.noted == len(given_ns)
        assert times.granted() == (sum(given_ns), max(given_ns, default=0), given_ns[-RECENT_RUNS:])
        assert times.used() == (sum(used_ns), max(used_ns, default=0), used_ns[-RECENT_RUNS:])


@with_kernels
def test_a_queue_that_grows_while_it_runs_is_refused(clock, stopwatch):
    scheduler = LoadBalancingScheduler(clock)
    queue = [scheduler.add(lambda turn: None)]
    frame = run_times.RunFrame(clock.now, Budget.of_time(100, stopwatch), Filled, {}, {}, {}, 0, None, 0.0, 0, False)
    shares = KERNELS["begin_shares"](queue, iter([*queue, *queue]), frame)
    assert shares.goes_on()
    assert list(shares) == []
    with pytest.raises(IndexError, match="must not grow"):
        list(shares)


class Filled(Turn):
    """A Turn that is filled in."""

    __init__ = object.__init__


@with_kernels
def test_what_ran_is_let_go_of_when_the_frame_is_over(clock, stopwatch):
    class Work:
        def __call__(self, turn):
            pass

    scheduler, work = LoadBalancingScheduler(clock), Work()
    known, task = weakref.ref(work), scheduler.add(work)
    for _ in range(3):
        scheduler.advance(Budget.of_time(100, stopwatch))
    scheduler.remove(task)
    gc.disable()
    try:
        del work, task
        assert known() is None
    finally:
        gc.enable()


def life_of_a_crowd(form, seed, make, monkeypatch):
    """What is seen of frames in which work changes, pauses, removes and adds whom it likes."""
    for name in NAMES:
        monkeypatch.setattr(run_times, name, form[name])
    chance, clock, tasks, seen, now_ns = random.Random(seed), ManualClock(), [], [], [0]

    def watch():
        now_ns[0] += 500
        return now_ns[0]

    def work_number(number):
        def work(turn):
            now_ns[0] += chance.randrange(30_000)
            seen.append((clock.now.frame, number, turn.budget.left))
            task, act = chance.choice(tasks), chance.randrange(12)
            if act == 11:
                raise ValueError("a fault")
            if task.is_removed:
                return
            if act < 2:
                scheduler.change(task, priority=chance.choice([0.1, 1, 3, 7]))
            elif act == 2:
                scheduler.pause(task)
            elif act == 3:
                scheduler.resume(task)
            elif act == 4 and len(tasks) > 3:
                scheduler.remove(task)
            elif act == 5:
                scheduler.change(task, period_frames=chance.randrange(1, 6))
            elif act == 6:
                tasks.append(scheduler.add(work_number(len(tasks))))
        return work

    scheduler = make(clock, faults=FaultIsolation(report=lambda fault: None))
    for number in range(60):
        tasks.append(scheduler.add(work_number(number), period_frames=1 + number % 4, priority=1 + number % 3))
    for frame in range(20):
        scheduler.advance(Budget.of_time(100 + 200 * (frame % 3), watch))
        clock.advance()
    return seen


@with_kernels
@pytest.mark.parametrize("make", [LoadBalancingScheduler, PriorityScheduler])
@pytest.mark.parametrize("seed", range(6))
def test_both_forms_share_alike_whatever_work_does_to_whom(make, seed, monkeypatch):
    lives = [life_of_a_crowd(form, seed, make, monkeypatch) for form in FORMS.values()]
    assert len(lives[0]) > 20
    assert lives[0] == lives[1]
