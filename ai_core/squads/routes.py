"""Sources of paths for squads: straight lines, or tickets of a path service over a grid."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.kinds import Kind, Optional, Point, Record

__all__ = [
    "REQUEST_STATE", "ROUTE_REQUEST_STATE", "GridRoutes", "RouteRequest", "Routes", "StraightRoutes", "checked_routes",
    "only_to",
]

Floats = NDArray[np.float64]


class Routes(Protocol):
    """Source of paths for a squad, which makes one request for all its members."""

    @property
    def loads(self) -> int:
        """How often a state of the source was loaded (count); tickets of before may be those of others then."""

    def request(self, start: Floats, goal: Floats) -> Any:
        """Request a path and return a ticket at once."""

    def points(self, ticket: Any) -> Floats | None:
        """Return the path, shape (k, d) (m); (0, d) if there is none; None while the search runs."""

    def why(self, ticket: Any) -> str:
        """Return why no path leads to the goal, after the search; empty if one does."""

    def cancel(self, ticket: Any) -> None:
        """Cancel a request."""

    def key(self, ticket: Any) -> Any:
        """Return the plain data by which ``resumed`` finds a ticket after a load; None without any."""

    def resumed(self, start: Floats, goal: Floats, key: Any) -> Any:
        """Return the ticket of a saved request; that of a new request if the key is unknown here."""


def checked_routes(routes: Routes | None) -> Routes:
    """Return routes, straight ones for None; raise TypeError for an object without the methods of ``Routes``."""
    if routes is None:
        return StraightRoutes()
    missing = [name for name in ("request", "points", "why", "cancel", "key", "resumed")
               if not callable(getattr(routes, name, None))]
    if missing:
        raise TypeError(f"routes must be Routes, got {shown(routes)} without {', '.join(missing)}; use GridRoutes")
    return routes


@dataclass(frozen=True)
class RouteRequest:
    """A request for a path, as it is saved.

    Attributes:
        start: where the path begins (m).
        goal: where it leads (m).
        key: the key that the routes gave for the ticket.
    """

    start: tuple[float, ...]
    goal: tuple[float, ...]
    key: Any


def _place(squad: Any) -> int:
    return int(squad.dimensions)


ROUTE_REQUEST_STATE = Record(RouteRequest, start=Point(_place), goal=Point(_place), key=Kind())
"""How a request is saved."""

REQUEST_STATE = Optional(ROUTE_REQUEST_STATE, at="_requested")
"""How the request of a squad that waits for its path is saved."""


def only_to(goal: ArrayLike, end: ArrayLike) -> str:
    """Return in words that a path ends short of its goal."""
    asked, reached = (", ".join(f"{one:.3g}" for one in np.asarray(place).tolist()) for place in (goal, end))
    return f"no path leads to ({asked}), only as near as ({reached})"


class StraightRoutes(Described):
    """Straight lines to the goal, for open ground."""

    loads = 0

    def request(self, start: Floats, goal: Floats) -> Floats:
        """Return the path, which is its own ticket."""
        return np.stack([start, goal])

    def points(self, ticket: Floats) -> Floats:
        """Return the path."""
        return ticket

    def why(self, ticket: Floats) -> str:
        """Return an empty string: a straight line always leads to the goal."""
        return ""

    def cancel(self, ticket: Floats) -> None:
        """Do nothing."""

    def key(self, ticket: Floats) -> None:
        """Return None: the path is made again from its ends."""

    def resumed(self, start: Floats, goal: Floats, key: Any) -> Floats:
        """Return the path between the ends of a saved request."""
        return self.request(start, goal)


class GridRoutes(Described):
    """Paths over a grid of cells from a ``PathService``, which its owner must advance.

    Args:
        service: a ``PathService`` over ``GridPathProvider``.
        shape: (height, width) of the grid.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
        dimensions: dimensions of the points, 2 or 3.
        partial: whether to accept a path that ends near the goal; only
            ``GridPathProvider(passage, partial=True)`` returns partial paths.

    Raises:
        TypeError, ValueError: if an argument has a wrong type or is out of range.
    """

    def __init__(
        self, service: Any, shape: tuple[int, int], cell_size_m: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0), *, dimensions: int = 2, partial: bool = False,
    ) -> None:
        for name in ("request_path", "cancel", "ticket"):
            if not callable(getattr(service, name, None)):
                raise TypeError(f"service must be a PathService, got {shown(service)} without {name}")
        self._service = service
        if not isinstance(shape, Sequence) or len(shape) != 2:
            raise TypeError(f"shape must be (height, width), got {shown(shape)}")
        self._height, self._width = (whole_number("shape", one, minimum=1) for one in shape)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])
        self._dimensions = whole_number("dimensions", dimensions, minimum=2, maximum=3)
        self._axes = [0, 1] if dimensions == 2 else [0, 2]
        self._partial = bool(partial)
        self._ends: WeakKeyDictionary[Any, tuple[Floats, Floats]] = WeakKeyDictionary()

    @property
    def loads(self) -> int:
        """How often a state of the service was loaded (count)."""
        return int(self._service.loads)

    def cell_at(self, place: Floats) -> int:
        """Return the number of the cell that contains a position.

        Raises:
            TypeError: if ``place`` is not an array of finite numbers with the right dimensions.
            ValueError: if the position is outside the grid.
        """
        if not isinstance(place, np.ndarray) or place.shape != (self._dimensions,) or not np.isfinite(place).all():
            raise TypeError(f"place must be an array of {self._dimensions} finite numbers, got {shown(place)}")
        column, row = (int(one) for one in np.floor((place[self._axes] - self._origin) / self._size_m))
        if not (0 <= row < self._height and 0 <= column < self._width):
            raise ValueError(
                f"{place.tolist()} must be on the grid of {self._height} by {self._width} cells of {self._size_m:g} m"
                f" from {self._origin.tolist()}; use a goal on it, or a larger grid")
        return row * self._width + column

    def request(self, start: Floats, goal: Floats) -> Any:
        """Request a path and return its ticket.

        Raises:
            ValueError: if the start or the goal is outside the grid.
        """
        ticket = self._service.request_path(self.cell_at(start), self.cell_at(goal))
        self._ends[ticket] = start.copy(), goal.copy()
        return ticket

    def points(self, ticket: Any) -> Floats | None:
        """Return the start, the centers of the cells between, and the goal; a partial path has no goal."""
        if not ticket.is_done:
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
        """Return why no path leads to the goal, after the search; empty if one does."""
        if ticket.path is not None and ticket.path.is_found:
            return ""
        points = self.points(ticket)
        assert points is not None
        if len(points):
            return only_to(self._ends[ticket][1], points[-1])
        return ticket.why or "no path leads there"

    def cancel(self, ticket: Any) -> None:
        """Cancel a request."""
        self._service.cancel(ticket)

    def key(self, ticket: Any) -> int:
        """Return the number of a ticket."""
        return int(ticket.number)

    def resumed(self, start: Floats, goal: Floats, key: Any) -> Any:
        """Return the ticket with a number; that of a new request if the service has none between these ends.

        Raises:
            ValueError: if the start or the goal is outside the grid.
        """
        cells = self.cell_at(start), self.cell_at(goal)
        try:
            ticket = self._service.ticket(int(key) if type(key) is float else key)      # Godot's JSON writes 5 as 5.0
        except (TypeError, ValueError):
            return self.request(start, goal)
        if (ticket.start, ticket.goal) != cells:
            return self.request(start, goal)
        self._ends[ticket] = start.copy(), goal.copy()
        return ticket
