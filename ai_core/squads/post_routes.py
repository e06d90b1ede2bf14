"""`PostRoutes`: paths of the members that a tactic sends to positions of their own."""
from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.saving.declared_state import Change, DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, MapOf, Optional, Point, Record, Seconds, Text, Whole
from ai_core.squads.routes import ROUTE_REQUEST_STATE, RouteRequest, Routes

__all__ = ["PostRoutes"]

Floats = NDArray[np.float64]
Place = tuple[float, ...]

NEAR_M = 2.0
"""Distance to a post up to which a member goes straight (m): a path on a grid is no nearer."""

MOVED = 0.25
"""How far a post may move until its path is requested again, as a share of the distance to it (no unit)."""

AGAIN_S = 4.0
"""Time after which a path is requested again (s): the ground may have changed, or the member was pushed off."""

SOONEST_S = 1.0
"""Least time from one request for a member to the next (s); a post that moves in each thought costs no more."""

MOST_REQUESTS = 8
"""Requests in one thought (count); the other members go straight until the next."""

LOOK_M = 1.0
"""How far ahead around a corner a member steers (m): less, and one that stands there holds it up; more cuts corners."""

AT_START_M = 0.75
"""Distance from its start within which a path has no corner (m): it is the center of the member's own cell."""

STRAIGHT_M = 0.01
"""Distance from a straight line up to which a point of a path is no corner (m)."""


@dataclass(frozen=True)
class PostRoute(Described):
    """The path of a member to its post.

    Attributes:
        goal: the post that the path was requested for (m).
        asked_s: game time of the request (s).
        request: the request while the search runs; None after it.
        points: the path (m); empty before it is found, and where there is none.
        step: the end of the segment along which the member walks.
        why: why no path leads to the post; empty if one does.
    """

    goal: Place
    asked_s: float
    request: RouteRequest | None = None
    points: list[Place] = field(default_factory=list)
    step: int = 0
    why: str = ""


