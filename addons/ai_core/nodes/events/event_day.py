"""Time of day at an AIEventManager: who waits for 17:00, or for dawn, is told."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import GDCallable, RefusedValue, SharedCall, export, method, report_error
from addons.ai_core.nodes.events.event_terms import refusing
from addons.ai_core.nodes.events.scene_listening import manager_above
from addons.ai_core.nodes.scheduling.scheduled import callable_name, callable_naming, check_callable
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_registry import Listening
from ai_core.events.time_of_day import TimeOfDay


class Waiting(NamedTuple):
    """Who waits for a time."""

    listening: Listening
    every_day: bool
    naming: Callable[[], str]


class EventDay:
    """The clock on the wall of an AIEventManager; a part of that class."""

    events: Any
    group: Any
    _group: Any

    day_length_s = export(
        float, 0.0, range=(0, 86400, 0.1), or_greater=True, unit="s", group="Time of Day", on_set="_day_changed",
        doc="Game time that a whole day takes; 0 takes the day of the manager above.")
    day_starts_at = export(str, "08:00", on_set="_day_settings_set", doc="What the clock shows when the game begins.")
    named_times = export(
        dict, {}, on_set="_day_settings_set", doc='Moments with names, such as {"dawn": "06:00"}, for at_time().')

    def begin_day(self) -> None:
        self._day: TimeOfDay | None = None
        self._waiting: dict[tuple[str, Any], Waiting] = {}
        self._tidy_at = 64

    def end_day(self) -> None:
        for one in self._waiting.values():
            one.listening.stop()
        self._waiting.clear()
        self._day = None

    def renew_day(self) -> None:
        """Go on under another scheduler, whose clock is another, at the time it was."""
        before, self._day = self._day, None
        if before is None:
            return
        waiting = {
            (time, handler): one for (time, handler), one in self._waiting.items()
            if one.listening.is_active and (not isinstance(handler, GDCallable) or handler.is_live())}
        self.end_day()
        seconds = int(before.time_s)
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        self.day.jump_to(time, day=before.day)      # tells nobody: none waits yet
        for (time, handler), one in waiting.items():
            try:
                self._wait(time, handler, one.every_day)
            except (RefusedValue, LookupError) as problem:      # the others wait on
                report_error(f"{callable_name(self.events.scheduler, handler)} waits no more: {problem}", self)

    @property
    def day(self) -> TimeOfDay | None:
        """The day of this manager itself, if it has one."""
        if self._day is None and self.day_length_s > 0 and self._group is not None:
            scheduler = self.events.scheduler
            self._day = self._made_day(
                scheduler.clock, faults=scheduler.faults, trace=scheduler.trace, values=scheduler.values)
        return self._day

    def day_warnings(self) -> list[str]:
        """Return what is wrong with the settings of its day."""
        try:
            self._made_day(ManualClock())
        except RefusedValue as error:
            return [str(error)]
        return []

    @method
    def at_time(self, time: str, handler: GDCallable, every_day: bool = False) -> None:
        """Call ``handler(time, [day, times])`` when the day next reaches "17:00", or a named time.

        ``times`` is more than one if days were skipped.
        """
        check_callable(handler, "at_time")
        keeper = self._with_day()
        waiting = keeper._waiting
        known = waiting.get((time, handler))
        if known is not None and not every_day and keeper.day.listen_again(known.listening):
            return
        self.not_at_time(time, handler)
        keeper._wait(time, handler, every_day)
        keeper.forget_told()

    @method
    def not_at_time(self, time: str, handler: GDCallable) -> None:
        """Wait for a time no longer; harmless if it did not."""
        waiting = self._with_day()._waiting.pop((time, handler), None)
        if waiting is not None:
            waiting.listening.stop()

    @method
    def jump_to_time(self, time: str, day: int = -1) -> None:
        """Let it be another time; forwards, what lies between is told in the next frame of AI. Day -1 is today."""
        with refusing():
            self._with_day().day.jump_to(time, day=None if day == -1 else day)

    @method
    def get_time_of_day(self) -> str:
        """Return what the clock shows, such as "17:00"."""
        return str(self._with_day().day)

    @method
    def get_day(self) -> int:
        """Return how many midnights have passed."""
        return self._with_day().day.day

    def name_waiting_anew(self) -> None:
        """Call who waits after its node, which may have been renamed."""
        for one in self._waiting.values():
            one.listening.rename(one.naming())

    def forget_told(self) -> None:
        """Let go of handlers that were told, and that no save can bring back; O(1) on average."""
        if len(self._waiting) < self._tidy_at:
            return
        for key in [key for key, one in self._waiting.items() if self.day.events.is_over(one.listening)]:
            del self._waiting[key]
        self._tidy_at = max(64, 2 * len(self._waiting))

    def _wait(self, time: str, handler: Any, every_day: bool) -> None:
        waiting = self._waiting

        def gone(_event: Any) -> None:
            waiting.pop((time, handler), Waiting(listening, every_day, naming)).listening.stop()

        call = SharedCall(handler, gone) if isinstance(handler, GDCallable) else (
            lambda event: handler(event.code, list(event.arguments)))
        naming = callable_naming(self.events.scheduler, handler)
        with refusing():
            listening = self.day.listen(time, call, every_day=every_day, name=naming())
        waiting[time, handler] = Waiting(listening, every_day, naming)

    def _with_day(self) -> Any:
        self.need_place()
        found: Any = self
        while found is not None and found.day is None:
            found = manager_above(found)
        if found is None:
            raise RefusedValue("there is no time of day; set day_length_s of this manager or one above")
        found.day.advance(Budget.of_steps(0))    # looks at the clock, tells nothing
        return found

    def _made_day(self, clock: Any, **events: Any) -> TimeOfDay:
        with refusing():
            return TimeOfDay(
                clock, day_length_s=self.day_length_s or 1.0, starts_at=self.day_starts_at,
                names=dict(self.named_times), **events)

    def _day_changed(self) -> None:
        self._made_day(ManualClock())    # or else it is refused now, not when events are to be told
        if self._day is not None:
            if self.day_length_s <= 0:
                raise RefusedValue("day_length_s cannot become 0 once the day has begun; it must be above 0")
            self._day.day_length_s = self.day_length_s

    def _day_settings_set(self) -> None:
        if self._day is not None:
            raise RefusedValue("day_starts_at and named_times cannot change once the day has begun; use jump_to_time()")
        self._made_day(ManualClock())
