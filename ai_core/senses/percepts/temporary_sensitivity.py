"""Temporary changes of sensitivity: deafened by a blast, alert in the dark."""
from __future__ import annotations

from ai_core.errors import finite_number
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable

__all__ = ["TemporarySensitivity"]


class TemporarySensitivity:
    """The times at which changed sensitivities end.

    Args:
        modalities: all senses.

    Attributes:
        until_s: time of the end by sensor and number of the modality (s).
    """

    def __init__(self, modalities: ModalitySet) -> None:
        self._modalities = modalities
        self.until_s: dict[tuple[int, int], float] = {}

    def put(
        self, sensors: SensorTable, sensor_id: int, modality_name: str, sensitivity: float,
        until_s: float | None,
    ) -> None:
        """Change one sense of a sensor; the last change counts.

        Args:
            sensors: the table of the sensor.
            sensor_id: the sensor.
            modality_name: the sense.
            sensitivity: factor on every intensity; 1 is the default, 0 senses nothing.
            until_s: game time of the end (s); None for permanent.
        """
        number = self._modalities.number(modality_name)
        if until_s is not None:
            until_s = finite_number("until_s", until_s)
        sensors.put_sensitivity(sensor_id, number, sensitivity)
        key = (int(sensor_id), number)
        self.until_s.pop(key, None)
        if until_s is not None:
            self.until_s[key] = until_s

    def recover(self, sensors: SensorTable, now_s: float) -> None:
        """Reset the sensitivities whose time has passed.

        Cost: O(temporary sensitivities).
        """
        if not self.until_s:
            return
        for key in [key for key, until_s in self.until_s.items() if until_s <= now_s]:
            del self.until_s[key]
            if sensors.ids.knows(key[0]):
                sensors.put_sensitivity(*key, 1.0)
