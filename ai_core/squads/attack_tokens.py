"""Attack tokens: a limit of simultaneous attackers, with fair turns."""
from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import finite_number, whole_number
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import MapOf, Number, Row, Seconds, Whole

__all__ = ["AttackTokens"]

REQUEST_TIMEOUT_S = 1.0
"""Time after which a request that is not repeated is dropped (s)."""
URGENCY_PER_S = 1.0
"""Urgency gained by waiting (per second)."""


class _TokenRequest(NamedTuple):
    urgency: float
    since_s: float
    asked_at_s: float
    travel_s: float


class AttackTokens(Saveable):
    """Limits how many members attack at once; the others stand by until a token is free.

    A member that wants to attack requests a token repeatedly. A free token goes to the most urgent
    request, on a tie to the smallest id. Urgency rises while a member waits, so every member gets a
    turn. The order of requests within a frame has no effect: ``grant`` gives the tokens.

    Args:
        count: number of tokens, 1 or more.
        max_hold_s: time after which a token passes to a waiting member, from its arrival (s), above 0.
        cooldown_s: time a member waits for another token after returning one (s), 0 or more.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    SHOWN = ("count", "holders")

    STATE = DeclaredState(
        held=MapOf(Seconds(), key=Whole(), at="_held_since"),
        waiting=MapOf(Row(_TokenRequest, Number(), Seconds(), Seconds(), Seconds()), key=Whole(), at="_waiting"),
        resting=MapOf(Seconds(), key=Whole(), at="_resting_until"))

    def __init__(
        self, count: int = 2, *, max_hold_s: float = 5.0, cooldown_s: float = 1.0,
    ) -> None:
        self.count = whole_number("count", count, minimum=1, remedy="use 1 for one attacker at a time")
        self.max_hold_s = finite_number("max_hold_s", max_hold_s, above=0)
        self.cooldown_s = finite_number("cooldown_s", cooldown_s, minimum=0)
        self._held_since: dict[int, float] = {}
        self._waiting: dict[int, _TokenRequest] = {}
        self._resting_until: dict[int, float] = {}

    @property
    def holders(self) -> tuple[int, ...]:
        """Ids of the members that hold a token, ascending."""
        return tuple(sorted(self._held_since))

    def copy_unused(self) -> AttackTokens:
        """Return new tokens with the same settings and no holders."""
        return AttackTokens(self.count, max_hold_s=self.max_hold_s, cooldown_s=self.cooldown_s)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.held) > self.count:
            refuse("held", f"must have at most {self.count} rows, got {len(values.held)}")

    def request(self, member_id: int, now_s: float, urgency: float = 0.0, travel_s: float = 0.0) -> bool:
        """Request a token; return whether the member holds one already.

        Args:
            member_id: id of the member, 0 or more.
            now_s: game time (s).
            urgency: requests with a larger urgency are granted first.
            travel_s: time that the member needs to come into range (s), 0 or more; added to ``max_hold_s``.

        Raises:
            TypeError, ValueError: if an argument is not a finite number.

        Cost: O(1).
        """
        number = whole_number("member_id", member_id, minimum=0)
        now_s, urgency = moment_s("now_s", now_s), finite_number("urgency", urgency)
        travel_s = finite_number("travel_s", travel_s, minimum=0)
        if number in self._held_since:
            return True
        before = self._waiting.get(number)
        self._waiting[number] = _TokenRequest(
            urgency, now_s if before is None else before.since_s, now_s, travel_s)
        return False

    def grant(self, now_s: float) -> tuple[int, ...]:
        """Grant tokens that are free, or held too long while others wait; return the ids of the holders.

        Raises:
            TypeError, ValueError: if ``now_s`` is not a finite number.

        Cost: O(waiting · log waiting).
        """
        now_s = moment_s("now_s", now_s)
        self._waiting = {
            one: asked for one, asked in self._waiting.items() if now_s - asked.asked_at_s <= REQUEST_TIMEOUT_S}
        self._resting_until = {one: until for one, until in self._resting_until.items() if until > now_s}
        ready = sorted(
            (one for one in self._waiting if one not in self._resting_until),
            key=lambda one: (-self._urgency(one, now_s), one))
        overdue = sorted(
            (since, one) for one, since in self._held_since.items() if now_s - since >= self.max_hold_s)
        missing = len(ready) - (self.count - len(self._held_since))
        for _, one in overdue[: max(0, missing)]:
            self.release(one, now_s)
        for one in ready[: self.count - len(self._held_since)]:
            self._held_since[one] = now_s + self._waiting.pop(one).travel_s
        return self.holders

    def _urgency(self, member_id: int, now_s: float) -> float:
        asked = self._waiting[member_id]
        return asked.urgency + URGENCY_PER_S * (now_s - asked.since_s)

    def release(self, member_id: int, now_s: float) -> None:
        """Return a token, or withdraw a request.

        Raises:
            TypeError, ValueError: if ``now_s`` is not a finite number.
        """
        now_s = moment_s("now_s", now_s)
        self._waiting.pop(member_id, None)
        if self._held_since.pop(member_id, None) is not None and self.cooldown_s:
            self._resting_until[member_id] = now_s + self.cooldown_s

    def forget(self, member_id: int) -> None:
        """Drop the token, request and rest time of a member."""
        self._waiting.pop(member_id, None)
        self._held_since.pop(member_id, None)
        self._resting_until.pop(member_id, None)
