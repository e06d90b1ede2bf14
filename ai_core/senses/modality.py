"""Modalities: the senses of a world, as data.

A custom sense (telepathy, an aura, fear) is a ``Modality`` with a new name and other numbers; it needs no code.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, finite_number, keep_number, named, several, shown
from ai_core.saving.fields import place_in, refuse
from ai_core.saving.kinds import Kind, MapOf

__all__ = ["FULL_MOTION_M_PER_S", "Modality", "ModalitySet"]


FULL_MOTION_M_PER_S = 2.0
"""Default speed from which a source shows itself fully (m/s), a brisk walk.

Lower values let a slow walk show as much as a run; higher ones let walkers hide.
"""


@dataclass(frozen=True)
class Modality:
    """How a kind of signal travels, and what is tested on its path.

    There are two kinds. Sound and smell are **emitted**: a signal has a strength, travels and is sensed once. Sight and
    touch are **continuous**: sensors look all the time for sources that have a strength in them.

    Args:
        name: its name for sensors, sources and signals.
        range_m: beyond this nothing is sensed (m); above 0. Choose it large enough for the
            most sensitive sensor: it limits the work.
        kept_per_m: share of the intensity kept per metre, 0 to 1; 1 loses nothing.
        speed_m_per_s: speed of its signals (m/s), above 0; infinity arrives at once, sound in air has 340.
        is_continuous: True if sensors look for sources, False if sources emit signals.
        needs_cone: True if only sources inside a sensor's sight cones count.
        needs_line_of_sight: True if obstacles block it.
        needs_light: True if the strength of a source is multiplied by its light.
        is_muffled: True if obstacles weaken it: see ``occlusion`` of the sense manager. Few
            materials block a sound completely.
        is_slow: True if a sensor can outrun a signal or run into it: its front is
            simulated, drifts with the wind, and reaches every sensor that it meets; while it
            spreads, also one that joins, or can sense again, where it has passed.
        still_share: share of its strength with which a motionless source shows itself, 0 to 1;
            1, the default, for a sense to which motion does not matter.
        full_motion_m_per_s: speed from which a source shows itself with its whole strength (m/s), above 0.

    Raises:
        TypeError: if a number or the name is of another type.
        ValueError: if a number is out of range, or if cones, lines of sight,
            light, motion or a speed are set for a kind that has none.

    Source: 001_world_interfacing, regional sense manager.
    """

    name: str
    range_m: float
    kept_per_m: float = 1.0
    speed_m_per_s: float = math.inf
    is_continuous: bool = False
    needs_cone: bool = False
    needs_line_of_sight: bool = False
    needs_light: bool = False
    is_muffled: bool = False
    is_slow: bool = False
    still_share: float = 1.0
    full_motion_m_per_s: float = FULL_MOTION_M_PER_S
    delay_s_per_m: float = field(init=False, repr=False, compare=False, default=0.0)
    """Travel time per metre (s/m): the inverse of the speed."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {shown(self.name)}")
        if not self.name:
            raise ValueError(f"name must not be empty, got {self.name!r}; name the sense, such as 'hearing'")
        keep_number(self, "range_m", above=0)
        keep_number(self, "kept_per_m", minimum=0, maximum=1, remedy="it is the share kept per metre")
        if self.speed_m_per_s != math.inf:
            keep_number(self, "speed_m_per_s", above=0, remedy="use math.inf for instant arrival")
        object.__setattr__(self, "delay_s_per_m", 1 / self.speed_m_per_s)
        keep_number(
            self, "still_share", minimum=0, maximum=1,
            remedy="it is the share of its strength that a motionless source keeps")
        keep_number(self, "full_motion_m_per_s", above=0)
        self._check_road()

    def _check_road(self) -> None:
        """Refuse what does not belong to the road that signals take here."""
        if self.is_continuous and self.delay_s_per_m > 0:
            raise ValueError(
                f"speed_m_per_s must be infinite for a continuous modality,"
                f" got {self.speed_m_per_s}; use is_continuous=False for signals that travel"
            )
        if not self.is_continuous and (self.needs_cone or self.needs_line_of_sight or self.needs_light):
            raise ValueError(
                f"modality {self.name!r} must have is_continuous=True to use"
                " needs_cone, needs_line_of_sight or needs_light"
            )
        if not self.is_continuous and self.still_share < 1:
            raise ValueError(
                f"still_share must be 1 for modality {self.name!r}, whose signals are emitted, got"
                f" {self.still_share}; use is_continuous=True for a sense that notices motion")
        if self.is_continuous and (self.is_muffled or self.is_slow):
            raise ValueError(f"modality {self.name!r} must have is_continuous=False to use is_muffled or is_slow")
        if self.is_slow and not self.delay_s_per_m:
            raise ValueError(
                f"modality {self.name!r} arrives instantly, so it cannot be slow;"
                " set speed_m_per_s, or remove is_slow"
            )

    @classmethod
    def sight(
        cls, *, range_m: float = 100.0, kept_per_m: float = 1.0, still_share: float = 1.0,
        full_motion_m_per_s: float = FULL_MOTION_M_PER_S,
    ) -> Modality:
        """Return sight: continuous, in cones, needs a line of sight, instant.

        >>> Modality.sight().needs_line_of_sight
        True
        """
        return cls(
            "sight", range_m=range_m, kept_per_m=kept_per_m,
            is_continuous=True, needs_cone=True, needs_line_of_sight=True, needs_light=True,
            still_share=still_share, full_motion_m_per_s=full_motion_m_per_s)

    @classmethod
    def hearing(cls, *, range_m: float = 100.0, kept_per_m: float = 0.9, speed_m_per_s: float = 340.0) -> Modality:
        """Return hearing: emitted, in every direction, at the speed of sound."""
        return cls("hearing", range_m=range_m, kept_per_m=kept_per_m, speed_m_per_s=speed_m_per_s, is_muffled=True)

    @classmethod
    def smell(cls, *, range_m: float = 30.0, kept_per_m: float = 0.9, speed_m_per_s: float = 1.0) -> Modality:
        """Return smell: emitted, in every direction, slowly, and carried by the wind."""
        return cls(
            "smell", range_m=range_m, kept_per_m=kept_per_m, speed_m_per_s=speed_m_per_s, is_muffled=True, is_slow=True)

    @classmethod
    def touch(cls, *, range_m: float = 0.5) -> Modality:
        """Return touch: nearness within ``range_m``, in every direction, instant.

        The method ``touch`` of the sense manager reports collisions and hits.
        """
        return cls("touch", range_m=range_m, is_continuous=True)


