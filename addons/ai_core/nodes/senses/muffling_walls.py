"""Occlusion by walls: the share of a sound or smell that passes through the physics bodies on its path."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import get_object, report_error
from addons.ai_core.nodes.senses.sight_rays import SightRays
from ai_core.errors import UnknownNameError
from ai_core.senses.stimuli.muffling import Materials

MATERIAL = "sense_material"
"""Metadata of physics bodies, set in the inspector: name of a material. A group of that name works as well."""

MOST_WALLS = 8
"""Largest number of bodies on a line that count (count); later bodies hardly matter, and each costs a ray."""

MOVING = ("CharacterBody3D", "RigidBody3D", "CharacterBody2D", "RigidBody2D")
"""Bodies that muffle only if they have a material, because a passing character is not a wall."""


class MufflingWalls:
    """Computes the shares that pass along lines, from the bodies that the physics space has on them.

    Args:
        manager: the SenseManager, with ``wall_materials``, ``wall_share`` and ``wall_mask``.
        rays: rays of the manager.
        senses: names of the manager's modalities.
    """

    def __init__(self, manager: Any, rays: SightRays, senses: list[str]) -> None:
        self._manager, self._rays = manager, rays
        self._tables = _tables(manager, senses)
        self._names = {name for table in self._tables.values() for name in table}
        self._refused: set[tuple[int, str]] = set()      # instance ids of bodies, and the unknown material

    @property
    def is_open(self) -> bool:
        """True if every body lets everything pass, so that no query is needed."""
        return self._manager.wall_share == 1 and not self._names

    def __call__(
        self, start: NDArray[np.float32], end: NDArray[np.float32], sensor_ids: NDArray[np.int32], sense: str
    ) -> NDArray[np.float64] | None:
        """Return the share that passes along each line.

        Cost: as ``SightRays.through``, and some engine calls for each body that is on a line.
        """
        if self.is_open:
            return None
        own = self._manager.bodies_of_sensors(sensor_ids)[:, np.newaxis]
        met = self._rays.through(start, end, own, MOST_WALLS, self._manager.wall_mask)
        bodies, rows = np.unique(met, return_inverse=True)
        kept = np.array([self._kept(one, sense) for one in bodies.tolist()])
        shares: NDArray[np.float64] = kept[rows].reshape(met.shape).prod(axis=1)
        return shares

    def _kept(self, body_id: int, sense: str) -> float:
        """Return the share that passes through a body."""
        body = get_object(body_id) if body_id > 0 else None
        if body is None:
            return self._manager.wall_share if body_id else 1.0
        material = self._material(body)
        table = self._tables.get(sense, {})
        if material in table:
            return table[material]
        return 1.0 if any(map(body.is_class, MOVING)) else self._manager.wall_share

    def _material(self, body: Any) -> str:
        name = body.get_meta(MATERIAL, "")
        if name == "":
            return next((str(one) for one in body.get_groups() if str(one) in self._names), "")
        if name not in self._names and (body.instance_id, str(name)) not in self._refused:
            self._refused.add((body.instance_id, str(name)))
            unknown = UnknownNameError("material", name, self._names)
            report_error(f"{unknown}; add it to wall_materials of the SenseManager; wall_share is used", body)
        return str(name)


def _tables(manager: Any, senses: list[str]) -> dict[str, dict[str, float]]:
    """Return the share that passes through each material, by sense; invalid entries are reported and left out.

    "brick" is for all senses, "smell/brick" for one.
    """
    tables: dict[str, dict[str, float]] = {one: {} for one in senses}
    entries = sorted(manager.wall_materials.items(), key=lambda one: "/" in str(one[0]))      # the general ones first
    for key, share in entries:
        sense, _, material = str(key).rpartition("/")
        try:
            if not material or (sense and sense not in tables):
                raise UnknownNameError("modality", sense, senses) if sense else ValueError("must be a material's name")
            Materials({material: share})
        except (LookupError, TypeError, ValueError) as error:
            report_error(f"wall_materials[{key!r}] is ignored: {error}", manager)
            continue
        for one in [sense] if sense else senses:
            tables[one][material] = float(share)
    return tables
