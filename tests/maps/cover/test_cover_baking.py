"""Cover found from a level's geometry."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps import CoverBaking, CoverCandidates, Grid, candidates_along_edges, candidates_from_grid, wall_edges
from ai_core.maps.cover.cover_baking import JOINED_TOGETHER, PLACES_PER_STEP
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, CoverSpots
from tests.maps.cover.cover_levels import CoverLevel

YARD = """
.......
...#...
.......
.o...~.
.......
"""


def sides(spots):
    """Column and row of each spot, and where its cover is."""
    return {(round(x), round(z), round(float(way[0])), round(float(way[2])))
            for (x, _, z), way in zip(spots.places.tolist(), spots.towards, strict=True)}


def test_cover_lies_around_walls_and_crates_but_not_at_water():
    spots = CoverLevel(YARD).baked()
    assert sides(spots) == {
        (3, 0, 0, 1), (2, 1, 1, 0), (4, 1, -1, 0), (3, 2, 0, -1),
        (1, 2, 0, 1), (0, 3, 1, 0), (2, 3, -1, 0), (1, 4, 0, -1)}


def test_a_crate_hides_only_who_crouches_and_is_looked_over():
    spots = CoverLevel(YARD).baked()
    by_crate = spots.places[:, 0] < 2.5
    by_crate &= spots.places[:, 2] > 1.5
    assert spots.is_low.tolist() == by_crate.tolist()
    assert (spots.peeks[by_crate] & OVER).all()
    assert not (spots.peeks[~by_crate] & OVER).any()


def test_one_peeks_past_the_end_of_a_wall_only():
    spots = CoverLevel("""
.....
.###.
.....
""").baked()
    south = {round(x): int(peeks) for (x, _, z), way, peeks in zip(
        spots.places.tolist(), spots.towards, spots.peeks, strict=True) if way[2] < -0.5 and z > 1}
    assert south == {1: LEFT, 2: 0, 3: RIGHT}       # who faces north has west to the left


def test_a_corner_is_less_exposed_than_the_side_of_a_pillar():
    spots = CoverLevel("""
