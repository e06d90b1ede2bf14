"""The waiting line: serving its front costs the same however many stand behind."""
from __future__ import annotations

import gc
import sys
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.scheduling.scheduler as scheduling
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.run_loops import UNIT, CarryOverQueue
from ai_core.scheduling.scheduler import Scheduler

RARE_FRAMES = 1000


def do_nothing(turn):
    return None


def crowd_of(count, **settings):
    """All fell due on frame 0, and all but one wait."""
    scheduler = Scheduler(ManualClock(), **settings)
    for _ in range(count):
        scheduler.add(do_nothing, period_frames=RARE_FRAMES, phase_frames=0)
    scheduler.advance(Budget.of_steps(1))
    return scheduler


def operations_of(act):
    """Count what the interpreter does, one bytecode after the other; of our modules all, wherever called."""
    count = 0

    def trace(frame, event, _argument):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    gc.collect()
    gc.disable()  # what other tests left to be cleared away would be counted too
    sys._getframe().f_trace_opcodes = True  # CPython 3.12 counts none if no frame wants it at the start
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def on_steps(count):
    return Budget.of_steps(count)


def on_time(count):
    """10 µs for each run, whatever it does."""
    reads = iter(range(0, 10_000_000, 10_000))
    return Budget.of_time(10 * count, lambda: next(reads))


@pytest.mark.parametrize("budget_of", [on_steps, on_time])
@pytest.mark.parametrize("settings", [{}, {"learns_bias": True}], ids=["plain", "bias"])
def test_a_frame_costs_what_runs_however_many_wait(budget_of, settings):
    counts = []
    for crowd in (200, 3000):
        scheduler = crowd_of(crowd, **settings)
        scheduler.advance(budget_of(10))
        counts.append(operations_of(lambda scheduler=scheduler: scheduler.advance(budget_of(10))))
        assert 15 <= crowd - len(scheduler.waiting) <= 21
    assert counts[0] == counts[1]


def test_paused_removed_or_changed_work_costs_others_nothing():
    counts = []
    for crowd in (200, 3000):
        scheduler = crowd_of(crowd)
        tasks = scheduler.tasks

        def meddle(scheduler=scheduler, tasks=tasks):
            scheduler.pause(tasks[40])
            scheduler.remove(tasks[50])
            scheduler.change(tasks[60], priority=7)
            scheduler.advance(on_steps(10))

        counts.append(operations_of(meddle))
    assert counts[0] == counts[1]


@given(
    priorities=st.lists(st.floats(0.001, 1000), min_size=2, max_size=12),
    served=st.lists(st.integers(1, 4), min_size=1, max_size=4), at_once=st.integers(1, 4), us=st.integers(1, 100_000),
)
def test_shares_of_who_waited_are_those_of_exact_arithmetic(priorities, served, at_once, us):
    """The model: fractions of the weight of all that still wait; each weight is rounded to a unit."""
    scheduler, granted = Scheduler(ManualClock()), []
    spent = [0]

    def work(turn):
        granted.append(turn.budget.left)
        spent[0] += round(turn.budget.left * 1000)

    for priority in priorities:
        scheduler.add(work, priority=priority, period_frames=RARE_FRAMES, phase_frames=0)
    with patch.object(scheduling, "SERVED_AT_ONCE", at_once):
        for count in served:
            scheduler.advance(Budget.of_steps(count))
        left = [task.priority for task in scheduler.waiting]
        granted.clear()
        scheduler.advance(Budget.of_time(us, lambda: spent[0]))
    expected = [us * one / sum(left) for one in left]
    assert granted == pytest.approx(expected[:len(granted)], rel=12 * 0.5 / UNIT / 0.001, abs=0.012)
    assert len(granted) == len(left) or us <= sum(granted) * (1 + 12 * 0.5 / UNIT / 0.001) + 0.012


def test_new_priority_of_waiting_work_holds_from_the_next_frame(clock):
    scheduler, granted = Scheduler(clock), []
    for _ in range(4):
        scheduler.add(lambda turn: granted.append(turn.budget.left), period_frames=9, phase_frames=0)
    scheduler.advance(Budget.of_steps(1))
    scheduler.change(scheduler.tasks[3], priority=8)
    scheduler.change(scheduler.tasks[2], priority=1)
    granted.clear()
    with patch.object(scheduling, "SERVED_AT_ONCE", 1):
        scheduler.advance(Budget.of_steps(100))
    assert granted == [10, 11, 98]


