"""Loops of regions: fields lead along cheapest paths, and searches find the cheapest path over portals."""
from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.cell_moves import moves_for
from ai_core.maps.grid import Grid
from ai_core.paths.regions.region_loops import NO_MOVE, FieldGround, RegionFields, follow
from ai_core.paths.searches.jump_loops import NO_PORTAL, PortalSearch
from tests.paths.levels import COSTS, cost_along

TOP, LEFT, SIDE = 1, 2, 4
NOTHING = np.zeros(0)


@st.composite
def passages(draw):
    """Square grids of 7 × 7 cells, half of them with a single cost."""
    cost = st.sampled_from([3.0, 3.0, np.inf]) if draw(st.booleans()) else COSTS
    cells = draw(st.lists(cost, min_size=49, max_size=49))
    neighbors, corners = draw(st.sampled_from([(4, "closed"), (8, "closed"), (8, "half_open")]))
    return Grid(np.array(cells).reshape(7, 7), neighbors=neighbors, corners=corners).passage()


def filled(passage, targets, starts=()):
    """Fields of a rectangle inside the grid, and the costs from some cells."""
    ground = FieldGround(passage.open_moves, passage.costs, passage.moves)
    fields = RegionFields(ground, TOP, LEFT, np.empty((len(targets), SIDE, SIDE), np.uint8))
    return fields, fields.fill(list(targets), list(starts), passage.uniform_cost)


def moves_within(passage, cell):
    """Number, end and cost of each open move that stays in the rectangle."""
    for move, ((down, right), length) in enumerate(zip(passage.moves.even, passage.moves.lengths, strict=True)):
        row, column = cell // 7 + down, cell % 7 + right
        if passage.open_moves.flat[cell] >> move & 1 and TOP <= row < TOP + SIDE and LEFT <= column < LEFT + SIDE:
            yield move, 7 * row + column, length * float(passage.costs[row, column])


def plain_costs_to(passage, target):
    """Costs from all cells of the rectangle, by relaxing all moves until none helps."""
    costs = {7 * row + column: math.inf for row in range(TOP, TOP + SIDE) for column in range(LEFT, LEFT + SIDE)}
    costs[target] = 0.0
    for _ in costs:
        for cell in costs:
            costs[cell] = min([costs[cell], *(costs[end] + cost for _, end, cost in moves_within(passage, cell))])
    return costs


inside = st.sampled_from([7 * row + column for row in range(TOP, TOP + SIDE) for column in range(LEFT, LEFT + SIDE)])


@given(passages(), st.lists(inside, min_size=1, max_size=3))
def test_fields_lead_along_cheapest_paths_in_the_rectangle(passage, targets):
    plain = [plain_costs_to(passage, target) for target in targets]
    cells = list(plain[0])
    fields, costs = filled(passage, targets, cells)
    for number, target in enumerate(targets):
        assert costs[:, number].tolist() == pytest.approx([plain[number][cell] for cell in cells], rel=1e-9)
        for cell in cells:
            path = follow([fields], [number], [cell]).tolist()
            along, least = fields.costs_from(cell)[number], plain[number][cell]
            assert path[0] == cell
            if cell == target or least == math.inf:
                assert (len(path), along) == (1, -1)
            else:
                assert path[-1] == target
                assert (along, cost_along(passage, path)) == pytest.approx((least, least), rel=1e-9)