###......
#........
#....#...
#........
""").baked()
    exposure = dict(zip(((round(x), round(z)) for x, _, z in spots.places.tolist()), spots.exposures, strict=True))
    assert exposure[1, 1] < exposure[5, 1]


@given(st.integers(1, 7))
def test_however_it_is_cut_up_the_same_is_found(steps):
    level = CoverLevel(YARD)
    baking, whole = level.baking(), level.baked()
    while not baking.is_done:
        baking.advance(Budget.of_steps(steps))
    for name in ("places", "towards", "is_low", "exposures", "peeks"):
        assert (getattr(baking.result, name) == getattr(whole, name)).all()


def test_progress_grows_and_nothing_is_there_before_it_is_done():
    baking = CoverLevel("\n".join(["#.#.#.#.#.#"] * 9)).baking()
    assert baking.progress == 0
    baking.advance(Budget.of_steps(4))
    assert 0 < baking.progress < 1
    with pytest.raises(RuntimeError, match="it is not done"):
        _ = baking.result
    baking.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        baking.advance(Budget.unlimited())


def test_no_step_of_baking_joins_all_spots(monkeypatch):
    level, joined = CoverLevel("\n".join(["#.#.#." * 12, "......" * 12] * 24)), []
    baking = level.baking()
    join = CoverSpots.joined
    monkeypatch.setattr(CoverSpots, "joined", lambda parts: joined.append(len(parts)) or join(parts))
    baking.advance(Budget.unlimited())
    found = baking.result
    assert len(found) > 2 * JOINED_TOGETHER * PLACES_PER_STEP
    assert max(joined) == JOINED_TOGETHER
    monkeypatch.undo()
    rows = np.concatenate((found.places, found.towards), axis=1)
    assert len(np.unique(rows, axis=0)) == len(found) == len(level.candidates())


def test_hexagons_have_six_sides():
    cells = np.ones((5, 5), bool)
    cells[2, 2] = False
    grid = Grid(cells, neighbors=6)
    middles = [(column + 0.5 * (row % 2), 0, row * 0.75) for row in range(5) for column in range(5)]
    assert len(candidates_from_grid(grid.passage(), middles)) == 6


def test_the_edges_of_a_mesh_are_those_of_one_polygon():
    vertices = [(0, 0, 0), (2, 0, 0), (2, 0, 2), (0, 0, 2), (2, 0, 0), (4, 0, 0), (4, 0, 2), (2, 0, 2)]
    edges = wall_edges(vertices, [[0, 1, 2, 3], [4, 5, 6, 7]])       # corners written twice
    assert len(edges) == 6
    places = candidates_along_edges(edges, spacing_m=1.0, reach_m=0.6)
    assert len(places) == 12
    outward = places.places + places.towards
    assert ((outward[:, 0] < 0) | (outward[:, 0] > 4) | (outward[:, 2] < 0) | (outward[:, 2] > 2)).all()


def test_a_ledge_is_no_cover():
    edges = wall_edges([(0, 0, 0), (2, 0, 0), (2, 0, 2)], [[0, 1, 2]])
    candidates = candidates_along_edges(edges, spacing_m=1.0, reach_m=0.6)
    baking = CoverBaking(candidates, lambda lines: np.zeros(len(lines), bool))
    baking.advance(Budget.unlimited())
    assert len(candidates) > 0
    assert len(baking.result) == 0


@pytest.mark.parametrize(("answer", "error"), [([1.0], TypeError), ([True] * 3, ValueError)])
def test_rays_that_answer_something_else_are_refused(answer, error):
    candidates = CoverCandidates([(0, 0, 0)], [(1, 0, 0)], 1.0)
    with pytest.raises(error, match="blocked must return"):
        CoverBaking(candidates, lambda lines: answer).advance(Budget.unlimited())


@pytest.mark.parametrize("wrong", [
    lambda: CoverCandidates([(0, 0, 0)], [(0, 0, 0)], 1.0),
    lambda: CoverCandidates([(0, 0, 0)], [], 1.0),
    lambda: candidates_from_grid(Grid([[True]]).passage(), [(0, 0, 0)], gives_cover=[[True, True]]),
    lambda: candidates_from_grid(Grid([[True]]).passage(), []),
    lambda: wall_edges([(0, 0, 0)], [[0, 1, 2]]),
    lambda: candidates_along_edges(np.zeros((0, 9), np.float32), spacing_m=0.0, reach_m=1.0),
])
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        wrong()


def test_candidates_are_taken_from_a_box_that_may_be_open_upward():
    candidates = CoverCandidates([(0, 0, 0), (1, 90, 0), (5, 0, 0)], [(1, 0, 0)] * 3, 1.0)
    assert candidates.within((-1, 0, -1), (1, np.inf, 1)).places.tolist() == [[0, 0, 0], [1, 90, 0]]
    assert len(candidates.within((-1e300, -np.inf, -1), (2.0, 1e300, 1))) == 2
    for corners in (((-1, 0, np.nan), (1, 1, 1)), ((-1, 0), (1, 1)), ("abc", (1, 1, 1))):
        with pytest.raises((TypeError, ValueError), match=r"corners must (be three numbers each, not NaN|hold|have)"):
            candidates.within(*corners)


def test_places_above_the_floor_are_dropped_before_cover_search():
    level = CoverLevel(YARD)
    floating = level.candidates()
    floating.places[:, 1] += 0.5                    # the eyes of who crouches are above a crate of 1.2 m then

    def floor(places):
        return places * np.array([1, 0, 1], np.float32)

    kept = CoverBaking(floating, level.sight)
    kept.advance(Budget.unlimited())
    assert not kept.result.is_low.any()
    dropped = CoverBaking(floating, level.sight, ground=floor)
    dropped.advance(Budget.unlimited())
    assert dropped.result.is_low.sum() == level.baked().is_low.sum() > 0
    assert (dropped.result.places[:, 1] == 0).all()
    with pytest.raises(TypeError, match="ground must be"):
        CoverBaking(floating, level.sight, ground=3)
