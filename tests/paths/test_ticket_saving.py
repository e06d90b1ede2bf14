"""Tickets, searches and cached paths are saved; a loaded service answers in the same frames as one without a save."""
from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.grid import Grid
from ai_core.paths import GridPathProvider, PathService, RegionGraph
from ai_core.saving import StateError
from ai_core.snapshot import restore, take
from tests.paths.levels import grids


def service_of(grid, clock, **settings):
    return PathService(GridPathProvider(grid.passage(), partial=True), clock, **settings)


def through_json(state):
    return json.loads(json.dumps(state))


def told(ticket):
    path = ticket.path
    return (
        ticket.number, ticket.state, ticket.priority, ticket.is_shared, ticket.is_near, ticket.why,
        None if path is None else (path.state, path.cells.tolist(), path.cost, path.expanded, path.bound),
    )


def finished(service, clock):
    while not service.is_idle:
        service.advance(Budget.of_steps(50))
        clock.advance()


@given(grid=grids(), regions=st.booleans(), steps=st.integers(1, 60), saved_at=st.integers(0, 9), asked=st.lists(
    st.tuples(st.integers(0, 63), st.integers(0, 63), st.sampled_from([0.5, 1, 1.1, 4]), st.sampled_from([0, 2]),
              st.booleans()),
    min_size=12, max_size=12))
