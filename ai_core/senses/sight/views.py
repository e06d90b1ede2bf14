"""Clarity and visible parts of sources at the last line of sight of each pair."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.kinds import Number, Row, Whole
from ai_core.senses.modality import ByModality
from ai_core.senses.sight.pair_keys import ByPair

__all__ = ["MOST_PARTS", "VIEWS", "Views"]

MOST_PARTS = 16
"""Parts of one source (count): each costs a ray whenever the source is looked at."""


class Views:
    """By modality and pair: a factor on the intensity, and the parts seen, as bits.

    Pairs with factor 1 and all parts visible are not kept. An answer holds until the pair
    is asked again.

    Attributes:
        by_modality: by number, then key of the pair: (clarity, parts).
    """

    def __init__(self) -> None:
        self.by_modality: dict[int, dict[int, tuple[float, int]]] = {}

    def note(self, number: int, keys: list[int], clarity: list[float], parts: list[int]) -> None:
        """Keep new answers."""
        views = self.by_modality.setdefault(number, {})
        views.update(zip(keys, zip(clarity, parts, strict=True), strict=True))

    def clarity(self, number: int, keys: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return factors for pairs, 1 for those never noted; None if all are 1."""
        views = self.by_modality.get(number)
        if not views:
            return None
        plain = (1.0, 0)
        return np.array([views.get(key, plain)[0] for key in keys.tolist()])

    def parts(self, number: int, key: int) -> int | None:
        """Return the parts seen of a pair, as bits; None if it was never noted."""
        view = self.by_modality.get(number, {}).get(key)
        return None if view is None else view[1]

    def clarity_of(self, number: int, key: int, *, answer: bool) -> float:
        """Return the factor of one pair that was asked: as noted, else 1 if it was seen and 0 if not."""
        view = self.by_modality.get(number, {}).get(key)
        return float(answer) if view is None else view[0]

    def keep_only(self, number: int, keys: NDArray[np.int64]) -> None:
        """Drop pairs no longer in view, once there are more of them than others."""
        views = self.by_modality.get(number)
        if views and len(views) > 2 * len(keys) + 64:
            self.by_modality[number] = {key: views[key] for key in keys.tolist() if key in views}


VIEWS = ByModality(
    ByPair(Row(lambda *view: view, Number(0), Whole(maximum=(1 << MOST_PARTS) - 1))), at="_sources.views.by_modality")
"""How ``Views.by_modality`` is saved, by a sense manager."""
