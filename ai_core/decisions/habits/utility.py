"""Scores of habits by considerations: how much each child of a utility habit is wanted.

    Habit("needs", [
        Habit("eat", tick=eat, score=Score(Consideration("hunger"), Consideration("meters_to_food", falling, high=30))),
        Habit("sleep", tick=sleep, score=Score(Consideration("tiredness", power(2)))),
    ], Launch.UTILITY, inertia=0.1)

Any callable that is called with the context and returns a number is a score as well.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.described import Described
from ai_core.errors import finite_number, shown

__all__ = ["Consideration", "Score", "falling", "power", "rising"]

Curve = Callable[[float], float]
"""Function from 0 to 1 of a number from 0 to 1."""


def rising(share: float) -> float:
    """Return the share itself: more is more wanted."""
    return share


def falling(share: float) -> float:
    """Return 1 less the share: more is less wanted."""
    return 1.0 - share


def power(exponent: float) -> Curve:
    """Return a curve that begins flat (exponent above 1) or steep (below 1).

    Raises:
        ValueError: if the exponent is not above 0.
    """
    exponent = finite_number("exponent", exponent, above=0)
    return lambda share: float(share ** exponent)


class Consideration(Described):
    """A number of the character, scaled to 0 to 1 and shaped by a curve.

    Args:
        value: key of the blackboard, an absent key counts as ``low``; or a callable that is
            called with the context and returns the number.
        curve: shapes the share of the way from ``low`` to ``high``.
        low: number that counts as 0, as do those below.
        high: number that counts as 1, as do those above.

    Raises:
        TypeError: if the value is neither a key nor a callable, or the curve is not callable.
        ValueError: if ``high`` is not above ``low``.
    """

    __slots__ = ("curve", "high", "low", "value")

    def __init__(
        self, value: str | Callable[[HabitContext], float], curve: Curve = rising, *, low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        if not callable(value) and not (isinstance(value, str) and value):
            raise TypeError(f"value must be a key of the blackboard or a callable, got {shown(value)}")
        if not callable(curve):
            raise TypeError(f"curve must be callable, such as falling or power(2), got {shown(curve)}")
        self.value, self.curve = value, curve
        self.low = finite_number("low", low)
        self.high = finite_number("high", high, above=self.low)

    def __call__(self, context: HabitContext) -> float:
        number: Any = self.value(context) if callable(self.value) else context.blackboard.get(self.value)
        if number is None:
            number = self.low
        share = (finite_number(f"value of {shown(self.value)}", number) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, self.curve(min(1.0, max(0.0, share)))))


class Score(Described):
    """The geometric mean of considerations, times a weight: 0 as soon as one is 0.

    Args:
        considerations: one or more; their number does not lower the score.
        weight: factor, above 0.

    Raises:
        ValueError: if there is no consideration, or the weight is not above 0.
    """

    SHOWN = ("considerations",)

    __slots__ = ("considerations", "weight")

    def __init__(self, *considerations: Callable[[HabitContext], float], weight: float = 1.0) -> None:
        if not considerations:
            raise ValueError("considerations must hold at least one Consideration, got none")
        self.considerations, self.weight = considerations, finite_number("weight", weight, above=0)

    def __call__(self, context: HabitContext) -> float:
        product = 1.0
        for consideration in self.considerations:
            product *= consideration(context)
        return self.weight * float(product ** (1.0 / len(self.considerations)))
