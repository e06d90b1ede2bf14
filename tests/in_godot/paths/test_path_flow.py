"""PathService.get_next_places: a crowd that goes to one goal over a grid by one flow field."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct
from addons.ai_core.nodes.paths.path_service import FLOW_IN_USE_S, MOST_FLOWS, PathService
from ai_core.budget import Budget

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "paths.md"
GOAL = Vector2(50, 10)


@pytest.fixture
def service(node, scheduler):
    """Over six by four cells of 10 by 20, with a wall in column 3 and a gap in row 3."""
    service, points = node("PathService", scheduler), construct("AStarGrid2D")
    points.region = Rect2i(0, 0, 6, 4)
    points.cell_size = Vector2(10, 20)
    points.diagonal_mode = 1
    points.update()
    for row in range(3):
        points.set_point_solid(Vector2i(3, row))
    service.set_grid_from(points)
    return service


def crowd(*places):
    return np.array(places, np.float32)


def test_each_goes_one_cell_on_as_on_a_way_of_its_own(service, physics_frames):
    places = crowd((0, 0), (21, 1), (20, 61), (41, 2))
    assert service.get_next_places(GOAL, places).tolist() == places.tolist()      # it is made in the next frame
    physics_frames(2)
    followed = [places[:1]]
    while len(followed) < 20 and followed[-1].tolist() != [[50, 0]]:
        followed.append(service.get_next_places(GOAL, followed[-1]))
    ticket = service.request_path(Vector2(0, 0), GOAL)
    physics_frames(3)
    assert len(followed) == len(service.check_path(ticket)) == 12
    assert service.get_next_places(GOAL, places[1:]).tolist() == [[20, 20], [30, 60], [50, 0]]
    assert service.get_stats()["flow_fields"] == 1


def test_who_is_beside_the_grid_or_in_a_wall_or_has_no_way_stays(service, physics_frames):
    places = crowd((-30, 0), (30, 1), (0, 0), (50, 4))
    service.set_walls([Vector2i(3, 3)], False)
    service.get_next_places(GOAL, places)
    physics_frames(2)
    assert service.get_next_places(GOAL, places).tolist() == [[-30, 0], [30, 1], [0, 0], [50, 0]]
    service.set_walls([Vector2i(3, 3)], True)
    physics_frames(2)
    assert service.get_next_places(GOAL, places)[2].tolist() in ([10, 0], [0, 20])
    assert service.get_next_places(GOAL, crowd().reshape(0, 2)).tolist() == []


def test_flow_fields_are_made_in_budget_and_released_when_unused(service, scheduler, physics_frames):
    service.release_after = 0.5
    for column in range(3):
        service.get_next_places(Vector2(10 * column, 0), crowd((0, 60)))
    assert service.get_stats()["flow_fields"] == 3
    for _ in range(12):
        physics_frames(5)
        service.get_next_places(Vector2(0, 0), crowd((0, 60)))
    assert service.get_stats()["flow_fields"] == 1
    physics_frames(40)
    assert service.get_stats()["flow_fields"] == 0


def test_fields_that_a_moving_goal_left_do_not_delay_it(service, physics_frames, monkeypatch):
    places, advance_flows = crowd((0, 60)), PathService.advance_flows
    monkeypatch.setattr(PathService, "advance_flows", lambda service, budget: None)
    left, here = Vector2(0, 0), Vector2(10, 0)
    service.get_next_places(left, places)
    physics_frames(1)
    service.get_next_places(here, places)
    advance_flows(service, Budget.of_steps(23))      # of the 21 cells of a field
    assert service.get_next_places(here, places).tolist() != places.tolist()
    assert service.get_next_places(left, places).tolist() == places.tolist()


def test_fields_that_a_moving_goal_left_are_released(service, scheduler, physics_frames):
    goals = [Vector2(10 * column, 20 * row) for column in range(6) for row in range(4)]
    for goal in goals:
        service.get_next_places(goal, crowd((0, 60)))
    physics_frames(2)
    assert service.get_stats()["flow_fields"] == len(goals) > MOST_FLOWS    # all are in use
    for _ in range(int(60 * FLOW_IN_USE_S) + 5):
        service.get_next_places(goals[-1], crowd((0, 60)))
        physics_frames(1)
    assert service.get_stats()["flow_fields"] == MOST_FLOWS
    assert service.get_next_places(goals[-1], crowd((0, 60))).tolist() != [[0, 60]]


@pytest.mark.parametrize(("goal", "positions", "message"), [
    (Vector3(), crowd((0, 0)), "goal must be a Vector2"),
    (Vector2(-900, 0), crowd((0, 0)), "goal is not on the grid"),
    (GOAL, [Vector2()], "positions must be a PackedVector2Array, got"),
    (GOAL, crowd((0, 0, 0)), "positions must be a PackedVector2Array, got"),
    (GOAL, crowd((0, 0), (np.nan, 0)), "positions[1] must be finite"),
])
def test_what_is_no_crowd_is_a_clear_error(service, expect_errors, goal, positions, message):
    expect_errors(message, times=1)
    service.call("get_next_places", goal, positions)


def test_over_a_navigation_map_there_is_none(node, scheduler, expect_errors):
    expect_errors("get_next_places needs a grid; over a navigation map, use request_path()", times=1)
    node("PathService", scheduler).call("get_next_places", Vector3(), np.zeros((1, 3), np.float32))


def test_the_script_of_the_page_leads_a_crowd_to_its_goal(service, node, gdscript, physics_frames):
    sample = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[1]
    leader = gdscript(sample).new()
    leader.set("paths", service)
    leader.set("goal", GOAL)
    for number in range(4):
        mover = construct("Node2D")
        mover.position = Vector2(0, 20 * number)
        leader.add_child(mover)
    service.get_parent().add_child(leader)
    physics_frames(200)
    assert [tuple(one.position) for one in leader.get_children()] == [(50, 0)] * 4
