"""Steering for characters whose path is still being searched: bump and turn over the ground of a PathService."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue, Vector2, Vector3
from addons.ai_core.nodes.paths.navigation_path_provider import NavigationPathProvider
from addons.ai_core.nodes.paths.path_request import PathRequest
from ai_core.paths.bump_and_turn import BumpAndTurn, distance_on_grid, neighbors_on_grid
from ai_core.paths.explored_map import ExploredMap
from ai_core.saving.fields import State, refuse
from ai_core.saving.inner_state import inner_state
from ai_core.saving.kinds import Kind, MapOf, Number, Record, Whole

MIDDLE = 1 << 19
"""Number of the lattice's column and row at the origin; 2^20 of each fit an integer of a save."""

AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))

NEAR_SHARE = 0.1
"""Largest distance of a lattice position from the navigation map on which it lies, as a share of a step."""

SAVED = Record(
    SimpleNamespace, kind=Whole(), step=Number(0), explored=Kind(), walkers=MapOf(
        Record(SimpleNamespace, walker=Kind(), heights=MapOf(Number(), key=Whole())), key=Whole()))
"""Saved memories, those of walkers by ticket."""


class FallbackSteering:
    """Positions to walk to by bump and turn, for characters whose path is still being searched.

    Args:
        new_ground: creates the ground that one character explores.
        remembers: whether each character remembers its positions, and returns from dead ends.
        is_shared: whether all characters share one memory instead.
        kind: number of the mode; a save with another ``kind`` or ``step`` is not continued.
        step: length of a step.
    """

    def __init__(
        self, new_ground: Callable[[], WalkableGround], *, remembers: bool, is_shared: bool, kind: int, step: float,
    ) -> None:
        self._new_ground, self._remembers, self._is_shared = new_ground, remembers, is_shared
        self._kind, self._step = kind, step
        self._explored: ExploredMap | None = None
        self._walkers: dict[int, tuple[BumpAndTurn, WalkableGround]] = {}

    def position(self, request: PathRequest, position: Any, here: tuple[float, ...]) -> Any:
        """Return the next position for the character of a request; its own position if nothing is left to try.

        Args:
            asked: the request that waits for its path.
            position: position of the character, a Vector2 or Vector3; ``here`` has the same numbers.
        """
        found = self._walkers.get(request.number)
        if found is None:
            found = self._walkers[request.number] = self._walker(request, here)
        walker, ground = found
        at = ground.number(here)
        if at == walker.at or ground.is_apart(at, walker.at):
            walker.step(at)
        if walker.at == at:
            return type(position)(*request.ends[1].tolist()) if walker.state == "arrived" else position
        return ground.vector(walker.at)

    def forget(self, ticket: int) -> None:
        """Forget the character of a ticket, which no longer needs a fallback."""
        self._walkers.pop(ticket, None)

    def advance(self, budget: Any, requests: Mapping[int, PathRequest]) -> None:
        """Forget the characters whose requests have ended, and advance the shared map."""
        if self._walkers:
            self._walkers = {
                number: one for number, one in self._walkers.items()
                if (request := requests.get(number)) is not None and request.state in ("waiting", "running")}
        if self._explored is not None and not self._explored.is_done:
            self._explored.advance(budget)

    def forget_cells(self, cells: Sequence[int]) -> None:
        """Discard the shared map around changed cells."""
        if self._explored is not None:
            self._explored.forget(cells)

    def saved(self) -> State | None:
        """Return the positions and memories of the characters; None if there are none."""
        if not self._walkers and self._explored is None:
            return None
        walkers = {
            ticket: SimpleNamespace(walker=walker.save_state(), heights=dict(sorted(ground.heights.items())))
            for ticket, (walker, ground) in sorted(self._walkers.items())}
        return SAVED.save(SimpleNamespace(
            kind=self._kind, step=self._step, explored=inner_state(self._explored), walkers=walkers), self)

    def read(self, plain: object, place: str) -> Remembered:
        """Check the data of ``saved``; return the memories for ``take``: none if they are of another kind or step."""
        saved = SAVED.read(plain, place, self)
        most, explored, walkers = self._new_ground().most, None, {}
        if saved.explored is not None:
            explored = ExploredMap()
            explored.prepare_state(saved.explored)()
            _check_places(place, most, [one for number, others in saved.explored["known"] for one in (number, *others)])
        for ticket, one in saved.walkers.items():
            ground, state = self._new_ground(), one.walker
            walker = self._bump_and_turn(ground, 0, 0, explored)
            walker.prepare_state(state)()
            _check_places(place, most, [
                state["at"], state["goal"], state["before"], *state["tried"], *state["path"]])
            ground.heights.update(one.heights)
            walkers[ticket] = walker, ground
        return (explored, walkers) if (saved.kind, saved.step) == (self._kind, self._step) else (None, {})

    def take(self, remembered: Remembered) -> None:
        """Continue with loaded memories."""
        self._explored, self._walkers = remembered

    def _walker(self, request: PathRequest, here: tuple[float, ...]) -> tuple[BumpAndTurn, WalkableGround]:
        ground = self._new_ground()
        if self._is_shared and self._explored is None:
            self._explored = ExploredMap()
        at, goal = ground.number(here), ground.goal(request.ticket.goal)
        return self._bump_and_turn(ground, at, goal, self._explored), ground

    def _bump_and_turn(self, ground: WalkableGround, at: int, goal: int, explored: ExploredMap | None) -> BumpAndTurn:
        return BumpAndTurn(
            ground.look, ground.apart, at, goal, remembers=self._remembers,
            explored=explored if self._is_shared else None)


