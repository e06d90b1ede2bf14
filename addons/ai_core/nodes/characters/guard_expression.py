"""A condition written in the inspector: an expression over what is known of a character."""
from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import PackedStringArray, RefusedValue, construct, report_warning

TEXTS = re.compile(r'"[^"]*"|\'[^\']*\'')
NAMES = re.compile(r"(?<![\w.])([a-z_]\w*)(?!\w|\s*\()")
"""What stands for a value: no method, no member of something, no constant such as PI or Vector3.UP."""

COMPARISON = re.compile(
    r'\s*([a-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?|true\b|false\b|"[^"\\]*")\s*(?:(?:and\b|&&)(?=.)|$)')
"""One of the comparisons with a constant that make up the most common conditions."""

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}

NUMBERS = (int, float)

OWN_WORDS = {"true", "false", "null", "self", "and", "or", "not", "in"}
ABSENT = object()
"""What ``known`` returns for a name that stands for nothing."""


class MissingValue(RefusedValue):
    """An expression names a value that is not there, as one that a script sets later is not."""


class GuardExpression:
    """An expression as GDScript writes it: "health < 0.3 and can_see(cargo)".

    A name stands for what the mind knows of itself, else for a value of its blackboard, else for a property
    of the actor; a method is one of the actor. While a name stands for nothing it is not met.

    Args:
        text: the expression.
        place: whose it is, for messages.

    Attributes:
        comparisons: of a name with a constant, that are all of it, as (name, sign, constant); else none.

    Raises:
        RefusedValue: if it cannot be read.

    Cost: reading it O(length), once; asking it O(names), and one crossing unless it is made of
    comparisons with numbers, texts, true and false, joined by "and".
    """

    def __init__(self, text: str, place: str) -> None:
        self.text, self._place = text, place
        self._is_said = False        # that a value is missing
        found = NAMES.findall(TEXTS.sub('""', text))
        self.names = [name for name in dict.fromkeys(found) if name not in OWN_WORDS]
        self._expression = construct("Expression")
        if self._expression.parse(text, PackedStringArray(self.names)) != 0:
            raise RefusedValue(f"{place}: cannot read {text!r}: {self._expression.get_error_text()}")
        self.comparisons = _comparisons(text)

    def value(self, mind: Any) -> Any:
        """Return what it comes to.

        Args:
            mind: has ``actor_node()`` and ``known(name)``, which returns ABSENT for what it does not know.

        Raises:
            MissingValue: if a name stands for nothing, or for null where the expression cannot have that.
            RefusedValue: if there is no answer for another reason.
        """
        actor = mind.actor_node()
        values = [self._value(name, mind, actor) for name in self.names]
        answer = self._compared(values)
        if answer is not None:
            return answer
        answer = self._expression.execute(values, actor, False)
        if self._expression.has_execute_failed():
            nulls = [repr(name) for name, value in zip(self.names, values, strict=True) if value is None]
            why = f"{self._place}: {self.text!r} has no answer: {self._expression.get_error_text()}"
            raise MissingValue(f"{why}; {', '.join(nulls)} is null") if nulls else RefusedValue(why)
        return answer

    def constant(self) -> Any:
        """Return what it comes to without any name."""
        if self.names:
            raise RefusedValue(f"{self._place}: {self.text!r} must be a value such as 3, true or \"text\"")
        answer = self._expression.execute([], None, False)
        if self._expression.has_execute_failed():
            raise RefusedValue(f"{self._place}: {self.text!r} is no value: {self._expression.get_error_text()}")
        return answer

    def is_met(self, mind: Any) -> bool:
        """Return whether it comes to something true; no while a value is missing, which is said once."""
        try:
            return bool(self.value(mind))
        except MissingValue as missing:
            self.say_once(missing, "it is false until then", mind)
            return False

    def say_once(self, missing: MissingValue, result: str, mind: Any) -> None:
        """Warn that a value is missing, the first time."""
        if not self._is_said:
            self._is_said = True
            report_warning(f"{missing}; {result}", mind)

    def _compared(self, values: list[Any]) -> bool | None:
        """Return what comparisons come to; None if there are others, or if it takes the engine to compare so."""
        if not self.comparisons:
            return None
        answer = True
        for name, sign, constant in self.comparisons:
            value = values[self.names.index(name)]
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
                f"{self._place}: {name!r} is no value of the blackboard and no property of"
                f" '{actor.get_name()}'; set it with set_value()") from None


def _comparisons(text: str) -> list[tuple[str, str, Any]]:
    """Return the comparisons that a text is made of; none if it is of something else, too."""
    found, at = [], 0
    while at < len(text):
        match = COMPARISON.match(text, at)
        if match is None or match[1] in OWN_WORDS:
            return []
        constant: Any = match[3]
        if constant in ("true", "false"):
            if match[2] not in ("==", "!="):
                return []
            constant = constant == "true"
        elif constant[0] == '"':
            constant = constant[1:-1]
        else:
            constant = float(constant) if "." in constant else int(constant)
        found.append((match[1], match[2], constant))
        at = match.end()
    return found
