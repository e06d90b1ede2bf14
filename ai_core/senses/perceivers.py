"""The minds of all sensors: who has something to take in, and in which order."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.senses.continuous_sensing import ContinuousSensing
from ai_core.senses.modality import ModalitySet
from ai_core.senses.perceiver import Perceiver
from ai_core.senses.sensation import Sensation
from ai_core.senses.showing import NOT_TOLD, Showing, Shown
from ai_core.senses.source_table import SourceTable
from ai_core.trace import Trace

__all__ = ["Perceivers"]

SENSORS_AT_ONCE = 64
"""Sensors for which is fetched together what shows itself (count).

Fewer pay NumPy's calls too often; more waste work when the budget ends soon, or
when a listener moves something.
"""


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
        showing = None
        while self._to_visit:
            if budget.is_spent:
                return False
            budget.spend()
            perceiver = self._all.get(self._to_visit.popleft())
            if perceiver is None:
                continue
            now = self._clock.now
            if showing is None or not showing.is_true_of(perceiver.sensor_id, now.seconds):
                showing = self._showing(perceiver.sensor_id, continuous, now)
            self._look(perceiver, showing.to(perceiver.sensor_id), continuous, now)
        return True

    def _showing(self, sensor_id: int, continuous: ContinuousSensing, now: TimeIndex) -> Showing:
        """Return what shows itself to this sensor and to some that follow."""
        ahead = min(SENSORS_AT_ONCE, len(self._to_visit))
        last = self._to_visit[ahead - 1] if ahead else sensor_id
        return Showing(
            continuous, self._modalities, self._sources, sensor_id, last, now.seconds,
            self._tell_every_s,
        )

    def _look(
        self,
        perceiver: Perceiver,
        shown: Sequence[Shown],
        continuous: ContinuousSensing,
        now: TimeIndex,
    ) -> None:
        told = []
        for source_id, name, intensity, position, _, number, row in shown:
            if row != NOT_TOLD:
                continuous.pairs[number].told_at_s[row] = now.seconds
                told.append(Sensation(perceiver.sensor_id, source_id, name, intensity, position,
                                      now.seconds, now.seconds))
        for sensation in told:
            self._trace_of(sensation, now)
        perceiver.look(shown, told, now)
        self._note_if_busy(perceiver)

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
