"""Built-in habits: what most characters do, as data instead of code.

What touches the world is handed in as a callable, so that the same habit moves
a node in an engine, a point in a simulation, or nothing in a test. ``target``
may be a value or a callable that is told the context and returns one.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ai_core.decisions.habits.habit_options import HabitOptions
from ai_core.decisions.habits.habit_values import ValueCheck, ValueIs, ValueWrite
from ai_core.decisions.habits.habits import Habit, Status
from ai_core.errors import finite_number, shown

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_batch import HabitBatch
    from ai_core.decisions.habits.habit_context import HabitContext

__all__ = [
    "Call", "CallMethod", "ChangeValue", "CheckValue", "Emit", "LookAt", "MoveTo", "PlayAnimation", "SetValue",
    "ValueIs", "Wait", "WaitFor",
]

class CheckValue(Habit):
    """Succeeds at once if a value on the blackboard compares so, else fails; see ``ValueIs``."""

    def __init__(
        self, name: str, key: str, comparison: str = "==", value: Any = True, **options: Unpack[HabitOptions]
    ) -> None:
        super().__init__(name, tick=ValueCheck(ValueIs(key, comparison, value)), **options)


class SetValue(Habit):
    """Writes a value to the blackboard and succeeds.

    Args:
        name, options: as ``Habit`` takes them.
        key: what is written.
        value: the value, or a callable that is told the context and returns it.
        scope: name of the scope that is written to; None: the character's own.
    """

    def __init__(
        self, name: str, key: str, value: Any, *, scope: str | None = None, **options: Unpack[HabitOptions]
    ) -> None:
        super().__init__(name, tick=ValueWrite(key, value, scope), **options)


class Wait(Habit):
    """Does nothing for a while, then succeeds.

    Args:
        name, options: as ``Habit`` takes them.
        seconds: how long (s), 0 or more.
        up_to_s: longest; the time is then drawn between the two, from the
            tree's ``random``.
    """

    def __init__(
        self, name: str, seconds: float, *, up_to_s: float | None = None, **options: Unpack[HabitOptions]
    ) -> None:
        self.seconds = finite_number(f"habit {name!r}: seconds", seconds, minimum=0)
        self.up_to_s = self.seconds if up_to_s is None else finite_number(
            f"habit {name!r}: up_to_s", up_to_s, minimum=self.seconds)
        super().__init__(name, **options)

    @property
    def draws(self) -> bool:
        """Whether it needs a generator of chance."""
        return self.up_to_s > self.seconds

    def enter(self, context: HabitContext) -> None:
        """Wait."""
        seconds = self.seconds
        if self.draws:
            seconds += (self.up_to_s - seconds) * context.random.random()
        context.wait_s(seconds)

    def tick(self, context: HabitContext) -> Status:
        """The time is over."""
        return Status.SUCCEEDED


class WaitFor(Habit):
    """Waits until something is told or changes; fails if that takes too long.

    Args:
        name, options: as ``Habit`` takes them.
        names: what it waits for, any of them.
        at_most_s: longest wait (s); None: for ever.
    """

    def __init__(self, name: str, *names: str, at_most_s: float | None = None, **options: Unpack[HabitOptions]) -> None:
        if not names:
            raise ValueError(f"habit {name!r}: needs a name to wait for")
        self.names = tuple(_text("name", one) for one in names)
        self.at_most_s = at_most_s if at_most_s is None else finite_number(
            f"habit {name!r}: at_most_s", at_most_s, minimum=0)
        super().__init__(name, **options)

    def enter(self, context: HabitContext) -> None:
        """Wait."""
        context.wait_for(*self.names, at_most_s=self.at_most_s)

    def tick(self, context: HabitContext) -> Status:
        """It was told, or the time is over."""
        return Status.SUCCEEDED if context.woken_by else Status.FAILED


class Call(Habit):
    """Calls a function once; it may also take its time and return RUNNING.

    Args:
        name, options: as ``Habit`` takes them.
        function: told the context and the arguments; returns a Status, or False
            for failed, or anything else for succeeded.
        arguments: what it is told besides.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], *arguments: Any, **options: Unpack[HabitOptions]
    ) -> None:
        self.function, self.arguments = _callable(name, "function", function), arguments
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Call."""
        return _status(self.function(context, *self.arguments))


class CallMethod(Habit):
    """Calls a method of the character; its answer counts as with ``Call``."""

    def __init__(self, name: str, method: str, *arguments: Any, **options: Unpack[HabitOptions]) -> None:
        self.method, self.arguments = _text("method", method), arguments
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Call."""
        return _status(getattr(context.owner, self.method)(*self.arguments))


