"""A path request, as a PathService keeps it by id."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.characters.agent_places import no_points
from addons.ai_core.nodes.paths.grid_of_scene import Places
from ai_core.maps.passage import GridPassage
from ai_core.paths.path_requests import PathTicket
from ai_core.paths.string_pulling import pull_cells


@dataclass(eq=False, slots=True)
class PathRequest:
    """A ticket, and the ground of its request.

    Attributes:
        number: id for scripts.
        ticket: ticket of the library's path service.
        service: that path service; the node has another one after its ground was replaced.
        dimensions: 3 or 2.
        between: start and goal as they were given: a walk or a squad knows its ticket by them.
        places: positions of the grid's cells, None over a navigation map; not affected by a later grid.
        straight_on: ground on which the path is straightened; None leaves it from cell to cell.
        turns: cells at which the straightened path turns, after the first query.
        turns_of: the path of ``turns``.
        ground: path provider, its version, and the game time (s) at which the path was last known to be valid; None
            before the first check.
    """

    number: int
    ticket: PathTicket
    service: Any
    dimensions: int
    between: tuple[Any, Any]
    places: Places | None
    straight_on: GridPassage | None = None
    turns: NDArray[np.int32] | None = None
    turns_of: Any = None
    ground: tuple[Any, int, float] | None = None

    @property
    def state(self) -> str:
        """State of the ticket, or improving if it has a path and has not ended."""
        return self.ticket.state if self.ticket.is_done or self.ticket.path is None else "improving"

    @property
    def has_path(self) -> bool:
        """True if there is a path, which may be partial."""
        return self.state in ("found", "partial", "improving")

    @property
    def why_not(self) -> str:
        """Why there is no path."""
        why = self.ticket.why or getattr(self.ticket.path, "why", "")
        if not why and self.places is not None and self.service is not None:
            passage = self.service.provider.passage
            for name, cell in (("start", self.ticket.start), ("goal", self.ticket.goal)):
                if not passage.is_free(cell):
                    return f"the {name} is in a wall; snap_distance allows the nearest walkable cell instead"
        return why or "no path leads to the goal"

    @property
    def ends(self) -> NDArray[np.float32]:
        """Start and goal of the request, (2, 2) or (2, 3)."""
        ends = [self.ticket.start, self.ticket.goal]
        return np.array(ends, np.float32) if self.places is None else self.places.points(np.array(ends, np.int32))

    @property
    def points(self) -> NDArray[np.float32]:
        """Points of the path, (n, 2) or (n, 3); empty while there is none."""
        path = self.ticket.path
        if path is None or not self.has_path:
            return no_points(self.dimensions)
        if self.places is None:
            return path.points  # type: ignore[attr-defined]
        if self.turns_of is not path:
            self.turns_of = path
            self.turns = path.cells if self.straight_on is None else self._pulled(self.straight_on, path.cells)
        return self.places.points(self.turns)

    def _pulled(self, passage: GridPassage, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        try:
            return pull_cells(passage, cells)
        except ValueError:      # walls were added since
            return cells
