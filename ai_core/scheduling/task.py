"""A piece of work known to a scheduler, and what the work is told when it runs."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.scheduling.statistics import RunRecord
from ai_core.scheduling.work import Runner

__all__ = ["Advancing", "Task", "Turn", "Work"]


class Turn(NamedTuple):
    """What a piece of work is told when its turn has come.

    Attributes:
        now: the moment.
        elapsed_s: true game time since it last ran, or since it was added if
            it never ran (s), however rarely it runs, pauses included.
        budget: what it may use; work that can pause does so when it is spent.
    """

    now: TimeIndex
    elapsed_s: float
    budget: Budget


class Advancing(Protocol):
    """Work that is an object: a search, a queue, another scheduler."""

    def advance(self, budget: Budget, /) -> object:
        """Go on until done for now, or until the budget is spent."""
        ...


Work = Callable[[Turn], object] | Advancing
"""A callable, a generator function (it may pause at each ``yield``, and is sent
the current turn), or an object with ``advance(budget)``."""


class Task:
    """A handle on one piece of work; made by a scheduler's ``add``.

    Read it freely, also after removal. It is changed only through its
    scheduler: ``pause``, ``resume``, ``change``, ``release``, ``remove``.
    """

    __slots__ = (
        "_automatic_phase",
        "_id",
        "_last_run_s",
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
        self, owner: object, task_id: int, name: str, work: Work, runner: Runner, added_at_s: float
    ) -> None:
        self._owner: object | None = owner
        self._id = task_id
        self._name = name
        self._work = work
        self._runner = runner
        self._last_run_s = added_at_s
        self._period = 1
        self._phase = 0
        self._automatic_phase = False
        self._priority = 1.0
        self._paused = False
        self._record = RunRecord()

    def __repr__(self) -> str:
        state = "removed" if self.is_removed else "paused" if self._paused else "scheduled"
        return (
            f"<Task {self._id} {shown(self._name)} {state},"
            f" period {self._period}, phase {self._phase}>"
        )

    @property
    def id(self) -> int:
        """Number within its scheduler, never used twice; ties go to the smallest."""
        return self._id

    @property
    def name(self) -> str:
        """What reports, traces and statistics call it; need not be unique."""
        return self._name

    @property
    def work(self) -> Work:
        """The work itself, as given to ``add``."""
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
    def priority(self) -> float:
        """Weight of its share of the budget, where the scheduler shares it out."""
        return self._priority

    @property
    def is_paused(self) -> bool:
        """True between ``pause`` and ``resume``."""
        return self._paused

    @property
    def is_removed(self) -> bool:
        """True after ``remove``: its scheduler no longer knows it."""
        return self._owner is None

    @property
    def runs(self) -> int:
        """How often it has run, failures included."""
        return self._record.runs

    @property
    def used_us(self) -> float:
        """Time it has used in all its runs (µs); 0 if nothing measures time."""
        return self._record.used_us

    @property
    def faults(self) -> int:
        """How often it has raised."""
        return self._record.faults
