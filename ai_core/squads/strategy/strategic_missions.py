"""Missions of squads in each posture of a strategist."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.squads.strategy.strategic_situation import EnemyReport, Mission, Place, SquadReport, StrategicSituation
from ai_core.squads.strategy.territory import Defenses, ResourceSite

if TYPE_CHECKING:
    from ai_core.squads.strategy.strategist import Strategist


THREAT_WEIGHT_S = 20.0
"""Additional age that a cell needs for each unit of threat there (s)."""
APART_SHARE = 0.2
"""Least distance between goals of scouts, as a share of the map's longer side."""


def choose_scout_goals(
    area: MapArea, ages_s: NDArray[np.float32], threat: NDArray[np.float32],
    scouts: Mapping[int, tuple[float, float]], *, stale_after_s: float, seconds_per_m: float = 0.5,
    is_open: NDArray[np.bool_] | None = None,
) -> dict[int, tuple[float, float]]:
    """Return a goal for each scout by id; scouts without a stale cell to look at are left out.

    Each scout, by ascending id, gets the cell with the largest age less travel time and threat; goals
    keep apart from each other. On a tie the cell with the smallest number is taken.

    Args:
        area: area of the map.
        ages_s: time since each cell was seen, shape (height, width) (s).
        threat: threat of each cell, shape (height, width), 0 or more.
        scouts: positions by scout id (m).
        stale_after_s: least age of a goal (s), 0 or more.
        seconds_per_m: travel time per metre (s/m).
        is_open: cells that can be entered, shape (height, width); None for all.

    Raises:
        TypeError, ValueError: if ``stale_after_s`` is out of range.

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
        way_m = np.hypot(*np.moveaxis(middles - np.asarray(scouts[scout], np.float32), 2, 0))
        wanted = np.where(is_stale, worth - np.float32(seconds_per_m) * way_m, -np.inf)
        cell = int(wanted.argmax())
        goals[scout] = area.center_of(cell)
        is_stale = is_stale & (np.hypot(*np.moveaxis(middles - np.asarray(goals[scout], np.float32), 2, 0)) >= apart_m)
    return goals


Objective = tuple[EnemyReport, Defenses]
RALLY_SHARE = 0.15
"""Position where the army waits, as a share of the distance from home to the expected enemy."""
STAGING_SHARE, STAGED_SHARE = 1.3, 0.75
"""Distance from the objective at which the army gathers before an attack, as a share of the home radius, and the
share of the army that must be there; squads that arrive one by one are beaten one by one."""
REACHED_SHARE = 0.3
"""Distance at which a squad has reached the flank, as a share of the home radius."""


def plan_missions(
    strategist: Strategist, situation: StrategicSituation, sites: list[ResourceSite],
    objective: Objective | None, intruders: list[EnemyReport],
) -> list[Mission]:
    """Return the missions, sorted by squad id; idle squads have none.

    Cost: O(cells × scouts + squads × sites).
    """
    missions = [*_scouting(strategist, situation), *_gathering(situation, sites)]
    army = sorted(one for one in situation.squads if one.role == "army" and one.force.count)
    if army:
        missions += _of_army(strategist, situation, army, sites, objective, intruders)
    return sorted(missions)


def _scouting(strategist: Strategist, situation: StrategicSituation) -> list[Mission]:
    """Send scouts that are idle, or whose goal has been seen in the meantime."""
    personality, picture = strategist.personality, situation.picture
    scouts = sorted(one for one in situation.squads if one.role == "scouts")[:personality.max_scouts]
    ages = picture["exploration"]
    kept: dict[int, Place] = {}
    for one in scouts:
        goal = strategist.scouting.get(one.id)
        if goal is not None and not one.is_idle and (
            float(ages.flat[picture.area.cell_at(goal)]) >= personality.stale_after_s / 2
        ):
            kept[one.id] = goal
    free = {one.id: one.place for one in scouts if one.id not in kept}
    found = choose_scout_goals(picture.area, ages, picture["threat"], free, stale_after_s=personality.stale_after_s,
                        is_open=situation.is_open) if free else {}
    strategist.scouting = {**kept, **found}
    return [
        Mission(number, "scout", place, f"not seen for {ages.flat[picture.area.cell_at(place)]:.0f} s")
        for number, place in strategist.scouting.items()
    ]


def _gathering(situation: StrategicSituation, sites: list[ResourceSite]) -> list[Mission]:
    """Spread gatherers over sites: own before contested, near before far, safe before dangerous."""
    left = {site.place: site.amount for site in sites}
    missions = []
    for one in sorted(squad for squad in situation.squads if squad.role == "gatherers"):
        def worth(site: ResourceSite, squad: SquadReport = one) -> float:
            claim = {"ours": 1.0, "contested": 0.4, "theirs": 0.1}[site.claim]
            way_m = math.dist(site.place, situation.base) + 0.5 * math.dist(site.place, squad.place)
            return claim * left[site.place] / (1 + way_m / 20) / (1 + site.danger)
        best = max(sites, key=worth, default=None)
        if best is None:
            continue
        left[best.place] *= 0.6
        missions.append(Mission(one.id, "gather", best.place, f"{best.amount:.0f} resources, {best.claim}"))
    return missions


def _of_army(
    strategist: Strategist, situation: StrategicSituation, army: list[SquadReport], sites: list[ResourceSite],
    objective: Objective | None, intruders: list[EnemyReport],
) -> list[Mission]:
    posture = strategist.posture
    if posture == "defending" and intruders:
        return [_defending(situation, one, intruders) for one in army]
    if posture == "retreating":
        return [Mission(one.id, "retreat", situation.base, "the attack failed") for one in army]
    if posture == "attacking" and objective is not None:
        return _attacking(strategist, situation, army, objective)
    if objective is None and situation.now_s >= strategist.search_after_s and posture == "building":
        return _searching(situation, army)
    place = _rally(situation, sites, objective)
    return [Mission(one.id, "regroup", place, "gathers for the next attack") for one in army]


def _defending(situation: StrategicSituation, squad: SquadReport, intruders: list[EnemyReport]) -> Mission:
    """Send a squad against the intruder nearest to home that it can hit, or the nearest if it can hit none."""
    hit = [one for one in intruders if one.capabilities is not None and squad.force.can_hit(one.capabilities.kind)]
    nearest = min(hit or intruders, key=lambda one: (math.dist(one.place, situation.base), one.id))
    return Mission(squad.id, "defend", nearest.place, f"enemy {nearest.id} is near home")


def _attacking(
    strategist: Strategist, situation: StrategicSituation, army: list[SquadReport], objective: Objective
) -> list[Mission]:
    target, defenses = objective
    stay = round(0.25 * strategist.personality.caution * len(army)) if len(army) > 2 else 0
    guards = sorted(army, key=lambda one: (math.dist(one.place, situation.base), one.id))[:stay]
    missions = [Mission(one.id, "defend", situation.base, "guards home") for one in guards]
    army = [one for one in army if one not in guards]
    if strategist.is_staging:
        if strategist.staging is None:
            away_m = STAGING_SHARE * strategist.home_radius_m
            strategist.staging = _on_open_ground(situation, _towards(target.place, _middle(army), away_m))
        staging = strategist.staging
        there = sum(one.force.count for one in army if math.dist(one.place, staging) <= strategist.home_radius_m / 2)
        strategist.is_staging = there < STAGED_SHARE * sum(one.force.count for one in army)
        if strategist.is_staging:
            return missions + [Mission(one.id, "regroup", staging, "gathers before the attack") for one in army]
    approach = _on_open_ground(situation, defenses.approach)
    for one in army:
        if strategist.tactic == "flank" and one.id not in strategist.flanked:
            if math.dist(one.place, approach) > REACHED_SHARE * strategist.home_radius_m:
                missions.append(Mission(one.id, "attack", approach, "approaches from the weakest side"))
                continue
            strategist.flanked.add(one.id)
        missions.append(Mission(
            one.id, "attack", target.place, f"{strategist.tactic} attack, ratio {defenses.ratio:.2f}"))
    return missions


def _middle(army: list[SquadReport]) -> Place:
    count = sum(one.force.count for one in army)
    return (sum(one.place[0] * one.force.count for one in army) / count,
            sum(one.place[1] * one.force.count for one in army) / count)


def _towards(place: Place, other: Place, away_m: float) -> Place:
    """Return the position ``away_m`` from one position towards another, but not beyond it."""
    apart_m = math.dist(place, other)
    share = min(1.0, away_m / apart_m) if apart_m > 0 else 0.0
    return (place[0] + share * (other[0] - place[0]), place[1] + share * (other[1] - place[1]))


def _searching(situation: StrategicSituation, army: list[SquadReport]) -> list[Mission]:
    """Send all squads to the cell unseen for longest, on a tie the one farthest from home."""
    picture = situation.picture
    ages = picture["exploration"].copy()
    if situation.is_open is not None:
        ages[~situation.is_open] = -1.0
    oldest = np.flatnonzero(ages.reshape(-1) >= ages.max() - 1.0)
    away = np.hypot(*(picture.area.centers_of(oldest) - np.asarray(situation.base, np.float32)).T)
    place = picture.area.center_of(int(oldest[int(away.argmax())]))
    return [Mission(one.id, "search", place, "the enemy's position is unknown") for one in army]


def _rally(situation: StrategicSituation, sites: list[ResourceSite], objective: Objective | None) -> Place:
    """Return the position where the army waits: towards the enemy, or towards a contested site."""
    towards = objective[0].place if objective is not None else next(
        (site.place for site in sites if site.claim == "contested"), None)
    if towards is None:
        return situation.base
    (x, y), (to_x, to_y) = situation.base, towards
    return _on_open_ground(situation, (x + RALLY_SHARE * (to_x - x), y + RALLY_SHARE * (to_y - y)))


def _on_open_ground(situation: StrategicSituation, place: Place) -> Place:
    """Return an open position unchanged, else the center of the nearest open cell, on a tie the smallest number."""
    area, is_open = situation.picture.area, situation.is_open
    cell = area.cell_at(place)
    if cell != OUTSIDE and (is_open is None or is_open.flat[cell]):
        return place
    cells = np.arange(area.size) if is_open is None else np.flatnonzero(is_open)
    away = np.hypot(*(area.centers_of(cells) - np.asarray(place, np.float32)).T)
    return area.center_of(int(cells[int(away.argmin())]))


__all__ = ["choose_scout_goals", "plan_missions"]
