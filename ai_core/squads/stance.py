"""Stances, judged by capabilities with hysteresis and reasons."""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import check_kind, finite_number, whole_number
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, Number, OneOf, Optional, Row, Seconds, Text
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force, check_force

__all__ = ["STANCES", "Stance", "StanceJudge", "StancePolicy"]

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
