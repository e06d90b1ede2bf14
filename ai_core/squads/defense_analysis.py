"""How an objective is defended, and from which side to come."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ai_core.errors import finite_number
from ai_core.maps.map_picture import MapPicture
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force
from ai_core.squads.strategic_situation import EnemyReport

__all__ = ["Defenses", "analyzed_defenses", "seen_force"]

SECTORS = 8
"""Sides from which an objective can be come at (count)."""


class Defenses(NamedTuple):
    """What stands around an objective.

    Attributes:
        force: who was seen there.
        ratio: how strong an attacker is against it, ``inf`` if nobody was seen.
        age_s: how long ago the place was seen last, at its middle (s).
        conflict: what was fought there lately.
        approach: a place on the side with the least threat (m).
    """

    force: Force
    ratio: float
    age_s: float
    conflict: float
    approach: tuple[float, float]


def analyzed_defenses(
    place: tuple[float, float], radius_m: float, sightings: Iterable[EnemyReport], attacker: Force, picture: MapPicture,
    *, come_from: tuple[float, float],
) -> Defenses:
    """Return how a place is defended.

    Args:
        place: the objective (m).
        radius_m: who is within this defends it (m), above 0.
        sightings: what is known of the enemy.
        attacker: who would attack.
        picture: of the layers "threat", "conflict" and "exploration"; a layer that is not there counts as 0.
        come_from: where the attacker is (m); of sides alike the one nearest to it.

    Raises:
        TypeError, ValueError: if an argument is of another type or out of range.

    Cost: O(sightings + cells within the radius).
    Source: 003_designing_ai_for_games, objective maps.
    """
    finite_number("radius_m", radius_m, above=0)
    force = seen_force(one for one in sightings if math.dist(one.place, place) <= radius_m)
    cells = picture.area.cells_within(place, radius_m)
    age_s, conflict = 0.0, 0.0
    if "exploration" in picture.names and (middle := picture.area.cell_at(place)) >= 0:
        age_s = float(picture["exploration"].flat[middle])
    if "conflict" in picture.names:
        conflict = float(picture["conflict"].reshape(-1)[cells].sum(dtype=np.float64))
    ratio = forecast(attacker, force).ratio if force.count else math.inf
    return Defenses(force, ratio, age_s, conflict, _approach(place, radius_m, picture, come_from))


def seen_force(sightings: Iterable[EnemyReport]) -> Force:
    """Return the force of all that fight among sightings."""
    return Force.of_members(one.capabilities for one in sightings if one.capabilities is not None)


def _approach(
    place: tuple[float, float], radius_m: float, picture: MapPicture, come_from: tuple[float, float]
) -> tuple[float, float]:
    area = picture.area
    turn = math.atan2(come_from[1] - place[1], come_from[0] - place[0])
    best = (math.inf, 0, place)
    for number in range(SECTORS):
        # 0 from where it comes, then to both sides in turn.
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
