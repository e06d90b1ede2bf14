"""A* where every cell costs the same: few moves are looked at, and none too few."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.grid import Grid
from ai_core.paths.searches.canonical_moves import AT_ONCE, DIAGONAL, STRAIGHT, SUCCESSORS, cost_of, costs_of, suits
from ai_core.paths.searches.walking_search import NOWHERE
from tests.paths.conftest import FORMS, forms_of
from tests.paths.levels import cost_along, plain_costs


@st.composite
def passages(draw, side=14):
    """Walls on every second to every tenth cell, all others cost the same."""
    height, width = draw(st.tuples(st.integers(1, side), st.integers(1, side)))
    share, seed = draw(st.sampled_from([0.1, 0.3, 0.4, 0.5])), draw(st.integers(0, 10_000))
    free = np.random.default_rng(seed).random((height, width)) > share
    return Grid(np.where(free, draw(st.sampled_from([1.0, 2.5])), math.inf)).passage()


def searched(make, passage, start, goals, most):
    search = make(passage.open_moves)
    for begin_at in (goals[0], start):  # the second in the memory of the first
        search.begin(int(begin_at), goals, passage.least_cost, passage.most_cost)
        slices = []
        while not search.is_done:
            slices.append(search.advance(most))
    return search, slices


@given(passage=passages(), numbers=st.lists(st.integers(0, 195), min_size=2, max_size=4))
def test_a_way_costs_what_dijkstra_says(passage, numbers):
    start, *goals = (number % passage.costs.size for number in numbers)
    goals = np.unique(goals).astype(np.int32)
    costs = plain_costs(passage, start)
    best = min(costs.get(int(goal), math.inf) for goal in goals)
    for make in forms_of("canonical_search"):
        search, _ = searched(make, passage, start, goals, 1000)
        assert (search.reached == NOWHERE) == (best == math.inf)
        if search.reached != NOWHERE:
            assert search.cost_to(search.reached) == pytest.approx(best, rel=1e-12)
            way = np.frombuffer(search.way_to(search.reached), np.int32).tolist()
            assert (way[0], way[-1]) == (start, search.reached)
            assert cost_along(passage, way) == pytest.approx(best, rel=1e-12)


@given(passage=passages(), start=st.integers(0, 195))
def test_without_reachable_goal_it_finds_cheapest_paths_to_all(passage, start):
    start %= passage.costs.size
    costs = plain_costs(passage, start)
    out_of_reach = [cell for cell in range(passage.costs.size) if cell not in costs]
    if not out_of_reach:
        return
    for make in forms_of("canonical_search"):
        search, _ = searched(make, passage, start, np.array(out_of_reach[:1], np.int32), 1000)
        for cell in range(passage.costs.size):
            assert search.cost_to(cell) == pytest.approx(costs.get(cell, math.inf), rel=1e-12)


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@given(
    passage=passages(), numbers=st.lists(st.integers(0, 195), min_size=2, max_size=4), most=st.integers(1, 9),
    ends_after=st.integers(1, 40),
)
def test_both_forms_do_the_same_in_every_slice(passage, numbers, most, ends_after):
    start, *goals = (number % passage.costs.size for number in numbers)
    goals = np.unique(goals).astype(np.int32)
    stories = []
    for make in forms_of("canonical_search"):
        search, slices = searched(make, passage, start, goals, most)
        end = search.reached if search.reached != NOWHERE else search.nearest()
        story = [slices, search.reached, search.nearest(), search.cost_to(end), search.way_to(end)]
        search.begin(start, goals, passage.least_cost, passage.most_cost)
        story += [search.advance(ends_after), search.nearest(), search.cost_to(search.nearest())]
        stories.append(story)
    assert stories[0] == stories[1]


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@pytest.mark.slow
def test_search_counter_restarts_when_its_numbers_run_out():
    passage = Grid(np.ones((3, 3))).passage()
    search = forms_of("canonical_search")[1](passage.open_moves)
    corner, far = np.array([8], np.int32), np.array([2], np.int32)
    for _ in range(2 ** 16 + 2):
        search.begin(0, far, 1.0, 1.0)
        search.advance(1)
        search.begin(0, corner, 1.0, 1.0)
        search.advance(100)
    assert search.cost_to(8) == 2 * 2 ** 0.5
    assert search.cost_to(6) in (2.0, math.inf)


def test_after_a_move_one_looks_on_and_round_the_ends_of_walls():
    north_west, north, north_east, west, east, south_west, south, south_east = range(8)
    all_open = 255

    def tried(came, open_moves):
        bits = SUCCESSORS[came << 8 | open_moves]
        return [move for move in range(len(SQUARE_8)) if bits >> move & 1]

    assert tried(AT_ONCE, all_open) == list(range(8))
    assert tried(east, all_open) == [east]
    assert tried(south_east, all_open) == [east, south, south_east]
    assert tried(east, all_open & ~(1 << north_west)) == [north, north_east, east]
    assert tried(east, all_open & ~(1 << north_west | 1 << north | 1 << north_east)) == [east]
    assert tried(north, all_open & ~(1 << south_west | 1 << south_east)) == [
        north_west, north, north_east, west, east]


@given(straights=st.integers(0, 50_000), diagonals=st.integers(0, 13_859), cost=st.sampled_from([1.0, 2.5]))
def test_of_a_length_in_whole_numbers_the_moves_are_known(straights, diagonals, cost):
    length = straights * STRAIGHT + diagonals * DIAGONAL
    assert cost_of(length, cost) == (straights + 2 ** 0.5 * diagonals) * cost
    if length < 2 ** 32:
        assert costs_of(np.array([length], np.uint32), cost).tolist() == [cost_of(length, cost)]


def test_it_suits_eight_neighbors_closed_corners_and_one_cost():
    free = np.ones((2, 2))
    assert suits(Grid(free).passage())
    assert not suits(Grid(free, neighbors=4).passage())
    assert not suits(Grid(free, corners="open").passage())
    assert not suits(Grid([[1.0, 2.0]]).passage())


def test_the_kernel_refuses_what_it_would_read_wrongly():
    for make in forms_of("canonical_search")[1:]:
        with pytest.raises(TypeError, match="open_moves must be"):
            make(np.zeros((2, 3), np.int32))
        search = make(np.zeros((2, 3), np.uint8))
        with pytest.raises(IndexError, match="the start is not on the grid"):
            search.begin(6, np.zeros(1, np.int32), 1.0, 1.0)
        with pytest.raises(IndexError, match="a goal is not on the grid"):
            search.begin(0, np.array([6], np.int32), 1.0, 1.0)
