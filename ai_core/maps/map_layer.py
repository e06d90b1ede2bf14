"""What one layer of a decision map is about, and how it changes by itself."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ai_core.errors import finite_number, shown, whole_number

__all__ = ["LARGEST_VALUE", "MOST_BLUR_PASSES", "MapLayer", "Writes", "standard_layers"]

Writes = Literal["sum", "latest"]
"""What becomes of what is written into a cell: it is added, or put in the place of what is there."""

LARGEST_VALUE = 1e9
"""Largest value of a cell (no unit). Beyond it sums of a map's cells lose digits."""

MOST_BLUR_PASSES = 64
"""Most blurs in a row (count): each widens by one cell, and 64 take 64 times the time of one."""


@dataclass(frozen=True, slots=True)
class MapLayer:
    """A layer by name. Its values are 0 or more.

    Attributes:
        name: unlike those of the other layers.
        writes: "sum" adds what is written to what is there; "latest" puts it in
            its place, and of several writes into a cell the last one counts.
        initial: what every cell begins with, 0 to ``most``.
        kept_per_s: share kept per second, 0 to 1; 0 forgets all at every update.
        grows_per_s: what every cell gains in a second, 0 to LARGEST_VALUE: 1 makes an age.
        most: no cell holds more, above 0.
        kept_per_m: how far it spreads: share kept per metre, 0 to below 1, of the
            strongest that reaches a cell, along the cells and round walls; 0 does not.
        blur_passes: how often the picture is smoothed, 0 or more; the total stays.
        blur_stops_at_walls: whether walls hold up the blur, too, where the map has any.

    Raises:
        TypeError, ValueError: if a value is of another type or out of range.
    """

    name: str
    writes: Writes = "sum"
    initial: float = 0.0
    kept_per_s: float = 1.0
    grows_per_s: float = 0.0
    most: float = LARGEST_VALUE
    kept_per_m: float = 0.0
    blur_passes: int = 0
    blur_stops_at_walls: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name of a layer must be text, got {shown(self.name)}")
        where = f"layer {self.name!r}: "
        if self.writes not in ("sum", "latest"):
            raise ValueError(f"{where}writes must be 'sum' or 'latest', got {shown(self.writes)}")
        finite_number(f"{where}most", self.most, above=0, maximum=LARGEST_VALUE)
        finite_number(f"{where}initial", self.initial, minimum=0, maximum=self.most)
        finite_number(f"{where}kept_per_s", self.kept_per_s, minimum=0, maximum=1)
        finite_number(f"{where}grows_per_s", self.grows_per_s, minimum=0, maximum=LARGEST_VALUE)
        if finite_number(f"{where}kept_per_m", self.kept_per_m, minimum=0) >= 1:
            raise ValueError(f"{where}kept_per_m must be below 1, got {self.kept_per_m!r}; 0 does not spread")
        whole_number(f"{where}blur_passes", self.blur_passes, minimum=0, maximum=MOST_BLUR_PASSES)


def standard_layers() -> tuple[MapLayer, ...]:
    """Return the layers that a strategist reads, as a start for your own.

    Resources and objectives are as they were seen last; conflict adds up and is
    forgotten within a minute; threat and friends are written anew for every
    update; visibility too; exploration is the time since a cell was seen (s).

    Source: 003_designing_ai_for_games, decision maps.
    """
    return (
        MapLayer("resources", writes="latest"),
        MapLayer("objectives", writes="latest"),
        MapLayer("conflict", kept_per_s=0.95, blur_passes=2),
        MapLayer("threat", kept_per_s=0.0, kept_per_m=0.9),
        MapLayer("friends", kept_per_s=0.0, kept_per_m=0.9),
        MapLayer("visibility", kept_per_s=0.0),
        MapLayer("exploration", writes="latest", initial=600.0, most=600.0, grows_per_s=1.0),
    )
