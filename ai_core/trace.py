"""Hooks through which tools observe the core: debugger, monitors, recorder, plots.

A part of the core calls ``for hook in trace.before_task: hook(name, now)``;
without listeners that is an empty loop.
"""
from __future__ import annotations

from collections.abc import Callable

from ai_core.described import Described
from ai_core.errors import shown

__all__ = ["HOOK_NAMES", "Trace", "given_trace"]

Hook = Callable[..., object]

HOOK_NAMES = (
    "before_task",
    "after_task",
    "task_ran",
    "event_sent",
    "sensed",
    "state_entered",
    "path_done",
)
"""Names of all hooks; a listener has methods of these names."""


class Trace(Described):
    """A set of hooks that report what the core does. Each attribute is a tuple of callables.

    A hook that raises an exception stops the work that called it: a tool that
    fails is better than a tool that silently shows wrong data.

    Attributes:
        before_task: called with (name, now).
        after_task: called with (name, now, used_us).
        task_ran: called after ``after_task`` with (name, now, granted, steps, used_us,
            result): the granted budget (µs or steps), the steps taken, and the
            value that the task returned or the exception that it raised.
        event_sent: called with (event, now).
        sensed: called with (sensor_id, source_id, modality_name, intensity, now).
        state_entered: called with (owner_name, state_path, reason, now).
        path_done: called with (ticket, now).
    """

    def __init__(self) -> None:
        self.before_task: tuple[Hook, ...] = ()
        self.after_task: tuple[Hook, ...] = ()
        self.task_ran: tuple[Hook, ...] = ()
        self.event_sent: tuple[Hook, ...] = ()
        self.sensed: tuple[Hook, ...] = ()
        self.state_entered: tuple[Hook, ...] = ()
        self.path_done: tuple[Hook, ...] = ()
        self._listeners: list[tuple[object, dict[str, Hook]]] = []

    def listen(self, listener: object) -> None:
        """Call the methods of ``listener`` that have a hook's name, after those of earlier listeners.

        Raises:
            ValueError: if it has no method of a hook's name, or is registered already.
        """
        if any(one is listener for one, _ in self._listeners):
            raise ValueError(f"{type(listener).__name__} is already listening; add each listener once")
        hooks = {
            name: method
            for name in HOOK_NAMES
            if callable(method := getattr(listener, name, None))
        }
        if not hooks:
            raise ValueError(
                f"{type(listener).__name__} has no hook method;"
                f" define at least one of {', '.join(HOOK_NAMES)}"
            )
        self._listeners.append((listener, hooks))
        self._rebuild()

    def unlisten(self, listener: object) -> None:
        """Stop calling the methods of ``listener``.

        Raises:
            ValueError: if it is not registered.
        """
        rest = [pair for pair in self._listeners if pair[0] is not listener]
        if len(rest) == len(self._listeners):
            raise ValueError(f"{type(listener).__name__} is not listening; call listen first")
        self._listeners = rest
        self._rebuild()

    def _rebuild(self) -> None:
        for name in HOOK_NAMES:
            setattr(self, name, tuple(h[name] for _, h in self._listeners if name in h))


def given_trace(trace: object) -> Trace:
    """Return ``trace``, or a new Trace without listeners for None."""
    if trace is None:
        return Trace()
    if not isinstance(trace, Trace):
        raise TypeError(f"trace must be a Trace or None, got {shown(trace)}; register a listener with trace.listen(…)")
    return trace
