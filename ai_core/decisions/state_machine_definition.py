"""Definitions of state machines: nested states and the transitions between them, shared by characters."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ai_core.described import Described
from ai_core.errors import UnknownNameError, check_callables, check_type, finite_number, named, several, shown
from ai_core.saving.fields import State as Saved

if TYPE_CHECKING:
    from ai_core.decisions.state_machine import StateMachine

__all__ = [
    "MAXIMUM_DEPTH", "OWN_EVENTS", "PREVIOUS", "Action", "History", "Route", "State", "StateMachineDefinition",
    "StateNode", "Step", "Transition", "TransitionPath", "first_leaf"]

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
    found = several(f"{owner}: states", states, State)
    names = set()
    for state in found:
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

    def to_text(self, guard_text: Callable[[Callable[..., object]], str] | None = None) -> str:
        """Return one line per state, with the transitions from it below.

        Args:
            guard_text: returns the text of a guard; None takes the names of functions.
        """
        lines = [self.name]
        self._describe(lines, self.root, "", guard_text or (lambda guard: getattr(guard, "__name__", "allowed")))
        return "\n".join(lines)

    def _describe(
        self, lines: list[str], node: StateNode, indent: str, guard_text: Callable[[Callable[..., object]], str],
    ) -> None:
        for one in self.transitions:
            if (one.source or "") == node.path:
                guard = f" if {guard_text(one.guard)}" if one.guard else ""
                history = f" ({one.history.value} history)" if one.history else ""
                lines.append(f"{indent}  {one.reason()} -> {one.target or 'stays'}{history}{guard}")
        for child in node.children:
            mark = " (initial)" if child is node.initial else ""
            lines.append(f"{indent}  {child.name}{mark}")
            self._describe(lines, child, indent + "  ", guard_text)

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
        found = several(f"state machine {self.name!r}: transitions", transitions, Transition)
        certain: dict[tuple[str | None, str | None], Transition] = {}
        for one in found:
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
