"""Emits the signal ``sensed`` of all sensors that are told something together."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from addons.ai_core.bridge.gd import emit_each, listening_among
from ai_core.senses.audience import Told

SENSED = "sensed"


class SenseTelling:
    """The audience of a SenseManager's library: the sensors' own signals.

    Args:
        manager: the node.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def listening(self, sensor_ids: Sequence[int]) -> list[bool]:
        """Return of each of these sensors whether anything is connected."""
        found: list[bool] = listening_among(SENSED, list(map(self._manager.sensor_node, sensor_ids)))
        return found

    def tell(self, told: Told) -> None:
        """Let all of them emit, in order; nobody after one who ends the scene.

        Cost: one crossing, and one more after each who calls Python; 0.2 µs a sensor to which nobody listens.
        """
        manager, first, (sensor_ids, which, intensities, what) = self._manager, 0, told
        count = len(sensor_ids)
        while first < count and manager.is_sensing:
            first = emit_each(
                SENSED, list(map(manager.sensor_node, sensor_ids)), manager.rows_of(what), which, intensities, first)
