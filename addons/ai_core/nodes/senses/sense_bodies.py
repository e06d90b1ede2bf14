"""Physics bodies of a SenseManager's world: those that sensors and sources have, and those between them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.senses.felt_collisions import FeltCollisions
from addons.ai_core.nodes.senses.muffling_walls import MufflingWalls
from ai_core.senses.id_table import SLOT_BITS

SLOT_MASK = (1 << SLOT_BITS) - 1
"""Of an id, what says in which row it is."""


class SenseBodies:
    """What a SenseManager asks of the physics space; a part of that class."""

    _bodies: dict[int, int]
    _sensor_bodies: dict[int, int]
    _senses: list[str]
    _space: Any
    _core: Any
    _sources: dict[int, Any]
    _contacts: FeltCollisions | None
    _row_arrays: Callable[[], tuple[Any, ...]]

    _own_rows: tuple[Any, ...] | None = None
    _own_bodies: tuple[NDArray[np.int64], NDArray[np.int64]]

    def bodies_of(self, source_ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the instance id of the body of each source, 0 for none."""
        return _looked_up(self._bodies_by_slot()[1], source_ids)

    def bodies_of_sensors(self, sensor_ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the instance id of the body of each sensor, 0 for none, also where there is no sensor."""
        return _looked_up(self._bodies_by_slot()[0], sensor_ids)

    def _bodies_by_slot(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rows = self._row_arrays()
        if self._own_rows is not rows:       # somebody has come or gone
            self._own_rows = rows
            self._own_bodies = _by_slot(self._sensor_bodies), _by_slot(self._bodies)
        return self._own_bodies

    def member_bodies(self) -> set[int]:
        """Return the instance ids of all bodies of sensors and sources."""
        return {one for one in (*self._sensor_bodies.values(), *self._bodies.values()) if one}

    def feel(self, sensor_id: int, source_id: int) -> None:
        """Let a sensor be touched by a source, as strongly as that is felt."""
        strength = self._sources[source_id].touch_strength
        if strength > 0:
            self._core.touch(sensor_id, source_id, "touch", strength, tag="collision")

    def _line_of_sight(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> NDArray[np.bool_] | None:
        free: NDArray[np.bool_] = ~self._space.rays.blocked(origins, targets, self.bodies_of(source_ids))
        return free

    def _walls(self) -> MufflingWalls | None:
        """Return what stands between; None, which costs nothing, if everything gets through."""
        walls = MufflingWalls(self, self._space.rays, self._senses)
        return None if walls.is_open else walls

    def _walls_set(self) -> None:
        if self._core is not None:
            self._core.between = self._walls()



def _by_slot(bodies: dict[int, int]) -> NDArray[np.int64]:
    """Return instance ids of bodies by what of an id says in which row it is."""
    slots = [(one & SLOT_MASK) + 1 for one in bodies]      # the first row is for nobody
    found = np.zeros(max(slots, default=0) + 1, np.int64)
    found[slots] = list(bodies.values())
    return found


def _looked_up(bodies: NDArray[np.int64], ids: NDArray[np.int32]) -> NDArray[np.int64]:
    slots = ids & SLOT_MASK
    slots += 1
    if not len(slots) or slots.max() < len(bodies):    # what is nobody has all bits, and would be far beyond
        return bodies.take(slots)
    slots[(ids < 0) | (slots >= len(bodies))] = 0      # nobody, or a clue of the library
    return bodies[slots]
