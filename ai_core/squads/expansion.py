"""Where to expand, where the enemy will, and where both will clash: read from the resource map."""
from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_questions import best_cells

__all__ = ["Claim", "ResourceSite", "resource_sites"]

Claim = Literal["ours", "theirs", "contested"]
"""Who will take a site: it is near to one, or between both."""

CONTESTED_SHARE = 0.15
"""How far from the middle between both bases a site is still contested, as a share of both ways."""


class ResourceSite(NamedTuple):
    """A place with resources.

    Attributes:
        place: its middle (m).
        amount: what is there, in the cell and around it.
        claim: who will take it.
        danger: the threat there.
    """

    place: tuple[float, float]
    amount: float
    claim: Claim
    danger: float


def resource_sites(
    area: MapArea, resources: NDArray[np.float32], threat: NDArray[np.float32],
    own_base: tuple[float, float], enemy_base: tuple[float, float] | None, *,
    most: int = 16, apart_m: float = 8.0,
) -> list[ResourceSite]:
    """Return the richest places, richest first.

    Args:
        area: where the map lies.
        resources: (height, width), what is known of them.
        threat: (height, width).
        own_base: where we live (m).
        enemy_base: where they live, None if nobody knows; then all is ours.
        most: places at most; too few, and rich ones far away hide the poor ones at home.
        apart_m: what is nearer than this to a place counts as one with it (m).

    Raises:
        TypeError, ValueError: if an argument is of another type or out of range.

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


def _claim(
    place: tuple[float, float], own_base: tuple[float, float], enemy_base: tuple[float, float] | None
) -> Claim:
    if enemy_base is None:
        return "ours"
    own_m, enemy_m = math.dist(place, own_base), math.dist(place, enemy_base)
    share = enemy_m / max(own_m + enemy_m, 1e-9)
    if abs(share - 0.5) <= CONTESTED_SHARE / 2:
        return "contested"
    return "ours" if share > 0.5 else "theirs"
