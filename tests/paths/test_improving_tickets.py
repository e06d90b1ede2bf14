"""Tickets that get a way soon, walk along it, and get better ones."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.grid import Grid
from ai_core.paths import GridPathProvider, PathService
from ai_core.saving import StateError
from tests.paths.levels import cost_along, grids, plain_costs


def service_of(grid, **settings):
    return PathService(GridPathProvider(grid.passage(), partial=True), ManualClock(), **settings)


def bag():
    """A level whose estimates lead into a bag: the first way is dearer than the cheapest."""
    cells = np.ones((40, 40))
    cells[10:30, 30], cells[10, 10:30] = np.inf, np.inf
    return Grid(cells)


def test_first_path_comes_soon_and_better_ones_follow_until_done():
    grid, told = bag(), []
    service = service_of(grid, on_improved=lambda ticket: told.append((ticket.path.cost, ticket.path.bound)))
    ticket = service.request_improving_path(grid.cell(20, 5), grid.cell(12, 39))
    assert (ticket.state, ticket.path) == ("waiting", None)
    while ticket.path is None:
        service.advance(Budget.of_steps(10))
    assert (ticket.state, ticket.path.is_found) == ("running", True)
    while not ticket.is_done:
        service.advance(Budget.of_steps(10))
    assert (ticket.state, ticket.path.bound) == ("found", 1.0)
    assert ticket.path.cost == pytest.approx(plain_costs(grid.passage(), ticket.start)[ticket.goal])
    assert told == sorted(told, reverse=True)
    assert told[0][1] > 1


def snake():
    """A level where estimates lead astray all the way."""
    cells = np.ones((96, 96))
    cells[8::16, :-1] = np.inf
    cells[16::16, 1:] = np.inf
    return Grid(cells)


def first_way(service, ends):
    ticket, frames = service.request_improving_path(*ends), 0
    while ticket.path is None:
        service.advance(Budget.of_steps(20))
        frames += 1
    return ticket, frames


def test_in_a_maze_the_first_way_comes_over_regions():
    grid = snake()
    ends = grid.cell(0, 0), grid.cell(95, 95)
    ways = GridPathProvider(grid.passage(), regions=True)
    while not ways.is_prepared:
        ways.prepare(Budget.unlimited())
    alone, over = service_of(grid), PathService(ways, ManualClock())
    (_, by_cells), (ticket, by_regions) = first_way(alone, ends), first_way(over, ends)
    assert 5 * by_regions < by_cells
    least = plain_costs(grid.passage(), ends[0])[ends[1]]
    assert least <= ticket.path.cost <= 1.1 * least
    over.move_start(ticket, int(ticket.path.cells[1]))
    while not ticket.is_done:
        over.advance(Budget.of_steps(500))
    assert ticket.path.cost <= least


@pytest.mark.parametrize("what", ["walks", "wall", "cancel"])
def test_events_before_the_region_path_is_ready_do_not_stop_it(what):
    grid = snake()
    ways = GridPathProvider(grid.passage(), regions=True)
    while not ways.is_prepared:
        ways.prepare(Budget.unlimited())
    service = PathService(ways, ManualClock())
    service.advance(Budget.unlimited())
    ticket = service.request_improving_path(grid.cell(0, 0), grid.cell(95, 95))
    service.advance(Budget.of_steps(1))
    assert (ticket.state, ticket.path) == ("running", None)
    if what == "walks":
        service.move_start(ticket, grid.cell(0, 3))
    elif what == "wall":
        grid.set_cells([grid.cell(0, 5)], False)
    else:
        service.cancel(ticket)
        ticket = service.request_improving_path(grid.cell(0, 0), grid.cell(95, 95))
    while not ticket.is_done:
        service.advance(Budget.of_steps(2000))
    start = grid.cell(0, 3) if what == "walks" else 0
    assert ticket.path.cost == pytest.approx(plain_costs(grid.passage(), start)[ticket.goal])


@given(grid=grids(), ends=st.tuples(st.integers(0, 63), st.integers(0, 63)), steps=st.integers(1, 9),
       hurry=st.integers(0, 3), saved_at=st.integers(0, 12))
def test_walking_mover_arrives_with_any_slices_and_across_a_save(
    grid, ends, steps, hurry, saved_at,
):
    passage, size = grid.passage(), grid.passage().costs.size
    service, at, goal = service_of(grid), ends[0] % size, ends[1] % size
    least = plain_costs(passage, at).get(goal, math.inf) if passage.is_free(at) or at == goal else math.inf
    ticket, walked = service.request_improving_path(at, goal), [at]
    for frame in range(1000):
        service.advance(Budget.of_steps(steps))
        if frame == saved_at and not ticket.is_done:
            state = json.loads(json.dumps(service.save_state()))
            service = service_of(grid)
            service.prepare_state(state)()
            ticket = service.ticket(ticket.number)
        for _ in range(hurry):
            if ticket.path is not None and ticket.path.is_found and not ticket.is_done and len(ticket.path.cells) > 1:
                at = int(ticket.path.cells[1])
                walked.append(at)
                service.move_start(ticket, at)
                assert ticket.path.cells[0] == at
        if ticket.is_done:
            break
    assert ticket.state == ticket.path.state
    assert ticket.path.is_found == (least < math.inf)
    if ticket.path.is_found:
        whole = [*walked, *ticket.path.cells.tolist()[1:]]
        assert whole[-1] == goal
        assert cost_along(passage, whole) >= least * (1 - 1e-9)
        assert ticket.path.cost == pytest.approx(plain_costs(passage, at)[goal], rel=1e-9)


def test_walked_path_is_not_shared_but_its_final_result_is():
    grid = bag()
    service = service_of(grid)
    ends = grid.cell(20, 5), grid.cell(12, 39)
    walker = service.request_improving_path(*ends)
    while walker.path is None:
        service.advance(Budget.of_steps(10))
    other, near = service.request_path(*ends), service.request_path(ends[0] + 1, ends[1], tolerance=2)
    third = service.request_improving_path(*ends)
    assert (other.is_shared, third.is_shared) == (False, False)
    assert (near.is_near, near.is_shared) == (True, True)        # to the one that was asked for as usual
    service.move_start(walker, int(walker.path.cells[1]))
    while not service.is_idle:
        service.advance(Budget.of_steps(100))
    assert (walker.state, other.state, third.state) == ("found", "found", "found")
    assert third.path.cost == pytest.approx(other.path.cost)
    assert walker.path.cost < other.path.cost
    late = service.request_improving_path(*ends)
    assert (late.state, late.is_shared) == ("found", True)


def test_a_wall_in_the_way_takes_it_away_and_another_is_found():
    grid = bag()
    service = service_of(grid)
    ticket = service.request_improving_path(grid.cell(20, 5), grid.cell(12, 39))
    while ticket.path is None:
        service.advance(Budget.of_steps(10))
    service.move_start(ticket, int(ticket.path.cells[1]))
    shut = int(ticket.path.cells[-4])
    grid.set_cells([shut], False)
    while not ticket.is_done:
        service.advance(Budget.of_steps(10))
        assert ticket.path is None or shut not in ticket.path.cells
    least = plain_costs(grid.passage(), int(ticket.path.cells[0]))[ticket.goal]
    assert ticket.path.cost == pytest.approx(least)


def test_cancelled_ticket_frees_its_memory_and_stops_walking():
    grid = bag()
    service = service_of(grid, max_running=1)
    ticket = service.request_improving_path(grid.cell(20, 5), grid.cell(12, 39))
    service.advance(Budget.of_steps(10))
    service.cancel(ticket)
    service.move_start(ticket, 0)
    assert (service.is_idle, ticket.state) == (True, "cancelled")
    other = service.request_path(0, 5)
    service.advance(Budget.unlimited())
    assert other.state == "found"


def test_one_that_was_given_up_on_its_way_is_saved_too():
    grid = bag()
    service = service_of(grid)
    ticket = service.request_improving_path(grid.cell(20, 5), grid.cell(12, 39))
    while ticket.path is None:
        service.advance(Budget.of_steps(10))
    service.cancel(ticket)
    state = json.loads(json.dumps(service.save_state()))
    other = service_of(grid)
    other.prepare_state(state)()
    loaded = other.ticket(ticket.number)
    assert loaded.state == "cancelled"
    assert other.save_state() == state


def test_misuse_is_told():
    grid = bag()
    service = service_of(grid)
    with pytest.raises(ValueError, match="one of request_improving_path"):
        service.move_start(service.request_path(0, 5), 1)
    with pytest.raises(ValueError, match="place must be at most 1599"):
        service.move_start(service.request_improving_path(0, 5), 1600)
    ways = GridPathProvider(grid.passage())

    class Elsewhere:
        def __getattr__(self, name):
            if name == "begin_improving":
                raise AttributeError(name)
            return getattr(ways, name)

    with pytest.raises(ValueError, match="only over a grid; use request_path"):
        PathService(Elsewhere(), ManualClock()).request_improving_path(0, 5)
    assert service.request_improving_path(0, 5)
    with pytest.raises(StateError, match=r"'requests.improving' must be empty, as improving paths"):
        PathService(Elsewhere(), ManualClock()).prepare_state(service.save_state())


def test_a_save_with_a_way_that_cannot_be_walked_is_refused():
    grid = bag()
    service = service_of(grid)
    ticket = service.request_improving_path(grid.cell(20, 5), grid.cell(12, 39))
    while ticket.path is None:
        service.advance(Budget.of_steps(10))
    state = json.loads(json.dumps(service.save_state()))
    for spoil, message in (
        (lambda one: one["tickets"].clear(), r"'requests.improving\[0\].tickets' must be a list of 1 items"),
        (lambda one: one.update(place=9999), r"'requests.improving\[0\].place' must be at most"),
        (lambda one: one["tickets"][0]["path"].update(state="partial"), "the path must be found, got 'partial'"),
    ):
        copy = json.loads(json.dumps(state))
        spoil(copy["requests"]["improving"][0])
        with pytest.raises(StateError, match=message):
            service.prepare_state(copy)
