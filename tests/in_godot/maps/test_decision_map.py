"""DecisionMap: units write, updates run within the budget, scripts ask, in 3D and 2D."""
from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import NodePath, Vector2, Vector2i, Vector3, Vector3i, construct

DOCUMENT = (Path(__file__).parents[3] / "docs" / "godot" / "decision_maps.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```gdscript\n(.*?)```", DOCUMENT, re.DOTALL)


def layer(name, **settings):
    made = construct("DecisionLayer")
    made.set("layer_name", name)
    for key, value in settings.items():
        made.set(key, value)
    return made


@pytest.fixture
def heat():
    return layer("heat")


@pytest.fixture
def ground(node, scheduler):
    """``ground(**settings)``: a map of 8 by 8 cells of 2 m about the origin, updated in every frame."""

    def made(**settings):
        return node("DecisionMap", scheduler, **{
            "corner": Vector2(-8, -8), "size": Vector2(16, 16), "cell_size": 2.0, "update_interval": 0.0, **settings})

    return made


def test_written_values_are_read_after_the_next_update(ground, heat, signals, physics_frames):
    maps = ground(layers=[heat])
    told = signals(maps, "map_updated")
    assert maps.write("heat", Vector3(1, 50, -3), 5.0)
    assert not maps.write("heat", Vector3(9, 0, 0), 5.0)
    assert maps.value_at("heat", Vector3(1, 0, -3)) == 0.0
    physics_frames(2)
    assert maps.value_at("heat", Vector3(0.5, 0, -3.9)) == 5.0
    assert maps.best_cell("heat") == Vector3(1, 0, -3)
    assert maps.best_cell({"heat": -1.0}) is None
    assert maps.total_within("heat", Vector3(0, 0, 0), 20.0) == 5.0
    assert len(told) == maps.get_stats()["updates"] >= 1
    assert maps.get_shape() == Vector2i(8, 8)
    assert maps.get_values("heat").sum() == 5.0


def test_units_write_in_batches_and_circles(ground, heat, physics_frames):
    maps = ground(layers=[heat])
    places = np.array([[1, 0, 1], [1, 9, 1], [-7, 0, -7], [99, 0, 0]], np.float32)
    assert maps.write_batch("heat", places, np.array([1, 2, 4, 8], np.float32)) == 3
    assert maps.write_circle("heat", Vector3(5, 0, 5), 2.0, 0.5) == 5
    physics_frames(2)
    assert maps.value_at("heat", Vector3(1, 0, 1)) == 3.0
    assert maps.total_within("heat", Vector3(0, 0, 0), 99.0) == 9.5
    assert maps.best_cells("heat", 2).tolist() == [[-7, 0, -7], [1, 0, 1]]


def test_in_2d_positions_are_pixels_and_layers_keep_per_metre(ground, physics_frames):
    maps = ground(dimensions=1, corner=Vector2(0, 0), size=Vector2(256, 128), cell_size=32.0, pixels_per_meter=16.0,
                  layers=[layer("threat", retention=0.0, spread=0.5)])
    maps.write("threat", Vector2(40, 40), 8.0)
    physics_frames(1)
    assert maps.best_cell("threat") == Vector2(48, 48)
    assert maps.value_at("threat", Vector2(80, 48)) == 2.0             # a cell is 2 m, and half is kept per metre
    assert maps.best_cells("threat", 1).tolist() == [[48, 48]]
    assert maps.write_circle("threat", Vector2(48, 48), 33.0, 1.0) == 5     # a cell and its four neighbors
    assert maps.total_within("threat", Vector2(48, 48), 1.0) == 8.0


def test_map_writers_write_wherever_their_units_go(node, scheduler, ground, physics_frames):
    maps = ground()
    soldier, scout = node("Node3D", scheduler, position=Vector3(1, 0, 1)), node("Node3D", scheduler)
    writer = node("MapWriter", soldier, layer="threat", strength=4.0)
    node("MapWriter", scout, layer="exploration", strength=0.0, radius=3.0)
    physics_frames(2)
    assert maps.get_stats()["writers"] == 2
    assert maps.value_at("threat", Vector3(1, 0, 1)) == 4.0
    assert maps.value_at("exploration", Vector3(0.5, 0, 0.5)) < 1.0
    assert maps.value_at("exploration", Vector3(7, 0, 7)) == 600.0
    assert maps.frontier().tolist() == [[x, 0, z] for z in (-1, 1) for x in (-1, 1)]
    soldier.position = Vector3(-7, 0, -7)
    physics_frames(2)
    assert maps.best_cell("threat") == Vector3(-7, 0, -7)
    writer.enabled = False
    physics_frames(2)
    assert maps.value_at("threat", Vector3(-7, 0, -7)) == 0.0
    scout.queue_free()
    physics_frames(2)
    assert maps.get_stats()["writers"] == 1


