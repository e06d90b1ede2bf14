"""Choice of a squad's tactic: by its script, by rules, or by a HabitTree."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, is_overridden
from addons.ai_core.nodes.rules.rule_set import DEFINITION_ERRORS, RuleSet, checked_grade
from addons.ai_core.nodes.rules.rule_state import fitted_state, named_parts
from addons.ai_core.nodes.scheduling.followed_resources import follow_changes
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame
from ai_core.decisions import rules as library
from ai_core.decisions.rule_text import RuleLine, read_rules, rules_of
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.squads.squad import BUILT_IN, ChooseTactic
from ai_core.squads.tactics import SITUATION_FACTS, TacticByRules


class TacticChoice:
    """Chooses the tactic of a squad at each of its thoughts, and follows changes of its rules.

    Args:
        squad: the Squad.
    """

    def __init__(self, squad: Any) -> None:
        self._squad = squad
        self._faults: FaultIsolation | None = None
        self._followed: Sequence[RuleSet] = ()

    def begin(self, faults: FaultIsolation) -> ChooseTactic:
        """Follow the present rules, and return the function that chooses a tactic.

        Invalid rules are reported, and choose none: the tactic stays the one that was set.

        Args:
            faults: receives the errors of rules.
        """
        self._faults = faults
        self._followed = follow_changes(self._followed, [self._squad.tactic_rules], self._follow)
        return self._chooser(self._by_script_or_habits)

    def end(self) -> None:
        """Follow no rules."""
        self._followed = follow_changes(self._followed, (), self._follow)

    def warnings(self) -> list[str]:
        """Return the configuration warnings of tactic_rules and habits."""
        why = why_not_named(self._squad, "habits")
        return [*self._mistakes(), *([f"{why}; no tactics will be chosen"] if why else [])]

    def parts(self, saved: object, place: str) -> tuple[list[str], list[str]]:
        """Return the facts, parameters and rules of a saved choice, and of the present one, without built-in facts.

        A squad that was saved without rules has no parts, and neither has the present one then: its rules continue.
        """
        chooser = self._squad.core.choose_tactic
        here = chooser.save_state() if isinstance(chooser, TacticByRules) and saved is not None else None
        built_in = {f"fact {name}" for name in SITUATION_FACTS}
        before, now = ([one for one in named_parts(state, place) if one not in built_in] for state in (saved, here))
        return before, now

    def fitted_state(self, saved: State, place: str) -> State | None:
        """Return a saved choice for the present rules, see ``rule_state.fitted_state``; None without rules."""
        chooser = self._squad.core.choose_tactic
        if not isinstance(chooser, TacticByRules):
            return None
        rules = chooser.mind.rules
        return fitted_state(saved, TacticByRules(rules).save_state(), rules, place)

    def _follow(self) -> None:
        """Choose by the rules as they are now, with the facts and fired rules of before; keep the former if invalid."""
        if self._squad.is_in_use():
            core = self._squad.core
            core.choose_tactic = self._chooser(core.choose_tactic)

    def _chooser(self, before: ChooseTactic) -> ChooseTactic:
        """Return what chooses by the present rules, ``before`` if they are invalid."""
        if is_overridden(self._squad, "_choose_tactic") or self._squad.tactic_rules is None:
            return self._by_script_or_habits
        try:
            name = f"squad '{self._squad.get_name()}'"
            chooser = TacticByRules(self._rules(), name=name, faults=self._faults)
        except RefusedValue:
            report_next_frame(self._squad, self._mistakes)
            return before
        if isinstance(before, TacticByRules):
            chooser.mind.continue_from(before.mind)
        return chooser

    def _rules(self) -> library.RuleSet:
        """Return the rules with the facts of a squad; the name after "do" is a tactic.

        Raises:
            RefusedValue: with the rule, line and column of the error.
        """
        resource = self._squad.tactic_rules
        facts = {**SITUATION_FACTS, **{
            str(name): self._asking(value) if isinstance(value, str) else value
            for name, value in resource.facts.items()}}
        parameters = {str(name): value for name, value in resource.parameters.items()}
        known = (*(one.name for one in BUILT_IN), "none", "")
        try:
            for line in read_rules(resource.rules):
                if not line.concludes and line.does not in known:
                    raise ValueError(
                        f"rule {line.name!r} does {line.does!r}, which is not a tactic; use {', '.join(known[:-1])}")
                if not line.concludes and not line.repeats:
                    raise ValueError(f"rule {line.name!r} must repeat, as it runs at each thought; add \"repeats\"")
            return library.RuleSet(
                rules_of(resource.rules, facts, parameters, _deciding), facts=facts, parameters=parameters)
        except DEFINITION_ERRORS as mistake:
            raise RefusedValue(f"tactic_rules cannot be used: {mistake}") from None

    def _asking(self, method_name: str) -> Any:
        return lambda mind: checked_grade(self._squad.call(method_name), f"{method_name}() of the squad")

    def _mistakes(self) -> list[str]:
        try:
            if self._squad.tactic_rules is not None:
                self._rules()
        except RefusedValue as mistake:
            return [f"{mistake}; they choose no tactics until this is corrected"]
        return []

    def _by_script_or_habits(self, situation: Any) -> str | None:
        squad = self._squad
        if is_overridden(squad, "_choose_tactic"):
            return squad._choose_tactic() or None
        tree = named_node(squad, "habits")
        if tree is None:
            return squad.core.tactic
        names = [name for path in tree.get_active_paths() for name in reversed(str(path).split("/"))]
        return next((one for one in names if one in squad.core.tactics), None)


def _deciding(line: RuleLine) -> Any:
    chosen = None if line.does in ("none", "") else line.does
    return lambda mind: chosen
