"""Goals of missions: scouts, gatherers, defenders, and the places where an army waits and searches."""
from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.squads.strategy.strategic_situation import EnemyReport, Mission, Place, SquadReport, StrategicSituation
from ai_core.squads.strategy.territory import Defenses, ResourceSite

THREAT_WEIGHT_S = 20.0
"""Additional age that a cell needs for each unit of threat there (s)."""
SECONDS_PER_M = 0.5
"""Assumed travel time of a scout per metre (s/m)."""
APART_SHARE = 0.2
"""Least distance between goals of scouts, as a share of the map's longer side."""


def choose_scout_goals(
    area: MapArea, ages_s: NDArray[np.float32], threat: NDArray[np.float32],
    scouts: Mapping[int, tuple[float, float]], *, stale_after_s: float, is_open: NDArray[np.bool_] | None = None,
) -> dict[int, tuple[float, float]]:
    """Return a goal for each scout by id; scouts without a stale cell to look at are left out.

    Each scout, by ascending id, gets the cell with the largest age less travel time and threat; goals
    keep apart from each other. On a tie the cell with the smallest number is taken.

    Cost: O(cells × scouts).
    """
    finite_number("stale_after_s", stale_after_s, minimum=0)
    height, width = area.shape
    middles = area.centers_of(np.arange(area.size)).reshape(height, width, 2)
    worth = ages_s - np.float32(THREAT_WEIGHT_S) * threat
    is_stale = ages_s >= np.float32(stale_after_s)
    if is_open is not None:
        is_stale = is_stale & is_open
    apart_m = APART_SHARE * max(height, width) * area.cell_m
    goals: dict[int, tuple[float, float]] = {}
    for scout in sorted(scouts):
        if not is_stale.any():
            break
        distance_m = distances_m(middles, scouts[scout])
        wanted = np.where(is_stale, worth - np.float32(SECONDS_PER_M) * distance_m, -np.inf)
        cell = int(wanted.argmax())
        goals[scout] = area.center_of(cell)
        is_stale = is_stale & (distances_m(middles, goals[scout]) >= apart_m)
    return goals


Objective = tuple[EnemyReport, Defenses]
"""An enemy position to attack, and its defenses."""
RALLY_SHARE = 0.15
"""Position where the army waits, as a share of the distance from home to the expected enemy."""


def gathering_missions(situation: StrategicSituation, sites: list[ResourceSite]) -> list[Mission]:
    """Spread gatherers over sites: own before contested, near before far, safe before dangerous."""
    left = {site.place: site.amount for site in sites}
    missions = []
    for one in sorted(squad for squad in situation.squads if squad.role == "gatherers"):
        def worth(site: ResourceSite, squad: SquadReport = one) -> float:
            claim = {"ours": 1.0, "contested": 0.4, "theirs": 0.1}[site.claim]
            distance_m = math.dist(site.place, situation.base) + 0.5 * math.dist(site.place, squad.place)
            return claim * left[site.place] / (1 + distance_m / 20) / (1 + site.danger)
        best = max(sites, key=worth, default=None)
        if best is None:
            continue
        left[best.place] *= 0.6
        missions.append(Mission(one.id, "gather", best.place, f"{best.amount:.0f} resources, {best.claim}"))
    return missions


def defending_mission(situation: StrategicSituation, squad: SquadReport, intruders: list[EnemyReport]) -> Mission:
    """Send a squad against the intruder nearest to home that it can hit, or the nearest if it can hit none."""
    hit = [one for one in intruders if one.capabilities is not None and squad.force.can_hit(one.capabilities.kind)]
    nearest = min(hit or intruders, key=lambda one: (math.dist(one.place, situation.base), one.id))
    return Mission(squad.id, "defend", nearest.place, f"enemy {nearest.id} is near home")


def middle_of(army: list[SquadReport]) -> Place:
    """Return the mean position of squads, weighted by their numbers of members."""
    count = sum(one.force.count for one in army)
    return (sum(one.place[0] * one.force.count for one in army) / count,
            sum(one.place[1] * one.force.count for one in army) / count)


def point_towards(place: Place, other: Place, away_m: float) -> Place:
    """Return the position ``away_m`` from one position towards another, but not beyond it."""
    apart_m = math.dist(place, other)
    share = min(1.0, away_m / apart_m) if apart_m > 0 else 0.0
    return (place[0] + share * (other[0] - place[0]), place[1] + share * (other[1] - place[1]))


def distances_m(places: NDArray[np.float32], place: Place) -> NDArray[np.float64]:
    """Return how far each of ``places`` is from ``place`` (m). By a square root, which no platform rounds otherwise."""
    found: NDArray[np.float64] = np.linalg.norm(np.subtract(places, place, dtype=np.float64), axis=-1)
    return found


def search_missions(situation: StrategicSituation, army: list[SquadReport]) -> list[Mission]:
    """Send all squads to the cell unseen for longest, on a tie the one farthest from home."""
    picture = situation.picture
    ages = picture["exploration"].copy()
    if situation.is_open is not None:
        ages[~situation.is_open] = -1.0
    oldest = np.flatnonzero(ages.reshape(-1) >= ages.max() - 1.0)
    away = distances_m(picture.area.centers_of(oldest), situation.base)
    place = picture.area.center_of(int(oldest[int(away.argmax())]))
    return [Mission(one.id, "search", place, "the enemy's position is unknown") for one in army]


def rally_place(situation: StrategicSituation, sites: list[ResourceSite], objective: Objective | None) -> Place:
    """Return the position where the army waits: towards the enemy, or towards a contested site."""
    towards = objective[0].place if objective is not None else next(
        (site.place for site in sites if site.claim == "contested"), None)
    if towards is None:
        return situation.base
    (x, y), (to_x, to_y) = situation.base, towards
    return on_open_ground(situation, (x + RALLY_SHARE * (to_x - x), y + RALLY_SHARE * (to_y - y)))


def on_open_ground(situation: StrategicSituation, place: Place) -> Place:
    """Return an open position unchanged, else the center of the nearest open cell, on a tie the smallest number."""
    area, is_open = situation.picture.area, situation.is_open
    cell = area.cell_at(place)
    if cell != OUTSIDE and (is_open is None or is_open.flat[cell]):
        return place
    cells = np.arange(area.size) if is_open is None else np.flatnonzero(is_open)
    away = distances_m(area.centers_of(cells), place)
    return area.center_of(int(cells[int(away.argmin())]))


__all__ = [
    "Objective", "choose_scout_goals", "defending_mission", "gathering_missions", "middle_of", "on_open_ground",
    "point_towards", "rally_place", "search_missions",
]
