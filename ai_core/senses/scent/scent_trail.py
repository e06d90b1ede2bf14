"""Scent trails: marks that sources leave, that fade, and that trackers follow.

Each source has its own scent. The strength of a source determines how far each mark
reaches and how long the trail is. A tracker goes to the newest mark that it smells,
and from there to the next.
"""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import moment_s
from ai_core.errors import finite_number, point, whole_number
from ai_core.saving.fields import LATEST_S, MOST, Fields, State
from ai_core.senses.sensation import Point

__all__ = ["ScentMark", "ScentTrails"]

VERSION = 1

MARK = np.dtype([
    ("order", np.int64), ("scent", np.int64), ("position", np.float32, 3),
    ("strength", np.float64), ("left_at_s", np.float64),
])


MOST_ADDED = 64
"""After how many new marks, kept apart until then, cold ones are let go (count).

Taking up costs O(marks), so that it is not done for each; more would keep cold marks longer than needed.
"""

Distances = Callable[[NDArray[np.float32]], NDArray[np.float64]]


class ScentMark(NamedTuple):
    """A mark as smelled at a place.

    Attributes:
        scent: id of the source that left it.
        position: where it is (m).
        intensity: its intensity at that place, now.
        left_at_s: game time when its source was last there (s).
    """

    scent: int
    position: Point
    intensity: float
    left_at_s: float


