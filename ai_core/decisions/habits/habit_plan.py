"""The plan of a habit tree: the places of its definition, laid out once for all characters."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_runner_loops import HabitContext, HabitPlace
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habits import Callback, Habit, check_habit
from ai_core.errors import CycleError, check_type, shown

__all__ = ["MAXIMUM_DEPTH", "HabitPlan", "plan_of"]

MAXIMUM_DEPTH = 64
"""Largest depth of a habit tree (count).

A tick takes three Python calls for each level; 64 levels stay far below Python's limit
of 1000 calls, even inside the call stack of a game. Real trees have under ten levels.
"""


class HabitPlan:
    """All places of a tree, parents before children, shared by characters. Cost: O(places).

    Attributes:
        listeners: by name of a message or key, the indices of the places to try then.
        keys: blackboard keys on which a condition depends.
        remembers_s: by name of a message, how long a habit can begin on it (s).
        random_path: path of a habit that needs a random generator; None if there is none.
    """

    def __init__(self, root: Habit) -> None:
        self.places: list[HabitPlace] = []
        self.random_path: str | None = None
        self.listeners: dict[str, tuple[int, ...]] = {}
        self.remembers_s: dict[str, float] = {}
        self.root = self._lay_out(root, root.name, ())
        self.by_path = {place.path: place for place in self.places}
        self.keys = tuple(dict.fromkeys(key for place in self.places for key in place.habit.wakes_on))

    def check_random(self, random: object) -> None:
        """Raise an error unless ``random`` is a random source, or is None and no habit requires one."""
        if random is None:
            if self.random_path is not None:
                raise ValueError(
                    f"habit {self.random_path!r} requires a random generator; pass random=random.Random(seed)")
        elif not callable(getattr(random, "random", None)):
            raise TypeError(f"random must have a method random(), got {shown(random)}; pass random.Random(seed)")

    def _lay_out(self, habit: Habit, path: str, above: tuple[Habit, ...]) -> HabitPlace:
        if any(one is habit for one in above):
            raise CycleError(f"habit {path!r} must not be below itself; put another Habit of its settings there")
        if len(above) >= MAXIMUM_DEPTH:
            raise ValueError(f"habits nest deeper than {MAXIMUM_DEPTH} at {shown(path)}; join some of the levels")
        children = tuple(habit.children)
        check_habit(habit, children, path)
        if (habit.launch is Launch.RANDOM or habit.draws) and self.random_path is None:
            self.random_path = path
        place = HabitPlace(habit, path, len(self.places), _tick_of(habit))
        self.places.append(place)
        for name in dict.fromkeys((*habit.wakes_on, *habit.begins_on)):
            self.listeners[name] = (*self.listeners.get(name, ()), place.index)
            self.remembers_s[name] = max(self.remembers_s.get(name, 0.0), habit.remembers_s)
        below = (*above, habit)
        place.children = tuple([self._lay_out(child, f"{path}/{child.name}", below) for child in children])
        place.blocking = tuple([child for child in place.children if not child.is_beside])
        place.non_blocking = tuple([child for child in place.children if child.is_beside])
        for number, child in enumerate(place.blocking):
            child.number = number
        place.end = len(self.places)
        return place


def plan_of(root: Habit) -> HabitPlan:
    """Return the plan of ``root``, made at the first call and kept with it."""
    check_type("root", root, Habit)
    plan: HabitPlan | None = root.__dict__.get("_plan")
    if plan is None:
        plan = root.__dict__["_plan"] = HabitPlan(root)
    return plan


def _tick_of(habit: Habit) -> Callback | None:
    """Return the function to call at each tick: the callback of the habit, or one that steps its generator."""
    callback, tick_batch = habit.callback("tick"), habit.callback("tick_batch")
    if callback is None and tick_batch is not None:
        return _alone(habit.columns, tick_batch)
    if callback is None or not inspect.isgeneratorfunction(_function(callback)):
        return callback
    begin: Callable[[HabitContext], Any] = callback

    def tick(context: HabitContext) -> object:
        if context.generator is None:
            context.generator = begin(context)
        try:
            request = next(context.generator)
        except StopIteration as end:
            context.generator = None
            return Status.SUCCEEDED if end.value is None else end.value
        _wait(context, request)
        return Status.RUNNING

    return tick


def _wait(context: HabitContext, request: object) -> None:
    if request is None:
        return
    if isinstance(request, str):
        context.wait_for(request)
    elif isinstance(request, tuple) and len(request) == 2 and isinstance(request[0], str):
        context.wait_for(request[0], at_most_s=request[1])
    elif isinstance(request, int | float) and not isinstance(request, bool):
        context.wait_s(request)
    else:
        raise TypeError(
            f"{context.path!r} must yield nothing, seconds, a name, or a name with seconds, got {shown(request)};"
            " return a Status to end the habit")


def _function(callback: Any) -> Any:
    """Return the function behind a partial or an object that can be called."""
    while hasattr(callback, "func"):
        callback = callback.func
    if not inspect.isroutine(callback) and not isinstance(callback, type):
        return getattr(callback, "__call__", callback)  # noqa: B004  its method, not whether it has one
    return callback


def _alone(columns: tuple[str, ...], tick_batch: Callable[[HabitBatch], object]) -> Callback:
    """Return a tick for a run outside of a population: a batch of one run."""

    def tick(context: HabitContext) -> Status:
        batch = HabitBatch(columns)
        now_s, elapsed_s = context.tree.seconds, context.elapsed_s
        batch.join(context, 0.0)
        batch._times[1, 0] -= elapsed_s
        try:
            ended = batch.tick(tick_batch, now_s)
        finally:
            batch.leave(context)
            context.ticked_s = now_s
        return ended[0][1] if ended else Status.RUNNING

    return tick
