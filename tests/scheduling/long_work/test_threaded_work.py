"""Work on threads: the same results on the same frames as on one thread, and none lost."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.threaded_work import MAX_DELAY_FRAMES, ThreadedWork
from tests.scheduling.long_work.hand_executor import HandExecutor
from tests.scheduling.long_work.threaded_yard import Yard, lives, square


def test_a_result_is_handed_over_on_its_frame_and_not_before():
    yard = Yard(HandExecutor(), delay_frames=3)
    [ticket] = yard.frame(7)
    yard.executor.run(0)
    for _ in range(2):
        yard.frame()
        assert (ticket.is_done, yard.diary) == (False, [])
        with pytest.raises(RuntimeError, match="ticket 0 has no result, it is pending; check is_done first"):
            ticket.result  # noqa: B018
    yard.frame()
    assert (ticket.is_done, ticket.result, yard.diary) == (True, 49, [(4, 0, 49)])
    assert (ticket.arguments, ticket.submitted_at.frame, ticket.due_frame) == ((7,), 1, 4)


def test_results_come_in_submission_order_despite_ready_order():
    yard = Yard(HandExecutor())
    yard.frame(1, 2, 3)
    for place in (2, 1, 0):
        yard.executor.run(place)
    yard.frame()
    assert yard.diary == [(2, 0, 1), (2, 1, 4), (2, 2, 9)]


def test_call_no_thread_has_begun_is_computed_here_when_due():
    yard = Yard(HandExecutor())
    yard.frame(4)
    yard.frame()
    assert yard.diary == [(2, 0, 16)]
    yard.executor.run(0)
    assert len(yard.diary) == 1


def test_a_call_that_a_thread_has_begun_is_waited_for():
    yard = Yard(HandExecutor())
    yard.frame(4)
    yard.executor.begin(0)
    yard.frame()
    assert yard.diary == [(2, 0, 16)]


def test_without_waiting_a_late_result_delays_those_after_it():
    yard = Yard(HandExecutor(), waits=False)
    yard.frame(1, 2)
    yard.executor.run(1)
    yard.frame()
    assert yard.diary == []
    yard.executor.run(0)
    yard.frame()
    assert yard.diary == [(3, 0, 1), (3, 1, 4)]


@settings(max_examples=40)
@given(life=lives(), delay=st.integers(1, 4))
def test_results_and_faults_equal_those_of_one_thread(life, delay):
    threaded, single = Yard(HandExecutor(), delay_frames=delay), Yard(None, delay_frames=delay)
    for numbers, steps, doings in life:
        for yard in (threaded, single):
            yard.frame(*numbers, steps=steps)
        for doing, place in doings:
            if threaded.executor.calls:
                getattr(threaded.executor, doing)(place)
    for _ in range(30):
        threaded.frame()
        single.frame()
    assert threaded.diary == single.diary
    assert threaded.reported == single.reported
    assert len(threaded.work.pending) == len(single.work.pending)


@settings(max_examples=40)
@given(life=lives(), stopped=st.integers(0, 11), is_cancelled=st.booleans())
def test_stopping_at_any_moment_loses_nothing(life, stopped, is_cancelled):
    threaded, single = Yard(HandExecutor()), Yard(None)
    for number, (numbers, steps, doings) in enumerate(life):
        for yard in (threaded, single):
            yard.frame(*numbers, steps=steps)
        for doing, place in doings:
            if threaded.executor.calls:
                getattr(threaded.executor, doing)(place)
        if number == stopped:
            threaded.executor.shutdown(cancel_futures=is_cancelled)
    for _ in range(30):
        threaded.frame()
        single.frame()
    assert (threaded.diary, threaded.reported) == (single.diary, single.reported)


def test_a_real_pool_gives_what_one_thread_gives():
    with ThreadPoolExecutor(3) as pool:
        yards = [Yard(pool, delay_frames=2), Yard(None, delay_frames=2)]
        for number in range(40):
            for yard in yards:
                yard.frame(number, number + 1, -1 if number % 7 == 0 else 3)
    for _ in range(9):
        for yard in yards:
            yard.frame()
    assert yards[0].diary == yards[1].diary
    assert len(yards[0].diary) == 40 * 3 - 6
    assert yards[0].reported == yards[1].reported


def test_nobody_is_told_on_a_thread():
    seen = {}

    def where(key):
        seen[key] = threading.current_thread()

    with ThreadPoolExecutor(1) as pool:
        yard = Yard(pool, where, then=lambda ticket: where("told"))
        yard.frame("computed")
        pool.submit(int).result()  # by now the one before has run
        yard.frame()
    assert seen["told"] is threading.current_thread() is not seen["computed"]


def test_what_a_call_raises_is_raised_on_its_frame():
    yard = Yard(HandExecutor())
    good, bad, later = yard.frame(2, -5, 3)
    yard.executor.run(1)
    assert yard.reported == []
    yard.frame()
    assert yard.reported == [(2, "-5 is below 0")]
    assert (bad.is_done, str(bad.error), good.error, later.is_done) == (True, "-5 is below 0", None, False)
    with pytest.raises(ValueError, match="-5 is below 0"):
        bad.result  # noqa: B018
    yard.frame()
    assert yard.diary == [(2, 0, 4), (3, 2, 9)]


def test_in_a_scheduler_calls_wait_after_failures_until_released():
    yard, faults = Yard(HandExecutor()), []
    scheduler = Scheduler(
        yard.clock, policy=Policy.FREQUENCY, faults=FaultIsolation(report=lambda one: faults.append(str(one.error))))
    task = scheduler.add(yard.work)
    for number in (-1, -2, -3, 4, 5):
        yard.work.submit(number)
    for frame in range(9):
        if frame == 6:
            assert (yard.diary, len(yard.work.pending)) == ([], 2)
            scheduler.release(task)
        yard.clock.advance()
        scheduler.advance(Budget.unlimited())
    assert faults == ["-1 is below 0", "-2 is below 0", "-3 is below 0"]
    assert yard.diary == [(7, 3, 16), (7, 4, 25)]


def test_raising_listener_leaves_the_ticket_its_result():
    yard = Yard(None, then=lambda ticket: 1 / 0)
    [ticket] = yard.frame(3)
    yard.frame()
    assert (ticket.result, ticket.error, yard.reported) == (9, None, [(2, "division by zero")])


@pytest.mark.parametrize("budget", [None, 3])
def test_what_is_no_budget_is_refused_and_loses_nothing(budget):
    yard = Yard(None)
    [ticket] = yard.frame(3)
    yard.clock.advance()
    with pytest.raises(TypeError, match="budget must be a Budget, got"):
        yard.work.advance(budget)
    assert yard.work.pending == (ticket,)


@pytest.mark.parametrize("executor", [None, HandExecutor])
def test_a_call_that_lets_the_program_end_is_not_lost(executor):
    def leave(number):
        if leaving:
            raise SystemExit
        return number

    leaving, yard = [True], Yard(executor and executor(), leave)
    [ticket] = yard.frame(3)
    yard.clock.advance()
    with pytest.raises(SystemExit):
        yard.work.advance(Budget.unlimited())
    assert (yard.work.pending, len(yard.work.save_state()["pending"])) == ((ticket,), 1)
    leaving.clear()
    yard.frame()
    assert (yard.diary, yard.work.pending) == ([(3, 0, 3)], ())


def yielding(number):
    yield number


async def waiting(number):
    return number


@pytest.mark.parametrize("function", [yielding, waiting])
def test_a_function_that_would_do_nothing_is_refused(function):
    with pytest.raises(TypeError, match="function must not be async and must not yield"):
        Yard(None, function)


def test_a_cancelled_ticket_is_never_handed_over():
    yard = Yard(HandExecutor())
    first, second, third = yard.frame(1, 2, 3)
    yard.executor.begin(0)
    yard.work.cancel(first)
    yard.work.cancel(second)
    yard.executor.run(0)
    yard.frame()
    assert (yard.diary, yard.executor.calls[1].cancelled()) == ([(2, 2, 9)], True)
    assert (first.is_cancelled, first.is_done) == (True, False)
    with pytest.raises(RuntimeError, match="it is cancelled"):
        second.result  # noqa: B018
    for settled in (first, third, Yard(None).frame(1)[0]):
        with pytest.raises(ValueError, match="is not pending here"):
            yard.work.cancel(settled)


def test_who_is_told_may_submit_and_cancel():
    yard = Yard(None, then=lambda ticket: told(ticket))
    tickets = yard.frame(1, 2, 3)

    def told(ticket):
        yard.diary.append(ticket.id)
        if ticket.id == 0:
            yard.work.cancel(tickets[1])
            yard.work.submit(9)

    yard.frame()
    assert yard.diary == [0, 2]
    yard.frame()
    assert yard.diary == [0, 2, 3]


def test_submission_stops_at_spent_budget_but_one_always_comes():
    yard = Yard(None)
    yard.frame(1, 2, 3, 4)
    for steps in (2, 0, 0):
        yard.frame(steps=steps)
    assert [(frame, one) for frame, one, _ in yard.diary] == [(2, 0), (2, 1), (3, 2), (4, 3)]


def test_it_is_work_for_a_scheduler():
    yard = Yard(HandExecutor())
    scheduler = Scheduler(yard.clock, policy=Policy.FREQUENCY)
    scheduler.add(lambda turn: yard.work.submit(turn.now.frame), period_frames=2, phase_frames=0)
    scheduler.add(yard.work)
    for _ in range(5):
        yard.clock.advance()
        scheduler.advance(Budget.unlimited())
    assert yard.diary == [(2, 0, 1), (4, 1, 9)]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"function": 3}, TypeError, "function must be a callable, got 3"),
        ({"executor": 3}, TypeError, "executor must be a concurrent.futures.Executor or None, got 3"),
        ({"clock": 3}, TypeError, "clock must have a 'now', got 3"),
        ({"then": 3}, TypeError, "then must be a callable or None, got 3"),
        ({"waits": 1}, TypeError, "waits must be True or False, got 1"),
        ({"delay_frames": 0}, ValueError, "available on the next frame"),
        ({"delay_frames": -1}, ValueError, "must be at least 1, got -1"),
        ({"delay_frames": True}, TypeError, "must be an integer, got True"),
        ({"delay_frames": float("nan")}, TypeError, "must be an integer, got nan"),
        ({"delay_frames": MAX_DELAY_FRAMES + 1}, ValueError, "must be at most 100000"),
    ],
)
def test_bad_settings_are_refused(clock, settings, error, message):
    with pytest.raises(error, match=message):
        ThreadedWork(**{"function": square, "clock": clock, "executor": None, **settings})
