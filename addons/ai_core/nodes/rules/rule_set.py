"""RuleSet resource: rules as text, shared by many characters."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, Resource, export, gdclass, method
from ai_core.decisions import rules as library
from ai_core.decisions.rule_text import RuleLine, read_rules, rules_of

HINT_MULTILINE_TEXT = 18
DEFINITION_ERRORS = (ValueError, TypeError, LookupError)


@gdclass(icon="res://addons/ai_core/icons/rule_set.svg")
class RuleSet(Resource):
    """Rules that many characters share, each with a RuleMind and its own parameters.

    Each line is a rule. "flee: afraid > courage | salience 2, repeats" fires; "fear: hurt and not
    covered -> afraid" concludes a fact. Options after | are salience, above, do METHOD (of the
    actor) and repeats; salience and above take a number or a parameter. # begins a comment.
    A change affects all minds at once; after a mistake they keep the rules that they had.
    """

    rules = export(
        str, "", hint=(HINT_MULTILINE_TEXT, ""), on_set="_forget",
        doc="The rules, one per line: \"name: condition | options\" or \"name: condition -> fact\".")
    facts = export(
        dict, {}, on_set="_forget",
        doc="Facts by name, with the initial grade, 0 to 1, or with the name of a method of the actor that returns the"
            " grade at the start of every evaluation. Facts that rules conclude are not listed.")
    parameters = export(
        dict, {}, on_set="_forget",
        doc="Parameters by name, with their default values, such as courage 0.5. Each RuleMind may override them.")
    period = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_forget",
        doc="Game time from one evaluation of the rules to the next; 0 means every run of the RuleMind.")
    period_parameter = export(
        str, "", on_set="_forget",
        doc="Parameter to use as the period instead of period, so that it differs between characters.")

    def __init__(self) -> None:
        self._core: library.RuleSet | None = None

    @method
    def get_error(self) -> str:
        """Return the first error in the rules, with rule, line and column; "" if there is none."""
        try:
            self.core()
        except RefusedValue as mistake:
            return str(mistake)
        return ""

    @method
    def to_text(self) -> str:
        """Return a text of the parsed rules: first those that fire, then those that conclude facts."""
        return self.core().to_text()

    def core(self) -> library.RuleSet:
        """Return the library's rules, created once for all characters.

        Raises:
            RefusedValue: if the rules cannot be parsed; the message has rule, line and column.
        """
        if self._core is None:
            try:
                self._core = self._made()
            except DEFINITION_ERRORS as mistake:
                raise RefusedValue(f"rules cannot be used: {mistake}") from None
        return self._core

    def action_methods(self) -> list[str]:
        """Return the methods of the actor that rules call; none if the rules cannot be parsed."""
        try:
            return [one.does for one in read_rules(self.rules)]
        except DEFINITION_ERRORS:
            return []

    def _made(self) -> library.RuleSet:
        facts = {str(name): value for name, value in self.facts.items()}
        parameters = {str(name): value for name, value in self.parameters.items()}
        return library.RuleSet(
            rules_of(self.rules, facts, parameters, _action_callback),
            facts={name: _fact_callback(str(value)) if isinstance(value, str) else value for name,
                value in facts.items()},
            parameters=parameters, period_s=self.period_parameter or self.period)

    def _forget(self) -> None:
        self._core = None
        self.emit_changed()


def _action_callback(line: RuleLine) -> Any:
    return lambda mind: mind.owner.fire(line.name, line.does)


def _fact_callback(method_name: str) -> Any:
    return lambda mind: mind.owner.ask(method_name)


def checked_grade(grade: object, method_name: str) -> float:
    """Return what a method of a script returned as the grade of a fact; raise RefusedValue if it is no number."""
    if not isinstance(grade, (bool, int, float)):
        raise RefusedValue(f"{method_name} must return a number from 0 to 1, got {grade!r}")
    return grade
