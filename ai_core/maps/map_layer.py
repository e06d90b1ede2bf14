"""Definition of a decision map layer: how its values are written, fade, grow and spread."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ai_core.errors import check_type, checked_name, finite_number, shown, whole_number

__all__ = ["LARGEST_VALUE", "MOST_BLUR_PASSES", "MapLayer", "Writes", "standard_layers"]

Writes = Literal["sum", "latest"]
"""How a written value changes a cell: "sum" adds it, "latest" replaces the value."""

LARGEST_VALUE = 1e9
"""Largest value of a cell (no unit). Above it, sums over the cells of a map lose digits."""

MOST_BLUR_PASSES = 64
"""Largest number of blur passes (count): each widens by one cell, and 64 take 64 times as long as one."""


@dataclass(frozen=True, slots=True)
class MapLayer:
    """Definition of one layer. Its values are 0 or more.

    Attributes:
        name: unique within the map.
        writes: "sum" adds a written value to the cell; "latest" replaces the cell's value, and
            the last of several writes into a cell counts.
        initial: first value of every cell, 0 to ``max_value``.
        kept_per_s: share of a value kept per second, 0 to 1; 0 clears the layer at every update.
        grows_per_s: growth of every cell per second, 0 to LARGEST_VALUE; 1 makes values ages (s).
        max_value: largest value of a cell, above 0.
        kept_per_m: share kept per metre when values spread along cells and around walls, 0 to
            below 1; the strongest value that reaches a cell counts. 0 disables spreading.
        blur_passes: number of times the snapshot is smoothed, 0 or more; the sum of all cells is kept.
        blur_stops_at_walls: True if the walls of the map also stop the blur.

    Raises:
        TypeError, ValueError: if a value has the wrong type or is out of range.
    """

    name: str
    writes: Writes = "sum"
    initial: float = 0.0
    kept_per_s: float = 1.0
    grows_per_s: float = 0.0
    max_value: float = LARGEST_VALUE
    kept_per_m: float = 0.0
    blur_passes: int = 0
    blur_stops_at_walls: bool = False

    def __post_init__(self) -> None:
        checked_name("name of a layer", self.name)
        where = f"layer {self.name!r}: "
        if self.writes not in ("sum", "latest"):
            raise ValueError(f"{where}writes must be 'sum' or 'latest', got {shown(self.writes)}")
        finite_number(f"{where}max_value", self.max_value, above=0, maximum=LARGEST_VALUE)
        finite_number(f"{where}initial", self.initial, minimum=0, maximum=self.max_value)
        finite_number(f"{where}kept_per_s", self.kept_per_s, minimum=0, maximum=1)
        finite_number(f"{where}grows_per_s", self.grows_per_s, minimum=0, maximum=LARGEST_VALUE)
        if finite_number(f"{where}kept_per_m", self.kept_per_m, minimum=0) >= 1:
            raise ValueError(f"{where}kept_per_m must be below 1, got {self.kept_per_m!r}; use 0 to disable spreading")
        whole_number(f"{where}blur_passes", self.blur_passes, minimum=0, maximum=MOST_BLUR_PASSES)
        check_type(f"{where}blur_stops_at_walls", self.blur_stops_at_walls, bool)


def standard_layers() -> tuple[MapLayer, ...]:
    """Return the layers that a strategist reads, as a starting point for custom layers.

    Resources and objectives keep the last seen value; conflict accumulates and fades within
    a minute; threat, friends and visibility are rewritten for every update; exploration is
    the time since a cell was last seen (s).

    Source: 003_designing_ai_for_games, decision maps.
    """
    return (
        MapLayer("resources", writes="latest"),
        MapLayer("objectives", writes="latest"),
        MapLayer("conflict", kept_per_s=0.95, blur_passes=2),
        MapLayer("threat", kept_per_s=0.0, kept_per_m=0.9),
        MapLayer("friends", kept_per_s=0.0, kept_per_m=0.9),
        MapLayer("visibility", kept_per_s=0.0),
        MapLayer("exploration", writes="latest", initial=600.0, max_value=600.0, grows_per_s=1.0))
