"""Built-in habits for common tasks: wait, move, look, animate, call, emit, compare and set values.

Actions on the world are passed in as callables, so that the same habit moves a node in
an engine, a point in a simulation, or nothing in a test. ``target`` can be a value, or
a callable that is called with the context and returns the value.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_runner_loops import HabitContext, ValueCheck, ValueIs, ValueWrite
from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habits import Habit, HabitOptions
from ai_core.errors import checked_name, finite_number, shown

__all__ = [
    "ANIMATION_FINISHED", "Call", "CallMethod", "ChangeValue", "CheckValue", "Emit", "LookAt", "MoveTo",
    "PlayAnimation", "SetValue", "ValueIs", "Wait", "WaitFor"]

class CheckValue(Habit):
    """Succeeds at once if a comparison of a blackboard value is true, fails otherwise; see ``ValueIs``."""

    def __init__(
        self, name: str, key: str, comparison: str = "==", value: Any = True, **options: Unpack[HabitOptions]
    ) -> None:
        super().__init__(name, tick=ValueCheck(ValueIs(key, comparison, value)), **options)


class SetValue(Habit):
    """Writes a value to the blackboard and succeeds.

    Args:
        name, options: as for ``Habit``.
        key: key to write.
        value: the value, or a callable that is called with the context and returns it.
        scope: name of the scope to write to; None for the character's own.
    """

    def __init__(
        self, name: str, key: str, value: Any, *, scope: str | None = None, **options: Unpack[HabitOptions]
    ) -> None:
        super().__init__(name, tick=ValueWrite(key, value, scope), **options)


class Wait(Habit):
    """Waits for a time, then succeeds.

    Args:
        name, options: as for ``Habit``.
        seconds: duration (s), 0 or more.
        up_to_s: maximum duration (s); the duration is then drawn between the two from
            the tree's ``random``. None for a fixed duration.
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
        """True if it requires a random generator."""
        return self.up_to_s > self.seconds

    def enter(self, context: HabitContext) -> None:
        """Wait."""
        seconds = self.seconds
        if self.draws:
            seconds += (self.up_to_s - seconds) * context.random.random()
        context.wait_s(seconds)

    def tick(self, context: HabitContext) -> Status:
        """Succeed, because the time has passed."""
        return Status.SUCCEEDED


class WaitFor(Habit):
    """Waits for ``HabitTree.notify`` or a change of the blackboard; fails if that takes too long.

    Args:
        name, options: as for ``Habit``.
        names: names or keys to wait for; any of them ends the wait.
        at_most_s: maximum wait (s); None for no limit.
    """

    def __init__(self, name: str, *names: str, at_most_s: float | None = None, **options: Unpack[HabitOptions]) -> None:
        if not names:
            raise ValueError(f"habit {name!r}: names must hold at least one name to wait for, got none")
        self.names = tuple(checked_name("name", one) for one in names)
        self.at_most_s = at_most_s if at_most_s is None else finite_number(
            f"habit {name!r}: at_most_s", at_most_s, minimum=0)
        super().__init__(name, **options)

    def enter(self, context: HabitContext) -> None:
        """Wait."""
        context.wait_for(*self.names, at_most_s=self.at_most_s)

    def tick(self, context: HabitContext) -> Status:
        """Succeed if a name ended the wait, fail if the time has passed."""
        return Status.SUCCEEDED if context.woken_by else Status.FAILED


class Call(Habit):
    """Calls a function at each tick until it returns a status other than RUNNING.

    Args:
        name, options: as for ``Habit``.
        function: called with the context and the arguments; returns a Status, False
            for failed, or any other value for succeeded.
        arguments: further arguments of the function.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], *arguments: Any, **options: Unpack[HabitOptions]
    ) -> None:
        self.function, self.arguments = _callable(name, "function", function), arguments
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Call."""
        return _status(self.function(context, *self.arguments))


class CallMethod(Call):
    """Calls a method of the character; its result counts as for ``Call``."""

    def __init__(self, name: str, method: str, *arguments: Any, **options: Unpack[HabitOptions]) -> None:
        checked_name("method", method)
        super().__init__(
            name, lambda context, *rest: getattr(context.owner, method)(*rest), *arguments, **options)