class PostRoutes(Saveable):
    """Paths of members to the positions of their tasks: one request for each, released when its path is found.

    Until then, and where no path leads there, a member goes straight.

    Args:
        routes: source of the paths.
        dimensions: dimensions of positions, 2 or 3.
    """

    SHOWN = ("requests",)

    STATE = DeclaredState(by_member=MapOf(Record(
        PostRoute, goal=Point(lambda posts: posts.dimensions), asked_s=Seconds(),
        request=Optional(ROUTE_REQUEST_STATE), points=ListOf(Point(lambda posts: posts.dimensions)), step=Whole(),
        why=Text()), key=Whole()), requests=Whole())

    def __init__(self, routes: Routes, dimensions: int) -> None:
        self.routes, self.dimensions, self.requests = routes, dimensions, 0
        self._of: dict[int, PostRoute] = {}
        self._tickets: dict[int, Any] = {}              # while their searches run
        self._former: list[Any] = []                    # tickets of before a load
        self._former_loads = 0

    @property
    def by_member(self) -> dict[int, PostRoute]:
        """The paths by id of the member, as they are saved."""
        return {
            number: one if one.request is None or number not in self._tickets else replace(
                one, request=replace(one.request, key=self.routes.key(self._tickets[number])))
            for number, one in sorted(self._of.items())}

    @by_member.setter
    def by_member(self, routes: dict[int, PostRoute]) -> None:
        self._former, self._tickets = [*self._former, *self._tickets.values()], {}
        self._of = dict(routes)

    def prepare_state(self, state: object) -> Change:
        """Check a saved state completely; return the function that loads it.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        loads, change = getattr(self.routes, "loads", 0), super().prepare_state(state)

        def load() -> None:
            self._former_loads = loads
            change()
            if all(one.request is None for one in self._of.values()):
                self._resume()          # otherwise in the next thought, when the routes are loaded, too

        return load

    def why(self, member_id: int) -> str:
        """Return why no path leads a member to its post; empty if one does, or none was requested."""
        route = self._of.get(member_id)
        return "" if route is None else route.why

    def forget(self, member_id: int) -> None:
        """Release the request of a member, which has no post now."""
        self._of.pop(member_id, None)
        ticket = self._tickets.pop(member_id, None)
        if ticket is not None:
            self.routes.cancel(ticket)

    def forget_all(self) -> None:
        """Request all paths again, as the ground changed."""
        for number in list(self._of):
            self.forget(number)

    def keep_only(self, member_ids: Container[int]) -> None:
        """Release the requests of all other members, which have no posts now."""
        for number in [one for one in self._of if one not in member_ids]:
            self.forget(number)

    def keep(self, posts: dict[int, Place], places: dict[int, Floats], now_s: float) -> None:
        """Request, receive and release paths.

        Args:
            posts: the posts by id of the member (m).
            places: present positions of these members (m).
            now_s: game time (s).

        Cost: O(posts), and up to ``MOST_REQUESTS`` requests.
        """
        self._resume()
        self.keep_only(posts)
        asked = 0
        for number, post in posts.items():
            if number in self._tickets:
                self._receive(number, places[number])
            elif asked < MOST_REQUESTS and self._is_due(number, post, places[number], now_s):
                asked += 1
                self._request(number, post, places[number], now_s)

    def ahead(self, member_id: int, place: Floats, post: Place) -> tuple[Place, bool]:
        """Return where a member goes next to come to its post, and whether it ends there (m)."""
        route = self._of.get(member_id)
        if route is None or not route.points:
            return post, True
        points, step = route.points, route.step
        at, away = _on_segment(points, step, place)
        while step + 1 < len(points):
            beyond, further = _on_segment(points, step + 1, place)
            if further > away:
                break
            step, at, away = step + 1, beyond, further
        if step != route.step:
            self._of[member_id] = replace(route, step=step)
        left_m = LOOK_M
        if step < len(points) - 1 and math.dist(at, points[step]) > left_m:
            return points[step], False      # one that stands on the way there is no obstacle to come nearer
        while step < len(points):
            length = math.dist(at, points[step])
            if length > left_m:
                share = left_m / length
                return tuple(one + (to - one) * share for one, to in zip(at, points[step], strict=True)), False
            left_m, at, step = left_m - length, points[step], step + 1
        return (points[-1] if route.why else post), True

    def _is_due(self, number: int, post: Place, place: Floats, now_s: float) -> bool:
        away_m, route = math.dist(place, post), self._of.get(number)
        if away_m <= NEAR_M:
            return False
        if route is None:
            return True
        since_s = now_s - route.asked_s
        has_moved = math.dist(route.goal, post) > max(1.0, MOVED * away_m)
        return since_s >= SOONEST_S and (has_moved or since_s >= AGAIN_S)

    def _request(self, number: int, post: Place, place: Floats, now_s: float) -> None:
        before = self._of.get(number)
        points, step = ([], 0) if before is None else (before.points, before.step)
        self.requests += 1
        try:
            ticket = self.routes.request(place.copy(), np.array(post))
        except (LookupError, ValueError) as error:      # a position outside the map is no programming error
            self._of[number] = PostRoute(post, now_s, None, [], 0, str(error))
            return
        request = RouteRequest(tuple(place.tolist()), post, self.routes.key(ticket))
        self._tickets[number] = ticket
        self._of[number] = PostRoute(post, now_s, request, points, step, "" if before is None else before.why)
        self._receive(number, place)

    def _receive(self, number: int, place: Floats) -> None:
        """Take over a path that was found, and release its ticket."""
        ticket = self._tickets[number]
        found = self.routes.points(ticket)
        if found is None:
            return
        why = self.routes.why(ticket) if len(found) else self.routes.why(ticket) or "no path leads there"
        points = _corners(np.asarray(found, np.float64).tolist())
        self._of[number] = replace(
            self._of[number], request=None, points=points, step=_nearest_step(points, place), why=why)
        del self._tickets[number]
        self.routes.cancel(ticket)

    def _resume(self) -> None:
        """Take up the requests of a save, and release those of before the load."""
        for number, route in list(self._of.items()):
            if route.request is not None and number not in self._tickets:
                request = route.request
                try:
                    self._tickets[number] = self.routes.resumed(
                        np.array(request.start), np.array(request.goal), request.key)
                except (LookupError, ValueError) as error:
                    self._of[number] = replace(route, request=None, why=str(error))
        former, self._former = self._former, []
        if former and self._former_loads == getattr(self.routes, "loads", 0):
            keys = [self.routes.key(one) for one in self._tickets.values()]
            for ticket in former:
                if self.routes.key(ticket) not in keys:
                    self.routes.cancel(ticket)


def _on_segment(points: list[Place], step: int, place: Floats) -> tuple[Place, float]:
    """Return the nearest position on the segment of a path that ends at a point, and the distance to it (m)."""
    end = points[min(step, len(points) - 1)]
    begin = points[max(0, min(step, len(points)) - 1)]
    here = place.tolist()
    along = [two - one for one, two in zip(begin, end, strict=True)]
    length = sum(one * one for one in along)
    share = sum(one * (at - of) for one, at, of in zip(along, here, begin, strict=True)) / length if length else 0.0
    at = tuple(one + min(1.0, max(0.0, share)) * by for one, by in zip(begin, along, strict=True))
    return at, math.dist(at, here)


def _corners(points: list[list[float]]) -> list[Place]:
    """Return the points of a path without those on the way from one corner to the next."""
    found: list[Place] = []
    for number, point in enumerate(points):
        here, is_last = tuple(point), number == len(points) - 1
        if not found or is_last:
            found.append(here)
        elif not (len(found) == 1 and math.dist(found[0], here) < AT_START_M):
            _, away = _on_segment([found[-1], tuple(points[number + 1])], 1, np.array(here))
            if away > STRAIGHT_M:
                found.append(here)
    return found


def _nearest_step(points: list[Place], place: Floats) -> int:
    """Return the end of the segment of a path that is nearest to a member: it has walked on during the search."""
    return min(range(1, len(points)), key=lambda step: (_on_segment(points, step, place)[1], step), default=0)
