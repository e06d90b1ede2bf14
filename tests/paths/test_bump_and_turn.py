"""Finding one's way by trying."""
from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import BumpAndTurn, ExploredMap, distance_on_grid, neighbors_on_grid
from ai_core.saving.fields import StateError
from tests.paths.levels import grids, plain_costs

BENT = """
.........
...####..
......#..
......#..
...####..
.........
"""


def ground(text=BENT):
    rows = text.split()
    grid = Grid([[letter == "." for letter in row] for row in rows])
    return grid, grid.passage()


def walker(passage, start, goal, **how):
    return BumpAndTurn(neighbors_on_grid(passage), distance_on_grid(passage), start, goal, **how)


def walked(one, most, explored=None):
    """The places it comes through, until it is there or gives up."""
    places = [one.at]
    for _ in range(most):
        if one.state in ("arrived", "unreachable"):
            break
        if explored is not None:
            explored.advance(Budget.unlimited())
        places.append(one.step())
    return places


def legal(passage, places):
    look = neighbors_on_grid(passage)
    return all(one == other or other in look(one) for one, other in pairwise(places))


def test_over_open_ground_it_goes_straight_and_turns_at_a_wall():
    grid, passage = ground()
    one = walker(passage, grid.cell(0, 0), grid.cell(0, 8), remembers=False)
    assert [grid.place(place) for place in walked(one, 20)] == [(0, column) for column in range(9)]
    assert one.state == "arrived"
    around = walker(passage, grid.cell(0, 5), grid.cell(2, 8), remembers=False)
    assert len(walked(around, 20)) == 5


def test_without_memory_it_is_trapped_and_with_memory_it_escapes():
    grid, passage = ground()
    ends = grid.cell(2, 4), grid.cell(2, 8)
    assert walker(passage, *ends, remembers=False).state == "going"
    caught = walker(passage, *ends, remembers=False)
    assert {grid.place(place)[1] for place in walked(caught, 500)} <= {3, 4, 5}
    free = walker(passage, *ends)
    places = walked(free, 200)
    assert free.state == "arrived"
    assert legal(passage, places)


@given(grids(), st.data())
def test_with_memory_it_arrives_or_knows_that_no_path_exists(grid, data):
    passage = grid.passage()
    cells = passage.costs.size
    start, goal = (data.draw(st.integers(0, cells - 1)) for _ in range(2))
    one = walker(passage, start, goal)
    places = walked(one, 4 * cells + 4)
    assert one.state == ("arrived" if goal in plain_costs(passage, start) else "unreachable")
    assert legal(passage, places)
    assert len(places) <= 2 * cells + 1


@given(grids(), st.data(), st.integers(1, 5))
def test_so_do_many_with_one_memory(grid, data, steps):
    passage = grid.passage()
    cells = passage.costs.size
    ends = [[data.draw(st.integers(0, cells - 1)) for _ in range(2)] for _ in range(3)]
    explored = ExploredMap()
    many = [walker(passage, *pair, explored=explored) for pair in ends]
    ways = [[one.at] for one in many]
    for _ in range(200 * cells):
        if all(one.state in ("arrived", "unreachable") for one in many):
            break
        explored.advance(Budget.of_steps(steps))
        for one, way in zip(many, ways, strict=True):
            way.append(one.step())
    assert [one.state for one in many] == [
        "arrived" if goal in plain_costs(passage, start) else "unreachable" for start, goal in ends]
    assert all(legal(passage, way) for way in ways)


def test_who_comes_later_takes_the_way_that_others_found():
    grid, passage = ground()
    explored, ends = ExploredMap(), (grid.cell(2, 4), grid.cell(2, 8))
    first = walked(walker(passage, *ends, explored=explored), 300, explored)
    second = walked(walker(passage, *ends, explored=explored), 300, explored)
    moves = [len(set(pairwise(way)) - {(one, one) for one in way}) for way in (first, second)]
    assert moves[1] < moves[0]
    assert moves[1] <= 11


def test_wall_across_a_known_path_makes_it_look_for_another():
    grid, passage = ground("""
.....
.###.
.....
""")
    explored = ExploredMap()
    ends = grid.cell(0, 0), grid.cell(0, 4)
    assert len(walked(walker(passage, *ends, explored=explored), 100, explored)) >= 5
    grid.set_cells([grid.cell(0, 3)], False)
    one = walker(passage, *ends, explored=explored)
    places = walked(one, 200, explored)
    assert one.state == "arrived"
    assert grid.cell(2, 2) in places
    assert legal(passage, places)


