"""Healers stay near those most at risk."""
from __future__ import annotations

from collections.abc import Callable

from ai_core.errors import finite_number
from ai_core.saving.fields import Fields, State
from ai_core.squads.situation import Situation
from ai_core.squads.tactics import Plan, Tactic, Task, nearest_posts

__all__ = ["HealingSupport"]

STAYS = 1.25
"""How much riskier another must be than a patient for a healer to leave him: less runs to and fro."""


class HealingSupport(Tactic):
    """Each healer stands behind one of those who are most likely to be attacked.

    Healers are those with the role "healer", or who heal. The most threatened are chosen, as
    many as there are healers; who has a healer keeps him until another is clearly worse off.

    Args:
        distance_m: how far behind, seen from the enemies (m).

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    name = "healing_support"

    def __init__(self, distance_m: float = 2.0) -> None:
        self.distance_m = finite_number("distance_m", distance_m, minimum=0)
        self._patients: set[int] = set()

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        if not self._healers(situation):
            return "nobody heals"
        return "" if situation.enemies else "nobody is met"

    def begin(self) -> None:
        """Forget what was begun before."""
        self._patients = set()

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now."""
        healers = self._healers(situation)
        others = [one for one in situation.members if one not in healers]
        at_risk = sorted((one for one in others if situation.risk(one) > 0), key=lambda one: (
            -situation.risk(one) * (STAYS if one in self._patients else 1), one))[: len(healers)]
        self._patients = set(at_risk)
        posts = []
        for one in at_risk:
            place = situation.place(one)
            posts.append(place + situation.away_from_enemies(place) * self.distance_m)
        posts = situation.posts(posts)
        return {
            healer: Task("heal", tuple(posts[post].tolist()), at_risk[post])
            for healer, post in nearest_posts(situation, healers, posts)
        }

    def forget_member(self, member_id: int) -> None:
        """Drop what is known of somebody who left or is lost."""
        self._patients.discard(member_id)

    def save_state(self) -> State:
        """Return what was begun, as plain data."""
        return {"version": 1, "patients": sorted(self._patients)}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back."""
        fields = Fields.versioned(state, version=1)
        patients = set(fields.wholes("patients"))
        fields.end()

        def change() -> None:
            self._patients = patients

        return change

    @staticmethod
    def _healers(situation: Situation) -> list[int]:
        return [
            one.member_id for one in situation.members.values()
            if "healer" in one.roles or (one.capabilities is not None and one.capabilities.heals > 0)]
