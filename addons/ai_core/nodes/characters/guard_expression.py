"""GuardExpression: a GDScript expression from the inspector, which reads the values of a character."""
from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from addons.ai_core.bridge.gd import GDObject, PackedStringArray, RefusedValue, construct, report_warning

STRING_LITERALS = re.compile(r'"[^"]*"|\'[^\']*\'')
BEYOND_ASCII = r"\x80-\U0010ffff"
"""Range of characters that stand only in names, as in GDScript: letters of any case, and their marks."""

NAME = rf"[A-Za-z_{BEYOND_ASCII}][\w{BEYOND_ASCII}]*"
"""Pattern of a name that stands for a value, unless it is one of KEYWORDS: the engine's Expression knows no classes."""

WORDS = re.compile(rf"""\s*("[^"]*"|'[^']*'|[\w.{BEYOND_ASCII}]+|<=|>=|==|!=|&&|\|\||\S)""")
"""Pattern of a word of an expression."""

OPEN_END = re.compile(r"(\b(?:and|or|not|in)|&&|\|\||[-+*/%<>=!&|^~,]|(?<!\d)\.)\s*$")
"""Pattern of an operator at the end of an expression, without what it needs after it."""

NAMES = re.compile(rf"(?<![\w.{BEYOND_ASCII}])({NAME})(?![\w{BEYOND_ASCII}]|\s*\()")
"""Pattern of names that stand for values: no method, no member, no construction such as Vector3(1, 2, 3)."""

COMPARISON = re.compile(
    rf'\s*({NAME})\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?|true\b|false\b|null\b|"[^"\\]*")\s*(?:(?:and\b|&&)(?=.)|$)')
"""Pattern of a comparison with a constant; the most common conditions consist of such comparisons."""

FLAG = re.compile(rf"\s*(not\s+|!)?\s*({NAME})\s*(?:(?:and\b|&&)(?=.)|$)")
"""Pattern of a name that stands for true or false."""

OF_NAMES_ALONE = re.compile(r"[^(.\[$]*(?:\d\.\d[^(.\[$]*)*")
"""Pattern of an expression whose value depends on the values of its names alone: no calls, members or items."""

OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "="}
"""How a comparison that is false is shown with its value: "health 0.8 >= 0.3"."""

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}

NUMBERS = (int, float)

LONGEST_VALUE = 40
"""Characters of a value in a reason or a report."""

CONSTANTS = {"true": True, "false": False, "null": None}

FAILED_CALL = re.compile(r"On call to '(\w+)':\s*$")
"""Pattern of the engine's error about a method that failed, if it names no reason."""

KEYWORDS = {"true", "false", "null", "self", "and", "or", "not", "in", "PI", "TAU", "INF", "NAN"}
ABSENT = object()
"""Returned by ``known`` for a name without a value."""


class MissingValue(RefusedValue):
    """Raised for a name without a value; a script may set the value later.

    Args:
        text: the message.
        name: the name; "" if it has a value, which is null.
    """

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text)
        self.name = name


