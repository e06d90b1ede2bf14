"""Squads whose ways lead over a grid keep clear of its walls; where there is no map at all, of nothing."""
from __future__ import annotations

import json

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct
from tests.in_godot.squads.squad_world import character, places, recruits, until

pytestmark = pytest.mark.in_its_own_world

WALL = [Vector2i(20, row) for row in range(40) if row not in (19, 20)]


@pytest.fixture
def service(node, scheduler):
    """40 by 40 cells of a metre, with a wall in the middle and a door of two cells."""
    grid = construct("AStarGrid2D")
    grid.region, grid.cell_size = Rect2i(0, 0, 40, 40), Vector2(10, 10)
    grid.update()
    made = node("PathService", scheduler)
    made.set_grid_from(grid)
    made.set_walls(WALL, False)
    return made


@pytest.fixture
def squad(node, world, scheduler, service):
    made = node("Squad", scheduler, dimensions=1, pixels_per_meter=10.0, paths=service.get_path(), think_period=6)
    for number in range(5):
        character(node, world, Vector2(40 + 10 * number, 195), of="Node2D", squad_path=made.get_path(), speed=30.0,
            radius=4.0)
    return made


def test_a_wedge_narrows_at_a_grid_door_and_widens_after_it(squad, physics_frames):
    squad.move_to(Vector2(330, 195))
    widths, walked = [], []

    def is_there():
        now = places(squad)
        walked.append(now)
        widths.append((now[:, 0].mean(), float(np.ptp(now[:, 1]))))
        return squad.is_idle()

    until(is_there, physics_frames)
    cells = np.rint(np.concatenate(walked) / 10)
    in_the_wall = cells[cells[:, 0] == 20]
    assert len(in_the_wall)
    assert set(in_the_wall[:, 1]) <= {19, 20}
    assert max(width for x, width in widths if x < 150) > 40
    assert widths[-1][1] > 40
    assert squad.get_stats()["stragglers"] == 0


def test_posts_in_walls_are_moved_to_the_nearest_free_cell(squad, physics_frames):
    physics_frames(3)
    squad.move_to(Vector2(100, 195))
    physics_frames(5)
    wanted = np.array([[20.2, 10.0], [12.0, 12.5]])
    standing = squad._standing(wanted)
    assert standing[0].tolist() == pytest.approx([21.0, 10.0], abs=1e-5)
    assert standing[1].tolist() == [12.0, 12.5]


def test_a_commander_in_a_wall_leads_out_of_it(node, world, scheduler, service, physics_frames):
    squad = node("Squad", scheduler, dimensions=1, pixels_per_meter=10.0, paths=service.get_path(), think_period=6)
    character(node, world, Vector2(201, 100), of="Node2D", squad_path=squad.get_path(), speed=30.0, radius=4.0)
    squad.move_to(Vector2(330, 195))
    until(squad.is_idle, physics_frames)
    assert squad.get_order()["state"] == "done"
    assert places(squad)[0] == pytest.approx([330, 195], abs=4)


def in_the_wall(squad):
    """Rows of cells of the wall, of its door too, in which members are."""
    cells = np.rint(places(squad) / 10)
    return set(cells[cells[:, 0] == 20][:, 1].tolist())


@pytest.mark.parametrize("tactic", ["flanking", "bounding_overwatch", "suppressing_fire"])
def test_members_come_to_their_posts_through_the_door(node, world, squad, service, physics_frames, tactic):
    for member in squad.get_members():
        member.attack, member.attack_range = {"ground": 2.0}, 60.0
    enemy = node("Node2D", world, position=Vector2(330, 60))
    physics_frames(2)
    squad.see([enemy])
    squad.use_tactic(tactic)
    passed = set()
    for _ in range(1500):
        physics_frames(1)
        passed |= in_the_wall(squad)
    assert passed <= {18, 19, 20, 21}
    assert passed
    assert (places(squad)[:, 0] > 210).sum() >= (2 if tactic == "suppressing_fire" else 4)
    squad.use_tactic("")
    physics_frames(10)
    assert service.get_stats()["tickets"] == 0
    assert service.get_stats()["requests"] < 100


def test_members_on_their_way_to_posts_go_on_after_a_load(node, world, squad, scheduler, physics_frames):
    enemy = node("Node2D", world, position=Vector2(330, 60))
    physics_frames(2)
    squad.see([enemy])
    squad.use_tactic("flanking")
    for frames in (6, 1, 200):          # requested, searched, on the way
        physics_frames(frames)
        state, before = scheduler.save_state(), places(squad)

        def walked(frames=90):
            found = []
            for _ in range(frames):
                physics_frames(1)
                found.append(places(squad).tolist())
            return found

        first = walked()
        assert scheduler.load_state(json.loads(json.dumps(state)))
        for body, place in zip(squad.get_characters(), before.tolist(), strict=True):
            body.position = Vector2(*place)
        assert walked() == first
    assert (places(squad)[:, 0] > 200).any()


def test_a_post_that_no_path_leads_to_is_explained(node, world, squad, service, physics_frames):
    service.set_walls([Vector2i(20, row) for row in range(40)], False)
    squad.see([node("Node2D", world, position=Vector2(330, 60))])
    squad.use_tactic("flanking")
    physics_frames(120)
    whys = {task["kind"]: task["why"] for task in squad.get_tasks().values()}
    assert "no path leads" in whys["flank"]


def test_a_search_out_of_a_wall_is_taken_up_after_a_load(node, world, scheduler, service, physics_frames):
    squad = node("Squad", scheduler, dimensions=1, pixels_per_meter=10.0, paths=service.get_path(), think_period=1)
    character(node, world, Vector2(201, 100), of="Node2D", squad_path=squad.get_path(), speed=30.0, radius=4.0)
    physics_frames(2)
    squad.move_to(Vector2(330, 195))
    for _ in range(20):
        physics_frames(1)
        if service.get_stats()["tickets"]:
            break
    assert scheduler.load_state(scheduler.save_state())
    requests = service.get_stats()["requests"]
    until(squad.is_idle, physics_frames)
    assert squad.get_order()["state"] == "done"
    assert service.get_stats()["requests"] == requests


def test_without_a_navigation_map_a_formation_keeps_its_form(node, world, scheduler, physics_frames):
    squad = node("Squad", scheduler, think_period=6)
    recruits(node, world, squad, 5)
    squad.move_to(Vector3(12, 0, 0))
    until(squad.is_idle, physics_frames)
    assert sorted(places(squad)[:, 0].round(0).tolist()) == [8, 8, 10, 10, 12]
