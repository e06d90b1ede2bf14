"""What every scheduler does: change, nest, isolate faults, trace, count."""
from __future__ import annotations

import weakref
from types import SimpleNamespace

import pytest

from ai_core.budget import Budget
from ai_core.errors import CycleError
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import MAX_PERIOD_FRAMES
from ai_core.trace import Trace
from tests.scheduling.makers import frequency, load_balancing


@pytest.fixture(params=[frequency, load_balancing])
def make(request):
    return request.param


def run(scheduler, frames=1, steps=1000):
    for _ in range(frames):
        scheduler.advance(Budget.of_steps(steps))


def idle(turn):
    assert turn.budget.left >= 0


def fail(turn):
    raise ValueError("boom")


def test_work_may_remove_itself(make, clock):
    scheduler = make(clock)
    task = scheduler.add(lambda turn: scheduler.remove(task))
    run(scheduler, 3)
    assert (task.runs, task.is_removed, scheduler.tasks) == (1, True, ())


def test_a_generator_may_remove_itself(make, clock):
    closed = []

    def once(turn):
        try:
            scheduler.remove(task)
            yield
        finally:
            closed.append(task.runs)

    scheduler = make(clock)
    task = scheduler.add(once)
    run(scheduler, 2, steps=1)
    assert closed == [1]


def test_work_may_remove_what_has_not_run_yet(make, clock):
    scheduler = make(clock)
    scheduler.add(lambda turn: scheduler.remove(victim) if not victim.is_removed else None)
    victim = scheduler.add(idle)
    run(scheduler, 2)
    assert victim.runs == 0


def test_removing_all_releases_their_work_even_if_some_wait(make, clock):
    class Work:
        def __call__(self, turn):
            turn.budget.spend(1)

    scheduler = make(clock)
    held = weakref.WeakSet()
    for _ in range(5):
        work = Work()
        held.add(work)
        scheduler.add(work)
    del work
    run(scheduler, 2, steps=1)
    assert len(held) == 5
    scheduler.remove_all()
    assert len(held) == 0
    assert scheduler.tasks == ()
    run(scheduler, 2)


def test_work_may_remove_all_and_nothing_outlives_the_frame(make, clock):
    scheduler, runs = make(clock), []

    def work(turn):
        turn.budget.spend(1)
        runs.append(turn)
        if len(runs) == 4:
            scheduler.remove_all()

    for _ in range(5):
        scheduler.add(work)
    run(scheduler, 6, steps=1)
    assert len(runs) == 4
    assert (scheduler.tasks, scheduler.waiting) == ((), ())
    scheduler.add(idle)
    run(scheduler)


def test_work_added_by_work_runs_from_the_next_frame_on(make, clock):
    scheduler, added = make(clock), []
    parent = scheduler.add(lambda turn: added.append(scheduler.add(idle)), name="parent")
    run(scheduler)
    assert added[0].runs == 0
    scheduler.pause(parent)
    run(scheduler)
    assert added[0].runs == 1


def test_pause_holds_at_once_and_other_changes_next_frame(make, clock):
    scheduler = make(clock)

    def direct(turn):
        match scheduler.frame:
            case 0:
                scheduler.pause(other)
            case 2:
                scheduler.resume(other)
            case 4:
                scheduler.change(other, period_frames=2, phase_frames=1)

    scheduler.add(direct)
    frames = []
    other = scheduler.add(lambda turn: frames.append(scheduler.frame))
    run(scheduler, 9)
    assert frames == [3, 4, 5, 7]


def test_paused_time_counts_as_elapsed(make, clock):
    scheduler, elapsed = make(clock), []
    task = scheduler.add(lambda turn: elapsed.append(turn.elapsed_s))
    run(scheduler)
    scheduler.pause(task)
    clock.advance(50)
    scheduler.resume(task)
    run(scheduler)
    assert elapsed == pytest.approx([0.0, 5.0])


def test_skipped_time_is_not_elapsed_for_any_task(make, clock):
    elapsed = []
    inner, outer = make(clock), make(clock)
    for scheduler in (inner, outer):
        scheduler.add(lambda turn: elapsed.append(round(turn.elapsed_s, 6)))
    outer.add(inner)
    clock.advance()
    run(outer)
    for _ in range(5):
        clock.advance()
    outer.add(lambda turn: elapsed.append(round(turn.elapsed_s, 6)))
    outer.skip_time(0.5)
    clock.advance()
    elapsed.clear()
    run(outer)
    assert elapsed == [0.1] * 3
    with pytest.raises(ValueError, match="seconds must be at least 0"):
        outer.skip_time(-1)


