"""What is emitted where there is a sense graph: sounds become waves, smells clouds."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ai_core.senses.graph.sense_graph_waves import GraphWaves
from ai_core.senses.graph.smell_spreading import SmellSpreading
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.muffled_lines import Muffle
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ReachNumbers

__all__ = ["GraphSignals"]


NOWHERE_NEAR = (0.0, 0.0, 0.0)
"""Where a smell shows itself: all around."""


class GraphSignals(EmittedSignals):
    """Sends signals by the graph; what touches a sensor goes to it alone, as everywhere."""

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        is_muffled: Callable[[int], bool],
    ) -> None:
        super().__init__(modalities, sensors, sources, muffle, is_muffled)
        self._waves: GraphWaves | None = None
        self._smells: SmellSpreading | None = None

    def go_by(self, waves: GraphWaves, smells: SmellSpreading) -> None:
        """Say where signals go."""
        self._waves, self._smells = waves, smells

    def take(self, signal: Signal) -> None:
        """Begin a wave, or let out a smell. Cost: O(1)."""
        _, source_id, modality, strength, position, now_s, affiliation, tag, channel = signal
        assert self._waves is not None
        assert self._smells is not None
        if modality in self._smells.rooms:
            self._smells.emit(source_id, affiliation, modality, strength, position, now_s, tag)
        else:
            self._waves.emit(
                source_id, affiliation, modality, strength, position, now_s, tag, channel)

    def way(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return how a signal sent now would go, or a smell hangs in the air; None if it does not."""
        assert self._waves is not None
        assert self._smells is not None
        source_id = int(self._sources.ids.of_slots(np.array([target]))[0])
        if number in self._smells.rooms:
            intensity = self._smells.intensity_at(number, source_id, eye)
            return ReachNumbers(None, intensity / strength, NOWHERE_NEAR) if intensity and strength else None
        x, y, z = self._sources.position[target].tolist()
        return self._waves.way(number, eye, (x, y, z), strength)
