"""Progress along a way: how far one has come, where to go next, and whether one is stuck. Time is handed in."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import LARGEST, finite_number, numbers, shown
from ai_core.saving.fields import Fields, State

__all__ = ["PathProgress", "StuckDetection"]


class PathProgress:
    """How far a mover has come on a way.

    It looks for the mover on the way from where it was last, and no farther ahead than
    ``window_m``: so it does not jump to a later part of a way that crosses itself.

    Args:
        points: (n, 2) or (n, 3), n at least 1, where the way turns.
        arrival_m: it is there when it is so near to the end, 0 or more.
        window_m: how far ahead of the last place it may be found, above 0.

    Attributes:
        points: (n, 2) or (n, 3) float64.
        length_m: of the whole way.
        walked_m: how far along the way it has come; never falls.
        aside_m: how far beside the way it is.
        is_there: True once it was near enough to the end, having come along the way.

    Raises:
        ValueError: if the points have another shape or are not finite, or a number is out of range.

    >>> progress = PathProgress([(0, 0), (10, 0), (10, 10)])
    >>> progress.note((6, 1))
    >>> progress.walked_m, progress.aside_m, progress.ahead(5.0).tolist()
    (6.0, 1.0, [10.0, 1.0])
    """

    def __init__(self, points: ArrayLike, *, arrival_m: float = 0.5, window_m: float = 5.0) -> None:
        self.points: NDArray[np.float64] = numbers("points", points).copy()
        if self.points.ndim != 2 or self.points.shape[1] not in (2, 3) or not len(self.points):
            raise ValueError(f"points must be (n, 2) or (n, 3), at least one, got {shown(points)}")
        if not (np.abs(self.points) <= LARGEST).all():
            raise ValueError(f"points must be finite, at most {LARGEST:g} either way")
        self._arrival_m = finite_number("arrival_m", arrival_m, minimum=0)
        self._window_m = finite_number("window_m", window_m, above=0)
        self._pieces = np.diff(self.points, axis=0)
        self._ends = np.concatenate([[0.0], np.cumsum(np.linalg.norm(self._pieces, axis=1))])
        self.length_m = float(self._ends[-1])
        self.walked_m = self.aside_m = 0.0
        self.is_there = False

    @property
    def left_m(self) -> float:
        """How far it is along the way to its end."""
        return self.length_m - self.walked_m

    def note(self, position: ArrayLike) -> None:
        """Say where the mover is now.

        Raises:
            ValueError: if it is no finite place of as many dimensions.

        Cost: O(pieces within the window).
        """
        here = numbers("position", position)
        if here.shape != self.points.shape[1:] or not np.isfinite(here).all():
            raise ValueError(f"position must be {self.points.shape[1]} finite numbers, got {shown(position)}")
        first = max(0, int(np.searchsorted(self._ends, self.walked_m, "right")) - 1)
        last = int(np.searchsorted(self._ends, self.walked_m + self._window_m, "right"))
        nearest = math.inf
        pieces = len(self._pieces)
        for piece in range(max(0, min(first, pieces - 1)), min(max(first + 1, last), pieces)):
            at_m, far_m = self._nearest_on(piece, here)
            if far_m < nearest:
                nearest, found_m = far_m, at_m
        if nearest == math.inf:  # a way of one point
            nearest, found_m = math.dist(here, self.points[0]), 0.0
        self.aside_m = nearest
        self.walked_m = max(self.walked_m, min(found_m, self.walked_m + self._window_m))
        near_end = math.dist(here, self.points[-1]) <= self._arrival_m
        self.is_there = self.is_there or (near_end and self.left_m <= 2 * self._arrival_m + 1e-9)

    def ahead(self, distance_m: float) -> NDArray[np.float64]:
        """Return the point of the way that lies so far ahead: where to steer for; its end at most.

        Raises:
            ValueError: if the distance is negative.
        """
        at_m = min(self.walked_m + finite_number("distance_m", distance_m, minimum=0), self.length_m)
        piece = min(int(np.searchsorted(self._ends, at_m, "right")) - 1, len(self._pieces) - 1)
        if piece < 0:
            first: NDArray[np.float64] = self.points[0].copy()
            return first
        length_m = self._ends[piece + 1] - self._ends[piece]
        share = (at_m - self._ends[piece]) / length_m if length_m else 0.0
        place: NDArray[np.float64] = self.points[piece] + share * self._pieces[piece]
        return place

    def save_state(self) -> State:
        """Return the way and how far it has come."""
        return {
            "version": 1, "points": self.points.tolist(), "walked_m": self.walked_m, "aside_m": self.aside_m,
            "is_there": self.is_there,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it, the way included.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        points: Any = fields.anything("points")
        try:
            fresh = PathProgress(points, arrival_m=self._arrival_m, window_m=self._window_m)
        except (TypeError, ValueError) as error:
            fields.refuse("points", str(error))
        fresh.walked_m = fields.number("walked_m", minimum=0, maximum=fresh.length_m)
        fresh.aside_m = fields.number("aside_m", minimum=0)
        fresh.is_there = fields.flag("is_there")
        fields.end()
        return lambda: self.__dict__.update(fresh.__dict__)

    def _nearest_on(self, piece: int, here: NDArray[np.float64]) -> tuple[float, float]:
        """Return where along the way a piece is nearest, and how far that is."""
        begin, along = self.points[piece], self._pieces[piece]
        length_m = float(self._ends[piece + 1] - self._ends[piece])
        share = min(1.0, max(0.0, float(np.dot(here - begin, along)) / length_m ** 2)) if length_m else 0.0
        return float(self._ends[piece]) + share * length_m, math.dist(here, begin + share * along)


class StuckDetection:
    """Whether a mover gets on: it is stuck if it has come less than so far in so long.

    Args:
        least_m: how far it must come, above 0; along its way, or at all.
        within_s: in how long, above 0 (s).

    Raises:
        ValueError: if a number is out of range.

    Attributes:
        is_stuck: as of the last note.

    >>> stuck = StuckDetection(least_m=1.0, within_s=2.0)
    >>> [stuck.note(walked_m, now_s) for walked_m, now_s in ((0.0, 0.0), (0.4, 1.0), (0.5, 2.0), (2.0, 2.5))]
    [False, False, True, False]
    """

    def __init__(self, *, least_m: float = 0.5, within_s: float = 2.0) -> None:
        self._least_m = finite_number("least_m", least_m, above=0)
        self._within_s = finite_number("within_s", within_s, above=0)
        self.is_stuck = False
        self._from_m: float | None = None
        self._since_s = 0.0

    def note(self, walked_m: float, now_s: float) -> bool:
        """Say how far it has come by now, such as ``PathProgress.walked_m``; return whether it is stuck.

        Raises:
            ValueError: if a number is not finite, or time goes back.
        """
        walked = finite_number("walked_m", walked_m)
        now = finite_number("now_s", now_s)
        if self._from_m is not None and now < self._since_s:
            raise ValueError(f"now_s must not go back, got {now:g} after {self._since_s:g}; begin_anew() after loading")
        if self._from_m is None or abs(walked - self._from_m) >= self._least_m:
            self._from_m, self._since_s = walked, now
        self.is_stuck = now - self._since_s >= self._within_s
        return self.is_stuck

    def begin_anew(self) -> None:
        """Forget what was, as for another way."""
        self._from_m, self.is_stuck = None, False

    def save_state(self) -> State:
        """Return since when it has come how far."""
        return {"version": 1, "from_m": self._from_m, "since_s": self._since_s, "is_stuck": self.is_stuck}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        from_m = None if fields.anything("from_m") is None else fields.number("from_m")
        since_s, is_stuck = fields.number("since_s"), fields.flag("is_stuck")
        fields.end()

        def change() -> None:
            self._from_m, self._since_s, self.is_stuck = from_m, since_s, is_stuck

        return change
