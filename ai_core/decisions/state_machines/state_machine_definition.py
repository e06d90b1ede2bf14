"""The definition of a state machine: checked, and worked out once for all machines."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ai_core.errors import UnknownNameError, finite_number, shown

if TYPE_CHECKING:
    from ai_core.decisions.state_machines.state_machine import StateMachine


Step = tuple[Callable[["StateMachine"], object], str, "StateNode | None"]
"""A callback, what faults call it, and the innermost state that is active during it; None leaves that as it is."""
Finder = Callable[["StateNode", "StateNode | None", dict[int, int]], "TransitionPath | None"]
"""Told the active leaf, the one before, and where each state was left; finds the way."""


class StateNode:
    """A state at its place in a definition.

    Attributes:
        index: number in the definition, parents before those inside; -1 for the root.
        depth: states around it.
        enter, update, exit: its callback, or nothing.
        table: of a leaf: by event, the routes to try in turn.
        automatic: of a leaf: the routes to try at each update.
        updates: of a leaf: what an update calls, the outermost first.
        is_still: of a leaf: an update does nothing.
    """

    __slots__ = (
        "automatic", "children", "depth", "enter", "exit", "index", "initial", "is_still", "name",
        "parent", "path", "table", "update", "updates",
    )

    def __init__(self, state: State | None, path: str, parent: StateNode | None, index: int) -> None:
        self.name = path.rpartition("/")[2]
        self.path = path
        self.parent = parent
        self.index = index
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

    def up(self) -> list[StateNode]:
        """Return this and all around it, the root last."""
        return [self] if self.parent is None else [self, *self.parent.up()]

    def up_to(self, domain: StateNode) -> list[StateNode]:
        """Return this and those around it that are inside ``domain``."""
        above = self.up()
        return above[: above.index(domain)]

    def leaf(self, index: int) -> StateNode:
        """Return the node of an index inside this one."""
        for child in self.children:
            if child.index == index:
                return child
            if child.children and child.index < index <= last_index(child):
                return child.leaf(index)
        raise LookupError(f"{self.path!r} has no state {index} inside")


class TransitionPath:
    """What is left and entered between two leaves.

    Attributes:
        leaf: where it ends.
        domain: the innermost state that stays active.
        exits: what leaving calls, the innermost first.
        enters: what entering calls, the outermost first.
        entered: the states that begin.
        remembered: indexes of states left that a transition with history leads to.
        timed: indexes of states entered that a transition without event waits in.
        only_tells: leaving and entering call nothing but notices.
    """

    __slots__ = ("domain", "entered", "enters", "exits", "leaf", "only_tells", "remembered", "timed")

    def __init__(
        self, leaf: StateNode, domain: StateNode, exited: list[StateNode] | tuple[()], entered: list[StateNode],
        remembered: set[int],
        timed: set[int],
    ) -> None:
        self.leaf, self.domain = leaf, domain
        self.exits = tuple(step for node in exited for step in node.exit)
        self.enters = tuple(step for node in entered for step in node.enter)
        self.entered = tuple(entered)
        self.remembered = tuple(node.index for node in exited if node.index in remembered)
        self.timed = tuple(node.index for node in entered if node.index in timed)
        self.only_tells = all(map(is_notice, (*self.exits, *self.enters)))


class Route:
    """A transition as it stands open to one leaf.

    Attributes:
        source: the state it leads from: the leaf, or one around it.
        way: None if it stays, or if ``find`` finds the way each time.
        only_tells: its actions are nothing but notices.
    """

    __slots__ = ("actions", "after_s", "find", "guard", "guard_name", "only_tells", "reason", "source", "way")

    def __init__(self, source: StateNode, transition: Transition, reason: str) -> None:
        self.source = source
        self.guard: Action | None = transition.guard
        self.guard_name = ""
        self.after_s = transition.after_s
        self.reason = reason
        self.actions: tuple[Step, ...] = ()
        self.only_tells = True
        self.way: TransitionPath | None = None
        self.find: Finder | None = None


def is_notice(step: Step) -> bool:
    """Return whether a callback only tells whoever listens, and says so by a true attribute ``is_notice``."""
    return getattr(step[0], "is_notice", False) is True


def deepest_common(source: StateNode, target: StateNode) -> StateNode:
    """Return the innermost state that contains the target, and is the source or contains it."""
    above = source.up()
    return next(node for node in target.up()[1:] if node in above)


def first_leaf(node: StateNode) -> StateNode:
    """Return where a state begins: its initial state's initial state, and so on."""
    while node.initial is not None:
        node = node.initial
    return node


def last_index(node: StateNode) -> int:
    """Return the largest index inside a node."""
    while node.children:
        node = node.children[-1]
    return node.index


