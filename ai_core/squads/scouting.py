"""Scouts go ahead and come back when they have met somebody."""
from __future__ import annotations

import math

import numpy as np

from ai_core.errors import finite_number
from ai_core.squads.situation import Situation
from ai_core.squads.tactics import Plan, Tactic, Task, nearest_posts

__all__ = ["Scouting"]


class Scouting(Tactic):
    """Those with the role "scout" fan out ahead of the squad, and fall back from whom they meet.

    Args:
        ahead_m: how far ahead of the middle of the others (m), but not beyond the goal.
        apart_m: how far scouts are from each other (m).
        shy_m: a scout this near to an enemy goes back to his slot (m).

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "scouting"

    def __init__(self, ahead_m: float = 20.0, apart_m: float = 8.0, shy_m: float = 12.0) -> None:
        self.ahead_m = finite_number("ahead_m", ahead_m, above=0)
        self.apart_m = finite_number("apart_m", apart_m, minimum=0)
        self.shy_m = finite_number("shy_m", shy_m, minimum=0)

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        scouts = [one for one in situation.members.values() if "scout" in one.roles]
        if not scouts:
            return "nobody has the role 'scout'"
        return "all are scouts" if len(scouts) == len(situation.members) else ""

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        scouts = [number for number, one in situation.members.items() if "scout" in one.roles]
        others = [number for number in situation.members if number not in scouts]
        if not scouts or not others:
            return {}
        middle = np.mean([situation.place(one) for one in others], axis=0)
        ahead, reach_m = situation.in_plane(situation.heading), self.ahead_m
        if situation.goal is not None:
            ahead = situation.direction(middle, situation.goal)
            reach_m = min(reach_m, math.dist(middle, situation.goal))
        across = situation.right_of(ahead)
        first = -self.apart_m * (len(scouts) - 1) / 2
        posts = situation.posts([
            middle + ahead * reach_m + across * (first + self.apart_m * number) for number in range(len(scouts))])
        return {
            scout: Task("scout", tuple(posts[post].tolist()))
            for scout, post in nearest_posts(situation, scouts, posts) if not self._is_met(situation, scout)
        }

    def _is_met(self, situation: Situation, scout: int) -> bool:
        nearest = situation.nearest_enemy(situation.place(scout))
        if nearest is None:
            return False
        return math.dist(situation.enemy_positions[nearest], situation.place(scout)) < self.shy_m