def test_mistakes_that_stop_a_map_or_a_writer_are_warnings(node, scheduler):
    maps = node("DecisionMap", scheduler, layers=[layer("heat")])
    writer = node("MapWriter", node("Node3D", scheduler), layer="head", enabled=False)
    assert writer._get_configuration_warnings() == ["layer must be one of heat, got 'head'"]
    writer.layer = "heat"
    assert writer._get_configuration_warnings() == []
    maps.walls = NodePath("../AIScheduler")
    assert "which is no TileMapLayer or GridMap" in " ".join(maps._get_configuration_warnings())
    node("GridMap", scheduler, name="Grid")
    maps.walls = NodePath("../Grid")
    assert "TileMapLayer" not in " ".join(maps._get_configuration_warnings())


def test_a_small_budget_spreads_updates_and_hides_halves(node, heat, physics_frames):
    scheduler = node("AIScheduler", budget=1.0)
    maps = node("DecisionMap", scheduler, corner=Vector2(0, 0), size=Vector2(400, 400), cell_size=1.0,
        update_interval=0.0,
                layers=[heat, layer("other"), layer("third", blur_passes=2)])
    maps.write("heat", Vector3(1, 0, 1), 1.0)
    maps.write("third", Vector3(300, 0, 300), 16.0)
    seen, frames = set(), 0
    while maps.get_stats()["updates"] == 0:
        physics_frames(1)
        frames += 1
        assert frames < 500
        seen.add(tuple(maps.total_within(name, Vector3(x, 0, x), 9.0) for name, x in (("heat", 1), ("third", 300))))
    assert frames > 3
    assert seen == {(0.0, 0.0), (1.0, 16.0)}


def test_walls_stop_what_spreads_and_have_choke_points(node, scheduler, ground, physics_frames):
    grid = node("GridMap", scheduler, cell_size=Vector3(2, 2, 2))
    for x in range(-4, 4):
        for z in range(-4, 4):
            if x != 0 or z == 1:
                grid.set_cell_item(Vector3i(x, 0, z), 0)
    maps = ground(walls=grid.get_path(), layers=[layer("threat", retention=0.0, spread=0.9)])
    maps.write("threat", Vector3(-1, 0, -7), 8.0)
    physics_frames(1)
    assert maps.choke_points(1).tolist() == [[1, 0, 3]]
    assert maps.value_at("threat", Vector3(1, 0, -7)) == 0.0                                  # the wall
    assert maps.value_at("threat", Vector3(3, 0, -7)) == pytest.approx(8 * 0.9 ** (2 * 12), rel=1e-3)   # by the gap
    for z in range(-4, 4):
        grid.set_cell_item(Vector3i(0, 0, z), 0)
    maps.ground_changed()
    assert len(maps.choke_points(1)) == 0
    maps.write("threat", Vector3(-1, 0, -7), 8.0)
    physics_frames(1)
    assert maps.value_at("threat", Vector3(3, 0, -7)) == pytest.approx(8 * 0.9 ** 4, rel=1e-3)


def test_the_overlay_shows_a_layer_on_request_and_goes(ground, heat, physics_frames):
    for settings, kind in (({}, "MeshInstance3D"), ({"dimensions": 1}, "Sprite2D")):
        maps = ground(layers=[heat], **settings)
        children = maps.get_child_count(True)
        maps.shown_layer, maps.show_in_game = "heat", True
        physics_frames(1)
        assert maps.get_child_count(True) == children + 1
        assert maps.get_children(True)[-1].get_class() == kind
        legend = maps.get_tree().get_first_node_in_group("_ai_core_legend")
        assert list(legend.texts()) == ["heat 0"]
        maps.write("heat", Vector3(1, 0, 1) if kind == "MeshInstance3D" else Vector2(1, 1), 8.0)
        physics_frames(2)
        largest = max(maps.get_values("heat"))
        assert list(legend.texts()) == [f"heat {share * largest:.3g}" for share in (0, 0.5, 1)]
        maps.show_in_game = False
        physics_frames(1)
        assert maps.get_child_count(True) == children


