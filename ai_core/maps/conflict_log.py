"""Conflict log: kind, strength and participants of recent fights, fading with time."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import moment_s
from ai_core.errors import UnknownNameError, as_array, finite_number, shown, whole_number
from ai_core.maps.map_area import MapArea
from ai_core.saving.fields import LARGEST_FLOAT32, LATEST_S, Fields, State

__all__ = ["Conflict", "ConflictLog"]

VERSION = 1

REPORT = np.dtype([
    ("place", np.float32, 2), ("kind", np.int32), ("strength", np.float32), ("numbers", np.int32),
    ("capabilities", np.uint32), ("at_s", np.float64),
])

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


class ConflictLog:
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

    def __init__(self, kinds: Sequence[str], *, kept_per_s: float = 0.95, most: int = 4096) -> None:
        if isinstance(kinds, str) or not kinds or not all(isinstance(kind, str) and kind for kind in kinds):
            raise TypeError(f"kinds must be a sequence of one or more non-empty strings, got {shown(kinds)}")
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
        rows = rows[(apart ** 2).sum(axis=1) <= radius_m ** 2]
        weight = np.float_power(self._kept_per_s, np.maximum(0.0, now_s - rows["at_s"]))
        strength = np.bincount(rows["kind"], rows["strength"] * weight, len(self.kinds))
        numbers = np.bincount(rows["kind"], rows["numbers"] * weight, len(self.kinds))
        return Conflict(
            dict(zip(self.kinds, strength.tolist(), strict=True)),
            dict(zip(self.kinds, numbers.tolist(), strict=True)),
            int(np.bitwise_or.reduce(rows["capabilities"], initial=0)),
            float(rows["at_s"].max(initial=-np.inf)),
        )

    def save_state(self) -> State:
        """Return all reports as plain data, oldest first."""
        # While not full, the oldest report is row 0; when full, the row that is overwritten next.
        rows = np.roll(self._rows, -self._next) if self._count == len(self._rows) else self._rows[:self._count]
        return {
            "version": VERSION,
            **{name: rows[name].tolist() for name in ("kind", "strength", "numbers", "capabilities", "at_s")},
            "x": rows["place"][:, 0].tolist(), "y": rows["place"][:, 1].tolist(),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that applies it.

        Raises:
            StateError: if the state is invalid; the message names the field and the reason.
        """
        fields = Fields.versioned(state, version=VERSION)
        kinds = fields.wholes("kind", maximum=len(self.kinds) - 1)
        count = len(kinds)
        if count > len(self._rows):
            fields.refuse("kind", f"must be at most {len(self._rows)} reports, got {count}")
        rows = np.zeros(count, REPORT)
        rows["kind"] = kinds
        rows["strength"] = fields.numbers("strength", count=count, minimum=0, maximum=MOST_STRENGTH)
        rows["numbers"] = fields.wholes("numbers", count=count, maximum=MOST_NUMBERS)
        rows["capabilities"] = fields.wholes("capabilities", count=count, maximum=MOST_CAPABILITIES)
        rows["at_s"] = fields.numbers("at_s", count=count, minimum=-LATEST_S, maximum=LATEST_S)
        for axis, name in enumerate(("x", "y")):
            rows["place"][:, axis] = fields.numbers(
                name, count=count, minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32)
        fields.end()

        def change() -> None:
            self._rows[:count] = rows
            self._count, self._next = count, count % len(self._rows)

        return change


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
