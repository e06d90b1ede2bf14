"""Formations: patterns of slots as data, for any number of members, and who may stand where."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, finite_number, shown, whole_number

Offsets = NDArray[np.float64]


def _aside(numbers: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return 0, 1, -1, 2, -2, … for 0, 1, 2, 3, 4, …: from the middle outwards."""
    return np.where(numbers % 2, (numbers + 1) // 2, -(numbers // 2))


def _line(count: int, files: int) -> Offsets:
    return np.stack([np.zeros(count), _aside(np.arange(count))], axis=1)


def _column(count: int, files: int) -> Offsets:
    return _ranks(count, files or 1)


def _wedge(count: int, files: int) -> Offsets:
    aside = _aside(np.arange(count))
    return np.stack([-np.abs(aside), aside], axis=1).astype(np.float64)


def _phalanx(count: int, files: int) -> Offsets:
    return _ranks(count, files or max(1, math.ceil(math.sqrt(2 * count)) | 1))


def _ranks(count: int, files: int) -> Offsets:
    ranks, places = np.divmod(np.arange(count), files)
    return np.stack([-ranks, _aside(places)], axis=1).astype(np.float64)


def _circle(count: int, files: int) -> Offsets:
    offsets = np.zeros((count, 2))
    around = count - 1
    if around > 0:
        radius = max(1.0, 0.5 / math.sin(math.pi / around)) if around > 1 else 1.0
        angles = np.arange(around) * (math.tau / around)
        offsets[1:] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return offsets


PATTERNS: dict[str, Callable[[int, int], Offsets]] = {
    "line": _line, "column": _column, "wedge": _wedge, "phalanx": _phalanx, "circle": _circle,
}
"""By name; called with how many members there are, and how many abreast (0: choose)."""
PLACES = ("front", "rear", "center", "flank")
"""Where in a pattern a role likes to stand."""
Floats = NDArray[np.float64]
MOST_SLOTS = 10_000
"""Most members a formation is made for (count); an assignment of more takes minutes."""


class FormationSlot(NamedTuple):
    """One place of a formation of your own, seen from the commander."""

    forward_m: float
    """How far ahead (m); negative is behind."""
    right_m: float
    """How far to the right (m)."""
    only: tuple[str, ...] = ()
    """Roles that may stand there, and nobody else; empty for everybody."""
    prefers: tuple[str, ...] = ()
    """Roles that should stand there, if there are any."""


class FormationSettings(TypedDict, total=False):
    """What every pattern may be made with; ``Formation`` says what each means."""

    places: Mapping[str, str]
    mismatch_m: float


@dataclass(frozen=True)
class Formation:
    """A pattern of slots around a commander, who has the first.

    Make one by ``line``, ``column``, ``wedge``, ``phalanx``, ``circle`` or ``custom``.

    Attributes:
        pattern: its name.
        spacing_m: between neighbors (m), above 0.
        files: members abreast in a phalanx or column; 0 chooses by their number.
        custom_slots: of the pattern "custom"; with more members than slots they come again behind.
        places: by role, where it likes to stand: one of ``PLACES``.
        mismatch_m: what standing where one should not costs, as if it were so much farther (m).

    Raises:
        TypeError, ValueError: if a number is out of range, or there are no slots.

    >>> Formation.wedge(spacing_m=2.0).slots(3).tolist()
    [[0.0, 0.0], [-2.0, 2.0], [-2.0, -2.0]]
    """

    pattern: str = "wedge"
    spacing_m: float = 2.0
    files: int = 0
    custom_slots: tuple[FormationSlot, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    mismatch_m: float = 6.0

    def __post_init__(self) -> None:
        if self.pattern not in (*PATTERNS, "custom"):
            raise UnknownNameError("pattern", self.pattern, (*PATTERNS, "custom"))
        set_ = object.__setattr__
        set_(self, "spacing_m", finite_number("spacing_m", self.spacing_m, above=0, maximum=1e4))
        set_(self, "files", whole_number("files", self.files, minimum=0, maximum=MOST_SLOTS))
        set_(self, "mismatch_m", finite_number("mismatch_m", self.mismatch_m, minimum=0, maximum=1e6))
        set_(self, "custom_slots", tuple(_checked_slot(number, one) for number, one in enumerate(self.custom_slots)))
        if self.pattern == "custom" and not self.custom_slots:
            raise ValueError("a formation needs at least one slot, got none; the first is the commander's")
        for role, place in self.places.items():
            if place not in PLACES:
                raise UnknownNameError(f"place of role {role!r}", place, PLACES)
        set_(self, "places", MappingProxyType(dict(self.places)))

    @classmethod
    def line(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return one in which all stand abreast, the commander in the middle."""
        return cls("line", spacing_m, **more)

    @classmethod
    def column(cls, spacing_m: float = 2.0, files: int = 1, **more: Unpack[FormationSettings]) -> Formation:
        """Return one in which all walk behind the commander, in one file or more."""
        return cls("column", spacing_m, files, **more)

    @classmethod
    def wedge(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a triangle with the commander at its point."""
        return cls("wedge", spacing_m, **more)

    @classmethod
    def phalanx(cls, spacing_m: float = 2.0, files: int = 0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a block of ranks, about twice as wide as it is deep unless ``files`` says otherwise."""
        return cls("phalanx", spacing_m, files, **more)

    @classmethod
    def circle(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a ring around the commander."""
        return cls("circle", spacing_m, **more)

    @classmethod
    def custom(
        cls, slots: Iterable[FormationSlot | Sequence[float]], spacing_m: float = 2.0, **more: Unpack[FormationSettings]
    ) -> Formation:
        """Return one of slots of your own; those of more members come again behind, ``spacing_m`` apart."""
        made = tuple(one if isinstance(one, FormationSlot) else FormationSlot(one[0], one[1]) for one in slots)
        return cls("custom", spacing_m, 0, made, **more)

    def slots(self, count: int) -> NDArray[np.float64]:
        """Return where the slots of so many members are: (count, 2), ahead and to the right (m).

        Slot 0 is the commander's. In all patterns but the circle, and a phalanx that chooses
        its files, one member more leaves the slots of the others where they are.

        Cost: O(count).
        """
        whole_number("count", count, minimum=0, maximum=MOST_SLOTS)
        if self.pattern != "custom":
            return PATTERNS[self.pattern](count, self.files) * self.spacing_m
        own = np.array([one[:2] for one in self.custom_slots], np.float64)
        again, which = np.divmod(np.arange(count), len(own))
        offsets = own[which]
        offsets[:, 0] -= again * (float(np.ptp(own[:, 0])) + self.spacing_m)
        return offsets

    def role_costs(self, roles: Sequence[Iterable[str]], count: int) -> NDArray[np.float64]:
        """Return what it costs beyond the way that a member of some roles stands in a slot.

        Args:
            roles: of each member.
            count: of slots.

        Returns:
            (members, count) m, 0 where it fits, ``inf`` where it may not stand.

        Cost: O(members * slots).
        """
        costs = np.zeros((len(roles), count))
        if not (self.places or self.custom_slots):
            return costs
        owned = [frozenset(one) for one in roles]
        wanted = self._wanted(count)
        kinds = {one: self._costs_of(one, wanted, count) for one in set(owned)}
        for row, one in enumerate(owned):
            costs[row] = kinds[one]
        return costs

    def _costs_of(self, roles: frozenset[str], wanted: Mapping[str, Floats], count: int) -> Floats:
        costs = np.zeros(count)
        for place in sorted({self.places[role] for role in roles if role in self.places}):
            costs += self.mismatch_m * wanted[place]
        for number, slot in enumerate(self.custom_slots):
            if slot.only and not roles.intersection(slot.only):
                costs[number::len(self.custom_slots)] = math.inf
            elif slot.prefers and not roles.intersection(slot.prefers):
                costs[number::len(self.custom_slots)] += self.mismatch_m
        return costs

    def _wanted(self, count: int) -> dict[str, NDArray[np.float64]]:
        """Return by place how far each slot is from being it, 0..1."""
        offsets = self.slots(count)
        ahead = _share(offsets[:, 0])
        aside = _share(np.abs(offsets[:, 1] - (offsets[:, 1].mean() if count else 0)))
        middle = offsets.mean(axis=0) if count else 0
        out = _share(((offsets - middle) ** 2).sum(axis=1))
        return {"front": 1 - ahead, "rear": ahead, "flank": 1 - aside, "center": out}


def _share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where values lie between the smallest and the largest, 0..1."""
    if not len(values):
        return values
    spread = float(np.ptp(values))
    return (values - values.min()) / spread if spread > 0 else np.zeros(len(values))


def _checked_slot(number: int, slot: object) -> FormationSlot:
    if not isinstance(slot, FormationSlot):
        raise TypeError(f"slot {number} must be a Slot, got {shown(slot)}")
    for name in ("forward_m", "right_m"):
        finite_number(f"{name} of slot {number}", getattr(slot, name), minimum=-1e4, maximum=1e4)
    for name in ("only", "prefers"):
        roles = getattr(slot, name)
        if isinstance(roles, str) or not all(isinstance(role, str) for role in roles):
            raise TypeError(f"{name} of slot {number} must be role names, got {shown(roles)}; use ('healer',)")
    return FormationSlot(float(slot.forward_m), float(slot.right_m), tuple(slot.only), tuple(slot.prefers))


__all__ = ["PATTERNS", "PLACES", "Formation", "FormationSlot"]
