"""Time of day: notifies listeners at 17:00, or at dawn.

The day follows the game clock at an adjustable rate. A listener is notified when
its time lies between the last update and this one, once, however many days were
skipped. When time moves back, no listener is notified for the skipped span; times
that lie ahead again will occur again.
"""
from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock
from ai_core.errors import UnknownNameError, finite_number, shown, whole_number
from ai_core.events.event import EVERY_CODE, Handler, Subscription
from ai_core.events.event_manager import EventManager
from ai_core.saving.declared_state import DeclaredState, Part, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import Seconds

__all__ = ["DAY_S", "TimeOfDay"]

DAY_S = 86_400.0
"""Length of a day on its own clock, whatever game time it takes (s)."""

TOLERANCE_S = 1e-6
"""Tolerance at which a time counts as reached (seconds of the day); sums of frame times err by less."""

LATEST_DAY = 1_000_000
"""Last day (count); a float still resolves its microseconds."""

TIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


class TimeOfDay(Saveable):
    """A clock of the day, and its listeners.

    Args:
        clock: the game clock.
        day_length_s: game time that a whole day takes (s), above 0.
        starts_at: the present time of day: "08:00".
        names: named times, such as ``{"dawn": "06:00"}``.
        events: settings of its EventManager: faults, trace, values.
    """

    SHOWN = ("day", "time_s")

    STATE = DeclaredState(
        since_s=Seconds(at="_since_s"), began_s=Seconds(0, at="_began_s"), updated_s=Seconds(0, at="_updated_s"),
        day_length_s=Seconds(1e-3, at="_day_length_s"), events=Part())

    def __init__(
        self, clock: Clock, *, day_length_s: float, starts_at: str = "00:00",
        names: Mapping[str, str] | None = None, **events: Any,
    ) -> None:
        self.events = EventManager(clock, **events)
        self._clock = clock
        for name in names or {}:
            if not isinstance(name, str) or not name or name == EVERY_CODE or name[0].isdigit():
                raise ValueError(
                    f"the name of a time must be a non-empty string that is not {EVERY_CODE!r} and does not begin"
                    f" with a digit, got {shown(name)}")
        self._names = {name: seconds_of(time) for name, time in (names or {}).items()}
        self._day_length_s = _length(day_length_s)
        self._since_s = clock.now.seconds
        self._began_s = self._updated_s = seconds_of(starts_at)
        self._next_s = math.inf

    @property
    def day(self) -> int:
        """Midnights since the start (count)."""
        return int((self._elapsed_s() + TOLERANCE_S) // DAY_S)

    @property
    def time_s(self) -> float:
        """Seconds since midnight on the clock of the day (s); at least 0, below DAY_S."""
        return max(0.0, self._elapsed_s() - self.day * DAY_S)

    @property
    def day_length_s(self) -> float:
        """Game time that a whole day takes (s); set it to change the speed of the day."""
        return self._day_length_s

    @day_length_s.setter
    def day_length_s(self, day_length_s: float) -> None:
        length_s = _length(day_length_s)
        self._begin_at(self._elapsed_s())
        self._day_length_s = length_s

    def listen(
        self, time: str, handler: Handler, *, every_day: bool = False, name: str | None = None,
        priority: int = 0, weak: bool = False,
    ) -> Subscription:
        """Call ``handler(event)`` when the day next reaches a time, later than the present.

        ``event.arguments`` are the day on which the time was last reached, and how
        often it was reached since the last update: more than once when days were
        skipped.

        Args:
            time: "17:00", "17:00:30" or a name.
            handler: called with the event.
            every_day: notify on every day until stopped; otherwise once.
            name: name in reports and saves; None takes the name of the handler.
            priority: listeners of higher priority are called first.
            weak: as for ``EventManager.listen``.

        Raises:
            ValueError: if ``time`` is not a time of day.
            UnknownNameError: if ``time`` is an unknown name.

        Cost: O(1).
        """
        code = self._code_of(time)
        self.update()  # a new listener is not notified of a time that has just passed
        listening = self.events.listen(
            code, handler, name=name, priority=priority, once=not every_day, weak=weak)
        self._next_s = min(self._next_s, self._coming_s(code, self._updated_s))
        return listening

    def listen_again(self, listening: Subscription) -> bool:
        """Register a listener again after its notification; return False if it is still waiting."""
        self.update()
        if not self.events.listen_again(listening):
            return False
        self._next_s = min(self._next_s, self._coming_s(listening.codes[0], self._updated_s))
        return True

    def jump_to(self, time: str, *, day: int | None = None) -> None:
        """Set the time of day; for a jump forward, listeners in between are notified once.

        Args:
            time: "17:00" or a name.
            day: 0 or more; None for the present day.

        Raises:
            ValueError: if ``time`` is not a time of day, or ``day`` is negative.
        """
        time_s = self._seconds(self._code_of(time))
        if day is None:
            day = self.day
        else:
            whole_number("day", day, minimum=0, maximum=LATEST_DAY, remedy="days count from 0")
        self.update()
        self._begin_at(day * DAY_S + time_s)
        self.update()

    def update(self) -> None:
        """Queue events for the times between the last update and now, without notifying; also inside a handler."""
        before_s, now_s = self._updated_s, self._elapsed_s() + TOLERANCE_S
        if now_s < before_s - TOLERANCE_S:
            self._updated_s = now_s
            self._next_s = self._earliest_s()
        elif now_s > before_s:
            self._updated_s = now_s
            if now_s >= self._next_s:
                self._queue_between(before_s, now_s)
                self._next_s = self._earliest_s()

    def advance(self, budget: Budget) -> None:
        """Notify the listeners of the times that were reached. Cost: O(1) while none was."""
        check_budget(budget)
        self.update()
        self.events.advance(budget)

    def _finish_load(self) -> None:
        self._next_s = self._earliest_s()

    def __str__(self) -> str:
        minutes = int((self.time_s + TOLERANCE_S) // 60)
        return f"{minutes // 60 % 24:02}:{minutes % 60:02}"

    def _elapsed_s(self) -> float:
        passed_s = self._clock.now.seconds - self._since_s
        return max(0.0, self._began_s + passed_s * (DAY_S / self._day_length_s))

    def _begin_at(self, moment_s: float) -> None:
        self._since_s, self._began_s = self._clock.now.seconds, moment_s

    def _queue_between(self, before_s: float, now_s: float) -> None:
        passed = []
        for code in self.events.codes:
            first_s = self._coming_s(code, before_s)
            if first_s <= now_s:
                times = int((now_s - first_s) // DAY_S) + 1
                passed.append((first_s + (times - 1) * DAY_S, code, times))
        for moment_s, code, times in sorted(passed):
            self.events.begin(code, int(moment_s // DAY_S), times)

    def _coming_s(self, code: str, after_s: float) -> float:
        """Return the first occurrence of a time later than ``after_s`` (s)."""
        time_s = self._seconds(code)
        return time_s + DAY_S * (math.floor((after_s - time_s) / DAY_S) + 1)

    def _earliest_s(self) -> float:
        return min((self._coming_s(code, self._updated_s) for code in self.events.codes), default=math.inf)

    def _seconds(self, code: str) -> float:
        return self._names[code] if code in self._names else seconds_of(code)

    def _code_of(self, time: object) -> str:
        if isinstance(time, str) and time in self._names:
            return time
        if isinstance(time, str) and not time[:1].isdigit():
            raise UnknownNameError("time of day", time, self._names)
        hours, rest = divmod(int(seconds_of(time)), 3600)
        return f"{hours:02}:{rest // 60:02}" + (f":{rest % 60:02}" if rest % 60 else "")


def seconds_of(time: object) -> float:
    """Return the seconds since midnight of "17:00" or "17:00:30".

    >>> seconds_of("17:00")
    61200.0
    """
    if not isinstance(time, str):
        raise TypeError(f"a time of day must be a string like '17:00', got {shown(time)}")
    found = TIME.fullmatch(time)
    hours, minutes, seconds = (int(one or 0) for one in found.groups()) if found else (24, 0, 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"a time of day must be from '00:00' to '23:59:59', got {shown(time)}")
    return float(hours * 3600 + minutes * 60 + seconds)


def _length(day_length_s: float) -> float:
    return finite_number(
        "day_length_s", day_length_s, minimum=1e-3, maximum=LATEST_S,
        remedy="give the game time of a whole day in seconds")
