"""What stands between muffles sounds and smells, by the material of physics bodies, in both modes."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct

WALLS = {"brick": 0.1, "wood": 0.5, "smell/wood": 0.25}


@pytest.fixture
def house(node, scheduler, signals):
    """Somebody at the origin who hears another 8 m along -z; a sound of 2 is lessened by walls alone."""

    def made(**settings):
        class House:
            manager = node(
                "SenseManager", scheduler, hearing_kept_per_meter=1.0, smell_kept_per_meter=1.0, smell_speed=999.0,
                **{"wall_materials": WALLS, **settings})
            room = node("SenseRegion3D", scheduler, size=Vector3(50, 9, 50)) if settings.get("mode") else None
            ear = node("Sensor3D", scheduler, hearing_threshold=0.001, smell_threshold=0.001)
            thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -8))

        House.sensed = signals(House.ear, "sensed")
        return House

    return made


@pytest.fixture
def wall(node, scheduler):
    def made(z, kind="StaticBody3D", below=None, **metadata):
        body = node(kind, below or scheduler, position=Vector3(0, 0, z))
        shape = construct("CollisionShape3D")
        shape.shape = construct("BoxShape3D")
        shape.shape.size = Vector3(4, 4, 0.5)
        body.add_child(shape)
        for name, value in metadata.items():
            body.set_meta(name, value)
        return body

    return made


@pytest.fixture
def heard(physics_frames):
    """``heard(house)``: how strong a sound of 2 arrives, None if it is not heard; of another sense, by name."""

    def told(house, sense="hearing"):
        physics_frames(2)
        del house.sensed[:]
        house.thing.emit(sense, 2.0)
        physics_frames(5)
        arrived = [strength for _, what, strength, *_ in house.sensed if what == sense]
        return arrived[0] if arrived else None

    return told


@pytest.mark.parametrize("mode", [0, 1])
def test_each_wall_keeps_the_share_of_its_material(house, wall, heard, mode):
    home = house(mode=mode)
    assert heard(home) == 2.0
    wall(-3, sense_material="brick")
    assert heard(home) == pytest.approx(0.2)
    wall(-5, sense_material="wood")
    assert heard(home) == pytest.approx(0.1)


def test_a_material_may_be_another_for_one_sense(house, wall, heard):
    home = house()
    wall(-3, sense_material="wood")
    assert heard(home) == pytest.approx(1.0)
    assert heard(home, "smell") == pytest.approx(0.5)


def test_a_group_of_the_name_of_a_material_does_as_well(house, wall, heard):
    home = house()
    wall(-3).add_to_group("brick")
    assert heard(home) == pytest.approx(0.2)


def test_untagged_bodies_keep_wall_share_but_characters_do_not(house, wall, heard):
    home = house(wall_share=0.5, wall_materials={"wood": 0.5})
    wall(-3)
    assert heard(home) == pytest.approx(1.0)
    wall(-5, "CharacterBody3D")
    assert heard(home) == pytest.approx(1.0)
    wall(-6, "CharacterBody3D", sense_material="wood")
    assert heard(home) == pytest.approx(0.5), "but armor is"


def test_layers_outside_wall_mask_let_everything_through(house, wall, heard):
    home = house()
    wall(-3, sense_material="brick").collision_layer = 2
    assert heard(home) == 2.0
    home.manager.wall_mask = 2
    assert heard(home) == pytest.approx(0.2)


def test_the_bodies_of_both_ends_do_not_muffle(house, wall, node, heard, signals):
    home = house()
    owner = wall(2, sense_material="brick")
    home.ear = node("Sensor3D", owner, position=Vector3(0, 0, 2), hearing_threshold=0.001)
    home.sensed = signals(home.ear, "sensed")
    assert heard(home) == 2.0
    bell = wall(-8, sense_material="brick")
    home.thing = node("SenseSource3D", bell)
    assert heard(home) == 2.0, "who is within a body is not muffled by it"


def test_walls_may_change_while_the_game_runs(house, wall, heard):
    home = house(wall_materials={})
    wall(-3, sense_material="brick")
    home.manager.wall_share = 0.5
    home.manager.wall_materials = {"brick": 0.25}
    assert heard(home) == pytest.approx(0.5)
    home.manager.wall_materials = {}
    home.manager.wall_share = 1.0
    assert heard(home) == 2.0


def test_a_soundproof_wall_is_not_heard_through_and_why_says_so(house, wall, heard):
    home = house(wall_materials={"lead": 0.0})
    wall(-3, sense_material="lead")
    assert heard(home) is None
    assert home.ear.why(home.thing)["senses"]["hearing"]["kept"] == 0.0


def test_in_2d_the_same(node, scheduler, physics_frames, signals):
    node("SenseManager", scheduler, dimensions=1, pixels_per_meter=10.0, hearing_kept_per_meter=1.0,
        wall_materials=WALLS)
    ear = node("Sensor2D", scheduler, hearing_threshold=0.001)
    thing = node("SenseSource2D", scheduler, position=Vector2(80, 0))
    body = node("StaticBody2D", scheduler, position=Vector2(40, 0))
    shape = construct("CollisionShape2D")
    shape.shape = construct("RectangleShape2D")
    shape.shape.size = Vector2(5, 50)
    body.add_child(shape)
    body.set_meta("sense_material", "brick")
    sensed = signals(ear, "sensed")
    physics_frames(2)
    thing.emit("hearing", 2.0)
    physics_frames(4)
    assert [strength for _, what, strength, *_ in sensed if what == "hearing"] == [pytest.approx(0.2)]


def test_a_material_that_is_none_is_named_once_with_its_body(house, wall, heard, expect_errors):
    expect_errors("unknown material 'brik'; did you mean 'brick'?", times=1)
    home = house()
    wall(-3, sense_material="brik")
    assert [heard(home), heard(home)] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("materials", "message"),
    [({"brick": 1.5}, "wall_materials['brick'] is ignored: kept['brick'] must be at most 1, got 1.5"),
     ({"smel/wood": 0.5}, "wall_materials['smel/wood'] is ignored: unknown modality 'smel'; did you mean 'smell'?"),
     ({"": 0.5}, "wall_materials[''] is ignored: must be a material's name")],
)
def test_what_is_wrong_in_the_table_is_named_and_the_rest_counts(
    house, wall, heard, expect_errors, materials, message
):
    expect_errors(message, times=1)
    home = house(wall_materials={**materials, "stone": 0.1})
    wall(-3, sense_material="stone")
    assert heard(home) == pytest.approx(0.2)


def test_after_loading_the_body_of_an_ear_still_does_not_muffle(house, wall, node, scheduler, heard, signals):
    home = house()
    node("Sensor3D", scheduler).queue_free()
    owner = wall(2, sense_material="brick")
    home.ear = node("Sensor3D", owner, position=Vector3(0, 0, 2), hearing_threshold=0.001)
    home.sensed = signals(home.ear, "sensed")
    assert heard(home) == 2.0
    assert scheduler.load_state(scheduler.save_state()) is True
    assert heard(home) == 2.0
