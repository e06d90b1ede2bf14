"""Leaving scent trails and smelling them, for all sources and sensors of a sense manager."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import shown
from ai_core.saving.fields import Fields, State
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.perceivers import PerceptionSystem
from ai_core.senses.scent.scent_trail import ScentMark, ScentTrails
from ai_core.senses.sensation import Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable

__all__ = ["TrailSmelling"]

WayOfScents = Callable[[int, int, NDArray[np.float32]], NDArray[np.float64]]
"""Says how far a modality goes to a sensor, by its slot, from places (n, 3); ``inf`` for no way (m)."""


class TrailSmelling:
    """Lets sources leave marks, and sensors smell them, now and then.

    Args:
        trails: the marks.
        modalities: all senses.
        sensors: who smells: those with a threshold in the trails' modality.
        sources: who leaves marks: those with a strength in it.
        perceivers: told what is smelled.
    """

    def __init__(
        self,
        trails: ScentTrails,
        modalities: ModalitySet,
        sensors: SensorTable,
        sources: SourceTable,
        perceivers: PerceptionSystem,
    ) -> None:
        self.trails = trails
        self._modalities = modalities
        self._number = modalities.number(trails.modality_name)
        if modalities[self._number].is_continuous:
            raise ValueError(
                f"scent_trails must use an emitted modality, got the continuous {shown(trails.modality_name)}"
            )
        self._sensors = sensors
        self._sources = sources
        self._perceivers = perceivers
        self._marked_s = -np.inf
        self._sniffed_s = -np.inf
        self._to_smell: deque[int] = deque()
        self._way_m: WayOfScents | None = None

    def go_by(self, way_m: WayOfScents) -> None:
        """Say how far smells go from places to sensors, where they do not go straight on."""
        self._way_m = way_m

    def advance(self, budget: Budget, now_s: float) -> bool:
        """Leave marks, and let sensors smell; return False if the budget ended first.

        A step is one sensor that smells, or all sources leaving marks.

        Cost: O(sources that smell), and O(marks) in NumPy for each sensor.
        """
        if not self._to_smell:
            is_due = now_s >= self._marked_s + self.trails.mark_every_s
            if is_due and budget.is_spent:
                return False
            if is_due:
                budget.spend()
                self._marked_s = now_s
                self._leave(now_s)
            self._call_noses(now_s)
        while self._to_smell:
            if budget.is_spent:
                return False
            budget.spend()
            sensor_id = self._to_smell.popleft()
            if self._sensors.ids.knows(sensor_id):
                self._sniff(sensor_id, now_s)
        return True

    def track(self, slot: int, scent: int | None, now_s: float) -> ScentMark | None:
        """Return the newest mark that a sensor smells; ties go to the smallest scent."""
        marks = self._smelled(slot, scent, now_s)
        return max(marks, key=lambda mark: (mark.left_at_s, -mark.scent), default=None)

    def save_state(self) -> State:
        """Return marks and turns as plain data."""
        return {
            "trails": self.trails.save_state(),
            "marked_s": None if self._marked_s == -np.inf else self._marked_s,
            "sniffed_s": None if self._sniffed_s == -np.inf else self._sniffed_s,
            "to_smell": list(self._to_smell),
        }

    def prepare_state(self, fields: Fields, latest_s: float) -> Callable[[], None]:
        """Check what was saved; return what loads it."""
        change_trails = self.trails.prepare_state(fields.anything("trails"))
        marked_s = fields.number_or("marked_s", -np.inf, maximum=latest_s)
        sniffed_s = fields.number_or("sniffed_s", -np.inf, maximum=latest_s)
        to_smell = fields.wholes("to_smell", maximum=LARGEST_ID)
        fields.end()

        def change() -> None:
            change_trails()
            self._marked_s, self._sniffed_s, self._to_smell = marked_s, sniffed_s, deque(to_smell)

        return change

    def _call_noses(self, now_s: float) -> None:
        """Give every sensor with a nose a turn, if it is time."""
        if now_s >= self._sniffed_s + self.trails.sniff_every_s:
            self._sniffed_s = now_s
            ids = self._sensors.ids.ids
            slots = self._sensors.ids.slots_of_known(ids)
            self._to_smell.extend(ids[np.isfinite(self._sensors.threshold[slots, self._number])].tolist())

    def _leave(self, now_s: float) -> None:
        ids = self._sources.ids.ids
        slots = self._sources.ids.slots_of_known(ids)
        strength = self._sources.strength[slots, self._number]
        for row in np.flatnonzero(strength > 0).tolist():
            place = self._sources.position[slots[row]]
            self.trails.leave(int(ids[row]), place, float(strength[row]), now_s)

    def _smelled(self, slot: int, scent: int | None, now_s: float) -> list[ScentMark]:
        sensors, way_m = self._sensors, self._way_m
        if not np.isfinite(sensors.threshold[slot, self._number]):
            return []
        return self.trails.smelled(
            sensors.position[slot], float(sensors.threshold[slot, self._number]),
            self._modalities[self._number].kept_per_m, now_s,
            scent=scent, but_not=int(sensors.self_source[slot]),
            distances_m=None if way_m is None else lambda places: way_m(self._number, slot, places),
        )

    def _sniff(self, sensor_id: int, now_s: float) -> None:
        slot = self._sensors.ids.slot(sensor_id)
        detection_mask = int(self._sensors.detection_mask[slot])
        for mark in self._smelled(slot, None, now_s):
            if self._sources.ids.knows(mark.scent):
                source = self._sources.ids.slot(mark.scent)
                if not detection_mask & int(self._sources.affiliation[source]):
                    continue
            self._perceivers.notice(Sensation(
                sensor_id=sensor_id, source_id=mark.scent, modality=self.trails.modality_name,
                intensity=mark.intensity, position=mark.position, sent_at=mark.left_at_s, at=now_s,
                tag="trail",
            ))
            if not self._sensors.ids.knows(sensor_id):
                return  # a listener removed it
