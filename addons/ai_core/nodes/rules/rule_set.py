"""RuleSet: rules as text, as a resource that many characters share."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, Resource, export, gdclass, method
from ai_core.decisions.rules import rule_set as library
from ai_core.decisions.rules.rule_text import RuleLine, read_rules, rules_of

HINT_MULTILINE_TEXT = 18
MISTAKES = (ValueError, TypeError, LookupError)


@gdclass(icon="res://addons/ai_core/icons/rule_set.svg")
class RuleSet(Resource):
    """Rules that many characters think by, each with a RuleMind and its own parameters.

    One rule a line. "flee: afraid > courage | salience 2, repeats" fires, "fear: hurt and not
    covered -> afraid" concludes a fact. Options behind | are salience, above, do METHOD of the
    actor, repeats; salience and above take a number or a parameter. # begins a comment.
    """

    rules = export(
        str, "", hint=(HINT_MULTILINE_TEXT, ""), on_set="_forget",
        doc="One rule a line: \"name: condition | options\" or \"name: condition -> fact\".")
    facts = export(
        dict, {}, on_set="_forget",
        doc="By name, how far it is so to begin with, 0 to 1; or the name of a method of the actor that is asked at"
            " the beginning of every thought. Facts that rules conclude are not listed.")
    parameters = export(
        dict, {}, on_set="_forget",
        doc="In what characters may differ, by name, with the value of one that says nothing else: courage 0.5.")
    period_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_forget",
        doc="Game time from one thought to the next; 0 thinks whenever the scheduler runs the mind.")
    period_parameter = export(
        str, "", on_set="_forget", doc="A parameter that is the period instead: characters think at different speeds.")

    def __init__(self) -> None:
        self._core: library.RuleSet | None = None

    @method
    def get_mistake(self) -> str:
        """Return what is wrong with the rules, with rule, line and column; "" if nothing is."""
        try:
            self.core()
        except RefusedValue as mistake:
            return str(mistake)
        return ""

    @method
    def to_text(self) -> str:
        """Return the rules as they are understood, those that fire first."""
        return self.core().to_text()

    def core(self) -> library.RuleSet:
        """Return the library's rules, made once for all characters.

        Raises:
            RefusedValue: naming rule, line and column.
        """
        if self._core is None:
            try:
                self._core = self._made()
            except MISTAKES as mistake:
                raise RefusedValue(f"rules cannot be used: {mistake}") from None
        return self._core

    def methods_done(self) -> list[str]:
        """Return the methods of the actor that rules call, none of a text that cannot be read."""
        try:
            return [one.does for one in read_rules(self.rules)]
        except MISTAKES:
            return []

    def _made(self) -> library.RuleSet:
        facts = {str(name): value for name, value in self.facts.items()}
        parameters = {str(name): value for name, value in self.parameters.items()}
        return library.RuleSet(
            rules_of(self.rules, facts, parameters, _acting),
            facts={name: _asking(str(value)) if isinstance(value, str) else value for name, value in facts.items()},
            parameters=parameters, period_s=self.period_parameter or self.period_s)

    def _forget(self) -> None:
        self._core = None


def _acting(line: RuleLine) -> Any:
    return lambda mind: mind.owner.fire(line.name, line.does)


def _asking(method_name: str) -> Any:
    return lambda mind: mind.owner.ask(method_name)
