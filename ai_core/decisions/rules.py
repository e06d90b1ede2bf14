"""Fuzzy rules: conditions over graded facts, rule sets shared by characters, and the mind of each character."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple

from ai_core.decisions.callback_faults import CallbackFaults, failing_state
from ai_core.described import Described
from ai_core.errors import (
    CycleError,
    UnknownNameError,
    check_callables,
    check_kind,
    check_type,
    finite_number,
    named,
    several,
    shown,
    whole_number,
)
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import ByName, Number, Optional, Row, Seconds, Whole
from ai_core.scheduling.task import Turn

__all__ = [
    "LONGEST_CONDITION", "MOST_FIRINGS", "Amount", "Asked", "Condition", "FiredRule", "Grade", "Rule", "RuleMind",
    "RuleSet", "parsed_condition"]

LONGEST_CONDITION = 1000
"""Longest text of a condition (characters); far below the nesting limit of Python's parser."""
ROUNDING = 1e-6
"""By how much a grade may be outside 0 to 1 (no unit): a computed one is off by rounding, in float32 by 1.2e-7."""
Grade = Callable[[Sequence[float], Sequence[float]], float]
"""Called with the grades of all facts and the values of all parameters, returns a number."""
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


class Condition(NamedTuple):
    """A compiled condition."""

    text: str
    facts: tuple[int, ...]
    """Indexes of the facts it reads, sorted."""
    grade: Grade
    """Called with all grades and parameters, returns the grade of the condition, 0..1."""


