"""One half goes while the other watches over it, in turns."""
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

__all__ = ["BoundingOverwatch"]

Floats = NDArray[np.float64]


class BoundingOverwatch(Tactic):
    """Two teams; the one behind bounds past the other, which stays and watches, until both are at the goal.

    The goal is that of the squad's order, else the middle of the enemies.

    Args:
        leg_m: how far a team goes beyond the other in one bound (m).
        apart_m: distance of neighbors of one team (m).
        there_m: who is this near to his place is there (m).
        patience_s: a bound that takes longer ends all the same (s).

    Raises:
        ValueError: if a number is out of range.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "bounding_overwatch"

    def __init__(
        self, leg_m: float = 10.0, apart_m: float = 2.5, there_m: float = 1.0, patience_s: float = 20.0
    ) -> None:
        self.leg_m = finite_number("leg_m", leg_m, above=0)
        self.apart_m = finite_number("apart_m", apart_m, minimum=0)
        self.there_m = finite_number("there_m", there_m, above=0)
        self.patience_s = finite_number("patience_s", patience_s, above=0)
        self.begin()

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        if len(situation.members) < 2:
            return "it takes two teams"
        return "" if situation.goal is not None or situation.enemies else "there is nowhere to go"

    def begin(self) -> None:
        """Forget what was begun before."""
        self._moving = 0
        self._posts: dict[int, tuple[float, ...]] = {}
        self._since_s = 0.0

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        if self.why_not(situation):
            return {}
        goal = situation.goal if situation.goal is not None else situation.enemy_positions.mean(axis=0)
        teams = self.teams(situation)
        if all(self._is_at(situation, team, goal) for team in teams):
            self._posts = {}
            return {}
        if not self._posts:
            self._bound(situation, goal, teams)
        elif self._is_over(situation, teams[self._moving]):
            self._moving = 1 - self._moving
            self._bound(situation, goal, teams)
        plan = {}
        for number in teams[self._moving]:
            plan[number] = Task("bound", self._posts.get(number))
        for number in teams[1 - self._moving]:
            enemy = situation.nearest_enemy(situation.place(number))
            target = None if enemy is None else situation.enemies[enemy].enemy_id
            plan[number] = Task("overwatch", None, target)
        return plan

    def teams(self, situation: Situation) -> tuple[list[int], list[int]]:
        """Return the ids of both teams: every other one, by id."""
        ids = list(situation.members)
        return ids[::2], ids[1::2]

    def forget_member(self, member_id: int) -> None:
        """Drop what is known of somebody who left or is lost."""
        self._posts = {}           # teams are others now

    def save_state(self) -> State:
        """Return what was begun, as plain data."""
        return {
            "version": 1, "moving": self._moving, "since_s": self._since_s,
            "posts": [[one, *place] for one, place in sorted(self._posts.items())],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back."""
        fields = Fields.versioned(state, version=1)
        moving, since_s = fields.whole("moving", maximum=1), fields.seconds("since_s")
        posts = {one: tuple(place) for one, place in id_rows(fields, "posts", 2, 3).items()}
        fields.end()

        def change() -> None:
            self._moving, self._since_s, self._posts = moving, since_s, posts

        return change

    def _is_at(self, situation: Situation, team: list[int], goal: Floats) -> bool:
        """Return whether the middle of a team is at the goal, as near as the other team leaves it room."""
        middle = np.mean([situation.place(one) for one in team], axis=0)
        return math.dist(middle, goal) <= self.there_m + self.apart_m

    def _is_over(self, situation: Situation, team: list[int]) -> bool:
        if situation.now_s - self._since_s > self.patience_s:
            return True
        return all(
            one in self._posts and math.dist(situation.place(one), self._posts[one]) <= self.there_m for one in team)

    def _bound(self, situation: Situation, goal: Floats, teams: tuple[list[int], list[int]]) -> None:
        """Give the team that moves places a leg beyond the other, but not beyond the goal."""
        team, other = teams[self._moving], teams[1 - self._moving]
        watching = np.mean([situation.place(one) for one in other], axis=0)
        ahead = situation.direction(watching, goal)
        reach_m = min(self.leg_m, math.dist(watching, goal))
        across = situation.right_of(ahead)
        # Teams keep to their own sides of the way, so that nobody bounds into the line of fire.
        side = 0.5 if self._moving else -0.5
        posts = situation.posts([
            watching + ahead * reach_m + across * (self.apart_m * (number - (len(team) - 1) / 2 + side))
            for number in range(len(team))])
        pairs = nearest_posts(situation, team, posts)
        self._posts = {one: tuple(posts[post].tolist()) for one, post in pairs}
        self._since_s = situation.now_s
