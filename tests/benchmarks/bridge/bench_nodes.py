"""The Python side of the bridge's benchmark; the GDScript side is bridge_benchmark.gd."""
from __future__ import annotations

import time

import numpy as np

from addons.ai_core.bridge.gd import (
    Node,
    Node3D,
    PackedVector3Array,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.sight_rays import SightRays


@gdclass
class BenchNode(Node3D):
    """Does what its GDScript twin does."""

    rang = signal(("a", int), ("b", float))

    def __init__(self) -> None:
        self.count = 0

    @method
    def add(self, a: float, b: float) -> float:
        return a + b

    def on_rang(self, a: int, b: float) -> None:
        self.count += 1

    @method
    def listen_to(self, emitter: Node, name: str) -> None:
        emitter.connect(name, self.on_rang)


@gdclass
class BenchProcessNode(Node):
    """Counts frames."""

    def __init__(self) -> None:
        self.frames = 0

    def _process(self, delta: float) -> None:
        self.frames += 1


@gdclass
class BenchRays(Node3D):
    """Casts many rays in one crossing."""

    def __init__(self) -> None:
        self._rays: SightRays | None = None

    @method
    def cast(self, origins: PackedVector3Array, targets: PackedVector3Array) -> int:
        if self._rays is None:
            self._rays = SightRays(self, 1)
        return int(np.count_nonzero(self._rays.blocked(origins, targets)))

    @method
    def cast_us(self, origins: PackedVector3Array, targets: PackedVector3Array) -> float:
        """Time of one batch measured in Python, arrays at hand as the SenseManager has them (µs)."""
        self.cast(origins, targets)
        begun = time.perf_counter_ns()
        self._rays.blocked(origins, targets)
        return (time.perf_counter_ns() - begun) / 1000