def test_a_map_is_saved_with_the_scene(ground, heat, scheduler, physics_frames):
    maps = ground(layers=[heat, layer("age", writes=1, growth=1.0, max_value=60.0)])
    maps.write("heat", Vector3(1, 0, 1), 5.0)
    physics_frames(3)
    state = scheduler.save_state()
    before = maps.get_values("age").copy()
    maps.write("heat", Vector3(1, 0, 1), 5.0)
    physics_frames(5)
    assert maps.value_at("heat", Vector3(1, 0, 1)) == 10.0
    assert scheduler.load_state(state)
    assert maps.value_at("heat", Vector3(1, 0, 1)) == 5.0
    assert (maps.get_values("age") == before).all()


@pytest.mark.parametrize(("call", "words"), [
    (lambda maps: maps.call("write", "haet", Vector3(0, 0, 0), 1.0), "did you mean 'heat'"),
    (lambda maps: maps.call("write", "heat", Vector3(0, 0, 0), -1.0), "must be 0 to"),
    (lambda maps: maps.call("write", "heat", Vector2(0, 0), 1.0), "must be a Vector3"),
    (lambda maps: maps.call("write_batch", "heat", np.zeros((2, 3), np.float32), np.zeros(3, np.float32)),
     "one per cell, 2"),
    (lambda maps: maps.call("best_cell", 5), "name of a layer"),
    (lambda maps: maps.call("choke_points"), "needs walls"),
    (lambda maps: maps.set("walls", NodePath(".")), "cannot change while the map runs"),
    (lambda maps: maps.set("shown_layer", "x") or maps.set("show_in_game", True), "shown_layer must be one of heat"),
    (lambda maps: maps.set("cell_size", 1.0), "cannot change while the map runs"),
])
def test_mistakes_are_told_and_change_nothing(ground, heat, physics_frames, expect_errors, call, words):
    maps = ground(layers=[heat])
    physics_frames(1)
    expect_errors(words)
    call(maps)
    physics_frames(2)
    assert maps.get_values("heat").sum() == 0


def test_a_map_with_invalid_settings_reports_once(ground, physics_frames, expect_errors):
    expect_errors("layer_name must not be empty", times=1)
    expect_errors("at least one layer, got none", times=1)
    ground(layers=[layer("")])
    expect_errors("at least one cell", times=1)
    late = ground(size=Vector2(1, 1), cell_size=50.0)
    physics_frames(4)
    late.size = Vector2(100, 100)
    physics_frames(2)
    assert late.get_stats()["updates"] >= 1


def test_a_layer_that_is_wrong_is_left_out_alone(ground, heat, physics_frames, expect_errors):
    expect_errors("layers[1] is ignored: layer_name must not be empty", times=1)
    expect_errors("layers[2] is ignored: layer_name 'heat' is used twice", times=1)
    expect_errors("layers[3] is ignored: must be a DecisionLayer, got null", times=1)
    maps = ground(layers=[heat, layer(""), layer("heat"), None])
    maps.write("heat", Vector3(1, 0, 1), 5.0)
    physics_frames(4)
    assert maps.value_at("heat", Vector3(1, 0, 1)) == 5.0


def test_a_map_set_up_after_add_child_uses_those_settings(node, scheduler, heat, physics_frames):
    unit = node("Node2D", scheduler, position=Vector2(40, 40))
    node("MapWriter", unit, layer="heat", strength=3.0)
    maps = construct("DecisionMap")
    scheduler.add_child(maps)
    maps.layers = [heat]
    maps.corner = Vector2(0, 0)
    maps.dimensions = 1
    maps.size = Vector2(256, 128)
    maps.cell_size = 32.0
    physics_frames(2)
    assert maps.get_shape() == Vector2i(8, 4)
    assert maps.value_at("heat", Vector2(48, 48)) >= 3.0


