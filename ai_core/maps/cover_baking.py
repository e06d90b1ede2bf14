"""Cover of a level: which places beside walls hide somebody, found by rays, a slice at a time."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_kind, finite_number, shown, whole_number
from ai_core.maps.cover_body import Blocked, CoverBody, asked_blocked
from ai_core.maps.cover_spots import FARTHEST_M, LEFT, OVER, RIGHT, CoverCandidates, CoverSpots
from ai_core.scheduling.interruptible import Cancellable

__all__ = ["CoverBaking", "CoverBakingSettings"]

PLACES_PER_STEP = 16
"""Places looked at between two looks at the budget: some 170 rays, 0.1 to 0.3 ms in the engine."""

PROBE = 0.85
"""Rays look for walls so high, as a share of the body: what ends below the eyes hides nobody."""


@dataclass(frozen=True)
class CoverBakingSettings:
    """How cover is looked for.

    Args:
        exposure_m: how far around a place it is looked whether it lies open (m), above 0.
        directions: in how many directions (count), 1 to 64.
        peek_m: how far beside a place cover must end, so that one can look past it (m), above 0.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    exposure_m: float = 10.0
    directions: int = 8
    peek_m: float = 1.0

    def __post_init__(self) -> None:
        finite_number("exposure_m", self.exposure_m, above=0, maximum=FARTHEST_M)
        finite_number("peek_m", self.peek_m, above=0, maximum=FARTHEST_M)
        whole_number("directions", self.directions, minimum=1, maximum=64)


class CoverBaking(Cancellable):
    """Finds the cover of a level. Interruptible work: advance it until it is done, take the result.

    Args:
        candidates: places beside something.
        blocked: casts rays; see ``Blocked``. In a game they end at walls, not at characters.
        body: who hides.
        settings: how it is looked.

    Raises:
        TypeError: if something is of another type.

    Cost: for each candidate 2 rays, 2 more where there is cover, and one for each direction. A
    step is 16 candidates.
    """

    def __init__(
        self, candidates: CoverCandidates, blocked: Blocked, *, body: CoverBody | None = None,
        settings: CoverBakingSettings | None = None,
    ) -> None:
        if not isinstance(candidates, CoverCandidates):
            raise TypeError(f"candidates must be CoverCandidates, got {shown(candidates)}")
        if not callable(blocked):
            raise TypeError(f"blocked must be a callable, got {shown(blocked)}")
        self._candidates, self._blocked = candidates, blocked
        check_kind("body", body, CoverBody)
        check_kind("settings", settings, CoverBakingSettings)
        self._body = body or CoverBody()
        self._settings = settings or CoverBakingSettings()
        self._looked = 0
        self._found: list[CoverSpots] = []

    @property
    def is_done(self) -> bool:
        """True when all candidates were looked at."""
        return self._looked >= len(self._candidates) and not self._is_cancelled

    @property
    def progress(self) -> float:
        """How far it has come, 0 to 1."""
        return self._looked / len(self._candidates) if len(self._candidates) else 1.0

    @property
    def result(self) -> CoverSpots:
        """The spots, in the order of the candidates.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return CoverSpots.joined(self._found)

    def advance(self, budget: Budget, /) -> None:
        """Go on until done or the budget is spent.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError, ValueError: if ``blocked`` does not answer as it should.
        """
        self._check_goes_on(budget)
        while self._looked < len(self._candidates):
            last = min(len(self._candidates), self._looked + PLACES_PER_STEP)
            self._found.append(self._look(slice(self._looked, last)))
            self._looked = last
            budget.spend()
            if budget.is_spent:
                return

    def _look(self, rows: slice) -> CoverSpots:
        body = self._body
        places, towards = self._candidates.places[rows], self._candidates.towards[rows]
        low, high = (places + body.upward * np.float32(PROBE * one) for one in (body.crouching_m, body.standing_m))
        is_cover = self._meets(low, towards)
        is_high = is_cover if body.is_flat else self._meets(high, towards)
        kept = is_cover | is_high
        places, towards, low, high = places[kept], towards[kept], low[kept], high[kept]
        is_low = ~is_high[kept]
        eyes = np.where(is_low[:, None], low, high)
        return CoverSpots(places, towards, is_low, self._exposures(low), self._peeks(eyes, towards, is_low))

    def _meets(self, places: NDArray[np.float32], towards: NDArray[np.float32]) -> NDArray[np.bool_]:
        return self._ask(places, places + towards * np.float32(self._candidates.reach_m))

    def _ask(self, starts: NDArray[np.float32], ends: NDArray[np.float32]) -> NDArray[np.bool_]:
        return asked_blocked(self._blocked, np.concatenate((starts, ends), axis=1))

    def _exposures(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        count = self._settings.directions
        angles = np.arange(count) * (2 * np.pi / count)
        across = np.array([1, 0, 0], np.float32)
        along = np.cross(self._body.upward, across)
        around = np.cos(angles)[:, None] * across + np.sin(angles)[:, None] * along
        starts = np.repeat(places, count, axis=0)
        reaches: NDArray[np.float32] = (around * self._settings.exposure_m).astype(np.float32)
        ends = starts + np.tile(reaches, (len(places), 1))
        is_open = ~self._ask(starts, ends)
        shares: NDArray[np.float32] = is_open.reshape(len(places), count).mean(axis=1, dtype=np.float32)
        return shares

    def _peeks(
        self, eyes: NDArray[np.float32], towards: NDArray[np.float32], is_low: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        """Return past which sides one can look: where one steps aside freely, and nothing is in front."""
        peeks = np.where(is_low, np.uint8(OVER), np.uint8(0))
        sides = self._body.left_of(towards) * np.float32(self._settings.peek_m)
        for bit, beside in ((LEFT, eyes + sides), (RIGHT, eyes - sides)):
            is_open = ~self._ask(eyes, beside) & ~self._meets(beside, towards)
            peeks[is_open] |= np.uint8(bit)
        return peeks