def test_wall_in_a_forgotten_path_makes_it_ask_from_its_place():
    grid, passage = ground(".....\n.###.\n.....")
    explored, ends = ExploredMap(), (grid.cell(0, 0), grid.cell(0, 4))
    for one_way in (ends, ends[::-1], ends):
        walked(walker(passage, *one_way, explored=explored), 100, explored)
    grid.set_cells([grid.cell(0, 2)], False)
    one = walker(passage, *ends, explored=explored)
    for _ in range(100):
        one.step()
        explored.advance(Budget.unlimited())
    assert one.state == "arrived"


def test_who_is_shut_in_does_not_go_back_through_the_wall():
    grid, passage = ground(".....\n#####\n.....")
    one = walker(passage, grid.cell(0, 2), grid.cell(2, 4))
    assert [one.step(), one.step()] == [3, 4]
    grid.set_cells([3], False)
    assert (one.step(), one.state) == (4, "unreachable")


@given(grids(), st.data(), st.sampled_from(["own memory", "advanced first", "advanced last"]))
def test_new_walls_are_not_crossed_and_remaining_paths_are_used(grid, data, how):
    passage = grid.passage()
    cells = passage.costs.size
    look, explored = neighbors_on_grid(passage), None if how == "own memory" else ExploredMap()
    for _ in range(3):      # who comes later knows what has changed since
        start, goal = (data.draw(st.integers(0, cells - 1)) for _ in range(2))
        one = walker(passage, start, goal, explored=explored)
        walls = data.draw(st.lists(st.integers(0, 60), max_size=3))
        for number in range(200 * cells):
            if number in walls:
                shut = data.draw(st.integers(0, cells - 1))
                if shut not in (one.at, goal):
                    grid.set_cells([shut], False)
            if explored is not None and how == "advanced first":
                explored.advance(Budget.unlimited())
            before, neighbors = one.at, look(one.at)
            assert one.step() in (before, *neighbors)
            if explored is not None and how == "advanced last":
                explored.advance(Budget.unlimited())
            if one.state in ("arrived", "unreachable"):
                break
        assert one.state == ("arrived" if one.at == goal or goal in plain_costs(passage, one.at) else "unreachable")


def test_who_is_pushed_goes_on_from_there():
    grid, passage = ground()
    one = walker(passage, grid.cell(0, 0), grid.cell(5, 8))
    for _ in range(3):
        one.step()
    assert one.step(grid.cell(5, 0)) in neighbors_on_grid(passage)(grid.cell(5, 0))
    assert one.step(grid.cell(5, 8)) == grid.cell(5, 8)
    assert one.state == "arrived"


@pytest.mark.parametrize("how", [{"remembers": False}, {}, {"explored": True}])
def test_saved_on_its_way_it_goes_on_the_same(how):
    grid, passage = ground()
    worlds = []
    for _ in range(2):
        explored = ExploredMap() if how.get("explored") else None
        arguments = {**how, "explored": explored} if explored is not None else how
        worlds.append((explored, walker(passage, grid.cell(2, 4), grid.cell(2, 8), **arguments)))
    (explored, one), (other_explored, other) = worlds
    for _ in range(7):
        if explored is not None:
            explored.advance(Budget.unlimited())
        one.step()
    if explored is not None:
        other_explored.prepare_state(json.loads(json.dumps(explored.save_state())))()
    other.prepare_state(json.loads(json.dumps(one.save_state())))()
    assert walked(other, 300, other_explored)[-1] == walked(one, 300, explored)[-1]
    assert other.state == one.state


def test_a_damaged_save_is_refused():
    _, passage = ground()
    one, explored = walker(passage, 0, 5), ExploredMap()
    for damage in ({"version": 2}, {"at": -1}, {"state": "lost"}, {"tried": ["x"]}):
        with pytest.raises(StateError):
            one.prepare_state({**one.save_state(), **damage})
    for known in ([[]], [[1, 2]], [["x", [1]]], [[1, ["x"]]], None):
        with pytest.raises(StateError, match="known"):
            explored.prepare_state({"version": 1, "known": known, "reports": []})


def test_misuse_is_refused():
    _, passage = ground()
    look, apart = neighbors_on_grid(passage), distance_on_grid(passage)
    with pytest.raises(TypeError, match="callables"):
        BumpAndTurn(None, apart, 0, 1)
    with pytest.raises(ValueError, match="start must be at least 0"):
        BumpAndTurn(look, apart, -1, 1)
    with pytest.raises(TypeError, match="explored must be"):
        BumpAndTurn(look, apart, 0, 1, explored=[])
    with pytest.raises(TypeError, match="apart must be"):
        ExploredMap().ask(0, 1, None)
    with pytest.raises(TypeError, match="GridPassage"):
        neighbors_on_grid(np.zeros((2, 2)))
