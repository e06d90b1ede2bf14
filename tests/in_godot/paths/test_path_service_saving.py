"""PathService: tickets, ways and walls are saved with the scene."""
from __future__ import annotations

import json

import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct
from ai_core.budget import Budget


@pytest.fixture
def scheduler(node, world):
    return node("AIScheduler", world, budget=0.0)


@pytest.fixture
def points():
    """An AStarGrid2D of 6 by 4 points, with a wall in column 3 and a gap below."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 6, 4)
    grid.cell_size = Vector2(10, 10)
    grid.update()
    for row in range(3):
        grid.set_point_solid(Vector2i(3, row), True)
    return grid


@pytest.fixture
def service(node, scheduler, points):
    made = node("PathService", scheduler)
    made.set_grid_from(points)
    return made


@pytest.fixture
def told(service, signals):
    return signals(service, "path_ready"), signals(service, "path_failed")


def through_json(state):
    return json.loads(json.dumps(state))


def test_tickets_that_waited_and_that_were_done_are_there_again(scheduler, service, told, physics_frames):
    done = service.request_path(Vector2(0, 0), Vector2(20, 0))
    physics_frames(2)
    way = service.check_path(done).tolist()
    waits = service.request_path(Vector2(0, 0), Vector2(50, 0))
    state = through_json(scheduler.save_state())
    physics_frames(2)
    late = service.request_path(Vector2(0, 0), Vector2(0, 30))
    physics_frames(2)
    assert [number for number, _ in told[0]] == [done, waits, late]

    assert scheduler.load_state(state)
    assert service.get_state(done) == "found"
    assert service.check_path(done).tolist() == way
    assert service.get_state(waits) == "waiting"
    physics_frames(2)
    assert service.get_state(waits) == "found"
    assert [number for number, _ in told[0]] == [done, waits, late, waits]
    assert service.request_path(Vector2(0, 0), Vector2(10, 30)) == waits + 1


def test_a_save_goes_into_a_scene_that_was_just_made(node, scheduler, service, points, physics_frames):
    waits = service.request_path(Vector2(0, 0), Vector2(50, 0))
    service.set_walls([Vector2i(1, 0), Vector2i(1, 1), Vector2i(1, 2)], False)
    state = through_json(service.save_state())
    fresh = node("PathService", scheduler)
    fresh.set_grid_from(points)
    assert fresh.load_state(state)
    physics_frames(2)
    assert fresh.get_state(waits) == "found"
    assert [20, 20] not in fresh.check_path(waits).tolist()
    assert [10, 30] in fresh.check_path(waits).tolist()


def test_walls_become_what_they_were(service, physics_frames):
    service.set_walls([Vector2i(1, 0)], False)
    state = through_json(service.save_state())
    service.set_walls([Vector2i(1, 0)], True)
    service.set_walls([Vector2i(column, 1) for column in range(6)], False)
    assert service.load_state(state)
    ticket = service.request_path(Vector2(0, 0), Vector2(20, 0))
    physics_frames(2)
    assert service.check_path(ticket).tolist() == [[0, 0], [10, 10], [20, 0]]


def test_tickets_over_a_navigation_map_are_saved_too(node, scheduler, physics_frames):
    service = node("PathService", scheduler)
    waits = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 0.25))
    state = through_json(service.save_state())
    service.cancel(waits)
    assert service.load_state(state)
    assert service.get_state(waits) == "waiting"


def test_a_save_of_other_ground_is_refused_and_changes_nothing(node, scheduler, service, expect_errors, physics_frames):
    ticket = service.request_path(Vector2(0, 0), Vector2(20, 0))
    physics_frames(2)
    state = through_json(service.save_state())
    other = node("PathService", scheduler)
    expect_errors("cannot load this state", times=7)
    assert not other.call("load_state", state)
    small = construct("AStarGrid2D")
    small.region = Rect2i(0, 0, 2, 1)
    small.cell_size = Vector2(10, 10)
    small.update()
    other.set_grid_from(small)
    assert not other.call("load_state", state)
    for part, value in (("walls", [[99, True]]), ("last_id", -1), ("asked", [1]), ("service", {}),
                        ("signals", {"improved": [], "over": [ticket]})):
        spoilt = through_json(state)
        spoilt["parts"]["node"]["state"][part] = value
        assert not service.call("load_state", spoilt)
    assert service.get_state(ticket) == "found"


def test_ways_go_straight_where_nothing_is_in_the_way(service, points, physics_frames):
    from_cell_to_cell = service.request_path(Vector2(0, 0), Vector2(20, 30))
    service.straight_paths = True
    straight = service.request_path(Vector2(0, 0), Vector2(20, 30))
    round_the_wall = service.request_path(Vector2(0, 0), Vector2(50, 0))
    physics_frames(3)
    assert len(service.check_path(from_cell_to_cell)) == 4
    assert service.check_path(straight).tolist() == [[0, 0], [20, 30]]
    assert len(service.check_path(round_the_wall)) <= 4
    service.set_walls([Vector2i(1, 1)], False)
    again = service.request_path(Vector2(0, 0), Vector2(20, 30))
    physics_frames(3)
    assert len(service.check_path(again)) > 2


def test_long_ways_may_go_over_regions(service, points, physics_frames):
    points.region = Rect2i(0, 0, 200, 60)
    points.diagonal_mode = 3      # only without obstacles
    points.update()
    for column in range(0, 200, 7):
        points.set_point_weight_scale(Vector2i(column, column % 60), 3.0)
    service.long_paths_by_regions = True
    service.set_grid_from(points)
    service.service.advance(Budget.unlimited())
    assert service.service.provider.regions.is_done
    ticket = service.request_path(Vector2(0, 0), Vector2(1990, 590))
    physics_frames(2)
    assert service.get_state(ticket) == "found"
    assert service.service.ticket(0).path.bound > 1


def test_tickets_of_a_replaced_ground_are_not_saved(scheduler, service, points, physics_frames, expect_errors):
    former = [service.request_path(Vector2(0, 0), Vector2(x, 0)) for x in (10, 20)]
    physics_frames(2)
    service.set_grid_from(points)
    new = service.request_path(Vector2(0, 30), Vector2(50, 30))     # has the number of the first, in its service
    physics_frames(2)
    assert [service.get_state(one) for one in (*former, new)] == ["found"] * 3
    way = service.check_path(new).tolist()
    assert scheduler.load_state(through_json(scheduler.save_state()))
    assert service.check_path(new).tolist() == way
    expect_errors("check_path: unknown ticket id", times=2)
    for one in former:
        service.call("check_path", one)


def test_signals_that_wait_are_emitted_in_their_order(scheduler, service, told, physics_frames):
    service.request_path(Vector2(0, 0), Vector2(50, 0))
    physics_frames(2)
    searched = service.request_path(Vector2(0, 30), Vector2(50, 0))
    known = service.request_path(Vector2(0, 0), Vector2(50, 0))
    service.service.advance(Budget.unlimited())
    state = through_json(scheduler.save_state())
    for _ in range(2):
        told[0].clear()
        physics_frames(2)
        assert [one for one, _ in told[0]] == [known, searched]
        assert scheduler.load_state(state)


@pytest.mark.parametrize("has_path", [False, True])
def test_a_signal_of_a_replaced_ground_is_emitted_after_a_load(
    node, scheduler, service, points, signals, physics_frames, has_path,
):
    ticket = service.request_path(Vector2(0, 0), Vector2(50, 0))
    if has_path:
        service.service.advance(Budget.unlimited())
        assert service.get_state(ticket) == "found"
    service.set_grid_from(points)
    state = through_json(service.save_state())
    fresh = node("PathService", scheduler)
    fresh.set_grid_from(points)
    failed = signals(fresh, "path_failed")
    assert fresh.load_state(state)
    assert fresh.load_state(through_json(fresh.save_state()))
    fresh.show_in_game = True
    physics_frames(2)
    assert failed == [(ticket, "the ground was replaced; request again")]
    assert fresh.get_state(ticket) == "failed"
    physics_frames(2)
    assert through_json(fresh.save_state())["parts"]["node"]["state"]["requests"] == []
