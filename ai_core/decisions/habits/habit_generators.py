"""Habits written as generators: a function that continues after its last ``yield``.

``yield`` waits for the next tick, ``yield 2.5`` for seconds of game time,
``yield "door opened"`` for ``HabitTree.notify`` with this name or a change of this key
on the blackboard, and ``yield ("door opened", 2.5)`` for the first of both. ``return``
ends the habit, as succeeded unless it returns a different Status.

A save does not contain the state of a generator. After loading it begins again at its
first line. With ``context.restart_at("at the door")``, that point is then available as
``context.restart_point``, and its values in ``context.memory``.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, cast

from ai_core.decisions.habits.habits import Callback, Status
from ai_core.errors import shown

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_context import HabitContext

__all__ = ["as_tick"]


def as_tick(callback: Callback | None) -> Callback | None:
    """Return what is to be called at each tick: the callback, or what steps its generator."""
    if callback is None or not inspect.isgeneratorfunction(_function(callback)):
        return callback
    begin = cast("Callable[[HabitContext], Generator[Any, Any, Any]]", callback)

    def tick(context: HabitContext) -> object:
        if context.generator is None:
            context.generator = begin(context)
        try:
            wish = next(context.generator)
        except StopIteration as end:
            context.generator = None
            return Status.SUCCEEDED if end.value is None else end.value
        _wait(context, wish)
        return Status.RUNNING

    return tick


def _wait(context: HabitContext, wish: object) -> None:
    if wish is None:
        return
    if isinstance(wish, str):
        context.wait_for(wish)
    elif isinstance(wish, tuple) and len(wish) == 2 and isinstance(wish[0], str):
        context.wait_for(wish[0], at_most_s=wish[1])
    elif isinstance(wish, int | float) and not isinstance(wish, bool):
        context.wait_s(wish)
    else:
        raise TypeError(
            f"{context.path!r} must yield nothing, seconds, a name, or a name with seconds, got {shown(wish)};"
            " return a Status to end the habit"
        )


def _function(callback: Any) -> Any:
    """Return the function behind a partial or an object that can be called."""
    while hasattr(callback, "func"):
        callback = callback.func
    if not inspect.isroutine(callback) and not isinstance(callback, type):
        return getattr(callback, "__call__", callback)  # noqa: B004  its method, not whether it has one
    return callback
