"""Table of members on the march: arrays with one row per member, by ascending id."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.declared_state import ArrayOf

__all__ = ["LARGEST_ID", "MARCHING_STATE", "NO_SLOT", "MemberTable"]

LARGEST_ID = (1 << 31) - 1
"""Largest member id; ids are stored in 32 bits."""
NO_SLOT = -1
"""Slot number of a member without a slot."""

Floats = NDArray[np.float64]


PLACES = ArrayOf(shape=lambda squad: (None, squad.dimensions))
MARCHING_STATE = {
    "positions": PLACES, "destinations": PLACES, "velocities": PLACES,
    "slots": ArrayOf(np.int32, minimum=-1), "arcs": ArrayOf(absent=math.nan), "away": ArrayOf(absent=math.inf),
    "late_s": ArrayOf(), "nearest_m": ArrayOf(absent=math.inf), "is_straggler": ArrayOf(np.bool_),
}
"""Columns of a squad's members that are saved."""


class MemberTable:
    """Rows of members; all arrays have shape (n,) or (n, d).

    Attributes:
        ids: ids, ascending.
        positions: positions (m).
        speeds: highest speeds (m/s).
        radii: half the widths (m).
        slots: slots in the formation, -1 for none.
        arcs: arcs along the path (m), NaN until first computed.
        away: distances from the slots (m).
        late_s: how long each member has been late without coming nearer (s).
        nearest_m: least distance from its slot since the member has been late (m).
        is_straggler: whether the slots no longer wait for the member.
        is_detached: whether the member has a task and keeps no slot.
        destinations: positions to go to (m).
        velocities: velocities to move with (m/s).
        rises: vertical speed with which a member follows its lane (m/s), whatever its height above it; 0 in
            2D, and for a member on another floor. Valid for the last step only; not saved.
    """

    def __init__(self, dimensions: int) -> None:
        self.ids = np.zeros(0, np.int32)
        self.positions = np.zeros((0, dimensions))
        self.speeds = np.zeros(0)
        self.radii = np.zeros(0)
        self.slots = np.zeros(0, np.int32)
        self.arcs = np.zeros(0)
        self.away = np.zeros(0)
        self.late_s = np.zeros(0)
        self.nearest_m = np.zeros(0)
        self.is_straggler = np.zeros(0, np.bool_)
        self.is_detached = np.zeros(0, np.bool_)
        self.destinations = np.zeros((0, dimensions))
        self.velocities = np.zeros((0, dimensions))
        self.rises = np.zeros(0)

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, member_id: int) -> int | None:
        """Return the row of a member, None for an unknown id."""
        row = int(np.searchsorted(self.ids, member_id))
        return row if row < len(self.ids) and self.ids[row] == member_id else None

    def insert(self, member_id: int, position: Floats, speed: float, radius_m: float) -> None:
        """Add a row. Cost: O(n)."""
        row = int(np.searchsorted(self.ids, member_id))
        values: dict[str, Any] = {
            "ids": member_id, "positions": position, "speeds": speed, "radii": radius_m, "slots": NO_SLOT,
            "arcs": np.nan, "away": np.inf, "nearest_m": np.inf, "destinations": position,
        }
        for name, array in vars(self).items():
            setattr(self, name, np.insert(array, row, values.get(name, 0), axis=0))

    def delete(self, row: int) -> None:
        """Delete a row. Cost: O(n)."""
        for name, array in vars(self).items():
            setattr(self, name, np.delete(array, row, axis=0))

    def reset(self) -> None:
        """Reset the progress of all members, for a new path."""
        self.arcs[:] = np.nan
        self.away[:] = self.nearest_m[:] = np.inf
        self.late_s[:] = 0
        self.is_straggler[:] = False

    def stay(self) -> None:
        """Make every member stay at its position."""
        self.destinations[:] = self.positions
        self.velocities[:] = self.rises[:] = 0
