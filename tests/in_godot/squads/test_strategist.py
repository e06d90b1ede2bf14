"""Strategist: told what a side knows, it sends squads and says what to make, under the scheduler."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct

DOCUMENT = (Path(__file__).parents[3] / "docs" / "godot" / "strategist.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```gdscript\n(.*?)```", DOCUMENT, re.DOTALL)


def product(name, cost, **settings):
    made = construct("StrategicProduct")
    for key, value in {"product_name": name, "cost": cost, **settings}.items():
        made.set(key, value)
    return made


def products():
    return [
        product("worker", 50.0, gathers=True),
        product("spear", 60.0, fights=True, attack={"ground": 10.0}, toughness=100.0),
        product("bow", 60.0, fights=True, attack={"ground": 5.0, "air": 16.0}, toughness=60.0),
        product("flyer", 110.0, fights=True, kind="air", attack={"ground": 13.0, "air": 3.0}, toughness=110.0),
    ]


@pytest.fixture
def maps(node, scheduler):
    return node("DecisionMap", scheduler, corner=Vector2(0, 0), size=Vector2(100, 100), cell_size=5.0)


@pytest.fixture
def side(node, scheduler, maps):
    """``side(**settings)``: a strategist whose base is at (10, 0, 10), thinking in every frame."""

    def made(**settings):
        base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
        return node("Strategist", base, **{
            "products": products(), "build_order": np.array(["worker 2"], object).tolist(), "period": 1,
            **settings})

    return made


def told_of_an_army(strategist, count):
    strategist.report_squad(0, "army", Vector3(10, 0, 10), {"spear": count})
    strategist.report_squad(1, "scouts", Vector3(10, 0, 10), {})
    strategist.set_purse(200.0, {"worker": 2, "spear": count})


def test_squads_get_missions_and_the_reasons_are_told(side, maps, signals, physics_frames):
    strategist = side()
    missions, wanted = signals(strategist, "mission_given"), signals(strategist, "purchase_wanted")
    maps.write("resources", Vector3(20, 0, 10), 500.0)
    physics_frames(1)
    told_of_an_army(strategist, 10)
    strategist.report_squad(2, "gatherers", Vector3(10, 0, 10), {"worker": 2})
    physics_frames(2)
    assert {squad: kind for squad, kind, _, _ in missions} == {0: "regroup", 1: "scout", 2: "gather"}
    assert strategist.get_mission(2)["place"] == Vector3(22.5, 0, 12.5)
    assert strategist.get_posture() == "opening"
    assert wanted[-1][0] == strategist.get_purchases()[0]
    assert len(strategist.get_reasons()) >= 2
    assert strategist.to_text().startswith("opening")
    assert strategist.get_stats()["squads"] == 3


def test_it_defends_against_reported_enemies_with_counters(side, signals, physics_frames):
    strategist = side()
    postures = signals(strategist, "posture_changed")
    told_of_an_army(strategist, 6)
    for enemy in range(8):
        strategist.report_enemy(enemy, Vector3(20, 5, 15), "flyer")
    physics_frames(2)
    assert strategist.get_posture() == "defending"
    assert postures[0][0] == "defending"
    assert "threatened" in postures[0][1]
    assert strategist.get_mission(0)["kind"] == "defend"
    assert "bow" in list(strategist.get_purchases())
    for enemy in range(8):
        strategist.remove_enemy(enemy)
    physics_frames(300)
    assert strategist.get_posture() == "building"


def test_missions_are_told_once_and_a_removed_squad_has_none(side, signals, physics_frames):
    strategist = side()
    told_of_an_army(strategist, 6)
    missions = signals(strategist, "mission_given")
    physics_frames(20)
    assert [squad for squad, *_ in missions].count(0) == 1
    strategist.remove_squad(0)
    assert strategist.get_mission(0) == {}
    physics_frames(2)
    assert strategist.get_mission(0) == {}


def test_a_strategist_is_saved_with_the_scene(side, scheduler, physics_frames):
    strategist = side()
    told_of_an_army(strategist, 6)
    for enemy in range(8):
        strategist.report_enemy(enemy, Vector3(20, 0, 15), "spear")
    physics_frames(3)
    assert strategist.get_posture() == "defending"
    state = scheduler.save_state()
    for enemy in range(8):
        strategist.remove_enemy(enemy)
    physics_frames(300)
    assert strategist.get_posture() == "building"
    assert scheduler.load_state(state)
    assert strategist.get_posture() == "defending"
    assert strategist.get_stats()["enemies"] == 8


@pytest.mark.parametrize(("call", "words"), [
    (lambda one: one.call("report_squad", 0, "cooks", Vector3(0, 0, 0), {}), "role must be one of army"),
    (lambda one: one.call("report_squad", 0, "army", Vector3(0, 0, 0), {"spaer": 1}), "did you mean 'spear'"),
    (lambda one: one.call("report_squad", 0, "army", Vector2(0, 0), {}), "must be a Vector3"),
    (lambda one: one.call("report_enemy", -1, Vector3(0, 0, 0)), "at least 0"),
    (lambda one: one.call("set_purse", -5.0, {}), "stock must be at least 0"),
    (lambda one: one.call("report_losses", -5.0, 0.0), "own_cost must be at least 0"),
])
def test_mistakes_are_told(side, expect_errors, call, words):
    strategist = side()
    expect_errors(words)
    call(strategist)
    assert strategist.get_stats()["squads"] == 0


def test_invalid_settings_are_reported_once_when_it_decides(side, physics_frames, expect_errors):
    expect_errors("at least one product", times=1)
    side(products=[])
    expect_errors("use a product name and a number", times=1)
    side(build_order=["worker"])
    expect_errors("unknown product 'dragon'", times=1)
    side(build_order=["dragon 1"])
    physics_frames(4)


def test_what_is_set_while_it_runs_counts_from_the_next_thought(side, scheduler, physics_frames):
    strategist = side(aggression=0.2)
    physics_frames(2)
    strategist.aggression, strategist.home_radius, strategist.priority, strategist.period = 0.9, 40.0, 3.0, 100
    [row] = [row for row in scheduler.get_stats()["behaviors"] if row["name"].endswith("thinks")]
    assert (row["period_frames"], row["priority"]) == (100, 3.0)
    assert (strategist.core.personality.aggression, strategist.core.home_radius_m) == (0.9, 40.0)


def test_what_it_is_made_of_cannot_change_once_it_decides(side, physics_frames, expect_errors):
    strategist = side()
    physics_frames(2)
    expect_errors("cannot change after the first thought; set it before", 2)
    strategist.set("products", [])
    strategist.set("chance_seed", 3)
    expect_errors("army_cost must be between", times=1)
    strategist.set("army_cost", 1e300)
    physics_frames(3)
    assert (len(strategist.products), strategist.chance_seed, strategist.army_cost) == (4, 0, 1000.0)


def test_without_a_map_it_waits_for_one(node, scheduler, expect_errors, physics_frames):
    expect_errors("found no DecisionMap", times=1)
    strategist = node("Strategist", node("Node3D", scheduler), products=products(), period=1)
    physics_frames(4)
    node("DecisionMap", scheduler)
    physics_frames(2)
    assert strategist.get_posture() == "opening"


def test_the_sample_of_the_document_sends_squads(side, scheduler, gdscript, physics_frames):
    [source] = [one for one in SAMPLES if "report_squad" in one]
    strategist = side()
    game = gdscript(source).new()
    game.strategist = strategist
    scheduler.add_child(game)
    game.call("report")
    physics_frames(2)
    assert game.sent[0].startswith("0 regroup")
    assert "worker" in game.made or "spear" in game.made or "bow" in game.made


def test_a_strategist_set_up_after_add_child_decides(node, scheduler, maps, gdscript, physics_frames):
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    strategist = construct("Strategist")
    base.add_child(strategist)
    strategist.set("decision_map", strategist.get_path_to(maps))
    strategist.set("products", products()[:1])
    strategist.set("period", 1)
    strategist.set("products", products())
    strategist.set("build_order", np.array(["worker 2"], object).tolist())
    told_of_an_army(strategist, 10)
    physics_frames(3)
    assert strategist.get_posture() == "opening"
    assert strategist.get_stats()["thoughts"] >= 1


def test_a_strategist_without_products_reports_once(
        node, scheduler, maps, physics_frames, expect_errors):
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    expect_errors("decides nothing: ", times=1)
    strategist = node("Strategist", base, period=1)
    physics_frames(10)
    strategist.products = products()
    physics_frames(3)
    assert strategist.get_stats()["thoughts"] >= 1


def test_a_strategist_finds_a_map_added_later(node, scheduler, physics_frames):
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    strategist = node("Strategist", base, products=products(), period=1)
    node("DecisionMap", scheduler, corner=Vector2(0, 0), size=Vector2(100, 100), cell_size=5.0)
    physics_frames(3)
    assert strategist.get_stats()["thoughts"] >= 1


def test_an_invalid_base_stops_it_until_it_is_valid(side, maps, physics_frames, expect_errors):
    strategist = side()
    physics_frames(2)
    thoughts = strategist.get_stats()["thoughts"]
    expect_errors("base: place must be finite", times=1)
    base = strategist.get_parent()
    base.position = Vector3(float("nan"), 0, 0)
    physics_frames(6)
    base.position = Vector3(10, 0, 10)
    physics_frames(4)
    assert strategist.get_stats()["thoughts"] > thoughts + 2


def test_an_invalid_product_is_left_out_with_its_dependents(side, physics_frames, expect_errors):
    expect_errors("products[4] is ignored: ", times=1)
    expect_errors("products[5] is ignored: unknown product that 'knight' requires 'stable'", times=1)
    expect_errors("products[6] is ignored: must be a StrategicProduct, got null", times=1)
    wrong = product("stable", 5.0, fights=True, attack={"ground": -1.0})
    strategist = side(products=[*products(), wrong, product("knight", 9.0, requires=["stable"]), None])
    physics_frames(5)
    assert strategist.get_stats()["thoughts"] >= 2
    assert sorted(strategist.core.tree.products) == ["bow", "flyer", "spear", "worker"]


def test_a_paused_thought_continues_in_the_next_frame(node, scheduler, maps, signals, physics_frames):
    scheduler.budget = 1.0
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    strategist = node("Strategist", base, products=products(), period=20)
    told_of_an_army(strategist, 5)
    physics_frames(200)
    assert strategist.get_stats()["thoughts"] in (9, 10)
    strategist.period = 100
    physics_frames(120)
    assert strategist.get_stats()["thoughts"] <= 12


def test_a_node_that_leaves_in_a_thought_begins_another(node, scheduler, maps, physics_frames):
    scheduler.budget = 1.0
    base = node("Node3D", scheduler, position=Vector3(10, 0, 10))
    strategist = node("Strategist", base, products=products(), period=30)
    told_of_an_army(strategist, 5)
    while strategist._thought is None:
        physics_frames(1)
    base.remove_child(strategist)
    assert strategist._thought is None
    base.add_child(strategist)
    physics_frames(90)
    assert strategist.get_stats()["thoughts"] >= 1
