"""Senses by a graph: glass, walls, doors, ducts and cameras decide who perceives what."""
from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.senses.graph.parts import Passage, SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.graph.graph_worlds import (
    POINT,
    SIGHT,
    GraphWorld,
    door,
    graphs,
    hearing,
    plainly_heard,
    room,
    smell,
)
from tests.senses.worlds import ALL_ROUND

ABC = [room("a", (0, 0, 0)), room("b", (2, 0, 0)), room("c", (4, 0, 0))]


def test_the_figures_of_the_source_hold_in_one_region():
    world = GraphWorld(SenseGraph([room("yard", (0, 0, 0), size=20, kept_per_m={"hearing": 0.9})]))
    ears = [world.ear((1, 0, 0)), world.ear((2, 0, 0)), world.ear((1.5, 0, 0), threshold=1.0)]
    world.ear((2.8, 0, 0), threshold=1.5)
    world.manager.emit(world.source((0, 0, 0)), "hearing", 2.0)
    world.tick()
    assert [one.sensor_id for one in world.heard] == ears
    assert [one.intensity for one in world.heard] == pytest.approx([1.8, 1.62, 1.7076], abs=1e-4)


def test_one_way_glass_passes_sight_one_way_not_sound_or_smell():
    glass = SensePortal("a", "b", {"sight": Passage((1, 0, 0), kept_per_m=0.9)})
    world = GraphWorld(SenseGraph(ABC[:2], [glass]), smells=["smell"])
    thing_a, thing_b = (world.source(at, sight=1.0) for at in ((0, 0, 0), (2, 0, 0)))
    people = [world.sensor(at, {"sight": 0, "hearing": 0, "smell": 0}, sight_cones=[ALL_ROUND], self_source=own)
              for at, own in (((0, 0, 0), thing_a), ((2, 0, 0), thing_b))]
    for thing in (thing_a, thing_b):
        world.manager.emit(thing, "hearing", 50.0)
        world.manager.emit(thing, "smell", 50.0)
    world.tick(frames=100)
    assert {(one.sensor_id, one.source_id) for one in world.heard} == {(people[1], thing_a)}
    assert {one.modality for one in world.heard} == {"sight"}
    assert world.heard[0].intensity == pytest.approx(0.9)


def test_a_sees_c_through_b_but_its_sound_has_to_go_by_b():
    doors = [*door("a", "b", (1, 0, 0), "hearing", "sight"), *door("b", "c", (3, 0, 0), "hearing", "sight"),
             *door("a", "c", (2, 0, 0), "sight")]
    graph = SenseGraph(ABC, doors)
    world = GraphWorld(graph)
    source = world.source((0, 0, 0), sight=1.0)
    watcher, ear = world.eye((4, 0, 0)), world.ear((4, 0, 0))
    world.manager.emit(source, "hearing", 50.0)
    world.tick()
    assert sorted(world.told()) == [(watcher, source), (ear, source)]
    for number in (0, 1):
        graph.set_open(number, False)
    world.manager.emit(source, "hearing", 50.0)
    world.tick(frames=4)
    assert set(world.told()) == {(watcher, source)}  # no sound from a to c but by b


def test_c_hears_before_b_when_its_way_is_shorter():
    level = [room("a", (0, 0, 0)), room("b", (2, 0, 0)), room("c", (0, 0, 20))]
    duct = SensePortal("a", "c", {"hearing": Passage((0, 0, 1), (0, 0, 19), distance_m=1.0)})
    around = door("a", "b", (1, 0, 0), "hearing", distance_m=8.0)
    world = GraphWorld(SenseGraph(level, [duct, *around]), modalities=[hearing(1.0, 0.1)])
    b, c = world.ear((2, 0, 0)), world.ear((0, 0, 20))
    world.manager.emit(world.source((0, 0, 0)), "hearing", 1.0)
    world.tick(frames=20)
    assert [one.sensor_id for one in world.heard] == [c, b]
    assert [one.at_s for one in world.heard] == [0.375, 1.0]  # 3 m and 10 m at 10 m/s, in frames of 1/8 s


