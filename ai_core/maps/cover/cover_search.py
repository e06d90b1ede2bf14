"""Search for the best cover against threats: scored, with explanations, in slices."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from heapq import merge
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.errors import (
    check_callable,
    check_callables,
    check_kind,
    check_type,
    finite_number,
    numbers,
    point,
    positions,
    shown,
    whole_number,
)
from ai_core.maps.cover.cover_map import CoverMap, CoverSpot, Holder
from ai_core.maps.cover.cover_objects import GAP_M, CoverObject, ObjectCover
from ai_core.maps.cover.cover_spots import Blocked, CoverBody, check_blocked
from ai_core.scheduling.interruptible import SteppedWork

__all__ = ["CoverEvaluation", "CoverQuery", "CoverSearch", "Ground", "Travel"]

Travel = Callable[[NDArray[np.float32]], ArrayLike]
"""Function from positions (n, 3) to travel distances (n,) (m), ``inf`` where no path leads."""

Ground = Callable[[NDArray[np.float32]], ArrayLike]
"""Function from positions (n, 3) behind objects to standing positions (n, 3) (m), NaN where there is none."""

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Margin added to upper bounds of scores, so that rounding never puts one below a score."""

SPOTS_PER_STEP = 4
"""Spots evaluated together (count): 32 rays for two threats and a body of four parts."""

ROWS_PER_STEP = 300
"""Spots of the level ranked together (count): 40 to 80 µs."""

OBJECTS_PER_STEP = 50
"""Objects out of range passed over together (count): 50 µs."""

BOUNDS_PER_STEP = 30
"""Spots behind objects ranked together (count): 75 µs."""

EXPOSURE_BEHIND_OBJECT = 0.75
"""Assumed exposure of a spot behind an object, which is not baked: open except on one side."""

MOST_THREATS = 64

MOST = 1 << 53
"""Above any id: spots behind objects, without ids yet, are ordered after those of the level."""