def _check_places(place: str, most: int, numbers: list[int]) -> None:
    if max(numbers, default=0) > most:
        refuse(place, f"must hold positions up to {most}, got {max(numbers)}")


class WalkableGround:
    """Ground with numbered positions.

    Attributes:
        most: largest number.
        heights: heights of visited positions, if the ground has heights.
    """

    def number(self, place: tuple[float, ...]) -> int:
        """Return the number of a position."""
        raise NotImplementedError

    def goal(self, goal: Any) -> int:
        """Return the number of a ticket's goal."""
        raise NotImplementedError

    def vector(self, number: int) -> Any:
        """Return the position of a number."""
        raise NotImplementedError

    def is_apart(self, one: int, other: int) -> bool:
        """Return whether two positions are more than a step apart; a mover between neighbors is not."""
        return one != other and self.apart(one, other) > 1.5


class GridGround(WalkableGround):
    """The cells of a grid."""

    def __init__(self, places: Any, passage: Any) -> None:
        self._places = places
        self.look, self.apart = neighbors_on_grid(passage), distance_on_grid(passage)
        self.most, self.heights = passage.costs.size - 1, {}

    def number(self, place: tuple[float, ...]) -> int:
        return int(self._places.cell_at("position", place))

    def goal(self, goal: int) -> int:
        return goal

    def vector(self, number: int) -> Any:
        point = self._places.points(np.array([number], np.int32))[0].tolist()
        return Vector3(*point) if len(point) == 3 else Vector2(*point)


class NavigationGround(WalkableGround):
    """A lattice over the navigation map, with the heights of the map."""

    def __init__(self, provider: NavigationPathProvider, step_m: float) -> None:
        self._provider, self._step_m = provider, step_m
        self.most, self.heights = (2 * MIDDLE) ** 2 - 1, {}
        self.look, self.apart = self._open_neighbors, _steps_apart

    def number(self, place: tuple[float, ...]) -> int:
        across, along = place[0], place[-1]
        column, row = (round(one / self._step_m) + MIDDLE for one in (across, along))
        if not (0 <= column < 2 * MIDDLE and 0 <= row < 2 * MIDDLE):
            raise RefusedValue(
                f"position {place} is too far from the origin for steps of {self._step_m:g}; raise fallback_step")
        number = row * 2 * MIDDLE + column
        if len(place) == 3:
            self.heights.setdefault(number, place[1])
        return number

    def goal(self, goal: tuple[float, ...]) -> int:
        return self.number(goal)

    def vector(self, number: int) -> Any:
        column, row = ((one - MIDDLE) * self._step_m for one in (number % (2 * MIDDLE), number // (2 * MIDDLE)))
        return Vector3(column, self.heights.get(number, 0.0), row) if self._provider.dimensions == 3 \
            else Vector2(column, row)

    def _open_neighbors(self, number: int) -> list[int]:
        """Return the neighbors of a lattice position that are on the map, as is the point half way to them."""
        here, found = self.vector(number), []
        for down, right in AROUND:
            other = number + down * 2 * MIDDLE + right
            if other not in self.heights:
                self.heights[other] = self.heights.get(number, 0.0)
            there = self.vector(other)
            half = type(here)(*((a + b) / 2 for a, b in zip(here, there, strict=True)))
            if self._is_on(half) is not None and (height := self._is_on(there)) is not None:
                self.heights[other] = height
                found.append(other)
        return found

    def _is_on(self, place: Any) -> float | None:
        """Return the height of the map at a position, None if the map is not there."""
        near = self._provider.nearest(place)
        beside = math.hypot(near.x - place.x, tuple(near)[-1] - tuple(place)[-1])
        if beside > NEAR_SHARE * self._step_m:
            return None
        height = near.y if self._provider.dimensions == 3 else 0.0
        return height if self._provider.dimensions == 2 or abs(height - place.y) <= self._step_m else None


def _steps_apart(one: int, other: int) -> float:
    return math.hypot(one % (2 * MIDDLE) - other % (2 * MIDDLE), one // (2 * MIDDLE) - other // (2 * MIDDLE))


Remembered = tuple[ExploredMap | None, dict[int, tuple[BumpAndTurn, WalkableGround]]]
"""The shared map, and the walkers and their grounds by ticket."""
