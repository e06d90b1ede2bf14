"""Where squads get their ways from: straight, or by ticket from a path service over a grid."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown, whole_number

__all__ = ["GridRoutes", "Routes", "StraightRoutes"]

Floats = NDArray[np.float64]


class Routes(Protocol):
    """What a squad asks for a way: one request for all its members."""

    def request(self, start: Floats, goal: Floats) -> Any:
        """Ask for a way; return a ticket at once."""

    def points(self, ticket: Any) -> Floats | None:
        """Return the way, (k, d); (0, d) if there is none; None while it is searched for."""

    def why(self, ticket: Any) -> str:
        """Return why there is no way."""

    def cancel(self, ticket: Any) -> None:
        """Give up a request."""


class StraightRoutes:
    """Straight to the goal: open ground."""

    def request(self, start: Floats, goal: Floats) -> Floats:
        """Return the way as its own ticket."""
        return np.stack([start, goal])

    def points(self, ticket: Floats) -> Floats:
        """Return the way."""
        return ticket

    def why(self, ticket: Floats) -> str:
        """Return nothing: there is always a way."""
        return ""

    def cancel(self, ticket: Floats) -> None:
        """Do nothing."""


class GridRoutes:
    """Ways over a grid of cells, from a ``PathService``, which must be advanced by whoever owns it.

    Args:
        service: a ``PathService`` over ``GridPathProvider``.
        shape: (height, width) of the grid.
        cell_size_m: side of a cell (m).
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
        dimensions: 2 or 3, of the points.
        partial: whether a way that ends near the goal is one; only ``GridPathProvider(passage, partial=True)`` gives
            any.

    Raises:
        TypeError, ValueError: if an argument is not what it must be.
    """

    def __init__(
        self, service: Any, shape: tuple[int, int], cell_size_m: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0), *, dimensions: int = 2, partial: bool = False,
    ) -> None:
        for name in ("request_path", "cancel"):
            if not callable(getattr(service, name, None)):
                raise TypeError(f"service must be a PathService, got {shown(service)} without {name}")
        self._service = service
        if not isinstance(shape, Sequence) or len(shape) != 2:
            raise TypeError(f"shape must be a height and a width, got {shown(shape)}")
        self._height, self._width = (whole_number("shape", one, minimum=1) for one in shape)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])
        self._dimensions = whole_number("dimensions", dimensions, minimum=2, maximum=3)
        self._axes = [0, 1] if dimensions == 2 else [0, 2]
        self._partial = bool(partial)
        self._ends: WeakKeyDictionary[Any, tuple[Floats, Floats]] = WeakKeyDictionary()

    def cell_at(self, place: Floats) -> int:
        """Return the cell a place is in.

        Raises:
            TypeError: if it is no place.
            ValueError: if it is off the grid.
        """
        if not isinstance(place, np.ndarray) or place.shape != (self._dimensions,) or not np.isfinite(place).all():
            raise TypeError(f"place must be an array of {self._dimensions} finite numbers, got {shown(place)}")
        column, row = (int(one) for one in np.floor((place[self._axes] - self._origin) / self._size_m))
        if not (0 <= row < self._height and 0 <= column < self._width):
            raise ValueError(f"{place.tolist()} is not on the grid of {self._height} by {self._width} cells")
        return row * self._width + column

    def request(self, start: Floats, goal: Floats) -> Any:
        """Ask for a way.

        Raises:
            ValueError: if an end is off the grid.
        """
        ticket = self._service.request_path(self.cell_at(start), self.cell_at(goal))
        self._ends[ticket] = start.copy(), goal.copy()
        return ticket

    def points(self, ticket: Any) -> Floats | None:
        """Return the middles of the cells of the way, between the very start and the very goal."""
        if not ticket.is_over:
            return None
        path = ticket.path
        none = np.zeros((0, self._dimensions))
        if path is None or not (path.is_found or (self._partial and path.state == "partial")):
            return none
        start, goal = self._ends[ticket]
        cells = np.asarray(path.cells, np.int64)
        flat = (np.stack([cells % self._width, cells // self._width], axis=1) + 0.5) * self._size_m + self._origin
        points = np.repeat(start[None], len(cells), axis=0)
        points[:, self._axes] = flat
        middle = points[1:-1] if path.is_found else points[1:]
        return np.concatenate([start[None], middle, goal[None]] if path.is_found else [start[None], middle])

    def why(self, ticket: Any) -> str:
        """Return why there is no way."""
        return ticket.why or "no way leads there"

    def cancel(self, ticket: Any) -> None:
        """Give up a request."""
        self._service.cancel(ticket)