@dataclass(frozen=True)
class CoverQuery:
    """Requirements and weights of a cover search.

    Args:
        range_m: largest travel distance of a spot (m), above 0.
        least_threat_m: smallest distance of a spot from a threat (m).
        min_protection: smallest share of the body that must be hidden, 0 to 1, averaged over threats.
        posture: "any"; "stand" excludes low cover; "crouch" tests all spots with a crouching body.
        protection, distance, exposure: weights of the score, 0 or more: of the hidden share of the body,
            of the travel distance as a share of the range, of the share of open directions.
        stay_bonus: bonus for the spot that the agent already holds, so that it does not alternate between
            two equally good spots.
        pixels_per_m: above 0, explanations give lengths in pixels, of which a metre has so many.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    range_m: float = 25.0
    least_threat_m: float = 3.0
    min_protection: float = 0.75
    posture: Literal["any", "stand", "crouch"] = "any"
    protection: float = 1.0
    distance: float = 0.5
    exposure: float = 0.25
    stay_bonus: float = 0.1
    pixels_per_m: float = 0.0

    def __post_init__(self) -> None:
        finite_number("range_m", self.range_m, above=0)
        finite_number("least_threat_m", self.least_threat_m, minimum=0)
        finite_number("min_protection", self.min_protection, minimum=0, maximum=1)
        if self.posture not in ("any", "stand", "crouch"):
            raise ValueError(f"posture must be any, stand or crouch, got {shown(self.posture)}")
        for name in ("protection", "distance", "exposure", "stay_bonus", "pixels_per_m"):
            finite_number(name, getattr(self, name), minimum=0)

    def length(self, length_m: float) -> str:
        """Return a length as text, for explanations."""
        if self.pixels_per_m:
            return f"{length_m * self.pixels_per_m:.0f} px"
        return f"{length_m:.1f}".removesuffix(".0") + " m"


@dataclass(frozen=True, eq=False)
class CoverEvaluation:
    """Evaluation of one spot.

    Attributes:
        spot: the spot.
        score: larger is better; None if the spot was rejected.
        protection: hidden share of the body, 0 to 1, averaged over threats; None if not computed.
        seen_by: indices of the threats that see any part of the body.
        travel_m: travel distance to the spot (m).
        why: explanation of the result.
        cover_object: object in front of a spot that is not reserved yet, as it was when evaluated.
    """

    spot: CoverSpot
    score: float | None
    protection: float | None
    seen_by: tuple[int, ...]
    travel_m: float
    why: str
    cover_object: CoverObject | None = None


class CoverSearch(SteppedWork):
    """Search for the best cover. Interruptible work: advance it until it is done, then read the result.

    Spots are evaluated in the order of their best possible scores; no rays are cast for spots
    that cannot beat the best one found. The result does not depend on the slicing as long as
    nothing moves. The search restarts when spots of the level are added or removed; spots behind an
    object that has moved meanwhile are rejected.

    Args:
        cover: map to search.
        agent: (3,) position of the agent that hides (m).
        threats: (m, 3) positions of the eyes of the threats (m), 1 to ``MOST_THREATS``.
        blocked: ray test, see ``Blocked``; it must ignore the agent and the threats.
        body: size of the agent; None for the defaults of ``CoverBody``.
        query: requirements and weights; None for the defaults of ``CoverQuery``.
        holder: holder with a reserved spot that counts as free.
        weights: (m,) weight of each threat, above 0; None for equal weights.
        travel: travel distances of spots; None for straight distances. It is called once for every
            few spots; results below the straight distance are raised to it.
        ground: standing positions behind objects; None for the bottom of the object.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or is out of range.

    Cost: O(spots) and O(objects · threats) to start, then threats · parts rays per evaluated spot. Four spots take
    ten steps, of which one is a call of ``blocked``.
    """

    SHOWN = ("progress",)

    def __init__(
        self, cover: CoverMap, agent: ArrayLike, threats: ArrayLike, blocked: Blocked, *, body: CoverBody | None = None,
        query: CoverQuery | None = None, holder: Holder | None = None, weights: ArrayLike | None = None,
        travel: Travel | None = None, ground: Ground | None = None,
    ) -> None:
        check_type("cover", cover, CoverMap)
        check_callable("blocked", blocked)
        self._cover, self._blocked, self._who = cover, blocked, holder
        self._agent = point("agent", agent)
        self._eyes = positions("threats", threats, dimensions=(3,))
        whole_number("count of threats", len(self._eyes), minimum=1, maximum=MOST_THREATS)
        self._weights = _checked_weights(weights, len(self._eyes))
        self._held = 0 if holder is None else cover.held.get(holder, 0)
        check_kind("body", body, CoverBody)
        check_kind("query", query, CoverQuery)
        check_callables(travel=travel, ground=ground)
        self._body, self._query = body or CoverBody(), query or CoverQuery()
        self._travel, self._ground = travel, ground
        self.evaluations: list[CoverEvaluation] = []
        self._best: CoverEvaluation | None = None
        self._begin()

    @property
    def is_done(self) -> bool:
        """True when no remaining spot can be better."""
        return self._is_over and not self._is_cancelled

    @property
    def result(self) -> CoverEvaluation | None:
        """Evaluation of the best spot; None if no spot qualifies.

        Raises:
            RuntimeError: if the search is not done.
        """
        self._check_done()
        return self._best

    @property
    def why(self) -> str:
        """Explanation of the best spot, or of the reasons why no spot qualifies."""
        if self._best is not None:
            return f"{self._best.why}; {len(self.evaluations)} evaluated, {self._left} could not be better"
        if not self.evaluations:
            return f"no spot within {self._query.length(self._query.range_m)}"
        return "no spot qualifies: " + ", ".join(f"{count} {why}" for why, count in sorted(self._refused.items()))

    def advance(self, budget: Budget, /) -> None:
        """Continue until the search is done or the budget is spent.

        Raises:
            RuntimeError: if the search was cancelled.
            TypeError, ValueError: if ``blocked`` or ``travel`` returns an invalid result.
        """
        if self._version != self._cover.version:
            self._begin()
        super().advance(budget)

    def _begin(self) -> None:
        self._version, self._is_over = self._cover.version, False
        self.evaluations, self._best = [], None
        self._refused = Counter[str]()                      # of the evaluations, by reason
        self._left = 0                                      # candidates that are not evaluated yet
        self._runs: list[list[tuple[float, int]]] = []      # their -rank and id; each ascending
        self._others: list[_Candidate] = []
        self._steps = self._search()

    def _search(self) -> Generator[None, None, None]:
        """Search in steps of at most some 100 µs beside ``blocked``, ``ground`` and ``travel``."""
        yield from self._rank()
        ranked = merge(*self._runs)
        self._ahead = next(ranked, None)
        while True:
            while self._ahead is not None and (
                    self._best is None or self._best.score is None or -self._ahead[0] >= self._best.score):
                some = [self._next(ranked) for _ in range(min(SPOTS_PER_STEP, self._left))]
                for evaluation in (yield from self._judged(some)):
                    self.evaluations.append(evaluation)
                    if evaluation.score is None:
                        self._refused[evaluation.why.split(":")[0]] += 1
                    elif _is_better(evaluation, self._best):
                        self._best = evaluation
                yield
            if self._best is None or self._best.spot.id != 0:
                break
            self._name(self._best)
        self._is_over = True

    def _rank(self) -> Generator[None, None, None]:
        """Sort all candidates by their best possible score, the highest first, in runs that are merged later."""
        cover, query = self._cover, self._query
        for begin in range(0, len(cover), ROWS_PER_STEP):
            rows, distances = cover.rows_near(self._agent, query.range_m, slice(begin, begin + ROWS_PER_STEP))
            ids = cover.ids[rows]
            ranks = self._scores(1.0, distances, cover.spots.exposures[rows].astype(np.float64)) + SLACK
            ranks[ids == self._held] += query.stay_bonus
            order = np.lexsort((ids, -ranks))
            self._runs.append(list(zip((-ranks[order]).tolist(), ids[order].tolist(), strict=True)))
            self._left += len(rows)
            yield
        yield from self._find_behind_objects()
        for begin in range(0, len(self._others), BOUNDS_PER_STEP):
            some = self._others[begin:begin + BOUNDS_PER_STEP]
            run = sorted((-self._bound(one), MOST + 1 + begin + index) for index, one in enumerate(some))
            self._runs.append(run)
            self._left += len(run)
            yield

    def _bound(self, one: _Candidate) -> float:
        """Return the best possible score of a candidate."""
        query, travel_m = self._query, math.dist(one.spot.place, self._agent)
        stays = query.stay_bonus if one.spot.id == self._held != 0 else 0.0
        return float(self._scores(1.0, travel_m, one.spot.exposure)) + stays + SLACK

    def _next(self, ranked: Iterator[tuple[float, int]]) -> _Candidate:
        _, number = self._ahead  # type: ignore[misc]
        self._ahead = next(ranked, None)
        self._left -= 1
        return self._others[number - MOST - 1] if number > MOST else _Candidate(self._cover.spot(number))

    def _find_behind_objects(self) -> Generator[None, None, None]:
        """Find the candidates behind objects for each threat, and the reserved spot of the agent."""
        cover, query = self._cover, self._query
        if self._held in cover.behind:
            self._others.append(_Candidate(cover.spot(self._held)))
        for index, (name, cover_object) in enumerate(list(cover.objects.items()), 1):
            if index % OBJECTS_PER_STEP == 0:
                yield
            around_m = 2 * math.hypot(*cover_object.half_sides) + self._body.radius_m + GAP_M
            if math.dist(cover_object.middle, self._agent) > query.range_m + around_m:
                continue                                   # every position behind it is out of range
            for eye in self._eyes:
                behind = ObjectCover.of(
                    cover_object, eye, self._body,
                    may_stand=query.posture != "crouch", may_crouch=query.posture != "stand")
                if math.dist(behind.place, self._agent) <= query.range_m:
                    spot = CoverSpot(0, behind.place, behind.towards, behind.is_low, EXPOSURE_BEHIND_OBJECT, 0, name)
                    self._others.append(_Candidate(spot, behind, cover_object))
                yield

    def _name(self, best: CoverEvaluation) -> None:
        """Give a spot behind an object an id; if the object has moved, select the next best spot."""
        there = self._cover.objects.get(best.spot.object_id)  # type: ignore[arg-type]
        if there is not None and best.cover_object is not None and there.is_same(best.cover_object):
            self._best = replace(best, spot=self._cover.offer(best.spot))
            return
        row = next(row for row, one in enumerate(self.evaluations) if one is best)
        self.evaluations[row] = _refusal(best.spot, "its object has moved")
        self._refused["its object has moved"] += 1
        self._best = None
        for one in self.evaluations:
            if one.score is not None and _is_better(one, self._best):
                self._best = one

    def _scores(self, protection: float, travels_m: Any, exposures: Any) -> Any:
        query = self._query
        return query.protection * protection - query.distance * travels_m / query.range_m - query.exposure * exposures

    def _judged(self, some: list[_Candidate]) -> Generator[None, None, list[CoverEvaluation]]:
        whys = []
        for one in some:
            whys.append(self._why_not(one, self._cover.is_free_at(one.spot.place, self._who)))
            yield
        kept = [one for one, why in zip(some, whys, strict=True) if not why]
        travels_m = self._travels(kept)
        yield
        hidden = yield from self._hidden([one.spot for one in kept])
        good = zip(kept, travels_m, hidden, strict=True)
        evaluations = []
        for one, why in zip(some, whys, strict=True):
            evaluations.append(_refusal(one.spot, why) if why else self._evaluation(*next(good)))
            if len(evaluations) == SPOTS_PER_STEP // 2:
                yield
        return evaluations

    def _why_not(self, one: _Candidate, is_free: bool) -> str:
        """Return the reason to reject a spot before any visibility test; "" for none."""
        spot, behind, query = one.spot, one.behind, self._query
        if spot.is_low and query.posture == "stand":
            return "too low: hides a crouching body only"
        nearest_m = float(np.linalg.norm(self._eyes - spot.place, axis=1).min())
        if nearest_m < query.least_threat_m:
            return f"too near to a threat: {query.length(nearest_m)}"
        if not is_free:
            return "taken"
        if behind is None:
            return ""
        if behind.refusal:
            return behind.refusal
        if self._ground is not None:
            place = np.asarray(self._ground(spot.place[None]), np.float32).reshape(-1)
            if place.shape != (3,) or not np.isfinite(place).all():
                return "nowhere to stand behind it"
            one.spot, one.behind = replace(spot, place=place), replace(behind, place=place)
        return "" if one.behind.has_room(self._body, self._blocked) else "no room behind it"  # type: ignore[union-attr]

    def _travels(self, some: list[_Candidate]) -> list[float]:
        straight = [math.dist(one.spot.place, self._agent) for one in some]
        if self._travel is None or not some:
            return straight
        distances = np.asarray(self._travel(np.array([one.spot.place for one in some], np.float32)), np.float64)
        if distances.shape != (len(some),) or np.isnan(distances).any():
            raise ValueError(f"travel must return {len(some)} distances, not NaN, got {shown(distances)}")
        return [max(one, float(other)) for one, other in zip(straight, distances, strict=True)]

    def _hidden(self, spots: list[CoverSpot]) -> Generator[None, None, NDArray[np.float32]]:
        """Return the share of the body hidden from each threat, (n, threats)."""
        if not spots:
            return np.zeros((0, len(self._eyes)), np.float32)
        places = np.array([one.place for one in spots], np.float32)
        is_low = np.array([one.is_low or self._query.posture == "crouch" for one in spots])
        parts = self._body.parts(places, self._eyes, is_low)
        yield
        eyes = np.broadcast_to(self._eyes[None, :, None], parts.shape)
        lines = np.concatenate((parts, eyes), axis=-1).reshape(-1, 6)
        yield
        is_hidden = check_blocked(self._blocked, lines).reshape(parts.shape[:3])
        shares: NDArray[np.float32] = is_hidden.mean(axis=2, dtype=np.float32)
        yield
        return shares

    def _evaluation(self, one: _Candidate, travel_m: float, shares: NDArray[np.float32]) -> CoverEvaluation:
        spot, query, protection = one.spot, self._query, float(shares @ self._weights)
        seen_by = tuple(np.flatnonzero(shares < 1).tolist())
        if travel_m > query.range_m:
            reason = "no path leads there" if math.isinf(travel_m) else f"too far: {query.length(travel_m)} to travel"
            return replace(_refusal(spot, reason), protection=protection, seen_by=seen_by, travel_m=travel_m)
        if protection < query.min_protection - 1e-6:
            why = f"too open: {protection:.2f} of the body hidden"
            return replace(_refusal(spot, why), protection=protection, seen_by=seen_by, travel_m=travel_m)
        score = float(self._scores(protection, travel_m, spot.exposure))
        by = f"seen by threats {', '.join(map(str, seen_by))}" if seen_by else f"hidden from all {len(self._eyes)}"
        what = f"object {spot.object_id}" if spot.object_id is not None else f"spot {spot.id}"
        stays = ""
        if spot.id == self._held != 0:
            score, stays = score + query.stay_bonus, f" + {query.stay_bonus:g} for staying"
        why = (f"{what}: score {score:.3f} = {query.protection:g} · {protection:.2f} hidden - {query.distance:g} ·"
               f" {query.length(travel_m)} of {query.length(query.range_m)} - {query.exposure:g} ·"
               f" {spot.exposure:.2f} open{stays}; {by}")
        return CoverEvaluation(spot, score, protection, seen_by, travel_m, why, one.cover_object)


@dataclass(eq=False, slots=True)
class _Candidate:
    spot: CoverSpot
    behind: ObjectCover | None = None
    cover_object: CoverObject | None = None


def _refusal(spot: CoverSpot, why: str) -> CoverEvaluation:
    return CoverEvaluation(spot, None, None, (), math.nan, why)


def _is_better(one: CoverEvaluation, best: CoverEvaluation | None) -> bool:
    """Return whether an evaluation is better than the best; ties go to the smaller id."""
    if best is None or one.score != best.score:
        return best is None or one.score > best.score  # type: ignore[operator]
    return (one.spot.id or MOST) < (best.spot.id or MOST)


def _checked_weights(weights: ArrayLike | None, count: int) -> NDArray[np.float64]:
    """Return weights normalized to a sum of 1."""
    if weights is None:
        return np.full(count, 1 / count)
    given = numbers("weights", weights)
    if given.shape != (count,) or not (given > 0).all() or not np.isfinite(given).all():
        raise ValueError(f"weights must be {count} numbers above 0, got {shown(weights)}")
    shares: NDArray[np.float64] = given / given.sum()
    return shares
