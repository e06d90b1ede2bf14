"""Smells: nothing is made, and nothing is negative."""
from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.smell import Scent, SmellModel
from tests.senses.graph.graph_worlds import GraphWorld, door, graphs, room, smell


def plainly_stepped(graph, mass, open_from, step_s, speed):
    """One step by a loop over portals, for a smell that has come everywhere it can."""
    volume, gone, gained = [], [0.0] * len(mass), [0.0] * len(mass)
    for number, region in enumerate(graph.regions):
        flows = [k for k, one in enumerate(graph.portals) if graph.region_id(one.from_region) == number]
        most = sum(
            one.area_m2 * speed * step_s * max(share(one.kept_per_m, one), share(one.closed_kept_per_m, one))
            for one in (graph.portals[k].passages["smell"] for k in flows))
        volume.append(max(region.volume_m3, 2 * most))
        for k in flows:
            passage = graph.portals[k].passages["smell"]
            kept = share(passage.kept_per_m if graph.is_open(k) else passage.closed_kept_per_m, passage)
            moved = mass[number] * kept * passage.area_m2 * speed * step_s / volume[number]
            gone[number] += moved
            gained[graph.region_id(graph.portals[k].to_region)] += moved
    return [(m - out + into) * (1 - region.dissipation.get("smell", 0.0)) ** step_s
            for m, out, into, region in zip(mass, gone, gained, graph.regions, strict=True)]


def share(kept_per_m, passage):
    return kept_per_m**passage.distance_m if kept_per_m else 0.0


@settings(max_examples=40, deadline=None)
@given(graph=graphs("smell"), step_s=st.sampled_from([0.01, 0.25, 30.0]), speed=st.sampled_from([0.1, 5.0]),
       amounts=st.lists(st.floats(0, 100), min_size=6, max_size=6))