def test_sound_seems_to_come_from_last_portal_and_notifies_once():
    level = SenseGraph(ABC, [*door("a", "b", (1, 0, 0), "hearing"), *door("a", "b", (1, 0, 1), "hearing"),
                             *door("b", "c", (3, 0, 0), "hearing")])
    world = GraphWorld(level)
    memories = [SenseMemory(), SenseMemory()]
    b, c = world.ear((2, 0, 0), memory=memories[0]), world.ear((4, 0, 0), memory=memories[1])
    source = world.source((0, 0, 0))
    world.manager.emit(source, "hearing", 4.0)
    world.tick(frames=3)
    assert {one.sensor_id: one.position for one in world.heard} == {b: (1.0, 0.0, 0.0), c: (3.0, 0.0, 0.0)}
    assert len(world.heard) == 2
    assert memories[1].find(source).last_known_position == (3.0, 0.0, 0.0)


def test_an_echo_is_the_same_sound_once_more():
    world = GraphWorld(SenseGraph(ABC[:1]))
    ear, source = world.ear((1, 0, 0)), world.source((0, 0, 0))
    for loudness in (1.0, 0.5):
        world.manager.emit(source, "hearing", loudness)
        world.tick()
    assert [one.intensity for one in world.heard] == pytest.approx([0.9, 0.45])
    assert world.told() == [(ear, source)] * 2


def test_a_shut_door_lets_through_what_it_says():
    portals = door("a", "b", (1, 0, 0), "hearing", name="gate", closed_kept_per_m=0.1, is_open=False)
    graph = SenseGraph(ABC[:2], portals)
    world = GraphWorld(graph, modalities=[hearing(1.0)])
    world.ear((2, 0, 0))
    source = world.source((0, 0, 0), hearing=1.0)
    for is_open in (False, True):
        graph.set_open("gate", is_open)
        world.manager.emit(source, "hearing")
        world.tick()
    assert [one.intensity for one in world.heard] == pytest.approx([0.1, 1.0])


def test_what_is_in_no_region_neither_sends_nor_senses():
    world = GraphWorld(SenseGraph(ABC[:1]), smells=["smell"])
    inside, outside = world.source((0, 0, 0), sight=1), world.source((9, 0, 0), sight=1)
    world.sensor((9, 0, 0), {"sight": 0, "hearing": 0, "smell": 0}, sight_cones=[ALL_ROUND])
    within = world.sensor((1, 0, 0), {"sight": 0, "hearing": 0, "smell": 0}, sight_cones=[ALL_ROUND])
    for source in (inside, outside):
        world.manager.emit(source, "hearing", 9.0)
        world.manager.emit(source, "smell", 9.0)
    world.tick(frames=4)
    assert set(world.told()) == {(within, inside)}


def test_walker_hears_a_slow_sound_where_it_is_on_arrival():
    world = GraphWorld(SenseGraph([room("yard", (0, 0, 0), size=20)]), modalities=[hearing(0.9, 0.25)])
    ear, other = world.ear((1, 0, 0)), world.ear((1, 0, 0), threshold=1.0)
    world.manager.emit(world.source((0, 0, 0)), "hearing", 2.0)
    world.tick()
    world.manager.move_sensors([ear, other], [(4, 0, 0), (9, 0, 0)])
    world.tick(frames=20)
    assert [(one.sensor_id, one.at_s, one.intensity) for one in world.heard] == [(ear, 1.0, pytest.approx(2 * 0.9**4))]


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), origin=POINT, ears=st.lists(st.tuples(st.integers(0, 5), POINT), min_size=1, max_size=6),
       steps=st.sampled_from([1, 3, 1000]), gradual=st.sampled_from([(), ("hearing",)]),
       threshold=st.sampled_from([0, 0.3]))
