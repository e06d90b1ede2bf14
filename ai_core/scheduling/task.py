"""A piece of work in a scheduler, and the argument of the work when it runs."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.scheduling.statistics import RunRecord
from ai_core.scheduling.work import Runner

if TYPE_CHECKING:
    from ai_core.scheduling.bucket import Bucket

__all__ = ["Advancing", "Task", "Turn", "TurnTaking", "Work"]


class Turn:
    """The argument of work when it runs; read-only.

    Tasks that are due together, and last ran together, share one Turn. A generator receives
    a new one at each ``yield``: write ``turn = yield``, because the first Turn never changes.

    Args:
        now: current game time.
        elapsed_s: true game time since the last run, or since the task was added if
            it never ran (s), however rarely it runs, pauses included.
        budget: what the work may use; work that can pause does so when it is spent.
    """

    __slots__ = ("budget", "elapsed_s", "now")

    def __init__(self, now: TimeIndex, elapsed_s: float, budget: Budget) -> None:
        self.now = now
        self.elapsed_s = elapsed_s
        self.budget = budget

    def __repr__(self) -> str:
        return f"Turn({self.now}, elapsed_s={self.elapsed_s:g}, budget={shown(self.budget)})"


class Advancing(Protocol):
    """Work that is an object: a search, a queue, another scheduler."""

    def advance(self, budget: Budget, /) -> object:
        """Continue until there is nothing to do at present, or until the budget is spent."""
        ...


class TurnTaking(Protocol):
    """Work that is an object and lives in game time: a habit tree, a state machine, a population.

    Attributes:
        advance_takes: ``"turn"``; without it, ``advance`` is called with the budget.
    """

    advance_takes: ClassVar[Literal["turn"]]

    def advance(self, turn: Turn, /) -> object:
        """Simulate ``turn.elapsed_s``; with many objects inside, until ``turn.budget`` is spent."""
        ...


Work = Callable[[Turn], object] | Advancing | TurnTaking
"""A callable, a generator function (it may pause at each ``yield``, and is sent
the current turn), or an object with ``advance(budget)``; with ``advance(turn)``
where its ``advance_takes`` is ``"turn"``."""


class Task:
    """A handle of a piece of work; returned by ``add`` of a scheduler.

    Reading is always allowed, also after removal. It is changed only through its
    scheduler: ``pause``, ``resume``, ``change``, ``release``, ``remove``.
    """

    __slots__ = (
        "_automatic_phase",
        "_bucket",
        "_id",
        "_in_step_since",
        "_last_run",
        "_name",
        "_owner",
        "_paused",
        "_period",
        "_phase",
        "_priority",
        "_record",
        "_runner",
        "_work",
    )

    def __init__(
        self, owner: object, task_id: int, name: str, work: Work, runner: Runner, added_at: TimeIndex
    ) -> None:
        self._owner: object | None = owner
        self._id = task_id
        self._name = name
        self._work = work
        self._runner = runner
        self._last_run = added_at
        self._period = 1
        self._phase = 0
        self._automatic_phase = False
        self._priority = 1.0
        self._paused = False
        self._record = RunRecord()
        self._bucket: Bucket | None = None
        self._in_step_since = -1

    def __repr__(self) -> str:
        state = "removed" if self.is_removed else "paused" if self._paused else "scheduled"
        return (
            f"<Task {self._id} {shown(self._name)} {state},"
            f" period {self._period}, phase {self._phase}>"
        )

    @property
    def id(self) -> int:
        """Number within its scheduler, never reused; ties go to the smallest."""
        return self._id

    @property
    def name(self) -> str:
        """Name in reports, traces and statistics; need not be unique."""
        return self._name

    @property
    def work(self) -> Work:
        """The work, as passed to ``add``."""
        return self._work

    @property
    def period_frames(self) -> int:
        """Frames from one run to the next (frames of its scheduler)."""
        return self._period

    @property
    def phase_frames(self) -> int:
        """Offset: it is due when ``(frame + phase) % period == 0``."""
        return self._phase

    @property
    def is_automatic_phase(self) -> bool:
        """True if the scheduler chooses the phase, and ``rephase`` may choose a better one."""
        return self._automatic_phase

    @property
    def priority(self) -> float:
        """Weight of its share of the budget, in schedulers that share it out."""
        return self._priority

    @property
    def is_paused(self) -> bool:
        """True between ``pause`` and ``resume``."""
        return self._paused

    @property
    def is_removed(self) -> bool:
        """True after ``remove``: it no longer belongs to its scheduler."""
        return self._owner is None

    @property
    def runs(self) -> int:
        """Number of runs, failures included."""
        if self._in_step_since < 0 or self._bucket is None:
            return self._record.runs
        return self._record.runs + self._bucket.runs_since(self)

    @property
    def last_run(self) -> TimeIndex:
        """When it last ran; when it was added, if it never ran."""
        return self._last_run if self._bucket is None else self._bucket.last_run_of(self)

    @property
    def used_us(self) -> float:
        """Time used in all runs (µs); 0 if nothing measures time.

        If only some runs are measured, the total is estimated from them.
        """
        if self._in_step_since >= 0 and self._bucket is not None:
            self._bucket.settle_times()
        record, measured = self._record, self._record.measured_runs
        return record.used_us if measured in (0, self.runs) else record.used_us * self.runs / measured

    @property
    def faults(self) -> int:
        """Number of runs that raised."""
        return self._record.faults

    def statistics_row(self, now: TimeIndex, *, is_quarantined: bool) -> dict[str, object]:
        """Return its row of ``Scheduler.statistics``: what it is, received, used and waited for."""
        return {
            "id": self.id,
            "name": self.name,
            "period_frames": self.period_frames,
            "phase_frames": self.phase_frames,
            "priority": self.priority,
            "is_paused": self.is_paused,
            "is_quarantined": is_quarantined,
            **self._record.as_dict(),
            "staleness_frames": now.frame - self.last_run.frame,
            "staleness_s": now.seconds - self.last_run.seconds,
        }
