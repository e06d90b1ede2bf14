"""The strategist: postures and why, missions, what it makes, on threads, saved, and different by personality."""
from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import standard_layers
from ai_core.saving.fields import StateError
from ai_core.scheduling.threaded_work import ThreadedWork
from ai_core.snapshot import from_json, restore, take, to_json
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategy.strategic_situation import EnemyReport, SquadReport, StrategicSituation
from ai_core.squads.strategy.strategist import Strategist
from tests.squads.test_battle_forecast import BOW, FLYER, SPEAR

AREA = MapArea(20, 20, cell_m=5.0)
HOME, THERE = (10.0, 10.0), (90.0, 90.0)
TREE = TechnologyTree([
    Product("worker", 50, gathers=True), Product("spear", 60, capabilities=SPEAR),
    Product("bow", 60, capabilities=BOW), Product("hall", 200),
    Product("flyer", 110, requires=("hall",), capabilities=FLYER),
])


def world(*, seen=(), resources=()):
    maps = DecisionMap(AREA, standard_layers(), ManualClock())
    maps.write("exploration", list(range(AREA.size // 2)), 0.0)
    for place, amount in resources:
        maps.write_at("resources", [place], amount)
    for one in seen:
        maps.write_at("threat", [one.place], 1.0)
    maps.advance(Budget.unlimited())
    return maps.result


def situation(now_s=0.0, *, army=10, seen=(), resources=(((20.0, 10.0), 2000.0),), army_at=HOME, **more):
    squads = (
        SquadReport(0, "army", army_at, Force([(SPEAR, army)])),
        SquadReport(10, "gatherers", HOME, Force()),
        SquadReport(20, "scouts", HOME, Force()), SquadReport(21, "scouts", (12.0, 10.0), Force()),
    )
    values = {"stock": 500.0, "owned": {"spear": army, "worker": 2}, **more}
    return StrategicSituation(now_s, world(seen=seen, resources=resources), HOME, squads, tuple(seen), **values)


def strategist(**settings):
    return Strategist(TREE, random.Random(1), **{"home_radius_m": 25.0, **settings})


def after_the_opening(**settings):
    one = strategist(**settings)
    for now_s in (0.0, 21.0):
        one.think(situation(now_s))
    assert one.posture == "building"
    return one


ENEMY_BASE = EnemyReport(1000, THERE, 0.0, None, True)


def spears(count, place=THERE, seen_s=30.0):
    return [EnemyReport(number, place, seen_s, SPEAR) for number in range(count)]


def kinds(plan):
    return {one.squad_id: one.kind for one in plan.missions}


def test_it_scouts_first_and_each_scout_goes_somewhere_else():
    plan = strategist().think(situation())
    assert plan.posture == "opening"
    assert kinds(plan) == {0: "regroup", 10: "gather", 20: "scout", 21: "scout"}
    goals = [one.place for one in plan.missions if one.kind == "scout"]
    assert goals[0] != goals[1]
    assert all(y > 50 for _, y in goals), "the half that nobody has seen"


def test_without_curiosity_nobody_scouts():
    assert 20 not in kinds(strategist(personality=Personality(curiosity=0)).think(situation()))


def test_a_known_goal_is_kept_until_it_is_seen():
    one = strategist()
    first = [mission for mission in one.think(situation()).missions if mission.kind == "scout"]
    busy = situation(1.0)
    squads = tuple(replace_idle(squad) for squad in busy.squads)
    again = [mission for mission in one.think(replace(busy, squads=squads)).missions if mission.kind == "scout"]
    assert [one.place for one in first] == [one.place for one in again]


def replace_idle(squad):
    return squad._replace(is_idle=False)


def test_it_gathers_first_and_attacks_only_when_stronger():
    one = after_the_opening()
    assert one.think(situation(22.0, army=10, seen=[ENEMY_BASE, *spears(10)])).posture == "building"
    plan = one.think(situation(30.0, army=30, seen=[ENEMY_BASE, *spears(10)]))
    assert plan.posture == "attacking"
    assert any("stronger" in reason for reason in plan.reasons)
    far = next(mission for mission in plan.missions if mission.squad_id == 0)
    assert far.why == "gathers before the attack"
    near = one.think(situation(31.0, army=30, seen=[ENEMY_BASE, *spears(10)], army_at=far.place))
    assert next(mission for mission in near.missions if mission.squad_id == 0).kind == "attack"


def test_the_bold_attack_at_odds_at_which_the_timid_wait():
    postures = {}
    for aggression in (0.0, 1.0):
        one = after_the_opening(personality=Personality(aggression=aggression))
        postures[aggression] = one.think(situation(30.0, army=14, seen=[ENEMY_BASE, *spears(11)])).posture
    assert postures == {0.0: "building", 1.0: "attacking"}


def test_it_breaks_off_an_attack_that_fails_and_learns_from_it():
    one = after_the_opening()
    one.think(situation(30.0, army=30, seen=[ENEMY_BASE, *spears(10)]))
    tactic, before = one.tactic, one.adaptive.values(0.7)[one.tactic]
    seen = [ENEMY_BASE, *spears(20, seen_s=40.0)]
    losing = situation(40.0, army=5, seen=seen, army_at=THERE, losses=900.0, kills=100.0)
    plan = one.think(losing)
    assert plan.posture == "retreating"
    assert kinds(plan)[0] == "retreat"
    assert one.adaptive.values(0.7)[tactic] < before
    calm = one.think(situation(50.0, army=5, seen=[ENEMY_BASE]))
    assert calm.posture == "building"


def test_it_defends_its_home_against_who_comes_near():
    one = after_the_opening()
    plan = one.think(situation(30.0, army=10, seen=spears(8, place=(20.0, 20.0))))
    assert plan.posture == "defending"
    mission = next(mission for mission in plan.missions if mission.squad_id == 0)
    assert (mission.kind, mission.place) == ("defend", (20.0, 20.0))
    assert one.think(situation(40.0)).posture == "building"


def test_squads_defend_against_those_they_can_hit():
    one, near, far = after_the_opening(), (12.0, 12.0), (28.0, 12.0)
    flyers = [EnemyReport(number, near, 30.0, FLYER) for number in range(4)]
    seen = [*flyers, *[EnemyReport(10 + number, far, 30.0, SPEAR) for number in range(4)]]
    told = situation(30.0, army=4, seen=seen)
    told = replace(told, squads=(*told.squads, SquadReport(1, "army", HOME, Force([(BOW, 4)]))))
    places = {mission.squad_id: mission.place for mission in one.think(told).missions if mission.kind == "defend"}
    assert places == {0: far, 1: near}
    only = {mission.squad_id: mission.place for mission in one.think(replace(told, sightings=tuple(flyers))).missions}
    assert only[0] == only[1] == near, "who can hit none of them goes with the others"


def test_it_looks_for_an_enemy_that_nobody_has_seen():
    one = after_the_opening(search_after_s=60.0)
    assert kinds(one.think(situation(59.0)))[0] == "regroup"
    plan = one.think(situation(61.0))
    assert kinds(plan)[0] == "search"


def test_it_makes_what_hits_the_opponent_and_opens_what_it_needs():
    one = after_the_opening()
    flyers = [EnemyReport(number, THERE, 30.0, FLYER) for number in range(12)]
    names = [purchase.name for purchase in one.think(situation(30.0, seen=flyers)).purchases]
    assert "bow" in names
    assert "spear" not in names
    with_order = after_the_opening(build_order=BuildOrder([("hall", 1)], TREE))
    assert with_order.think(situation(30.0)).purchases[0][:2] == ("hall", "build order")


def test_who_is_poor_saves_and_who_is_rich_invests():
    one = after_the_opening(army_cost=1000.0)
    poor = one.think(situation(30.0, resources=(), stock=100.0))
    assert one.wealth == "scarce"
    assert "worker" not in [purchase.name for purchase in poor.purchases]
    rich = one.think(situation(31.0, resources=(((20.0, 10.0), 9000.0),)))
    assert one.wealth == "plentiful"
    assert "worker" in [purchase.name for purchase in rich.purchases]


def test_it_predicts_enemy_expansions_and_where_both_will_clash():
    resources = (((20.0, 10.0), 500.0), ((80.0, 85.0), 500.0), ((50.0, 50.0), 500.0))
    plan = after_the_opening().think(situation(30.0, seen=[ENEMY_BASE], resources=resources))
    assert plan.enemy_expands_at == pytest.approx((82.5, 87.5))
    assert plan.clash_at == pytest.approx((52.5, 52.5))


def test_same_seed_and_situations_give_same_plans_on_worker_too():
    def plans(executor):
        clock, one, told = ManualClock(), strategist(), []
        work = ThreadedWork(one.think, clock=clock, executor=executor, then=lambda ticket: told.append(ticket.result))
        for frame in range(30):
            seen = [ENEMY_BASE, *spears(3 + frame % 5, seen_s=float(frame))] if frame > 10 else []
            work.submit(situation(float(frame), army=10 + frame, seen=seen))
            clock.advance()
            work.advance(Budget.unlimited())
        clock.advance(10)
        work.advance(Budget.unlimited())
        return told

    with ThreadPoolExecutor(1) as executor:
        threaded = plans(executor)
    assert len(threaded) == 30
    assert threaded == plans(None)


def test_saved_in_the_middle_of_an_attack_it_goes_on_alike():
    one, other = after_the_opening(), strategist()
    strong = {"army": 30, "seen": [ENEMY_BASE, *spears(10)]}
    one.think(situation(30.0, **strong))
    text = to_json(take({"strategist": one}))
    restore(from_json(text), {"strategist": other})
    for now_s in (31.0, 32.0, 45.0):
        assert one.think(situation(now_s, **strong)) == other.think(situation(now_s, **strong))
    assert to_json(take({"strategist": one})) == to_json(take({"strategist": other}))
    state = one.save_state()
    with pytest.raises(StateError, match="wealth"):
        other.prepare_state({**state, "wealth": "rich"})
    with pytest.raises(StateError, match="update ai_core"):
        other.prepare_state({**state, "version": 9})


def test_a_thought_dropped_by_a_save_leaves_its_time_to_the_next():
    straight = saved = None
    for _ in range(2):
        straight, saved = saved, strategist()
        saved.think(situation(0.0))
    for now_s in (5.0, 10.0, 15.0):
        straight.think(situation(now_s))
        steps = saved.think_in_steps(situation(now_s))
        next(steps), next(steps)
        text, saved = to_json(take({"strategist": saved})), strategist()
        restore(from_json(text), {"strategist": saved})
    for one in (straight, saved):
        one.think(situation(19.0))
    assert saved.machine.time_in_state_s == straight.machine.time_in_state_s == 19.0
    assert saved.thoughts == 2


@pytest.mark.parametrize("name", ["squads", "sightings"])
@pytest.mark.parametrize(("ids", "wrong"), [
    ((7, 7), "unique, got 7 twice"), ((-1,), "at least 0"), ((2**60,), "at most")])
def test_an_id_is_not_used_twice_and_can_be_saved(name, ids, wrong):
    reports = {
        "squads": [SquadReport(one, "army", HOME, Force()) for one in ids],
        "sightings": [EnemyReport(one, THERE, 1.0) for one in ids]}[name]
    with pytest.raises(ValueError, match=f"id in {name} must be .*{wrong}"):
        StrategicSituation(1.0, world(), HOME, **{name: tuple(reports)})


def test_instance_ids_of_a_game_are_taken_and_saved():
    one, number = strategist(), 29_024_585_063
    squads = (SquadReport(number, "scouts", HOME, Force()),)
    assert [(mission.squad_id, mission.kind) for mission in one.think(
        StrategicSituation(1.0, world(), HOME, squads)).missions] == [(number, "scout")]
    restore(from_json(to_json(take({"strategist": one}))), {"strategist": strategist()})


def test_it_explains_itself():
    one = after_the_opening()
    text = one.to_text()
    assert text.startswith("building, ")
    for word in ("threatened", "strength", "frontal"):
        assert word in text


def test_bad_input_is_refused():
    one = after_the_opening()
    with pytest.raises(ValueError, match="must not be before the last call"):
        one.think(situation(3.0))
    with pytest.raises(ValueError, match="army_cost must be above 0"):
        strategist(army_cost=0)
    with pytest.raises(TypeError, match="TechnologyTree"):
        Strategist({}, random.Random(1))
    other = TechnologyTree([Product("hall", 1)])
    with pytest.raises(ValueError, match="same tree"):
        strategist(build_order=BuildOrder([("hall", 1)], other))


def test_capabilities_of_an_unknown_kind_do_no_harm():
    whale = EnemyReport(5, THERE, 30.0, Capabilities("sea", attack={"ground": 5.0}, toughness=50.0))
    assert after_the_opening().think(situation(30.0, seen=[whale])).posture == "building"