def test_ears_hear_what_a_plain_search_says_whatever_the_budget(graph, origin, ears, steps, gradual, threshold):
    kind = hearing(delay_s_per_m=0.01)
    world = GraphWorld(graph, modalities=[kind], gradual=gradual)
    expected = {}
    for region, (x, y, z) in ears:
        place = (4.0 * min(region, len(graph.regions) - 1) + x, y, z)
        sensor = world.ear(place, threshold=threshold)
        expected[sensor] = plainly_heard(graph, kind, place, 0, origin, 3.0, 1e-3, threshold)
    world.manager.emit(world.source(origin), "hearing", 3.0)
    for _ in range(60):
        world.tick(budget=Budget.of_steps(steps))
    told = {one.sensor_id: one for one in world.heard}
    assert len(told) == len(world.heard)
    assert set(told) == {sensor for sensor, heard in expected.items() if heard is not None}
    for sensor, one in told.items():
        distance_m, intensity, number = expected[sensor]
        place = origin if number < 0 else graph.portals[number].passages["hearing"].end
        assert one.intensity == pytest.approx(intensity, rel=1e-12)
        assert one.position == pytest.approx(place)
        assert one.at_s >= distance_m * 0.01 - 1e-9
        if steps == 1000:
            assert one.at_s < distance_m * 0.01 + 0.1251


def grenade(frames_per_s, seconds=20):
    level = [room("a", (0, 0, 0), dissipation={"smell": 0.02}), room("b", (2, 0, 0), dissipation={"smell": 0.02}),
             room("guard room", (10, 0, 0), dissipation={"smell": 0.02})]
    duct = SensePortal("b", "guard room", {"smell": Passage((3, 0, 0), (9, 0, 0), distance_m=7.0)})
    world = GraphWorld(SenseGraph(level, [*door("a", "b", (1, 0, 0), "smell"), duct]),
                       seconds_per_frame=1 / frames_per_s, smells=["smell"])
    guard = world.nose((10, 0, 0), threshold=0.5)
    gas = world.source((0, 0, 0))
    world.manager.emit(gas, "smell", 100.0)
    for _ in range(seconds * frames_per_s):
        world.tick()
    return world, guard, gas


def test_gas_comes_through_the_air_duct_and_knocks_out_the_guard():
    world, guard, gas = grenade(8)
    first = world.heard[0]
    assert (first.sensor_id, first.source_id, first.modality) == (guard, gas, "smell")
    assert first.at_s >= 1 + 1 + 2 + 7  # metres to go, at 1 m/s
    assert first.position == (9.0, 0.0, 0.0)
    times = [one.at_s for one in world.heard]
    assert all(later - sooner >= 0.25 for sooner, later in pairwise(times))
    # Smell is blown through the duct one way, and gathers behind it: there is no way uphill.
    assert world.manager.uphill_from("b", gas).position == (1.0, 0.0, 0.0)
    assert world.manager.smell_in("guard room", gas) > 0.5


@pytest.mark.slow
def test_after_a_long_time_smell_is_independent_of_frame_rate():
    found = []
    for frames_per_s in (1, 7, 60):
        world, _, gas = grenade(frames_per_s, seconds=40)
        found.append([world.manager.smell_in(name, gas) for name in ("a", "b", "guard room")])
    for one in found[1:]:
        assert one == pytest.approx(found[0], rel=0.02)


def test_a_dog_follows_a_scent_through_the_rooms_to_its_source():
    row = [room(str(k), (2.0 * k, 0, 0)) for k in range(6)]
    doors = [one for k in range(5) for one in door(str(k), str(k + 1), (2.0 * k + 1, 0, 0), "smell")]
    world = GraphWorld(SenseGraph(row, doors), smells=["smell"])
    thief = world.source((10, 0, 0), smell=500.0)
    world.manager.emit(thief, "smell")
    world.tick(frames=400)
    here, way = 0, []
    while uphill := world.manager.uphill_from(here, thief):
        way.append(uphill.position[0])
        here = uphill.region
    assert way == [1.0, 3.0, 5.0, 7.0, 9.0]
    assert world.manager.uphill_from("0", thief + 5) is None


