"""A frame of the city, with as many people open among many inhabitants as among few."""
from __future__ import annotations

import math
import time

from ai_core.budget import Budget
from demo_project.scenarios.city import City, Plot, build
from tools.benchmarking.declarations import Case, Contest

FRAMES = 60
FEW = 10_000
BUDGET_US = 1e6


def frames_of_city(n: int) -> Contest:
    """60 frames of n inhabitants beside 60 of 10,000, one block of 250 people open in both."""
    many, few = _city(n), _city(FEW)
    return Contest(
        _frames(many), {f"{FEW:,} inhabitants": _frames(few)},
        complaint=lambda: _lost(many, n) or _lost(few, FEW),
    )


def _city(inhabitants: int) -> City:
    city = build(1, inhabitants=inhabitants)
    for _ in range(5):  # until everybody has heard the rumour: then frames are alike
        _frames(city)()
    return city


def _frames(city: City) -> Case:
    """Stay in one place; a budget of time, as in a game, that is never spent."""
    place = _middle_of_a_block(city.towns[0])

    def frames() -> int:
        for _ in range(FRAMES):
            city.place = place
            city.step(Budget.of_time(BUDGET_US, time.perf_counter_ns))
        return city.observe()["people"]  # type: ignore[no-any-return]

    return frames


def _middle_of_a_block(plot: Plot) -> list[float]:
    while plot.blocks > 1:
        plot = plot.parts()[4] if len(plot.parts()) > 4 else plot.parts()[0]
    return [plot.west_m + plot.side_m / 2, plot.north_m + plot.side_m / 2]


def _lost(city: City, inhabitants: int) -> str:
    seen = city.observe()
    if seen["inhabitants"] != inhabitants + 1:
        return f"{seen['inhabitants']} of {inhabitants + 1} inhabitants are left"
    if not 249 <= seen["people"] <= 251:
        return f"{seen['people']} people are open, not one block of 250"
    wealth = city.total("wealth")
    return "" if math.isclose(wealth, 30.0 * inhabitants + 4000.0, rel_tol=1e-9) else f"{wealth} in all"
