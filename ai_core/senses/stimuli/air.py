"""The air: background noise, which masks signals that are weaker than it at the sensor, and wind."""
from __future__ import annotations

import math
from types import SimpleNamespace
from typing import NamedTuple

from numpy.typing import ArrayLike

from ai_core.errors import UnknownNameError, finite_number, point, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import MapOf, Number, OneOf, Optional, Point, Record, Seconds, Whole
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point as Place

__all__ = ["BackgroundNoise", "Wind"]


class _Noise(NamedTuple):
    modality: str
    level: float
    position: Place | None


def _emitted(owner: BackgroundNoise) -> list[str]:
    return [one.name for one in owner._modalities.all if not one.is_continuous]


class BackgroundNoise(Saveable):
    """Lasting noises: a waterfall, an engine room, rain everywhere.

    At each place the loudest noise counts. A noise with a position weakens with distance as signals of its modality do,
    and ends at its range; walls, doors and what muffles do not weaken it.

    Attributes:
        all: noises by id.
    """

    STATE = DeclaredState(
        added=Whole(at="_added"),
        noises=MapOf(
            Record(_Noise, modality=OneOf(_emitted), level=Number(0), position=Optional(Point(3))), key=Whole(1),
            at="all"),
    )

    def __init__(self, modalities: ModalitySet) -> None:
        self._modalities = modalities
        self.all: dict[int, _Noise] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self.all)

    def add(self, modality_name: str, level: float, position: ArrayLike | None = None) -> int:
        """Add a noise, and return its id, 1 or more."""
        number = self._modalities.number(modality_name)
        if self._modalities[number].is_continuous:
            raise ValueError(f"modality_name must be an emitted modality, got the continuous {shown(modality_name)}")
        level = finite_number("level", level, minimum=0)
        place = None if position is None else point("position", position).tolist()
        self._added += 1
        self.all[self._added] = _Noise(modality_name, level, None if place is None else tuple(place))
        return self._added

    def remove(self, noise_id: int) -> None:
        """Remove a noise."""
        if self.all.pop(noise_id, None) is None:
            whole_number("noise id", noise_id, minimum=0)
            raise UnknownNameError("noise id", noise_id, self.all)

    def level_at(self, number: int, place: Place) -> float:
        """Return how loud the background is in a modality at a place.

        Cost: O(noises).
        """
        kind = self._modalities[number]
        loudest = 0.0
        for noise in self.all.values():
            if noise.modality != kind.name:
                continue
            level = noise.level
            if noise.position is not None:
                distance = math.dist(noise.position, place)
                level = level * kind.kept_per_m**distance if distance <= kind.range_m else 0.0
            loudest = max(loudest, level)
        return loudest

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.noises and max(values.noises) > values.added:
            refuse("noises", f"must have ids up to {values.added}, the number of noises added")


class Wind(Saveable):
    """One wind for the whole world, which may turn.

    The drift of a smell is the difference between two moments, so it does not depend on the frame rate.
    """

    STATE = DeclaredState(velocity=Point(3), drifted=Point(3, at="_drifted"), since_s=Seconds(at="_since_s"))

    def __init__(self) -> None:
        self.velocity: Place = (0.0, 0.0, 0.0)
        self._drifted: Place = (0.0, 0.0, 0.0)
        self._since_s = 0.0

    def set(self, velocity: ArrayLike, now_s: float) -> None:
        """Set the velocity (m/s) from now on."""
        x, y, z = point("velocity", velocity).tolist()
        self._drifted, self._since_s = self.drift_m(now_s), now_s
        self.velocity = (x, y, z)

    def drift_m(self, now_s: float) -> Place:
        """Return how far the air has drifted since the beginning (m)."""
        (dx, dy, dz), (vx, vy, vz), lasted_s = self._drifted, self.velocity, now_s - self._since_s
        return (dx + vx * lasted_s, dy + vy * lasted_s, dz + vz * lasted_s)
