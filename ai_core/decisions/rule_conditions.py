"""What a rule waits for, written as text: "sees_player and not afraid", "health < courage".

Facts have grades from 0 (not at all) to 1 (fully): ``and`` is the least of its
parts, ``or`` the greatest, ``not x`` is 1 - x. A comparison is 1 or 0.

Rejected: objects joined by operators. Text stands in a file and an inspector as
it stands in a program, and says itself what it waits for. It is never run as
Python: what is not listed here is refused.
"""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from ai_core.errors import UnknownNameError, finite_number, shown

__all__ = ["LONGEST_CONDITION", "Condition", "Grade", "parsed_condition"]

LONGEST_CONDITION = 1000
"""Longest text of a condition (characters); far below what Python's parser can nest."""

Grade = Callable[[Sequence[float], Sequence[float]], float]
"""Told the grades of all facts and all parameters, returns a number."""

COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}


class Condition:
    """A condition, ready to be asked.

    Attributes:
        text: as it was written.
        facts: indexes of the facts it reads, sorted.
        grade: told all grades and parameters, returns how far it is met, 0..1.
    """

    __slots__ = ("facts", "grade", "text")

    def __init__(self, text: str, facts: tuple[int, ...], grade: Grade) -> None:
        self.text = text
        self.facts = facts
        self.grade = grade


def parsed_condition(text: str, facts: Mapping[str, int], parameters: Mapping[str, int], place: str) -> Condition:
    """Return the condition that a text means.

    Args:
        text: names of facts, ``and``, ``or``, ``not``, brackets; comparisons
            ``< <= > >=`` between facts, parameters and numbers.
        facts: index of each fact by name.
        parameters: index of each parameter by name.
        place: whose it is, for messages: "rule 'flee'".

    Raises:
        TypeError: if it is no text.
        ValueError: if it says something else; quotes what.
        UnknownNameError: naming the fact that nobody declared.
    """
    if not isinstance(text, str):
        raise TypeError(f"{place}: a condition must be text, got {shown(text)}")
    if len(text) > LONGEST_CONDITION:
        raise ValueError(f"{place}: a condition has at most {LONGEST_CONDITION} characters, got {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f'{place}: a condition must read like "sees_player and not afraid", got {shown(text)}'
        ) from None
    reader = _Reader(facts, parameters, place)
    try:
        grade = reader.grade(tree.body)
    except RecursionError:
        raise ValueError(f"{place}: a condition is nested too deep: {shown(text)}") from None
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
                    f"{self._place}: {node.id!r} is a parameter, and has no grade; compare it with a fact"
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
            f"{self._place}: a condition knows facts, and, or, not, brackets and < <= > >=,"
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