def test_every_source_has_a_scent_of_its_own():
    world = GraphWorld(SenseGraph(ABC[:1]), smells=["smell"])
    first, second = world.source((0, 0, 0)), world.source((1, 0, 0))
    nose = world.nose((0, 1, 0), threshold=0.5, self_source=first)
    world.manager.emit(first, "smell", 80.0)
    world.manager.emit(second, "smell", 8.0)
    world.manager.emit(second, "smell", 8.0)
    world.tick(frames=2)
    assert world.told() == [(nose, second)]
    assert world.manager.smell_in("a", first) == pytest.approx(10.0)
    assert world.manager.smell_in("a", second) == pytest.approx(2.0)


def test_a_scent_let_out_after_a_long_time_has_not_aged():
    world = GraphWorld(SenseGraph([room("cell", (0, 0, 0), dissipation={"smell": 0.5})]), smells=["smell"])
    world.clock.advance(seconds=1000.0)
    source = world.source((0, 0, 0))
    world.manager.emit(source, "smell", 80.0)
    world.tick(frames=8)
    assert world.manager.smell_in("cell", source) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("settings_", "error", "message"),
    [
        ({"modalities": [hearing()]}, UnknownNameError, "unknown modality 'sight'"),
        ({"smells": ["stench"]}, UnknownNameError, "unknown modality 'stench'"),
        ({"smells": "smell"}, TypeError, "smells must be a sequence of names, got 'smell'"),
        ({"smells": ["sight"]}, ValueError, "smells must hold modalities that travel over time, got 'sight'"),
        ({"gradual": ["hearing"]}, ValueError, "gradual must hold modalities that travel over time, got 'hearing'"),
        ({"faintest": 0}, ValueError, "faintest must be above 0"),
        ({"faintest": math.nan}, ValueError, "faintest must be a finite number"),
        ({"smell_step_s": -1}, ValueError, "smell_step_s must be above 0"),
    ],
)
def test_a_manager_refuses_what_makes_no_sense(settings_, error, message):
    graph = SenseGraph(ABC[:2], door("a", "b", (1, 0, 0), "sight"))
    with pytest.raises(error, match=message):
        GraphWorld(graph, **settings_)


def test_bad_calls_are_refused():
    world = GraphWorld(SenseGraph(ABC[:1]), smells=["smell"])
    manager, source = world.manager, world.source((0, 0, 0))
    for call, error in (
        (lambda: manager.emit(source, "sight", 1.0), ValueError),
        (lambda: manager.emit(source, "hearing"), ValueError),
        (lambda: manager.emit(source, "hearing", -1), ValueError),
        (lambda: manager.emit(source, "hearing", math.nan), ValueError),
        (lambda: manager.emit(source, "smell", True), TypeError),
        (lambda: manager.emit(source, "hearing", 1.0, (0, math.inf, 0)), ValueError),
        (lambda: manager.emit(source, "aura", 1.0), UnknownNameError),
        (lambda: manager.emit(99, "hearing", 1.0), UnknownNameError),
        (lambda: manager.uphill_from("nowhere", source), UnknownNameError),
        (lambda: manager.uphill_from("a", source, "hearing"), UnknownNameError),
        (lambda: manager.smell_in(7, source), UnknownNameError),
        (lambda: manager.change_source(99, gives_light=True), UnknownNameError),
        (lambda: manager.change_source(source, gives_light=1), TypeError),
    ):
        with pytest.raises(error):
            call()
    manager.remove_source(source)
    with pytest.raises(UnknownNameError):
        manager.emit(source, "hearing", 1.0)
    world.tick(frames=4)
    assert world.heard == []


