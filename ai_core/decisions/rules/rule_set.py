"""Rule sets: conditions over graded facts, and rules, shared by many characters."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING

from ai_core.errors import CycleError, UnknownNameError, finite_number, shown

if TYPE_CHECKING:
    from ai_core.decisions.rules.rule_mind import RuleMind


LONGEST_CONDITION = 1000
"""Longest text of a condition (characters); far below the nesting limit of Python's parser."""
Grade = Callable[[Sequence[float], Sequence[float]], float]
"""Called with the grades of all facts and the values of all parameters, returns a number."""
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}


class Condition:
    """A compiled condition.

    Attributes:
        text: its text.
        facts: indexes of the facts it reads, sorted.
        grade: called with all grades and parameters, returns the grade of the condition, 0..1.
    """

    __slots__ = ("facts", "grade", "text")

    def __init__(self, text: str, facts: tuple[int, ...], grade: Grade) -> None:
        self.text = text
        self.facts = facts
        self.grade = grade


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
    if not isinstance(text, str):
        raise TypeError(f"{place}: a condition must be a string, got {shown(text)}")
    if len(text) > LONGEST_CONDITION:
        raise ValueError(f"{place}: a condition must have at most {LONGEST_CONDITION} characters, got {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f'{place}: a condition must have the form "sees_player and not afraid", got {shown(text)}'
        ) from None
    reader = _Reader(facts, parameters, place)
    try:
        grade = reader.grade(tree.body)
    except RecursionError:
        raise ValueError(f"{place}: a condition is nested too deeply: {shown(text)}") from None
    return Condition(" ".join(text.split()), tuple(sorted(reader.read)), grade)


class _Reader:
    def __init__(self, facts: Mapping[str, int], parameters: Mapping[str, int], place: str) -> None:
        self._facts, self._parameters, self._place = facts, parameters, place
        self.read: set[int] = set()

    def grade(self, node: ast.expr) -> Grade:
        if isinstance(node, ast.BoolOp):
            return _joined([self.grade(one) for one in node.values], is_and=isinstance(node.op, ast.And))
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
                    f"{self._place}: {node.id!r} is a parameter and has no grade; compare it with a fact"
                )
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
            f" got {shown(ast.unparse(node))}"
        )


def _joined(parts: list[Grade], *, is_and: bool) -> Grade:
    if len(parts) == 2:
        first, second = parts
        if is_and:
            return lambda facts, parameters: min(first(facts, parameters), second(facts, parameters))
        return lambda facts, parameters: max(first(facts, parameters), second(facts, parameters))
    if is_and:
        return lambda facts, parameters: min([part(facts, parameters) for part in parts])
    return lambda facts, parameters: max([part(facts, parameters) for part in parts])


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
        self,
        name: str,
        when: str,
        then: Callable[[RuleMind], object] | None = None,
        *,
        concludes: str = "",
        salience: Amount = 0.0,
        above: Amount = 0.0,
        repeats: bool = False,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a rule must be a non-empty string, got {shown(name)}")
        if then is not None and not callable(then):
            raise TypeError(f"rule {name!r}: then must be callable, got {shown(then)}")
        if (then is None) == (concludes == ""):
            raise ValueError(f"rule {name!r} must have either then or concludes")
        self.name, self.when, self.then = name, when, then
        self.concludes = concludes
        self.salience = _amount(f"rule {name!r}: salience", salience)
        self.above = _amount(f"rule {name!r}: above", above)
        if not isinstance(self.above, str) and not 0.0 <= self.above < 1.0:
            raise ValueError(f"rule {name!r}: above must be at least 0 and below 1, got {self.above!r}")
        self.repeats = bool(repeats)

    def __repr__(self) -> str:
        return f"<Rule {self.name!r}: {self.when}>"


class PlannedRule:
    """A rule at its place in a set.

    Attributes:
        index: number among the rules that fire; a lower one wins a tie.
        salience, above: called with the parameters, return the value.
    """

    __slots__ = ("above", "condition", "index", "rule", "salience")

    def __init__(self, rule: Rule, index: int, condition: Condition, parameters: Mapping[str, int]) -> None:
        self.rule = rule
        self.index = index
        self.condition = condition
        self.salience = _reader(rule, "salience", rule.salience, parameters)
        self.above = _reader(rule, "above", rule.above, parameters)


