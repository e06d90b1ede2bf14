"""Bump and turn: movement towards a goal without a map, with turns at walls.

Without memory, each step goes to the open place nearest to the goal: almost free, but trapped by the
first concave wall. With memory, the mover returns from dead ends and tries the remaining places, so
that it reaches every reachable goal or proves that the goal is unreachable. With an ``ExploredMap``,
several movers share one memory. A character can use it while its path is searched.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from ai_core.errors import check_kind, check_type, shown, whole_number
from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.passage import GridPassage
from ai_core.paths.explored_map import ExploredMap, ExploredMapQuery
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, OneOf, Whole

__all__ = ["BumpAndTurn", "BumpState", "NeighborsOf", "PlaceDistance", "distance_on_grid", "neighbors_on_grid"]

BumpState = Literal["going", "asking", "arrived", "unreachable"]
"""The mover moves; waits for an answer of the shared map; is at the goal; or has no untried place left."""

NeighborsOf = Callable[[int], Sequence[int]]
"""Function from a place to the places that are one step away."""

PlaceDistance = Callable[[int, int], float]
"""Function from two places to their straight distance."""


class BumpAndTurn(Saveable):
    """Moves one character towards a goal by trial. Places are integers, such as cells.

    Args:
        look: returns the places one step away from a place; see ``neighbors_on_grid``.
        apart: returns the distance of two places; see ``distance_on_grid``.
        start: place of the mover.
        goal: place to reach.
        remembers: True to remember visited places and return from dead ends.
        explored: map shared with other movers, used instead of a memory; advance it regularly.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or is out of range.

    Cost: per step one call of ``look``, and one of ``apart`` for each open neighbor; with memory, 100 bytes
        per tried place.
    """

    SHOWN = ("state", "at", "goal")

    STATE = DeclaredState(
        at=Whole(), goal=Whole(), before=Whole(at="_before"),
        state=OneOf(("going", "arrived", "unreachable"), at="_saved_as"),
        tried=ListOf(Whole(), make=set, at="_tried"), path=ListOf(Whole(), at="_path"))

    def __init__(
        self, look: NeighborsOf, apart: PlaceDistance, start: int, goal: int, *, remembers: bool = True,
        explored: ExploredMap | None = None,
    ) -> None:
        if not callable(look) or not callable(apart):
            raise TypeError(f"look and apart must be callables, got {shown(look)} and {shown(apart)}")
        check_kind("explored", explored, ExploredMap)
        self._look, self._apart, self._explored = look, apart, explored
        self.at = whole_number("start", start, minimum=0)
        self.goal = whole_number("goal", goal, minimum=0)
        self._remembers = bool(remembers) and explored is None
        self._before = self.at
        self._tried = {self.at}
        self._path: list[int] = []          # back to the start; or ahead, as the shared map answered
        self._question: ExploredMapQuery | None = None
        self._version = -1
        self.state: BumpState = "arrived" if self.at == self.goal else "going"

    def step(self, at: int | None = None) -> int:
        """Return the next place: a neighbor, or the current place at the goal, while waiting or when giving up.

        Args:
            at: current place, if the mover is not at the place returned last, for example after a push.

        Raises:
            TypeError, ValueError: if ``at`` is not a place.
        """
        if at is not None and at != self.at:
            self._put(whole_number("at", at, minimum=0))
        if self.state in ("arrived", "unreachable"):
            return self.at
        neighbors = list(self._look(self.at))
        if self._explored is not None:
            there = self._shared_step(self._explored, neighbors)
        elif self._remembers:
            there = self._remembered_step(neighbors)
        else:
            there = self._plain_step(neighbors)
        if there != self.at:
            self._before, self.at = self.at, there
        if self.at == self.goal:
            self.state = "arrived"
        return self.at

    @property
    def _saved_as(self) -> BumpState:
        """State for saves: a pending query of the shared map is repeated after loading."""
        return "going" if self.state == "asking" else self.state

    @_saved_as.setter
    def _saved_as(self, state: BumpState) -> None:
        self.state = state

    def _finish_load(self) -> None:
        self._question, self._version = None, -1

    def _put(self, at: int) -> None:
        """Continue at another place after a push: tried places are kept, the route back is dropped."""
        self._before = self.at = at
        self._path.clear()
        self._question = None
        self._tried.add(at)
        self.state = "arrived" if at == self.goal else "going"

    def _nearest(self, places: Sequence[int]) -> int:
        """Return the place nearest to the goal; ties go to the smaller number."""
        return min(places, key=lambda place: (self._apart(place, self.goal), place))

    def _plain_step(self, neighbors: list[int]) -> int:
        onward = [place for place in neighbors if place != self._before]
        return self._nearest(onward or neighbors) if neighbors else self._give_up()

    def _remembered_step(self, neighbors: list[int]) -> int:
        fresh = [place for place in neighbors if place not in self._tried]
        if fresh:
            there = self._nearest(fresh)
            self._path.append(self.at)
            self._tried.add(there)
            return there
        if not self._path:
            return self._give_up()
        if self._path[-1] in neighbors:
            return self._path.pop()
        self._path.clear()                             # a wall has appeared since: the memory may be wrong
        self._tried = {self.at}
        return self._remembered_step(neighbors)

    def _shared_step(self, explored: ExploredMap, neighbors: list[int]) -> int:
        if explored.version != self._version:       # its reports are part of the map now
            self._version = explored.version
            self._tried = {self.at}
        explored.report(self.at, neighbors)
        self._tried.add(self.at)
        if self._question is not None:
            if not self._question.is_answered:
                return self.at
            answer, self._question = self._question.path, None
            if answer is None:
                return self._give_up()
            self._path, self.state = answer[1:], "going"
        if self._path:
            if self._path[0] in neighbors:
                return self._path.pop(0)
            explored.forget([self._path[0]])           # a wall has appeared since
            explored.report(self.at, neighbors)       # forget removed this report too
            self._path.clear()
        fresh = [place for place in neighbors if place not in self._tried and not explored.knows(place)]
        if fresh and not explored.knows(self.goal):
            return self._nearest(fresh)
        self._question = explored.ask(self.at, self.goal, self._apart)
        self.state = "asking"
        return self.at

    def _give_up(self) -> int:
        self.state = "unreachable"
        return self.at


def neighbors_on_grid(passage: GridPassage) -> NeighborsOf:
    """Return the ``look`` function of a grid: from a cell to the neighbors with an open move."""
    check_type("passage", passage, GridPassage)
    moves, width, size = passage.moves, passage.shape[1], passage.costs.size

    def look(cell: int) -> list[int]:
        if not 0 <= cell < size:
            raise ValueError(f"a place must be a cell of the grid, 0 to {size - 1}, got {cell}")
        bits = int(passage.open_moves.flat[cell])
        goes = moves.odd if moves.is_hexagonal and bits & ODD_ROW else moves.even
        return [cell + down * width + right for move, (down, right) in enumerate(goes) if bits >> move & 1]

    return look


def distance_on_grid(passage: GridPassage) -> PlaceDistance:
    """Return the ``apart`` function of a grid: the distance of two cells (cells)."""
    width, is_hexagonal = passage.shape[1], passage.moves.is_hexagonal

    def apart(one: int, other: int) -> float:
        (row, column), (other_row, other_column) = divmod(one, width), divmod(other, width)
        if not is_hexagonal:
            return math.hypot(row - other_row, column - other_column)
        across = column + 0.5 * (row % 2) - other_column - 0.5 * (other_row % 2)
        return math.hypot(across, 0.75 ** 0.5 * (row - other_row))

    return apart
