"""Levels for tests of paths, and the plain search that says what is right."""
from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.grid import Grid

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
