"""Comparing and writing blackboard values: the most common leaves of habit trees."""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_place import INTERFACE, KERNEL
from ai_core.decisions.habits.habits import Status
from ai_core.errors import UnknownNameError, shown
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_context import HabitContext

__all__ = ["COMPARISONS", "ValueCheck", "ValueIs", "ValueWrite", "ValuesAre"]

ABSENT = object()

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda value, those: value in those, "not in": lambda value, those: value not in those,
}
"""Comparison functions by operator."""


@twin_class(KERNEL, INTERFACE)
class ValueIs:
    """A condition on a blackboard value; evaluated only after the value has changed.

    ``Habit("flee", can_activate=ValueIs("health", "<", 0.3))``. An absent key compares
    as None, for which ``< <= > >=`` are false.

    Raises:
        UnknownNameError: if the comparison is unknown.
    """

    __slots__ = ("comparison", "key", "value", "wakes_on")

    def __init__(self, key: str, comparison: str = "==", value: Any = True) -> None:
        if not isinstance(key, str) or not key:
            raise TypeError(f"key must be text, got {shown(key)}")
        if comparison not in COMPARISONS:
            raise UnknownNameError("comparison", comparison, COMPARISONS)
        self.key, self.comparison, self.value = key, comparison, value
        self.wakes_on = (key,)

    def __call__(self, context: HabitContext) -> bool:
        known = context.blackboard.get(self.key)
        if known is None and self.comparison in ("<", "<=", ">", ">="):
            return False
        return bool(COMPARISONS[self.comparison](known, self.value))

    def __repr__(self) -> str:
        return f"{self.key} {self.comparison} {shown(self.value)}"


NUMBERS = (int, float)


@twin_class(KERNEL, INTERFACE)
class ValuesAre:
    """A conjunction of conditions on values of the character's own blackboard; evaluated at each call.

    Args:
        conditions: the conditions, each a ``ValueIs`` that does not test for membership.
        otherwise: called with the context, and decides, if a value is absent, has a different
            type than the value it is compared with, or raises an exception in the comparison.
    """

    __slots__ = ("conditions", "otherwise")

    def __init__(self, conditions: Iterable[ValueIs], otherwise: Callable[[HabitContext], object]) -> None:
        self.conditions, self.otherwise = tuple(conditions), otherwise

    def __call__(self, context: HabitContext) -> object:
        board, answer = context.tree._blackboard, True      # none is made to find nothing there
        for one in self.conditions:
            known = dict.get(board, one.key, ABSENT) if isinstance(board, dict) else ABSENT
            if not (type(known) is type(one.value) or (type(known) in NUMBERS and type(one.value) in NUMBERS)):
                return self.otherwise(context)
            try:
                holds = bool(COMPARISONS[one.comparison](known, one.value))
            except Exception:
                return self.otherwise(context)
            answer = answer and holds
        return answer


@twin_class(KERNEL, INTERFACE)
class ValueCheck:
    """The tick of ``CheckValue``."""

    __slots__ = ("condition",)

    def __init__(self, condition: ValueIs) -> None:
        self.condition = condition

    def __call__(self, context: HabitContext) -> Status:
        return Status.SUCCEEDED if self.condition(context) else Status.FAILED


@twin_class(KERNEL, INTERFACE)
class ValueWrite:
    """The tick of ``SetValue``."""

    __slots__ = ("key", "scope", "value")

    def __init__(self, key: str, value: Any, scope: str | None) -> None:
        if not isinstance(key, str) or not key:
            raise TypeError(f"key must be text, got {shown(key)}")
        self.key, self.value, self.scope = key, value, scope

    def __call__(self, context: HabitContext) -> Status:
        board = context.blackboard
        if self.scope is not None:
            if not isinstance(board, Blackboard):
                raise TypeError(f"{context.path!r} writes to the scope {self.scope!r}, which needs a Blackboard")
            board = board.scope(self.scope)
        board[self.key] = self.value(context) if callable(self.value) else self.value
        return Status.SUCCEEDED