class ScentTrails:
    """Marks of any number of scents.

    Args:
        modality_name: modality of the marks; an emitted one.
        radius_m: how far a fresh mark of strength 1 reaches (m), above 0; others
            in proportion, and less as they fade.
        spacing_m: distance between two marks of a trail (m), above 0.
        kept_per_s: share of a mark's strength kept per second, 0 to 1.
        faintest: strength below which a mark is removed, above 0.
        maximum_marks: most marks at a time (count), 1 or more; the oldest are removed first.
        mark_every_s: time between two updates of the marks of sources (s), 0 or more.
        sniff_every_s: time between two smells of one sensor (s), 0 or more.

    Raises:
        TypeError, ValueError: if an argument is of another type or out of range.

    Source: 003_designing_ai_for_games, senses.
    """

    def __init__(
        self,
        *,
        modality_name: str = "smell",
        radius_m: float = 3.0,
        spacing_m: float = 1.0,
        kept_per_s: float = 0.97,
        faintest: float = 0.05,
        maximum_marks: int = 2048,
        mark_every_s: float = 0.1,
        sniff_every_s: float = 0.25,
    ) -> None:
        self.modality_name = modality_name
        self._radius_m = finite_number("radius_m", radius_m, above=0)
        self._spacing_m = finite_number("spacing_m", spacing_m, above=0)
        self._kept_per_s = finite_number("kept_per_s", kept_per_s, minimum=0, maximum=1)
        self._faintest = finite_number("faintest", faintest, above=0)
        self._maximum = whole_number("maximum_marks", maximum_marks, minimum=1)
        self.mark_every_s = finite_number("mark_every_s", mark_every_s, minimum=0)
        self.sniff_every_s = finite_number("sniff_every_s", sniff_every_s, minimum=0)
        self._marks = np.zeros(0, MARK)
        self._added: list[tuple[int, int, Point, float, float]] = []
        self._last: dict[int, tuple[int, Point]] = {}
        self._left = 0

    def __len__(self) -> int:
        return len(self._marks) + len(self._added)

    def leave(self, scent: int, position: object, strength: float, now_s: float) -> None:
        """Leave a mark, or renew the last mark of this scent if it is near.

        Args:
            scent: id of the source.
            position: where its source is (m).
            strength: how strongly it smells, 0 or more.
            now_s: game time (s).

        Raises:
            TypeError, ValueError: if an argument is of another type or out of range.

        Cost: O(1), occasionally O(marks).
        """
        x, y, z = point("position", position).tolist()
        strength = finite_number("strength", strength, minimum=0)
        now_s = moment_s("now_s", now_s)
        scent = whole_number("scent", scent, minimum=0, maximum=MOST)
        if strength < self._faintest or self._warmed_again(scent, (x, y, z), strength, now_s):
            return
        self._added.append((self._left, scent, (x, y, z), strength, now_s))
        self._last[scent] = (self._left, (x, y, z))
        self._left += 1
        if self._left % MOST_ADDED == 0:    # not by how many are kept apart: a save takes them up
            self._tidy(now_s)
        if len(self) > self._maximum:
            if not len(self._marks):
                self._take_up()
            self._let_go(self._marks[:1])
            self._marks = self._marks[1:]

    def smelled(
        self,
        position: object,
        threshold: float,
        kept_per_m: float,
        now_s: float,
        *,
        scent: int | None = None,
        but_not: int = -1,
        distances_m: Distances | None = None,
    ) -> list[ScentMark]:
        """Return the newest mark of each scent that is smelled at a place, by scent.

        Args:
            position: place of the sensor (m).
            threshold: weakest intensity that it smells.
            kept_per_m: share kept per metre.
            now_s: game time (s).
            scent: only this one; None for all.
            but_not: a scent to leave out.
            distances_m: returns the length of the path of a smell from places (n, 3) to the sensor,
                ``inf`` for no path (m); None for straight lines.

        Raises:
            TypeError, ValueError: if an argument is of another type or out of range.

        Cost: O(marks) in NumPy.
        """
        threshold = finite_number("threshold", threshold)
        kept_per_m = finite_number("kept_per_m", kept_per_m, minimum=0, maximum=1)
        self._tidy(moment_s("now_s", now_s))
        marks = self._marks
        if distances_m is None:
            offset = marks["position"].astype(np.float64) - point("position", position)
            distance = np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2 + offset[:, 2] ** 2)
        else:
            distance = distances_m(marks["position"])
        warmth = self._warmth(marks, now_s)
        intensity = warmth * np.float_power(kept_per_m, distance)
        kept = (distance <= self._radius_m * warmth) & (intensity >= threshold)
        kept &= marks["scent"] != but_not
        if scent is not None:
            kept &= marks["scent"] == scent
        newest: dict[int, ScentMark] = {}
        for row in np.flatnonzero(kept).tolist():  # ascending order: later ones replace
            x, y, z = marks["position"][row].tolist()
            whose = int(marks["scent"][row])
            newest[whose] = ScentMark(whose, (x, y, z), float(intensity[row]), float(marks["left_at_s"][row]))
        return [newest[one] for one in sorted(newest)]

    def forget(self, scent: int) -> None:
        """Remove a whole trail."""
        self._marks = self._marks[self._marks["scent"] != scent]
        self._added = [one for one in self._added if one[1] != scent]
        self._last.pop(scent, None)

    def save_state(self) -> State:
        """Return all marks as plain data."""
        self._take_up()
        marks = self._marks
        return {
            "version": VERSION,
            "left": self._left,
            **{name: marks[name].tolist() for name in MARK.names or ()},
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check the result of ``save_state``, and return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=VERSION)
        left = fields.whole("left")
        orders = fields.wholes("order", maximum=left - 1)
        count = len(orders)
        if orders != sorted(set(orders)) or count > self._maximum:
            fields.refuse("order", f"must be ascending, each once, {self._maximum} at most")
        marks = np.zeros(count, MARK)
        marks["order"] = orders
        marks["scent"] = fields.wholes("scent", count=count)
        rows = fields.items("position", count=count)
        marks["position"] = [
            Fields({"mark": row}, fields.place_of(f"position[{index}]")).point("mark")
            for index, row in enumerate(rows)
        ] or np.zeros((0, 3))
        marks["strength"] = fields.numbers("strength", count=count, minimum=0)
        marks["left_at_s"] = fields.numbers("left_at_s", count=count, minimum=-LATEST_S, maximum=LATEST_S)
        fields.end()

        def change() -> None:
            self._marks, self._added, self._left = marks, [], left
            self._last = {
                scent: (order, (x, y, z)) for order, scent, (x, y, z) in zip(
                    orders, marks["scent"].tolist(), marks["position"].tolist(), strict=True)
            }

        return change

    def _warmed_again(self, scent: int, place: Point, strength: float, now_s: float) -> bool:
        """Warm the last mark of a scent again if it is near and not cold; return whether it was."""
        order, last = self._last.get(scent, (-1, place))
        if order < 0 or sum((a - b) ** 2 for a, b in zip(place, last, strict=True)) >= self._spacing_m**2:
            return False
        is_added = bool(self._added) and order >= self._added[0][0]
        if is_added:
            at = bisect_left(self._added, (order,))
            before, left_at_s = self._added[at][3:]
        else:
            row = int(np.searchsorted(self._marks["order"], order))
            before, left_at_s = float(self._marks["strength"][row]), float(self._marks["left_at_s"][row])
        if before * self._kept_per_s ** max(now_s - left_at_s, 0.0) < self._faintest:
            return False
        if is_added:
            self._added[at] = (*self._added[at][:3], strength, now_s)
        else:
            self._marks["strength"][row], self._marks["left_at_s"][row] = strength, now_s
        return True

    def _warmth(self, marks: NDArray[np.void], now_s: float) -> NDArray[np.float64]:
        age_s = np.maximum(now_s - marks["left_at_s"], 0.0)
        warmth: NDArray[np.float64] = marks["strength"] * np.float_power(self._kept_per_s, age_s)
        return warmth

    def _take_up(self) -> None:
        if self._added:
            self._marks = np.concatenate([self._marks, np.array(self._added, MARK)])
            self._added = []

    def _tidy(self, now_s: float) -> None:
        """Take up new marks, and let go those that are cold."""
        self._take_up()
        is_warm = self._warmth(self._marks, now_s) >= self._faintest
        if not is_warm.all():
            self._let_go(self._marks[~is_warm])
            self._marks = self._marks[is_warm]

    def _let_go(self, marks: NDArray[np.void]) -> None:
        """Forget that these marks are the last of their scents."""
        for order, scent in zip(marks["order"].tolist(), marks["scent"].tolist(), strict=True):
            if scent in self._last and self._last[scent][0] == order:
                del self._last[scent]