def parsed_condition(text: str, facts: Mapping[str, int], parameters: Mapping[str, int], place: str) -> Condition:
    """Compile a condition.

    Args:
        text: names of facts, ``and``, ``or``, ``not``, brackets; comparisons
            ``< <= > >=`` between facts, parameters and numbers.
        facts: index of each fact by name.
        parameters: index of each parameter by name.
        place: owner of the condition, for messages: "rule 'flee'".

    Raises:
        TypeError: if it is not a string.
        ValueError: if it contains anything else; the message quotes it.
        UnknownNameError: if a fact is not declared.
    """
    check_type(f"{place}: a condition", text, str)
    if len(text) > LONGEST_CONDITION:
        raise ValueError(f"{place}: a condition must have at most {LONGEST_CONDITION} characters, got {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f'{place}: a condition must have the form "sees_player and not afraid", got {shown(text)}') from None
    reader = _ConditionReader(facts, parameters, place)
    try:
        grade = reader.grade(tree.body)
    except RecursionError:
        raise ValueError(
            f"{place}: a condition is nested too deeply: {shown(text)}; conclude facts from its parts") from None
    return Condition(" ".join(text.split()), tuple(sorted(reader.read)), grade)


class _ConditionReader:
    def __init__(self, facts: Mapping[str, int], parameters: Mapping[str, int], place: str) -> None:
        self._facts, self._parameters, self._place = facts, parameters, place
        self.read: set[int] = set()

    def grade(self, node: ast.expr) -> Grade:
        if isinstance(node, ast.BoolOp):
            return _joined([self.grade(one) for one in node.values], min if isinstance(node.op, ast.And) else max)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.grade(node.operand)
            return lambda facts, parameters: 1.0 - inner(facts, parameters)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            holds = COMPARISONS[type(node.ops[0])]
            left, right = self._number(node.left), self._number(node.comparators[0])
            return lambda facts, parameters: 1.0 if holds(left(facts, parameters), right(facts, parameters)) else 0.0
        if isinstance(node, ast.Name):
            if node.id in self._parameters:
                raise ValueError(
                    f"{self._place}: {node.id!r} is a parameter and has no grade; compare it with a fact")
            return self._fact(node.id)
        return self._refuse(node)

    def _number(self, node: ast.expr) -> Grade:
        if isinstance(node, ast.Name):
            index = self._parameters.get(node.id)
            return self._fact(node.id) if index is None else lambda facts, parameters: parameters[index]
        sign = 1.0
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1.0, node.operand
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            number = sign * finite_number(f"{self._place}: a number in a condition", node.value)
            return lambda facts, parameters: number
        return self._refuse(node)

    def _fact(self, name: str) -> Grade:
        index = self._facts.get(name)
        if index is None:
            raise UnknownNameError(f"fact in {self._place}", name, [*self._facts, *self._parameters])
        self.read.add(index)
        return lambda facts, parameters: facts[index]

    def _refuse(self, node: ast.expr) -> Grade:
        raise ValueError(
            f"{self._place}: a condition must consist of facts, and, or, not, brackets and < <= > >=,"
            f" got {shown(ast.unparse(node))}")


def _joined(parts: list[Grade], choose: Callable[..., float]) -> Grade:
    if len(parts) == 2:  # the usual number, without a list
        first, second = parts
        return lambda facts, parameters: choose(first(facts, parameters), second(facts, parameters))
    return lambda facts, parameters: choose([part(facts, parameters) for part in parts])


Asked = Callable[["RuleMind"], float]
"""A callable that computes a fact: called with the mind, returns the grade."""
ALWAYS = Condition("", (), lambda facts, parameters: 1.0)
Amount = float | str
"""A number, or the name of a parameter, which may differ between characters."""


class Rule:
    """A rule: a condition, with an action or a conclusion.

    Args:
        name: unique among the rules of a set.
        when: the condition, see ``parsed_condition``; "" is always fully met.
        then: called with the mind when the rule fires; its result is part of the
            result of ``think``.
        concludes: name of a fact, instead of ``then``: its grade is always that of
            the condition. Of several rules for a fact, the highest grade counts.
        salience: importance; of the rules that can fire, the one of the highest
            salience fires.
        above: the grade of the condition must be above this, 0 <= above < 1.
        repeats: the rule may fire in every thought; otherwise only once until a
            fact that it reads has changed.

    Raises:
        TypeError: if ``then`` is not callable.
        ValueError: if both ``then`` and ``concludes`` are given, or neither.
    """

    __slots__ = ("above", "concludes", "name", "repeats", "salience", "then", "when")

    def __init__(
        self, name: str, when: str, then: Callable[[RuleMind], object] | None = None, *, concludes: str = "",
        salience: Amount = 0.0, above: Amount = 0.0, repeats: bool = False,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a rule must be a non-empty string, got {shown(name)}")
        check_callables(**{f"rule {name!r}: then": then})
        if (then is None) == (concludes == ""):
            raise ValueError(
                f"rule {name!r} must have either then or concludes, got {'neither' if then is None else 'both'};"
                f" divide it into two rules, or name what it does")
        self.name, self.when, self.then = name, when, then
        self.concludes = concludes
        self.salience = _amount(f"rule {name!r}: salience", salience)
        self.above = _amount(f"rule {name!r}: above", above)
        if not isinstance(self.above, str) and not 0.0 <= self.above < 1.0:
            raise ValueError(f"rule {name!r}: above must be at least 0 and below 1, got {self.above!r}")
        check_type(f"rule {name!r}: repeats", repeats, bool)
        self.repeats = repeats

    def __repr__(self) -> str:
        return f"<Rule {self.name!r}: {self.when}>"


class PlannedRule(NamedTuple):
    """A rule that fires, at its place in a set."""

    rule: Rule
    condition: Condition
    salience: Callable[[list[float]], float]
    """Called with the parameters, returns the salience."""
    above: Callable[[list[float]], float]
    """Called with the parameters, returns the grade above which the rule can fire."""


class RuleSet(Described):
    """Rules with their facts, and the parameters in which characters may differ.

    Of the rules that can fire, the one of the highest salience fires; at equal
    salience the one whose condition has the highest grade; then the first in ``rules``.

    Args:
        rules: the rules; their order decides ties only.
        facts: by name, the initial grade, or a callable that computes the grade at
            the beginning of every thought. Facts concluded by rules are not
            listed here.
        parameters: default value by name; any finite number.
        period_s: game time between two thoughts (s), for ``RuleMind.advance``;
            0 thinks at every turn. With the name of a parameter, the period can
            differ between characters.

    Attributes:
        firing: the rules with an action, in order.
        concluded: indexes of concluded facts, each after the facts it depends on.
        readers: for each fact, the facts that depend on it and the rules that read it.

    Raises:
        TypeError: if an entry is not a Rule, or a value is not a number.
        ValueError: if a name is not an identifier, or is used twice.
        UnknownNameError: if a rule refers to an unknown fact or parameter.
        CycleError: if a fact depends on itself.

    Cost: O(total length of the conditions), once.
    """

    SHOWN = ("rules", "facts")

    def __init__(
        self, rules: Iterable[Rule], *, facts: Mapping[str, float | Asked],
        parameters: Mapping[str, float] | None = None, period_s: Amount = 0.0,
    ) -> None:
        self.rules = _checked_rules(rules)
        check_type("facts", facts, Mapping, "use {'near': 0.0}")
        check_kind("parameters", parameters, Mapping)
        self.defaults = [
            finite_number(f"parameter {name!r}", value) for name, value in (parameters or {}).items()]
        self.parameters = {_identifier("parameter", name): index for index, name in enumerate(parameters or {})}
        concluded = dict.fromkeys(rule.concludes for rule in self.rules if rule.concludes)
        self.facts = {_identifier("fact", name): index for index, name in enumerate([*facts, *concluded])}
        self._check_names(list(facts), list(concluded))
        self.beginning = [0.0 if callable(one) else grade_of(name, one) for name, one in facts.items()]
        self.beginning += [0.0] * len(concluded)
        self.computed = tuple((self.facts[name], name, one) for name, one in facts.items() if callable(one))
        self.period_s = self._reader(
            "period_s", period_s if isinstance(period_s, str) else finite_number("period_s", period_s, minimum=0))
        self._plan()

    def concluding(self, fact: int) -> tuple[Condition, ...]:
        """Return the conditions that conclude a fact; () if it is set or computed."""
        return self._concluding.get(fact, ())

    def origin_of(self, fact: int) -> str:
        """Return where the grade of a fact comes from: "concluded", "computed" or "set"."""
        if self.concluding(fact):
            return "concluded"
        return "computed" if any(fact == one for one, _, _ in self.computed) else "set"

    def callback_names(self) -> set[str]:
        """Return the names of all callbacks in fault reports: "rule 'flee'", "fact 'near'"."""
        return {f"rule {one.rule.name!r}" for one in self.firing} | {f"fact {name!r}" for _, name, _ in self.computed}

    def to_text(self) -> str:
        """Return one line per rule; rules with an action come first."""
        return "\n".join(
            f"{rule.name}: {rule.when or 'always'}"
            + (f" -> {rule.concludes}" if rule.concludes else f" (salience {rule.salience})")
            for rule in sorted(self.rules, key=lambda rule: bool(rule.concludes)))

    def _check_names(self, facts: list[str], concluded: list[str]) -> None:
        for name in concluded:
            if name in facts:
                raise ValueError(f"fact {name!r} is concluded by a rule; leave it out of facts")
        for name in self.parameters:
            if name in self.facts:
                raise ValueError(f"{name!r} is both a fact and a parameter; rename one")

    def _plan(self) -> None:
        firing: list[PlannedRule] = []
        concluding: dict[int, list[Condition]] = {}
        for rule in self.rules:
            condition = ALWAYS
            if rule.when != "":
                condition = parsed_condition(rule.when, self.facts, self.parameters, f"rule {rule.name!r}")
            if rule.concludes:
                concluding.setdefault(self.facts[rule.concludes], []).append(condition)
            else:
                firing.append(PlannedRule(rule, condition, *[
                    self._reader(f"{what} of rule {rule.name!r}", amount)
                    for what, amount in (("salience", rule.salience), ("above", rule.above))]))
        self.firing = tuple(firing)
        self._concluding = {fact: tuple(ones) for fact, ones in concluding.items()}
        self.concluded = tuple(self._in_order())
        self.readers = tuple(
            (
                frozenset(to for to, ones in concluding.items() if any(fact in one.facts for one in ones)),
                frozenset(index for index, one in enumerate(firing) if fact in one.condition.facts))
            for fact in range(len(self.facts)))

    def _reader(self, what: str, amount: Amount) -> Callable[[list[float]], float]:
        if not isinstance(amount, str):
            return lambda values: amount
        index = named(f"parameter as {what}", amount, self.parameters)
        return lambda values: values[index]

    def _in_order(self) -> list[int]:
        names = list(self.facts)
        done: list[int] = []
        under_way: list[int] = []

        def visit(fact: int) -> None:
            if fact in done or fact not in self._concluding:
                return
            if fact in under_way:
                circle = [repr(names[one]) for one in (*under_way[under_way.index(fact):], fact)]
                raise CycleError(
                    f"a fact must not depend on itself: {' from '.join(circle)}; remove one of them from a condition")
            under_way.append(fact)
            for condition in self._concluding[fact]:
                for other in condition.facts:
                    visit(other)
            under_way.pop()
            done.append(fact)

        for fact in self._concluding:
            visit(fact)
        return done


def grade_of(name: str, value: object) -> float:
    """Return a grade; raise an error unless it is a number from 0 to 1, within rounding."""
    if type(value) is float:
        if 0.0 <= value <= 1.0:
            return value
        if -ROUNDING <= value <= 1.0 + ROUNDING:
            return 0.0 if value < 0.0 else 1.0
    if type(value) is bool:
        return float(value)
    return finite_number(f"the grade of {name!r}", value, minimum=0.0, maximum=1.0)


def _checked_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    found = several("rules", rules, Rule)
    names = set()
    for rule in found:
        if rule.name in names:
            raise ValueError(f"two rules are named {rule.name!r}; rename one")
        names.add(rule.name)
    return found


def _identifier(kind: str, name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise ValueError(f"the name of a {kind} must be an identifier (letters, digits and _), got {shown(name)}")
    return name


def _amount(name: str, value: Amount) -> Amount:
    return value if isinstance(value, str) else finite_number(name, value)


OWN_RULES = "its own rules"
"""Name in fault reports of an endless chain of rules."""
MOST_FIRINGS = 100
"""Limit of the further firings in one thought, once as many rules have fired as there are (count); more are a chain
without an end."""


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
        on_fired: called with each rule that fires, after its ``then``. The thought ends
            first if it raises; then the first exception is raised to the caller.

    Raises:
        UnknownNameError: if the set does not have a parameter.
        ValueError: if a parameter is not finite.

    Cost: O(facts + rules). A thought is O(computed facts + rules evaluated again
    + firings * rules).
    """

    SHOWN = ("rules",)

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
        self, rules: RuleSet, *, owner: Any = None, name: str = "mind", parameters: Mapping[str, float] | None = None,
        faults: FaultIsolation | None = None, on_fired: Callable[[FiredRule], object] | None = None,
    ) -> None:
        check_type("rules", rules, RuleSet)
        check_kind("faults", faults, FaultIsolation)
        check_callables(on_fired=on_fired)
        check_type("name", name, str)
        check_kind("parameters", parameters, Mapping)
        self.rules, self.owner, self.name = rules, owner, name
        self.on_fired = on_fired
        self._parameters = list(rules.defaults)
        self._grades = list(rules.beginning)
        self._changed = [0] * len(self._grades)
        self._fired = [(-1, -1)] * len(rules.firing)
        self._met = [0.0] * len(rules.firing)
        self._moment, self._thoughts = 0, 0
        self._to_conclude = set(rules.concluded)
        self._to_evaluate = set(range(len(rules.firing)))
        self._waited_s: float | None = None
        self._is_thinking = False
        self._faults = CallbackFaults(name, faults)
        for parameter, value in (parameters or {}).items():
            self._parameters[self._parameter(parameter)] = finite_number(f"parameter {parameter!r}", value)
        self._first_parameters = list(self._parameters)
        self._kept: set[str] = set()        # parameters that another mind had changed before it was continued

    def continue_from(self, before: RuleMind) -> None:
        """Take over facts, parameters and fired rules by their names, for rules that replace those of another mind.

        Grades and parameters that ``before`` has never changed begin as these rules say.

        Raises:
            TypeError: if ``before`` is not a RuleMind.

        Cost: O(facts + rules).
        """
        check_type("before", before, RuleMind)
        old, moment = before.rules, before._moment
        for name, index in old.facts.items():
            here = self.rules.facts.get(name)
            if here is None or self.rules.origin_of(here) != old.origin_of(index):
                continue
            self._changed[here] = before._changed[index]
            if before._changed[index]:
                self._grades[here] = before._grades[index]
            elif self._grades[here] != before._grades[index]:
                self._changed[here] = moment = before._moment + 1       # a change, for rules that fired
        for name, index in old.parameters.items():
            is_changed = name in before._kept or before._parameters[index] != before._first_parameters[index]
            if is_changed and name in self.rules.parameters:
                self._parameters[self.rules.parameters[name]] = before._parameters[index]
                self._kept.add(name)
        fired = {one.rule.name: at for one, at in zip(old.firing, before._fired, strict=True)}
        self._fired = [fired.get(one.rule.name, (-1, -1)) for one in self.rules.firing]
        self._moment, self._thoughts, self._waited_s = moment, before._thoughts, before._waited_s

    def set(self, fact: str, grade: float) -> None:
        """Set the grade of a fact.

        Args:
            fact: a fact that is neither computed nor concluded.
            grade: from 0, false, to 1, true; True and False count as 1 and 0. What rounding puts outside, by up to
                1e-6, counts as 0 or 1.

        Raises:
            UnknownNameError: if the rules have no such fact.
            ValueError: if the fact is computed or concluded, or the grade is out of range.
        """
        index = self._fact(fact)
        origin = self.rules.origin_of(index)
        if origin == "concluded":
            raise ValueError(f"fact {fact!r} is concluded by a rule; set the facts that it depends on")
        if origin == "computed":
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
        self._to_evaluate = set(range(len(self._met)))

    def think(self, most: int | None = None) -> list[FiredRule]:
        """Compute facts, fire rules, and return the rules that fired.

        Args:
            most: largest number of rules that fire, 1 or more: 1 makes one decision.
                None for all; an endless chain of rules is cut off and reported.

        Raises:
            RuntimeError: if called from inside a rule or fact of this mind.
        """
        limit = _most_firings(most, self.rules)
        if self._is_thinking:
            raise RuntimeError(f"think of {self.name!r} was called from inside its own thought; set facts instead")
        self._is_thinking = True
        self._thoughts += 1
        fired: list[FiredRule] = []
        try:
            self._compute()
            while (best := self._best()) is not None:
                if len(fired) == limit:
                    if most is None:
                        self._faults.report(OWN_RULES, self._thoughts, RuntimeError(
                            f"more than {limit} rules fired in one thought, the last {fired[-1].rule!r};"
                            " the chain has no end"))
                    break
                fired.append(self._fire(best))
        finally:
            self._is_thinking = False
        self._faults.raise_kept()
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
        _most_firings(most, self.rules)
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0, maximum=LATEST_S - (self._waited_s or 0.0))
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
        check_type("turn", turn, Turn, "without one, call update(elapsed_s)")
        return self.update(turn.elapsed_s)

    def agenda(self) -> list[tuple[str, float, float]]:
        """Return (rule, salience, grade) of all rules that can fire now, in order of firing.

        Cost: O(rules log rules); computes no facts.
        """
        self._evaluate()
        return [
            (self.rules.firing[index].rule.name, -salience, -grade)
            for salience, grade, index in sorted(self._could_fire())]

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

    def _compute(self) -> None:
        """Set the facts that have a callable; after an exception a fact keeps its grade."""
        for index, name, compute in self.rules.computed:
            callback = f"fact {name!r}"
            if self._faults.is_quarantined(callback):
                continue
            try:
                grade = grade_of(name, compute(self))
            except Exception as error:
                self._faults.report(callback, self._thoughts, error)
            else:
                self._faults.note_success(callback)
                self._put(index, grade)

    def _fire(self, index: int) -> FiredRule:
        """Call the action of a rule; an exception does not affect the other rules."""
        rule, callback = self.rules.firing[index].rule, f"rule {self.rules.firing[index].rule.name!r}"
        self._fired[index] = self._moment, self._thoughts
        result: object = None
        assert rule.then is not None
        try:
            result = rule.then(self)
        except Exception as error:
            self._faults.report(callback, self._thoughts, error)
        else:
            self._faults.note_success(callback)
        fired = FiredRule(rule.name, self._met[index], result)
        if self.on_fired is not None:
            try:
                self.on_fired(fired)
            except Exception as error:  # raised at the end of the thought
                self._faults.keep(error)
        return fired

    def _best(self) -> int | None:
        """Return the rule that is first on the agenda, None if it is empty."""
        self._evaluate()
        return min(self._could_fire(), default=(0.0, 0.0, None))[2]

    def _could_fire(self) -> list[tuple[float, float, int]]:
        """Return (-salience, -grade, index) of each rule on the agenda; the smallest fires first."""
        return [
            (-planned.salience(self._parameters), -grade, index)
            for index, (grade, planned) in enumerate(zip(self._met, self.rules.firing, strict=True))
            if grade > planned.above(self._parameters) and self._is_fresh(index)
            and not (self._faults.failing and self._faults.is_quarantined(f"rule {planned.rule.name!r}"))]

    def _is_fresh(self, index: int) -> bool:
        """Return whether a fact that the rule reads has changed since it fired, or it may repeat."""
        at_moment, in_thought = self._fired[index]
        if at_moment < 0:
            return True
        planned = self.rules.firing[index]
        if planned.rule.repeats and in_thought != self._thoughts:
            return True
        return any(self._changed[fact] > at_moment for fact in planned.condition.facts)

    def _put(self, index: int, grade: float) -> None:
        if grade != self._grades[index]:
            self._moment += 1
            self._grades[index] = grade
            self._changed[index] = self._moment
            facts, rules = self.rules.readers[index]
            self._to_conclude |= facts
            self._to_evaluate |= rules

    def _conclude(self) -> None:
        if self._to_conclude:
            for index in self.rules.concluded:  # each after the facts it depends on
                if index in self._to_conclude:
                    self._put(index, max(
                        one.grade(self._grades, self._parameters) for one in self.rules.concluding(index)))
            self._to_conclude = set()

    def _evaluate(self) -> None:
        self._conclude()
        for index in self._to_evaluate:
            self._met[index] = self.rules.firing[index].condition.grade(self._grades, self._parameters)
        self._to_evaluate.clear()

    def _fact(self, name: str) -> int:
        return named("fact", name, self.rules.facts)

    def _parameter(self, name: str) -> int:
        return named("parameter", name, self.rules.parameters)

    @property
    def _facts(self) -> list[tuple[float, int]]:
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
        self._to_evaluate = set(range(len(self.rules.firing)))


def _most_firings(most: int | None, rules: RuleSet) -> int:
    return len(rules.firing) + MOST_FIRINGS if most is None else whole_number("most", most, minimum=1)

