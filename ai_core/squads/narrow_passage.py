"""Narrow passages: a formation that does not fit through goes in a column, and opens again behind."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.march_path import MarchPath
from ai_core.squads.marching_shape import MarchingShape

__all__ = ["NarrowPassage"]

Floats = NDArray[np.float64]

OPENS_AT = 1.2
"""How much wider than it must be the ground has to be for a column to open again."""

LOOKS_AHEAD = 3.0
"""How far before a narrow part a column forms, in spacings; sooner looks timid, later they queue."""


class NarrowPassage:
    """Tells when a formation must go in a column.

    Attributes:
        is_in_column: whether it does now.
    """

    def __init__(self) -> None:
        self.is_in_column = False

    def looks_to(self, anchor_m: float, shape: MarchingShape) -> float:
        """Return up to which arc the width must be known (m)."""
        return anchor_m + shape.ahead_m + (LOOKS_AHEAD + 1) * shape.spacing_m

    def offsets(self, anchor_m: float, path: MarchPath, shape: MarchingShape) -> Floats:
        """Return the offsets to march with: those of the formation, or of a column.

        Cost: O(samples of the path between the hindmost and as far as is looked ahead).
        """
        # Who is still inside when it opens comes out in file all the same: lanes are narrow there.
        ahead_m = self.looks_to(anchor_m, shape) - shape.spacing_m
        width = path.narrowest(anchor_m + shape.behind_m, ahead_m) if path.has_walls else math.inf
        if width == math.inf or shape.needed_m == 0:
            self.is_in_column = False
            return shape.offsets
        self.is_in_column = width < shape.needed_m * (OPENS_AT if self.is_in_column else 1.0)
        return shape.column if self.is_in_column else shape.offsets
