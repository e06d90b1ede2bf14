"""Where to build defenses: at narrow places between home and the enemy, where a few hold many up."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ai_core.squads.army_composition import best_unit
from ai_core.squads.capabilities import Force
from ai_core.squads.strategic_situation import DefenseReport, Place, Purchase, StrategicSituation

if TYPE_CHECKING:
    from ai_core.squads.strategist import Strategist

__all__ = ["place_to_hold", "wanted_defense"]

AT_PLACE_SHARE = 0.4
"""A defense holds a place that is this near to it, as a share of the home radius."""

FARTHEST_SHARE = 4.0
"""Without a known enemy only places this near to home count, as a share of the home radius."""

DETOUR_SHARE = 0.5
"""A place that is a longer detour on the way to the enemy than this share of that way is not on it."""

FROM_HOME = 0.25
"""What a metre from home counts beside a metre of detour: help must come there."""


def wanted_defense(strategist: Strategist, situation: StrategicSituation, opponent: Force) -> Purchase | None:
    """Return which defense to make next, and where; None if none is wanted, or nothing can be made.

    So much is put into defenses as ``Personality.defenses_share`` of the army that is aimed at, unless
    resources are scarce.

    Cost: O(narrow places × defenses + products × kinds).
    """
    tree, limit = strategist.tree, strategist.personality.defenses_share * strategist.army_cost
    spent = sum(tree.product(one.name).cost for one in situation.defenses)
    choice = [
        one for one in tree.available(situation.owned)
        if one.defends and one.capabilities is not None and spent + one.cost <= limit]
    if not choice or strategist.wealth == "scarce":
        return None
    enemy_base = next((one.place for one in situation.sightings if one.is_objective), None)
    reach_m = AT_PLACE_SHARE * strategist.home_radius_m
    place = place_to_hold(
        situation.narrow_places, situation.defenses, situation.base, enemy_base, reach_m,
        FARTHEST_SHARE * strategist.home_radius_m)
    if place is None:
        return None
    there = [tree.product(one.name) for one in situation.defenses if math.dist(one.place, place) <= reach_m]
    own = Force.of_members(one.capabilities for one in there if one.capabilities is not None)
    best = best_unit(choice, own, opponent, most_cost=math.inf)
    if best is None:
        return None
    why = f"holds a narrow place {math.dist(place, situation.base):.0f} m from home, where {len(there)} stand"
    return Purchase(best.name, why, place)


def place_to_hold(
    places: Iterable[Place], defenses: Iterable[DefenseReport], base: Place, enemy_base: Place | None,
    reach_m: float, farthest_m: float,
) -> Place | None:
    """Return the narrow place that is worth the next defense: on the enemy's way, near home, held by few.

    Args:
        places: to choose from (m).
        defenses: what stands already.
        base: where we live (m).
        enemy_base: where they live (m), None if nobody knows; then the nearest to home counts.
        reach_m: defenses this near to a place hold it (m).
        farthest_m: how far from home a place may be while nobody knows where they live (m).

    Returns:
        None if no place is between us and them; of equal ones the first.

    >>> place_to_hold([(50, 0), (20, 0), (25, 90)], [], (0, 0), (100, 0), 10, 100)
    (20, 0)
    """
    standing = list(defenses)

    def cost(place: Place) -> float:
        held = sum(math.dist(one.place, place) <= reach_m for one in standing)
        return _worth_m(place, base, enemy_base, farthest_m) * (1 + held)

    best = min(places, key=cost, default=None)
    return None if best is None or cost(best) == math.inf else best


def _worth_m(place: Place, base: Place, enemy_base: Place | None, farthest_m: float) -> float:
    """Return how far off a place is as one to hold (m), ``inf`` for one that is not worth it."""
    home_m = math.dist(place, base)
    if enemy_base is None:
        return 1 + home_m if home_m <= farthest_m else math.inf
    way_m, there_m = math.dist(base, enemy_base), math.dist(place, enemy_base)
    detour_m = home_m + there_m - way_m
    if home_m >= there_m or detour_m > DETOUR_SHARE * way_m:
        return math.inf
    return 1 + detour_m + FROM_HOME * home_m
