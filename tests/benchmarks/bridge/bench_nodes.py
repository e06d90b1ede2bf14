"""The Python side of the bridge's benchmark; the GDScript side is bridge_benchmark.gd."""
from __future__ import annotations

import numpy as np

from addons.ai_core.bridge.gd import (
    Node,
    Node3D,
    PackedVector3Array,
    gdclass,
    method,
    read_transforms,
    signal,
)
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace3D


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
    def heard(self) -> int:
        return self.count

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

    @method
    def counted(self) -> int:
        return self.frames


@gdclass
class BenchBatches(Node3D):
    """Does a thousand things in one crossing."""

    def __init__(self) -> None:
        self._rays: PhysicsSpace3D | None = None
        self._nodes: list[Node3D] = []
        self._rows = np.zeros((0, 3), np.float32)

    @method
    def cast(self, origins: PackedVector3Array, targets: PackedVector3Array) -> int:
        """Cast rays and return how many hit."""
        if self._rays is None:
            self._rays = PhysicsSpace3D(self, 1)
        return int(np.count_nonzero(~self._rays.are_free(origins, targets)))

    @method
    def watch(self, parent: Node) -> None:
        """Take the children of a node, to read their positions again and again."""
        self._nodes = parent.get_children()
        self._rows = np.zeros((len(self._nodes), 3), np.float32)

    @method
    def read(self) -> None:
        """Read where they are into the array that Python works on."""
        read_transforms(self._nodes, self._rows)

    @method
    def rows(self) -> PackedVector3Array:
        """Return what was read last."""
        return self._rows

    @method
    def take(self, points: PackedVector3Array) -> int:
        """Receive points as an array; return how many there are."""
        return len(points)
