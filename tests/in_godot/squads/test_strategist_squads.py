"""Squad nodes of a Strategist: missions become their orders, and what they see and suffer is what it knows."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from tests.in_godot.squads.squad_world import armed, character, places, until
from tests.in_godot.squads.test_strategist import products

pytestmark = pytest.mark.in_its_own_world

DOCUMENT = (Path(__file__).parents[3] / "docs" / "godot" / "strategist.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```gdscript\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.fixture
def maps(node, scheduler):
    return node("DecisionMap", scheduler, corner=Vector2(0, 0), size=Vector2(100, 100), cell_size=5.0)


@pytest.fixture
def strategist(node, scheduler, maps):
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    return node("Strategist", base, products=products(), period=10)


@pytest.fixture
def enlist(node, world):
    """``enlist(squad, count, place)``: characters of a squad, spears unless told."""

    def recruits(squad, count, place=(10, 0, 10), **settings):
        settings = {"product": "spear", "speed": 12.0, **armed(ground=10.0), **settings}
        return [character(node, world, Vector3(place[0] + 2 * number, place[1], place[2]),
                          squad_path=squad.get_path(), **settings) for number in range(count)]

    return recruits


def squad_of(node, strategist, name, role=0):
    return node("Squad", strategist, name=name, keep_clear=1, strategic_role=role, think_period=6)


def test_missions_are_orders_of_squads_below_it(node, strategist, enlist, maps, signals, physics_frames):
    army, scouts = squad_of(node, strategist, "Army"), squad_of(node, strategist, "Scouts", 1)
    workers = squad_of(node, strategist, "Workers", 2)
    heard, told = signals(workers, "mission_given"), signals(strategist, "mission_given")
    for squad, count in ((army, 4), (scouts, 1), (workers, 2)):
        enlist(squad, count)
    maps.write("resources", Vector3(40, 0, 10), 500.0)
    physics_frames(12)
    numbers = {squad.get_name(): number for number, squad in strategist.get_squads().items()}
    assert numbers == {"Army": 1000, "Scouts": 1001, "Workers": 1002}
    assert {squad: kind for squad, kind, _, _ in told} == {1000: "regroup", 1001: "scout", 1002: "gather"}
    assert [(kind, place) for kind, place, _ in heard] == [("gather", Vector3(42.5, 0, 12.5))]
    assert workers.get_order()["goal"] == Vector3(42.5, 0, 12.5)
    assert not scouts.is_idle()
    until(workers.is_idle, physics_frames)
    assert abs(places(workers) - (42.5, 0, 12.5)).max() < 3


def test_a_scout_that_has_arrived_is_sent_elsewhere(node, strategist, enlist, maps, signals, physics_frames):
    scouts = squad_of(node, strategist, "Scouts", 1)
    node("MapWriter", enlist(scouts, 1, speed=40.0)[0][0], layer="exploration", strength=0.0, radius=12.0)
    told = signals(strategist, "mission_given")
    until(lambda: len(told) >= 3, physics_frames)
    assert len({(place.x, place.z) for _, _, place, _ in told}) == len(told)


@pytest.mark.parametrize(("role", "kind"), [(1, "scout"), (0, "search")])
def test_scouted_ground_counts_as_seen_without_writers(
        node, strategist, enlist, signals, physics_frames, role, kind):
    strategist.search_after = 0.0
    enlist(squad_of(node, strategist, "Squad", role), 1, speed=40.0)
    told = signals(strategist, "mission_given")
    until(lambda: sum(one == kind for _, one, _, _ in told) >= 3, physics_frames)
    looked = [(place.x, place.z) for _, one, place, _ in told if one == kind]
    assert len(set(looked)) == len(looked)


def test_sighted_enemies_are_defended_against_and_losses_counted(
        node, world, strategist, enlist, physics_frames):
    army = squad_of(node, strategist, "Army")
    soldiers = enlist(army, 6)
    foes = [character(node, world, Vector3(25, 0, 12 + number), squad_path=node("Squad", world).get_path(),
                      product="flyer", **armed("air", ground=13.0))[0] for number in range(8)]
    physics_frames(2)
    army.see(foes)
    physics_frames(20)
    assert strategist.get_stats()["enemies"] == 8
    assert strategist.get_posture() == "defending"
    assert next(iter(strategist.get_purchases())) in ("bow", "flyer")
    assert army.get_order()["goal"].z < 25
    foes[0].queue_free()
    soldiers[0][0].queue_free()
    physics_frames(20)
    reports = strategist.core, strategist._reports
    assert (reports[1].losses, reports[1].kills) == (60.0, 110.0)
    assert strategist.get_stats()["enemies"] == 7


def test_split_squads_stay_and_a_change_of_squad_is_no_loss(
        node, strategist, enlist, physics_frames):
    army = squad_of(node, strategist, "Army")
    soldiers = enlist(army, 4)
    physics_frames(12)
    rear = army.split([soldiers[0][1], soldiers[1][1]], "Rear")
    physics_frames(12)
    assert strategist._reports.losses == 0
    assert rear in strategist.get_squads().values()
    assert rear.get_order()["kind"] != "hold"


def test_objective_enemies_are_attacked_and_not_forgotten(
        node, world, strategist, enlist, physics_frames):
    army = squad_of(node, strategist, "Army")
    enlist(army, 9)
    fort = node("Node3D", world, position=Vector3(80, 0, 80))
    fort.add_to_group("objectives")
    strategist.forget_after, strategist.core.overdue_after_s = 0.1, 0.0
    physics_frames(2)
    army.see([fort])
    physics_frames(20)
    army.see([])
    until(lambda: strategist.get_posture() == "attacking", physics_frames)
    assert strategist.get_stats()["enemies"] == 1
    until(lambda: strategist.get_mission(1000)["kind"] == "attack", physics_frames)
    assert army.get_order()["goal"] == Vector3(80, 0, 80)


def test_a_squad_belongs_to_the_strategist_it_names(
        node, scheduler, strategist, enlist, physics_frames):
    beside = node("Squad", scheduler, name="Beside", keep_clear=1)
    other = node("Squad", scheduler, name="Other", keep_clear=1)
    beside.strategist = beside.get_path_to(strategist)
    for squad in (beside, other):
        enlist(squad, 2)
    physics_frames(12)
    assert [one.get_name() for one in strategist.get_squads().values()] == ["Beside"]
    assert other.get_order()["kind"] == "hold"


def test_a_place_no_scout_can_get_to_counts_as_seen(node, strategist, enlist, signals, physics_frames):
    scouts = squad_of(node, strategist, "Scouts", 1)
    enlist(scouts, 1)
    told = signals(strategist, "mission_given")
    until(lambda: told, physics_frames)
    first = told[0][2]
    scouts.core.order.state = "failed"
    physics_frames(45)
    assert strategist.get_mission(1000)["place"] != first


def test_it_is_saved_with_squads_and_whom_they_met(node, world, scheduler, strategist, enlist, physics_frames):
    army = squad_of(node, strategist, "Army")
    soldiers = enlist(army, 5)
    foe = character(node, world, Vector3(70, 0, 70), squad_path=node("Squad", world).get_path(),
                    **armed(ground=3.0))[0]
    physics_frames(2)
    army.see([foe])
    physics_frames(30)
    goal, number = army.get_order()["goal"], army.get_order()["number"]
    state = scheduler.save_state()
    army.see([])
    army.move_to(Vector3(90, 0, 90))
    physics_frames(30)
    assert scheduler.load_state(state)
    assert strategist.get_stats()["enemies"] == 1
    physics_frames(12)
    assert (army.get_order()["goal"], army.get_order()["number"]) == (goal, number), "no order is given twice"
    soldiers[0][0].queue_free()
    physics_frames(12)
    assert strategist._reports.losses == 60.0


def test_mistakes_are_told(node, strategist, enlist, expect_errors, physics_frames):
    army = squad_of(node, strategist, "Army")
    expect_errors("unknown product of its Strategist 'spaer'; did you mean 'spear'")
    enlist(army, 1, product="spaer")
    physics_frames(25)
    expect_errors("squad_id must be below 1000, got 1000; higher ids are those of Squad nodes")
    strategist.call("report_squad", 1000, "army", Vector3(0, 0, 0), {})
    beside = construct("Squad")
    beside.strategist = army.get_path()
    strategist.get_parent().add_child(beside)
    assert "not Strategist; choose" in " ".join(beside._get_configuration_warnings())
    beside.queue_free()
    physics_frames(1)


def test_the_sample_of_the_document_commands_squads(node, world, strategist, enlist, gdscript, physics_frames):
    [source] = [one for one in SAMPLES if "mission_given" in one and "get_squads" in one]
    army, scouts = squad_of(node, strategist, "Army"), squad_of(node, strategist, "Scouts", 1)
    for squad in (army, scouts):
        enlist(squad, 3)
    foe = node("Node3D", world, position=Vector3(30, 0, 10))
    game = gdscript(source).new()
    game.strategist = strategist
    world.add_child(game)
    game.call("_on_target_gained", None, foe, army)
    physics_frames(12)
    assert any(line.startswith("Army: regroup") for line in game.story)
    assert any(line.startswith("Scouts: scout") for line in game.story)
    assert strategist.get_stats()["enemies"] == 1
    others = [node("Node3D", world, position=Vector3(30, 0, 10 * number)) for number in (2, 3)]
    foe.free()
    for other in others:
        game.call("_on_target_gained", None, other, army)
    assert len(army.core.sightings) == 2, "who is freed holds nobody up"
    game.call("_on_target_lost", None, Vector3(30, 0, 20), others[0], army)
    assert len(army.core.sightings) == 1
    game.queue_free()
    physics_frames(1)
