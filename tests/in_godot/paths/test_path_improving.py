"""PathService: ways that improve while their mover walks, and searches on threads."""
from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct
from ai_core.budget import Budget

START, GOAL = Vector2(50, 200), Vector2(390, 120)


@pytest.fixture
def scheduler(node):
    return node("AIScheduler", budget=0.0)


@pytest.fixture
def points():
    """An AStarGrid2D of 40 by 40 points of 10 px, with a bag that estimates lead into."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 40, 40)
    grid.cell_size = Vector2(10, 10)
    grid.diagonal_mode = 2                      # only if no obstacles
    grid.update()
    for one in range(10, 30):
        grid.set_point_solid(Vector2i(30, one), True)
        grid.set_point_solid(Vector2i(one, 10), True)
    return grid


@pytest.fixture
def service(node, scheduler, points):
    made = node("PathService", scheduler)
    made.set_grid_from(points)
    in_small_slices(made)
    return made


def in_small_slices(service):
    inner = service.service
    advance = inner.advance
    inner.advance = lambda budget: advance(Budget.of_steps(20))


def until_there_is_a_way(service, ticket, physics_frames):
    while not len(service.check_path(ticket)):
        physics_frames(1)


def length(path):
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def test_a_way_comes_soon_then_cheaper_ones_then_the_cheapest(service, points, signals, physics_frames):
    improved, ready = signals(service, "path_improved"), signals(service, "path_ready")
    ticket = service.request_improving_path(START, GOAL)
    assert service.get_state(ticket) == "waiting"
    until_there_is_a_way(service, ticket, physics_frames)
    assert service.get_state(ticket) == "improving"
    while service.get_state(ticket) == "improving":
        physics_frames(1)
    assert service.get_state(ticket) == "found"
    physics_frames(1)
    lengths = [length(path) for _, path in improved]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths
    assert [number for number, _ in ready] == [ticket]
    cheapest = length(np.array([tuple(one) for one in points.get_point_path(Vector2i(5, 20), Vector2i(39, 12))]))
    assert length(ready[0][1]) == pytest.approx(cheapest)


def test_a_mover_walks_along_and_is_saved_on_its_way(service, node, scheduler, points, physics_frames):
    ticket = service.request_improving_path(START, GOAL)
    until_there_is_a_way(service, ticket, physics_frames)
    here = service.check_path(ticket)[1].tolist()
    service.move_start(ticket, Vector2(*here))
    assert service.check_path(ticket)[0].tolist() == here
    assert service.get_fallback_position(ticket, Vector2(*here)) == Vector2(*here)    # it has a way: no trying
    state = json.loads(json.dumps(service.save_state()))
    service.free()
    fresh = node("PathService", scheduler)
    fresh.set_grid_from(points)
    in_small_slices(fresh)
    assert fresh.load_state(state)
    assert fresh.get_state(ticket) == "improving"
    assert fresh.check_path(ticket)[0].tolist() == here
    while fresh.get_state(ticket) == "improving":
        physics_frames(1)
        if fresh.get_state(ticket) == "improving":
            here = fresh.check_path(ticket)[min(1, len(fresh.check_path(ticket)) - 1)].tolist()
            fresh.move_start(ticket, Vector2(*here))
    assert fresh.get_state(ticket) == "found"
    assert fresh.check_path(ticket)[0].tolist() == here
    assert fresh.check_path(ticket)[-1].tolist() == list(GOAL)


def test_an_improvement_that_waits_is_emitted_after_a_load(service, scheduler, signals, physics_frames):
    improved = signals(service, "path_improved")
    ticket, emit = service.request_improving_path(START, GOAL), service.emit_results
    service.emit_results = lambda budget: None
    until_there_is_a_way(service, ticket, physics_frames)
    assert improved == []
    state = json.loads(json.dumps(scheduler.save_state()))
    service.emit_results = emit
    service.release(ticket)
    assert scheduler.load_state(state)
    physics_frames(1)
    assert [number for number, _ in improved] == [ticket]


def test_a_listener_may_release_the_ticket_it_is_told_of(service, physics_frames):
    ticket = service.request_improving_path(START, GOAL)
    told = []

    def release(number, path):
        told.append(number)
        service.release(number)

    service.path_improved.connect(release)
    physics_frames(40)
    assert told == [ticket]
    assert service.get_stats()["tickets"] == 0


def test_mistakes_are_clear_errors(service, node, scheduler, expect_errors):
    expect_errors("move_start needs a ticket of request_improving_path", times=1)
    service.call("move_start", service.request_path(START, GOAL), START)
    expect_errors("only over a grid; use request_path", times=1)
    assert not node("PathService", scheduler).call("request_improving_path", Vector3(), Vector3(1, 0, 0))


def test_on_threads_ways_are_the_same_and_no_thread_is_left(node, scheduler, physics_frames):
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 161, 161)
    grid.update()
    for row in range(1, 160, 2):                # a snake: each way takes long
        for column in range(160):
            grid.set_point_solid(Vector2i(column + (row // 2) % 2, row), True)
    before, ways = threading.active_count(), []
    for threads in (0, 2):
        service = node("PathService", scheduler, threads=threads)
        service.set_grid_from(grid)
        service.service.provider.prepare = lambda budget: None
        tickets = [service.request_path(Vector2(column, 0), Vector2(column, 160)) for column in range(6)]
        while service.get_state(tickets[-1]) in ("waiting", "running"):
            physics_frames(1)
        ways.append([service.check_path(ticket).tolist() for ticket in tickets])
        assert (threading.active_count() > before) == (threads > 0)
        service.free()
        assert threading.active_count() == before
    assert ways[0] == ways[1]
    assert len(ways[0][0]) > 160