class RuleSet:
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

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        facts: Mapping[str, float | Asked],
        parameters: Mapping[str, float] | None = None,
        period_s: Amount = 0.0,
    ) -> None:
        self.rules = _checked_rules(rules)
        self.defaults = [
            finite_number(f"parameter {name!r}", value) for name, value in (parameters or {}).items()
        ]
        self.parameters = {_identifier("parameter", name): index for index, name in enumerate(parameters or {})}
        concluded = dict.fromkeys(rule.concludes for rule in self.rules if rule.concludes)
        self.facts = {_identifier("fact", name): index for index, name in enumerate([*facts, *concluded])}
        self._check_names(list(facts), list(concluded))
        self.beginning = [0.0 if callable(one) else grade_of(name, one) for name, one in facts.items()]
        self.beginning += [0.0] * len(concluded)
        self.asked = tuple((self.facts[name], name, one) for name, one in facts.items() if callable(one))
        self.period_s = _period(period_s, self.parameters)
        self._plan()

    def concluding(self, fact: int) -> tuple[Condition, ...]:
        """Return the conditions that conclude a fact; () if it is set or computed."""
        return self._concluding.get(fact, ())

    def callback_names(self) -> set[str]:
        """Return the names of all callbacks in fault reports: "rule 'flee'", "fact 'near'"."""
        return {f"rule {one.rule.name!r}" for one in self.firing} | {f"fact {name!r}" for _, name, _ in self.asked}

    def to_text(self) -> str:
        """Return one line per rule; rules with an action come first."""
        return "\n".join(
            f"{rule.name}: {rule.when or 'always'}"
            + (f" -> {rule.concludes}" if rule.concludes else f" (salience {rule.salience})")
            for rule in sorted(self.rules, key=lambda rule: bool(rule.concludes))
        )

    def _check_names(self, facts: list[str], concluded: list[str]) -> None:
        for name in concluded:
            if name in facts:
                raise ValueError(f"fact {name!r} is concluded by a rule; leave it out of facts")
        for name in self.parameters:
            if name in self.facts:
                raise ValueError(f"{name!r} is both a fact and a parameter; rename one")

    def _plan(self) -> None:
        acting: list[tuple[Rule, Condition]] = []
        concluding: dict[int, list[Condition]] = {}
        for rule in self.rules:
            condition = ALWAYS
            if rule.when != "":
                condition = parsed_condition(rule.when, self.facts, self.parameters, f"rule {rule.name!r}")
            if rule.concludes:
                concluding.setdefault(self.facts[rule.concludes], []).append(condition)
            else:
                acting.append((rule, condition))
        self.firing = tuple(
            PlannedRule(rule, index, condition, self.parameters) for index, (rule, condition) in enumerate(acting)
        )
        self._concluding = {fact: tuple(ones) for fact, ones in concluding.items()}
        self.concluded = tuple(self._in_order())
        self.readers = tuple(
            (
                frozenset(to for to, ones in concluding.items() if any(fact in one.facts for one in ones)),
                frozenset(one.index for one in self.firing if fact in one.condition.facts),
            )
            for fact in range(len(self.facts))
        )

    def _in_order(self) -> list[int]:
        """Return the concluded facts, each after the facts it depends on."""
        names = list(self.facts)
        done: list[int] = []
        under_way: list[int] = []

        def visit(fact: int) -> None:
            if fact in done or fact not in self._concluding:
                return
            if fact in under_way:
                circle = [repr(names[one]) for one in (*under_way[under_way.index(fact):], fact)]
                raise CycleError(f"a fact must not depend on itself: {' from '.join(circle)}")
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
    """Return a grade; raise an error unless it is a number from 0 to 1."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value
    if type(value) is bool:
        return float(value)
    return finite_number(f"the grade of {name!r}", value, minimum=0.0, maximum=1.0)


def _checked_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    found = tuple(rules)
    names = set()
    for rule in found:
        if not isinstance(rule, Rule):
            raise TypeError(f"every rule must be a Rule, got {shown(rule)}")
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


def _reader(
    rule: Rule, what: str, amount: Amount, parameters: Mapping[str, int]
) -> Callable[[list[float]], float]:
    if not isinstance(amount, str):
        return lambda values: amount
    if amount not in parameters:
        raise UnknownNameError(f"parameter as {what} of rule {rule.name!r}", amount, parameters)
    index = parameters[amount]
    return lambda values: values[index]


def _period(period_s: Amount, parameters: Mapping[str, int]) -> Callable[[list[float]], float]:
    if not isinstance(period_s, str):
        period = finite_number("period_s", period_s, minimum=0)
        return lambda values: period
    if period_s not in parameters:
        raise UnknownNameError("parameter as period_s", period_s, parameters)
    index = parameters[period_s]
    return lambda values: values[index]


__all__ = [
    "LONGEST_CONDITION",
    "Amount",
    "Asked",
    "Condition",
    "Grade",
    "PlannedRule",
    "Rule",
    "RuleSet",
    "grade_of",
    "parsed_condition",
]
