"""Sensors that are looked at in every pass."""
from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ActiveSensors"]


class ActiveSensors:
    """Those with something in view, and which of them no row follows.

    Attributes:
        ids: all of them, in any order.
        unfollowed: those that must be visited.
    """

    def __init__(self) -> None:
        self.ids: set[int] = set()
        self._ascending: list[int] | None = None
        self.unfollowed: set[int] = set()

    def __contains__(self, sensor_id: int) -> bool:
        return sensor_id in self.ids

    @property
    def ascending(self) -> list[int]:
        """All of them; not to be written to."""
        if self._ascending is None:
            self._ascending = sorted(self.ids)
        return self._ascending

    def take_ascending(self, sensor_ids: list[int]) -> None:
        """Have this list, which is equal, as that of all of them: the next comparison then ends at once."""
        self._ascending = sensor_ids

    def with_others(self, *others: Iterable[int]) -> list[int]:
        """Return all of them and others, ascending."""
        return sorted(self.ids.union(*others))

    def replace(self, sensor_ids: Iterable[int]) -> None:
        """Have these and no others, none of them followed."""
        self.ids, self._ascending = set(sensor_ids), None
        self.unfollow_all()

    def note(self, sensor_id: int, *, is_busy: bool, is_followed: bool) -> None:
        """Note whether a sensor has something in view, and whether rows follow all of it."""
        if is_busy != (sensor_id in self.ids):
            self._ascending = None
            (self.ids.add if is_busy else self.ids.discard)(sensor_id)
        (self.unfollowed.add if is_busy and not is_followed else self.unfollowed.discard)(sensor_id)

    def unfollow(self, sensor_id: int) -> None:
        """Note that no row follows a sensor any more."""
        if sensor_id in self.ids:
            self.unfollowed.add(sensor_id)

    def unfollow_all(self) -> None:
        """Note that no row follows anything any more."""
        self.unfollowed = set(self.ids)
