"""Attack tokens: how many may attack at once, and whose turn it is."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import finite_number, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.squads.id_rows import id_rows

__all__ = ["AttackTokens"]


class _Waiting(NamedTuple):
    urgency: float
    since_s: float
    asked_at_s: float


class AttackTokens:
    """Lets a few attack at a time; the others stand by until one is free.

    Whoever wants to attack asks again and again. A free token goes to the most urgent, and
    waiting makes urgent, so that everybody gets his turn; of several to the smallest id. The
    order of asking in a frame does not matter: tokens are given by ``grant``.

    Args:
        count: how many may attack at once; 1 or more.
        longest_s: after so long a token goes on to who waits (s).
        rest_s: how long somebody who gave one back waits for the next (s).
        forget_s: who has not asked for so long does not wait any more (s).
        impatience: how much more urgent a second of waiting makes, 0 or more.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    def __init__(
        self, count: int = 2, *, longest_s: float = 5.0, rest_s: float = 1.0, forget_s: float = 1.0,
        impatience: float = 1.0,
    ) -> None:
        self.count = whole_number("count", count, minimum=1, remedy="use 1 for one after the other")
        self.longest_s = finite_number("longest_s", longest_s, above=0)
        self.rest_s = finite_number("rest_s", rest_s, minimum=0)
        self.forget_s = finite_number("forget_s", forget_s, above=0)
        self.impatience = finite_number("impatience", impatience, minimum=0)
        self._held_since: dict[int, float] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._resting_until: dict[int, float] = {}

    @property
    def holders(self) -> tuple[int, ...]:
        """Ids of those who may attack now, ascending."""
        return tuple(sorted(self._held_since))

    def like_new(self) -> AttackTokens:
        """Return others of the same settings, held by nobody."""
        return AttackTokens(
            self.count, longest_s=self.longest_s, rest_s=self.rest_s, forget_s=self.forget_s,
            impatience=self.impatience)

    def request(self, member_id: int, now_s: float, urgency: float = 0.0) -> bool:
        """Ask for a token; return whether it is held already.

        Args:
            member_id: who asks.
            now_s: game time (s).
            urgency: the largest goes first.

        Raises:
            TypeError, ValueError: if an argument is no number.

        Cost: O(1).
        """
        number = whole_number("member_id", member_id, minimum=0)
        now_s, urgency = moment_s("now_s", now_s), finite_number("urgency", urgency)
        if number in self._held_since:
            return True
        before = self._waiting.get(number)
        self._waiting[number] = _Waiting(urgency, now_s if before is None else before.since_s, now_s)
        return False

    def grant(self, now_s: float) -> tuple[int, ...]:
        """Give tokens that are free, or were held too long while others wait; return who holds one.

        Raises:
            TypeError, ValueError: if ``now_s`` is no number.

        Cost: O(waiting · log waiting).
        """
        now_s = moment_s("now_s", now_s)
        self._waiting = {
            one: asked for one, asked in self._waiting.items() if now_s - asked.asked_at_s <= self.forget_s}
        self._resting_until = {one: until for one, until in self._resting_until.items() if until > now_s}
        ready = sorted(
            (one for one in self._waiting if one not in self._resting_until),
            key=lambda one: (-self._urgency(one, now_s), one))
        overdue = sorted(
            (since, one) for one, since in self._held_since.items() if now_s - since >= self.longest_s)
        missing = len(ready) - (self.count - len(self._held_since))
        for _, one in overdue[: max(0, missing)]:
            self.release(one, now_s)
        for one in ready[: self.count - len(self._held_since)]:
            del self._waiting[one]
            self._held_since[one] = now_s
        return self.holders

    def _urgency(self, member_id: int, now_s: float) -> float:
        asked = self._waiting[member_id]
        return asked.urgency + self.impatience * (now_s - asked.since_s)

    def release(self, member_id: int, now_s: float) -> None:
        """Give a token back, or ask no more.

        Raises:
            TypeError, ValueError: if ``now_s`` is no number.
        """
        now_s = moment_s("now_s", now_s)
        self._waiting.pop(member_id, None)
        if self._held_since.pop(member_id, None) is not None and self.rest_s:
            self._resting_until[member_id] = now_s + self.rest_s

    def forget(self, member_id: int) -> None:
        """Drop all that is known of somebody who is lost."""
        self._waiting.pop(member_id, None)
        self._held_since.pop(member_id, None)
        self._resting_until.pop(member_id, None)

    def save_state(self) -> State:
        """Return who holds, waits and rests, as plain data."""
        return {
            "version": 1,
            "held": [[one, since] for one, since in sorted(self._held_since.items())],
            "waiting": [[one, *asked] for one, asked in sorted(self._waiting.items())],
            "resting": [[one, until] for one, until in sorted(self._resting_until.items())],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        held = {one: numbers[0] for one, numbers in id_rows(fields, "held", 1).items()}
        waiting = {one: _Waiting(*numbers) for one, numbers in id_rows(fields, "waiting", 3).items()}
        resting = {one: numbers[0] for one, numbers in id_rows(fields, "resting", 1).items()}
        if len(held) > self.count:
            fields.refuse("held", f"must be {self.count} at most, got {len(held)}")
        fields.end()

        def change() -> None:
            self._held_since, self._waiting, self._resting_until = held, waiting, resting

        return change

