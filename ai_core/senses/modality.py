"""Modalities: the ways in which something can be sensed, as data.

A sense of the designer's own (telepathy, an aura, fear) is a ``Modality`` with
a new name and other numbers, not new code.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, finite_number, shown

__all__ = ["Modality", "ModalitySet", "intensity_at"]


@dataclass(frozen=True)
class Modality:
    """How one kind of signal travels, and what is checked on its way.

    Two roads lead to a sensor. Sound and smell are **emitted**: a signal with
    a strength, that travels and is sensed once. Sight and touch are
    **continuous**: whatever has a strength in them is looked for all the time.

    Args:
        name: what sensors, sources and signals call it.
        range_m: beyond this nothing is sensed (m); above 0. Choose it large
            enough for the most sensitive sensor: it is a limit on work.
        attenuation: share of the intensity kept per metre, 0 to 1; 1 loses
            nothing.
        inverse_speed_s_per_m: travel time per metre (s/m), 0 or more; 0 is
            instant, sound in air is about 0.003.
        is_continuous: True if sources are looked for, not emitted.
        needs_cone: True if only what is inside a sensor's sight cones counts.
        needs_line_of_sight: True if nothing may stand between.
        needs_light: True if a source shows itself as strongly as it is lit.
        is_muffled: True if what stands between weakens it: see ``occlusion`` of
            the sense manager. Few materials are proof against sound.
        is_slow: True if sensors can outrun it or run into it: its front is
            followed, drifts with the wind, and is told to whomever it meets.

    Raises:
        TypeError: if a number or the name is of another type.
        ValueError: if a number is out of range, or cones, lines of sight,
            light or a speed are asked of what they do not belong to.

    Source: 001_world_interfacing, regional sense manager.
    """

    name: str
    range_m: float
    attenuation: float = 1.0
    inverse_speed_s_per_m: float = 0.0
    is_continuous: bool = False
    needs_cone: bool = False
    needs_line_of_sight: bool = False
    needs_light: bool = False
    is_muffled: bool = False
    is_slow: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {shown(self.name)}")
        if not self.name:
            raise ValueError("name must not be empty")
        put = object.__setattr__
        put(self, "range_m", finite_number("range_m", self.range_m, above=0))
        attenuation = finite_number(
            "attenuation", self.attenuation, minimum=0, maximum=1,
            remedy="it is the share kept per metre",
        )
        put(self, "attenuation", attenuation)
        inverse_speed = finite_number(
            "inverse_speed_s_per_m", self.inverse_speed_s_per_m, minimum=0,
            remedy="use 0 for what arrives at once",
        )
        put(self, "inverse_speed_s_per_m", inverse_speed)
        self._check_road()

    def _check_road(self) -> None:
        """Refuse what does not belong to the road that signals take here."""
        if self.is_continuous and self.inverse_speed_s_per_m > 0:
            raise ValueError(
                f"inverse_speed_s_per_m must be 0 for what is looked for all the time,"
                f" got {self.inverse_speed_s_per_m}; use is_continuous=False for what travels"
            )
        if not self.is_continuous and (
            self.needs_cone or self.needs_line_of_sight or self.needs_light
        ):
            raise ValueError(
                f"modality {self.name!r} needs is_continuous=True to use"
                " needs_cone, needs_line_of_sight or needs_light"
            )
        if self.is_continuous and (self.is_muffled or self.is_slow):
            raise ValueError(
                f"modality {self.name!r} needs is_continuous=False to use is_muffled or is_slow"
            )
        if self.is_slow and not self.inverse_speed_s_per_m:
            raise ValueError(
                f"modality {self.name!r} arrives at once, so it cannot be slow;"
                " set inverse_speed_s_per_m, or leave out is_slow"
            )

    @classmethod
    def sight(cls, *, range_m: float = 100.0, attenuation: float = 1.0) -> Modality:
        """Return sight: continuous, in cones, along free lines, at once.

        >>> Modality.sight().needs_line_of_sight
        True
        """
        return cls(
            "sight", range_m=range_m, attenuation=attenuation,
            is_continuous=True, needs_cone=True, needs_line_of_sight=True, needs_light=True,
        )

    @classmethod
    def hearing(
        cls,
        *,
        range_m: float = 100.0,
        attenuation: float = 0.9,
        inverse_speed_s_per_m: float = 1 / 340,
    ) -> Modality:
        """Return hearing: emitted, in every direction, at the speed of sound."""
        return cls(
            "hearing", range_m=range_m, attenuation=attenuation,
            inverse_speed_s_per_m=inverse_speed_s_per_m, is_muffled=True,
        )

    @classmethod
    def smell(
        cls,
        *,
        range_m: float = 30.0,
        attenuation: float = 0.9,
        inverse_speed_s_per_m: float = 1.0,
    ) -> Modality:
        """Return smell: emitted, in every direction, slowly, and carried by the wind."""
        return cls(
            "smell", range_m=range_m, attenuation=attenuation,
            inverse_speed_s_per_m=inverse_speed_s_per_m, is_muffled=True, is_slow=True,
        )

    @classmethod
    def touch(cls, *, range_m: float = 0.5) -> Modality:
        """Return touch: nearness within ``range_m``, in every direction, at once.

        Collisions and blows are told by the sense manager's ``touch``.
        """
        return cls("touch", range_m=range_m, is_continuous=True)


class ModalitySet:
    """The modalities of one world; each has the number of its place.

    Attributes:
        at_first: as they were made, before any was replaced.
        all: as they are, each at its number.

    Raises:
        TypeError: if one is not a ``Modality``.
        ValueError: if two have one name.
    """

    def __init__(self, modalities: Iterable[Modality]) -> None:
        self.all = self.at_first = tuple(modalities)
        self._number: dict[str, int] = {}
        for modality in self.all:
            if not isinstance(modality, Modality):
                raise TypeError(f"modalities must hold Modality, got {shown(modality)}")
            if modality.name in self._number:
                raise ValueError(f"modalities must differ in name, got {modality.name!r} twice")
            self._number[modality.name] = len(self._number)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, number: int) -> Modality:
        return self.all[number]

    def number(self, name: str) -> int:
        """Return the place of the modality called ``name``.

        Raises:
            UnknownNameError: if there is none.
        """
        try:
            return self._number[name]
        except (KeyError, TypeError):
            raise UnknownNameError("modality", name, self._number) from None

    def replace(self, number: int, modality: Modality) -> None:
        """Let a modality have other numbers from now on; its name must stay.

        Raises:
            ValueError: if it has another name, or goes another road.
        """
        before = self.all[number]
        if (modality.name, modality.is_continuous) != (before.name, before.is_continuous):
            raise ValueError(f"modality must stay {before.name!r} and go its road, got {modality}")
        self.all = (*self.all[:number], modality, *self.all[number + 1 :])

    def row(self, what: str, values: Mapping[str, float], absent: float) -> NDArray[np.float64]:
        """Return one number per modality; ``absent`` for what is not in ``values``.

        Args:
            what: the argument's name, for messages: "thresholds".
            values: number by modality name; 0 or more.

        Raises:
            TypeError: if ``values`` is not a mapping of numbers.
            ValueError: if a number is negative or not finite.
            UnknownNameError: if a name is unknown.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"{what} must map modality names to numbers, got {shown(values)}")
        row = np.full(len(self.all), absent)
        for name, value in values.items():
            row[self.number(name)] = finite_number(f"{what}[{name!r}]", value, minimum=0)
        return row


def intensity_at(
    strength: float | NDArray[np.float64],
    distance_m: NDArray[np.float64],
    attenuation: float,
) -> NDArray[np.float64]:
    """Return how strong a signal still is after travelling ``distance_m``.

    Args:
        strength: scalar or shape (n,), 0 or more, no unit.
        distance_m: shape (n,), 0 or more (m).
        attenuation: share kept per metre, 0 to 1.

    Cost: O(n).

    >>> intensity_at(2.0, np.array([0.0, 1.0, 2.0]), 0.9).round(2).tolist()
    [2.0, 1.8, 1.62]
    """
    # float_power is the C library's pow, like Python's ** and a kernel's; NumPy's own
    # power rounds differently from one processor to the next.
    kept: NDArray[np.float64] = np.float_power(attenuation, distance_m)
    return strength * kept
