"""Strategists that hold narrow places: which defense should stand where, told once, and saved."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector2i, Vector3, construct
from tests.in_godot.squads.test_strategist import product, products


@pytest.fixture
def maps(node, scheduler):
    """100 m by 100 m; a wall along x = 50 with a gap at z = 50 to 55."""
    walls = construct("TileMapLayer")
    walls.tile_set = tiles()
    scheduler.add_child(walls)
    for column in range(20):
        for row in range(20):
            walls.set_cell(Vector2i(column, row), 0 if column != 10 or row == 10 else -1, Vector2i(0, 0))
    return node("DecisionMap", scheduler, dimensions=1, pixels_per_meter=10.0, corner=Vector2(0, 0),
                size=Vector2(1000, 1000), cell_size=50.0, walls=walls.get_path())


def tiles():
    made, source = construct("TileSet"), construct("TileSetAtlasSource")
    made.set_tile_size(Vector2i(50, 50))
    picture = construct("PlaceholderTexture2D")
    picture.set_size(Vector2(50, 50))
    source.set_texture(picture)
    source.set_texture_region_size(Vector2i(50, 50))
    source.create_tile(Vector2i(0, 0))
    made.add_source(source)
    return made


@pytest.fixture
def strategist(node, scheduler, maps):
    base = node("Node2D", scheduler, position=Vector2(200, 500))
    tower = product("tower", 80.0, fights=True, defends=True, attack={"ground": 20.0}, toughness=400.0)
    made = node("Strategist", base, products=[*products(), tower], caution=1.0, aggression=0.0, period=1)
    made.set_purse(1000.0, {"worker": 9})
    made.report_squad(0, "army", Vector2(100, 500), {"spear": 9})
    made.report_enemy(99, Vector2(900, 500), "", True)
    return made


def test_a_tower_is_wanted_in_the_gap_as_personality_says(strategist, signals, physics_frames):
    wanted = signals(strategist, "defense_wanted")
    assert [tuple(one) for one in strategist.get_narrow_places()] == [(525.0, 525.0)]
    physics_frames(5)
    assert [(name, place) for name, place, _ in wanted] == [("tower", Vector2(525, 525))]
    assert "tower" in list(strategist.get_purchases())
    strategist.report_defense(0, "tower", Vector2(525, 525))
    physics_frames(5)
    assert len(wanted) == 2, "the next one at the same place is told, too"
    for number in range(5):
        strategist.report_defense(number, "tower", Vector2(525, 525))
    physics_frames(2)
    assert "tower" not in list(strategist.get_purchases())
    strategist.remove_defense(0)
    physics_frames(2)
    assert "tower" in list(strategist.get_purchases())
    assert len(wanted) == 3


def test_a_built_wall_moves_the_narrow_place(strategist, maps, scheduler, signals, physics_frames):
    wanted = signals(strategist, "defense_wanted")
    physics_frames(5)
    walls = scheduler.get_node(maps.walls)
    walls.set_cell(Vector2i(10, 10), -1, Vector2i(0, 0))
    walls.set_cell(Vector2i(10, 4), 0, Vector2i(0, 0))
    maps.ground_changed()
    physics_frames(5)
    assert [place for _, place, _ in wanted] == [Vector2(525, 525), Vector2(525, 225)]
    assert [tuple(one) for one in strategist.get_narrow_places()] == [(525.0, 225.0)]
    strategist.choke_width = 0
    assert len(strategist.get_narrow_places()) == 0


def test_defenses_are_saved(strategist, scheduler, physics_frames):
    for number in range(5):
        strategist.report_defense(number, "tower", Vector2(525, 525))
    state = scheduler.save_state()
    for number in range(5):
        strategist.remove_defense(number)
    physics_frames(2)
    assert scheduler.load_state(state)
    physics_frames(2)
    assert "tower" not in list(strategist.get_purchases())


def test_what_is_no_defense_is_refused(strategist, expect_errors):
    expect_errors("'spear' is not a defense")
    strategist.call("report_defense", 1, "spear", Vector2(0, 0))
    expect_errors("must be a Vector2")
    strategist.call("report_defense", 1, "tower", Vector3(0, 0, 0))