def test_sensor_removed_while_a_signal_travels_is_not_notified():
    world = GraphWorld(SenseGraph([room("yard", (0, 0, 0), size=20)]), smells=["smell"],
                       modalities=[hearing(1.0, 1.0), smell()])
    first, second = (world.sensor((4, 0, 0), {"hearing": 0, "smell": 0}) for _ in "ab")
    source = world.source((0, 0, 0))
    world.manager.emit(source, "hearing", 1.0)
    world.manager.emit(source, "smell", 9e4)
    world.tick()
    world.manager.remove_sensor(first)
    world.manager.remove_source(source)
    world.tick(frames=40)
    assert {(one.sensor_id, one.modality) for one in world.heard} == {(second, "hearing"), (second, "smell")}


def test_an_invented_sense_goes_by_the_graph_like_any_other():
    aura = Modality("aura", 50.0, is_continuous=True)
    graph = SenseGraph(ABC, door("a", "b", (1, 0, 0), "aura"))
    world = GraphWorld(graph, modalities=[SIGHT, aura])
    source = world.source((0, 0, 0), aura=1.0)
    b = world.sensor((2, 0, 0), {"aura": 0.5})
    world.sensor((4, 0, 0), {"aura": 0.0})
    world.tick()
    assert world.told() == [(b, source)]
    assert world.manager.sensed_by(b, "aura") == [source]


def test_blows_tags_channels_and_noise_match_regional_manager():
    world = GraphWorld(SenseGraph(ABC, door("a", "b", (1, 0, 0), "hearing")), modalities=[hearing(), Modality.touch()])
    ear = world.sensor((2, 0, 0), {"hearing": 0.0, "touch": 0.0})
    source = world.source((0, 0, 0), hearing=1.0)
    for tag in ("first step", "second step"):
        world.manager.emit(source, "hearing", tag=tag, channel="steps")
    world.manager.touch(ear, source, tag="punch")
    world.tick()
    assert sorted(one.tag for one in world.heard) == ["punch", "second step"]
    noise = world.manager.add_noise("hearing", 2.0)
    world.heard.clear()
    world.manager.emit(source, "hearing")
    world.tick()
    assert world.heard == []
    world.manager.remove_noise(noise)
    world.manager.emit(source, "hearing", tag="at last")
    world.tick()
    assert [one.tag for one in world.heard] == ["at last"]


def test_modality_may_carry_less_far_but_regions_set_attenuation():
    world = GraphWorld(SenseGraph(ABC[:1]))
    world.ear((1, 0, 0))
    source = world.source((0, 0, 0), hearing=1.0)
    world.manager.change_modality("hearing", range_m=0.5)
    world.manager.emit(source, "hearing")
    world.tick()
    assert world.heard == []
    with pytest.raises(ValueError, match="regions define kept_per_m"):
        world.manager.change_modality("hearing", kept_per_m=0.5)


def test_scents_of_sources_that_are_gone_do_not_grow_without_end(monkeypatch, caplog):
    monkeypatch.setattr("ai_core.senses.graph.smell.MOST_SCENTS", 3)
    world = GraphWorld(SenseGraph(ABC[:2], door("a", "b", (1, 0, 0), "smell")), smells=["smell"])
    dog = world.source((0, 0, 0))
    world.manager.emit(dog, "smell", 8.0)
    for _ in range(6):
        cat = world.source((2, 0, 0))
        world.manager.emit(cat, "smell", 8.0)
        world.manager.emit(dog, "smell", 1.0)           # who still emits is kept
        world.tick(budget=Budget.of_steps(1))           # in the middle of a step of all
        world.manager.remove_source(cat)
    found = world.manager.statistics()
    assert (found["scents"], found["scents_dropped"]) == (3, 4)
    assert world.manager.smell_in("a", dog) > 0
    assert [record.message for record in caplog.records if "scents linger" in record.message] == [
        "more than 3 scents linger in the sense graph; those emitted longest ago are dropped, statistics() counts"
        " scents_dropped; let regions dissipate the smell, so that scents end"]
