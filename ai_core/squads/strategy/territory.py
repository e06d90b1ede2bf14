"""Territory of a strategist: resource sites, defenses at choke points, and the side from which to attack."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_queries import best_cells
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force
from ai_core.squads.strategy.strategic_situation import DefenseReport, EnemyReport, Place

SECTORS = 8
"""Directions from which an objective can be approached (count)."""


class Defenses(NamedTuple):
    """Defenses of an objective.

    Attributes:
        force: defenders that were seen.
        ratio: power ratio of the attacker against them, ``inf`` if none was seen.
        age_s: time since the center of the objective was seen (s).
        conflict: recent fighting there, from the layer "conflict".
        approach: position on the side with the least threat (m).
    """

    force: Force
    ratio: float
    age_s: float
    conflict: float
    approach: tuple[float, float]


def analyze_defenses(
    place: tuple[float, float], radius_m: float, sightings: Iterable[EnemyReport], attacker: Force,
    picture: MapSnapshot, *, attack_from: tuple[float, float],
) -> Defenses:
    """Return the defenses of a position: the enemies within ``radius_m``; a missing layer of the picture counts as 0.

    Cost: O(sightings + cells within the radius).
    Source: 003_designing_ai_for_games, objective maps.
    """
    finite_number("radius_m", radius_m, above=0)
    force = force_of_sightings(one for one in sightings if math.dist(one.place, place) <= radius_m)
    cells = picture.area.cells_within(place, radius_m)
    age_s, conflict = 0.0, 0.0
    if "exploration" in picture.names and (middle := picture.area.cell_at(place)) >= 0:
        age_s = float(picture["exploration"].flat[middle])
    if "conflict" in picture.names:
        conflict = float(picture["conflict"].reshape(-1)[cells].sum(dtype=np.float64))
    ratio = forecast(attacker, force).ratio if force.count else math.inf
    return Defenses(force, ratio, age_s, conflict, _approach(place, radius_m, picture, attack_from))


def force_of_sightings(sightings: Iterable[EnemyReport]) -> Force:
    """Return the force of all sightings that have capabilities."""
    return Force.of_members(one.capabilities for one in sightings if one.capabilities is not None)


def _approach(
    place: tuple[float, float], radius_m: float, picture: MapSnapshot, attack_from: tuple[float, float]
) -> tuple[float, float]:
    area = picture.area
    turn = math.atan2(attack_from[1] - place[1], attack_from[0] - place[0])
    best = (math.inf, 0, place)
    for number in range(SECTORS):
        # Side 0 faces the attacker; the others alternate left and right.
        side = (number + 1) // 2 * (1 if number % 2 else -1)
        angle = turn + side * math.tau / SECTORS
        end = (place[0] + radius_m * math.cos(angle), place[1] + radius_m * math.sin(angle))
        steps = np.linspace(0.2, 1.0, 8)[:, None]
        cells = area.cells_of(np.asarray(place) + steps * (np.asarray(end) - np.asarray(place)))
        if (cells < 0).any():
            continue
        danger = float(picture["threat"].reshape(-1)[cells].sum()) if "threat" in picture.names else 0.0
        if (round(danger, 3), number) < best[:2]:
            best = (round(danger, 3), number, end)
    return best[2]


DETOUR_SHARE = 0.5
"""Largest detour over a narrow place, as a share of the distance to the enemy; places beyond it are ignored."""
FROM_HOME = 0.25
"""Weight of a metre from home relative to a metre of detour: support must reach the place."""


def best_narrow_place(
    places: Iterable[Place], defenses: Iterable[DefenseReport], base: Place, enemy_base: Place | None,
    reach_m: float, farthest_m: float,
) -> Place | None:
    """Return the narrow place for the next defense: between the bases, near home, held by few defenses.

    While the enemy's base is unknown, the place nearest to home, at most ``farthest_m`` from it.

    Returns:
        The best place, on a tie the first; None if no place lies between the bases.

    >>> best_narrow_place([(50, 0), (20, 0), (25, 90)], [], (0, 0), (100, 0), 10, 100)
    (20, 0)
    """
    standing = list(defenses)

    def cost(place: Place) -> float:
        held = sum(math.dist(one.place, place) <= reach_m for one in standing)
        return _worth_m(place, base, enemy_base, farthest_m) * (1 + held)

    best = min(places, key=cost, default=None)
    return None if best is None or cost(best) == math.inf else best


def _worth_m(place: Place, base: Place, enemy_base: Place | None, farthest_m: float) -> float:
    """Return the cost of holding a place (m), ``inf`` for a place that is not worth holding."""
    home_m = math.dist(place, base)
    if enemy_base is None:
        return 1 + home_m if home_m <= farthest_m else math.inf
    between_m, there_m = math.dist(base, enemy_base), math.dist(place, enemy_base)
    detour_m = home_m + there_m - between_m
    if home_m >= there_m or detour_m > DETOUR_SHARE * between_m:
        return math.inf
    return 1 + detour_m + FROM_HOME * home_m


Claim = Literal["ours", "theirs", "contested"]
"""Side that will take a site: the nearer one, or contested in between."""
CONTESTED_SHARE = 0.15
"""Width of the contested zone halfway between both bases, as a share of the sum of both distances."""


class ResourceSite(NamedTuple):
    """A site with resources.

    Attributes:
        place: center of the site (m).
        amount: resources in the cell and around it.
        claim: side that will take the site.
        danger: threat at the site.
    """

    place: tuple[float, float]
    amount: float
    claim: Claim
    danger: float


def find_resource_sites(
    area: MapArea, resources: NDArray[np.float32], threat: NDArray[np.float32],
    own_base: tuple[float, float], enemy_base: tuple[float, float] | None, *,
    most: int = 16, apart_m: float = 8.0,
) -> list[ResourceSite]:
    """Return the ``most`` richest sites, richest first; all are "ours" while the enemy's base is unknown.

    With too few, rich distant sites hide poor ones near home.

    Cost: O(cells × places).
    Source: 003_designing_ai_for_games, resource maps.
    """
    reach = max(1, round(finite_number("apart_m", apart_m, above=0) / area.cell_m))
    sites = []
    for cell in best_cells(resources, most, apart_cells=reach, above=0.0).tolist():
        place = area.center_of(cell)
        near = area.cells_within(place, apart_m / 2)
        amount = float(resources.reshape(-1)[near].sum(dtype=np.float64))
        sites.append(ResourceSite(place, amount, _claim(place, own_base, enemy_base), float(threat.flat[cell])))
    return sorted(sites, key=lambda site: (-site.amount, area.cell_at(site.place)))


def _claim(place: tuple[float, float], own_base: tuple[float, float], enemy_base: tuple[float, float] | None) -> Claim:
    if enemy_base is None:
        return "ours"
    own_m, enemy_m = math.dist(place, own_base), math.dist(place, enemy_base)
    share = enemy_m / max(own_m + enemy_m, 1e-9)
    if abs(share - 0.5) <= CONTESTED_SHARE / 2:
        return "contested"
    return "ours" if share > 0.5 else "theirs"


__all__ = [
    "Claim", "Defenses", "ResourceSite", "analyze_defenses", "best_narrow_place", "find_resource_sites",
    "force_of_sightings",
]
