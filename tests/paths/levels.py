"""Levels for tests of paths, and the plain search that says what is right."""
from __future__ import annotations

import math
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.grid import Grid
from ai_core.paths.searches.grid_search_loops import NOWHERE

COSTS = st.sampled_from([1.0, 1.0, 1.0, 1.0, 2.0, 2.5, 30.0, 1000.0, np.inf, np.inf])


@st.composite
def grids(draw, uniform=None):
    """Grids of every kind, from one cell to 8 × 8."""
    height, width = draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    is_uniform = draw(st.booleans()) if uniform is None else uniform
    cost = st.sampled_from([3.0, 3.0, np.inf]) if is_uniform else COSTS
    cells = draw(st.lists(cost, min_size=height * width, max_size=height * width))
    return Grid(
        np.array(cells).reshape(height, width),
        neighbors=draw(st.sampled_from([4, 6, 8])),
        corners=draw(st.sampled_from(["closed", "half_open", "open"])),
    )


def moves_from(passage, cell):
    """(cell, cost) of every move from a cell, in the order of moves."""
    bits, width = int(passage.open_moves.flat[cell]), passage.shape[1]
    goes = passage.moves.odd if passage.moves.is_hexagonal and bits & ODD_ROW else passage.moves.even
    for move, (down, right) in enumerate(goes):
        if bits >> move & 1:
            other = cell + down * width + right
            yield other, passage.moves.lengths[move] * float(passage.costs.flat[other])


def plain_costs(passage, start):
    """What it costs to every cell that can be reached: Dijkstra, as a textbook has it."""
    costs, waiting = {start: 0.0}, [(0.0, start)]
    while waiting:
        way, cell = heappop(waiting)
        if way > costs[cell]:
            continue
        for other, cost in moves_from(passage, cell):
            if way + cost < costs.get(other, np.inf):
                costs[other] = way + cost
                heappush(waiting, (way + cost, other))
    return costs


def cost_along(passage, cells):
    """What a way costs; fails if a step of it is no move."""
    total = 0.0
    for cell, other in pairwise(cells):
        total += dict(moves_from(passage, cell))[other]
    return total


def exact_line_is_open(passage, one, other):
    """Whether a line is open, by exact numbers: every cell it passes is free, and corners as the rule says."""
    height, width = passage.shape

    def is_free(row, column):
        return 0 <= row < height and 0 <= column < width and passage.costs[row, column] < math.inf

    one, other = [[Fraction(number) + Fraction(1, 2) for number in end] for end in (one, other)]
    shares = {Fraction(0), Fraction(1)}
    for first, last in zip(one, other, strict=True):
        for border in range(math.floor(min(first, last)), math.ceil(max(first, last)) + 1):
            if first != last and 0 <= (border - first) / (last - first) <= 1:
                shares.add((border - first) / (last - first))
    inner = [tuple(a + share * (b - a) for a, b in zip(one, other, strict=True)) for share in sorted(shares)]
    middles = [tuple((a + b) / 2 for a, b in zip(*pair, strict=True)) for pair in pairwise(inner)]
    cells = [(math.floor(row), math.floor(column)) for row, column in middles or inner]
    if not all(is_free(*cell) for cell in cells):
        return False
    beside = {"closed": all, "half_open": any, "open": lambda free: True}[passage.corners]
    return all(
        beside([is_free(before[0], after[1]), is_free(after[0], before[1])])
        for before, after in pairwise(cells) if before[0] != after[0] and before[1] != after[1])


def way_from(field, cell):
    """The cells from one to a goal, by a flow field."""
    following, cells = field.next_cells.reshape(-1).tolist(), [cell]
    while following[cells[-1]] not in (NOWHERE, cells[-1]):
        cells.append(following[cells[-1]])
    return cells
