"""SenseModality: senses of one's own without code, and other numbers for those that there are."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton


def sense(name, **settings):
    made = construct("SenseModality")
    for key, value in {"modality_name": name, **settings}.items():
        made.set(key, value)
    return made


@pytest.fixture
def world(node, scheduler, signals):
    """``world(modalities, thresholds, strengths)``: an eye at the origin, deaf and blind but for what is said."""

    def made(modalities, thresholds, strengths, **settings):
        class World:
            manager = node("SenseManager", scheduler, modalities=modalities, **settings)
            room = node("SenseRegion3D", scheduler, size=Vector3(20, 3, 20)) if settings else None
            mind = node("Sensor3D", scheduler, sight_threshold=99.0, other_thresholds=thresholds)
            thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, 8), other_strengths=strengths)

        World.sensed = signals(World.mind, "sensed")
        return World

    return made


def test_fear_is_sensed_all_round_and_weakens_with_distance(world, physics_frames):
    place = world([sense("fear", is_continuous=True, range=10.0, kept_per_meter=0.5)], {"fear": 0.01}, {"fear": 4.0})
    physics_frames(3)
    assert place.sensed == [(place.thing, "fear", pytest.approx(4 * 0.5**8), Vector3(0, 0, 8),
        place.thing.get_parent())]
    assert place.mind.can_sense(place.thing, "fear")
    assert not place.mind.can_sense(place.thing)
    place.thing.position = Vector3(0, 0, 11)
    physics_frames(3)
    assert not place.mind.can_sense(place.thing, "fear")


def test_telepathy_is_emitted_and_takes_its_time(world, physics_frames):
    telepathy = sense("telepathy", range=100.0, speed=20.0)
    place = world([telepathy], {"telepathy": 0.5}, {"telepathy": 1.0})
    physics_frames(2)
    place.thing.emit("telepathy")
    physics_frames(20)
    assert place.sensed == []
    physics_frames(8)
    assert [(modality, strength) for _, modality, strength, *_ in place.sensed] == [("telepathy", 1.0)]


def test_an_aura_may_need_a_cone_and_a_free_line(world, node, physics_frames):
    aura = sense("aura", is_continuous=True, needs_cone=True, needs_line_of_sight=True)
    place = world([aura], {"aura": 0.5}, {"aura": 1.0})
    physics_frames(3)
    assert place.sensed == []
    place.thing.position = Vector3(0, 0, -8)
    physics_frames(3)
    assert place.mind.can_sense(place.thing, "aura")


def test_a_modality_of_a_known_name_takes_its_place(world, physics_frames):
    place = world([sense("hearing", kept_per_meter=0.5)], {}, {})
    place.mind.hearing_threshold = 0.01
    physics_frames(2)
    place.thing.emit("hearing", 4.0)
    physics_frames(3)
    assert [strength for _, _, strength, *_ in place.sensed] == [pytest.approx(4 * 0.5**8)]


def test_a_slow_sense_spreads_through_regions_in_graph_mode(world, physics_frames):
    miasma = sense("miasma", is_slow=True, speed=5.0)
    place = world([miasma], {"miasma": 0.01}, {"miasma": 1000.0}, mode=1)
    physics_frames(2)
    place.thing.emit("miasma")
    physics_frames(60)
    assert {modality for _, modality, *_ in place.sensed} == {"miasma"}


def test_it_is_saved_in_a_file_and_read_back():
    path = "res://.godot/fear.tres"
    assert singleton("ResourceSaver").save(sense("fear", kept_per_meter=0.25, is_continuous=True), path) == 0
    read = singleton("ResourceLoader").load(path, "", 0)
    assert (read.modality_name, read.kept_per_meter, read.is_continuous) == ("fear", 0.25, True)
    assert read.resource_path == path


SCENE = """[gd_scene format=3]

[sub_resource type="SenseModality" id="fear"]
modality_name = "fear"
is_continuous = true
kept_per_meter = 0.5

[node name="World" type="AIScheduler"]

[node name="Senses" type="SenseManager" parent="."]
modalities = Array[SenseModality]([SubResource("fear")])

[node name="Mind" type="Sensor3D" parent="."]
other_thresholds = Dictionary[String, float]({
"fear": 0.1
})

[node name="Ghost" type="SenseSource3D" parent="."]
position = Vector3(0, 0, 2.5)
other_strengths = Dictionary[String, float]({
"fear": 1.0
})
"""


def test_a_scene_as_the_inspector_writes_it_has_the_sense(scene, physics_frames, tmp_path):
    file = tmp_path / "haunted.tscn"
    file.write_text(SCENE)
    world = scene(str(file))
    physics_frames(3)
    assert world.get_node("Mind").can_sense(world.get_node("Ghost"), "fear")


def test_the_inspector_offers_only_modalities_and_numbers(node, scheduler):
    manager, mind = node("SenseManager", scheduler), node("Sensor3D", scheduler)
    hints = {one["name"]: one["hint_string"] for one in [*manager.get_property_list(), *mind.get_property_list()]}
    assert hints["modalities"] == "24/17:SenseModality"
    assert hints["other_thresholds"] == "4/0:;3/0:"


def test_a_wrong_value_names_the_resource_and_the_field(gdscript, expect_errors):
    expect_errors("SenseModality 'the fear of cats': kept_per_meter must be between 0 and 1, got 1.5", times=1)
    one = sense("fear", resource_name="the fear of cats")
    gdscript("extends RefCounted\nstatic func run(one): one.kept_per_meter = 1.5").run(one)
    assert one.kept_per_meter == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"modality_name": ""}, "modalities[1] (nameless.tres) is ignored: modality_name must not be empty"),
     ({"is_slow": True}, "speed must be above 0 while is_slow is on"),
     (None, "modalities[1] is ignored: must be a SenseModality, got null")],
)
def test_invalid_modalities_are_reported_and_left_out(
    world, physics_frames, expect_errors, settings, message
):
    expect_errors(message, times=1)
    wrong = None if settings is None else sense("wrong", resource_name="nameless.tres", **settings)
    fear = sense("fear", is_continuous=True)
    place = world([fear, wrong], {"fear": 0.5}, {"fear": 1.0})
    physics_frames(3)
    assert place.mind.can_sense(place.thing, "fear")


def test_an_unknown_modality_suggests_a_similar_name(world, expect_errors):
    expect_errors("unknown modality 'faer'; did you mean 'fear'?", times=2)
    place = world([sense("fear", is_continuous=True)], {"fear": 0.5}, {"fear": 1.0})
    place.mind.call("set_other_thresholds", {"faer": 1.0})
    place.thing.call("set_other_strengths", {"faer": 1.0})
    assert place.mind.other_thresholds == {"fear": 0.5}


def test_modalities_cannot_change_once_somebody_joined(world, expect_errors):
    expect_errors("cannot change after the first sensor or source joined", times=1)
    place = world([], {}, {})
    place.manager.call("set_modalities", [sense("fear")])
