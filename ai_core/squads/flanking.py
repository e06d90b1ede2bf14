"""Some hold the enemies where they are, the others come from the side; then all attack."""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.saving.fields import Fields, State
from ai_core.squads.id_rows import id_rows
from ai_core.squads.situation import Situation
from ai_core.squads.tactics import Plan, Tactic, Task, nearest_posts

__all__ = ["Flanking"]

Floats = NDArray[np.float64]

MOVED_M = 8.0
"""How far the middle of the enemies may move before the way around them is planned anew (m)."""


class Flanking(Tactic):
    """A part goes around the enemies, to the side that is nearer; when it is there, everybody attacks.

    Args:
        share: how many go around; at least one goes, and one stays.
        beside_m: how far from the middle of the enemies they gather (m).
        there_m: who is this near to his place is there (m).

    Raises:
        ValueError: if a number is out of range.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "flanking"

    def __init__(self, share: float = 0.5, beside_m: float = 12.0, there_m: float = 2.0) -> None:
        self.share = finite_number("share", share, above=0, maximum=1)
        self.beside_m = finite_number("beside_m", beside_m, above=0)
        self.there_m = finite_number("there_m", there_m, above=0)
        self.begin()

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        if not situation.enemies:
            return "nobody is met"
        return "" if len(situation.members) > 1 else "it takes two: one holds them, one goes around"

    def begin(self) -> None:
        """Forget what was begun before."""
        self._around: dict[int, tuple[float, ...]] = {}
        self._middle: tuple[float, ...] | None = None
        self._is_attacking = False

    @property
    def is_attacking(self) -> bool:
        """True once those who went around are there."""
        return self._is_attacking

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        if self.why_not(situation):
            return {}
        middle = situation.enemy_positions.mean(axis=0)
        has_moved = self._middle is None or math.dist(self._middle, middle) > MOVED_M
        if not self._is_attacking and (has_moved or not self._around):
            self._go_around(situation, middle)
        around = {one: place for one, place in self._around.items() if one in situation.members}
        if not self._is_attacking and around:
            self._is_attacking = all(
                math.dist(situation.place(one), place) <= self.there_m for one, place in around.items())
        plan = {}
        for number in situation.members:
            place = situation.place(number)
            enemy = situation.nearest_enemy(place)
            target = situation.enemies[enemy].enemy_id if enemy is not None else None
            if self._is_attacking:
                plan[number] = Task("attack", situation.enemies[enemy or 0].position, target)
            elif number in around:
                plan[number] = Task("flank", around[number], target)
            else:
                plan[number] = Task("suppress", None, target)
        return plan

    def forget_member(self, member_id: int) -> None:
        """Drop what is known of somebody who left or is lost."""
        self._around.pop(member_id, None)

    def save_state(self) -> State:
        """Return what was begun, as plain data."""
        return {
            "version": 1, "around": [[one, *place] for one, place in sorted(self._around.items())],
            "middle": None if self._middle is None else list(self._middle), "is_attacking": self._is_attacking,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back."""
        fields = Fields.versioned(state, version=1)
        around = {one: tuple(place) for one, place in id_rows(fields, "around", 2, 3).items()}
        middle = None if fields.anything("middle") is None else tuple(fields.numbers("middle"))
        dimensions = {len(place) for place in around.values()} or {2, 3}
        if middle is not None and len(middle) not in dimensions:
            fields.refuse("middle", f"must have as many coordinates as places in 'around', got {len(middle)}")
        is_attacking = fields.flag("is_attacking")
        fields.end()

        def change() -> None:
            self._around, self._middle, self._is_attacking = around, middle, is_attacking

        return change

    def _go_around(self, situation: Situation, middle: Floats) -> None:
        """Choose the side that is nearer to those who go, and their places there."""
        own = situation.positions.mean(axis=0)
        across = situation.right_of(situation.direction(own, middle))
        count = max(1, min(round(self.share * len(situation.members)), len(situation.members) - 1))
        best: tuple[float, dict[int, tuple[float, ...]]] | None = None
        for side in (1.0, -1.0):
            spot = middle + across * (side * self.beside_m)
            ways = [(math.dist(situation.place(one), spot), one) for one in situation.members]
            going = sorted(one for _, one in sorted(ways)[:count])
            ahead = situation.direction(own, middle)
            posts = situation.posts([spot + ahead * (2.0 * (number - (count - 1) / 2)) for number in range(count)])
            pairs = nearest_posts(situation, going, posts)
            total = sum(math.dist(situation.place(one), posts[post]) for one, post in pairs)
            if best is None or total < best[0] - 1e-9:
                best = total, {one: tuple(posts[post].tolist()) for one, post in pairs}
        self._middle, self._around = tuple(middle.tolist()), best[1] if best else {}
