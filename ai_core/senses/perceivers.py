"""The minds of all sensors: who has something to take in, and in which order."""
from __future__ import annotations

from collections import deque

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.senses.continuous_sensing import ContinuousSensing
from ai_core.senses.modality import ModalitySet
from ai_core.senses.pairs_in_view import PairsInView, ids_of
from ai_core.senses.perceiver import Perceiver
from ai_core.senses.sensation import Sensation
from ai_core.senses.source_table import SourceTable
from ai_core.trace import Trace

__all__ = ["Perceivers"]


class Perceivers:
    """One ``Perceiver`` per sensor; only those with something to do are visited.

    Args:
        clock: game time.
        modalities: all senses.
        sources: where what is sensed is now.
        trace: told every sensation that a sensor is told.
        tell_every_s: time between two reports of what stays in view (s).
    """

    def __init__(
        self,
        clock: Clock,
        modalities: ModalitySet,
        sources: SourceTable,
        trace: Trace,
        tell_every_s: float,
    ) -> None:
        self._clock = clock
        self._modalities = modalities
        self._sources = sources
        self._trace = trace
        self._tell_every_s = tell_every_s
        self._all: dict[int, Perceiver] = {}
        self._busy: set[int] = set()
        self._to_visit: deque[int] = deque()

    def __getitem__(self, sensor_id: int) -> Perceiver:
        return self._all[sensor_id]

    def add(self, perceiver: Perceiver) -> None:
        """Take in a new sensor's mind."""
        self._all[perceiver.sensor_id] = perceiver

    def remove(self, sensor_id: int) -> None:
        """Let a sensor's mind go."""
        self._all.pop(sensor_id).retire()
        self._busy.discard(sensor_id)

    def notice(self, sensation: Sensation) -> None:
        """Give a signal that arrived to its sensor."""
        now = self._clock.now
        perceiver = self._all[sensation.sensor_id]
        self._trace_of(sensation, now)
        perceiver.notice(sensation, now)
        self._note_if_busy(perceiver)

    def remember(self, budget: Budget, continuous: ContinuousSensing) -> bool:
        """Give all that shows itself to sensors, by ascending id, and let time pass.

        Returns False if the budget ended first. A step is one sensor.

        Cost: O(sensors that sense or remember something).
        """
        if not self._to_visit:
            self._to_visit.extend(sorted(self._busy | continuous.sensing_ids()))
        while self._to_visit:
            if budget.is_spent:
                return False
            budget.spend()
            perceiver = self._all.get(self._to_visit.popleft())
            if perceiver is not None:
                self._look(perceiver, continuous)
        return True

    def _look(self, perceiver: Perceiver, continuous: ContinuousSensing) -> None:
        now = self._clock.now
        sensations = []
        for number, pairs in continuous.pairs.items():
            is_seen = self._modalities[number].needs_line_of_sight
            for sensation, is_told in self._sensed(perceiver.sensor_id, number, pairs, now):
                if is_told:
                    self._trace_of(sensation, now)
                sensations.append((sensation, is_seen, is_told))
        perceiver.look(sensations, now)
        self._note_if_busy(perceiver)

    def _sensed(
        self, sensor_id: int, number: int, pairs: PairsInView, now: TimeIndex
    ) -> list[tuple[Sensation, bool]]:
        """Return what one sensor senses by one sense, each with whether to tell it."""
        rows = pairs.sensed_by(sensor_id)
        _, source_ids = ids_of(pairs.keys[rows])
        is_there = self._sources.ids.are_known(source_ids)
        rows, source_ids = rows[is_there], source_ids[is_there]
        is_told = now.seconds >= pairs.told_at_s[rows] + self._tell_every_s
        pairs.told_at_s[rows[is_told]] = now.seconds
        places = self._sources.position[self._sources.ids.slots(source_ids)]
        name = self._modalities[number].name
        return [
            (Sensation(sensor_id, source_id, name, intensity, (x, y, z),
                       now.seconds, now.seconds), told)
            for source_id, intensity, (x, y, z), told in zip(
                source_ids.tolist(), pairs.intensity[rows].tolist(),
                places.tolist(), is_told.tolist(), strict=True,
            )
        ]

    def _trace_of(self, sensation: Sensation, now: TimeIndex) -> None:
        for hook in self._trace.sensed:
            hook(sensation.sensor_id, sensation.source_id, sensation.modality,
                 sensation.intensity, now)

    def _note_if_busy(self, perceiver: Perceiver) -> None:
        is_here = self._all.get(perceiver.sensor_id) is perceiver
        if is_here and perceiver.is_busy:
            self._busy.add(perceiver.sensor_id)
        else:
            self._busy.discard(perceiver.sensor_id)
