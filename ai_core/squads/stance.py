"""Stances, judged by capabilities with hysteresis and reasons, and where members may stand."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import moment_s
from ai_core.described import Described
from ai_core.errors import check_kind, finite_number, flags, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, Number, OneOf, Optional, Row, Seconds, Text
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force, check_force
from ai_core.squads.formation_march import plane_axes

__all__ = [
    "STANCES", "FreeCells", "GridClearance", "NearestFree", "NearestFreeCell", "Stance", "StanceJudge", "StancePolicy"
]

STANCES = ("fight", "hold", "retreat")
"""All kinds of a stance, from the boldest to the most careful."""

LARGEST_RATIO = 1e6
"""Largest power ratio (no unit); larger ones are clamped, so that every stance can be saved."""


class Stance(NamedTuple):
    """A judgement about the enemies met, and its reasons."""

    kind: str
    """One of ``STANCES``."""
    ratio: float
    """Own power relative to the enemy's: 2 equals twice the enemy's numbers."""
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class StancePolicy:
    """Power ratios at which a squad fights or retreats.

    Attributes:
        fight_at: the squad fights at this ratio and above.
        retreat_at: the squad retreats below this ratio; in between it holds.
        last_stand_at: a squad with a healer, and a member that can hit the enemy, holds down to this ratio.
        hysteresis: how far a ratio must pass a limit before the present stance ends.
        min_duration_s: least duration of a stance (s), unless no member can hit the enemy.

    Raises:
        TypeError, ValueError: if a number is negative or NaN, or the limits are not in ascending order.
    """

    fight_at: float = 1.3
    retreat_at: float = 0.7
    last_stand_at: float = 0.35
    hysteresis: float = 0.15
    min_duration_s: float = 2.0

    def __post_init__(self) -> None:
        for name in ("fight_at", "retreat_at", "last_stand_at", "hysteresis", "min_duration_s"):
            finite_number(name, getattr(self, name), minimum=0, maximum=LARGEST_RATIO)
        if not self.last_stand_at <= self.retreat_at <= self.fight_at:
            raise ValueError(
                "last_stand_at, retreat_at and fight_at must be in ascending order, got"
                f" {self.last_stand_at:g}, {self.retreat_at:g} and {self.fight_at:g}")


class StanceJudge(Saveable):
    """Judges repeatedly whether to fight, and keeps the present stance until a limit is clearly passed.

    Args:
        policy: limits of the power ratio; None for the defaults.

    Source: 003_designing_ai_for_games, tactical AI, capabilities.
    """

    SHOWN = ("stance",)

    STATE = DeclaredState(
        stance=Optional(Row(Stance, OneOf(STANCES), Number(0, LARGEST_RATIO), ListOf(Text(), make=tuple))),
        since_s=Seconds(at="_since_s"))

    def __init__(self, policy: StancePolicy | None = None) -> None:
        check_kind("policy", policy, StancePolicy)
        self.policy = policy or StancePolicy()
        self.stance: Stance | None = None
        self._since_s = 0.0

    def judge(self, own: Force, met: Force, now_s: float, unknown: int = 0) -> Stance:
        """Return the stance towards a force.

        Args:
            own: own force.
            met: known force of the enemy.
            now_s: game time (s).
            unknown: number of enemies met besides, whose capabilities are unknown. They are not counted; if no other
                enemy is met, the squad holds.

        Raises:
            TypeError: if ``own`` or ``met`` is not a Force, ``now_s`` is not a number or ``unknown`` not an int.
            ValueError: if ``now_s`` or ``unknown`` is out of range.

        Cost: as ``forecast``, about 0.4 ms.
        """
        now_s = moment_s("now_s", now_s)
        check_force("own", own)
        check_force("met", met)
        whole_number("unknown", unknown, minimum=0)
        ratio, kind, reasons, is_forced = self._wanted(own, met)
        if unknown:
            counted = f"{unknown} {'enemy' if unknown == 1 else 'enemies'} of unknown strength"
            if met.count:
                reasons = (*reasons, f"not counted: {counted}")
            else:
                ratio, kind, reasons, is_forced = 1.0, "hold", (counted,), False
        before = self.stance
        if before is not None and kind != before.kind and not is_forced and (
            now_s - self._since_s < self.policy.min_duration_s):
            kind, reasons = before.kind, (*reasons, f"{before.kind} lasts at least {self.policy.min_duration_s:g} s")
        if before is None or kind != before.kind:
            self._since_s = now_s
        self.stance = Stance(kind, ratio, reasons)
        return self.stance

    def forget(self) -> None:
        """Reset the judge: the next stance ignores earlier ones."""
        self.stance = None

    def _wanted(self, own: Force, met: Force) -> tuple[float, str, tuple[str, ...], bool]:
        """Return the ratio, the stance without hysteresis in time, its reasons, and whether it applies at once."""
        if not met.count:
            return LARGEST_RATIO if own.count else 1.0, "hold", ("no enemy is met",), False
        if not own.count:
            return 0.0, "retreat", ("there is no own force",), True
        kinds = met.counts_by_kind()
        out_of_reach = [kind for kind in kinds if not own.can_hit(kind)]
        reasons = tuple(f"no member can hit {kind}" for kind in out_of_reach)
        is_hurt = met.attack_against(own) > 0
        if len(out_of_reach) == len(kinds):
            if is_hurt:
                return 0.0, "retreat", reasons, True
            return 1.0, "hold", (*reasons, "the enemy cannot hit the squad either"), False
        end = forecast(own, met)
        able = max(own.can_hit(kind) for kind in kinds)
        reasons += (
            f"{able:g} of {own.count:g} can hit the enemy, with {end.ratio:.2f} times its power",
            f"a fight would leave {end.own_left:.0%} of the squad and {end.other_left:.0%} of the enemy")
        kind = self._by_ratio(end.ratio)
        if kind == "retreat" and own.heals > 0 and end.ratio >= self.policy.last_stand_at:
            return end.ratio, "hold", (*reasons, "healers support the attackers"), False
        return end.ratio, kind, reasons, False

    def _by_ratio(self, ratio: float) -> str:
        policy, before = self.policy, self.stance and self.stance.kind
        fight_at = policy.fight_at - (policy.hysteresis if before == "fight" else 0)
        retreat_at = policy.retreat_at + (policy.hysteresis if before == "retreat" else 0)
        if ratio >= fight_at:
            return "fight"
        return "retreat" if ratio < min(retreat_at, fight_at) else "hold"


Floats = NDArray[np.float64]


def _places(name: str, places: Floats) -> Floats:
    """Return positions if they are an array of shape (n, 2) or (n, 3) of numbers, else raise TypeError."""
    if not isinstance(places, np.ndarray) or places.dtype.kind not in "iuf" or places.ndim != 2 or (
            places.shape[1] not in (2, 3)):
        raise TypeError(f"{name} must be an array of numbers of shape (n, 2) or (n, 3), got {shown(places)}")
    return places


class FreeCells:
    """Base of classes that measure or move positions on the free cells of a grid; x runs along columns.

    Args:
        free: shape (height, width), bool, True for free cells.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = flags("free", free)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])

    def _are_free(self, flat: Floats) -> NDArray[np.bool_]:
        """Return which positions, shape (..., 2) (m), are on a free cell; none outside is."""
        cells = np.floor((flat - self._origin) / self._size_m)
        is_inside: NDArray[np.bool_] = ((cells >= 0) & (cells < self._is_free.shape[::-1])).all(axis=-1)
        column, row = cells[is_inside].astype(np.intp).T
        is_inside[is_inside] = self._is_free[row, column]
        return is_inside


