"""Occlusion of sounds and smells: the share that passes through materials."""
from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.errors import named, shares_by_name, shown

__all__ = ["Between", "Materials", "checked_shares"]

Between = Callable[[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32], str], "NDArray[np.float64] | None"]
"""Callable that takes many lines (from (n, 3), to (n, 3), sensor ids (n,), name of the modality) and
returns the share of the intensity that passes the obstacles on each: (n,), 0 to 1. None: all of it.
"""


class Materials(Described):
    """Shares of the intensity that pass through materials.

    Args:
        kept: share by material name, 0 (blocks all) to 1 (blocks nothing).

    Raises:
        TypeError: if it is not a mapping of names to numbers.
        ValueError: if a share is out of range.

    >>> walls = Materials({"brick": 0.1, "wood": 0.5})
    >>> walls.through("wood", "wood")
    0.25
    """

    def __init__(self, kept: Mapping[str, float]) -> None:
        self._kept = shares_by_name("kept", kept)

    def through(self, *materials: str) -> float:
        """Return the share that passes through all these materials: of a line, or of a wall in a sense graph.

        Raises:
            UnknownNameError: if a material is unknown.
        """
        share = 1.0
        for name in materials:
            share *= named("material", name, self._kept)
        return share


def checked_shares(shares: object, wanted: int) -> list[float]:
    """Return the answer of a ``Between`` as plain numbers."""
    if shares is None:
        return [1.0] * wanted
    array = np.asarray(shares)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"occlusion must return an array of numbers or None, got {shown(shares)}")
    if array.shape != (wanted,):
        raise ValueError(f"occlusion must return shape ({wanted},), one element per line, got {array.shape}")
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"occlusion must return shares from 0 to 1, got {shown(array.tolist())}")
    kept: list[float] = array.astype(np.float64).tolist()
    return kept
