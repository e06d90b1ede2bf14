"""The choice of a random habit among its children."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ai_core.errors import shown

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_plan import CompiledHabit, HabitPlan

__all__ = ["RandomSource", "check_random", "choose"]


class RandomSource(Protocol):
    """Interface of the random source of random habits: ``random.Random(seed)``, for example."""

    def random(self) -> float:
        """Return the next number, 0 <= number < 1."""
        ...


def check_random(plan: HabitPlan, random: object) -> None:
    """Raise an error unless ``random`` is a random source, or the plan requires none."""
    if random is None:
        if plan.random_path is not None:
            raise ValueError(
                f"habit {plan.random_path!r} requires a random generator;"
                " pass random=random.Random(seed)"
            )
    elif not callable(getattr(random, "random", None)):
        raise TypeError(f"random must have a method random(), got {shown(random)}; pass random.Random(seed)")


def choose(places: Sequence[CompiledHabit], random: RandomSource) -> CompiledHabit:
    """Return one of the places, each as likely as its weight among theirs.

    Draws one number, also for a single place: what is chosen later then does
    not depend on how many could run before.
    """
    mark = random.random() * sum(place.weight for place in places)
    for place in places:
        mark -= place.weight
        if mark < 0:
            return place
    return places[-1]  # rounding left the mark at the very end