def test_new_period_renews_an_automatic_phase_not_a_given_one(make, clock):
    scheduler = make(clock)
    scheduler.add(idle, period_frames=2, phase_frames=0)
    automatic = scheduler.add(idle, period_frames=3)
    given = scheduler.add(idle, period_frames=3, phase_frames=7)
    scheduler.change(automatic, period_frames=2)
    scheduler.change(given, period_frames=5)
    assert automatic.phase_frames == 1
    assert given.phase_frames == 7


def test_automatic_phases_consider_changed_and_removed_tasks(make, clock):
    scheduler = make(clock)
    moved = scheduler.add(idle, period_frames=2, phase_frames=1)
    scheduler.add(idle, period_frames=2, phase_frames=0)
    scheduler.change(moved, phase_frames=0)
    assert [scheduler.add(idle, period_frames=2).phase_frames for _ in range(2)] == [1, 1]
    for task in scheduler.tasks[:2]:
        scheduler.remove(task)
    assert [scheduler.add(idle, period_frames=2).phase_frames for _ in range(2)] == [0, 0]


def test_a_bad_change_changes_nothing(make, clock):
    scheduler = make(clock)
    task = scheduler.add(idle, period_frames=3, phase_frames=1, priority=2)
    with pytest.raises(ValueError, match="phase_frames"):
        scheduler.change(task, period_frames=5, priority=9, phase_frames=-1)
    assert (task.period_frames, task.phase_frames, task.priority) == (3, 1, 2)


def test_failing_task_stops_nobody_and_is_quarantined_at_three(make, clock):
    faults = []
    scheduler = make(clock, faults=FaultIsolation(report=faults.append))
    failing, healthy = scheduler.add(fail, name="failing"), scheduler.add(idle)
    run(scheduler, 5)
    assert (failing.runs, failing.faults, healthy.runs) == (3, 3, 5)
    assert [fault.is_quarantined for fault in faults] == [False, False, True]
    assert {fault.name for fault in faults} == {"failing"}
    assert [row["is_quarantined"] for row in scheduler.statistics()] == [True, False]


def test_failing_work_that_removes_itself_leaves_nothing_behind(make, clock):
    def work(turn):
        scheduler.remove(task)
        raise ValueError("boom")

    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)
    scheduler = make(clock, faults=faults)
    task = scheduler.add(work)
    run(scheduler)
    assert faults.counts == {"failures": 1, "quarantined": 0}


def test_released_work_is_tried_again(make, clock):
    scheduler = make(clock, faults=FaultIsolation(report=lambda fault: None))
    failing = scheduler.add(fail)
    run(scheduler, 5)
    scheduler.release(failing)
    run(scheduler)
    assert failing.runs == 4


def test_a_fault_that_comes_through_leaves_the_scheduler_usable(make, clock):
    scheduler = make(clock, faults=FaultIsolation(reraise=True))
    failing = scheduler.add(fail)
    after = scheduler.add(idle)
    with pytest.raises(ValueError, match="boom"):
        run(scheduler)
    scheduler.remove(failing)
    run(scheduler)
    assert (scheduler.frame, after.runs) == (2, 1)


def test_scheduler_is_work_for_another_and_counts_own_frames(make, clock):
    game, guard = make(clock), make(clock)
    step = guard.add(idle, period_frames=2)
    game.add(guard, period_frames=3)
    run(game, 12)
    assert (guard.frame, step.runs) == (4, 2)


def test_steps_of_inner_work_are_paid_from_the_outer_budget(make, clock):
    game, guard = make(clock), make(clock)
    guard.add(lambda turn: turn.budget.spend(7))
    game.add(guard)
    budget = Budget.of_steps(100)
    game.advance(budget)
    assert budget.used == 7


def test_a_scheduler_cannot_run_itself(make, clock):
    scheduler = make(clock)
    with pytest.raises(CycleError, match="cannot be its own work"):
        scheduler.add(scheduler)


def test_a_scheduler_cannot_run_itself_through_others(make, clock):
    top, middle, bottom = make(clock), make(clock), make(clock)
    top.add(middle)
    middle.add(bottom)
    with pytest.raises(CycleError, match="directly or through others"):
        bottom.add(top)


def test_work_that_advances_its_own_scheduler_is_a_fault(make, clock):
    scheduler = make(clock, faults=FaultIsolation(reraise=True))
    scheduler.add(lambda turn: scheduler.advance(turn.budget))
    with pytest.raises(RuntimeError, match="advancing already"):
        run(scheduler)


def test_a_handle_used_after_removal_is_refused(make, clock):
    scheduler = make(clock)
    task = scheduler.add(idle, name="think")
    scheduler.remove(task)
    for use in (scheduler.remove, scheduler.pause, scheduler.resume, scheduler.release):
        with pytest.raises(ValueError, match="task 'think' was removed; add its work again"):
            use(task)
    with pytest.raises(ValueError, match="was removed"):
        scheduler.change(task, period_frames=2)


