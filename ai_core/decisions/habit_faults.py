"""The faults of one character's habits: reported, counted, and left out if they last."""
from __future__ import annotations

from ai_core.decisions.habit_plan import Place
from ai_core.faults import FaultIsolation

__all__ = ["HabitFaults"]


class HabitFaults:
    """Made at the first fault of a tree, so that healthy trees pay nothing.

    Two things are counted for each place: runs that failed in a row, and
    ``can_activate`` that raised in a row.

    Args:
        name: of the character, for reports.
        isolation: counts, reports and decides who is left out.
    """

    def __init__(self, name: str, isolation: FaultIsolation) -> None:
        self._name = name
        self._isolation = isolation
        self._failing: set[tuple[HabitFaults, int, bool]] = set()

    def report(self, place: Place, moment: str, frame: int, error: Exception) -> None:
        """Report that a callback raised.

        Raises:
            Exception: ``error`` itself, if the isolation lets faults through.
        """
        key = (self, place.index, moment == "can_activate")
        self._failing.add(key)
        name = f"{self._name}: {moment} of {place.path}"
        self._isolation.failed(key, name, frame, error)

    def note_success(self, place: Place, *, of_asking: bool) -> None:
        """Note a run, or a question, that went well: failures were not in a row."""
        key = (self, place.index, of_asking)
        if key in self._failing:
            self._failing.discard(key)
            self._isolation.succeeded(key)

    def is_left_out(self, place: Place) -> bool:
        """Return True if the habit at this place failed too often."""
        return any(
            self._isolation.is_quarantined((self, place.index, of_asking))
            for of_asking in (False, True)
        )

    def counts(self) -> list[tuple[int, bool, int, bool]]:
        """Return what failed: index of place, whether in asking, in a row, quarantined."""
        return [
            (index, of_asking, *self._isolation.failures_of((self, index, of_asking)))
            for _, index, of_asking in sorted(self._failing, key=lambda key: key[1:])
        ]

    def put(
        self, index: int, in_a_row: int, *, of_asking: bool, is_quarantined: bool
    ) -> None:
        """Set what ``counts`` returns for one place."""
        key = (self, index, of_asking)
        self._failing.add(key)
        self._isolation.put_failures(key, in_a_row, is_quarantined=is_quarantined)

    def release(self) -> None:
        """Give every habit all its tries again."""
        for key in self._failing:
            self._isolation.forget(key)
        self._failing.clear()
