"""What is emitted where there is a sense graph: sounds become waves, smells clouds."""
from __future__ import annotations

from collections.abc import Sequence

from ai_core.senses.emitted_signals import EmittedSignals
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sense_graph_waves import GraphWaves
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.signal_queue import Signal
from ai_core.senses.smell_spreading import SmellSpreading

__all__ = ["GraphSignals"]


class GraphSignals(EmittedSignals):
    """Sends signals by the graph; what touches a sensor goes to it alone, as everywhere."""

    def __init__(self, modalities: ModalitySet, sensors: SensorTable) -> None:
        super().__init__(modalities, sensors, _nothing_between)
        self._waves: GraphWaves | None = None
        self._smells: SmellSpreading | None = None

    def go_by(self, waves: GraphWaves, smells: SmellSpreading) -> None:
        """Say where signals go."""
        self._waves, self._smells = waves, smells

    def emit(
        self,
        source_id: int,
        affiliation: int,
        modality: int,
        strength: float,
        position: Point,
        now_s: float,
        tag: str = "",
        channel: str = "",
    ) -> None:
        """Begin a wave, or let out a smell. Cost: O(1)."""
        assert self._waves is not None
        assert self._smells is not None
        if modality in self._smells.rooms:
            self._smells.emit(source_id, affiliation, modality, strength, position, now_s, tag)
        else:
            self._waves.emit(
                source_id, affiliation, modality, strength, position, now_s, tag, channel)


def _nothing_between(
    signals: Sequence[Signal], centres: Sequence[Point], sensor_ids: Sequence[int]
) -> list[float]:
    return [1.0] * len(signals)
