"""Many to one goal over a grid: a PathService keeps a flow field for each goal that is asked for; a part of it."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RefusedValue, Variant, method
from ai_core.budget import Budget
from ai_core.paths.flow_field import FlowField


class FlowPaths:
    """Flow fields by their goals, made within the budget and forgotten when nobody asks; a part of PathService."""

    service: Any
    source: Any
    Source: Any
    release_after_s: Any
    _places: Any
    _ways: Any
    _scheduler: Any
    _on_ground: Any

    def begin_flowing(self) -> None:
        """Nobody flows anywhere."""
        self._flows: dict[int, tuple[FlowField, float]] = {}     # by goal, and when it was asked for last (s)

    @method
    def get_next_places(self, goal: Variant, positions: Variant) -> Variant:
        """Return where each of many goes next on the cheapest way to one goal, over a grid.

        Positions are a PackedVector2Array, or over a GridMap a PackedVector3Array, and so is what comes back: the
        middle of the next cell, and in the goal's cell that of it. One search serves all who go to a goal, and is made
        anew when walls change. Until it is there, and for who is beside the grid or has no way, it is their own place.
        """
        if self.source != self.Source.GRID:
            raise RefusedValue("get_next_places is for grids; over a navigation map ask for a path")
        self.service  # noqa: B018
        places = self._checked_positions(positions)
        cell, now_s = self._on_ground("goal", goal), self._scheduler.clock.now.seconds
        field = self._flows[cell][0] if cell in self._flows else FlowField(self._ways.passage, cell)
        self._flows[cell] = (field, now_s)
        found = places.copy()
        if field.is_done and len(places):
            cells = self._places.cells_at(places)
            here = np.flatnonzero(cells >= 0)
            following = field.next_of(cells[here])
            goes = (following != cells[here]) | (cells[here] == cell)
            found[here[goes]] = self._places.points(following[goes])
        return found

    def advance_flows(self, budget: Budget) -> None:
        """Make fields, the first that was asked for first, and forget those that nobody asks for."""
        for goal, (field, asked_s) in list(self._flows.items()):
            if 0 < self.release_after_s < self._scheduler.clock.now.seconds - asked_s:
                del self._flows[goal]
            elif not field.is_current and not budget.is_spent:
                field.advance(budget)

    def _checked_positions(self, positions: Any) -> NDArray[np.float32]:
        dimensions = self._places.dimensions
        found = np.asarray(positions) if isinstance(positions, np.ndarray) else np.zeros(0)
        if found.ndim != 2 or found.shape[1] != dimensions or found.dtype.kind != "f":
            raise RefusedValue(f"positions must be a PackedVector{dimensions}Array, got {type(positions).__name__}")
        if not np.isfinite(found).all():
            raise RefusedValue(f"positions[{int(np.argwhere(~np.isfinite(found))[0, 0])}] must be a finite place")
        return found.astype(np.float32)
