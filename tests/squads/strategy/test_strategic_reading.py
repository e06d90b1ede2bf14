"""What a strategist reads from its maps: wealth, claims, where scouts look, how an objective is defended."""
from __future__ import annotations

import math

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import standard_layers
from ai_core.squads.capabilities import Force
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.production import judge_wealth
from ai_core.squads.strategy.strategic_missions import choose_scout_goals
from ai_core.squads.strategy.strategic_situation import EnemyReport
from ai_core.squads.strategy.territory import analyze_defenses, find_resource_sites
from tests.squads.test_battle_forecast import SPEAR

AREA = MapArea(20, 20, cell_m=2.0)


def picture_with(**layers):
    maps = DecisionMap(AREA, standard_layers(), ManualClock())
    for name, places in layers.items():
        for place, strength in places.items():
            maps.write_at(name, [place], strength)
    maps.advance(Budget.unlimited())
    return maps.result


def test_wealth_is_counted_in_armies_and_does_not_flicker():
    assert [judge_wealth(stock, 0, 1000) for stock in (499, 500, 1999, 2000)] == [
        "scarce", "steady", "steady", "plentiful"]
    assert judge_wealth(550, 0, 1000, "scarce") == "scarce"
    assert judge_wealth(1700, 0, 1000, "plentiful") == "plentiful"
    with pytest.raises(ValueError, match="army_cost must be above 0"):
        judge_wealth(1, 1, 0)


def test_resources_belong_to_the_nearer_side_or_are_contested():
    picture = picture_with(resources={(5, 5): 100, (35, 35): 300, (20, 20): 200})
    sites = find_resource_sites(AREA, picture["resources"], picture["threat"], (4, 4), (36, 36))
    assert [(site.amount, site.claim) for site in sites] == [(300, "theirs"), (200, "contested"), (100, "ours")]
    unknown = find_resource_sites(AREA, picture["resources"], picture["threat"], (4, 4), None)
    assert {site.claim for site in unknown} == {"ours"}


def test_scouts_spread_to_least_recently_seen_places_off_fire():
    ages = np.zeros(AREA.shape, np.float32)
    ages[0, 19] = ages[19, 0] = ages[19, 19] = 100
    threat = np.zeros(AREA.shape, np.float32)
    threat[19, 19] = 10
    goals = choose_scout_goals(AREA, ages, threat, {7: (1, 1), 3: (30, 1)}, stale_after_s=60)
    assert goals == {3: (39.0, 1.0), 7: (1.0, 39.0)}
    assert choose_scout_goals(AREA, ages, threat, {7: (1, 1)}, stale_after_s=200) == {}


def test_defenses_are_sightings_and_entry_is_least_threat_side():
    picture = picture_with(threat={(26, 20): 50, (20, 26): 50, (14, 20): 50}, conflict={(21, 21): 8})
    seen = [EnemyReport(1, (22, 20), 0.0, SPEAR), EnemyReport(2, (39, 39), 0.0, SPEAR), EnemyReport(3, (21, 21), 0.0)]
    found = analyze_defenses((20, 20), 8.0, seen, Force([(SPEAR, 3)]), picture, attack_from=(39, 20))
    assert found.force.count == 1
    assert found.ratio > 2
    assert found.conflict == pytest.approx(8, rel=0.3)
    assert found.approach[1] < 15, "from above: the other sides are held"
    assert analyze_defenses((5, 5), 3.0, seen, Force(), picture, attack_from=(0, 0)).ratio == math.inf


def test_personality_turns_into_limits_and_is_checked():
    bold, careful = Personality(aggression=1, caution=0), Personality(aggression=0, caution=1)
    assert bold.attack_ratio < careful.attack_ratio
    assert bold.retreat_ratio < careful.retreat_ratio
    assert bold.defend_threshold > careful.defend_threshold
    assert (Personality(curiosity=0).max_scouts, Personality(curiosity=1).max_scouts) == (0, 4)
    with pytest.raises(ValueError, match="greed must be at most 1"):
        Personality(greed=2)