def test_the_sample_of_the_document_digs_where_it_is_safe(ground, scheduler, gdscript, physics_frames):
    [source] = SAMPLES
    maps = ground()
    unit = gdscript(source).new()
    scheduler.add_child(unit)
    unit.maps = maps
    physics_frames(1)
    assert unit.call("where_to_dig") is None
    unit.call("_on_mine_seen", Vector3(-5, 0, -5), 100.0)
    unit.call("_on_mine_seen", Vector3(5, 0, 5), 90.0)
    unit.call("_on_hit", Vector3(-5, 0, -5), 4.0)
    physics_frames(60)                              # some updates later
    assert unit.call("where_to_dig") == Vector3(5, 0, 5)
    assert not unit.call("is_quiet_here")
    assert len(unit.call("where_to_look")) == 0


def test_an_invalid_writer_is_left_out_until_it_is_valid(node, scheduler, ground, physics_frames, expect_errors):
    maps = ground()
    node("MapWriter", node("Node3D", scheduler, position=Vector3(1, 0, 1)), layer="threat", strength=4.0)
    other = node("Node3D", scheduler, position=Vector3(-7, 0, -7))
    wrong = node("MapWriter", other, layer="threat", strength=4.0)
    physics_frames(3)
    expect_errors(
        f"{wrong.get_name()}': layer must be one of resources, objectives, conflict, threat, friends, visibility, "
        "exploration, got 'thraet'; it writes nothing until this is corrected", times=1)
    wrong.set("layer", "thraet")
    physics_frames(5)
    assert maps.value_at("threat", Vector3(1, 0, 1)) > 3.9
    assert maps.value_at("threat", Vector3(-7, 0, -7)) < 2.0         # what has spread from the other
    wrong.set("layer", "threat")
    physics_frames(3)
    assert maps.value_at("threat", Vector3(-7, 0, -7)) > 3.9
    assert not any(one["is_quarantined"] for one in scheduler.get_stats()["behaviors"])


def test_far_or_huge_writers_do_not_disturb_others(
        node, scheduler, ground, physics_frames):
    maps = ground()
    node("MapWriter", node("Node3D", scheduler, position=Vector3(1, 0, 1)), layer="threat", strength=4.0)
    node("MapWriter", node("Node3D", scheduler, position=Vector3(3e38, -2e9, 1)), layer="threat", strength=9.0)
    node("MapWriter", scheduler.get_child(-1), layer="visibility", strength=1.0, radius=1e9)
    node("MapWriter", node("Node3D", scheduler), layer="visibility", strength=1.0, radius=1e9)
    physics_frames(3)
    assert maps.value_at("threat", Vector3(1, 0, 1)) == 4.0
    assert maps.get_values("visibility").min() >= 1.0


@pytest.mark.parametrize("order", list(itertools.permutations(((3.0, 0.0), (7.0, 3.0), (5.0, 6.0)))))
def test_writers_of_one_cell_write_the_same_in_any_order(node, scheduler, ground, physics_frames, order):
    maps = ground(layers=[layer("latest", writes=1), layer("sum", retention=0.0)])
    for strength, radius in order:
        for name in ("latest", "sum"):
            node("MapWriter", node("Node3D", scheduler), layer=name, strength=strength / 10, radius=radius)
    physics_frames(2)
    here, edge = Vector3(0.5, 0, 0.5), Vector3(5, 0, 0.5)
    assert maps.value_at("latest", here) == pytest.approx(0.7)
    assert maps.value_at("latest", edge) == pytest.approx(0.5)
    assert maps.value_at("sum", here) == float(np.float32(0.3) + np.float32(0.5) + np.float32(0.7))


def test_a_layer_that_cannot_be_shown_stops_no_map(ground, heat, physics_frames, expect_errors):
    maps = ground(layers=[heat])
    maps.show_in_game = True                     # before the layer is named
    maps.shown_layer = "heat"
    physics_frames(1)
    children = maps.get_child_count(True)
    expect_errors("shown_layer must be one of heat, got 'haet'; nothing is shown", times=1)
    maps.shown_layer = "haet"
    physics_frames(8)
    assert maps.get_child_count(True) == children - 1
    maps.write("heat", Vector3(1, 0, 1), 5.0)
    physics_frames(2)
    assert maps.value_at("heat", Vector3(1, 0, 1)) == 5.0
    maps.shown_layer = "heat"
    physics_frames(2)
    assert maps.get_child_count(True) == children
