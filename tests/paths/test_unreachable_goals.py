"""Goals that cannot be reached: partial or none as was chosen, whatever is known of the ground."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.grid import Grid
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService
from tests.paths.levels import grids, plain_costs


def finished(service, clock, steps=None):
    while not service.is_idle:
        service.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
        clock.advance()


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("how", ["request_path", "request_improving_path"])
def test_unreachable_goal_gives_one_answer_known_or_not(partial, how):
    clock = ManualClock()
    cells = np.ones((60, 60))
    cells[:, 30] = np.inf
    grid = Grid(cells)
    ways = GridPathProvider(grid.passage(), partial=partial)
    service = PathService(ways, clock)
    prepare, ways.prepare = ways.prepare, lambda budget: None
    tickets = []
    for row in range(5):
        tickets.append(getattr(service, how)(0, grid.cell(row, 59)))    # searched; none is kept for the next
        tickets.append(getattr(service, how)(0, grid.cell(0, 59)))      # kept, from the second time on
        finished(service, clock)
        if row == 2:
            prepare(Budget.unlimited())                                 # reachability is known from now on
    assert {(one.state, one.path.state) for one in tickets} == {("partial",) * 2 if partial else ("none",) * 2}
    assert {len(one.path.cells) for one in tickets} == ({30, 31, 32, 33} if partial else {0}) & {
        len(one.path.cells) for one in tickets}
    if partial:
        assert all(grid.place(one.path.end) == (grid.place(one.goal)[0], 29) for one in tickets)
    counts = service.statistics()
    assert (counts["found"], counts["partial"] > 0, counts["no_path"] > 0) == (0, partial, not partial)


def test_partial_path_is_the_start_cell_if_no_cell_is_nearer():
    clock = ManualClock()
    passage = Grid([[True, False, True]]).passage()
    service = PathService(GridPathProvider(passage, partial=True), clock)
    shut_in, in_wall = service.request_path(0, 2), service.request_path(1, 2)
    finished(service, clock)
    assert (shut_in.state, shut_in.path.cells.tolist(), shut_in.path.cost) == ("partial", [0], 0.0)
    assert (in_wall.state, in_wall.path.cells.tolist()) == ("none", [])


@given(grid=grids(), steps=st.integers(1, 60), partial=st.booleans(),
       ends=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63)), min_size=1, max_size=8))
def test_states_and_counts_say_what_a_plain_search_says(grid, steps, partial, ends):
    passage, clock = grid.passage(), ManualClock()
    service, tickets = PathService(GridPathProvider(passage, partial=partial), clock), []
    for start, goal in ends:
        tickets.append(service.request_path(start % passage.costs.size, goal % passage.costs.size))
        service.advance(Budget.of_steps(steps))
        clock.advance()
    finished(service, clock, steps)
    for ticket in tickets:
        leads_there = ticket.goal == ticket.start or (
            passage.is_free(ticket.start) and ticket.goal in plain_costs(passage, ticket.start))
        unreachable = "partial" if partial and passage.is_free(ticket.start) else "none"
        assert ticket.state == ticket.path.state == ("found" if leads_there else unreachable)
    counts = service.statistics()
    answers = {(one.start, one.goal): one.state for one in tickets}
    assert [counts["found"], counts["partial"], counts["no_path"]] == [
        sum(state == one for state in answers.values()) for one in ("found", "partial", "none")]
