"""Composition: what adds most against the opponent at hand, for its cost or whatever the cost."""
from __future__ import annotations

import pytest

from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.production import Product, best_unit, expected_force
from tests.squads.test_battle_forecast import BOW, FLYER, SPEAR

PRODUCTS = [
    Product("worker", 50), Product("spear", 60, capabilities=SPEAR), Product("bow", 60, capabilities=BOW),
    Product("flyer", 110, capabilities=FLYER),
]


def test_against_flyers_it_makes_bows_and_against_bows_spears():
    for opponent, wanted in ((FLYER, "bow"), (BOW, "spear")):
        assert best_unit(PRODUCTS, Force(), Force([(opponent, 12)]), most_cost=600).name == wanted


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
