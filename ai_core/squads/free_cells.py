"""Ground of squads on the free cells of a grid: free distances, and the nearest places to stand."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import finite_number, flags, several, shown
from ai_core.squads.formation_march import plane_axes

__all__ = ["FreeCells", "GridClearance", "NearestFree", "NearestFreeCell", "free_distances", "moved_to_free"]

Floats = NDArray[np.float64]

STEPS_A_CELL = 4
"""Positions checked for each cell size (count); fewer would step over corners."""


def free_distances(
    points: Floats, directions: Floats, most_m: float, cell_size_m: float,
    are_free: Callable[[Floats], NDArray[np.bool_]],
) -> Floats:
    """Return the free distance from each point in its direction, shape (n,) (m): up to the last free step.

    Args:
        points: shape (n, d) (m).
        directions: shape (n, d), of length 1.
        most_m: largest distance (m), 0 or more.
        cell_size_m: size of a cell (m), above 0.
        are_free: returns which positions, shape (k, d) (m), are on free cells.

    Cost: O(points * most_m / cell_size_m).
    """
    step_m = cell_size_m / STEPS_A_CELL
    steps = np.arange(0.0, most_m, step_m)
    samples = points[:, None] + directions[:, None] * steps[None, :, None]
    is_free = are_free(samples.reshape(-1, points.shape[1])).reshape(len(points), len(steps))
    reached = np.maximum(is_free.argmin(axis=1) - 1, 0) * step_m if len(steps) else most_m
    free: Floats = np.where(is_free.all(axis=1), most_m, reached)
    return free


def moved_to_free(
    places: Floats, are_free: Callable[[Floats], NDArray[np.bool_]], nearest: Callable[[Floats], Floats | None],
) -> Floats:
    """Return positions, shape (n, d) (m), of which those on no free cell move in the plane to the nearest one.

    Args:
        places: shape (n, d) (m).
        are_free: as of ``free_distances``.
        nearest: returns the center of the free cell nearest to a position, shape (d,) (m); None if there is none.
    """
    found, axes = places.astype(np.float64), list(plane_axes(places.shape[1]))
    for number in np.flatnonzero(~are_free(found)):
        middle = nearest(found[number])
        if middle is not None:
            found[number, axes] = middle[axes]
    return found


def _places(name: str, places: Floats) -> Floats:
    """Return positions if they are an array of shape (n, 2) or (n, 3) of numbers, else raise TypeError."""
    if not isinstance(places, np.ndarray) or places.dtype.kind not in "iuf" or places.ndim != 2 or (
            places.shape[1] not in (2, 3)):
        raise TypeError(f"{name} must be an array of numbers of shape (n, 2) or (n, 3), got {shown(places)}")
    return places


class FreeCells:
    """Base of classes that measure or move positions on the free cells of a grid; x runs along columns.

    Args:
        free: shape (height, width), bool, True for free cells.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = flags("free", free)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in several("origin", origin, object)])
        if len(self._origin) != 2:
            raise ValueError(f"origin must be (x, y), got {shown(origin)}")

    def _are_free(self, places: Floats) -> NDArray[np.bool_]:
        """Return which positions, shape (n, d) (m), are on a free cell; none outside is."""
        cells = np.floor((places[:, list(plane_axes(places.shape[1]))] - self._origin) / self._size_m)
        is_inside: NDArray[np.bool_] = ((cells >= 0) & (cells < self._is_free.shape[::-1])).all(axis=-1)
        column, row = cells[is_inside].astype(np.intp).T
        is_inside[is_inside] = self._is_free[row, column]
        return is_inside


class GridClearance(Described, FreeCells):
    """Measures the free distance from a point in a direction over cells; the ``clearance`` of a squad.

    Args:
        free: shape (height, width), bool, True for free cells.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
    """

    def __call__(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return the free distance from each point in its direction, at most ``most_m``, shape (n,) (m).

        Raises:
            TypeError, ValueError: if an argument has another shape, or a number is not finite.

        Cost: O(points * most_m / cell_size_m), at most that of the grid's sides.
        """
        points = _places("points", points)
        if np.shape(directions) != points.shape:
            raise ValueError(f"directions must have shape {points.shape} as points have, got {shown(directions)}")
        most_m = finite_number("most_m", most_m, minimum=0)
        if not (np.isfinite(points).all() and np.isfinite(directions).all()):
            raise ValueError(f"points and directions must be finite, got {shown(points)} and {shown(directions)}")
        across_m = sum(self._is_free.shape) * self._size_m      # beyond it all is outside, and blocked
        looked_m = min(most_m, across_m + self._size_m)
        free = free_distances(points, directions, looked_m, self._size_m, self._are_free)
        return np.where(free == looked_m, most_m, free)


NearestFree: TypeAlias = Callable[[Floats], Floats]
"""Callable that receives positions (n, d) (m) and returns for each the nearest one where a member can stand."""


class NearestFreeCell(Described, FreeCells):
    """Finds the nearest position on a free cell; the ``standing`` of a squad.

    A position in a free cell stays unchanged; any other moves to the center of the nearest free cell, on
    a tie of the cell with the smallest number. Arguments and errors are those of ``FreeCells``; besides,
    one cell at least must be free.

    >>> NearestFreeCell([[True, False, False]])(np.array([[2.5, 0.5], [0.2, 0.9]])).tolist()
    [[0.5, 0.5], [0.2, 0.9]]
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        super().__init__(free, cell_size_m, origin)
        if not self._is_free.any():
            raise ValueError("free must have at least one free cell, got none")
        rows, columns = np.nonzero(self._is_free)
        self._middles = (np.stack([columns, rows], axis=1) + 0.5) * self._size_m + self._origin

    def __call__(self, places: Floats) -> Floats:
        """Return the nearest free positions, shape (n, d) (m).

        Raises:
            TypeError, ValueError: if ``places`` has another shape, or a position is not finite.

        Cost: O(n), and O(cells) for each blocked position.
        """
        places = _places("places", places)
        if not np.isfinite(places).all():
            raise ValueError(f"places must be finite, got {shown(places)}")
        return moved_to_free(places, self._are_free, self._nearest)

    def _nearest(self, place: Floats) -> Floats:
        axes, middle = list(plane_axes(len(place))), place.copy()
        away = ((self._middles - place[axes]) ** 2).sum(axis=1)
        middle[axes] = self._middles[int(away.argmin())]
        return middle
