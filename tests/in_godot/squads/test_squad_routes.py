"""Squads that wait for a way of a PathService longer than it keeps tickets: asleep, or slow to think."""
from __future__ import annotations

import json

import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, construct
from tests.in_godot.squads.squad_world import character, until

pytestmark = pytest.mark.in_its_own_world

DISABLED = 4


@pytest.fixture
def service(node, scheduler):
    grid = construct("AStarGrid2D")
    grid.region, grid.cell_size = Rect2i(0, 0, 40, 40), Vector2(10, 10)
    grid.update()
    made = node("PathService", scheduler, release_after=0.2)
    made.set_grid_from(grid)
    return made


@pytest.fixture
def squad(node, world, scheduler, service, physics_frames):
    made = node("Squad", scheduler, keep_clear=1, dimensions=1, pixels_per_meter=10.0, paths=service.get_path())
    character(node, world, Vector2(105, 105), of="Node2D", squad_path=made.get_path())
    physics_frames(3)
    return made


def sleeps(squad, physics_frames):
    squad.move_to(Vector2(305, 305))
    until(lambda: squad.get_stats()["paths_requested"], physics_frames)
    squad.process_mode = DISABLED
    physics_frames(40)


def test_a_way_that_was_released_meanwhile_is_asked_for_anew(squad, service, physics_frames):
    sleeps(squad, physics_frames)
    assert service.get_stats()["tickets"] == 0
    squad.process_mode = 0
    until(lambda: squad.get_order()["state"] == "done", physics_frames)


def test_another_order_does_not_ask_for_it(squad, physics_frames):
    sleeps(squad, physics_frames)
    squad.move_to(Vector2(155, 105))
    squad.process_mode = 0
    until(lambda: squad.get_order()["state"] == "done", physics_frames)


def test_where_it_cannot_be_asked_for_any_more_the_order_fails(squad, service, physics_frames):
    sleeps(squad, physics_frames)
    smaller = construct("AStarGrid2D")
    smaller.region, smaller.cell_size = Rect2i(0, 0, 20, 20), Vector2(10, 10)
    smaller.update()
    service.set_grid_from(smaller)
    squad.process_mode = 0
    until(lambda: squad.get_order()["state"] == "failed", physics_frames)
    assert squad.get_order()["why"].startswith("the PathService reports: goal")


@pytest.mark.parametrize(("path", "why"), [
    ("../Ways", "paths '../Ways' is not in the scene; choose a node of class PathService, or leave it empty"),
    ("..", "paths '..' is of class AIScheduler, not PathService; choose a node of class PathService, or leave it")])
def test_an_order_fails_if_paths_names_no_service(
    squad, service, scheduler, physics_frames, signals, expect_errors, path, why,
):
    failed = signals(squad, "order_failed")
    squad.paths = path
    expect_errors(f"finds no paths: {why}", times=1)
    for number in (1, 2):
        squad.move_to(Vector2(305, 305))
        until(squad.is_idle, physics_frames)
        assert len(failed) == number
        assert failed[-1][1].startswith(why)
    squad.paths = service.get_path()
    squad.move_to(Vector2(155, 105))
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "done"


def test_an_order_after_the_service_was_freed_says_so(squad, service, physics_frames, expect_errors):
    expect_errors("is not in the scene; choose a node of class PathService", times=1)
    service.free()
    squad.move_to(Vector2(305, 305))
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "failed"


@pytest.mark.parametrize("is_found", [False, True])
def test_loaded_squad_takes_up_its_request(squad, service, scheduler, physics_frames, is_found):
    service.release_after = 10.0
    squad.move_to(Vector2(305, 305))
    until(lambda: squad.get_stats()["paths_requested"], physics_frames)
    if is_found:
        physics_frames(2)
    state = scheduler.save_state()
    until(lambda: squad.get_order_state() == "marching", physics_frames)
    path = squad.get_path_points()
    assert scheduler.load_state(json.loads(json.dumps(state)))
    assert squad.get_order_state() == "waiting"
    until(lambda: squad.get_order_state() == "marching", physics_frames)
    assert squad.get_path_points().tolist() == path.tolist()
    assert squad.get_stats()["paths_requested"] == 1
    assert service.get_stats()["requests"] == 1


def test_a_squad_loaded_alone_releases_its_ticket(squad, service, physics_frames):
    state = squad.save_state()
    service.release_after = 99.0
    squad.move_to(Vector2(305, 305))
    until(lambda: squad.get_stats()["paths_requested"], physics_frames)
    assert service.get_stats()["tickets"] == 1
    assert squad.load_state(state)
    assert service.get_stats()["tickets"] == 0
