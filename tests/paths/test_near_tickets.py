"""Tickets that took a way nearby: given up, and where that way leads nowhere."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.grid import Grid
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService


def service_on(cells, **settings):
    grid = Grid(cells)
    return grid, PathService(GridPathProvider(grid.passage(), **settings), ManualClock())


def test_cancelled_ticket_stays_cancelled_if_others_ask_the_same():
    grid, service = service_on(np.ones((20, 20)))
    first = service.request_path(0, grid.cell(10, 10))
    near = service.request_path(grid.cell(1, 0), grid.cell(10, 11), tolerance=1.5)
    exact = service.request_path(grid.cell(1, 0), grid.cell(10, 11))
    service.cancel(near)
    service.advance(Budget.unlimited())
    assert (near.state, near.path) == ("cancelled", None)
    assert (first.state, exact.state) == ("found", "found")


def test_cancelled_near_ticket_ends_a_search_nobody_else_awaits():
    grid, service = service_on(np.ones((20, 20)))
    first = service.request_path(0, grid.cell(10, 10))
    near = service.request_path(grid.cell(1, 0), grid.cell(10, 11), tolerance=1.5)
    exact = service.request_path(grid.cell(1, 0), grid.cell(10, 11))
    service.cancel(exact)
    service.cancel(first)
    service.cancel(near)
    assert service.is_idle


@pytest.mark.parametrize("is_found_before", [False, True])
def test_that_no_way_leads_from_nearby_says_nothing_of_ones_own(is_found_before):
    cells = np.ones((5, 9))
    cells[:, 1] = np.inf            # the first column is a room without a door
    grid, service = service_on(cells)
    service.request_path(grid.cell(2, 0), grid.cell(2, 8))
    if is_found_before:
        service.advance(Budget.unlimited())
    near = service.request_path(grid.cell(2, 2), grid.cell(2, 8), tolerance=2.0)
    service.advance(Budget.unlimited())
    assert (near.state, near.is_near, near.path.state) == ("found", False, "found")
    assert near.path.cells[0] == grid.cell(2, 2)


def test_nor_does_a_way_from_nearby_that_ends_before_its_goal():
    cells = np.ones((5, 9))
    cells[:, 1] = np.inf
    grid, service = service_on(cells, partial=True)
    first = service.request_path(grid.cell(2, 0), grid.cell(2, 8))
    near = service.request_path(grid.cell(2, 2), grid.cell(2, 8), tolerance=2.0)
    service.advance(Budget.unlimited())
    assert (first.path.is_found, near.path.is_found) == (False, True)
