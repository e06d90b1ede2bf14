"""Conflict log: kind, strength and participants of recent fights, fading with time."""
from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import moment_s
from ai_core.errors import UnknownNameError, as_array, finite_number, several_names, shown, whole_number
from ai_core.maps.map_area import MapArea
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LARGEST_FLOAT32, LATEST_S
from ai_core.saving.kinds import ArrayOf, Columns

__all__ = ["Conflict", "ConflictLog"]

REPORT = np.dtype([
    ("place", np.float32, 2), ("kind", np.int32), ("strength", np.float32), ("numbers", np.int32),
    ("capabilities", np.uint32), ("at_s", np.float64)])

MOST_STRENGTH, MOST_NUMBERS, MOST_CAPABILITIES = 1e9, 1_000_000, (1 << 32) - 1


class Conflict(NamedTuple):
    """Summary of the fights around a position, faded to the time of the query.

    Attributes:
        strength: total strength by kind.
        numbers: number of participants by kind, faded like the strength.
        capabilities: capabilities of all participants, as bits.
        last_s: time of the latest report (s), ``-inf`` for none.
    """

    strength: dict[str, float]
    numbers: dict[str, float]
    capabilities: int
    last_s: float


class ConflictLog(Saveable):
    """The latest reports of fights.

    The layer "conflict" of a decision map shows where fights are; this log holds their
    kinds, strengths and participants.

    Args:
        kinds: names of the kinds, such as "attack", "defense", "losses".
        kept_per_s: share of the weight of a report kept per second, 0 to 1.
        most: largest number of reports kept (count), 1 or more; the oldest are dropped first.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or is out of range.

    Source: 003_designing_ai_for_games, conflict maps.
    """

    SHOWN = ("kinds",)

    STATE = DeclaredState(reports=Columns(
        at="_in_order", kind=ArrayOf(np.int32, minimum=0, maximum=lambda log: len(log.kinds) - 1),
        strength=ArrayOf(np.float32, minimum=0, maximum=MOST_STRENGTH),
        numbers=ArrayOf(np.int32, minimum=0, maximum=MOST_NUMBERS), capabilities=ArrayOf(np.uint32),
        at_s=ArrayOf(minimum=-LATEST_S, maximum=LATEST_S),
        place=ArrayOf(np.float32, shape=(None, 2), minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32)))

    def __init__(self, kinds: Sequence[str], *, kept_per_s: float = 0.95, most: int = 4096) -> None:
        kinds = several_names("kinds", kinds)
        if not kinds or not all(kinds):
            raise ValueError(f"kinds must be one or more non-empty names, got {shown(kinds)}")
        if len(set(kinds)) != len(kinds):
            raise ValueError(f"kinds must be unique, got {shown(kinds)}")
        self.kinds = tuple(kinds)
        self._kept_per_s = finite_number("kept_per_s", kept_per_s, minimum=0, maximum=1)
        self._rows = np.zeros(whole_number("most", most, minimum=1), REPORT)
        self._next = self._count = 0

    def __len__(self) -> int:
        return self._count

    def report(
        self, kind: str, places: ArrayLike, strengths: ArrayLike, now_s: float, *,
        numbers: ArrayLike = 1, capabilities: ArrayLike = 0,
    ) -> int:
        """Record fights of one kind; return their number.

        Args:
            kind: one of ``kinds``.
            places: (n, 2) or (n, 3) positions, as for ``MapArea`` (m).
            strengths: one value or (n,), 0 or more.
            now_s: game time (s).
            numbers: one value or (n,) int, number of participants, 0 or more.
            capabilities: one value or (n,) int, capabilities of the participants, as bits.

        Raises:
            UnknownNameError: if the kind is unknown.
            TypeError, ValueError: if an argument has the wrong type or length, or is out of range;
                nothing is recorded then.

        Cost: O(n).
        """
        if kind not in self.kinds:
            raise UnknownNameError("kind of conflict", kind, self.kinds)
        ground = MapArea.on_ground(places)
        count = len(ground)
        rows = np.zeros(count, REPORT)
        rows["place"], rows["kind"], rows["at_s"] = ground, self.kinds.index(kind), moment_s("now_s", now_s)
        rows["strength"] = _column("strengths", strengths, count, MOST_STRENGTH, "iuf")
        rows["numbers"] = _column("numbers", numbers, count, MOST_NUMBERS, "iu")
        rows["capabilities"] = _column("capabilities", capabilities, count, MOST_CAPABILITIES, "iu")
        size = len(self._rows)
        rows = rows[-size:]
        self._rows[(self._next + np.arange(len(rows))) % size] = rows
        self._next = (self._next + len(rows)) % size
        self._count = min(size, self._count + len(rows))
        return count

    def around(self, place: Sequence[float], radius_m: float, now_s: float) -> Conflict:
        """Return a summary of the fights within a radius (m) of a position.

        Raises:
            TypeError, ValueError: if an argument has the wrong type or is out of range.

        Cost: O(reports) in NumPy.
        """
        x, y = MapArea.on_ground([place])[0].tolist()
        radius_m = finite_number("radius_m", radius_m, minimum=0)
        now_s = moment_s("now_s", now_s)
        rows = self._rows[:self._count]
        apart = rows["place"].astype(np.float64) - (x, y)
        near = np.flatnonzero((apart ** 2).sum(axis=1) <= radius_m ** 2)
        # Oldest first, as rows are after a load: sums in another order differ in their last bits.
        rows = rows[np.roll(near, -np.searchsorted(near, self._next))]
        weight = np.float_power(self._kept_per_s, np.maximum(0.0, now_s - rows["at_s"]))
        strength = np.bincount(rows["kind"], rows["strength"] * weight, len(self.kinds))
        numbers = np.bincount(rows["kind"], rows["numbers"] * weight, len(self.kinds))
        return Conflict(
            dict(zip(self.kinds, strength.tolist(), strict=True)),
            dict(zip(self.kinds, numbers.tolist(), strict=True)),
            int(np.bitwise_or.reduce(rows["capabilities"], initial=0)),
            float(rows["at_s"].max(initial=-np.inf)))

    @property
    def _in_order(self) -> dict[str, NDArray[Any]]:
        """Columns of all reports, oldest first."""
        # While not full, the oldest report is row 0; when full, the row that is overwritten next.
        rows = np.roll(self._rows, -self._next) if self._count == len(self._rows) else self._rows[:self._count]
        return {name: rows[name] for name in REPORT.names or ()}

    @_in_order.setter
    def _in_order(self, columns: dict[str, NDArray[Any]]) -> None:
        count = len(columns["kind"])
        for name, column in columns.items():
            self._rows[name][:count] = column
        self._count, self._next = count, count % len(self._rows)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.reports["kind"]) > len(self._rows):
            refuse("reports", f"must be at most {len(self._rows)}, got {len(values.reports['kind'])}")


def _column(name: str, values: ArrayLike, count: int, most: float, kinds: str) -> NDArray[np.generic]:
    array = as_array(name, values)
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {'integers' if kinds == 'iu' else 'numbers'}, got {shown(values)}")
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{name} must be one, or one per position, {count}, got shape {array.shape}")
    is_wrong = ~((array >= 0) & (array <= most))
    if is_wrong.any():
        raise ValueError(f"{name} must be 0 to {most:g}, got {np.atleast_1d(array)[np.atleast_1d(is_wrong)][0]}")
    return np.broadcast_to(array, (count,))
