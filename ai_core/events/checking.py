"""The checking engine: runs checks that detect events, while the events have listeners."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ai_core.clock import Clock, checked_clock
from ai_core.described import Described
from ai_core.errors import check_callable, check_type, shown
from ai_core.events.event import code_tuple, handler_name
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Whole
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["Check", "CheckingEngine", "EventCheck"]

Check = Callable[[tuple[str, ...]], object]
"""Called with the codes that have listeners; sends an event for each condition it detects."""


class EventCheck(Saveable):
    """A check; made by ``CheckingEngine.add``.

    Attributes:
        name: name in reports, saves and the log.
        codes: event codes that it may send.
        runs: runs so far (count).
        skips: runs skipped because its codes had no listener (count).
    """

    SHOWN = ("name", "codes", "runs")

    STATE = DeclaredState(runs=Whole(), skips=Whole())

    def __init__(
        self, name: str, codes: tuple[str, ...], check: Check, events: EventManager | Narrowcast, clock: Clock
    ) -> None:
        self.name = name
        self.codes = codes
        self.runs = 0
        self.skips = 0
        self._check = check
        self._events = events
        self._clock = clock

    def advance(self, _budget: object) -> None:
        """Run the check if one of its codes has a listener. Cost: O(codes), plus the check itself."""
        wanted = tuple([code for code in self.codes if self._events.has_listeners(code)])
        if not wanted:
            self.skips += 1
            return
        self.runs += 1
        if self._events.log is not None:
            self._events.log.note("check", self._clock.now, ", ".join(wanted), self.name)
        self._check(wanted)


class CheckingEngine(Described):
    """Runs checks for an event manager as tasks of a scheduler, which gives them period, phase, budget and isolation.

    Args:
        events: the EventManager or Narrowcast whose listeners decide which checks run.
        scheduler: runs the checks.
        clock: time of the log entries.

    Raises:
        TypeError: if an argument has a wrong type.
    """

    SHOWN = ("checks",)

    def __init__(self, events: EventManager | Narrowcast, scheduler: Scheduler, clock: Clock) -> None:
        if not callable(getattr(events, "has_listeners", None)):
            raise TypeError(f"events must be an EventManager or a Narrowcast, got {shown(events)}")
        check_type("scheduler", scheduler, Scheduler)
        self._events = events
        self._scheduler = scheduler
        self._clock = checked_clock(clock)
        self._checks: dict[EventCheck, Task] = {}

    @property
    def checks(self) -> tuple[EventCheck, ...]:
        """All checks, in the order they were added."""
        return tuple(self._checks)

    def add(self, codes: str | Iterable[str], check: Check, *, name: str | None = None, **task: Any) -> EventCheck:
        """Add a check: ``check(wanted)`` runs while one of the codes has a listener.

        Args:
            codes: the code or codes that the check may send.
            check: called with the codes that have listeners; sends an event to the
                manager for each condition it detects.
            name: name in reports and saves; None takes the name of ``check``.
            task: ``period_frames``, ``phase_frames`` and ``priority``, as for ``Scheduler.add``.

        Raises:
            TypeError: if ``check`` is not callable.
            UnknownNameError: if a code is not declared.
            ValueError: if there is no code, or a number is out of range.
        """
        check_callable("check", check, "it is called with a tuple of codes")
        names = code_tuple(codes)
        if not names:
            raise ValueError("codes must name at least one event code, got none")
        for code in names:
            self._events.has_listeners(code)  # raises for a code that is not declared
        name = handler_name(check) if name is None else name
        made = EventCheck(name, names, check, self._events, self._clock)
        self._checks[made] = self._scheduler.add(made, name=name, **task)
        return made

    def remove(self, check: EventCheck) -> None:
        """Remove a check.

        Raises:
            ValueError: if it does not belong to this engine.
        """
        if check not in self._checks:
            raise ValueError(f"{shown(check)} is not a check of this engine; pass the result of add")
        self._scheduler.remove(self._checks.pop(check))
