"""What the engine alone costs of sounds and sights: places read and rays cast in one crossing, and nothing else."""
from __future__ import annotations

import numpy as np

from addons.ai_core.bridge.gd import Node, NodePlaces, PackedInt32Array, RayBatch, gdclass, method


@gdclass
class BenchFloors(Node):
    """Reads places of nodes, and casts rays between them."""

    def __init__(self) -> None:
        self._sensors: list[Node] = []
        self._sources: list[Node] = []

    @method
    def watch(self, sensors: list, sources: list) -> None:
        """Take nodes: who looks, and what is looked at."""
        self._sensors, self._sources = list(sensors), list(sources)
        self._eyes, self._forwards, self._targets = (
            np.zeros((len(some), 3), np.float32) for some in (self._sensors, self._sensors, self._sources))
        self._at_sensors, self._at_sources = NodePlaces(self._sensors), NodePlaces(self._sources)

    @method
    def pairs_in_line(self, manager: Node, count: int) -> PackedInt32Array:
        """Return of as many pairs, those next in line for a ray, the number of each sensor, then of each source."""
        question = manager.core._continuous.next_question(count)
        self._rows = question.sensor_ids, question.source_ids
        return np.concatenate(self._rows)

    @method
    def ignore(self, modality: str, strength: float = -1.0, channel: str = "") -> None:
        """Be called as ``emit`` of a source is, and do nothing."""

    @method
    def read(self) -> None:
        """Read where all sensors are, and where they look."""
        self._at_sensors.read(self._eyes, self._forwards)

    @method
    def cast(self, ray: Node) -> None:
        """Read where all are, and cast a ray for each pair."""
        self.read()
        self._at_sources.read(self._targets)
        eyes, targets = self._rows
        RayBatch(ray).cast(self._eyes[eyes], self._targets[targets], np.zeros(len(eyes), np.uint8))