class Emit(Habit):
    """Tells that something happened, and succeeds.

    Args:
        name, options: as ``Habit`` takes them.
        event: what happened.
        payload: what comes with it, or a callable that is told the context.
        send: told event and payload: ``event_manager.send``, a signal's emit;
            None tells this character's own habits.
    """

    def __init__(
        self, name: str, event: str, payload: Any = None, *, send: Callable[[str, Any], Any] | None = None,
        **options: Unpack[HabitOptions],
    ) -> None:
        self.event, self.payload = _text("event", event), payload
        self.send = None if send is None else _callable(name, "send", send)
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Tell."""
        (self.send or context.tree.tell)(self.event, _value(self.payload, context))
        return Status.SUCCEEDED


class MoveTo(Habit):
    """Goes somewhere, and succeeds when it is there.

    Args:
        name, options: as ``Habit`` takes them; ``timeout_s`` is a good idea.
        target: where.
        move: told the context and the target when it begins.
        has_arrived: told the context at every tick; None: it waits for
            ``tree.tell("arrived")`` instead, which costs nothing.
        stop: told the context if it ends before it is there.
    """

    def __init__(
        self, name: str, target: Any, *, move: Callable[..., Any], has_arrived: Callable[..., Any] | None = None,
        stop: Callable[..., Any] | None = None, **options: Unpack[HabitOptions],
    ) -> None:
        self.target, self.move = target, _callable(name, "move", move)
        self.has_arrived = None if has_arrived is None else _callable(name, "has_arrived", has_arrived)
        self.stop = None if stop is None else _callable(name, "stop", stop)
        super().__init__(name, **options)

    def enter(self, context: HabitContext) -> None:
        """Set out."""
        self.move(context, _value(self.target, context))
        if self.has_arrived is None:
            context.wait_for("arrived")

    def tick(self, context: HabitContext) -> Status:
        """Look whether it is there."""
        if self.has_arrived is None or self.has_arrived(context):
            return Status.SUCCEEDED
        return Status.RUNNING

    def exit(self, context: HabitContext) -> None:
        """Stand still if it is not there."""
        if self.stop is not None and context.status is not Status.SUCCEEDED:
            self.stop(context)


class LookAt(Habit):
    """Turns to something, and succeeds when it faces it.

    Args:
        name, options: as ``Habit`` takes them.
        target: what, asked anew at every tick, so that it may move.
        turn: told the context and the target at every tick; returns true when it faces it.
    """

    def __init__(self, name: str, target: Any, *, turn: Callable[..., Any], **options: Unpack[HabitOptions]) -> None:
        self.target, self.turn = target, _callable(name, "turn", turn)
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Turn a little."""
        return Status.SUCCEEDED if self.turn(context, _value(self.target, context)) else Status.RUNNING


class PlayAnimation(Habit):
    """Plays an animation, and succeeds when its end is told.

    Args:
        name, options: as ``Habit`` takes them.
        animation: what is played.
        play: told the context and the animation when it begins.
        stop: told the context if it ends before the animation does.
        ends_on: what is told at the end, with the animation or nothing as
            payload; the end of another animation is not taken for this one's.
    """

    def __init__(
        self, name: str, animation: str, *, play: Callable[..., Any], stop: Callable[..., Any] | None = None,
        ends_on: str = "animation finished", **options: Unpack[HabitOptions],
    ) -> None:
        self.animation, self.play = animation, _callable(name, "play", play)
        self.stop = None if stop is None else _callable(name, "stop", stop)
        self.ends_on = _text("ends_on", ends_on)
        super().__init__(name, **options)

    def enter(self, context: HabitContext) -> None:
        """Play."""
        context.wait_for(self.ends_on)
        self.play(context, self.animation)

    def tick(self, context: HabitContext) -> Status:
        """Some animation has ended."""
        if context.told(self.ends_on) in (None, self.animation):
            return Status.SUCCEEDED
        context.wait_for(self.ends_on)
        return Status.RUNNING

    def exit(self, context: HabitContext) -> None:
        """Break it off if it has not ended."""
        if self.stop is not None and context.status is not Status.SUCCEEDED:
            self.stop(context)


class ChangeValue(Habit):
    """Lets a number on the blackboard rise or fall steadily: rest until energy is back.

    In a population all who do it are ticked at once. The number is read when it
    begins, and written when it ends, however it ends.

    Args:
        name, options: as ``Habit`` takes them.
        key: of the number; one that is not known counts as 0.
        per_second: how fast (1/s); below 0 it falls.
        until: where it stops, and the habit succeeds.
    """

    def __init__(self, name: str, key: str, per_second: float, until: float, **options: Unpack[HabitOptions]) -> None:
        self.key = _text("key", key)
        self.per_second = finite_number(f"habit {name!r}: per_second", per_second)
        self.until = finite_number(f"habit {name!r}: until", until)
        if self.per_second == 0:
            raise ValueError(f"habit {name!r}: per_second must not be 0; the number would never change")
        super().__init__(name, columns=("value",), **options)

    def enter(self, context: HabitContext) -> None:
        """Read the number."""
        context.memory["value"] = float(context.blackboard.get(self.key) or 0.0)

    def tick_batch(self, batch: HabitBatch) -> NDArray[np.int64]:
        """Let the numbers of all change."""
        value = batch["value"]
        value += self.per_second * batch.elapsed_s
        limit = np.minimum if self.per_second > 0 else np.maximum
        limit(value, self.until, out=value)
        is_over: NDArray[np.int64] = (value == self.until).astype(np.int64)
        return is_over

    def exit(self, context: HabitContext) -> None:
        """Write the number."""
        context.blackboard[self.key] = context.memory["value"]


def _value(value: Any, context: HabitContext) -> Any:
    return value(context) if callable(value) else value


def _status(answer: Any) -> Status:
    if isinstance(answer, Status):
        return answer
    return Status.FAILED if answer is False else Status.SUCCEEDED


def _callable(name: str, what: str, value: Any) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"habit {name!r}: {what} must be callable, got {shown(value)}")
    called: Callable[..., Any] = value
    return called


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be text, got {shown(value)}")
    return value
