"""A yard with walls and crates, and who hides there; rays go through a grid."""
from __future__ import annotations

import functools
import math

import numpy as np

from ai_core.budget import Budget
from ai_core.maps import (
    CoverBaking,
    CoverBody,
    CoverCandidates,
    CoverMap,
    CoverObject,
    CoverQuery,
    CoverSearch,
    Grid,
    GridLineOfSight,
    candidates_from_grid,
)
from tools.benchmarking.declarations import Contest

SIDE, AGENTS = 60, 10
WISH, BODY = CoverQuery(range_m=20.0), CoverBody()


@functools.cache
def level():
    """Return what sees through the yard, places beside something, and the spots among them."""
    random = np.random.default_rng(8)
    heights = np.where(random.random((SIDE, SIDE)) < 0.06, random.choice([1.2, np.inf], (SIDE, SIDE)), 0.0)
    middles = np.array([(column, 0, row) for row in range(SIDE) for column in range(SIDE)], np.float32)
    candidates = candidates_from_grid(Grid(heights == 0).passage(), middles, gives_cover=heights > 0)
    sight = GridLineOfSight(heights)
    baking = CoverBaking(candidates, sight)
    baking.advance(Budget.unlimited())
    return sight, candidates, baking.result


@functools.cache
def questions(threats):
    """Return (agent, eyes) of several who hide."""
    random = np.random.default_rng(threats)
    agents = random.uniform(15, 45, (AGENTS, 3)) * (1, 0, 1)
    eyes = random.uniform(0, SIDE, (AGENTS, threats, 3)) * (1, 0, 1) + (0, 1.6, 0)
    return list(zip(agents.astype(np.float32), eyes.astype(np.float32), strict=True))


def cover_map():
    cover = CoverMap()
    cover.add(level()[2])
    return cover


def searching(cover, threats):
    sight = level()[0]

    def search():
        scores = []
        for agent, eyes in questions(threats):
            found = CoverSearch(cover, agent, eyes, sight, body=BODY, query=WISH)
            found.advance(Budget.unlimited())
            scores.append(-1.0 if found.result is None else found.result.score)
        return np.array(scores)

    return search


def judging_each(cover, threats):
    """What one writes first: every spot in range, one after the other, a call for the rays of each."""
    sight, spots = level()[0], cover.spots

    def search():
        scores = []
        for agent, eyes in questions(threats):
            best = -1.0
            for row, place in enumerate(spots.places):
                travel_m = math.dist(place, agent)
                if travel_m > WISH.range_m or min(math.dist(place, eye) for eye in eyes) < WISH.least_threat_m:
                    continue
                low, hidden = spots.is_low[row:row + 1], 0.0
                for eye in eyes:
                    parts = BODY.parts(place[None], eye[None], low)[0, 0]
                    rays = np.concatenate((parts, np.broadcast_to(eye, parts.shape)), axis=1)
                    hidden += float(np.mean(sight(rays))) / len(eyes)
                if hidden >= WISH.min_protection - 1e-6:
                    score = (WISH.protection * hidden - WISH.distance * travel_m / WISH.range_m
                             - WISH.exposure * float(spots.exposures[row]))
                    best = max(best, score)
            scores.append(best)
        return np.array(scores)

    return search


def nearly_same(ours, other):
    return bool(np.allclose(ours, other, atol=1e-5))


def choosing(threats):
    cover = cover_map()
    return Contest(searching(cover, threats), {"plain loop": judging_each(cover, threats)}, is_same=nearly_same)


def choosing_among_crates(crates):
    cover, random = cover_map(), np.random.default_rng(5)
    for number in range(crates):
        middle = random.uniform(15, 45, 3) * (1, 0, 1) + (0, 0.6, 0)
        cover.put_object(number, CoverObject(tuple(middle.tolist()), (0.6, 0.6, 0.6)))
    return Contest(searching(cover, 2))


def baking(_):
    sight, candidates, _ = level()

    def in_batches():
        work = CoverBaking(candidates, sight)
        work.advance(Budget.unlimited())
        return len(work.result)

    def one_by_one():
        count = 0
        for row in range(len(candidates)):
            one = CoverCandidates(candidates.places[row:row + 1], candidates.towards[row:row + 1], candidates.reach_m)
            work = CoverBaking(one, sight)
            work.advance(Budget.unlimited())
            count += len(work.result)
        return count

    return Contest(in_batches, {"one by one": one_by_one})