def test_a_handle_of_another_scheduler_is_refused(make, clock):
    task = make(clock).add(idle)
    with pytest.raises(ValueError, match="belongs to another scheduler"):
        make(clock).remove(task)


def test_what_is_no_handle_is_refused(make, clock):
    with pytest.raises(TypeError, match="task must be a Task that add returned, got 'think'"):
        make(clock).pause("think")


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, True, "2"])
def test_periods_that_are_none_are_refused(make, clock, value):
    with pytest.raises((ValueError, TypeError), match=r"^period_frames must be .*use 1 to run every"):
        make(clock).add(idle, period_frames=value)


@pytest.mark.parametrize("value", [-1, 1.5, 2.0, True, "2"])
def test_phases_that_are_none_are_refused(make, clock, value):
    with pytest.raises((ValueError, TypeError), match=r"^phase_frames must be .*use None"):
        make(clock).add(idle, phase_frames=value)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "high", 1e-9])
def test_priorities_that_are_none_are_refused(make, clock, value):
    with pytest.raises((ValueError, TypeError), match=r"^priority must be .*pause a task"):
        make(clock).add(idle, priority=value)


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [("period_frames", MAX_PERIOD_FRAMES + 1, "send a delayed event"), ("period_frames", 1 << 64, "send a delayed"),
     ("phase_frames", MAX_PERIOD_FRAMES + 1, "use phase % period"), ("priority", 1e9, "give the others less")],
)
def test_what_is_too_large_is_refused_with_another_remedy(make, clock, name, value, remedy):
    with pytest.raises(ValueError, match=f"^{name} must be at most .*, got {value}.*; {remedy}"):
        make(clock).add(idle, **{name: value})


@pytest.mark.parametrize("value", [0, 2000, None, float("nan")])
def test_a_number_is_no_budget(make, clock, value):
    with pytest.raises(TypeError, match=r"budget must be a Budget, got .*use Budget"):
        make(clock).advance(value)


def test_a_clock_must_tell_the_time(make):
    with pytest.raises(TypeError, match="clock must have a 'now', got 60"):
        make(60)


def test_runs_are_traced_with_what_they_used(make, clock, stopwatch):
    told, trace = [], Trace()
    trace.listen(
        SimpleNamespace(
            before_task=lambda name, now: told.append(("before", name, now.frame)),
            after_task=lambda name, now, used_us: told.append(("after", name, used_us)),
        )
    )
    scheduler = make(clock, trace=trace, stopwatch=stopwatch)
    scheduler.add(lambda turn: stopwatch.passes(us=12), name="think")
    run(scheduler)
    assert told == [("before", "think", 0), ("after", "think", 12)]


def test_statistics_tell_what_each_got_used_and_waited_for(make, clock, stopwatch):
    scheduler, costs = make(clock), iter([30, 10])
    scheduler.add(lambda turn: stopwatch.passes(next(costs)), name="think")
    for _ in range(2):
        scheduler.advance(Budget.of_time(100, stopwatch))
    clock.advance(3)
    (row,) = scheduler.statistics()
    assert row == {
        "id": 1,
        "name": "think",
        "period_frames": 1,
        "phase_frames": 0,
        "priority": 1.0,
        "is_paused": False,
        "is_quarantined": False,
        "runs": 2,
        "used_us_mean": 20,
        "used_us_p95": 10,
        "used_us_max": 30,
        "lateness_frames_mean": 0,
        "lateness_frames_max": 0,
        "faults": 0,
        "overruns": 0,
        "staleness_frames": 3,
        "staleness_s": pytest.approx(0.3),
    }


def test_a_task_is_named_after_its_function_or_class(make, clock):
    scheduler = make(clock)
    assert scheduler.add(idle).name == "idle"
    assert scheduler.add(make(clock)).name == "Scheduler"


@pytest.mark.parametrize("name", ["stopwatch", "on_overrun"])
def test_what_cannot_be_called_is_refused(make, clock, name):
    with pytest.raises(TypeError, match=f"^{name} must be a callable or None, got 60"):
        make(clock, **{name: 60})


def test_work_released_by_other_work_runs_from_the_next_frame(make, clock):
    scheduler = make(clock, faults=FaultIsolation(report=lambda fault: None))
    scheduler.add(lambda turn: scheduler.release(failing))
    failing = scheduler.add(fail)
    run(scheduler, 4)
    assert failing.runs == 3
    run(scheduler)
    assert failing.runs == 4


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"faults": []}, "faults must be a FaultIsolation or None"), ({"faults": FaultIsolation}, "faults must be"),
     ({"trace": print}, "trace must be a Trace or None"), ({"trace": Trace}, "trace must be")],
)
def test_faults_and_trace_are_of_their_kinds(clock, settings, why):
    with pytest.raises(TypeError, match=why):
        Scheduler(clock, policy=Policy.FREQUENCY, **settings)
