"""State machines: definitions of nested states, shared by characters, and the machine of each character."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from math import inf
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.decisions.callback_faults import CallbackFaults, failing_state
from ai_core.described import Described
from ai_core.errors import UnknownNameError, check_callables, check_kind, check_type, finite_number, named, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import State as Saved
from ai_core.saving.kinds import MapOf, Named, Optional, Seconds, Text, Whole
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

__all__ = [
    "MAXIMUM_DEPTH", "MOST_EVENTS_AT_ONCE", "OWN_EVENTS", "PREVIOUS", "Action", "History", "State", "StateMachine",
    "StateMachineDefinition", "StateNode", "Transition", "first_leaf"]

ROUNDING_S = 1e-9
"""Tolerance of sums of times (s): a machine that sleeps for a time wakes this much earlier, not a frame late."""
Step = tuple[Callable[["StateMachine"], object], str, "StateNode | None"]
"""A callback, its name in fault reports, and the innermost state active during it; None for no change."""
Finder = Callable[["StateNode", "StateNode | None", dict[int, int]], "TransitionPath | None"]
"""Called with the active leaf, the previous leaf, and the leaf each state was left in; returns the path."""


class StateNode:
    """A state at its place in a definition.

    Attributes:
        index: number in the definition, parents before children; -1 for the root.
        depth: number of enclosing states, including the root.
        enter, update, exit: its callback as a tuple of steps, empty for none.
        table: for a leaf: the routes to try in turn, by event.
        automatic: for a leaf: the routes to try at each update.
        updates: for a leaf: the callbacks of an update, the outermost first.
        is_still: for a leaf: True if an update does nothing.
    """

    def __init__(self, state: State | None, path: str, parent: StateNode | None, index: int) -> None:
        self.name, self.path, self.parent, self.index = path.rpartition("/")[2], path, parent, index
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.children: list[StateNode] = []
        self.initial: StateNode | None = None
        self.enter = _steps(None if state is None else state.enter, f"enter of {path}", self)
        self.update = _steps(None if state is None else state.update, f"update of {path}", None)
        self.exit = _steps(None if state is None else state.exit, f"exit of {path}", self)
        self.table: dict[str, tuple[Route, ...]] = {}
        self.automatic: tuple[Route, ...] = ()
        self.updates: tuple[Step, ...] = ()
        self.is_still = True

    def ancestors(self) -> list[StateNode]:
        """Return this state and all enclosing states, the root last."""
        return [self] if self.parent is None else [self, *self.parent.ancestors()]

    def ancestors_below(self, domain: StateNode) -> list[StateNode]:
        """Return this state and its enclosing states inside ``domain``."""
        above = self.ancestors()
        return above[: above.index(domain)]

    def leaf(self, index: int) -> StateNode:
        """Return the node of an index inside this one."""
        for child in self.children:
            if child.index == index:
                return child
            if child.children and child.index < index <= _last_index(child):
                return child.leaf(index)
        raise LookupError(f"state {self.path!r} has no descendant with index {index}")


class TransitionPath:
    """The states left and entered between two leaves.

    Attributes:
        domain: the innermost state that stays active.
        remembered: indexes of left states that are the target of a transition with history.
        timed: indexes of entered states that are the source of a transition with ``after_s``.
        only_notifies: True if all callbacks are notices.
    """

    def __init__(
        self, leaf: StateNode, domain: StateNode, exited: list[StateNode], entered: list[StateNode],
        remembered: set[int], timed: set[int],
    ) -> None:
        self.leaf, self.domain = leaf, domain
        self.exits = tuple(step for node in exited for step in node.exit)
        self.enters = tuple(step for node in entered for step in node.enter)
        self.entered = tuple(entered)
        self.remembered = tuple(node.index for node in exited if node.index in remembered)
        self.timed = tuple(node.index for node in entered if node.index in timed)
        self.only_notifies = all(map(_is_notice, (*self.exits, *self.enters)))


class Route:
    """A transition as available to a leaf.

    Attributes:
        source: the source state: the leaf, or an enclosing state.
        path: None for an internal transition, or if ``find`` computes the path each time.
        only_notifies: True if all its actions are notices.
    """

    def __init__(self, source: StateNode, number: int, transition: Transition) -> None:
        action = transition.action
        self.source, self.guard, self.after_s = source, transition.guard, transition.after_s
        self.guard_name, self.reason = transition.callback_name("guard", number), transition.reason()
        self.actions = _steps(action, transition.callback_name("action", number), None)
        self.only_notifies = all(map(_is_notice, self.actions))
        self.path: TransitionPath | None = None
        self.find: Finder | None = None


def _is_notice(step: Step) -> bool:
    """Return whether a callback only notifies listeners, marked by a true attribute ``is_notice``."""
    return getattr(step[0], "is_notice", False) is True


def _deepest_common(source: StateNode, target: StateNode) -> StateNode:
    """Return the innermost state that contains the target, and is or contains the source."""
    above = source.ancestors()
    return next(node for node in target.ancestors()[1:] if node in above)


def first_leaf(node: StateNode) -> StateNode:
    """Return the leaf in which a state begins: the initial state of its initial state, and so on."""
    while node.initial is not None:
        node = node.initial
    return node


def _last_index(node: StateNode) -> int:
    while node.children:
        node = node.children[-1]
    return node.index


def _steps(action: Action | None, name: str, active: StateNode | None) -> tuple[Step, ...]:
    return () if action is None else ((action, name, active),)


PREVIOUS = "<previous>"
"""Special target: the state that was active before the present one."""
Action = Callable[["StateMachine"], object]
"""A callback of a state or transition, called with the machine."""


class History(Enum):
    """The history mode of a transition into a state that has child states."""

    SHALLOW = "shallow"
    """Ends in the child that was active last, which begins with its initial state."""
    DEEP = "deep"
    """Ends in the leaf that was active last, at any depth; for an active target, in the present leaf."""


class State:
    """The definition of a state, and of its child states.

    Args:
        name: unique among its siblings; part of the path "hostile/combat/chase",
            so it must not contain "/".
        states: child states. While the state is active, exactly one child is.
        initial: name of the child in which it begins; "" for the first.
        enter: called when the state begins.
        update: called at each ``StateMachine.update`` while the state is active.
        exit: called when the state ends, exactly once for each ``enter``.

    Raises:
        TypeError: if a child is not a State, or a callback is not callable.
        ValueError: if a name is empty, in use, or contains "/", or no child has
            the name ``initial``.
    """

    __slots__ = ("enter", "exit", "initial", "name", "states", "update")

    def __init__(
        self, name: str, states: Iterable[State] = (), *, initial: str = "", enter: Action | None = None,
        update: Action | None = None, exit: Action | None = None,
    ) -> None:
        if not isinstance(name, str) or not name or "/" in name or name == PREVIOUS:
            raise ValueError(f"the name of a state must be a non-empty string without '/', got {shown(name)}")
        self.name = name
        self.states = _checked_states(f"state {name!r}", states)
        self.initial = _checked_initial(f"state {name!r}", initial, self.states)
        self.enter = _checked_action(f"state {name!r}: enter", enter)
        self.update = _checked_action(f"state {name!r}: update", update)
        self.exit = _checked_action(f"state {name!r}: exit", exit)

    def __repr__(self) -> str:
        return f"<State {self.name!r}, {len(self.states)} child states>"


class Transition(Described):
    """A transition from one state to another.

    Args:
        event: the event that triggers it; None: it is tried at each
            ``StateMachine.update``, and requires ``guard`` or ``after_s``.
        source: path of the source state, which includes all its child states;
            None for all states.
        target: path of the target state, ``PREVIOUS``, or None for an internal
            transition: no state is left, and only ``action`` is called; without an
            action the event is ignored there.
        guard: returns whether the transition may be taken; None for always.
        action: called between leaving and entering.
        history: history mode of the target; None: it begins in its initial state.
        after_s: minimum time that ``source`` has been active (s), 0 or more;
            only without an event.

    Raises:
        TypeError: if a path is not a string, or a callback is not callable.
        ValueError: if the arguments contradict each other.
    """

    SHOWN = ("event",)

    __slots__ = ("action", "after_s", "event", "guard", "history", "source", "target")

    def __init__(
        self, event: str | None, source: str | None, target: str | None, *, guard: Action | None = None,
        action: Action | None = None, history: History | None = None, after_s: float | None = None,
    ) -> None:
        for name, value in (("event", event), ("source", source), ("target", target)):
            if value is not None and (not isinstance(value, str) or not value):
                raise TypeError(f"the {name} of a transition must be a non-empty string or None, got {shown(value)}")
        self.event, self.source, self.target = event, source, target
        self.guard = _checked_action(f"{self}: guard", guard)
        self.action = _checked_action(f"{self}: action", action)
        self.history = history
        self.after_s = None if after_s is None else finite_number(f"{self}: after_s", after_s, minimum=0)
        self._check()

    def reason(self) -> str:
        """Return the cause of the transition for traces: "noise", "after 3 s"."""
        if self.event is not None:
            return self.event
        return "by itself" if self.after_s is None else f"after {self.after_s:g} s"

    def callback_name(self, kind: str, number: int) -> str:
        """Return the name of a callback in fault reports, for the transition of an index."""
        return f"{kind} of {self} ({number + 1})"

    def _check(self) -> None:
        if self.history is not None and not isinstance(self.history, History):
            raise TypeError(f"{self}: history must be a History or None, got {shown(self.history)}")
        if self.history is not None and self.target in (None, PREVIOUS):
            raise ValueError(f"{self}: history requires a target state; set target to a path")
        if self.event is not None and self.after_s is not None:
            raise ValueError(f"{self}: event and after_s exclude each other; leave one out")
        if self.event is None and self.guard is None and self.after_s is None:
            raise ValueError(f"{self}: must have an event, a guard or after_s, or it would be taken at every update")
        if self.event is None and self.target is None and self.action is None:
            raise ValueError(f"{self}: must have a target or an action")

    def __str__(self) -> str:
        event = "without event" if self.event is None else repr(self.event)
        source = "everywhere" if self.source is None else repr(self.source)
        return f"transition {event} from {source}"


def _checked_states(owner: str, states: Iterable[State]) -> tuple[State, ...]:
    found = tuple(states)
    names = set()
    for state in found:
        check_type(f"{owner}: every state", state, State)
        if state.name in names:
            raise ValueError(f"{owner}: two states are named {state.name!r}; rename one")
        names.add(state.name)
    return found


def _checked_initial(owner: str, initial: str, states: tuple[State, ...]) -> str:
    """Return the name of the initial state; "" if there are no states."""
    if initial == "":
        return states[0].name if states else ""
    if all(state.name != initial for state in states):
        names = ", ".join(repr(state.name) for state in states) or "none"
        raise ValueError(f"{owner}: initial must be the name of a child state ({names}), got {shown(initial)}")
    return initial


def _checked_action(owner: str, action: Action | None) -> Action | None:
    check_callables(**{owner: action})
    return action


OWN_EVENTS = "its own events"
"""Name in fault reports of an endless chain of events."""
MAXIMUM_DEPTH = 16
"""Largest depth of nested states (count). Real machines have three; more is a mistake in a loop."""


class StateMachineDefinition(Described):
    """All states and transitions of a machine, shared by every ``StateMachine``.

    For an event, the transitions of the active leaf are tried first, then those of
    the enclosing state, and so on outwards; those of the same state in the order of
    ``transitions``. The first transition whose guard allows it is taken.

    A transition leaves and enters as few states as possible: the innermost state
    that contains the target, and is or contains the source, stays active. A
    transition from a state to itself leaves and enters that state.

    Args:
        name: name of the machine, for messages.
        states: the outermost states.
        transitions: in order of preference.
        initial: name of the outermost state in which it begins; "" for the first.

    Attributes:
        nodes: all states, parents before children.
        by_path: the states by path.

    Raises:
        TypeError: if an entry is not a State or not a Transition.
        ValueError: if there is no state, two states share a name, or a transition can
            never be taken because an earlier one always is.
        UnknownNameError: if the source or target of a transition does not exist.

    Cost: O(states * transitions).
    """

    SHOWN = ("name", "nodes", "events")

    def __init__(
        self, name: str, states: Iterable[State], transitions: Iterable[Transition] = (), *, initial: str = ""
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a state machine must be a non-empty string, got {shown(name)}")
        self.name = name
        owner = f"state machine {name!r}"
        outermost = _checked_states(owner, states)
        if not outermost:
            raise ValueError(f"{owner} must have at least one state, got none")
        self.nodes: list[StateNode] = []
        self.by_path: dict[str, StateNode] = {}
        self.root = StateNode(None, "", None, -1)
        self._lay_out(self.root, outermost, _checked_initial(owner, initial, outermost))
        self.transitions = self._checked_transitions(transitions)
        self.events = tuple(dict.fromkeys(one.event for one in self.transitions if one.event is not None))
        self.remembered = {
            self.node(one.target).index for one in self.transitions if one.history is not None and one.target}
        self._timed = {
            self.node(one.source).index for one in self.transitions if one.after_s is not None and one.source}
        self._paths: dict[tuple[int, int, int], TransitionPath] = {}
        for leaf in self.nodes:
            if not leaf.children:
                self._lay_routes(leaf)
        self.beginning = self.path_between(None, self.root, first_leaf(self.root))

    def node(self, path: str) -> StateNode:
        """Return the state at a path.

        Raises:
            UnknownNameError: if no state has this path.
        """
        return named(f"state of {self.name!r}", path, self.by_path)

    def check_event(self, event: object) -> None:
        """Raise an error unless a transition has this event.

        Raises:
            TypeError: if it is not a string.
            UnknownNameError: if no transition has this event.
        """
        check_type(f"an event of {self.name!r}", event, str)
        if event not in self.events:
            raise UnknownNameError(f"event of {self.name!r}", event, self.events)

    def callback_names(self) -> set[str]:
        """Return the names of all callbacks in fault reports: "enter of hostile/chase"."""
        names = {name for node in self.nodes for _, name, _ in (*node.enter, *node.update, *node.exit)}
        for number, one in enumerate(self.transitions):
            names |= {one.callback_name("guard", number)} if one.guard is not None else set()
            names |= {one.callback_name("action", number)} if one.action is not None else set()
        return names | {OWN_EVENTS}

    def path_between(self, leaf: StateNode | None, domain: StateNode, target: StateNode) -> TransitionPath:
        """Return the states left and entered from a leaf to another, inside ``domain``; computed once."""
        key = (-1 if leaf is None else leaf.index, domain.index, target.index)
        found = self._paths.get(key)
        if found is None:
            exited = [] if leaf is None else leaf.ancestors_below(domain)
            entered = target.ancestors_below(domain)[::-1]
            found = self._paths[key] = TransitionPath(target, domain, exited, entered, self.remembered, self._timed)
        return found

    def without_removed(self, state: Saved) -> Saved:
        """Return a saved state of a machine without its entries of states that this definition does not have.

        The active state is kept.
        """
        paths, names = self.by_path, self.callback_names()
        leaves = {path for path, node in paths.items() if not node.children}
        return {
            **state,
            "previous": state["previous"] if state["previous"] in leaves else None,
            "since_around": [one for one in state["since_around"] if one[0] in paths],
            "left": [
                [path, leaf] for path, leaf in state["left"]
                if path in paths and leaf in leaves and leaf.startswith(f"{path}/")],
            "failing": [one for one in state["failing"] if one[0] in names]}

    def to_text(self) -> str:
        """Return one line per state, with the transitions from it below."""
        lines = [self.name]
        self._describe(lines, self.root, "")
        return "\n".join(lines)

    def _describe(self, lines: list[str], node: StateNode, indent: str) -> None:
        for one in self.transitions:
            if (one.source or "") == node.path:
                guard = f" if {getattr(one.guard, '__name__', 'allowed')}" if one.guard else ""
                history = f" ({one.history.value} history)" if one.history else ""
                lines.append(f"{indent}  {one.reason()} -> {one.target or 'stays'}{history}{guard}")
        for child in node.children:
            mark = " (initial)" if child is node.initial else ""
            lines.append(f"{indent}  {child.name}{mark}")
            self._describe(lines, child, indent + "  ")

    def _lay_out(self, parent: StateNode, states: tuple[State, ...], initial: str) -> None:
        if parent.depth >= MAXIMUM_DEPTH:
            raise ValueError(
                f"states of {self.name!r} nest deeper than {MAXIMUM_DEPTH} at {parent.path!r}; join some of the levels")
        for state in states:
            path = f"{parent.path}/{state.name}" if parent.path else state.name
            node = StateNode(state, path, parent, len(self.nodes))
            self.nodes.append(node)
            self.by_path[path] = node
            parent.children.append(node)
            if state.name == initial:
                parent.initial = node
            self._lay_out(node, state.states, state.initial)

    def _checked_transitions(self, transitions: Iterable[Transition]) -> tuple[Transition, ...]:
        found = tuple(transitions)
        certain: dict[tuple[str | None, str | None], Transition] = {}
        for one in found:
            check_type(f"state machine {self.name!r}: every transition", one, Transition)
            for role, path in (("source", one.source), ("target", one.target)):
                if path is not None and path != PREVIOUS and path not in self.by_path:
                    raise UnknownNameError(f"state of {self.name!r} ({role} of {one})", path, self.by_path)
            if one.source == PREVIOUS:
                raise ValueError(f"{one}: PREVIOUS must be used as a target only, not as a source")
            if one.history is not None and not self.node(one.target or "").children:
                raise ValueError(f"{one}: history requires a target with child states, and {one.target!r} has none")
            before = certain.get((one.event, one.source))
            if before is not None and (one.after_s or 0.0) >= (before.after_s or 0.0):
                raise ValueError(
                    f"{one} to {one.target!r} is never taken: the earlier one to {before.target!r}"
                    " always is; give the earlier one a guard, or move it behind")
            if one.guard is None and one.target != PREVIOUS:
                certain.setdefault((one.event, one.source), one)
        return found

    def _lay_routes(self, leaf: StateNode) -> None:
        """Fill the tables of a leaf: the routes by event, and those without an event, in order of trial."""
        routes: dict[str | None, list[Route]] = {event: [] for event in (*self.events, None)}
        certain = set()
        for node in leaf.ancestors():
            for number, one in enumerate(self.transitions):
                if (one.source or "") != node.path or one.event in certain:
                    continue
                if one.target is not None or one.action is not None or one.guard is not None:
                    routes[one.event].append(self._route(leaf, node, number, one))
                if one.guard is None and one.target != PREVIOUS and one.event is not None:
                    certain.add(one.event)  # transitions of outer states are never tried
        leaf.automatic = tuple(routes.pop(None))
        leaf.table = {event: tuple(found) for event, found in routes.items() if event is not None}
        leaf.updates = tuple(step for node in reversed(leaf.ancestors()) for step in node.update)
        leaf.is_still = not leaf.updates and not leaf.automatic

    def _route(self, leaf: StateNode, source: StateNode, number: int, one: Transition) -> Route:
        route = Route(source, number, one)
        if one.target == PREVIOUS:
            route.find = lambda active, previous, left: (
                None if previous is None else self.path_between(active, _deepest_common(source, previous), previous))
        elif one.target is not None:
            target = self.node(one.target)
            domain = _deepest_common(source, target)
            if one.history is None:
                route.path = self.path_between(leaf, domain, first_leaf(target))
            else:
                is_deep = one.history is History.DEEP
                route.find = lambda active, previous, left: self.path_between(
                    active, domain, _remembered(target, active, left.get(target.index), is_deep=is_deep))
        return route


def _remembered(target: StateNode, active: StateNode, left: int | None, *, is_deep: bool) -> StateNode:
    """Return the leaf in which a transition with history ends; ``left`` is the leaf in which its target was left."""
    if target in active.ancestors():
        last = active
    elif left is None:
        return first_leaf(target)
    else:
        last = target.leaf(left)
    return last if is_deep else first_leaf(last.ancestors_below(target)[-1])


NODE_STATE = Named(lambda machine: machine.definition.by_path, "state", name=attrgetter("path"))
"""How saves refer to a state: by its path."""


MOST_EVENTS_AT_ONCE = 64
"""Events that callbacks may send during an event (count): a chain of states sends under ten, an endless chain more."""
BUSY: dict[str, tuple[Route, ...]] = {}
"""The table while a transition runs: it is empty, so that each event is queued."""
NOWHERE: dict[str, tuple[Route, ...]] = {}
"""The table before ``start`` and after ``stop``."""


class StateMachine(Saveable):
    """Runs a definition for one character.

    - The machine begins with ``start``, or automatically with the first ``send`` or
      ``update``.
    - An event sent while a transition runs is queued until the transition ends;
      ``send`` returns None then. An endless chain of events is cut off and reported.
    - A transition calls ``exit`` from the inside out, its ``action``, then ``enter``
      from the outside in. Callbacks are called with the machine.
    - A state is active (``state``, ``is_in``) from its own ``enter`` to its own
      ``exit``, both included, as in SCXML: not while an enclosing state is entered or
      left.
    - ``update`` calls the update callbacks of the active states from the outside in,
      then takes at most one transition without an event.
    - A callback that raises an exception is reported, and the machine continues: the
      state is entered anyway, a guard counts as false. After several failures in a
      row the callback is quarantined until ``release_quarantined``.
    - Saves refer to states by their paths. Loading calls no callback; the states active
      before are dropped without their ``exit``.

    Args:
        definition: the definition, shared with other characters.
        owner: the character, for its callbacks.
        name: name in traces, reports and ``to_text``; the default is that of the definition.
        clock: the game clock; None adds up the times of ``update``, and an event then counts
            at the time of the last update.
        trace: its ``state_entered`` hook is called for each state that begins.
        faults: receives the exceptions of callbacks; None makes one that logs.
        parts: objects of the character for callbacks of a shared definition; ``machine.parts``.
        listening: called with ``parts`` and the time (s) before a change that calls only notices,
            callbacks with a true attribute ``is_notice``; a false result skips them.

    Attributes:
        event, payload: inside callbacks: the event that caused the call, and its payload; else None.
        elapsed_s: inside ``update``: time since the last update (s).

    Cost: O(1); about 250 bytes. A transition is O(states left and entered); any other event or update O(1).
    """

    SHOWN = ("definition", "state")

    STATE = DeclaredState(
        state=Optional(NODE_STATE, at="_leaf"), previous=Optional(NODE_STATE, at="_previous"),
        reason=Text(at="_reason"), updates=Whole(at="_frame"), seconds=Seconds(0, at="_seconds"),
        since_s=Seconds(at="_since_s"), since_around=MapOf(Seconds(), key=NODE_STATE, at="_since_by_node"),
        left=MapOf(NODE_STATE, key=NODE_STATE, at="_left_by_node"),
        failing=failing_state(lambda machine: machine.definition.callback_names()))

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    __slots__ = (
        "__weakref__", "_at", "_clock", "_definition", "_faults", "_frame", "_leaf", "_left", "_listening",
        "_previous", "_queue", "_reason", "_seconds", "_should_stop", "_since_around", "_since_s", "_table", "_trace",
        "elapsed_s", "event", "name", "owner", "parts", "payload")

    def __init__(
        self, definition: StateMachineDefinition, *, owner: Any = None, name: str = "", clock: Clock | None = None,
        trace: Trace | None = None, faults: FaultIsolation | None = None, parts: Any = None,
        listening: Callable[[Any, float], object] | None = None,
    ) -> None:
        check_type("definition", definition, StateMachineDefinition)
        if clock is not None:
            checked_clock(clock)
        check_kind("trace", trace, Trace)
        check_kind("faults", faults, FaultIsolation)
        check_callables(listening=listening)
        self._definition, self._table = definition, NOWHERE
        self._leaf: StateNode | None = None
        self._at: StateNode | None = None     # the innermost active state while some are left and entered; else None
        self._previous: StateNode | None = None
        self._left: dict[int, int] | None = None
        self._since_around: dict[int, float] | None = None
        self._queue: list[tuple[str, Any]] | None = None
        self._clock, self._trace, self._listening = clock, trace, listening
        self._seconds = self._since_s = self.elapsed_s = 0.0
        self._frame, self._should_stop, self._reason = 0, False, ""
        self.event: str | None = None
        self.payload: Any = None
        self.owner, self.name, self.parts = owner, name or definition.name, parts
        self._faults = CallbackFaults(self.name, faults)

    @property
    def definition(self) -> StateMachineDefinition:
        """The definition of its states and transitions."""
        return self._definition

    @property
    def state(self) -> str:
        """Path of the innermost active state; "" while none is active, as between two outermost states."""
        active = self._at or self._leaf
        return "" if active is None else active.path

    @property
    def previous_state(self) -> str:
        """Path of the previously active state; "" for none."""
        return "" if self._previous is None else self._previous.path

    @property
    def time_in_state_s(self) -> float:
        """Game time since the innermost active state began (s); until ``enter``, that of the state being left."""
        return 0.0 if self._leaf is None else self._now_s() - self._since_s

    @property
    def is_busy(self) -> bool:
        """True inside its callbacks: events are queued, and the machine cannot be saved."""
        return self._table is BUSY

    @property
    def sleep_s(self) -> float:
        """How long ``update`` has nothing to do (s): 0, the time left until ``after_s``, or inf until an event."""
        leaf, now_s = self._leaf, self._now_s()
        if leaf is None or leaf.updates:
            return 0.0
        times_s = [
            0.0 if one.after_s is None else self._began_s(one.source.index) + one.after_s - now_s - ROUNDING_S
            for one in leaf.automatic]
        return max(0.0, min(times_s, default=inf))

    def is_in(self, path: str) -> bool:
        """Return True if the state at this path, or one of its child states, is active.

        Raises:
            UnknownNameError: if no state has this path.
        """
        wanted, active = self._definition.node(path), self._at or self._leaf
        return active is not None and wanted in active.ancestors()

    @property
    def reason(self) -> str:
        """Cause of the last change of state: an event, "after 3 s", "by itself", "start"."""
        return self._reason

    def waited_s(self, path: str) -> float:
        """Return for how long a transition out of an active state has waited (s).

        Args:
            path: the source of a transition with ``after_s``, or the innermost active state.

        Raises:
            UnknownNameError: if no state has this path.
        """
        return self._now_s() - self._began_s(self._definition.node(path).index)

    def send(self, event: str, payload: Any = None) -> bool | None:
        """Send an event to the machine.

        Args:
            event: an event of at least one transition.
            payload: available to callbacks as ``machine.payload``.

        Returns:
            Whether a transition was taken; None if the event is queued, because a
            transition is running.

        Raises:
            UnknownNameError: if no transition has this event.
        """
        try:
            routes = self._table[event]
        except (KeyError, TypeError):
            return self._send_otherwise(event, payload)
        if not routes:
            return False
        self._table = BUSY
        self.event, self.payload = event, payload
        try:
            has_changed = self._take_first(routes)
            if self._queue is not None:
                self._settle_queue()
        finally:
            self._come_to_rest()
        return has_changed

    def update(self, elapsed_s: float) -> None:
        """Advance the machine by ``elapsed_s`` of game time.

        Args:
            elapsed_s: time since the last update (s), 0 or more.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside a callback of this machine.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s < inf:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._table is BUSY:
            raise RuntimeError(f"{self.name!r} was updated from inside one of its own callbacks; send an event instead")
        self._seconds += elapsed_s
        self._frame += 1
        leaf = self._leaf
        if leaf is None:
            self.start()
            leaf = self._leaf
        if leaf is None or leaf.is_still:
            return
        self.elapsed_s = elapsed_s
        self._table = BUSY
        try:
            self._run(leaf.updates)
            if self._queue is not None:
                self._settle_queue()
            if self._leaf is not None and self._leaf.automatic:
                self._take_first(self._leaf.automatic)
                if self._queue is not None:
                    self._settle_queue()
        finally:
            self._come_to_rest()

    def advance(self, turn: Turn) -> None:
        """Update as a task of a scheduler: ``scheduler.add(machine)``."""
        check_type("turn", turn, Turn, "without one, call update(elapsed_s)")
        self.update(turn.elapsed_s)

    def start(self) -> None:
        """Enter the initial state; does nothing if a state is active."""
        if self._leaf is None and self._table is not BUSY:
            self._table = BUSY
            try:
                self._move(self._definition.beginning, None, "start")
                if self._queue is not None:
                    self._settle_queue()
            finally:
                self._come_to_rest()

    def stop(self) -> None:
        """Leave all states and clear the history; the next ``send`` or ``update`` begins again.

        Inside a callback, this takes effect after all queued events.
        """
        self._should_stop = True
        if self._table is not BUSY:
            self._table = BUSY
            self._come_to_rest()

    def release_quarantined(self) -> None:
        """Release all quarantined callbacks."""
        self._faults.release()

    def to_text(self) -> str:
        """Return one line per state, with marks at active states, and the events for which the innermost one waits.

        Cost: O(states).
        """
        leaf = self._at or self._leaf
        active = [] if leaf is None else leaf.ancestors()
        lines = [self.name if leaf is not None else f"{self.name}: in no state; it begins with start, send or update"]
        for node in self._definition.nodes:
            line = f"{'  ' * (node.depth - 1)}{'*' if node in active else ' '} {node.name}"
            if node is leaf:
                waits = ", ".join(event for event, routes in node.table.items() if routes) or "nothing"
                line += f": for {self.time_in_state_s:.2f} s, {self._reason}; waits for {waits}"
            lines.append(line)
        return "\n".join(lines)

    def _send_otherwise(self, event: str, payload: Any) -> bool | None:
        """Send an event that is not in the table: while busy, before ``start``, or unknown."""
        self._definition.check_event(event)
        if self._table is BUSY:
            if self._queue is None:
                self._queue = []
            self._queue.append((event, payload))
            return None
        self.start()
        return self.send(event, payload) if self._leaf is not None else False

    def _take_first(self, routes: tuple[Route, ...]) -> bool:
        for route in routes:
            if route.after_s is not None and self._now_s() - self._began_s(route.source.index) < route.after_s:
                continue
            if route.guard is not None and not self._allows(route):
                continue
            path = route.path
            if route.find is not None:
                assert self._leaf is not None
                path = route.find(self._leaf, self._previous, self._left or {})
                if path is None:
                    continue  # there is no previous state
            if path is None:
                self._run(route.actions)
            else:
                self._move(path, route, route.reason)
            return True
        return False

    def _move(self, path: TransitionPath, route: Route | None, reason: str) -> None:
        leaf, clock, listening = self._leaf, self._clock, self._listening
        now_s = self._seconds if clock is None else clock.now.seconds
        only_notifies = path.only_notifies and (route is None or route.only_notifies)
        is_heard = listening is None or not only_notifies or listening(self.parts, now_s)
        if is_heard:
            self._run(path.exits)
            if route is not None:
                self._at = path.domain
                self._run(route.actions)
            now_s = self._seconds if clock is None else clock.now.seconds
        if leaf is not None:
            for index in path.remembered:
                self._left = {**(self._left or {}), index: leaf.index}
            if leaf is not path.leaf:
                self._previous = leaf
        self._leaf, self._reason, self._since_s, self._at = path.leaf, reason, now_s, None
        for index in path.timed:
            self._since_around = {**(self._since_around or {}), index: self._since_s}
        if self._trace is not None and self._trace.state_entered:
            self._trace_entered(self._trace, path)
        if is_heard:
            self._run(path.enters)
        self._at = None

    def _settle_queue(self) -> None:
        assert self._queue is not None
        settled = 0
        while self._queue:
            if settled == MOST_EVENTS_AT_ONCE:
                circle = ", ".join(repr(event) for event, _ in self._queue[:3])
                self._queue.clear()
                self._faults.report(OWN_EVENTS, self._now().frame, RuntimeError(
                    f"callbacks in {self.state!r} sent more than {MOST_EVENTS_AT_ONCE} events at once,"
                    f" the last {circle}; the chain has no end, the rest is dropped"))
                break
            settled += 1
            self.event, self.payload = self._queue.pop(0)
            if self._leaf is not None:
                self._take_first(self._leaf.table[self.event])
        self._queue = self.event = self.payload = None

    def _come_to_rest(self) -> None:
        self.event = self.payload = self._at = None
        if self._should_stop:
            if self._leaf is not None:
                self._run(tuple(step for node in self._leaf.ancestors() for step in node.exit))
            self._should_stop = False  # a stop requested by an exit callback is done
            self._leaf = self._at = self._previous = self._left = self._since_around = self._queue = None
        leaf = self._leaf
        self._table = NOWHERE if leaf is None else leaf.table
        if self._faults.kept is not None:
            self._faults.raise_kept()

    def _run(self, steps: tuple[Step, ...]) -> None:
        for action, name, active in steps:
            if active is not None:
                self._at = active
            if self._faults.failing and self._faults.is_quarantined(name):
                continue
            try:
                action(self)
            except Exception as error:  # the machine stays consistent, the frame continues
                self._faults.report(name, self._now().frame, error)
            else:
                if self._faults.failing:
                    self._faults.note_success(name)

    def _allows(self, route: Route) -> bool:
        assert route.guard is not None
        if self._faults.failing and self._faults.is_quarantined(route.guard_name):
            return False
        try:
            answer = bool(route.guard(self))
        except Exception as error:  # a failed guard counts as false
            self._faults.report(route.guard_name, self._now().frame, error)
            return False
        if self._faults.failing:
            self._faults.note_success(route.guard_name)
        return answer

    def _began_s(self, index: int) -> float:
        """Return the time at which an active state began that is the source of a transition with ``after_s`` (s)."""
        return (self._since_around or {}).get(index, self._since_s)

    def _now_s(self) -> float:
        return self._seconds if self._clock is None else self._clock.now.seconds

    def _now(self) -> TimeIndex:
        return TimeIndex(self._frame, self._seconds) if self._clock is None else self._clock.now

    def _trace_entered(self, trace: Trace, path: TransitionPath) -> None:
        for node in path.entered:
            for hook in trace.state_entered:
                try:
                    hook(self.name, node.path, self._reason, self._now())
                except Exception as error:  # raised when the machine is consistent again
                    self._faults.keep(error)

    @property
    def clock(self) -> Clock | None:
        """The game clock, or None."""
        return self._clock

    def skip_time(self, seconds: float) -> None:
        """Exclude a pause of the character from all times: active states count as begun that much later.

        Args:
            seconds: game time (s), 0 or more; the beginning of a state is never later than now.

        Raises:
            ValueError: if it is negative or not finite.

        Cost: O(depth of the active state).
        """
        finite_number("seconds", seconds, minimum=0, remedy="pass the duration of the pause")
        now_s = self._now_s()
        self._since_s = min(self._since_s + seconds, now_s)
        if self._since_around:
            self._since_around = {
                index: min(since_s + seconds, now_s) for index, since_s in self._since_around.items()}

    @property
    def _since_by_node(self) -> dict[StateNode, float]:
        nodes = self._definition.nodes
        return {nodes[index]: since_s for index, since_s in (self._since_around or {}).items()}

    @_since_by_node.setter
    def _since_by_node(self, since: dict[StateNode, float]) -> None:
        self._since_around = {node.index: since_s for node, since_s in since.items()} or None

    @property
    def _left_by_node(self) -> dict[StateNode, StateNode]:
        nodes = self._definition.nodes
        return {nodes[index]: nodes[leaf] for index, leaf in (self._left or {}).items()}

    @_left_by_node.setter
    def _left_by_node(self, left: dict[StateNode, StateNode]) -> None:
        self._left = {node.index: leaf.index for node, leaf in left.items()} or None

    def _check_at_rest(self) -> None:
        if self.is_busy:
            raise RuntimeError(f"{self.name!r} is in the middle of a transition; save and load between two frames")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for name, node in (("state", values.state), ("previous", values.previous)):
            if node is not None and node.children:
                refuse(name, f"must be a state without child states, got {node.path!r}")
        for index, (node, leaf) in enumerate(values.left.items()):
            if leaf.children or node is leaf or node not in leaf.ancestors():
                refuse(f"left[{index}][1]",
                       f"must be a state inside {node.path!r} without child states, got {leaf.path!r}")

    def _finish_load(self) -> None:
        self._come_to_rest()

