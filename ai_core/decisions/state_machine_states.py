"""States and transitions: what a state machine is made of. They do not change."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ai_core.errors import finite_number, shown

if TYPE_CHECKING:
    from ai_core.decisions.state_machine import StateMachine

__all__ = [
    "PREVIOUS", "Action", "History", "State", "Transition", "checked_action", "checked_initial", "checked_states",
]

PREVIOUS = "<previous>"
"""As a target: the state that was active before the one that is."""

Action = Callable[["StateMachine"], object]
"""What happens at one point of a machine's life; is told the machine."""


class History(Enum):
    """Where a transition into a state with states inside ends."""

    SHALLOW = "shallow"
    """In the inside state that was active last, which begins with its initial one."""
    DEEP = "deep"
    """Where the machine was when it left, however deep."""


class State:
    """The definition of one state, and of those inside it.

    Args:
        name: unlike those of its siblings; it is part of the path
            "hostile/combat/chase", so without "/".
        states: inside it. While it is active, exactly one of them is.
        initial: name of the inside state that it begins with; "" for the first.
        enter: called when it begins.
        update: called at each ``StateMachine.update`` while it is active.
        exit: called when it ends; exactly once for each beginning.

    Raises:
        TypeError: if an inside state is none, or a callback is not callable.
        ValueError: if a name is empty, taken, or has a "/"; if there is no
            inside state of the name ``initial``.
    """

    __slots__ = ("enter", "exit", "initial", "name", "states", "update")

    def __init__(
        self,
        name: str,
        states: Iterable[State] = (),
        *,
        initial: str = "",
        enter: Action | None = None,
        update: Action | None = None,
        exit: Action | None = None,
    ) -> None:
        if not isinstance(name, str) or not name or "/" in name or name == PREVIOUS:
            raise ValueError(f"a state's name must be a string without '/', got {shown(name)}")
        self.name = name
        self.states = checked_states(f"state {name!r}", states)
        self.initial = checked_initial(f"state {name!r}", initial, self.states)
        self.enter = checked_action(f"state {name!r}: enter", enter)
        self.update = checked_action(f"state {name!r}: update", update)
        self.exit = checked_action(f"state {name!r}: exit", exit)

    def __repr__(self) -> str:
        return f"<State {self.name!r}, {len(self.states)} inside>"


class Transition:
    """A way from one state to another.

    Args:
        event: what must be sent for it; None: it is tried at each
            ``StateMachine.update``, and needs ``guard`` or ``after_s``.
        source: path of the state it leads from, also while any state inside
            that is active; None: from everywhere.
        target: path of the state it leads to, ``PREVIOUS``, or None: it stays
            where it is, leaves nothing, and only ``action`` is called; with
            none, the event is ignored there.
        guard: may it be taken now? None: always.
        action: called between leaving and entering.
        history: of the target; None: it begins with its initial state.
        after_s: least time that ``source`` has been active (s), 0 or more;
            only without an event.

    Raises:
        TypeError: if a path is no text, or a callback is not callable.
        ValueError: if the parts do not go together.
    """

    __slots__ = ("action", "after_s", "event", "guard", "history", "source", "target")

    def __init__(
        self,
        event: str | None,
        source: str | None,
        target: str | None,
        *,
        guard: Action | None = None,
        action: Action | None = None,
        history: History | None = None,
        after_s: float | None = None,
    ) -> None:
        for name, value in (("event", event), ("source", source), ("target", target)):
            if value is not None and (not isinstance(value, str) or not value):
                raise TypeError(f"a transition's {name} must be text or None, got {shown(value)}")
        self.event, self.source, self.target = event, source, target
        self.guard = checked_action(f"{self}: guard", guard)
        self.action = checked_action(f"{self}: action", action)
        self.history = history
        self.after_s = None if after_s is None else finite_number(f"{self}: after_s", after_s, minimum=0)
        self._check()

    def reason(self) -> str:
        """Return why it is taken, as traces tell it: "noise", "after 3 s"."""
        if self.event is not None:
            return self.event
        return "by itself" if self.after_s is None else f"after {self.after_s:g} s"

    def _check(self) -> None:
        if self.history is not None and not isinstance(self.history, History):
            raise TypeError(f"{self}: history must be a History or None, got {shown(self.history)}")
        if self.history is not None and self.target in (None, PREVIOUS):
            raise ValueError(f"{self}: history is of a target state, and there is none; name one")
        if self.event is not None and self.after_s is not None:
            raise ValueError(f"{self}: after_s is for transitions without an event; leave one out")
        if self.event is None and self.guard is None and self.after_s is None:
            raise ValueError(f"{self}: without an event it needs a guard or after_s, or it never rests")
        if self.event is None and self.target is None and self.action is None:
            raise ValueError(f"{self}: goes nowhere and does nothing; give it a target or an action")

    def __str__(self) -> str:
        event = "without event" if self.event is None else repr(self.event)
        source = "everywhere" if self.source is None else repr(self.source)
        return f"transition {event} from {source}"


def checked_states(owner: str, states: Iterable[State]) -> tuple[State, ...]:
    """Return states as a tuple; raise unless they are states of different names."""
    found = tuple(states)
    names = set()
    for state in found:
        if not isinstance(state, State):
            raise TypeError(f"{owner}: every state must be a State, got {shown(state)}")
        if state.name in names:
            raise ValueError(f"{owner}: two states are named {state.name!r}; rename one")
        names.add(state.name)
    return found


def checked_initial(owner: str, initial: str, states: tuple[State, ...]) -> str:
    """Return the name of the state that is first; "" if there is none at all."""
    if initial == "":
        return states[0].name if states else ""
    if all(state.name != initial for state in states):
        names = ", ".join(repr(state.name) for state in states) or "none"
        raise ValueError(f"{owner}: initial must be the name of a state inside ({names}), got {shown(initial)}")
    return initial


def checked_action(owner: str, action: Action | None) -> Action | None:
    """Return a callback; raise unless it can be called."""
    if action is not None and not callable(action):
        raise TypeError(f"{owner} must be callable or None, got {shown(action)}")
    return action
