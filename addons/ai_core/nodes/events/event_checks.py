"""Checks at an AIEventManager: it is looked whether something happened, if anybody wants to know."""
from __future__ import annotations

from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import GDCallable, RefusedValue, Variant, method, report_warning
from addons.ai_core.nodes.scheduling.scheduled import callable_naming, check_callable
from ai_core.events.checking import Check
from ai_core.events.event_log import EventLog
from ai_core.events.event_registry import EVERY_CODE
from ai_core.events.narrowcast import Group
from ai_core.scheduling.task import Task


class HeardHere:
    """What a check asks before it looks.

    Args:
        manager: the AIEventManager.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @property
    def log(self) -> EventLog | None:
        """Where checks are written down."""
        found: EventLog | None = self._manager.events.narrowcast.log
        return found

    def is_heard(self, code: str) -> bool:
        """Return whether anybody listens to a code there, or at a manager below."""
        return self._manager.is_present and _is_heard_under(self._manager.group, code)


class Scheduled(NamedTuple):
    """A check, as it was asked for, and what runs it."""

    codes: tuple[str, ...]
    task: Task
    scheduler: Any
    times: dict[str, int]


class EventChecks:
    """What an AIEventManager looks for; a part of that class."""

    events: Any
    group: Any
    _wanted: Any

    def begin_checks(self) -> None:
        self._checks: dict[Any, Scheduled] = {}

    def end_checks(self) -> None:
        for handler in [*self._checks]:
            self.uncheck(handler)

    def renew_checks(self) -> None:
        """Go on under another scheduler than before."""
        for look, before in [*self._checks.items()]:
            self.uncheck(look)
            self._begin_check(before.codes, look, before.times)

    @method
    def check(self, codes: Variant, look: GDCallable, period_frames: int = 1, phase_frames: int = -1) -> None:
        """Call ``look(codes)`` every so many frames of AI, but only while somebody listens to one of the codes.

        It is called with an Array of those that are listened to, here or at a manager below, and sends what it
        finds. A phase of -1 chooses the frame where the fewest others run. The same Callable once more takes the
        place of its check before.
        """
        check_callable(look, "check")
        wanted = self._wanted(codes)
        names = (wanted,) if isinstance(wanted, str) else wanted
        if EVERY_CODE in names:
            raise RefusedValue(f"check needs the codes that it may find, got {EVERY_CODE!r}, which is all of them")
        if period_frames < 1 or phase_frames < -1:
            raise RefusedValue(
                f"period_frames must be at least 1 and phase_frames at least -1, got {period_frames}, {phase_frames}")
        self.need_place()
        self.uncheck(look)
        self._begin_check(names, look, {"period_frames": period_frames, "phase_frames": phase_frames})

    @method
    def uncheck(self, look: GDCallable) -> None:
        """Look for it no more; harmless if it was not looked for."""
        found = self._checks.pop(look, None)
        if found is not None and found.scheduler.is_valid():
            found.scheduler.unschedule(found.task)

    def _begin_check(self, codes: tuple[str, ...], look: Any, times: dict[str, int]) -> None:
        scheduler = self.events.scheduler
        naming = callable_naming(scheduler, look, f" looks for {', '.join(codes)}")

        def look_now(wanted: tuple[str, ...]) -> None:
            if isinstance(look, GDCallable) and not look.is_live():
                self.uncheck(look)
                report_warning(f"what {naming()} was freed and looks no more; uncheck() it before")
                return
            look([*wanted])

        check = Check(naming(), codes, look_now, HeardHere(self), scheduler.clock)
        phase = None if times["phase_frames"] < 0 else times["phase_frames"] % times["period_frames"]
        task = scheduler.schedule(check, name=naming, period_frames=times["period_frames"], phase_frames=phase)
        self._checks[look] = Scheduled(codes, task, scheduler, times)


def _is_heard_under(group: Group, code: str) -> bool:
    return bool(group.registry.listeners(code)) or any(_is_heard_under(one, code) for one in group.below)