def test_work_paused_and_resumed_within_a_frame_keeps_its_place(clock):
    scheduler, ran = Scheduler(clock), []
    for name in "abcd":
        scheduler.add(lambda turn, name=name: ran.append(name), period_frames=9, phase_frames=0)
    scheduler.advance(Budget.of_steps(1))
    _, paused, left_out, _ = scheduler.tasks
    scheduler.pause(paused)
    scheduler.resume(paused)
    scheduler.pause(left_out)
    scheduler.advance(Budget.of_steps(1))
    scheduler.resume(left_out)
    scheduler.advance(Budget.of_steps(9))
    assert ran == ["a", "b", "d"]


def test_loaded_work_waits_in_same_order_with_same_shares(clock):
    def world():
        scheduler, granted = Scheduler(clock, learns_bias=True), []
        for number in range(300):
            scheduler.add(
                lambda turn, number=number: granted.append((number, turn.budget.left)) or turn.budget.spend(number % 9),
                name=str(number), priority=0.1 + number % 7, period_frames=1 + number % 12,
            )
        return scheduler, granted

    first, second = world(), world()
    for frame in range(40):
        first[0].advance(Budget.of_steps(150))
        if frame == 20:
            assert len(first[0].waiting) > 64
            second[0].prepare_state(first[0].save_state())()
            first[1].clear()
        if frame > 20:
            second[0].advance(Budget.of_steps(150))
    assert first[1] == second[1]
    assert first[0].save_state() == second[0].save_state()


@given(deeds=st.lists(st.tuples(st.sampled_from("jjjlltrsf"), st.integers(0, 20)), max_size=60))
def test_line_weighs_what_is_behind_whatever_was_done(deeds):
    """The model: a list of the tasks that wait, in order."""
    scheduler, line, waiting = Scheduler(ManualClock()), CarryOverQueue(), []
    tasks = [scheduler.add(do_nothing, priority=0.1 * (1 + number)) for number in range(21)]
    for frame, (deed, number) in enumerate(deeds):
        task, behind = tasks[number], waiting
        if deed == "j" and task not in waiting:
            line.join([task], frame)
            waiting.append(task)
        elif deed in "lr":          # taken and reached; all leave, or all but every third, which is held
            taken = line.take(number)
            assert taken == waiting[:number]
            behind, held = waiting[number:], taken[::3] if deed == "r" else []
            assert line.weight_behind == pytest.approx(sum(one.priority for one in behind), abs=len(behind) / UNIT)
            for one in held:
                one._is_held = True
            line.leave_reached(taken, len(taken))
            assert list(line.waiting) == behind
            line.come_back(held)
            waiting = [*held, *behind]
            assert [one._due_since >= 0 for one in taken] == [one in waiting for one in taken]
        elif deed == "t":
            task._priority *= 1.7
            line.reweigh(task)
        elif deed == "s":
            task._may_run = False
            line.stop(task)
            line.begin_frame()
            task._may_run = True
            waiting = [one for one in waiting if one is not task]
        assert line.begin_frame() == bool(waiting)
        assert list(line.waiting) == waiting
        assert len(line) == len(waiting)
        assert line.weight_behind == pytest.approx(sum(one.priority for one in waiting), abs=len(waiting) / UNIT)


def test_held_work_that_was_paused_or_removed_waits_no_more():
    scheduler, line = Scheduler(ManualClock()), CarryOverQueue()
    paused, removed, held = tasks = [scheduler.add(do_nothing) for _ in range(3)]
    line.join(tasks, 7)
    for task in line.take(3):
        task._is_held = True
    line.leave_reached(tasks, 3)
    paused._may_run = False
    line.leave(removed)
    line.come_back(tasks)
    assert list(line.waiting) == [paused, held]     # the former may be resumed before the next frame
    line.begin_frame()
    assert (list(line.waiting), [task._due_since for task in tasks]) == ([held], [-1, -1, 7])
