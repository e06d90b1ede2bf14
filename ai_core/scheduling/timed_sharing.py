"""Sharing out time with one reading of the stopwatch for each task that runs."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ai_core.budget import Budget, _TimeBudget
from ai_core.scheduling.statistics import NS_PER_US, Overrun
from ai_core.scheduling.task import Task, Turn

if TYPE_CHECKING:
    from ai_core.scheduling.sharing import SharingScheduler

__all__ = ["Asking", "share_time"]

Asking = tuple[Task, float, float | None]
"""A task, its part of what is left when its turn comes (0 to 1), and what it asks for instead."""


class _ShareTurn(Turn):
    """A Turn that is made first and filled in after; its budget is made when work asks for it."""

    __slots__ = ("_share",)
    __init__ = object.__init__

    _share: Budget | tuple[_TimeBudget, int, float]
    """The budget, or what it is a part of, since when, and how large (ns)."""

    @property
    def budget(self) -> Budget:  # type: ignore[override]  # read-only here, as Turns are
        share = self._share
        if isinstance(share, tuple):
            whole, begun_ns, granted_ns = share
            share = _TimeBudget(whole._watch, 0.0, whole)
            share._started_ns, share.deadline_ns = begun_ns, begun_ns + round(granted_ns)
            self._share = share
        return share


def share_time(
    scheduler: SharingScheduler, queue: Iterable[Asking], budget: _TimeBudget, late: list[Task]
) -> None:
    """Do what ``SharingScheduler._share_one_by_one`` does, for work that no trace listens to.

    The end of one run is the beginning of the next: what the scheduler does
    between two of them counts as used by the latter.
    """
    watch, deadline_ns, now = budget._watch, budget.deadline_ns, scheduler._clock.now
    in_a_row, is_closely_watched = scheduler._faults._in_a_row, scheduler._bias or scheduler._waiting
    lets_wait = scheduler.lets_wait
    seconds, may_wait = now.seconds, False
    begun_ns = watch()
    for task, part, request in queue:
        left_ns = deadline_ns - begun_ns
        if left_ns <= 0:
            left_ns = 0
            if may_wait:
                late.append(task)
                break
        if task._paused or task._owner is None:
            continue
        # A float: to round it would take longer than to call the work.
        granted_ns: Any = left_ns * part if request is None else request * NS_PER_US
        if granted_ns > left_ns:
            if may_wait:
                late.append(task)
                continue
            granted_ns = left_ns
        may_wait = lets_wait  # one has run, or a tiny budget would starve all
        turn = _ShareTurn()
        turn.now, turn.elapsed_s = now, seconds - task._last_run[1]
        turn._share = (budget, begun_ns, granted_ns)
        task._last_run = now
        failure = None
        try:
            task._runner.run(turn)
        except Exception as error:  # whatever work raises stays with it
            failure = error
        ended_ns = watch()
        task._record.runs += 1
        task._record.note_times(granted_ns, ended_ns - begun_ns)
        if ended_ns > deadline_ns or failure is not None or in_a_row or is_closely_watched or task._owner is None:
            _follow_up(scheduler, task, granted_ns, ended_ns - begun_ns, ended_ns - deadline_ns, failure)
        begun_ns = ended_ns


def _follow_up(
    scheduler: SharingScheduler, task: Task, granted_ns: float, used_ns: int, over_ns: int,
    failure: Exception | None,
) -> None:
    """Do what is seldom needed after a run: lateness, overrun, bias, faults."""
    granted, used = granted_ns / NS_PER_US, used_ns / NS_PER_US
    since = scheduler._waiting.get(task)
    if since is not None:
        task._record.note_lateness(scheduler._frame - since)
    if used > granted and over_ns > 0 and not scheduler._overrun_told:
        now = scheduler._clock.now
        overrun = Overrun(task._name, task._id, now, granted, used, over_ns / NS_PER_US)
        scheduler._tell_overrun(overrun, task)
    if scheduler._bias is not None and task._owner is not None:
        scheduler._bias.learn(task, granted, used)
    scheduler._settle(task, failure)
