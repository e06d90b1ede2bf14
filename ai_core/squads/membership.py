"""Who is in a squad, and where."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import UnknownNameError, as_array, finite_number, positions, several_names, shown, whole_number
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.commander import SquadMember
from ai_core.squads.marchers import Marchers

__all__ = ["LARGEST_ID", "Membership", "checked_place"]

LARGEST_ID = (1 << 31) - 1
"""Ids are kept in 32 bits."""

Floats = NDArray[np.float64]


class Membership:
    """Members by ascending id, and a row of arrays for each."""

    def __init__(self, name: str, dimensions: int) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        self.name, self.dimensions = name, dimensions
        self.marchers = Marchers(dimensions)
        self._members: dict[int, SquadMember] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, member_id: object) -> bool:
        return member_id in self._members

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown(self.name)} of {len(self)}>"

    @property
    def members(self) -> Mapping[int, SquadMember]:
        """Members by id, ascending."""
        return MappingProxyType(self._members)

    @property
    def member_ids(self) -> NDArray[np.int32]:
        """(n,) ascending."""
        return self.marchers.ids.copy()

    @property
    def positions(self) -> NDArray[np.float32]:
        """Where members are, as was told last, (n, d) m."""
        return self.marchers.positions.astype(np.float32)

    @property
    def centre(self) -> NDArray[np.float32] | None:
        """The middle of all (m); None if nobody is here."""
        return self.marchers.positions.mean(axis=0).astype(np.float32) if len(self) else None

    @property
    def stragglers(self) -> tuple[int, ...]:
        """Ids of those who are waited for no more."""
        return tuple(self.marchers.ids[self.marchers.is_straggler].tolist())

    def row_of(self, member_id: int) -> int:
        """Return the row of a member in all arrays.

        Raises:
            UnknownNameError: if it is no member.
        """
        row = self.marchers.row(member_id) if type(member_id) is int else None
        if row is None:
            raise UnknownNameError(f"member of squad {self.name!r}", member_id, self._members)
        return row

    def slot_of(self, member_id: int) -> int:
        """Return the slot of a member in the formation, -1 while it has none.

        Raises:
            UnknownNameError: if it is no member.
        """
        return int(self.marchers.slots[self.row_of(member_id)])

    def place(self, places: ArrayLike, member_ids: Iterable[int] | None = None) -> None:
        """Tell where members are now, in one batch.

        Args:
            places: (n, d) of all by ascending id, or of those named (m).
            member_ids: whose; None for all.

        Raises:
            UnknownNameError: if one is no member.
            TypeError, ValueError: if the places are no finite (n, d); nothing is changed then.

        Cost: O(n).
        """
        new = positions("places", places, dimensions=(self.dimensions,))
        rows = None if member_ids is None else [self.row_of(one) for one in member_ids]
        count = len(self) if rows is None else len(rows)
        if len(new) != count:
            raise ValueError(f"places must have {count} rows, one a member, got {len(new)}")
        if rows is None:
            self.marchers.positions[:] = new
        else:
            self.marchers.positions[rows] = new

    def checked_member(
        self, member_id: int, speed: float, radius_m: float, roles: Iterable[str],
        capabilities: Capabilities | None, data: Any,
    ) -> SquadMember:
        """Return a member that may be taken in, or raise as ``Squad.add``."""
        whole_number("member_id", member_id, minimum=0, maximum=LARGEST_ID)
        if capabilities is not None and not isinstance(capabilities, Capabilities):
            raise TypeError(f"capabilities must be Capabilities, got {shown(capabilities)}")
        names = several_names("roles", roles)
        return SquadMember(
            int(member_id), finite_number("speed", speed, above=0, maximum=1e6),
            finite_number("radius_m", radius_m, above=0, maximum=1e6), names, capabilities, data)

    def insert_member(self, member: SquadMember, place: Floats) -> None:
        """Put a member in its row."""
        if member.member_id in self._members:
            raise ValueError(f"squad {self.name!r} has a member {member.member_id}; ids must differ")
        self._members = dict(sorted({**self._members, member.member_id: member}.items()))
        self.marchers.insert(member.member_id, place, member.speed, member.radius_m)

    def delete_member(self, member_id: int) -> SquadMember:
        """Take a member out of its row."""
        self.marchers.delete(self.row_of(member_id))
        return self._members.pop(member_id)

    def change_member(
        self, member_id: int, *, speed: float = 3.0, radius_m: float = 0.4, roles: Iterable[str] = (),
        capabilities: Capabilities | None = None,
    ) -> None:
        """Change what is known of a member; all of it, as ``Squad.add`` takes it.

        Raises:
            UnknownNameError: if it is no member.
            TypeError, ValueError: if an argument is not what it must be.
        """
        row = self.row_of(member_id)
        data = self._members[member_id].data
        member = self.checked_member(member_id, speed, radius_m, roles, capabilities, data)
        self._members[member_id] = member
        self.marchers.speeds[row], self.marchers.radii[row] = member.speed, member.radius_m

    def checked_to_move(self, member_ids: Iterable[int], other: Membership) -> list[int]:
        """Return ids that can all go to another squad, or raise."""
        if other is self:
            raise ValueError(f"squad {self.name!r} cannot take in its own members")
        if other.dimensions != self.dimensions:
            raise ValueError(
                f"squad {other.name!r} has {other.dimensions} dimensions and {self.name!r} {self.dimensions};"
                " both must be of one world")
        ids = list(member_ids)
        if not ids and len(self):
            raise ValueError("name at least one member, got none")
        if len(set(ids)) != len(ids):
            raise ValueError(f"a member comes twice in {shown(ids)}")
        for member_id in ids:
            self.row_of(member_id)
            if member_id in other:
                raise ValueError(f"squad {other.name!r} has a member {member_id} already; ids must differ")
        return ids


def checked_place(name: str, place: ArrayLike, dimensions: int) -> Floats:
    """Return a finite place of as many coordinates, or raise TypeError or ValueError."""
    values = as_array(name, place)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {shown(place)}")
    if values.shape != (dimensions,):
        raise ValueError(f"{name} must have {dimensions} coordinates, got {shown(place)}")
    if not np.isfinite(values).all() or np.abs(values).max() > 1e9:
        raise ValueError(f"{name} must be finite, got {values.tolist()}")
    return values.astype(np.float64)
