"""What a march knows of each member: arrays with one row each, by ascending id."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_ID", "NO_SLOT", "Marchers"]

LARGEST_ID = (1 << 31) - 1
"""Ids are kept in 32 bits."""
NO_SLOT = -1
"""What stands for a slot where a member has none."""

Floats = NDArray[np.float64]


class Marchers:
    """Rows of members; all arrays are (n,) or (n, d).

    Attributes:
        ids: ascending.
        positions: where they are (m).
        speeds: how fast they can go (m/s).
        radii: half their width (m).
        slots: of the formation, -1 where one has none.
        arcs: how far along the path they are (m), NaN where that is not known yet.
        away: how far from their slots (m).
        late_s: how long each has been late without getting nearer (s).
        nearest_m: the nearest each has been to its slot since it is late (m).
        is_straggler: who is waited for no more.
        is_detached: who has a task of his own, and no slot to be in.
        destinations: where each is to go (m).
        velocities: how (m/s).
        rises: how fast each is to rise with its lane (m/s), however high above it it stands; 0 in the plane, and for
            who is on another floor. Of the last step only, and not saved.
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

    @property
    def slowest(self) -> float:
        """Speed of the slowest that is waited for (m/s); of all if nobody is."""
        speeds = self.speeds if self.is_straggler.all() else self.speeds[~self.is_straggler]
        return float(speeds.min())

    def row(self, member_id: int) -> int | None:
        """Return the row of a member, None if it is none."""
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

    def put_rows(self, rows: Sequence[dict[str, Any]]) -> None:
        """Have these rows in place of all, by the names of the arrays; 0 for an array that is not named. Cost: O(n)."""
        for name, array in vars(self).items():
            nothing = np.zeros(array.shape[1:], array.dtype)
            values = [row.get(name, nothing) for row in rows]
            setattr(self, name, np.array(values, array.dtype).reshape(len(rows), *array.shape[1:]))

    def delete(self, row: int) -> None:
        """Take a row out. Cost: O(n)."""
        for name, array in vars(self).items():
            setattr(self, name, np.delete(array, row, axis=0))

    def reset(self) -> None:
        """Forget how far they had come; for another path."""
        self.arcs[:] = np.nan
        self.away[:] = self.nearest_m[:] = np.inf
        self.late_s[:] = 0
        self.is_straggler[:] = False

    def stay(self) -> None:
        """Let everybody stand where he is."""
        self.destinations[:] = self.positions
        self.velocities[:] = self.rises[:] = 0

    def note_lateness(self, away: Floats, elapsed_s: float, limit_m: float, patience_s: float) -> Floats:
        """Count for how long each has been late; return how late those are that are waited for, (n,) m.

        Who is farther away than ``limit_m`` and comes no nearer for ``patience_s`` is a
        straggler, until he is near again. Cost: O(n).
        """
        is_late = away > limit_m
        comes_nearer = away < self.nearest_m - 0.05 * limit_m
        self.nearest_m[:] = np.where(is_late, np.where(comes_nearer, away, self.nearest_m), np.inf)
        self.late_s[:] = np.where(is_late & ~comes_nearer, self.late_s + elapsed_s, 0.0)
        self.is_straggler |= self.late_s > patience_s
        self.is_straggler &= away > 0.5 * limit_m
        return np.where(self.is_straggler, 0.0, away)
