"""Background noise, which masks signals that are weaker than it at the sensor."""
from __future__ import annotations

import math
from typing import NamedTuple

from ai_core.errors import UnknownNameError, finite_number, point, shown, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point

__all__ = ["BackgroundNoise"]


class _Noise(NamedTuple):
    modality: int
    level: float
    position: Point | None


class BackgroundNoise:
    """Lasting noises: a waterfall, an engine room, rain everywhere.

    At each place the loudest noise counts. A noise with a position weakens with
    distance as signals of its modality do, and ends at its range.

    Args:
        modalities: define how noises travel.

    Attributes:
        all: noises by id.
    """

    def __init__(self, modalities: ModalitySet) -> None:
        self._modalities = modalities
        self.all: dict[int, _Noise] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self.all)

    def add(self, modality_name: str, level: float, position: object = None) -> int:
        """Add a noise, and return its id.

        Args:
            modality_name: an emitted modality.
            level: at its origin, or everywhere, 0 or more.
            position: its origin (m); None for everywhere.
        """
        number = self._modalities.number(modality_name)
        if self._modalities[number].is_continuous:
            raise ValueError(f"modality_name must be an emitted modality, got the continuous {shown(modality_name)}")
        level = finite_number("level", level, minimum=0)
        place = None if position is None else point("position", position).tolist()
        self.all[self._added] = _Noise(number, level, None if place is None else tuple(place))
        self._added += 1
        return self._added - 1

    def remove(self, noise_id: int) -> None:
        """Remove a noise.

        Raises:
            UnknownNameError: if no noise has this id.
        """
        if self.all.pop(noise_id, None) is None:
            whole_number("noise id", noise_id, minimum=0)
            raise UnknownNameError("noise id", noise_id, self.all)

    def level_at(self, number: int, place: Point) -> float:
        """Return how loud the background is in a modality at a place.

        Cost: O(noises).
        """
        kind = self._modalities[number]
        loudest = 0.0
        for noise in self.all.values():
            if noise.modality != number:
                continue
            level = noise.level
            if noise.position is not None:
                distance = math.dist(noise.position, place)
                level = level * kind.kept_per_m**distance if distance <= kind.range_m else 0.0
            loudest = max(loudest, level)
        return loudest

    def save_state(self) -> State:
        """Return all noises as plain data."""
        return {
            "added": self._added,
            "noises": [
                {"id": one, "modality": self._modalities[noise.modality].name, "level": noise.level,
                 "position": None if noise.position is None else list(noise.position)}
                for one, noise in self.all.items()
            ],
        }

    def loaded(self, fields: Fields) -> BackgroundNoise:
        """Return the noises that were saved; raises StateError if they cannot be."""
        found = BackgroundNoise(self._modalities)
        found._added = fields.whole("added")
        names = tuple(self._modalities[number].name for number in range(len(self._modalities)))
        for one in fields.groups("noises"):
            noise_id = one.whole("id", maximum=found._added - 1)
            if noise_id in found.all:
                one.refuse("id", "comes twice")
            place = None if one.anything("position") is None else one.point("position")
            number = names.index(one.one_of("modality", names))
            found.all[noise_id] = _Noise(number, one.number("level", minimum=0), place)
            one.end()
        fields.end()
        return found