class GridClearance(Described, FreeCells):
    """Measures the free distance from a point in a direction over cells; the ``clearance`` of a squad.

    Args:
        free: shape (height, width), bool, True for free cells.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.
    """

    def __call__(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return the free distance from each point in its direction, at most ``most_m``, shape (n,) (m).

        Raises:
            TypeError, ValueError: if an argument has another shape, or a number is not finite.

        Cost: O(points * most_m / cell_size_m), at most that of the grid's sides.
        """
        points = _places("points", points)
        if np.shape(directions) != points.shape:
            raise ValueError(f"directions must have shape {points.shape} as points have, got {shown(directions)}")
        most_m = finite_number("most_m", most_m, minimum=0)
        if not (np.isfinite(points).all() and np.isfinite(directions).all()):
            raise ValueError(f"points and directions must be finite, got {shown(points)} and {shown(directions)}")
        across_m = sum(self._is_free.shape) * self._size_m      # beyond it all is outside, and blocked
        looked_m = min(most_m, across_m + self._size_m)
        axes = list(plane_axes(points.shape[1]))
        steps = np.arange(0.0, looked_m, self._size_m / 4)
        is_blocked = ~self._are_free(points[:, None, axes] + directions[:, None, axes] * steps[None, :, None])
        first = is_blocked.argmax(axis=1)
        # The distance ends at the last free step.
        return np.where(is_blocked.any(axis=1), np.maximum(first - 1, 0) * (self._size_m / 4), most_m)


NearestFree: TypeAlias = Callable[[Floats], Floats]
"""Callable that receives positions (n, d) (m) and returns for each the nearest one where a member can stand."""


class NearestFreeCell(Described, FreeCells):
    """Finds the nearest position on a free cell; the ``standing`` of a squad.

    A position in a free cell stays unchanged; any other moves to the center of the nearest free cell, on
    a tie of the cell with the smallest number. Arguments and errors are those of ``FreeCells``; besides,
    one cell at least must be free.

    >>> NearestFreeCell([[True, False, False]])(np.array([[2.5, 0.5], [0.2, 0.9]])).tolist()
    [[0.5, 0.5], [0.2, 0.9]]
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        super().__init__(free, cell_size_m, origin)
        if not self._is_free.any():
            raise ValueError("free must have at least one free cell, got none")
        rows, columns = np.nonzero(self._is_free)
        self._middles = (np.stack([columns, rows], axis=1) + 0.5) * self._size_m + self._origin

    def __call__(self, places: Floats) -> Floats:
        """Return the nearest free positions, shape (n, d) (m).

        Raises:
            TypeError, ValueError: if ``places`` has another shape, or a position is not finite.

        Cost: O(n), and O(cells) for each blocked position.
        """
        places = _places("places", places)
        if not np.isfinite(places).all():
            raise ValueError(f"places must be finite, got {shown(places)}")
        axes = list(plane_axes(places.shape[1]))
        found = places.astype(np.float64)
        flat = found[:, axes]
        for number in np.flatnonzero(~self._are_free(flat)):
            away = ((self._middles - flat[number]) ** 2).sum(axis=1)
            found[number, axes] = self._middles[int(away.argmin())]
        return found
