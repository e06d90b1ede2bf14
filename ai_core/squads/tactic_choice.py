"""Choice of a tactic by rules of the commander."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ai_core.decisions.rules.rule_mind import RuleMind
from ai_core.decisions.rules.rule_set import RuleSet
from ai_core.errors import named, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import Change
from ai_core.saving.fields import State
from ai_core.squads.capabilities import Force, power_ratio
from ai_core.squads.situation import TacticalSituation

__all__ = ["SITUATION_FACTS", "TacticByRules", "situation_grade"]

NEAR_M = 30.0
"""Distance of the nearest enemy below which the fact "near" is above 0 (m)."""


def _near(situation: TacticalSituation) -> float:
    if not situation.enemies:
        return 0.0
    middle = situation.positions.mean(axis=0)
    enemy = situation.enemy_positions[situation.nearest_enemy(middle)]
    return max(0.0, 1 - math.dist(enemy, middle) / NEAR_M)


def _strong(situation: TacticalSituation) -> float:
    ratio = power_ratio(_own(situation), situation.enemy_force)
    return 1.0 if math.isinf(ratio) else ratio / (1 + ratio)


def _can_hit(situation: TacticalSituation) -> float:
    kinds = situation.enemy_force.counts_by_kind()
    if not kinds or not situation.members:
        return 0.0
    return max(_own(situation).can_hit(kind) for kind in kinds) / len(situation.members)


def _outnumbered(situation: TacticalSituation) -> float:
    return len(situation.enemies) / (len(situation.enemies) + len(situation.members)) if situation.enemies else 0.0


def _own(situation: TacticalSituation) -> Force:
    return Force.of_members(one.capabilities for one in situation.members.values() if one.capabilities is not None)


def _has_role(role: str) -> Callable[[TacticalSituation], float]:
    return lambda situation: float(any(role in one.roles for one in situation.members.values()))


FACTS: dict[str, Callable[[TacticalSituation], float]] = {
    "met": lambda situation: float(bool(situation.enemies)),
    "near": _near,
    "strong": _strong,
    "can_hit": _can_hit,
    "outnumbered": _outnumbered,
    "at_risk": lambda situation: min(1.0, float(situation.risks.max(initial=0.0))),
    "has_order": lambda situation: float(situation.goal is not None),
    "has_healer": _has_role("healer"),
    "has_scout": _has_role("scout"),
}


def situation_grade(fact: str, situation: TacticalSituation) -> float:
    """Return the grade of a fact in a situation, 0 to 1.

    Raises:
        UnknownNameError: if no fact has this name.
    """
    return named("fact of a situation", fact, FACTS)(situation)


SITUATION_FACTS: Mapping[str, Callable[[RuleMind], float]] = {
    name: (lambda mind, ask=ask: ask(mind.owner)) for name, ask in FACTS.items()  # type: ignore[misc]
}
"""Facts for the rules of a commander by name, each graded 0 to 1: met (1 with enemies), near (within 30 m),
strong (0.5 for equal power), can_hit (share of members), outnumbered (enemies' share of all units), at_risk,
has_order (1 with an order under way), has_healer, has_scout."""


class TacticByRules:
    """Chooses a tactic by a rule set: the first rule that fires returns the name of the tactic.

    Args:
        rules: rules over ``SITUATION_FACTS`` and any other facts; callables of facts receive a mind whose
            ``owner`` is the ``TacticalSituation``. A rule that decides at every thought must repeat.
        parameters: parameters of this commander that differ from those of the rules.
        faults: receives the errors of rules.

    Raises:
        TypeError: if ``rules`` is not a RuleSet.
    """

    def __init__(
        self, rules: RuleSet, *, parameters: Mapping[str, float] | None = None, faults: FaultIsolation | None = None
    ) -> None:
        self.mind = RuleMind(rules, name="commander", parameters=parameters, faults=faults)

    def __call__(self, situation: TacticalSituation) -> str | None:
        """Return the name of a tactic, or None for the formation.

        Raises:
            TypeError: if a rule returns neither a string nor None.
        """
        self.mind.owner = situation
        try:
            fired = self.mind.think(most=1)
        finally:
            self.mind.owner = None
        chosen: Any = fired[0].result if fired else None
        if chosen is not None and not isinstance(chosen, str):
            raise TypeError(f"rule {fired[0].rule!r} must return the name of a tactic or None, got {shown(chosen)}")
        return chosen

    def save_state(self) -> State:
        """Return facts, parameters and fired rules as plain data."""
        return self.mind.save_state()

    def prepare_state(self, state: object) -> Change:
        """Check a saved state and return the function that restores it.

        Raises:
            StateError: if the state cannot be loaded; names the field and the reason.
        """
        return self.mind.prepare_state(state)
