"""What both sides of the skirmish can make: six kinds of unit, two buildings; each fears another."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ai_core.squads.capabilities import Capabilities
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree


@dataclass(frozen=True)
class UnitType:
    """A kind of unit, as the game knows it; ``product`` is what a strategist knows of it."""

    product: Product
    speed_m_s: float
    sight_m: float
    range_m: float
    hit_points: float
    attack: tuple[float, float]
    """Damage a second, to what is on the ground and in the air."""
    is_air: bool = False


def _fighter(
    name: str, cost: float, speed_m_s: float, range_m: float, hit_points: float, ground: float, air: float,
    *, is_air: bool = False, requires: tuple[str, ...] = (),
) -> UnitType:
    attack = {kind: damage for kind, damage in (("ground", ground), ("air", air)) if damage}
    capabilities = Capabilities("air" if is_air else "ground", attack=attack, toughness=hit_points, range_m=range_m)
    product = Product(name, cost, requires, capabilities)
    return UnitType(product, speed_m_s, 12.0, range_m, hit_points, (ground, air), is_air)


UNITS = (
    UnitType(Product("worker", 50.0, gathers=True), 3.0, 9.0, 0.0, 40.0, (0.0, 0.0)),
    UnitType(Product("scout", 40.0), 7.0, 18.0, 0.0, 30.0, (0.0, 0.0)),
    _fighter("spear", 60.0, 3.5, 2.0, 100.0, 10.0, 0.0),
    _fighter("bow", 60.0, 3.5, 8.0, 60.0, 5.0, 16.0),
    _fighter("ram", 120.0, 2.5, 3.0, 240.0, 24.0, 0.0, requires=("foundry",)),
    _fighter("flyer", 110.0, 5.0, 5.0, 110.0, 13.0, 3.0, is_air=True, requires=("aerie",)),
)
"""In the order of their numbers."""

WORKER, SCOUT = 0, 1
FIGHTERS = (2, 3, 4, 5)
BUILDINGS = (Product("foundry", 200.0), Product("aerie", 200.0))
NUMBER = {one.product.name: number for number, one in enumerate(UNITS)}

SPEED_M_S = np.array([one.speed_m_s for one in UNITS], np.float32)
SIGHT_M = np.array([one.sight_m for one in UNITS], np.float32)
RANGE_M = np.array([one.range_m for one in UNITS], np.float32)
HIT_POINTS = np.array([one.hit_points for one in UNITS], np.float32)
COST = np.array([one.product.cost for one in UNITS], np.float32)
IS_AIR = np.array([one.is_air for one in UNITS])
ATTACK = np.array([[by.attack[int(to.is_air)] for to in UNITS] for by in UNITS], np.float32)
"""Damage per second, by the kinds of the attacker and of the attacked unit."""

TREE = TechnologyTree([*(one.product for one in UNITS), *BUILDINGS])
OPENING = BuildOrder([("worker", 6), ("scout", 2)], TREE)