@given(passages(), inside)
def test_the_smallest_of_equally_good_moves_is_taken(passage, target):
    fields, plain = filled(passage, [target])[0], plain_costs_to(passage, target)
    if not passage.is_uniform:
        return
    for cell, least in plain.items():
        best = [move for move, end, cost in moves_within(passage, cell) if abs(plain[end] + cost - least) < 1e-9]
        expected = NO_MOVE if cell == target or least == math.inf else best[0]
        assert fields.moves[0, cell // 7 - TOP, cell % 7 - LEFT] == expected


def test_paths_over_several_rectangles_are_joined():
    passage = Grid(np.ones((7, 7))).passage()
    first, second = filled(passage, [23])[0], filled(passage, [30, 23])[0]
    assert follow([first, second], [0, 0], [9, 23]).tolist() == [9, 16, 23, 23, 30]
    assert follow([], [], []).tolist() == []


@pytest.mark.parametrize("cost", [math.nan, -1.0])
def test_costs_that_no_grid_has_are_an_error_and_no_endless_loop(cost):
    moves = moves_for(8)
    ground = FieldGround(moves.open_from(np.ones((4, 4), bool), "closed"), np.full((4, 4), cost, np.float32), moves)
    with pytest.raises(RuntimeError, match="internal error in the fields"):
        RegionFields(ground, 0, 0, np.empty((1, 4, 4), np.uint8)).fill([5], [], 0.0)


def test_circular_field_is_an_error_and_not_an_endless_loop():
    ground = FieldGround(np.zeros((1, 2), np.uint8), np.ones((1, 2), np.float32), moves_for(4))
    fields = RegionFields(ground, 0, 0, np.array([[[2, 1]]], np.uint8))    # to the right, and back
    for run in (lambda: follow([fields], [0], [0]), lambda: fields.costs_from(0)):
        with pytest.raises(RuntimeError, match="internal error in the fields"):
            run()


def test_cells_and_rectangles_off_the_grid_are_refused():
    passage = Grid(np.ones((7, 7))).passage()
    fields, ground = filled(passage, [23])[0], FieldGround(passage.open_moves, passage.costs, passage.moves)
    for run in (
        lambda: fields.fill([0], [], 1.0), lambda: fields.fill([23], [49], 1.0), lambda: fields.costs_from(-1),
        lambda: follow([fields], [0], [6]), lambda: follow([fields], [1], [23]), lambda: follow([fields], [-1], [23]),
        lambda: RegionFields(ground, 4, 0, fields.moves), lambda: RegionFields(ground, 0, -1, fields.moves),
    ):
        with pytest.raises(IndexError, match=r"rectangle|no such field"):
            run()
    with pytest.raises(ValueError, match="a field for each target"):
        fields.fill([23, 24], [], 1.0)


def test_arrays_of_another_kind_are_refused():
    opened, costs, moves = np.zeros((2, 3), np.uint8), np.ones((2, 3), np.float32), moves_for(8)
    with pytest.raises(TypeError, match="open_moves must be"):
        FieldGround(opened.astype(np.int8), costs, moves)
    with pytest.raises(TypeError, match="costs must be"):
        FieldGround(opened, np.ones((3, 2), np.float32).T, moves)
    with pytest.raises(ValueError, match="the same shape"):
        FieldGround(opened, np.ones((3, 2), np.float32), moves)
    with pytest.raises(ValueError, match="square grids"):
        FieldGround(opened, costs, moves_for(6))
    with pytest.raises(TypeError, match="moves must be"):
        RegionFields(FieldGround(opened, costs, moves), 0, 0, np.zeros((1, 2, 3)))
    with pytest.raises(ValueError, match="partners and enter"):
        PortalSearch(np.zeros((2, 3, 3)), np.zeros((2, 2), np.int32), np.zeros((2, 3)), np.zeros(2, np.int32))


@st.composite
def portal_graphs(draw):
    """Four regions with up to three portals each, some without a partner among them."""
    counts = np.array(draw(st.lists(st.integers(1, 3), min_size=4, max_size=4)), np.int32)
    portals = draw(st.permutations([3 * region + i for region in range(4) for i in range(counts[region])]))
    cost = st.sampled_from([0.0, 1.0, 2.0, 2.5, math.inf])
    partners = np.full((4, 3), NO_PORTAL, np.int32)
    for one, other in zip(portals[::2], portals[1::2], strict=False):
        partners.flat[one], partners.flat[other] = other, one
    if len(portals) % 2:
        partners.flat[portals[-1]] = portals[0]
    ways = np.array(draw(st.lists(cost, min_size=36, max_size=36))).reshape(4, 3, 3)
    enter = np.array(draw(st.lists(st.sampled_from([1.0, 4.0]), min_size=12, max_size=12))).reshape(4, 3)
    return ways, partners, enter, counts


def plain_cost(graph, start, goal, out, into):
    """The least cost over portals, by Dijkstra."""
    ways, partners, enter, counts = graph
    best, costs = math.inf, {}
    waiting = [(out[i] + enter.flat[other], int(other)) for i, other in enumerate(partners[start, :counts[start]])]
    waiting.sort()
    while waiting:
        cost, portal = heappop(waiting)
        if cost >= costs.get(portal, math.inf):
            continue
        costs[portal] = cost
        region, index = divmod(portal, 3)
        best = min(best, cost + into[index]) if region == goal else best
        for i in range(counts[region]):
            if i != index:
                other = int(partners[region, i])
                heappush(waiting, (cost + ways[region, index, i] + enter.flat[other], other))
    return best


@given(portal_graphs(), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4),
       st.lists(st.sampled_from([0.0, 1.0, 3.5, math.inf]), min_size=7, max_size=7))
def test_search_finds_the_cheapest_path_over_portals(graph, start, goal, most, ends):
    out, into, direct = np.array(ends[:graph[3][start]]), np.array(ends[3:3 + graph[3][goal]]), ends[6]
    search = PortalSearch(*graph)
    for _ in range(2):      # the second in the memory of the first
        search.begin(start, goal, out, into, np.zeros((4, 3)), direct)
        while not search.is_done:
            assert search.advance(most) <= most
        least = plain_cost(graph, start, goal, out, into)
        assert search.cost == min(direct, least)
        portals = search.portals().tolist()
        assert bool(portals) == (least < direct)
        if portals:
            assert portals[-1] // 3 == goal
            assert int(graph[1].flat[portals[0]]) // 3 == start or len(graph[3]) % 2


def test_regions_off_the_grid_and_wrong_costs_are_refused():
    search = PortalSearch(np.ones((2, 1, 1)), np.array([[1], [0]], np.int32), np.ones((2, 1)), np.ones(2, np.int32))
    for start, goal in ((-1, 0), (2, 0), (0, -1), (0, 2)):
        with pytest.raises(IndexError, match="a region is not on the grid"):
            search.begin(start, goal, np.zeros(1), np.zeros(1), np.zeros((2, 1)), math.inf)
    for out, into, rest in ((NOTHING, np.zeros(1), np.zeros((2, 1))), (np.zeros(1), np.zeros(2), np.zeros((2, 1))),
                            (np.zeros(1), np.zeros(1), np.zeros((1, 1)))):
        with pytest.raises(ValueError, match="must"):
            search.begin(0, 1, out, into, rest, math.inf)
