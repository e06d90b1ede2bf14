"""How a battle would end: both forces fire at what they can hit, until one of them is gone."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ai_core.squads.capabilities import Capabilities, Force, check_force

__all__ = ["BattleForecast", "forecast", "forecasts"]

STEPS = 24
"""Steps in which a battle is worked out (count). Fewer blur which kind falls first."""

SHARE_PER_STEP = 0.12
"""Of the weaker side, about what falls in a step; all of it within the steps."""

GONE = 0.02
"""Share of a force that is as good as none."""


class BattleForecast(NamedTuple):
    """How a battle would end.

    Attributes:
        own_left: share of our toughness that is left, 0 to 1.
        other_left: share of theirs.
        ratio: what that means as a ratio of power: by Lanchester's square law, numbers in this ratio of
            equal units would end so. 1 is even; at most 1000.
    """

    own_left: float
    other_left: float
    ratio: float


def forecast(own: Force, other: Force) -> BattleForecast:
    """Return how a battle between two forces would end, without ground, ranges and cleverness.

    Each unit spreads its fire over those it can hit, by their numbers, and healers make all of their side
    tougher. Unlike ``power_ratio``
    it sees that who kills your archers first is safe in the air.

    Cost: O(rows of one × rows of the other), some 0.4 ms.

    >>> from ai_core.squads.capabilities import Capabilities
    >>> ram = Capabilities("ground", attack={"ground": 24.0}, toughness=240.0)
    >>> flyer = Capabilities("air", attack={"ground": 10.0}, toughness=100.0)
    >>> forecast(Force([(ram, 10)]), Force([(flyer, 5)])).own_left
    0.0
    """
    check_force("own", own)
    check_force("other", other)
    return forecasts([own], other)[0]


def forecasts(owns: Sequence[Force], other: Force) -> list[BattleForecast]:
    """Return how each of some forces would fare against the same opponent.

    Cost: O(forces × rows × rows of the other); many take little longer than one.
    """
    if not owns:
        return []
    units = list(dict.fromkeys(one for force in (*owns, other) for one, _ in force.rows))
    attack = np.array([[one.attack.get(to.kind, 0.0) for to in units] for one in units]).reshape(len(units), len(units))
    mended = np.array([_mended(force) for force in (*owns, *[other] * len(owns))])[:, None]
    toughness = np.array([one.toughness for one in units])[None] * mended
    hits = (attack > 0).astype(np.float64).T
    # One row a side and battle: all of ours, then all of theirs; a column a kind of unit.
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
        for own, met_left in zip(shares[:len(owns)], shares[len(owns):], strict=True)
    ]


def _mended(force: Force) -> float:
    """Return how much tougher what is healed meanwhile makes everybody of a force."""
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