def _steps(action: Action | None, name: str, active: StateNode | None) -> tuple[Step, ...]:
    return () if action is None else ((action, name, active),)


PREVIOUS = "<previous>"
"""As a target: the state that was active before the one that is."""
Action = Callable[["StateMachine"], object]
"""What happens at one point of a machine's life; is told the machine."""


class History(Enum):
    """Where a transition into a state with states inside ends."""

    SHALLOW = "shallow"
    """In the inside state that was active last, which begins with its initial one."""
    DEEP = "deep"
    """Where the machine was when it left, however deep; if the target is active, where it is."""


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


OWN_EVENTS = "its own events"
"""What faults call events that go round in a circle."""
MAXIMUM_DEPTH = 16
"""States inside each other (count). Real machines have three; more is a mistake in a loop."""


class StateMachineDefinition:
    """All states and transitions of a machine, shared by every ``StateMachine``.

    For an event, the transitions of the active state come first, then those of
    the state around it, and so on outwards; among those of one state the
    earlier in ``transitions``. The first whose guard allows it is taken.

    A transition leaves and enters what it must: the innermost state that
    contains the target, and is the source or contains it, stays active. So a
    transition from a state to itself leaves and enters it.

    Args:
        name: of the machine, for messages.
        states: the outermost ones.
        transitions: from most to least wanted.
        initial: name of the outermost state it begins with; "" for the first.

    Raises:
        TypeError: if something is no state or no transition.
        ValueError: if there is no state, two share a name, or a transition can
            never be taken because one before it always is.
        UnknownNameError: naming the transition that leads from or to nowhere.

    Cost: O(states * transitions).
    """

    def __init__(
        self, name: str, states: Iterable[State], transitions: Iterable[Transition] = (), *, initial: str = ""
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a state machine's name must be text, got {shown(name)}")
        self.name = name
        owner = f"state machine {name!r}"
        outermost = checked_states(owner, states)
        if not outermost:
            raise ValueError(f"{owner} needs a state; add one")
        self.nodes: list[StateNode] = []
        self._by_path: dict[str, StateNode] = {}
        self.root = StateNode(None, "", None, -1)
        self._lay_out(self.root, outermost, checked_initial(owner, initial, outermost))
        self.transitions = self._checked_transitions(transitions)
        self.events = tuple(dict.fromkeys(one.event for one in self.transitions if one.event is not None))
        self.remembered = {
            self.node(one.target).index for one in self.transitions if one.history is not None and one.target
        }
        self._timed = {
            self.node(one.source).index for one in self.transitions if one.after_s is not None and one.source
        }
        self._ways: dict[tuple[int, int, int], TransitionPath] = {}
        for leaf in self.nodes:
            if not leaf.children:
                self._lay_routes(leaf)
        self.beginning = self.way(None, self.root, first_leaf(self.root))

    def node(self, path: str) -> StateNode:
        """Return the state at a path.

        Raises:
            UnknownNameError: if there is none.
        """
        try:
            return self._by_path[path]
        except (KeyError, TypeError):
            raise UnknownNameError(f"state of {self.name!r}", path, self._by_path) from None

    def check_event(self, event: object) -> None:
        """Raise unless some transition waits for this event.

        Raises:
            TypeError: if it is no text.
            UnknownNameError: if none does.
        """
        if not isinstance(event, str):
            raise TypeError(f"an event of {self.name!r} must be text, got {shown(event)}")
        if event not in self.events:
            raise UnknownNameError(f"event of {self.name!r}", event, self.events)

    def callback_names(self) -> set[str]:
        """Return what faults call each callback: "enter of hostile/chase"."""
        names = {name for node in self.nodes for _, name, _ in (*node.enter, *node.update, *node.exit)}
        for number, one in enumerate(self.transitions):
            names |= {_guard_name(number, one)} if one.guard is not None else set()
            names |= {_action_name(number, one)} if one.action is not None else set()
        return names | {OWN_EVENTS}

    def way(self, leaf: StateNode | None, domain: StateNode, target: StateNode) -> TransitionPath:
        """Return what is left and entered between two leaves; worked out once.

        Args:
            leaf: the active one; None: none is.
            domain: the state that stays active, with those around it.
            target: the leaf that will be active.
        """
        key = (-1 if leaf is None else leaf.index, domain.index, target.index)
        found = self._ways.get(key)
        if found is None:
            exited = () if leaf is None else leaf.up_to(domain)
            entered = target.up_to(domain)[::-1]
            found = self._ways[key] = TransitionPath(target, domain, exited, entered, self.remembered, self._timed)
        return found

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
            raise ValueError(f"states of {self.name!r} nest deeper than {MAXIMUM_DEPTH} at {parent.path!r}")
        for state in states:
            path = f"{parent.path}/{state.name}" if parent.path else state.name
            node = StateNode(state, path, parent, len(self.nodes))
            self.nodes.append(node)
            self._by_path[path] = node
            parent.children.append(node)
            if state.name == initial:
                parent.initial = node
            self._lay_out(node, state.states, state.initial)

    def _checked_transitions(self, transitions: Iterable[Transition]) -> tuple[Transition, ...]:
        found = tuple(transitions)
        certain: dict[tuple[str | None, str | None], Transition] = {}
        for one in found:
            if not isinstance(one, Transition):
                raise TypeError(f"state machine {self.name!r}: every transition must be one, got {shown(one)}")
            for role, path in (("source", one.source), ("target", one.target)):
                if path is not None and path != PREVIOUS and path not in self._by_path:
                    raise UnknownNameError(f"state of {self.name!r} ({role} of {one})", path, self._by_path)
            if one.source == PREVIOUS:
                raise ValueError(f"{one}: PREVIOUS is a target, no source")
            if one.history is not None and not self.node(one.target or "").children:
                raise ValueError(f"{one}: history is of a state with states inside, and {one.target!r} has none")
            before = certain.get((one.event, one.source))
            if before is not None and (one.after_s or 0.0) >= (before.after_s or 0.0):
                raise ValueError(
                    f"{one} to {one.target!r} is never taken: the one before it, to {before.target!r},"
                    " always is; give that a guard, or put it behind"
                )
            if one.guard is None and one.target != PREVIOUS:
                certain.setdefault((one.event, one.source), one)
        return found

    def _lay_routes(self, leaf: StateNode) -> None:
        """Fill the leaf's tables: by event, and those without one, in the order they are tried."""
        routes: dict[str | None, list[Route]] = {event: [] for event in (*self.events, None)}
        certain = set()
        for node in leaf.up():
            for number, one in enumerate(self.transitions):
                if (one.source or "") != node.path or one.event in certain:
                    continue
                if one.target is not None or one.action is not None or one.guard is not None:
                    routes[one.event].append(self._route(leaf, node, number, one))
                if one.guard is None and one.target != PREVIOUS and one.event is not None:
                    certain.add(one.event)  # what stands further out is never asked
        leaf.automatic = tuple(routes.pop(None))
        leaf.table = {event: tuple(found) for event, found in routes.items() if event is not None}
        leaf.updates = tuple(step for node in reversed(leaf.up()) for step in node.update)
        leaf.is_still = not leaf.updates and not leaf.automatic

    def _route(self, leaf: StateNode, source: StateNode, number: int, one: Transition) -> Route:
        route = Route(source, one, one.reason())
        if one.guard is not None:
            route.guard_name = _guard_name(number, one)
        if one.action is not None:
            route.actions = ((one.action, _action_name(number, one), None),)
            route.only_tells = all(map(is_notice, route.actions))
        if one.target == PREVIOUS:
            route.find = lambda active, previous, left: (
                None if previous is None else self.way(active, deepest_common(source, previous), previous)
            )
        elif one.target is not None:
            target = self.node(one.target)
            domain = deepest_common(source, target)
            route.way = self.way(leaf, domain, first_leaf(target))
            if one.history is not None:
                is_deep = one.history is History.DEEP
                route.way, route.find = None, lambda active, previous, left: self.way(
                    active, domain, _remembered(target, active, left.get(target.index), is_deep=is_deep)
                )
        return route


def _remembered(target: StateNode, active: StateNode, left: int | None, *, is_deep: bool) -> StateNode:
    """Return the leaf that a transition with history leads to.

    Args:
        target: the state whose history it is.
        active: the leaf that is active before the transition; inside the target it is what will be left.
        left: index of the leaf in which the target was left last, None if it never was.
        is_deep: the history leads to that leaf, else only into the state right inside the target.
    """
    if target in active.up():
        last = active
    elif left is None:
        return first_leaf(target)
    else:
        last = target.leaf(left)
    return last if is_deep else first_leaf(last.up_to(target)[-1])


def _guard_name(number: int, one: Transition) -> str:
    return f"guard of {one} ({number + 1})"


def _action_name(number: int, one: Transition) -> str:
    return f"action of {one} ({number + 1})"


__all__ = [
    "MAXIMUM_DEPTH",
    "OWN_EVENTS",
    "PREVIOUS",
    "Action",
    "History",
    "Route",
    "State",
    "StateMachineDefinition",
    "StateNode",
    "Step",
    "Transition",
    "TransitionPath",
    "checked_action",
    "checked_initial",
    "checked_states",
    "deepest_common",
    "first_leaf",
    "is_notice",
]
