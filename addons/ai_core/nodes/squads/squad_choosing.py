"""Who chooses the tactic of a squad of a scene: its script, rules, or a habit tree; a part of the Squad node."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, has_script_method, method
from ai_core.decisions import rules as library
from ai_core.decisions.rule_text import RuleLine, read_rules, rules_of
from ai_core.squads.tactic_choice import SITUATION_FACTS, TacticByRules, situation_grade
from ai_core.squads.tactical import BUILT_IN

MISTAKES = (ValueError, TypeError, LookupError)


class SquadChoosing:
    """The settings tactic_rules and habits."""

    core: Any
    tactic_rules: Any

    @method
    def get_grade(self: Any, fact: str) -> float:
        """Return how far something is so, 0 to 1: met, near, strong, can_hit, outnumbered, at_risk, under_way, …

        The same facts that rules ask; for the conditions of a HabitTree.
        """
        try:
            return situation_grade(fact, self.core.situation()) if len(self.core) else 0.0
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    def tactic_chooser(self: Any) -> Any:
        """Return what the library's squad asks at each thought.

        Raises:
            RefusedValue: if the rules cannot be used.
        """
        if has_script_method(self, "_choose_tactic") or self.tactic_rules is None:
            return self._asked_tactic
        return TacticByRules(self.rules_of_tactics(), faults=self._scheduler.faults)

    def rules_of_tactics(self: Any) -> library.RuleSet:
        """Return the rules with the facts of a squad: what stands behind "do" is a tactic.

        Raises:
            RefusedValue: naming rule, line and column.
        """
        resource = self.tactic_rules
        facts = {**SITUATION_FACTS, **{
            str(name): _asking(self, value) if isinstance(value, str) else value
            for name, value in resource.facts.items()}}
        parameters = {str(name): value for name, value in resource.parameters.items()}
        known = (*(one.name for one in BUILT_IN), "none", "")
        try:
            for line in read_rules(resource.rules):
                if not line.concludes and line.does not in known:
                    raise ValueError(f"rule {line.name!r} does {line.does!r}; write one of {', '.join(known[:-1])}")
                if not line.concludes and not line.repeats:
                    raise ValueError(f"rule {line.name!r} must repeat, as it is asked at each thought; add \"repeats\"")
            return library.RuleSet(
                rules_of(resource.rules, facts, parameters, _deciding), facts=facts, parameters=parameters)
        except MISTAKES as mistake:
            raise RefusedValue(f"tactic_rules cannot be used: {mistake}") from None

    def choosing_warnings(self: Any) -> list[str]:
        """Return what is wrong with rules and habits."""
        warnings = []
        if self.tactic_rules is not None:
            try:
                self.rules_of_tactics()
            except RefusedValue as mistake:
                warnings.append(f"{mistake}; it will not run")
        if str(self.habits) and self._habit_tree() is None:
            warnings.append(f"habits names '{self.habits}', which is no HabitTree; nobody chooses tactics")
        return warnings

    def _asked_tactic(self: Any, situation: Any) -> str | None:
        if has_script_method(self, "_choose_tactic"):
            return self._choose_tactic() or None
        tree = self._habit_tree()
        if tree is None:
            return self.core.tactic
        names = [name for path in tree.get_active_paths() for name in reversed(str(path).split("/"))]
        return next((one for one in names if one in self.core.tactics), None)

    def _habit_tree(self: Any) -> Any:
        found = self.get_node_or_null(self.habits) if str(self.habits) else None
        return found if found is not None and found.is_class("HabitTree") else None


def _deciding(line: RuleLine) -> Any:
    chosen = None if line.does in ("none", "") else line.does
    return lambda mind: chosen


def _asking(squad: Any, method_name: str) -> Any:
    return lambda mind: squad.call(method_name)
