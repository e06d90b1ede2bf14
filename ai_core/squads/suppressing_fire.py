"""Some keep the enemies' heads down while the others go."""
from __future__ import annotations

import math

from ai_core.errors import finite_number
from ai_core.squads.situation import Situation
from ai_core.squads.tactics import Plan, Tactic, Task

__all__ = ["SuppressingFire"]


class SuppressingFire(Tactic):
    """Those who reach farthest stay and fire, each at another enemy as far as there are; the others go.

    Args:
        share: of those who can attack, how many fire; one at least stays free to go.

    Raises:
        ValueError: if the share is not between 0 and 1.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "suppressing_fire"

    def __init__(self, share: float = 0.5) -> None:
        self.share = finite_number("share", share, above=0, maximum=1)

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        if not situation.enemies:
            return "nobody is met"
        return "" if len(situation.members) > 1 else "it takes two: one fires, one goes"

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        if self.why_not(situation):
            return {}
        firing = self.who_fires(situation)
        plan = {}
        fired_at = [0] * len(situation.enemies)
        for member in firing:
            place = situation.place(member)
            enemy = min(range(len(fired_at)), key=lambda one: (
                fired_at[one], math.dist(situation.enemy_positions[one], place), situation.enemies[one].enemy_id))
            fired_at[enemy] += 1
            plan[member] = Task("suppress", None, situation.enemies[enemy].enemy_id)
        return plan

    def who_fires(self, situation: Situation) -> list[int]:
        """Return who stays and fires: who reaches farthest, of those the smallest ids; not all."""
        armed = [
            number for number, one in situation.members.items()
            if one.capabilities is None or any(one.capabilities.attack.values())]
        count = min(math.ceil(self.share * len(armed)), len(situation.members) - 1)
        return sorted(sorted(armed, key=lambda one: (-_reach(situation, one), one))[:count])


def _reach(situation: Situation, member_id: int) -> float:
    can = situation.members[member_id].capabilities
    return 0.0 if can is None else can.range_m
