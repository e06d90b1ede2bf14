"""Sharing out time with one reading of the stopwatch for each task that runs."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import ai_core.scheduling.run_times as run_times
from ai_core.budget import Budget, _TimeBudget
from ai_core.scheduling.rounds import NEVER_NS
from ai_core.scheduling.run_times import RunFrame, Shares
from ai_core.scheduling.statistics import NS_PER_US, Overrun
from ai_core.scheduling.task import Task, Turn

if TYPE_CHECKING:
    from ai_core.scheduling.sharing import SharingScheduler
    from ai_core.trace import Trace

__all__ = ["ShareQueue", "TaskShare", "share_time"]

TaskShare = tuple[int, Task, float, float | None]
"""A number from 0, a task, its part of what is left when its turn comes (0 to 1), and what it asks for instead."""


class ShareQueue(NamedTuple):
    """A queue that shares out what is left of a budget."""

    queue: list[Task]
    to_come: Iterator[Task]
    """The same; it goes on as they run."""
    requests: list[float | None] | None
    """What each asks for; None for a part by weight."""
    weight_behind: float
    """Of those who come after the queue."""


tuple_of = tuple.__new__
"""Makes a named tuple of all its parts in half the time that calling it takes; two are made in each frame."""

Grants = list[tuple[int, int] | None]
"""Answers that a recording keeps: of a RecordingBudget."""


class _ShareTurn(Turn):
    """A Turn that is made first and filled in after; its budget is made when work asks for it."""

    __slots__ = ("_share",)
    __init__ = object.__init__

    _share: Budget | tuple[_TimeBudget, int, float] | Shares
    """The budget, or what it is a part of, since when, and how large (ns); or who knows that."""

    @property
    def budget(self) -> Budget:  # type: ignore[override]  # read-only here, as Turns are
        share = self._share
        if isinstance(share, tuple):
            whole, begun_ns, granted_ns = share
            self._share = share = whole._part_since(begun_ns, granted_ns)
        elif not isinstance(share, Budget):
            self._share = share = share.part()
        return share


def share_time(
    scheduler: SharingScheduler, asked: ShareQueue, budget: _TimeBudget, late: list[Task], may_wait: bool
) -> bool:
    """Do what ``SharingScheduler._share_one_by_one`` does, with fewer readings.

    The end of one run is the beginning of the next: what the scheduler does
    between two of them counts as used by the latter, what listeners do does not.
    """
    trace, place, parts = scheduler._trace, 0, None
    is_heard = bool(trace.before_task or trace.after_task or trace.task_ran)
    answer = _number_of_answer(budget.grants)
    # For one alone, as in most groups, the kernel takes longer to begin than it saves.
    if scheduler._bias or asked.requests or len(asked.queue) == 1 or budget.deadline_ns > NEVER_NS:
        begun_ns = budget._watch()
    else:
        place, begun_ns, parts = _share_plainly(scheduler, asked, budget, trace if is_heard else None, may_wait)
        may_wait = may_wait or (scheduler.lets_wait and place > 0)
    if place < len(asked.queue):
        so_far = begun_ns, answer, may_wait, is_heard
        return _share_in_full(scheduler, scheduler._asking(asked, place, parts), budget, late, so_far)
    return may_wait


def _share_in_full(
    scheduler: SharingScheduler, queue: Iterator[TaskShare], budget: _TimeBudget, late: list[Task],
    so_far: tuple[int, int, bool, bool],
) -> bool:
    """Share out, telling and asking whatever there is to be told and asked."""
    watch, deadline_ns, grants = budget._watch, budget.deadline_ns, budget.grants
    now, before_task, in_a_row = scheduler._clock.now, scheduler._trace.before_task, scheduler._faults._in_a_row
    lets_wait, seconds, (begun_ns, answer, may_wait, is_heard) = scheduler.lets_wait, now.seconds, so_far
    waiting, is_followed, margin_ns = scheduler._waiting, is_heard or scheduler._bias, scheduler._margin_ns
    for number, task, part, request in queue:
        left_ns = deadline_ns - begun_ns
        if left_ns <= (margin_ns if may_wait else 0) and _may_stop(grants, answer, number, may_wait):
            late.append(task)
            break
        if task._paused or task._owner is None:
            continue
        granted_ns: float = left_ns * part if left_ns > 0 else 0  # rounding would take longer than the call
        if request is not None:
            granted_ns = max(0, min(request * NS_PER_US, left_ns))
            if may_wait and not _fits(request, left_ns, grants):
                late.append(task)
                continue
        may_wait = lets_wait  # one has run, or a tiny budget would starve all
        turn, failure, result = _ShareTurn(), None, None
        turn.elapsed_s, turn._share = seconds - task._last_run[1], (budget, begun_ns, granted_ns)
        turn.now = task._last_run = now
        for hook in before_task:
            hook(task._name, now)
        try:
            result = task._runner.run(turn)
        except Exception as error:  # whatever work raises stays with it
            failure = error
        ended_ns = watch()
        task._record.note_run(granted_ns, ended_ns - begun_ns)
        if task in waiting:
            task._record.note_lateness(scheduler._frame - waiting[task])
        if is_followed or ended_ns > deadline_ns or failure is not None or in_a_row or task._owner is None:
            times_ns = granted_ns, ended_ns - begun_ns, ended_ns - deadline_ns
            _follow_up(scheduler, task, turn, times_ns, result, failure)
        begun_ns = watch() if is_heard else ended_ns
    return may_wait


def _share_plainly(
    scheduler: SharingScheduler, asked: ShareQueue, budget: _TimeBudget, trace: Trace | None, may_wait: bool
) -> tuple[int, int, list[float] | None]:
    """Share out among tasks by priority as long as nothing is to be asked between two of them.

    Returns:
        How many runs have begun, when the last one ended (ns), and the parts of those still to come.
    """
    touched, failing = scheduler._touched, scheduler._faults._in_a_row
    frame = tuple_of(RunFrame, (
        scheduler._clock.now, budget, _ShareTurn, touched, failing, scheduler._waiting, scheduler._frame, trace,
        asked.weight_behind, scheduler._margin_ns if scheduler.lets_wait else 0, may_wait,
    ))
    shares = run_times.begin_shares(asked.queue, asked.to_come, frame)
    try:
        while shares.goes_on():
            turn, failure = shares.turn, None
            try:
                if trace is None:
                    for call in shares:
                        call(turn)
                else:
                    for call in shares:
                        shares.result = call(turn)
            except Exception as error:  # whatever work raises stays with it
                if not shares.end_call():  # a listener raised
                    raise
                failure = error
            if shares.was_odd() or failure is not None:
                _follow_up(scheduler, shares.task, turn, shares.times_ns, shares.result, failure)
                shares.resume()
        parts = shares.parts_to_come() if shares.place < len(asked.queue) else None
        return shares.place, shares.ended_ns, parts
    finally:
        shares.finish()


def _number_of_answer(grants: Grants | None) -> int:
    """Return the place in ``grants`` of the answers to how much of the whole is left."""
    if grants is None:
        return -1
    grants.append(None)
    return len(grants) - 1


def _may_stop(grants: Grants | None, answer: int, asks: int, may_wait: bool) -> bool:
    """Return whether the rest may wait, now that the whole is spent, as an answer that a recording keeps."""
    if grants is not None and grants[answer] is None:
        grants[answer] = (0, asks)
    return may_wait


def _fits(request_us: float, left_ns: int, grants: Grants | None) -> bool:
    """Return whether a request is still left, as an answer that a recording keeps."""
    fits = request_us * NS_PER_US <= left_ns
    if grants is not None:
        grants.append(None if fits else (0, 0))
    return fits


def _follow_up(
    scheduler: SharingScheduler, task: Task, turn: Turn, times_ns: tuple[float, int, int],
    result: object, failure: Exception | None,
) -> None:
    """Do what is seldom needed after a run: overrun, listeners, bias, faults.

    Args:
        times_ns: what it was granted, what it used, and how far that was beyond the whole budget.
    """
    granted_ns, used_ns, over_ns = times_ns
    now, trace = turn.now, scheduler._trace
    if over_ns > 0 and used_ns > granted_ns and not scheduler._overrun_told:
        scheduler._emit_overrun(Overrun(task._name, task._id, now, *(one / NS_PER_US for one in times_ns)), task)
    for hook in trace.after_task:
        hook(task._name, now, used_ns / NS_PER_US)
    for hook in trace.task_ran:
        share, told = getattr(turn, "_share", None), result if failure is None else failure
        steps = share.steps if isinstance(share, Budget) else 0
        hook(task._name, now, granted_ns / NS_PER_US, steps, used_ns / NS_PER_US, told)
    if scheduler._bias is not None and task._owner is not None:
        scheduler._bias.learn(task, granted_ns / NS_PER_US, used_ns / NS_PER_US)
    if failure is not None or task._owner is None or scheduler._faults._in_a_row:
        scheduler._settle(task, failure)
