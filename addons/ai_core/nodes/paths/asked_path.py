"""A request for a way, as a PathService keeps it under its id."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.paths.grid_of_scene import Places
from ai_core.maps.passage import GridPassage
from ai_core.paths.path_requests import PathTicket
from ai_core.paths.string_pulling import pull_cells

NO_POINTS = {dimensions: np.zeros((0, dimensions), np.float32) for dimensions in (2, 3)}


@dataclass(eq=False, slots=True)
class PathRequest:
    """A ticket, and the ground it was asked on.

    Attributes:
        number: its id for scripts.
        ticket: of the library's path service.
        dimensions: 3 or 2.
        places: of the grid, None over a navigation map; a grid that replaces it changes nothing here.
        straight_on: what its way is pulled straight on; None leaves it from cell to cell.
        turns: the cells where it then turns, once somebody has looked.
        turns_of: the way they are of.
        ground: what its way leads over, the version of that and the game time (s) when it was last known to be one;
            None until then.
    """

    number: int
    ticket: PathTicket
    dimensions: int
    places: Places | None
    straight_on: GridPassage | None = None
    turns: NDArray[np.int32] | None = None
    turns_of: Any = None
    ground: tuple[Any, int, float] | None = None

    @property
    def state(self) -> str:
        """Where it stands: as the ticket says, or improving if it has a path and is not over."""
        return self.ticket.state if self.ticket.is_over or self.ticket.path is None else "improving"

    @property
    def is_way(self) -> bool:
        """True if there is a way, which may be partial."""
        return self.state in ("found", "partial", "improving")

    @property
    def why_not(self) -> str:
        """Why there is no way."""
        return self.ticket.why or getattr(self.ticket.path, "why", "") or "no path leads to the goal"

    @property
    def ends(self) -> NDArray[np.float32]:
        """Where it was asked from and to, (2, 2) or (2, 3)."""
        ends = [self.ticket.start, self.ticket.goal]
        return np.array(ends, np.float32) if self.places is None else self.places.points(np.array(ends, np.int32))

    @property
    def points(self) -> NDArray[np.float32]:
        """The way, (n, 2) or (n, 3); empty while there is none."""
        path = self.ticket.path
        if path is None or not self.is_way:
            return NO_POINTS[self.dimensions]
        if self.places is None:
            return path.points  # type: ignore[attr-defined]
        if self.turns_of is not path:
            self.turns_of = path
            self.turns = path.cells if self.straight_on is None else self._pulled(self.straight_on, path.cells)
        return self.places.points(self.turns)

    def _pulled(self, passage: GridPassage, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        try:
            return pull_cells(passage, cells)
        except ValueError:      # walls went up in it since
            return cells