class GuardExpression:
    """A condition or value in GDScript syntax: "health < 0.3 and can_see(payload)".

    A name refers to a value of the deciding node (its own values, then its blackboard), then to a property of the
    actor; a method is a method of the actor. While a name has no value, the condition is false.

    Args:
        text: the expression.
        place: owner of the expression, for messages.

    Attributes:
        comparisons: (name, operator, constant) of each comparison, if the expression consists of comparisons of names
            with constants only; else empty. A name alone is compared with true.

    Raises:
        RefusedValue: if the expression cannot be parsed.

    Cost: parsing O(length), once; evaluation O(names), and one crossing unless the expression consists of
    comparisons with numbers, strings, true, false and null, joined by "and".
    """

    def __init__(self, text: str, place: str) -> None:
        self.text, self._place = text, place
        self._has_warned = False        # of a missing value
        self.names = names_in(text)
        self._expression = construct("Expression")
        if self._expression.parse(text, PackedStringArray(self.names)) != 0:
            raise RefusedValue(f"{place}: cannot parse {text!r} {_mistake(text, self._expression, self.names)}")
        if (last := OPEN_END.search(text)) is not None:      # which the engine parses
            raise RefusedValue(f"{place}: cannot parse {text!r} at the end: nothing follows {last[1]!r}")
        self.comparisons = _comparisons(text)

    def value(self, mind: Any) -> Any:
        """Return the value of the expression.

        Args:
            mind: has ``actor_node()`` and ``known(name)``, which returns ABSENT for a name without a value.

        Raises:
            MissingValue: if a name has no value, or null where the expression does not allow it.
            RefusedValue: if the evaluation fails for another reason.
        """
        actor = mind.actor_node()
        values = [self._value(name, mind, actor) for name in self.names]
        answer = self._compared(values)
        if answer is not None:
            return answer
        answer = self._expression.execute(values, actor, False)
        if self._expression.has_execute_failed():
            nulls = [repr(name) for name, value in zip(self.names, values, strict=True) if value is None]
            why = f"{self._place}: {self.text!r} cannot be evaluated: {_failure(self._expression, actor)}"
            raise MissingValue(f"{why}; {', '.join(nulls)} is null") if nulls else RefusedValue(why)
        return answer

    def constant(self) -> Any:
        """Return the value of an expression without names; raise RefusedValue if it has names."""
        if self.names:
            raise RefusedValue(f"{self._place}: {self.text!r} must be a value such as 3, true or \"text\"")
        answer = self._expression.execute([], None, False)
        if self._expression.has_execute_failed():
            raise RefusedValue(f"{self._place}: {self.text!r} cannot be evaluated: {self._expression.get_error_text()}")
        return answer

    def is_met(self, mind: Any, node: Any = None) -> bool:
        """Return whether the expression is true; false while a value is missing, which is reported once.

        Args:
            mind: as for ``value``.
            node: the node that is named in the report; None for ``mind``.
        """
        try:
            return bool(self.value(mind))
        except MissingValue as missing:
            self.warn_once(missing, "it is false until then", node or mind)
            return False

    def is_true_by_names(self, mind: Any) -> bool:
        """Return whether an expression of names alone is true; while a value is missing, it is silently false."""
        try:
            return bool(self.value(mind))
        except RefusedValue:
            return False

    def why_false(self, mind: Any) -> str:
        """Return the values for which the expression is false: "awareness 0.2 < 0.5"; "" if it seems to be true.

        Methods of the expression are not called.
        """
        actor = mind.actor_node()
        known: dict[str, Any] = {}
        for name in self.names:
            try:
                known[name] = self._value(name, mind, actor)
            except MissingValue:
                return f"{name} has no value"
        if not self.comparisons:
            return ", ".join(f"{name} is {brief_value(value)}" for name, value in known.items())
        found = []
        for name, sign, constant in self.comparisons:
            value = known[name]
            is_alike = type(value) is type(constant) or (type(value) in NUMBERS and type(constant) in NUMBERS)
            if constant is None:
                is_null = value is None or (isinstance(value, GDObject) and not value.is_valid())
                if is_null is not (sign == "=="):
                    found.append(f"{name} is {brief_value(value)}")
            elif not is_alike or isinstance(constant, (bool, str)):
                if not is_alike or not COMPARED[sign](value, constant):
                    found.append(f"{name} is {brief_value(value)}")
            elif not COMPARED[sign](value, constant):
                found.append(f"{name} {brief_value(value)} {OPPOSITES[sign]} {constant:g}")
        return ", ".join(found)

    def warn_once(self, missing: MissingValue, result: str, mind: Any) -> None:
        """Report a missing value as a warning, the first time."""
        if not self._has_warned:
            self._has_warned = True
            values = mind.fed_blackboard or getattr(mind, "blackboard", ())
            known = [*values, *(one["name"] for one in mind.actor_node().get_property_list())]
            report_warning(f"{missing}; {result}{_close_to(missing.name, known)}", mind)

    def _compared(self, values: list[Any]) -> bool | None:
        """Return the result of ``comparisons``; None if there are none, or if the types need the engine to compare."""
        if not self.comparisons:
            return None
        answer = True
        for name, sign, constant in self.comparisons:
            value = values[self.names.index(name)]
            if constant is None:
                is_null = value is None or (isinstance(value, GDObject) and not value.is_valid())
                answer = answer and is_null is (sign == "==")
                continue
            if not (type(value) is type(constant) or (type(value) in NUMBERS and type(constant) in NUMBERS)):
                return None
            answer = answer and COMPARED[sign](value, constant)
        return answer

    def _value(self, name: str, mind: Any, actor: Any) -> Any:
        known = mind.known(name)
        if known is not ABSENT:
            return known
        try:
            return actor.get(name)
        except AttributeError:
            raise MissingValue(
                f"{self._place}: {name!r} is neither a value of the blackboard nor a property of"
                f" '{actor.get_name()}'; set it with set_value()", name) from None


