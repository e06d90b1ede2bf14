"""Defenses at narrow places: where, how many, of which kind, and by whose personality."""
from __future__ import annotations

from dataclasses import replace

import pytest

from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.production import Product, TechnologyTree
from ai_core.squads.strategy.strategic_situation import DefenseReport, EnemyReport
from ai_core.squads.strategy.strategist import Strategist
from ai_core.squads.strategy.territory import best_narrow_place
from tests.squads.strategy.test_strategist import ENEMY_BASE, HOME, THERE, situation
from tests.squads.test_battle_forecast import BOW, FLYER, SPEAR

TOWER = Capabilities("building", attack={"ground": 20.0}, toughness=400.0)
FLAK = Capabilities("building", attack={"air": 20.0}, toughness=300.0)
TREE = TechnologyTree([
    Product("worker", 50, gathers=True), Product("spear", 60, capabilities=SPEAR), Product("bow", 60, capabilities=BOW),
    Product("tower", 100, capabilities=TOWER, defends=True), Product("flak", 100, capabilities=FLAK, defends=True),
    Product("wall", 80, capabilities=TOWER, defends=True, requires=("worker",)),
])
NEAR, MIDWAY, ASIDE, BEYOND = (20.0, 20.0), (45.0, 45.0), (10.0, 95.0), (80.0, 80.0)
CAREFUL = Personality(caution=1.0, aggression=0.0)


class Draws:
    def random(self):
        return 0.5


def plan_of(*, personality=CAREFUL, army_cost=1000.0, places=(NEAR, MIDWAY, ASIDE, BEYOND), defenses=(), **more):
    strategist = Strategist(TREE, Draws(), personality=personality, army_cost=army_cost)
    told = replace(situation(**{"seen": [ENEMY_BASE], **more}), narrow_places=places, defenses=tuple(defenses))
    return [one for one in strategist.think(told).purchases if one.place is not None]


def test_defense_is_wanted_at_the_enemy_path_choke_nearest_home():
    [wanted] = plan_of()
    assert wanted.place == NEAR
    assert wanted.name in ("tower", "wall")
    assert "narrow place" in wanted.why
    assert plan_of(places=(ASIDE, BEYOND)) == []


def test_held_place_yields_to_the_next_and_then_gets_more():
    defenses, order = [], []
    for _ in range(3):
        [wanted] = plan_of(defenses=defenses)
        order.append(wanted.place)
        defenses.append(DefenseReport("tower", wanted.place))
    assert NEAR in order
    assert MIDWAY in order


def test_amount_built_follows_personality_and_poor_build_none():
    assert plan_of(personality=Personality(caution=0.0)) == []
    assert plan_of(personality=Personality(caution=1.0, aggression=1.0)) == []
    four = [DefenseReport("tower", NEAR)] * 4
    assert plan_of(defenses=four[:3]) != []
    assert plan_of(defenses=four) == [], "0.4 of an army of 1000 is spent"
    assert plan_of(stock=0.0, resources=()) == []


def test_what_is_built_can_hit_whom_they_are_against():
    flyers = [EnemyReport(number, THERE, 0.0, FLYER) for number in range(12)]
    assert [one.name for one in plan_of(seen=[ENEMY_BASE, *flyers])] == ["flak"]


def test_while_nobody_knows_the_enemy_places_near_home_count():
    assert [one.place for one in plan_of(seen=[])] == [NEAR]
    assert best_narrow_place([BEYOND], [], HOME, None, 10.0, 60.0) is None
    assert best_narrow_place([], [], HOME, THERE, 10.0, 60.0) is None


def test_defenses_are_no_army():
    strategist = Strategist(TREE, Draws())
    assert [one.name for one in TREE.fighters] == ["spear", "bow"]
    assert TREE.mean_fighter_cost == 60
    names = [one.name for one in strategist.think(situation()).purchases]
    assert not {"tower", "flak", "wall"} & set(names)
    assert strategist.estimated_enemy_count(Force([(SPEAR, 10)]), Force(), 60.0) == 9, "those who fell were fighters"


def test_a_defense_that_can_do_nothing_is_refused():
    with pytest.raises(ValueError, match="defense 'fence' must have capabilities"):
        Product("fence", 10, defends=True)
