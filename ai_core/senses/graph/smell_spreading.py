"""All scents of a world: they spread in steps of game time, and are noticed by who is there."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from ai_core.budget import Budget
from ai_core.senses.graph.sense_graph_by_sense import GraphBySense
from ai_core.senses.graph.sense_graph_lookup import NOWHERE
from ai_core.senses.graph.smell_cloud import ScentCloud, SmellRoom
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sensor_table import SensorTable

__all__ = ["ScentKey", "SmellSpreading"]

ROUNDING_S = 1e-9
"""A step is due this much early (s): sums of frames end a little before a round time."""


class ScentKey(NamedTuple):
    """A scent: the number of its modality, and whose it is."""

    modality: int
    source_id: int


class SmellSpreading:
    """Scents by modality and source.

    Steps have one length, whatever the frame rate; between them nothing changes but what
    is let out. A step of one scent is not interrupted.

    Args:
        modalities: all senses.
        numbers: of those that are smells.
        sensors: who may smell.
        graphs: what they spread in.
        faintest: an intensity below this does not spread, and goes when it fades.
        step_s: length of a step (s).
        tell_every_s: least time between two reports of one scent to one sensor (s).
        begun_s: game time of the first step (s).
    """

    def __init__(
        self,
        modalities: ModalitySet,
        numbers: Collection[int],
        sensors: SensorTable,
        graphs: GraphBySense,
        faintest: float,
        step_s: float,
        tell_every_s: float,
        begun_s: float,
    ) -> None:
        self._modalities = modalities
        self._sensors = sensors
        self._graphs = graphs
        self._step_s = step_s
        self._tell_every_s = tell_every_s
        self.rooms = {
            number: SmellRoom(graphs.graph[number], modalities[number], faintest, step_s)
            for number in numbers
        }
        self.begun_s = begun_s
        self.steps = 0
        self.scents: dict[ScentKey, ScentCloud] = {}
        self.turn: deque[ScentKey] = deque()
        self.to_tell: deque[Sensation] = deque()

    def emit(
        self, source_id: int, affiliation: int, modality: int, strength: float,
        position: Point, now_s: float, tag: str = "",
    ) -> None:
        """Let out so much: the intensity it would have in one cubic metre."""
        region = self._graphs.graph[modality].region_at(position)
        if region == NOWHERE or strength == 0:
            return
        if not self.scents:
            self._skip_to(now_s)  # steps that were not made are not this scent's
        key = ScentKey(modality, source_id)
        if key not in self.scents:
            self.scents[key] = ScentCloud(self.rooms[modality], affiliation)
        self.scents[key].affiliation, self.scents[key].tag = affiliation, tag
        self.scents[key].add(region, strength, position, now_s)

    def advance(
        self, budget: Budget, now_s: float, notice: Callable[[Sensation], None]
    ) -> bool:
        """Make the steps that are due; return False if the budget ended first.

        A step of the budget is one step of one scent, or one sensor that is told.
        """
        while True:
            if not self._tell(budget, notice):
                return False
            if not self.turn:
                if not self._is_due(self.steps + 1, now_s):
                    return True
                if not self.scents:
                    self._skip_to(now_s)
                    return True
                self.turn.extend(sorted(self.scents))
            while self.turn:
                if budget.is_spent:
                    return False
                budget.spend()
                self._step(self.turn.popleft(), now_s)
            self.steps += 1

    def intensity_at(self, number: int, source_id: int, slot: int) -> float:
        """Return how strong the scent of a source is where a sensor is, by its slot; 0 if not at all."""
        scent = self.scents.get(ScentKey(number, source_id))
        region = int(self._graphs.sensor_regions(number)[slot])
        return 0.0 if scent is None or region == NOWHERE else scent.intensity_in(region)

    def _is_due(self, steps: int, now_s: float) -> bool:
        return self.begun_s + steps * self._step_s <= now_s + ROUNDING_S

    def _skip_to(self, now_s: float) -> None:
        """Count the steps in which there was nothing to do."""
        self.steps = max(self.steps, int((now_s + ROUNDING_S - self.begun_s) / self._step_s))

    def _step(self, key: ScentKey, now_s: float) -> None:
        scent = self.scents[key]
        scent.step(self.begun_s + self.steps * self._step_s)
        if not len(scent):
            del self.scents[key]
        elif not self._is_due(self.steps + 2, now_s):
            self._notice(key, scent, now_s)

    def _notice(self, key: ScentKey, scent: ScentCloud, now_s: float) -> None:
        """Note who is to be told of a scent: those that smell it, by id, not too often."""
        sensors = self._sensors
        regions = self._graphs.sensor_regions(key.modality)
        place = np.searchsorted(scent.cloud.region, regions)
        place[place == len(scent)] = 0
        intensity = np.where(scent.cloud.region[place] == regions, scent.intensity[place], 0.0)
        smells = (intensity > 0) & (intensity >= sensors.threshold[:, key.modality])
        smells &= (sensors.detection_mask & scent.affiliation) != 0
        smells &= sensors.self_source != key.source_id
        slots = np.flatnonzero(smells)
        ids = sensors.ids.of_slots(slots).tolist()
        before, scent.told_at_s = scent.told_at_s, {}
        for sensor_id, slot in sorted(zip(ids, slots.tolist(), strict=True)):
            told_at_s = before.get(sensor_id, -np.inf)
            if now_s >= told_at_s + self._tell_every_s:
                told_at_s = now_s
                self.to_tell.append(Sensation(
                    sensor_id, key.source_id, self._modalities[key.modality].name,
                    float(intensity[slot]), scent.comes_from(int(regions[slot])), now_s, now_s,
                    scent.tag,
                ))
            scent.told_at_s[sensor_id] = told_at_s

    def _tell(self, budget: Budget, notice: Callable[[Sensation], None]) -> bool:
        while self.to_tell:
            if budget.is_spent:
                return False
            budget.spend()
            sensation = self.to_tell.popleft()
            if self._sensors.ids.knows(sensation.sensor_id):
                notice(sensation)
        return True
