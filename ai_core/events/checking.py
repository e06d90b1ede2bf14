"""The checking engine: looks whether something happened, if anybody wants to know.

Checks are tasks of a scheduler, which gives them period, phase, budget and
isolation of faults. A check is run only while somebody listens to one of its
codes, and is told which of them.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ai_core.clock import Clock, checked_clock
from ai_core.errors import shown
from ai_core.events.event_log import EventLog
from ai_core.events.event_registry import code_tuple, handler_name
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["CheckingEngine", "EventCheck", "ListenerQuery", "Look"]

Look = Callable[[tuple[str, ...]], object]
"""Called with those of the codes that somebody listens to; sends what it finds."""


class ListenerQuery(Protocol):
    """What a check asks before it looks: an EventManager or a Narrowcast."""

    @property
    def log(self) -> EventLog | None:
        """Where checks are written down."""
        ...

    def has_listeners(self, code: str) -> bool:
        """Return whether anybody listens to a code."""
        ...


class EventCheck:
    """One check; made by ``CheckingEngine.add``.

    Attributes:
        name: for reports, saves and the log.
        codes: what it may find.
        looks: how often it looked.
        rests: how often its turn came and nobody listened.
    """

    def __init__(self, name: str, codes: tuple[str, ...], look: Look, heard: ListenerQuery, clock: Clock) -> None:
        self.name = name
        self.codes = codes
        self.looks = 0
        self.rests = 0
        self._look = look
        self._heard = heard
        self._clock = clock

    def advance(self, _budget: object) -> None:
        """Look, if anybody listens. Cost: O(codes) besides the look itself."""
        wanted = tuple([code for code in self.codes if self._heard.has_listeners(code)])
        if not wanted:
            self.rests += 1
            return
        self.looks += 1
        if self._heard.log is not None:
            self._heard.log.note("check", self._clock.now, ", ".join(wanted), self.name)
        self._look(wanted)

    def save_state(self) -> State:
        """Return the counts; saved with the task."""
        return {"version": 1, "looks": self.looks, "rests": self.rests}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check saved counts; return what sets them."""
        fields = Fields.versioned(state, version=1)
        looks, rests = fields.whole("looks"), fields.whole("rests")
        fields.end()

        def change() -> None:
            self.looks, self.rests = looks, rests

        return change


class CheckingEngine:
    """Runs checks for an event manager as tasks of a scheduler.

    Args:
        heard: whose listeners decide what is looked for.
        scheduler: when the checks run, and for how long.
        clock: dates the entries of the log.

    Raises:
        TypeError: if one is not what it must be.
    """

    def __init__(self, heard: ListenerQuery, scheduler: Scheduler, clock: Clock) -> None:
        if not callable(getattr(heard, "has_listeners", None)):
            raise TypeError(f"heard must be an EventManager or a Narrowcast, got {shown(heard)}")
        if not isinstance(scheduler, Scheduler):
            raise TypeError(f"scheduler must be a Scheduler, got {shown(scheduler)}")
        self._heard = heard
        self._scheduler = scheduler
        self._clock = checked_clock(clock)
        self._checks: dict[EventCheck, Task] = {}

    @property
    def checks(self) -> tuple[EventCheck, ...]:
        """All checks, in the order they were added."""
        return tuple(self._checks)

    def add(
        self, codes: str | Iterable[str], look: Look, *, name: str | None = None, **task: Any
    ) -> EventCheck:
        """Let ``look(wanted)`` run whenever somebody listens to one of the codes.

        Args:
            codes: what it may find, one code or several.
            look: sends what it finds to the manager; it is told for which
                codes there are listeners.
            name: for reports and saves; None takes the name of ``look``.
            task: ``period_frames``, ``phase_frames`` and ``priority``, as ``Scheduler.add``
                takes them.

        Raises:
            TypeError: if ``look`` cannot be called.
            UnknownNameError: if a code is not one of those declared.
            ValueError: if there is no code, or a number is out of range.
        """
        if not callable(look):
            raise TypeError(f"look must be callable with codes, got {shown(look)}")
        names = code_tuple(codes)
        if not names:
            raise ValueError("codes must name at least one event code, got none")
        for code in names:
            self._heard.has_listeners(code)  # which refuses one that is not declared
        name = handler_name(look) if name is None else name
        check = EventCheck(name, names, look, self._heard, self._clock)
        self._checks[check] = self._scheduler.add(check, name=name, **task)
        return check

    def remove(self, check: EventCheck) -> None:
        """Look for it no more.

        Raises:
            ValueError: if it is none of these checks.
        """
        if check not in self._checks:
            raise ValueError(f"{shown(check)} is no check of this engine; remove what add returned")
        self._scheduler.remove(self._checks.pop(check))