def test_a_step_is_that_of_a_plain_loop(graph, step_s, speed, amounts):
    scent = Scent(SmellModel(graph, smell(1 / speed), 1e-300, step_s), 1)
    amounts = amounts[: len(graph.regions)]
    for region, amount in enumerate(amounts):
        scent.add(region, amount, (4.0 * region, 0, 0), 0.0)
    expected = plainly_stepped(graph, amounts, 0.0, step_s, speed)
    scent.step(1e9)
    assert scent.mass.tolist() == pytest.approx(expected, abs=1e-9, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(graph=graphs("smell"), step_s=st.sampled_from([1e-3, 0.25, 7.0, 1e6]), data=st.data(),
       faintest=st.sampled_from([1e-9, 0.1]))
def test_mass_never_rises_or_goes_negative(graph, step_s, data, faintest):
    scent = Scent(SmellModel(graph, smell(), faintest, step_s), 1)
    scent.add(0, 64.0, (0.0, 0.0, 0.0), 0.0)
    mass = 64.0
    for step in range(12):
        if graph.portals and data.draw(st.booleans()):
            number = data.draw(st.integers(0, len(graph.portals) - 1))
            graph.set_open(number, not graph.is_open(number))
        scent.step(step * step_s)
        assert (scent.mass >= 0).all()
        assert scent.mass.sum() <= mass * (1 + 1e-12)
        mass = scent.mass.sum()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_mass_is_kept_as_doors_and_wind_change(seed):
    chance = random.Random(seed)
    row = [room(str(k), (2.0 * k, 0, 0)) for k in range(5)]
    doors = [one for k in range(4) for one in door(str(k), str(k + 1), (2.0 * k + 1, 0, 0), "smell", name=f"d{k}")]
    graph = SenseGraph(row, doors)
    scent = Scent(SmellModel(graph, smell(), 1e-300, 0.25), 1)
    scent.add(0, 64.0, (-0.5, 0.5, 0), 0.0)
    for step in range(80):
        door_id = chance.randrange(4)
        graph.set_open(f"d{door_id}", chance.random() < 0.7)
        graph.set_portal_wind(f"d{door_id}", chance.choice([None, -0.9, -0.5, 0.0, 4.0]))
        scent.step(step * 0.25)
        assert scent.mass.sum() == pytest.approx(64.0, rel=1e-12)


def test_a_sealed_room_loses_only_what_dissipates():
    graph = SenseGraph([room("cell", (0, 0, 0), dissipation={"smell": 0.5}), room("hall", (4, 0, 0))],
                       door("cell", "hall", (1, 0, 0), "smell", is_open=False))
    scent = Scent(SmellModel(graph, smell(), 1e-3, 0.25), 1)
    scent.add(0, 80.0, (0, 0, 0), 0.0)
    for step in range(12):
        scent.step(step * 0.25)
    assert scent.regions.tolist() == [0]
    assert scent.mass.sum() == pytest.approx(80 * 0.5**3)


def test_joined_rooms_come_to_one_intensity_whatever_their_sizes():
    graph = SenseGraph([room("small", (0, 0, 0), size=0.5), room("large", (4, 0, 0), size=3)],
                       door("small", "large", (1, 0, 0), "smell", area_m2=4.0))
    for step_s in (0.05, 0.25):
        scent = Scent(SmellModel(graph, smell(), 1e-6, step_s), 1)
        scent.add(1, 27.0, (4, 0, 0), 0.0)
        for step in range(round(60 / step_s)):
            scent.step(step * step_s)
        small, large = scent.intensity_in(scent.regions)
        assert small == pytest.approx(large, rel=1e-3)
        assert scent.mass.sum() == pytest.approx(27.0)


def test_smell_never_exceeds_its_speed_with_any_number_of_steps():
    row = [room(str(k), (2.0 * k, 0, 0)) for k in range(12)]
    doors = [one for k in range(11) for one in door(str(k), str(k + 1), (2.0 * k + 1, 0, 0), "smell", distance_m=0.0)]
    graph = SenseGraph(row, doors)
    scent = Scent(SmellModel(graph, smell(delay_s_per_m=2.0), 1e-12, 0.01), 1)
    scent.add(0, 1e6, (0, 0, 0), 0.0)
    for step in range(2000):
        scent.step(step * 0.01)
        reached_m = 2.0 * int(scent.regions[-1]) - 1
        assert reached_m * 2.0 <= step * 0.01 + 1e-9 or len(scent.regions) == 1
    assert len(scent.regions) == 6
    assert scent.arrived_s[scent.regions].tolist() == pytest.approx([0.0, *(2.0 * (2 * k - 1) for k in range(1, 6))])


def test_smell_takes_its_time_from_a_door_that_opens_late():
    row = [room(str(k), (2.0 * k, 0, 0)) for k in range(4)]
    doors = [one for k in range(3) for one in door(
        str(k), str(k + 1), (2.0 * k + 1, 0, 0), "smell", name=f"d{k}", distance_m=0.0)]
    graph = SenseGraph(row, doors)
    graph.set_open("d0", False)
    scent = Scent(SmellModel(graph, smell(), 1e-12, 0.25), 1)
    scent.add(0, 1e6, (0, 0, 0), 0.0)
    for step in range(400):
        scent.step(0.25 * step)
    graph.set_open("d0", True)
    entered = []
    for step in range(400, 440):
        scent.step(0.25 * step)
        entered += [step] * (len(scent.regions) - 1 - len(entered))
    # Through the first door since the step before, then two metres from door to door at 1 m/s.
    assert entered == [400, 407, 415]


def test_what_is_faint_goes_when_it_fades():
    graph = SenseGraph([room("cell", (0, 0, 0), dissipation={"smell": 0.9})])
    scent = Scent(SmellModel(graph, smell(), 1e-2, 1.0), 1)
    scent.add(0, 9.0, (0, 0, 0), 0.0)
    masses = []
    while len(scent.regions):
        scent.step(0.0)
        masses.append(scent.mass.sum())
    assert masses == pytest.approx([0.9, 0.09, 0.0])


def test_uphill_leads_against_the_flow_to_the_strongest_place():
    graph = SenseGraph(
        [room(name, at) for name, at in (("a", (0, 0, 0)), ("b", (2, 0, 0)), ("c", (4, 0, 0)), ("d", (2, 0, 2)))],
        [*door("a", "b", (1, 0, 0), "smell"), *door("b", "c", (3, 0, 0), "smell"), *door("b", "d", (2, 0, 1), "smell")])
    scent = Scent(SmellModel(graph, smell(0.5), 1e-6, 0.25), 1)
    scent.add(2, 100.0, (4, 0, 0), 0.0)
    for step in range(40):
        scent.step(step * 0.25)
    way, here = [], 0
    while uphill := scent.uphill_from(here):
        way.append((graph.regions[uphill.region].name, uphill.position))
        here = uphill.region
    assert way == [("b", (1.0, 0.0, 0.0)), ("c", (3.0, 0.0, 0.0))]
    graph.set_open(2, False)
    graph.set_open(3, False)
    assert scent.uphill_from(1) is None  # the door to c is shut, and a smells less
    assert scent.intensity_in(0) < scent.intensity_in(1)


def test_smells_keep_up_with_the_game_on_a_small_budget(caplog):
    worlds = []
    for steps in (10_000, 7):
        rooms = [room(name, (2.0 * k, 0, 0), dissipation={"smell": 0.1}) for k, name in enumerate("ab")]
        world = GraphWorld(SenseGraph(rooms, door("a", "b", (1, 0, 0), "smell")), modalities=[smell()],
                           smells=["smell"], seconds_per_frame=1 / 16)
        world.nose((2, 0, 0), 0.01)
        things = [world.source((0, 0, 0)) for _ in range(40)]       # ten steps of scents are due in a frame
        for one in things:
            world.manager.emit(one, "smell", 100.0)
        for frame in range(192):
            if frame == 160:
                world.heard.clear()
                world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))()
            world.tick(budget=Budget.of_steps(steps))
        worlds.append((world, [world.manager.smell_in("b", one) for one in things]))
    (full, plenty), (small, less) = worlds
    assert less == pytest.approx(plenty, rel=0.1)
    assert {one.source_id for one in small.heard} == {*things}
    assert full.manager.statistics()["smell_steps_merged"] == 0 < small.manager.statistics()["smell_steps_merged"]
    assert [one.levelname for one in caplog.records if "smell_steps_merged" in one.message] == ["WARNING"]
