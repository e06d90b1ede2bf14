"""HabitMoveTo by the tickets of a PathService."""
from __future__ import annotations

import json

import pytest

from addons.ai_core.bridge.gd import NodePath, Rect2i, Vector2, Vector2i, Vector3, construct
from addons.ai_core.nodes.walking.ticket_walk import TicketWalk


@pytest.fixture
def scheduler(node):
    return node("AIScheduler", budget=0.0)


@pytest.fixture
def service(node, scheduler):
    """Ways over 9 by 7 points of 10 px, with a wall down to the last row."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 9, 7)
    grid.cell_size = Vector2(10, 10)
    grid.diagonal_mode = 3
    grid.update()
    for row in range(6):
        grid.set_point_solid(Vector2i(4, row))
    paths = node("PathService", scheduler, name="Paths")
    paths.set_grid_from(grid)
    return paths


def actor_with_habit(node, scheduler, name):
    actor = node("Node2D", scheduler, name=name, position=Vector2(0, 0))
    tree, go = construct("HabitTree"), construct("HabitMoveTo")
    go.name, go.speed, go.arrival_distance = "go", 200.0, 1.0
    go.target_point, go.paths = Vector3(80, 0, 0), NodePath("../../../Paths")
    tree.add_child(go)
    actor.add_child(tree)
    return actor, go


@pytest.fixture
def walker(node, scheduler, service, signals):
    """An actor with a tree of one habit, and how the habit ended."""
    actor, go = actor_with_habit(node, scheduler, "Walker")
    return actor, go, signals(go, "exited")


def until_over(ends, actor, physics_frames, most=400):
    places = []
    for _ in range(most):
        physics_frames(1)
        places.append(actor.position)
        if ends:
            break
    return places


def test_it_goes_around_the_wall(walker, physics_frames):
    actor, _, ends = walker
    places = until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert tuple(actor.position) == pytest.approx((80, 0), abs=4)
    assert max(one.y for one in places) == pytest.approx(60, abs=4)
    assert not any(abs(one.x - 40) < 4 and one.y < 52 for one in places)


def test_it_fails_while_its_target_is_not_on_the_grid(walker, service, physics_frames, expect_errors):
    actor, go, ends = walker
    physics_frames(5)
    assert actor.position != Vector2(0, 0)
    expect_errors("go': fails, as 'Paths' cannot find a path: goal is not on the grid, got (800.0, 0.0)", times=1)
    go.target_point = Vector3(800, 0, 0)
    physics_frames(30)
    assert len(ends) > 5
    assert {*ends} == {(2,)}
    assert service.get_stats()["tickets"] == 0
    del ends[:]
    go.target_point = Vector3(80, 0, 0)
    until_over(ends, actor, physics_frames)
    assert ends[-1] == (1,), "it is not quarantined"


def test_each_walker_off_the_grid_is_reported_once(walker, node, scheduler, service, physics_frames, expect_errors):
    actor, go, ends = walker
    other = actor_with_habit(node, scheduler, "Other")[1]
    physics_frames(5)
    expect_errors("fails, as 'Paths' cannot find a path: goal is not on the grid, got (800.0, 0.0)", times=2)
    for one in (go, other):
        one.target_point = Vector3(800, 0, 0)
    physics_frames(20)
    assert service.get_stats()["invalid"] >= len(ends) > 5
    expect_errors("fails, as 'Paths' cannot find a path: start is not on the grid, got (500.0, 0.0)", times=1)
    actor.position = Vector2(500, 0)
    physics_frames(20)


def test_habits_off_the_grid_are_reported_up_to_a_number(node, service, physics_frames, expect_errors):
    expect_errors("fails, as 'Paths' cannot find a path: goal is not on the grid", times=20)
    expect_errors("only counted, by \"invalid\" of get_stats()", times=1)
    for number in range(30):
        service.request_for_walk(Vector2(0, 0), Vector2(800, 0), node("Node", name=f"habit{number}"))
    assert service.get_stats()["invalid"] == 30


def test_while_the_way_is_searched_it_goes_by_bump_and_turn(walker, service, physics_frames):
    actor, _, ends = walker
    service.service.advance = lambda budget: None
    places = until_over(ends, actor, physics_frames, 600)
    assert ends[0] == (1,)
    assert max(one.y for one in places) > 50


def test_where_a_wall_goes_up_in_its_way_it_goes_another(walker, service, physics_frames):
    actor, _, ends = walker
    service.set_walls([Vector2i(4, 2)], True)                 # a door, on the way
    physics_frames(5)
    service.set_walls([Vector2i(4, 2)], False)
    places = until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert max(one.y for one in places) == pytest.approx(60, abs=4)
    assert not any(abs(one.x - 40) < 4 and one.y < 52 for one in places)
    assert service.get_stats()["tickets"] == 0


def test_a_wall_beside_its_way_changes_nothing(walker, service, physics_frames):
    actor, _, ends = walker
    physics_frames(10)
    service.set_walls([Vector2i(8, 6)], False)
    until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert service.get_stats()["requests"] == 1


def test_who_is_saved_while_another_way_is_searched_goes_that(walker, scheduler, service, physics_frames):
    actor, _, ends = walker
    service.set_walls([Vector2i(4, 2)], True)
    physics_frames(5)
    advance, service.service.advance = service.service.advance, lambda budget: None
    service.set_walls([Vector2i(4, 2)], False)
    physics_frames(2)
    assert service.get_stats()["tickets"] == 2
    state = json.loads(json.dumps(scheduler.save_state()))
    assert scheduler.load_state(state)
    service.service.advance = advance
    places = until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert not any(abs(one.x - 40) < 4 and one.y < 52 for one in places)
    assert service.get_stats()["tickets"] == 0


def test_where_no_way_is_left_it_fails(walker, service, physics_frames):
    actor, _, ends = walker
    physics_frames(10)
    service.set_walls([Vector2i(4, 6)], False)
    until_over(ends, actor, physics_frames)
    assert ends[0] == (2,)
    assert actor.position.x < 35


def test_it_follows_a_target_that_moves(walker, node, physics_frames):
    actor, go, ends = walker
    target = node("Node2D", name="Target", position=Vector2(80, 0))
    go.target_node = NodePath("/root/Target")
    physics_frames(10)
    target.position = Vector2(0, 60)
    until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert tuple(actor.position) == pytest.approx((0, 60), abs=4)


def test_where_no_way_leads_it_fails(walker, service, physics_frames):
    actor, _, ends = walker
    service.set_walls([Vector2i(4, 6)], False)
    until_over(ends, actor, physics_frames)
    assert ends[0] == (2,)


def test_when_it_ends_its_ticket_is_released(walker, service, physics_frames):
    actor, _, _ = walker
    physics_frames(3)
    assert service.get_stats()["tickets"] == 1
    actor.free()
    physics_frames(2)
    assert service.get_stats()["tickets"] == 0


@pytest.mark.parametrize(("path", "why"), [
    ("../../..", "paths '../../..' is of class AIScheduler, not PathService; choose a node of class PathService"),
    ("../../../Gone", "paths '../../../Gone' is not in the scene; choose a node of class PathService, or leave it")])
def test_a_path_to_no_service_is_one_error_per_try(walker, physics_frames, expect_errors, path, why):
    actor, go, _ = walker
    physics_frames(3)
    place = actor.position
    go.paths = NodePath(path)
    expect_errors(why, times=3)
    physics_frames(40)
    assert actor.position == place or actor.position.distance_to(place) < 12     # one turn of the old path


def test_a_service_that_is_not_there_is_warned_of(walker):
    _, go, _ = walker
    go.paths = NodePath("../nowhere")
    assert any("paths '../nowhere' is not in the scene" in one for one in go._get_configuration_warnings())


def test_saved_on_its_way_it_goes_on_after_loading(walker, service, scheduler, physics_frames):
    actor, _, ends = walker
    physics_frames(6)
    state = scheduler.save_state()
    service.release(1)
    physics_frames(3)
    assert scheduler.load_state(state)
    until_over(ends, actor, physics_frames)
    assert ends[0] == (1,)
    assert tuple(actor.position) == pytest.approx((80, 0), abs=4)


def test_a_ticket_of_another_scene_is_not_taken_for_its_own(service):
    other = service.request_path(Vector2(0, 60), Vector2(0, 0))
    memory = {"ticket": other, "asked_for": Vector2(80, 0), "began": Vector2(0, 0)}
    place, came = TicketWalk(service, memory, service).next(Vector2(0, 0), Vector2(80, 0), 1.0)
    assert came == "going"
    assert memory["ticket"] != other
    TicketWalk(service, memory, service).end()
    assert service.get_state(other) in ("waiting", "found")
    assert place != Vector2(0, 60)


def test_walk_carried_to_the_next_level_asks_there_again(node, physics_frames):
    memory, walker = {}, node("Node2D")

    def level():
        grid = construct("AStarGrid2D")
        grid.region, grid.cell_size = Rect2i(0, 0, 20, 20), Vector2(10, 10)
        grid.update()
        scheduler = node("AIScheduler", name="Level")
        paths = node("PathService", scheduler, name="Paths")
        paths.set_grid_from(grid)
        return scheduler, paths

    first, paths = level()
    TicketWalk(paths, memory, walker).next(Vector2(0, 0), Vector2(50, 0), 1.0)
    physics_frames(3)
    first.free()
    _, paths = level()
    of_another = {}
    TicketWalk(paths, of_another, walker).next(Vector2(190, 190), Vector2(150, 190), 1.0)
    assert of_another["ticket"] == memory["ticket"]
    physics_frames(3)
    TicketWalk(paths, memory, walker).next(Vector2(0, 0), Vector2(50, 0), 1.0)
    physics_frames(3)
    place, _ = TicketWalk(paths, memory, walker).next(Vector2(0, 0), Vector2(50, 0), 1.0)
    assert place.y < 50
    TicketWalk(paths, memory, walker).end()
    assert paths.get_state(of_another["ticket"]) == "found"
