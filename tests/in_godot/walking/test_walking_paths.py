"""HabitMoveTo walks the ways of a PathService."""
from __future__ import annotations

import json
import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from addons.ai_core.bridge.gd import NodePath, Rect2i, Vector2, Vector2i, Vector3, construct, follow_path

DIAGONAL_MODE_NEVER = 1


def walled(**settings):
    """6 by 4 points, 10 apart, with a wall in column 3 and a gap below."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 6, 4)
    grid.cell_size = Vector2(10, 10)
    for name, value in settings.items():
        grid.set(name, value)
    grid.update()
    for row in range(3):
        grid.set_point_solid(Vector2i(3, row), True)
    return grid


@pytest.fixture
def service(node, scheduler):
    made = node("PathService", scheduler, name="Paths")
    made.set_grid_from(walled())
    return made


@pytest.fixture
def walker(node, scheduler, service):
    """A character at (0, 0) that goes to (50, 0) in the first of two habits."""
    actor = node("Node2D", scheduler)
    brain, go, last = construct("HabitTree"), construct("HabitMoveTo"), construct("Habit")
    for name, one in (("Brain", brain), ("go", go), ("last", last)):
        one.set("name", name)
    brain.set("launch", 1)
    go.set("target_key", "goal")
    go.set("speed", 60.0)
    go.set("arrival_distance", 2.0)
    go.set("paths", NodePath("../../../Paths"))
    brain.add_child(go)
    brain.add_child(last)
    actor.add_child(brain)
    brain.set_value("goal", Vector2(50, 0))
    return SimpleNamespace(actor=actor, brain=brain, go=go)


def walked(walker, physics_frames, most, until):
    places = []
    for _ in range(most):
        physics_frames(1)
        places.append(tuple(walker.actor.get("position")))
        if until():
            break
    return places


def test_it_goes_round_the_wall_and_gives_its_ticket_back(walker, service, physics_frames, signals):
    ends = signals(walker.go, "exited")
    places = walked(walker, physics_frames, 200, lambda: ends)
    assert ends == [(1,)]
    assert math.dist(places[-1], (50, 0)) <= 3
    assert max(y for _, y in places) > 25
    assert max(math.dist(one, other) for one, other in pairwise(places)) <= 1.01
    assert service.get_stats()["tickets"] == 0


def test_a_goal_that_runs_off_is_followed(walker, service, physics_frames, signals):
    ends = signals(walker.go, "exited")
    walked(walker, physics_frames, 20, lambda: False)
    walker.brain.set_value("goal", Vector2(0, 30))
    places = walked(walker, physics_frames, 200, lambda: ends)
    assert math.dist(places[-1], (0, 30)) <= 3
    assert service.get_stats()["searches"] == 2


def test_where_no_way_leads_it_fails_as_near_as_it_gets(walker, service, physics_frames, signals):
    ends = signals(walker.go, "exited")
    service.set_walls([Vector2i(3, 3)], False)
    places = walked(walker, physics_frames, 200, lambda: ends)
    assert ends == [(2,)]
    assert 15 <= places[-1][0] <= 25


def test_who_is_held_fast_notices_after_a_while(walker, service, physics_frames, signals):
    walker.go.set("stuck_after", 0.5)
    ends = signals(walker.go, "exited")
    frames = 0
    while not ends and frames < 60:
        walker.actor.set("position", Vector2(0, 0))
        physics_frames(1)
        frames += 1
    assert ends == [(2,)]
    assert 30 <= frames <= 37


def test_it_goes_on_after_loading(walker, scheduler, service, physics_frames, signals):
    ends = signals(walker.go, "exited")
    walked(walker, physics_frames, 30, lambda: False)
    at, state = walker.actor.get("position"), json.loads(json.dumps(scheduler.save_state()))
    walked(walker, physics_frames, 40, lambda: False)
    walker.actor.set("position", at)
    assert scheduler.load_state(state)
    places = walked(walker, physics_frames, 200, lambda: ends)
    assert math.dist(places[-1], (50, 0)) <= 3
    assert service.get_stats()["searches"] == 1


def test_it_goes_on_from_the_middle_of_the_last_cell_to_its_goal(walker, physics_frames, signals):
    walker.go.set("arrival_distance", 0.5)
    walker.brain.set_value("goal", Vector2(47, 4))
    ends = signals(walker.go, "exited")
    places = walked(walker, physics_frames, 300, lambda: ends)
    assert ends == [(1,)]
    assert math.dist(places[-1], (47, 4)) <= 0.5


@pytest.mark.parametrize("arrival", [2.0, 12.0, 19.0])
def test_who_need_not_come_near_cuts_no_corner(walker, service, physics_frames, signals, arrival):
    service.set_grid_from(walled(diagonal_mode=DIAGONAL_MODE_NEVER))
    walker.go.set("arrival_distance", arrival)
    ends = signals(walker.go, "exited")
    places = walked(walker, physics_frames, 200, lambda: ends)
    assert ends == [(1,)]
    assert math.dist(places[-1], (50, 0)) <= arrival
    cells = {(round(x / 10), round(y / 10)) for x, y in places}
    assert not cells & {(3, 0), (3, 1), (3, 2)}


def test_who_is_kept_off_a_corner_goes_on_when_past_it():
    way = np.array([[0, 0], [20, 0], [20, 50]], np.float32)
    before, past = Vector2(17, 2), Vector2(20.1, -4)
    assert follow_path({}, way, before, 6.0, falls=False) == (Vector2(20, 0), "going")
    assert follow_path({}, way, past, 6.0, falls=False) == (Vector2(20, 50), "going")


@pytest.mark.parametrize("period", [1, 4])
def test_a_body_goes_at_its_speed_however_rarely_it_has_its_turn(node, scheduler, physics_frames, period):
    scheduler.update = 1
    actor, brain, go = node("CharacterBody2D", scheduler), construct("HabitTree"), construct("HabitMoveTo")
    brain.period = period
    go.target_point, go.speed = Vector3(300, 400, 0), 100.0
    brain.add_child(go)
    actor.add_child(brain)
    physics_frames(1)
    before = actor.position
    physics_frames(60)
    assert math.dist(actor.position, before) == pytest.approx(100, abs=100 * period / 60 + 0.1)
    assert tuple(actor.velocity) == pytest.approx((60, 80), abs=0.01)


@pytest.fixture
def field(node, scheduler):
    """A PathService over 20 by 20 open points, 10 apart."""
    grid = construct("AStarGrid2D")
    grid.region, grid.cell_size = Rect2i(0, 0, 20, 20), Vector2(10, 10)
    grid.update()
    made = node("PathService", scheduler, name="Paths")
    made.set_grid_from(grid)
    return made


def with_habit(node, scheduler, kind, at, **settings):
    """A character with one habit that walks over the grid of the PathService."""
    actor = node("Node2D", scheduler, position=at)
    tree, habit = construct("HabitTree"), construct(kind)
    for name, value in {"paths": NodePath("../../../Paths"), "speed": 120.0, **settings}.items():
        habit.set(name, value)
    tree.add_child(habit)
    actor.add_child(tree)
    return actor, tree, habit


@pytest.mark.parametrize("at", [Vector2(20, 100), Vector2(100, 180), Vector2(30, 30)])
def test_a_flight_ends_at_the_edge_of_the_grid(node, scheduler, field, physics_frames, at):
    bear = node("Node2D", scheduler, position=at + (Vector2(100, 100) - at) * 0.4 + Vector2(10, 10))
    actor, _, _ = with_habit(
        node, scheduler, "HabitFlee", at, target_node=NodePath(f"../../../{bear.get_name()}"), begin_distance=150.0,
        safe_distance=170.0, step_distance=60.0)
    before = math.dist(at, bear.position)
    physics_frames(240)
    here = actor.position
    assert math.dist(here, bear.position) > before + 20
    assert max(abs(here.x - 95), abs(here.y - 95)) <= 95


@pytest.mark.parametrize("keeps_away", [False, True])
def test_a_cornered_flight_does_not_begin_again_and_again(
    node, scheduler, field, physics_frames, signals, keeps_away,
):
    bear = node("Node2D", scheduler, position=Vector2(90, 90))
    actor, tree, flee = with_habit(
        node, scheduler, "HabitFlee", Vector2(30, 40), target_node=NodePath(f"../../../{bear.get_name()}"),
        safe_distance=400.0, step_distance=60.0, arrival_distance=5.0, keeps_away=keeps_away, turn_speed=6.0)
    idle = construct("Habit")
    idle.set("name", "Idle")
    tree.add_child(idle)
    entered, ends = signals(flee, "entered"), signals(flee, "exited")
    physics_frames(300)
    corner = actor.position
    assert math.dist(corner, (0, 0)) < 10
    assert (len(entered), ends) == ((1, []) if keeps_away else (1, [(2,)]))
    if keeps_away:
        assert actor.rotation == pytest.approx(math.pi / 4, abs=0.1)
    else:
        assert tree.why_refused(tree.core.plan.places[1]) == (
            "no target within begin_distance, or no place farther from it")
    physics_frames(300)
    assert (actor.position, len(entered)) == (corner, 1)
    bear.position = Vector2(40, 10)
    physics_frames(90)
    assert (len(entered), actor.position.y > 40) == ((1, True) if keeps_away else (2, True))


def test_a_search_at_the_edge_looks_at_places_of_the_grid(node, scheduler, field, physics_frames, signals):
    actor, tree, search = with_habit(
        node, scheduler, "HabitSearch", Vector2(10, 10), target_key="place", look_time=0.05, places=4, radius=80.0,
        clears_value=False, cooldown=99.0)
    ends = signals(search, "exited")
    tree.set_value("place", Vector2(0, 0))
    places = []
    for _ in range(600):
        physics_frames(1)
        places.append(actor.position)
        if ends:
            break
    assert ends == [(1,)]
    assert all(0 <= one.x <= 190 and 0 <= one.y <= 190 for one in places)
    assert max(one.x + one.y for one in places) > 40