class ModalitySet:
    """The modalities of a world; the number of a modality is its index.

    Attributes:
        at_first: the modalities as created, before any was replaced.
        all: the current modalities, each at its number.
        numbers: number by name.
    """

    def __init__(self, modalities: Iterable[Modality]) -> None:
        self.all = self.at_first = several("modalities", modalities, Modality)
        self.numbers: dict[str, int] = {}
        for modality in self.all:
            if modality.name in self.numbers:
                raise ValueError(f"modalities must have unique names, got {modality.name!r} twice")
            self.numbers[modality.name] = len(self.numbers)
        self._rows: dict[str, tuple[list[type], dict[str, float], NDArray[np.float64]]] = {}     # the last, by name

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, number: int) -> Modality:
        return self.all[number]

    def number(self, name: str) -> int:
        """Return the number of the modality called ``name``."""
        return named("modality", name, self.numbers)

    def replace(self, number: int, modality: Modality) -> None:
        """Replace the settings of a modality from now on; its name must stay."""
        before = self.all[number]
        if (modality.name, modality.is_continuous) != (before.name, before.is_continuous):
            raise ValueError(f"modality must keep the name and is_continuous of {before.name!r}, got {modality}")
        self.all = (*self.all[:number], modality, *self.all[number + 1 :])

    def row(self, what: str, values: Mapping[str, float], absent: float) -> NDArray[np.float64]:
        """Return one number per modality, read-only; ``absent`` for what is not in ``values``.

        The same array as before if the values of ``what`` are those of the last call.
        """
        if type(values) is not dict and not isinstance(values, Mapping):
            raise TypeError(f"{what} must map modality names to numbers, got {shown(values)}")
        kinds = [*map(type, values.values())]
        alike = self._rows.get(what)        # most members of a scene have the same settings
        if alike is not None and kinds == alike[0] and values == alike[1]:
            return alike[2]
        row = np.full(len(self.all), absent)
        for name, value in values.items():
            row[self.number(name)] = finite_number(f"{what}[{name!r}]", value, minimum=0)
        row.flags.writeable = False
        self._rows[what] = kinds, dict(values), row
        return row


class ByModality(MapOf):
    """A dict of values of one kind by number of the modality, saved under the names, for owners with ``_modalities``.

    Args:
        kind: kind of each value.
        of: returns which numbers are required for the object that is loaded, no others; None for any.
    """

    def __init__(self, kind: Kind, of: Callable[[Any], Iterable[int]] | None = None, *, at: str | None = None) -> None:
        names = None if of is None else lambda owner: [owner._modalities[number].name for number in of(owner)]
        super().__init__(kind, names=names, at=at)

    def save(self, value: Any, owner: Any) -> Any:
        """Return a dict by name."""
        return super().save({owner._modalities[number].name: one for number, one in value.items()}, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the dict, by ascending number."""
        numbers, found = owner._modalities.numbers, super().read(plain, place, owner)
        for name in sorted(found.keys() - numbers.keys()):
            refuse(place_in(place, name), f"is an unknown modality: {UnknownNameError('modality', name, numbers)}")
        return {number: found[name] for name, number in numbers.items() if name in found}
