"""Composition: what adds most against the opponent at hand, for its cost or whatever the cost."""
from __future__ import annotations

import pytest

from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.production import Product, best_army, best_unit, expected_force
from tests.squads.test_battle_forecast import BOW, FLYER, SPEAR

PRODUCTS = [
    Product("worker", 50), Product("spear", 60, capabilities=SPEAR), Product("bow", 60, capabilities=BOW),
    Product("flyer", 110, capabilities=FLYER),
]


def test_against_flyers_it_makes_bows_and_against_bows_spears():
    for opponent, wanted in ((FLYER, "bow"), (BOW, "spear")):
        army = best_army(PRODUCTS, Force([(opponent, 12)]), 600)
        assert max(army, key=lambda name: army[name]) == wanted, army


def test_army_stays_within_its_budget_and_has_only_fighters():
    army = best_army(PRODUCTS, Force([(SPEAR, 5)]), 250)
    costs = {one.name: one.cost for one in PRODUCTS}
    assert 0 < sum(costs[name] * count for name, count in army.items()) <= 250
    assert "worker" not in army
    assert best_army(PRODUCTS, Force([(SPEAR, 5)]), 59) == {}


def test_saving_player_takes_the_cheaper_of_two_similar_options():
    elite = Product("elite", 300, capabilities=Capabilities("ground", attack={"ground": 12.0}, toughness=120.0))
    choice, opponent = [PRODUCTS[1], elite], Force([(SPEAR, 10)])
    assert best_unit(choice, Force(), opponent, most_cost=1000, by_cost=True).name == "spear"
    assert best_unit(choice, Force(), opponent, most_cost=1000, by_cost=False).name == "elite"
    assert best_unit(choice, Force(), opponent, most_cost=10) is None


def test_opponent_is_scaled_from_sightings_or_a_general_mix():
    seen = expected_force(Force([(FLYER, 2), (SPEAR, 1)]), PRODUCTS, 30)
    assert seen.counts_by_kind() == pytest.approx({"air": 20.0, "ground": 10.0})
    assert expected_force(Force(), PRODUCTS, 30).counts_by_kind() == pytest.approx({"air": 10.0, "ground": 20.0})
    assert expected_force(Force([(SPEAR, 5)]), PRODUCTS, 2).count == 5
