"""Formations: patterns of slots for any number of members, and the cost of roles in slots."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, check_type, finite_number, shown, whole_number
from ai_core.saving.kinds import ListOf, MapOf, Number, Record, Row, Text, Whole

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
    "line": _line, "column": _column, "wedge": _wedge, "phalanx": _phalanx, "circle": _circle}
"""Patterns by name; called with the number of members and the number abreast (0 chooses)."""
Floats = NDArray[np.float64]


def _from_middle(offsets: Offsets) -> Floats:
    return _share(((offsets - offsets.mean(axis=0)) ** 2).sum(axis=1))


def _from_flank(offsets: Offsets) -> Floats:
    return 1 - _share(np.abs(offsets[:, 1] - offsets[:, 1].mean()))


def _share(values: Floats) -> Floats:
    """Return values scaled to 0 for the smallest and 1 for the largest."""
    spread = float(np.ptp(values))
    return (values - values.min()) / spread if spread > 0 else np.zeros(len(values))


PLACES: dict[str, Callable[[Offsets], Floats]] = {
    "front": lambda offsets: 1 - _share(offsets[:, 0]), "rear": lambda offsets: _share(offsets[:, 0]),
    "center": _from_middle, "flank": _from_flank}
"""Parts of a pattern that a role can prefer; called with the slots, return how far each is from the part, 0 to 1."""
MOST_SLOTS = 10_000
"""Largest number of slots of a formation (count); an assignment of more takes minutes."""


class FormationSlot(NamedTuple):
    """One slot of a custom formation, relative to the commander."""

    forward_m: float
    """Distance ahead of the commander (m); negative is behind."""
    right_m: float
    """Distance to the right (m); negative is left."""
    only: tuple[str, ...] = ()
    """Roles allowed in the slot; empty allows all members."""
    prefers: tuple[str, ...] = ()
    """Roles preferred in the slot; empty for no preference."""


def _slot(number: int, given: object) -> FormationSlot:
    if isinstance(given, FormationSlot):
        return given
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != 2:
        raise TypeError(f"slot {number} must be a FormationSlot or a pair (forward_m, right_m), got {shown(given)}")
    return FormationSlot(given[0], given[1])


class FormationSettings(TypedDict, total=False):
    """Keyword arguments common to all patterns; see ``Formation``."""

    places: Mapping[str, str]
    mismatch_m: float


@dataclass(frozen=True)
class Formation:
    """A pattern of slots around a commander, which takes the first slot.

    Create one with ``line``, ``column``, ``wedge``, ``phalanx``, ``circle`` or ``custom``.

    Attributes:
        pattern: name of the pattern.
        spacing_m: distance between neighbors (m), above 0.
        files: members abreast in a phalanx or column; 0 chooses by the number of members.
        custom_slots: slots of the pattern "custom"; with more members the pattern repeats behind.
        places: preferred part of the pattern by role, one of ``PLACES``.
        mismatch_m: cost of a slot that does not suit a role, as additional distance (m), 0 or more.

    Raises:
        TypeError, ValueError: if a number is out of range, or a custom formation has no slots.
        UnknownNameError: if the pattern or a place is unknown.

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
            raise ValueError("a custom formation must have at least one slot, got none; the first is the commander's")
        for role, place in self.places.items():
            if place not in PLACES:
                raise UnknownNameError(f"place of role {role!r}", place, PLACES)
        set_(self, "places", dict(self.places))

    @classmethod
    def line(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a line abreast with the commander in the middle."""
        return cls("line", spacing_m, **more)

    @classmethod
    def column(cls, spacing_m: float = 2.0, files: int = 1, **more: Unpack[FormationSettings]) -> Formation:
        """Return a column behind the commander, in one file or more."""
        return cls("column", spacing_m, files, **more)

    @classmethod
    def wedge(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a wedge with the commander at the point."""
        return cls("wedge", spacing_m, **more)

    @classmethod
    def phalanx(cls, spacing_m: float = 2.0, files: int = 0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a block of ranks, about twice as wide as deep unless ``files`` is given."""
        return cls("phalanx", spacing_m, files, **more)

    @classmethod
    def circle(cls, spacing_m: float = 2.0, **more: Unpack[FormationSettings]) -> Formation:
        """Return a ring around the commander."""
        return cls("circle", spacing_m, **more)

    @classmethod
    def custom(
        cls, slots: Iterable[FormationSlot | Sequence[float]], spacing_m: float = 2.0, **more: Unpack[FormationSettings]
    ) -> Formation:
        """Return a formation of given slots; with more members the pattern repeats behind, ``spacing_m`` apart.

        Args:
            slots: slots, or pairs (forward_m, right_m); the first is the commander's.
            spacing_m: distance between repetitions of the pattern (m), above 0.
            more: see ``Formation``.

        Raises:
            TypeError, ValueError: if a slot is neither, or a value is out of range.
        """
        if not isinstance(slots, Iterable):
            raise TypeError(f"slots must be FormationSlots or pairs (forward_m, right_m), got {shown(slots)}")
        made = tuple(_slot(number, one) for number, one in enumerate(slots))
        return cls("custom", spacing_m, 0, made, **more)

    def slots(self, count: int) -> NDArray[np.float64]:
        """Return the offsets of the slots for ``count`` members: shape (count, 2), ahead and to the right (m).

        Slot 0 is the commander's. A further member does not move the other slots, except in a circle and
        in a phalanx with ``files`` 0.

        Raises:
            TypeError, ValueError: if ``count`` is not an integer from 0 to ``MOST_SLOTS``.

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

    def role_costs(self, roles: Sequence[Iterable[str]], count: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return the costs of the slots for members with given roles, to be added to the distance.

        Args:
            roles: roles of each member.
            count: number of slots.

        Returns:
            A row of costs for each set of roles, shape (rows, count) (m): 0 where the slot suits, ``inf`` where it is
            not allowed; and the row of each member, shape (members,).

        Cost: O(members + rows * slots).
        """
        if not count or not (self.places or self.custom_slots):
            return np.zeros((1, count)), np.zeros(len(roles), np.intp)
        owned = [frozenset(one) for one in roles]
        kinds = {one: row for row, one in enumerate(dict.fromkeys(owned))}
        slots = self.slots(count)
        wanted = {place: PLACES[place](slots) for place in {*self.places.values()}}
        costs = np.array([self._costs_of(one, wanted, count) for one in kinds]).reshape(-1, count)
        return costs, np.array([kinds[one] for one in owned], np.intp)

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



def _checked_slot(number: int, slot: FormationSlot) -> FormationSlot:
    check_type(f"slot {number}", slot, FormationSlot)
    for name in ("forward_m", "right_m"):
        finite_number(f"{name} of slot {number}", getattr(slot, name), minimum=-1e4, maximum=1e4)
    for name in ("only", "prefers"):
        roles = getattr(slot, name)
        if isinstance(roles, str) or not all(isinstance(role, str) for role in roles):
            raise TypeError(f"{name} of slot {number} must be role names, got {shown(roles)}; use ('healer',)")
    return FormationSlot(float(slot.forward_m), float(slot.right_m), tuple(slot.only), tuple(slot.prefers))


ROLES_STATE = ListOf(Text(), make=tuple)
FORMATION_STATE = Record(
    Formation, pattern=Text(), spacing_m=Number(), files=Whole(),
    custom_slots=ListOf(Row(FormationSlot, Number(), Number(), ROLES_STATE, ROLES_STATE), make=tuple),
    places=MapOf(Text()), mismatch_m=Number())
"""How a formation is saved."""

__all__ = ["FORMATION_STATE", "PATTERNS", "PLACES", "Formation", "FormationSlot"]
