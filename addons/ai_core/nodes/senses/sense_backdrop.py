"""Background of visible sources: the pattern and light of the body that a ray meets beyond the source."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import get_object, report_error
from addons.ai_core.nodes.senses.sight_rays import SightRays
from ai_core.errors import UnknownNameError
from ai_core.senses.sight.camouflage import NO_PATTERN, Backdrop, Camouflage

PATTERN, LIGHT = "sense_pattern", "sense_light"
"""Metadata of physics bodies, set in the inspector: name of a pattern, and brightness (0 to 1)."""


class Backdrops:
    """Finds the background of sources from the physics space and the metadata of bodies.

    Args:
        manager: the SenseManager.
        rays: rays of the manager.
        camouflage: pairs of patterns of the manager.
    """

    def __init__(self, manager: Any, rays: SightRays, camouflage: Camouflage) -> None:
        self._manager, self._rays, self._camouflage = manager, rays, camouflage
        self._refused: set[tuple[int, str]] = set()      # instance ids of bodies, and the invalid metadata
        self._sky = self._number(manager.sky_pattern, manager), float(manager.sky_light)

    def __call__(
        self, eyes: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> Backdrop:
        """Return the backgrounds of targets.

        Cost: as ``SightRays.behind``, and two engine calls per body behind a target.
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

    def _refuse(self, where: Any, what: str, why: str) -> None:
        if (where.instance_id, what) not in self._refused:
            self._refused.add((where.instance_id, what))
            report_error(why, where)