def test_loaded_service_answers_in_the_same_frames(grid, regions, steps, saved_at, asked):
    size, regions = grid.passage().costs.size, regions and RegionGraph.suits(grid.passage())
    clock, other_clock = ManualClock(), ManualClock()

    def prepared(clock):
        service = PathService(GridPathProvider(grid.passage(), regions=regions), clock, max_running=2, keep_frames=5)
        service.advance(Budget.unlimited())
        return service

    service, other, held = prepared(clock), None, []
    for frame, (start, goal, priority, tolerance, cancels) in enumerate([*asked, *asked]):
        if frame == saved_at:
            parts = {"clock": other_clock, "paths": prepared(other_clock)}
            restore(take({"clock": clock, "paths": service}), parts)
            other = parts["paths"]
            loaded = [(other.ticket(one.number), one) for one in held]
            mates = {one.number: one for one, _ in loaded}
        ends = {"start": start % size, "goal": goal % size, "priority": priority, "tolerance": tolerance}
        kept = held if frame % 3 else []        # nobody holds the others: their paths are in the cache alone
        kept.append(service.request_path(**ends))
        cancelled = held[frame // 2 % len(held)].number if cancels and held else None
        if cancelled is not None:
            service.cancel(service.ticket(cancelled))
        service.advance(Budget.of_steps(steps))
        clock.advance()
        if other is not None:
            same = other.request_path(**ends)
            mates[same.number] = same
            if cancelled is not None:
                other.cancel(mates[cancelled])
            other.advance(Budget.of_steps(steps))
            other_clock.advance()
            states = [service.save_state(), other.save_state()]
            for state in states:
                del state["requests"]["over"]   # of different holders
            assert states[0] == states[1]
            assert [told(one) for one, _ in loaded] == [told(one) for _, one in loaded]
            assert other.statistics() == service.statistics()


def test_search_that_cells_changed_under_restarts_when_loaded():
    grid, clock = Grid(np.ones((30, 30), bool)), ManualClock()
    service = service_of(grid, clock)
    ticket = service.request_path(0, 899)
    service.advance(Budget.of_steps(20))
    state = service.save_state()
    assert state["requests"]["searches"][0]["steps"] == 15      # the rest prepares
    grid.set_cells([grid.cell(1, 1)], False)
    state = through_json(service.save_state())
    assert state["requests"]["searches"][0]["steps"] == 0
    other = service_of(grid, clock)
    other.prepare_state(state)()
    finished(other, clock)
    finished(service, clock)
    loaded = other.ticket(ticket.number)
    assert (loaded.path.cells.tolist(), loaded.path.expanded) == (ticket.path.cells.tolist(), ticket.path.expanded - 15)


def test_more_cached_paths_than_the_limit_drop_the_oldest(monkeypatch):
    monkeypatch.setattr("ai_core.paths.path_requests.MOST_KEPT", 3)
    service = service_of(Grid(np.ones((9, 9), bool)), ManualClock())
    for goal in (80, 70, 60, 80, 50):
        service.request_path(0, goal)
        service.advance(Budget.unlimited())
    assert service.statistics()["kept"] == 3
    assert [service.request_path(0, goal).state for goal in (80, 60, 50, 70)] == [*3 * ["found"], "waiting"]


@given(grid=grids(), steps=st.integers(0, 60), spent=st.integers(0, 5), ends=st.lists(
    st.tuples(st.integers(0, 63), st.integers(0, 63), st.sampled_from([0.5, 1, 4]), st.sampled_from([0, 2])),
    max_size=9))
def test_loaded_service_gives_every_ticket_the_same_path(grid, steps, spent, ends):
    clock, size = ManualClock(), grid.passage().costs.size
    service = service_of(grid, clock, max_running=2)
    tickets = [
        service.request_path(start % size, goal % size, priority=priority, tolerance=tolerance)
        for start, goal, priority, tolerance in ends
    ]
    for _ in range(spent):
        service.advance(Budget.of_steps(steps))
    state = through_json(service.save_state())
    other = service_of(grid, clock, max_running=2)
    other.prepare_state(state)()
    assert other.save_state() == state
    loaded = [other.ticket(one.number) for one in tickets]
    for one in (service, other):
        finished(one, clock)
    assert [told(one)[:6] for one in loaded] == [told(one)[:6] for one in tickets]
    assert [(one.path.state, one.path.cost) for one in loaded] == [(one.path.state, one.path.cost) for one in tickets]


def test_tickets_loaded_into_the_running_game_are_restored():
    grid, clock = Grid(np.ones((9, 9), bool)), ManualClock()
    service = service_of(grid, clock)
    early, gone = service.request_path(0, 80), service.request_path(0, 70)
    gone_number = gone.number
    state = through_json(service.save_state())
    del gone
    finished(service, clock)
    late = service.request_path(0, 60)
    assert early.state == "found"
    service.prepare_state(state)()
    assert (early.state, early.path, late.state) == ("waiting", None, "cancelled")
    assert service.ticket(early.number) is early
    finished(service, clock)
    assert early.path.end == 80
    assert service.ticket(gone_number).path.end == 70
    assert service.request_path(0, 50).number == 2


def test_loaded_searches_keep_their_places_in_the_queue():
    grid, clock = Grid(np.ones((30, 30), bool)), ManualClock()
    cells = [grid.cell(29, column) for column in range(29)]
    grid.set_cells(cells, False)
    service = service_of(grid, clock, max_running=1)
    tickets = [service.request_path(0, goal) for goal in (grid.cell(29, 29), grid.cell(28, 0), 5)]
    service.advance(Budget.of_steps(20))
    assert [one.state for one in tickets] == ["running", "waiting", "waiting"]
    over = []
    other = service_of(grid, clock, max_running=1, on_over=over.append)
    other.prepare_state(through_json(service.save_state()))()
    assert [other.ticket(number).state for number in range(3)] == ["running", "waiting", "waiting"]
    finished(other, clock)
    assert [one.number for one in over] == [0, 1, 2]


def test_tickets_that_nobody_asks_for_after_loading_are_let_go():
    grid, clock = Grid(np.ones((3, 3), bool)), ManualClock()
    service = service_of(grid, clock, keep_frames=5)
    ticket = service.request_path(0, 8)
    finished(service, clock)
    other = service_of(grid, clock, keep_frames=5)
    other.prepare_state(service.save_state())()
    for _ in range(7):
        clock.advance()
        other.advance(Budget.unlimited())
    with pytest.raises(ValueError, match="unknown ticket number"):
        other.ticket(ticket.number)


def test_invalid_save_is_refused_and_changes_nothing():
    grid, clock = Grid(np.ones((3, 3), bool)), ManualClock()
    service = service_of(grid, clock)
    held = [service.request_path(0, 8), service.request_path(1, 7)]
    finished(service, clock)
    held.append(service.request_path(2, 6))
    state = through_json(service.save_state())

    def spoilt(change):
        copy = through_json(state)
        change(copy)
        return copy

    for place, value, message in (
        (("over", 0, "state"), "partial", r"'requests.over\[0\]': state must match the path"),
        (("over", 0, "state"), "failed", r"'requests.over\[0\]': state must match the path"),
        (("over", 0, "state"), "waiting", r"'requests.over\[0\].state' must be 'found' or"),
        (("over", 0, "priority"), 0, r"'requests.over\[0\]': priority must be above 0"),
        (("over", 0, "number"), 99, r"'requests.over\[0\].number' must be unique and below 3, got 99"),
        (("over", 0, "number"), 1, r"'requests.over\[1\].number' must be unique"),
        (("over", 0, "path", "cells", 1), 9, r"'requests.over\[0\].path.cells\[1\]' must be at most 8"),
        (("over", 0, "path", "state"), "none", r"'requests.over\[0\].path': cells must be empty for 'none'"),
        (("kept", 0, "number"), 1, r"'requests.kept\[1\].number' must be unique"),
        (("kept", 0, "path", "cells", 0), 9, r"'requests.kept\[0\].path.cells\[0\]' must be at most 8"),
        (("searches", 0, "goal"), 9, r"'requests.searches\[0\].goal' must be at most 8"),
        (("searches", 0, "number"), 3, r"'requests.searches\[0\].number' must be unique"),
        (("searches", 0, "tickets"), [], r"'requests.searches\[0\]': tickets must be at least one"),
        (("searches", 0, "tickets", 0, "number"), 0, r"searches\[0\].tickets\[0\].number' must be unique"),
    ):
        damaged = through_json(state)
        inner = damaged["requests"]
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        with pytest.raises(StateError, match=message):
            service.prepare_state(damaged)
        assert service.save_state() == state
    twice = {**through_json(state), "next_number": 4}
    searches = twice["requests"]["searches"]
    searches.append(through_json(searches[0]))
    searches[1]["number"] = searches[1]["tickets"][0]["number"] = 3
    with pytest.raises(StateError, match=r"'requests.searches\[1\].start' and 'goal' must be unique"):
        service.prepare_state(twice)
    smaller = service_of(Grid(np.ones((2, 2), bool)), clock)
    with pytest.raises(StateError, match="must be at most 3"):
        smaller.prepare_state(state)


class BrokenProvider(GridPathProvider):
    """A provider whose searches cannot begin for a while."""

    is_broken = False

    def begin(self, start, goal):
        if self.is_broken:
            raise RuntimeError("the map is not ready")
        return super().begin(start, goal)


def test_a_search_that_cannot_resume_begins_again_in_an_advance():
    clock, grid = ManualClock(), Grid(np.ones((30, 30)))
    service = PathService(BrokenProvider(grid.passage()), clock, max_running=1)
    ticket, other = service.request_path(0, 899), service.request_path(5, 870)
    service.advance(Budget.of_steps(20))
    state = through_json(service.save_state())
    assert [ticket.state, other.state] == ["running", "waiting"]
    service.provider.is_broken = True
    service.prepare_state(state)()
    assert [ticket.state, other.state] == ["waiting", "waiting"]
    service.provider.is_broken = False
    finished(service, clock)
    assert [ticket.state, other.state] == ["found", "found"]
