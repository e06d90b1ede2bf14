"""Text format of rules, one rule per line: "flee: afraid > courage | salience 2, repeats"."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, NoReturn

from ai_core.decisions.rules import Amount, Rule, RuleMind, parsed_condition
from ai_core.errors import CycleError, UnknownNameError, check_type, finite_number, shown

__all__ = ["RuleLine", "RuleTextError", "read_rules", "rules_of"]

OPTIONS = ("salience NUMBER", "above NUMBER", "do METHOD", "repeats")
HEAD = re.compile(r"\s*([^:|#]*?)\s*:")


class RuleTextError(ValueError):
    """The text of a rule is not valid.

    Attributes:
        rule: name of the rule, "" if it has none.
        line, column: place of the error, counted from 1.
    """

    is_misuse = True

    def __init__(self, rule: str, line: int, column: int, problem: str) -> None:
        named = f"rule {rule!r}, " if rule else ""
        super().__init__(f"{named}line {line}, column {column}: {problem}")
        self.rule, self.line, self.column = rule, line, column


class RuleLine(NamedTuple):
    """A parsed line of a rule text.

    Attributes:
        when: the condition, "" for always.
        concludes: the concluded fact, "" for a rule with an action.
        does: name of the method to call, "" for none.
        line, column: place at which the condition begins, counted from 1.
    """

    name: str
    when: str
    concludes: str
    does: str
    salience: Amount
    above: Amount
    repeats: bool
    line: int
    column: int


def read_rules(text: str) -> list[RuleLine]:
    """Parse a text with one rule per line.

    ``name: condition`` is a rule with an action, ``name: condition -> fact`` concludes a
    fact. Options follow ``|``, separated by commas: ``salience 2`` and ``above 0.5`` (or
    the name of a parameter), ``do method``, ``repeats``. The condition "always" is always
    met. ``#`` begins a comment.

    Raises:
        RuleTextError: if a line is not valid; gives rule, line and column.

    Cost: O(length).
    """
    check_type("rules", text, str)
    found: list[RuleLine] = []
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.partition("#")[0].rstrip()
        if line.strip():
            one = _read(line, number)
            if any(one.name == other.name for other in found):
                raise RuleTextError(one.name, number, 1, "two rules have this name; rename one")
            found.append(one)
    return found


def rules_of(
    text: str, facts: Iterable[str], parameters: Iterable[str], then: Callable[[RuleLine], Callable[[RuleMind], object]]
) -> list[Rule]:
    """Return the rules of a text, checked against the known facts and parameters.

    Args:
        text: rules in the format of ``read_rules``.
        facts: names of the facts that are set or computed; concluded facts are in the text.
        parameters: names of the parameters.
        then: called with the line of a rule with an action; returns the action.

    Raises:
        RuleTextError: if a line is not valid; gives rule, line and column.
    """
    lines = read_rules(text)
    known = dict.fromkeys([*facts, *(one.concludes for one in lines if one.concludes)], 0)
    amounts = dict.fromkeys(parameters, 0)
    for one in lines:
        _check(one, known, amounts)
    return [
        Rule(one.name, one.when, concludes=one.concludes, salience=one.salience, above=one.above)
        if one.concludes else
        Rule(one.name, one.when, then(one), salience=one.salience, above=one.above, repeats=one.repeats)
        for one in lines]


def _read(line: str, number: int) -> RuleLine:
    head = HEAD.match(line)
    if head is None or not head[1]:
        column = len(line) - len(line.lstrip()) + 1
        raise RuleTextError("", number, column, f'a rule must read "name: condition", got {shown(line.strip())}')
    name, begin = head[1], head.end()
    body, _, options = line[begin:].partition("|")
    when, arrow, concludes = body.partition("->")
    column = begin + len(when) - len(when.lstrip()) + 1
    when, concludes = when.strip(), concludes.strip()
    if arrow and not concludes.isidentifier():
        where = begin + body.index("->") + 3
        raise RuleTextError(name, number, where, f"-> must be followed by the name of a fact, got {shown(concludes)}")
    read = _read_options(name, number, options, begin + len(body) + 2)
    if concludes and (read["does"] or read["repeats"]):
        raise RuleTextError(
            name, number, begin + len(body) + 2,
            "a rule with -> must not have do or repeats; remove them, or -> and its fact")
    return RuleLine(
        name, "" if when == "always" else when, concludes, str(read["does"]), read["salience"], read["above"],
        bool(read["repeats"]), number, column)


def _read_options(name: str, number: int, text: str, begin: int) -> dict[str, Amount]:
    read: dict[str, Amount] = {"does": "", "salience": 0.0, "above": 0.0, "repeats": 0}
    given: set[str] = set()
    for column, option in _parts(text, begin):
        word, _, value = option.partition(" ")
        value = value.strip()
        if word in given:
            raise RuleTextError(name, number, column, f"an option must be given once, got {word} twice; remove one")
        given.add(word)
        if option == "repeats":
            read["repeats"] = 1
        elif word == "do" and value.isidentifier():
            read["does"] = value
        elif word in ("salience", "above") and value:
            read[word] = _amount(name, number, column + len(word) + 1, value)
        else:
            known = ", ".join(OPTIONS)
            raise RuleTextError(name, number, column, f"an option must be one of {known}; got {shown(option)}")
    return read


def _parts(text: str, begin: int) -> Iterator[tuple[int, str]]:
    """Yield (column, text) of each part between commas."""
    for part in text.split(","):
        if part.strip():
            yield begin + len(part) - len(part.lstrip()), part.strip()
        begin += len(part) + 1


def _amount(name: str, number: int, column: int, value: str) -> Amount:
    if value.isidentifier():
        return value
    try:
        return finite_number("a number", float(value))
    except ValueError:
        raise RuleTextError(
            name, number, column, f"must be a finite number or the name of a parameter, got {shown(value)}") from None


def _check(one: RuleLine, facts: Mapping[str, int], parameters: Mapping[str, int]) -> None:
    for amount in (one.salience, one.above):
        if isinstance(amount, str) and amount not in parameters:
            raise RuleTextError(one.name, one.line, 1, str(UnknownNameError("parameter", amount, parameters)))
    if not isinstance(one.above, str) and not 0.0 <= one.above < 1.0:
        raise RuleTextError(one.name, one.line, 1, f"above must be at least 0 and below 1, got {one.above:g}")
    if one.when:
        try:
            parsed_condition(one.when, dict(facts), dict(parameters), "the condition")
        except UnknownNameError as problem:
            at = re.search(rf"\b{re.escape(str(problem.name))}\b", one.when)
            _refuse(one, at.start() if at else 0, problem)
        except (ValueError, TypeError, CycleError) as problem:
            _refuse(one, _syntax_column(one.when), problem)


def _refuse(one: RuleLine, offset: int, problem: Exception) -> NoReturn:
    raise RuleTextError(one.name, one.line, one.column + offset, str(problem)) from None


def _syntax_column(condition: str) -> int:
    """Return the column of a syntax error, from 0; 0 if the syntax is correct."""
    try:
        ast.parse(condition, mode="eval")
    except SyntaxError as problem:
        is_at_end = not problem.offset or (problem.lineno or 1) > 1
        return len(condition) if is_at_end else min((problem.offset or 1) - 1, len(condition))
    return 0
