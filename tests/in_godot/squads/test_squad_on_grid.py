"""Squads whose ways lead over a grid keep clear of its walls; where there is no map at all, of nothing."""
from __future__ import annotations

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


def test_without_a_navigation_map_a_formation_keeps_its_form(node, world, scheduler, physics_frames):
    squad = node("Squad", scheduler, think_period=6)
    recruits(node, world, squad, 5)
    squad.move_to(Vector3(12, 0, 0))
    until(squad.is_idle, physics_frames)
    assert sorted(places(squad)[:, 0].round(0).tolist()) == [8, 8, 10, 10, 12]
