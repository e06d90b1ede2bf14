"""The rays that can_see casts, and nothing else."""
from __future__ import annotations

import time

import numpy as np

from addons.ai_core.bridge.gd import Node3D, gdclass, method, read_transforms
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace3D


@gdclass
class BenchRays(Node3D):
    """Casts a ray for each pair of nodes, in one crossing."""

    def on_enter_tree(self) -> None:
        self._rays = PhysicsSpace3D(self, 1)

    @method
    def set_pairs(self, observers: list, targets: list) -> None:
        self._origins = np.zeros((len(observers), 3), np.float32)
        self._targets = np.zeros((len(targets), 3), np.float32)
        read_transforms(observers, self._origins)
        read_transforms(targets, self._targets)

    @method
    def cast(self) -> float:
        """Return how long the batch takes (µs)."""
        begun = time.thread_time_ns()
        self._blocked = ~self._rays.are_free(self._origins, self._targets)
        return (time.thread_time_ns() - begun) / 1000

    @method
    def seen(self) -> int:
        """Return how many of the last batch were free."""
        return int((~self._blocked).sum())
