"""Fight, hold or retreat: judged by capability, with hysteresis and reasons."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import finite_number, shown
from ai_core.saving.fields import Fields, State
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force, check_force

__all__ = ["STANCES", "Stance", "StanceJudge", "StancePolicy"]

STANCES = ("fight", "hold", "retreat")
"""From the boldest to the most careful."""

LARGEST_RATIO = 1e6
"""Ratios are cut here, so that they can be saved; beyond it nobody asks how much stronger."""


class Stance(NamedTuple):
    """What to do about what is met, and why."""

    kind: str
    """One of ``STANCES``."""
    ratio: float
    """How strong we are: 2 is as strong as twice their numbers."""
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class StancePolicy:
    """From which ratio of power on a squad fights, and below which it retreats.

    Attributes:
        fight_at: it attacks from this ratio on.
        retreat_at: it goes back below this one; in between it holds.
        last_stand_at: with a healer, and somebody who can hit what is met, it holds down to this.
        hysteresis: how far a ratio must go beyond a limit to leave the stance it has.
        shortest_s: how long a stance lasts at least (s), unless nobody can hit what is met.

    Raises:
        TypeError, ValueError: if a number is negative or NaN, or the limits are not in order.
    """

    fight_at: float = 1.3
    retreat_at: float = 0.7
    last_stand_at: float = 0.35
    hysteresis: float = 0.15
    shortest_s: float = 2.0

    def __post_init__(self) -> None:
        for name in ("fight_at", "retreat_at", "last_stand_at", "hysteresis", "shortest_s"):
            finite_number(name, getattr(self, name), minimum=0, maximum=LARGEST_RATIO)
        if not self.last_stand_at <= self.retreat_at <= self.fight_at:
            raise ValueError(
                "last_stand_at, retreat_at and fight_at must rise in this order, got"
                f" {self.last_stand_at:g}, {self.retreat_at:g} and {self.fight_at:g}")


class StanceJudge:
    """Judges again and again, and changes its mind only for a reason.

    Args:
        policy: where the limits are.

    Source: 003_designing_ai_for_games, tactical AI, capabilities.
    """

    def __init__(self, policy: StancePolicy | None = None) -> None:
        if policy is not None and not isinstance(policy, StancePolicy):
            raise TypeError(f"policy must be a StancePolicy, got {shown(policy)}")
        self.policy = policy or StancePolicy()
        self.stance: Stance | None = None
        self._since_s = 0.0

    def judge(self, own: Force, met: Force, now_s: float) -> Stance:
        """Return what to do about a force that is met.

        Args:
            own: who is here.
            met: what is met, as far as it is known.
            now_s: game time (s).

        Raises:
            TypeError, ValueError: if ``now_s`` is no number, or a force none.

        Cost: as ``forecast``: some 0.4 ms.
        """
        now_s = moment_s("now_s", now_s)
        check_force("own", own)
        check_force("met", met)
        ratio, kind, reasons, is_forced = self._wanted(own, met)
        before = self.stance
        if before is not None and kind != before.kind and not is_forced and (
            now_s - self._since_s < self.policy.shortest_s
        ):
            kind, reasons = before.kind, (*reasons, f"{before.kind} was decided a moment ago")
        if before is None or kind != before.kind:
            self._since_s = now_s
        self.stance = Stance(kind, ratio, reasons)
        return self.stance

    def forget(self) -> None:
        """Begin anew, as if nothing had been met."""
        self.stance = None

    def save_state(self) -> State:
        """Return the stance and since when, as plain data."""
        stance = self.stance
        return {
            "version": 1, "since_s": self._since_s,
            "stance": None if stance is None else [stance.kind, stance.ratio, list(stance.reasons)],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved stance; return what puts it back.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        since_s = fields.seconds("since_s")
        stance = None
        if fields.anything("stance") is not None:
            kind, ratio, reasons = fields.items("stance", count=3)
            one = Fields({"kind": kind, "ratio": ratio, "reasons": reasons}, fields.place_of("stance"))
            texts = [Fields({"reason": text}, "reasons").text("reason") for text in one.items("reasons")]
            stance = Stance(
                one.one_of("kind", STANCES), one.number("ratio", minimum=0, maximum=LARGEST_RATIO), tuple(texts))
        fields.end()

        def change() -> None:
            self.stance, self._since_s = stance, since_s

        return change

    def _wanted(self, own: Force, met: Force) -> tuple[float, str, tuple[str, ...], bool]:
        """Return the ratio, what the numbers say, why, and whether that does not wait."""
        if not met.count:
            return LARGEST_RATIO if own.count else 1.0, "hold", ("nobody is met",), False
        if not own.count:
            return 0.0, "retreat", ("nobody is here",), True
        kinds = met.counts_by_kind()
        out_of_reach = [kind for kind in kinds if not own.can_hit(kind)]
        told = tuple(f"nobody can hit {kind}" for kind in out_of_reach)
        is_hurt = met.attack_against(own) > 0
        if len(out_of_reach) == len(kinds):
            if is_hurt:
                return 0.0, "retreat", told, True
            return 1.0, "hold", (*told, "it cannot hit us either"), False
        end = forecast(own, met)
        able = max(own.can_hit(kind) for kind in kinds)
        told += (
            f"{able:g} of {own.count:g} can hit what is met, at {end.ratio:.2f} times its power",
            f"a fight would leave {end.own_left:.0%} of us and {end.other_left:.0%} of them")
        kind = self._by_ratio(end.ratio)
        if kind == "retreat" and own.heals > 0 and end.ratio >= self.policy.last_stand_at:
            return end.ratio, "hold", (*told, "those who can are healed"), False
        return end.ratio, kind, told, False

    def _by_ratio(self, ratio: float) -> str:
        policy, before = self.policy, self.stance and self.stance.kind
        fight_at = policy.fight_at - (policy.hysteresis if before == "fight" else 0)
        retreat_at = policy.retreat_at + (policy.hysteresis if before == "retreat" else 0)
        if ratio >= fight_at:
            return "fight"
        return "retreat" if ratio < min(retreat_at, fight_at) else "hold"
