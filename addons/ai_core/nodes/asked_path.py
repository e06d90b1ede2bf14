"""A request for a way, as a PathService keeps it under its id."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.grid_of_scene import CellPlaces
from ai_core.paths.path_ticket import PathTicket

NO_POINTS = {dimensions: np.zeros((0, dimensions), np.float32) for dimensions in (2, 3)}


@dataclass(eq=False, slots=True)
class AskedPath:
    """A ticket, and the ground it was asked on.

    Attributes:
        number: its id for scripts.
        ticket: of the library's path service.
        dimensions: 3 or 2.
        places: of the grid, None over a navigation map; a grid that replaces it changes nothing here.
        may_be_partial: whether a way that ends before the goal is one.
    """

    number: int
    ticket: PathTicket
    dimensions: int
    places: CellPlaces | None
    may_be_partial: bool

    @property
    def state(self) -> str:
        """Where it stands; of one that is done, whether it leads to the goal."""
        path = self.ticket.path
        if path is None:
            return self.ticket.state
        return "none" if path.state == "partial" and not self.may_be_partial else path.state

    @property
    def is_way(self) -> bool:
        """True if there is a way, which may be partial."""
        return self.state in ("found", "partial")

    @property
    def why_not(self) -> str:
        """Why there is no way."""
        return self.ticket.why or getattr(self.ticket.path, "why", "") or "no way leads there"

    @property
    def points(self) -> NDArray[np.float32]:
        """The way, (n, 2) or (n, 3); empty while there is none."""
        path = self.ticket.path
        if path is None or not self.is_way:
            return NO_POINTS[self.dimensions]
        return path.points if self.places is None else self.places.points(path.cells)  # type: ignore[attr-defined]
