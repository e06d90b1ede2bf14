"""The less valuable stand between the enemies and the more valuable."""
from __future__ import annotations

from ai_core.errors import finite_number, several_names, whole_number
from ai_core.squads.situation import Situation
from ai_core.squads.tactics import Plan, Tactic, Task, nearest_posts

__all__ = ["Sacrifice"]

VALUABLE = ("commander", "healer", "vip")
"""Roles that are worth screening, the most valuable first."""


class Sacrifice(Tactic):
    """Screens the valuable with the least valuable, each between his charge and the nearest enemy.

    Valuable are those with one of the roles; the value of the others is their toughness, so
    that the weakest go first.

    Args:
        screens: how many stand before each of the valuable; 1 or more.
        distance_m: how far before him (m).
        roles: who is valuable, the most valuable first.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "sacrifice"

    def __init__(self, screens: int = 1, distance_m: float = 2.5, roles: tuple[str, ...] = VALUABLE) -> None:
        self.screens = whole_number("screens", screens, minimum=1)
        self.distance_m = finite_number("distance_m", distance_m, above=0)
        self.roles = several_names("roles", roles)

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        if not situation.enemies:
            return "nobody is met"
        valuable = self._valuable(situation)
        if not valuable:
            return f"nobody has a role that is worth screening: {', '.join(self.roles)}"
        return "" if len(valuable) < len(situation.members) else "nobody is left to screen the valuable"

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        if self.why_not(situation):
            return {}
        valuable = self._valuable(situation)
        cheap = sorted((one for one in situation.members if one not in valuable), key=lambda one: (
            _value(situation, one), one))[: self.screens * len(valuable)]
        charges, posts = [], []
        for number in range(min(self.screens, len(cheap))):  # no more than there are to man them
            for one in valuable:
                place = situation.place(one)
                enemy = situation.enemy_positions[situation.nearest_enemy(place)]
                ahead = situation.direction(place, enemy)
                aside = (number + 1) // 2 * (1 if number % 2 else -1)
                charges.append(one)
                posts.append(place + ahead * self.distance_m + situation.right_of(ahead) * aside)
        posts = situation.posts(posts)
        # The first posts are before the most valuable: those are manned if there are too few.
        return {
            screen: Task("screen", tuple(posts[post].tolist()), charges[post])
            for screen, post in nearest_posts(situation, sorted(cheap), posts[: len(cheap)])
        }

    def _valuable(self, situation: Situation) -> list[int]:
        ranked = [
            (min(self.roles.index(role) for role in one.roles if role in self.roles), number)
            for number, one in situation.members.items() if any(role in self.roles for role in one.roles)]
        return [number for _, number in sorted(ranked)]


def _value(situation: Situation, member_id: int) -> float:
    can = situation.members[member_id].capabilities
    return 1.0 if can is None else can.toughness
