"""Which sensors of a SenseManager are which sources: nobody senses what it is itself."""
from __future__ import annotations

from typing import Any


class OwnSources:
    """Sensors that wait for their own source, and those that have it; a part of SenseManager."""

    def begin_owning(self) -> None:
        self._without_own: list[Any] = []         # sensors whose own source is not here, or has left
        self._owners: dict[int, list[Any]] = {}   # sensors by the id of their own source

    def await_own_source(self, sensor: Any) -> None:
        """Call ``sensor.find_own_source()`` when more sources have joined."""
        if not any(one is sensor for one in self._without_own):
            self._without_own.append(sensor)

    def note_own_source(self, source_id: int, sensor: Any) -> None:
        """Let a sensor wait for its own source again should that one leave."""
        owners = self._owners.setdefault(source_id, [])
        if not any(one is sensor for one in owners):
            owners.append(sensor)

    def tell_source_joined(self) -> None:
        waiting, self._without_own = self._without_own, []
        for sensor in waiting:
            sensor.find_own_source()

    def tell_source_left(self, source_id: int) -> None:
        for sensor in self._owners.pop(source_id, ()):
            self.await_own_source(sensor)
