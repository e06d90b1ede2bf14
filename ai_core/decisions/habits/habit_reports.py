"""Traces of habits that begin, and reports of exceptions."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ai_core.clock import Clock, TimeIndex
from ai_core.decisions.callback_faults import CallbackFaults
from ai_core.decisions.habits.habit_ticking import HabitTicking
from ai_core.faults import FaultIsolation

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_context import HabitContext
    from ai_core.decisions.habits.habit_plan import CompiledHabit

__all__ = ["HabitReporting"]


class HabitReporting(HabitTicking):
    """Base class of ``HabitTree`` that sends traces and fault reports."""

    __slots__ = ("_clock", "_isolation", "name")

    name: str
    _clock: Clock | None
    _isolation: FaultIsolation | None

    @property
    def clock(self) -> Clock | None:
        """What tells traces and reports the time, or None."""
        return self._clock

    def _now(self) -> TimeIndex:
        if self._moment is not None:
            return self._moment
        return TimeIndex(self._frame, self._now_s) if self._clock is None else self._clock.now

    def _tell_trace(self, run: HabitContext) -> None:
        assert self._trace is not None
        for hook in self._trace.state_entered:
            try:
                hook(self.name, run.place.path, run.reason, self._now())
            except Exception as error:  # raised when the tree is whole again
                self._keep(error)

    def _report(self, place: CompiledHabit, moment: str, error: Exception) -> None:
        said = f"{moment} of {place.path}"
        name = said if moment == "can_activate" else place.path
        try:
            self._callback_faults().report(name, self._now().frame, error, says=said)
        except Exception as raised:  # asked to come through: when the tree is whole again
            self._keep(raised)

    def _callback_faults(self) -> CallbackFaults:
        if self._faults is None:
            self._faults = CallbackFaults(self.name, self._isolation or FaultIsolation())
        return self._faults

    def _is_left_out(self, place: CompiledHabit) -> bool:
        faults = self._callback_faults()
        return faults.is_left_out(place.path) or faults.is_left_out(f"can_activate of {place.path}")

    def _note_success(self, place: CompiledHabit, *, of_asking: bool) -> None:
        self._callback_faults().note_success(f"can_activate of {place.path}" if of_asking else place.path)

    def _keep(self, error: Exception) -> None:
        self._kept_errors = [*(self._kept_errors or ()), error]

    def _raise_kept_errors(self) -> None:
        if self._kept_errors is not None:
            first, self._kept_errors = self._kept_errors[0], None
            raise first
