"""The rule mind of a character: its facts, its parameters, and the rules that fire."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple

from ai_core.decisions.callback_faults import CallbackFaults, failing_state
from ai_core.decisions.rules.rule_set import RuleSet, grade_of
from ai_core.errors import UnknownNameError, check_callables, check_kind, finite_number, shown, whole_number
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import (
    ByName,
    DeclaredState,
    Number,
    Optional,
    Refuse,
    Row,
    Saveable,
    Seconds,
    Whole,
)
from ai_core.scheduling.task import Turn

OWN_RULES = "its own rules"
"""Name in fault reports of an endless chain of rules."""
MOST_FIRINGS = 100
"""Default limit of the rules that fire in one thought (count); more are an endless chain."""


class FiredRule(NamedTuple):
    """A rule that fired, with the grade of its condition and the result of its ``then``."""

    rule: str
    grade: float
    result: object


class RuleMind(Saveable):
    """Runs a rule set for one character.

    A thought computes the facts that have a callable, then fires rules one by one,
    always the first of the agenda. Only rules and facts that depend on changed facts
    are evaluated again. A rule that has fired does not fire again until a fact that
    it reads has changed; a rule with ``repeats`` can fire again in the next thought.

    An exception of a rule or a fact is reported; the fact keeps its grade. After
    several failures in a row the rule or fact is quarantined until
    ``release_quarantined``.

    Args:
        rules: the rule set, shared with other characters.
        owner: the character, for ``then`` and computed facts.
        name: name in reports and ``to_text``.
        parameters: values that differ from the defaults of the set.
        faults: receives the exceptions of callbacks; None makes one that logs.
        on_fired: called with each rule that fires, after its ``then``.

    Raises:
        UnknownNameError: if the set does not have a parameter.
        ValueError: if a parameter is not finite.

    Cost: O(facts + rules). A thought is O(computed facts + rules evaluated again
    + firings * rules).
    """

    STATE = DeclaredState(
        parameters=ByName(Number(), lambda mind: mind.rules.parameters, at="_parameters"),
        facts=ByName(
            Row(lambda *fact: fact, Number(0, 1), Whole()), lambda mind: mind.rules.facts, at="_facts"),
        fired=ByName(
            Row(lambda *fired: fired, Whole(-1), Whole(-1)),
            lambda mind: [one.rule.name for one in mind.rules.firing], at="_fired"),
        moment=Whole(at="_moment"), thoughts=Whole(at="_thoughts"), waited_s=Optional(Seconds(0), at="_waited_s"),
        failing=failing_state(lambda mind: {*mind.rules.callback_names(), OWN_RULES}))

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    def __init__(
        self,
        rules: RuleSet,
        *,
        owner: Any = None,
        name: str = "mind",
        parameters: Mapping[str, float] | None = None,
        faults: FaultIsolation | None = None,
        on_fired: Callable[[FiredRule], object] | None = None,
    ) -> None:
        if not isinstance(rules, RuleSet):
            raise TypeError(f"rules must be a RuleSet, got {shown(rules)}")
        check_kind("faults", faults, FaultIsolation)
        check_callables(on_fired=on_fired)
        self.rules, self.owner, self.name = rules, owner, name
        self.on_fired = on_fired
        self._parameters = list(rules.defaults)
        self._grades = list(rules.beginning)
        self._changed = [0] * len(self._grades)
        self._fired = [(-1, -1)] * len(rules.firing)
        self._met = [0.0] * len(rules.firing)
        self._moment, self._thoughts = 0, 0
        self._to_conclude = set(rules.concluded)
        self._to_look_at = set(range(len(rules.firing)))
        self._waited_s: float | None = None
        self._is_thinking = False
        self._faults = CallbackFaults(name, faults)
        for parameter, value in (parameters or {}).items():
            self._parameters[self._parameter(parameter)] = finite_number(f"parameter {parameter!r}", value)

    def set(self, fact: str, grade: float) -> None:
        """Set the grade of a fact.

        Args:
            fact: a fact that is neither computed nor concluded.
            grade: from 0, false, to 1, true; True and False count as 1 and 0.

        Raises:
            UnknownNameError: if the rules have no such fact.
            ValueError: if the fact is computed or concluded, or the grade is out of range.
        """
        index = self._fact(fact)
        if self.rules.concluding(index):
            raise ValueError(f"fact {fact!r} is concluded by a rule; set the facts that it depends on")
        if any(index == one for one, _, _ in self.rules.asked):
            raise ValueError(f"fact {fact!r} is computed at every thought; declare it with a grade to set it")
        self._put(index, grade_of(fact, grade))

    def grade(self, fact: str) -> float:
        """Return the grade of a fact, 0..1.

        Raises:
            UnknownNameError: if the rules have no such fact.
        """
        index = self._fact(fact)
        self._conclude()
        return self._grades[index]

    def parameter(self, name: str) -> float:
        """Return the value of a parameter.

        Raises:
            UnknownNameError: if the rules have no such parameter.
        """
        return self._parameters[self._parameter(name)]

    def set_parameter(self, name: str, value: float) -> None:
        """Set a parameter of this character; all rules are evaluated again.

        Raises:
            UnknownNameError: if the rules have no such parameter.
            ValueError: if the value is not finite.
        """
        self._parameters[self._parameter(name)] = finite_number(f"parameter {name!r}", value)
        self._to_conclude = set(self.rules.concluded)
        self._to_look_at = set(range(len(self._met)))

    def think(self, most: int | None = None) -> list[FiredRule]:
        """Compute facts, fire rules, and return the rules that fired.

        Args:
            most: largest number of rules that fire, 1 or more: 1 makes one decision.
                None for all; an endless chain of rules is cut off and reported.

        Raises:
            RuntimeError: if called from inside a rule or fact of this mind.
        """
        limit = _most_firings(most)
        self._begin_thought()
        fired: list[FiredRule] = []
        kept: list[Exception] = []
        try:
            self._ask(kept)
            while (best := self._best()) is not None:
                if len(fired) == limit:
                    if most is None:
                        self._report(OWN_RULES, kept, RuntimeError(
                            f"more than {MOST_FIRINGS} rules fired in one thought, the last {fired[-1].rule!r};"
                            " the chain has no end"
                        ))
                    break
                fired.append(self._fire(best, kept))
        finally:
            self._is_thinking = False
        if kept:
            raise kept[0]
        return fired

    def update(self, elapsed_s: float, most: int | None = None) -> list[FiredRule] | None:
        """Think if the period of the rules has passed; return the fired rules, None if it has not passed.

        Args:
            elapsed_s: time since the last call (s), 0 or more.
            most: as for ``think``.

        Raises:
            TypeError: if an argument is not a number.
            ValueError: if an argument is out of range.
        """
        _most_firings(most)
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        period_s = self.rules.period_s(self._parameters)
        if self._waited_s is not None:
            self._waited_s += elapsed_s
            if self._waited_s < period_s:
                return None
        # The rest counts for the next period, so that the rate is true on average.
        self._waited_s = self._waited_s % period_s if self._waited_s and period_s > 0 else 0.0
        return self.think(most)

    def advance(self, turn: Turn) -> list[FiredRule] | None:
        """Update as a task of a scheduler: ``scheduler.add(mind)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"turn must be a scheduler's Turn, got {shown(turn)}; without one, call update(elapsed_s)"
            )
        return self.update(turn.elapsed_s)

    def agenda(self) -> list[tuple[str, float, float]]:
        """Return (rule, salience, grade) of all rules that can fire now, in order of firing.

        Cost: O(rules log rules); computes no facts.
        """
        self._look_again()
        return [
            (self.rules.firing[index].rule.name, -salience, -grade)
            for salience, grade, index in sorted(self._could_fire())
        ]

    def release_quarantined(self) -> None:
        """Release all quarantined rules and facts."""
        self._faults.release()

    def to_text(self) -> str:
        """Return parameters, facts with their grades, and the agenda."""
        self._conclude()
        parameters = ", ".join(f"{name} {self._parameters[index]:g}" for name, index in self.rules.parameters.items())
        facts = ", ".join(f"{name} {self._grades[index]:.2f}" for name, index in self.rules.facts.items())
        agenda = [f"  {rule} (salience {salience:g}, met {grade:.2f})" for rule, salience, grade in self.agenda()]
        return "\n".join([f"{self.name}: {parameters}", f"  facts: {facts}", *(agenda or ["  nothing to do"])])

    def _begin_thought(self) -> None:
        if self._is_thinking:
            raise RuntimeError(f"think of {self.name!r} was called from inside its own thought; set facts instead")
        self._is_thinking = True
        self._thoughts += 1

    def _ask(self, kept: list[Exception]) -> None:
        for index, name, ask in self.rules.asked:
            callback = f"fact {name!r}"
            if self._faults.failing and self._faults.is_left_out(callback):
                continue
            try:
                grade = grade_of(name, ask(self))
            except Exception as error:  # the fact keeps its grade, the thought continues
                self._report(callback, kept, error)
                continue
            if self._faults.failing:
                self._faults.note_success(callback)
            self._put(index, grade)

    def _fire(self, index: int, kept: list[Exception]) -> FiredRule:
        rule, grade = self.rules.firing[index].rule, self._met[index]
        self._fired[index] = self._moment, self._thoughts
        result: object = None
        assert rule.then is not None
        try:
            result = rule.then(self)
        except Exception as error:  # the other rules are not affected
            self._report(f"rule {rule.name!r}", kept, error)
        else:
            if self._faults.failing:
                self._faults.note_success(f"rule {rule.name!r}")
        fired = FiredRule(rule.name, grade, result)
        if self.on_fired is not None:
            try:
                self.on_fired(fired)
            except Exception as error:  # raised when the thought is over
                kept.append(error)
        return fired

    def _best(self) -> int | None:
        """Return the rule that is first on the agenda, None if it is empty."""
        self._look_again()
        best = min(self._could_fire(), default=None)
        return None if best is None else best[2]

    def _could_fire(self) -> list[tuple[float, float, int]]:
        """Return (-salience, -grade, index) of each rule on the agenda; the smallest fires first."""
        found = []
        for index, grade in enumerate(self._met):
            planned = self.rules.firing[index]
            if grade > planned.above(self._parameters) and self._is_fresh(index) and not self._is_left_out(index):
                found.append((-planned.salience(self._parameters), -grade, index))
        return found

    def _is_fresh(self, index: int) -> bool:
        """Return whether a fact that the rule reads has changed since it fired, or it may repeat."""
        at_moment, in_thought = self._fired[index]
        if at_moment < 0:
            return True
        planned = self.rules.firing[index]
        if planned.rule.repeats and in_thought != self._thoughts:
            return True
        return any(self._changed[fact] > at_moment for fact in planned.condition.facts)

    def _is_left_out(self, index: int) -> bool:
        return self._faults.is_left_out(f"rule {self.rules.firing[index].rule.name!r}")

    def _put(self, index: int, grade: float) -> None:
        if grade != self._grades[index]:
            self._moment += 1
            self._grades[index] = grade
            self._changed[index] = self._moment
            facts, rules = self.rules.readers[index]
            self._to_conclude |= facts
            self._to_look_at |= rules

    def _conclude(self) -> None:
        """Update the concluded facts that depend on changed facts."""
        if self._to_conclude:
            for index in self.rules.concluded:  # each after the facts it depends on
                if index in self._to_conclude:
                    self._put(index, self._concluded(index))
            self._to_conclude = set()

    def _concluded(self, index: int) -> float:
        return max(one.grade(self._grades, self._parameters) for one in self.rules.concluding(index))

    def _look_again(self) -> None:
        """Update the grades of rules."""
        self._conclude()
        for index in self._to_look_at:
            self._met[index] = self.rules.firing[index].condition.grade(self._grades, self._parameters)
        self._to_look_at = set()

    def _fact(self, name: str) -> int:
        try:
            return self.rules.facts[name]
        except (KeyError, TypeError):
            raise UnknownNameError("fact", name, self.rules.facts) from None

    def _parameter(self, name: str) -> int:
        try:
            return self.rules.parameters[name]
        except (KeyError, TypeError):
            raise UnknownNameError("parameter", name, self.rules.parameters) from None

    def _report(self, name: str, kept: list[Exception], error: Exception) -> None:
        try:
            self._faults.report(name, self._thoughts, error)
        except Exception as raised:  # raised again after the thought
            kept.append(raised)

    @property
    def _facts(self) -> list[tuple[float, int]]:
        """The grade and the moment of the last change of each fact."""
        return list(zip(self._grades, self._changed, strict=True))

    @_facts.setter
    def _facts(self, facts: list[tuple[float, int]]) -> None:
        self._grades, self._changed = [grade for grade, _ in facts], [changed for _, changed in facts]

    def _check_at_rest(self) -> None:
        if self._is_thinking:
            raise RuntimeError(f"{self.name!r} is in the middle of a thought; save and load between two frames")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for name, (_, changed) in zip(self.rules.facts, values.facts, strict=True):
            if changed > values.moment:
                refuse(f"facts.{name}[1]", f"must be at most 'moment', {values.moment}, got {changed}")

    def _finish_load(self) -> None:
        self._to_conclude = set(self.rules.concluded)  # concluded facts are computed by the present rules
        self._to_look_at = set(range(len(self.rules.firing)))


def _most_firings(most: int | None) -> int:
    """Return the limit of rules that fire in one thought."""
    return MOST_FIRINGS if most is None else whole_number("most", most, minimum=1)


__all__ = ["MOST_FIRINGS", "FiredRule", "RuleMind"]