class Emit(Habit):
    """Sends an event, and succeeds.

    Args:
        name, options: as for ``Habit``.
        event: name of the event.
        payload: payload of the event, or a callable that is called with the context.
        send: called with event and payload: ``event_manager.send``, or emit of a signal;
            None for ``notify`` of this character's tree.
    """

    def __init__(
        self, name: str, event: str, payload: Any = None, *, send: Callable[[str, Any], Any] | None = None,
        **options: Unpack[HabitOptions],
    ) -> None:
        self.event, self.payload = checked_name("event", event), payload
        self.send = None if send is None else _callable(name, "send", send)
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Send the event."""
        (self.send or context.tree.notify)(self.event, _value(self.payload, context))
        return Status.SUCCEEDED


class MoveTo(Habit):
    """Moves to a target, and succeeds on arrival.

    Args:
        name, options: as for ``Habit``; a ``timeout_s`` is recommended.
        target: the destination.
        move: called with the context and the target when the run begins.
        has_arrived: called with the context at every tick; None waits for
            ``tree.notify("arrived")`` instead, which costs nothing.
        stop: called with the context if the run ends before arrival.
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
        """Start the movement."""
        self.move(context, _value(self.target, context))
        if self.has_arrived is None:
            context.wait_for("arrived")

    def tick(self, context: HabitContext) -> Status:
        """Succeed on arrival."""
        if self.has_arrived is None or self.has_arrived(context):
            return Status.SUCCEEDED
        return Status.RUNNING

    def exit(self, context: HabitContext) -> None:
        """Stop the movement unless the character has arrived."""
        if self.stop is not None and context.status is not Status.SUCCEEDED:
            self.stop(context)


class LookAt(Habit):
    """Turns towards a target, and succeeds when the character faces it.

    Args:
        name, options: as for ``Habit``.
        target: the target; a callable is called at every tick, so that the target may move.
        turn: called with the context and the target at every tick; returns True when the
            character faces the target.
    """

    def __init__(self, name: str, target: Any, *, turn: Callable[..., Any], **options: Unpack[HabitOptions]) -> None:
        self.target, self.turn = target, _callable(name, "turn", turn)
        super().__init__(name, **options)

    def tick(self, context: HabitContext) -> Status:
        """Turn for one tick."""
        return Status.SUCCEEDED if self.turn(context, _value(self.target, context)) else Status.RUNNING


ANIMATION_FINISHED = "animation finished"
"""Name to send to the tree at the end of an animation of ``PlayAnimation``."""


class PlayAnimation(Habit):
    """Plays an animation, and succeeds at its end: ``HabitTree.notify(ANIMATION_FINISHED, animation)``.

    The payload may be None; the end of a different animation is ignored.

    Args:
        name, options: as for ``Habit``.
        animation: name of the animation.
        play: called with the context and the animation when the run begins.
        stop: called with the context if the run ends before the animation.
    """

    def __init__(
        self, name: str, animation: str, *, play: Callable[..., Any], stop: Callable[..., Any] | None = None,
        **options: Unpack[HabitOptions],
    ) -> None:
        self.animation, self.play = animation, _callable(name, "play", play)
        self.stop = None if stop is None else _callable(name, "stop", stop)
        super().__init__(name, **options)

    def enter(self, context: HabitContext) -> None:
        """Play."""
        context.wait_for(ANIMATION_FINISHED)
        self.play(context, self.animation)

    def tick(self, context: HabitContext) -> Status:
        """Succeed if the ended animation is this one; wait again otherwise."""
        if context.payload_of(ANIMATION_FINISHED) in (None, self.animation):
            return Status.SUCCEEDED
        context.wait_for(ANIMATION_FINISHED)
        return Status.RUNNING

    def exit(self, context: HabitContext) -> None:
        """Stop the animation if it has not ended."""
        if self.stop is not None and context.status is not Status.SUCCEEDED:
            self.stop(context)


class ChangeValue(Habit):
    """Increases or decreases a number on the blackboard at a constant rate, for example energy during a rest.

    In a population, all runs are ticked as a batch. The number is read when the run
    begins, and written when it ends, also after an interruption.

    Args:
        name, options: as for ``Habit``.
        key: key of the number; an absent key counts as 0.
        per_second: rate of change (1/s), positive or negative.
        until: value at which it stops, and the habit succeeds.
    """

    def __init__(self, name: str, key: str, per_second: float, until: float, **options: Unpack[HabitOptions]) -> None:
        self.key = checked_name("key", key)
        self.per_second = finite_number(f"habit {name!r}: per_second", per_second)
        self.until = finite_number(f"habit {name!r}: until", until)
        if self.per_second == 0:
            raise ValueError(f"habit {name!r}: per_second must not be 0, because the number would never change")
        super().__init__(name, columns=("value",), **options)

    def enter(self, context: HabitContext) -> None:
        """Read the number."""
        context.memory["value"] = float(context.blackboard.get(self.key) or 0.0)

    def tick_batch(self, batch: HabitBatch) -> NDArray[np.int64]:
        """Change the numbers of all runs."""
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
