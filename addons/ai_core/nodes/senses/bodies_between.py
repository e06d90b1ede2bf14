"""Physics bodies on lines of the senses: walls that muffle, and backgrounds of visible sources."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import get_object, report_error
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace3D
from ai_core.errors import UnknownNameError
from ai_core.senses.sight.camouflage import NO_PATTERN, Backdrop, Camouflage
from ai_core.senses.stimuli.muffling import Materials

MATERIAL = "sense_material"
"""Metadata of physics bodies, set in the inspector: name of a material. A group of that name works as well."""

PATTERN, LIGHT = "sense_pattern", "sense_light"
"""Metadata of physics bodies, set in the inspector: name of a pattern, and brightness (0 to 1)."""

MOST_WALLS = 8
"""Largest number of bodies on a line that count (count); later bodies hardly matter, and each costs a ray."""

MOVING = ("CharacterBody3D", "RigidBody3D", "CharacterBody2D", "RigidBody2D")
"""Bodies that muffle only if they have a material, because a passing character is not a wall."""


class _BodyMetadata:
    """Reads metadata of bodies; each invalid value is reported once."""

    def __init__(self, manager: Any, rays: PhysicsSpace3D) -> None:
        self._manager, self._rays = manager, rays
        self._refused: set[tuple[int, str]] = set()      # instance ids of bodies, and the invalid metadata

    def _refuse(self, where: Any, name: str, why: str) -> None:
        if (where.instance_id, name) not in self._refused:
            self._refused.add((where.instance_id, name))
            report_error(why, where)


class MufflingWalls(_BodyMetadata):
    """Computes the shares of sounds and smells that pass along lines, from the bodies on them."""

    def __init__(self, manager: Any, rays: PhysicsSpace3D, senses: list[str]) -> None:
        super().__init__(manager, rays)
        self._tables = _tables(manager, senses)
        self._names = {name for table in self._tables.values() for name in table}

    @property
    def is_open(self) -> bool:
        """True if every body lets everything pass, so that no query is needed."""
        return self._manager.wall_share == 1 and not self._names

    def __call__(
        self, start: NDArray[np.float32], end: NDArray[np.float32], sensor_ids: NDArray[np.int32], sense: str
    ) -> NDArray[np.float64] | None:
        """Return the share that passes along each line.

        Cost: as ``PhysicsSpace3D.through``, and some engine calls for each body that is on a line.
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
        if name not in self._names:
            unknown = UnknownNameError("material", name, self._names)
            self._refuse(body, MATERIAL, f"{unknown}; add it to wall_materials of the SenseManager; wall_share is used")
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


class Backdrops(_BodyMetadata):
    """Finds the background of sources from the physics space and the metadata of bodies."""

    def __init__(self, manager: Any, rays: PhysicsSpace3D, camouflage: Camouflage) -> None:
        super().__init__(manager, rays)
        self._camouflage = camouflage
        self._sky = self._number(manager.sky_pattern, manager), float(manager.sky_light)

    def __call__(
        self, eyes: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> Backdrop:
        """Return the backgrounds of targets.

        Cost: as ``PhysicsSpace3D.behind``, and two engine calls per body behind a target.
        """
        met = self._rays.behind(eyes, targets, self._manager.bodies_of(source_ids), self._manager.sight_range)
        bodies, rows = np.unique(met, return_inverse=True)
        looks = [self._of(one) for one in bodies.tolist()]      # once per body
        patterns, lights = zip(*looks, strict=True) if looks else ((), ())
        return Backdrop(np.array(patterns, np.intp)[rows], np.array(lights, np.float64)[rows])

    def _of(self, body_id: int) -> tuple[int, float]:
        if body_id == 0:
            return self._sky
        body = get_object(body_id) if body_id > 0 else None
        if body is None:
            return NO_PATTERN, 0.0        # a body of the physics server, without a node
        light = body.get_meta(LIGHT, 0.0)
        if not isinstance(light, (int, float)) or not 0 <= light < math.inf:
            self._refuse(body, LIGHT, f"metadata {LIGHT} must be a number, 0 or more, got {light!r}; it is ignored")
            light = 0.0
        return self._number(body.get_meta(PATTERN, ""), body), float(light)

    def _number(self, name: object, where: Any) -> int:
        try:
            return self._camouflage.number(name)  # type: ignore[arg-type]
        except UnknownNameError as error:
            self._refuse(where, PATTERN, f"{error}; add it to camouflage of the SenseManager; it is ignored")
            return NO_PATTERN