def brief_value(value: Any) -> str:
    """Return a value for a reason, short."""
    if isinstance(value, GDObject):
        return str(value.get_name()) if value.is_valid() and value.is_class("Node") else "null"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE - 1] + "…"


def _close_to(name: str, known: Iterable[str]) -> str:
    """Return the known names that are much like a name, as the end of a message; "" if there are none."""
    close = get_close_matches(name, set(map(str, known)))
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _failure(expression: Any, actor: Any) -> str:
    """Return why an expression failed; the engine names no reason if the actor has no such method."""
    error = str(expression.get_error_text())
    called = FAILED_CALL.search(error)
    if called is None or actor.has_method(called[1]):
        return error
    methods = (one["name"] for one in actor.get_method_list())
    return f"'{actor.get_name()}' ({actor.get_class()}) has no method {called[1]}(){_close_to(called[1], methods)}"


def _mistake(text: str, expression: Any, names: list[str]) -> str:
    """Return the position at which an expression cannot be parsed, and the error.

    The engine reports no position. It is the first word at which the text up to that word has the same error.
    """
    given, error = PackedStringArray(names), expression.get_error_text()
    if "')'" in error and text.count("(") > text.count(")"):
        return f"at the end: {error}"        # an open bracket is an error of every shorter text
    found = None
    for word in reversed(list(WORDS.finditer(text))):
        if expression.parse(text[:word.end()], given) == 0 or expression.get_error_text() != error:
            break
        found = word
    return f"at character {found.start(1) + 1} ({found[1]!r}): {error}" if found else f"at the end: {error}"


def names_in(text: str) -> list[str]:
    """Return the names in an expression that stand for values, each once."""
    found = NAMES.findall(STRING_LITERALS.sub('""', text))
    return [name for name in dict.fromkeys(found) if name not in KEYWORDS]


@functools.lru_cache(maxsize=1024)
def deciding_names(text: str) -> tuple[str, ...]:
    """Return the names in an expression if its value changes only with theirs; else none."""
    is_alone = OF_NAMES_ALONE.fullmatch(STRING_LITERALS.sub('""', text)) is not None
    return tuple(names_in(text)) if is_alone else ()


def _comparisons(text: str) -> list[tuple[str, str, Any]]:
    """Return the comparisons that an expression consists of; empty if it contains anything else."""
    found: list[tuple[str, str, Any]] = []
    at = 0
    while at < len(text):
        match = COMPARISON.match(text, at)
        flag = FLAG.match(text, at) if match is None else None
        if flag is not None and flag[2] not in KEYWORDS:
            found.append((flag[2], "==", flag[1] is None))
            at = flag.end()
            continue
        if match is None or match[1] in KEYWORDS:
            return []
        constant: Any = match[3]
        if constant in CONSTANTS:
            if match[2] not in ("==", "!="):
                return []
            constant = CONSTANTS[constant]
        elif constant[0] == '"':
            constant = constant[1:-1]
        else:
            constant = float(constant) if "." in constant else int(constant)
        found.append((match[1], match[2], constant))
        at = match.end()
    return found
