"""Battle forecast: both forces fire at the units they can hit until one force is destroyed."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ai_core.squads.capabilities import Capabilities, Force, check_force

__all__ = ["BattleForecast", "forecast", "forecast_each"]

STEPS = 24
"""Steps of a simulated battle (count). Fewer steps blur which kind of unit is destroyed first."""

SHARE_PER_STEP = 0.12
"""Share of the weaker side that is destroyed in a step; all of it within ``STEPS``."""

GONE = 0.02
"""Share of its toughness below which a force counts as destroyed."""


class BattleForecast(NamedTuple):
    """Expected result of a battle.

    Attributes:
        own_left: share of the own toughness that is left, 0 to 1.
        other_left: share of the other force's toughness that is left, 0 to 1.
        ratio: the result as a power ratio: by Lanchester's square law, equal units in this ratio of
            numbers would end the same. 1 is even; at most 1000.
    """

    own_left: float
    other_left: float
    ratio: float


def forecast(own: Force, other: Force) -> BattleForecast:
    """Return the expected result of a battle between two forces, ignoring ground, range and skill.

    Each unit spreads its fire over the units it can hit, by their numbers, and healers add toughness
    to their whole side. Unlike ``power_ratio`` the forecast accounts for the order of losses: flying
    units are safe once all archers are dead.

    Raises:
        TypeError: if ``own`` or ``other`` is not a Force.

    Cost: O(rows of one × rows of the other), about 0.4 ms.

    >>> from ai_core.squads.capabilities import Capabilities
    >>> ram = Capabilities("ground", attack={"ground": 24.0}, toughness=240.0)
    >>> flyer = Capabilities("air", attack={"ground": 10.0}, toughness=100.0)
    >>> forecast(Force([(ram, 10)]), Force([(flyer, 5)])).own_left
    0.0
    """
    check_force("own", own)
    check_force("other", other)
    return forecast_each([own], other)[0]


def forecast_each(owns: Sequence[Force], other: Force) -> list[BattleForecast]:
    """Return the forecast of each force against the same opponent.

    Cost: O(forces × rows × rows of the other); several forces take little longer than one.
    """
    if not owns:
        return []
    units = list(dict.fromkeys(one for force in (*owns, other) for one, _ in force.rows))
    attack = np.array([[one.attack.get(to.kind, 0.0) for to in units] for one in units]).reshape(len(units), len(units))
    healing_factor = np.array([_healing_factor(force) for force in (*owns, *[other] * len(owns))])[:, None]
    toughness = np.array([one.toughness for one in units])[None] * healing_factor
    hits = (attack > 0).astype(np.float64).T
    # One row per side and battle, first all own forces, then the opponent in each; one column per unit.
    left = np.array([_counts(force, units) for force in (*owns, *[other] * len(owns))]) * toughness
    whole = np.maximum(left.sum(axis=1), 1e-9)
    against = np.roll(np.arange(len(left)), len(owns))
    for _ in range(STEPS):
        met = left[against]
        spread = left / toughness / np.maximum(met @ hits, 1e-12)
        damage = met * (spread @ attack)
        is_open = (left.sum(axis=1) >= GONE * whole) & (met.sum(axis=1) >= GONE * whole[against])
        share = np.where(is_open, damage.sum(axis=1) / whole[against], 0.0)
        fastest = np.maximum(share, share[against])
        if not fastest.any():
            break
        passed = np.divide(SHARE_PER_STEP, fastest, out=np.zeros_like(fastest), where=fastest > 0)
        left = np.maximum(left - (damage * passed[:, None])[against], 0.0)
    shares = left.sum(axis=1) / whole
    shares = np.where(shares < GONE, 0.0, shares).tolist()
    return [
        BattleForecast(own, met_left, _ratio(own, met_left))
        for own, met_left in zip(shares[:len(owns)], shares[len(owns):], strict=True)]


def _healing_factor(force: Force) -> float:
    """Return the factor by which healing raises the toughness of every unit of a force."""
    unhealed = sum(count * one.toughness for one, count in force.rows)
    return force.toughness / unhealed if force.heals else 1.0


def _counts(force: Force, units: list[Capabilities]) -> list[float]:
    counts = dict.fromkeys(units, 0.0)
    counts.update(force.rows)
    return list(counts.values())


def _ratio(own_left: float, other_left: float) -> float:
    lead = own_left - other_left
    if lead >= 0:
        return min(1000.0, 1 / math.sqrt(max(1e-6, 1 - lead * lead)))
    return math.sqrt(max(1e-6, 1 - lead * lead))

