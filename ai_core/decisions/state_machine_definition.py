"""The definition of a state machine: checked, and worked out once for all machines."""
from __future__ import annotations

from collections.abc import Iterable

from ai_core.decisions.state_machine_plan import Node, Route, Way, deepest_common, first_leaf, is_notice
from ai_core.decisions.state_machine_states import (
    PREVIOUS,
    History,
    State,
    Transition,
    checked_initial,
    checked_states,
)
from ai_core.errors import UnknownNameError, shown

__all__ = ["MAXIMUM_DEPTH", "OWN_EVENTS", "StateMachineDefinition"]

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
        self.nodes: list[Node] = []
        self._by_path: dict[str, Node] = {}
        self.root = Node(None, "", None, -1)
        self._lay_out(self.root, outermost, checked_initial(owner, initial, outermost))
        self.transitions = self._checked_transitions(transitions)
        self.events = tuple(dict.fromkeys(one.event for one in self.transitions if one.event is not None))
        self.remembered = {
            self.node(one.target).index for one in self.transitions if one.history is not None and one.target
        }
        self._timed = {
            self.node(one.source).index for one in self.transitions if one.after_s is not None and one.source
        }
        self._ways: dict[tuple[int, int, int], Way] = {}
        for leaf in self.nodes:
            if not leaf.children:
                self._lay_routes(leaf)
        self.beginning = self.way(None, self.root, first_leaf(self.root))

    def node(self, path: str) -> Node:
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
        names = {name for node in self.nodes for _, name in (*node.enter, *node.update, *node.exit)}
        for number, one in enumerate(self.transitions):
            names |= {_guard_name(number, one)} if one.guard is not None else set()
            names |= {_action_name(number, one)} if one.action is not None else set()
        return names | {OWN_EVENTS}

    def way(self, leaf: Node | None, domain: Node, target: Node) -> Way:
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
            found = self._ways[key] = Way(target, exited, target.up_to(domain)[::-1], self.remembered, self._timed)
        return found

    def to_text(self) -> str:
        """Return one line per state, with the transitions from it below."""
        lines = [self.name]
        self._describe(lines, self.root, "")
        return "\n".join(lines)

    def _describe(self, lines: list[str], node: Node, indent: str) -> None:
        for one in self.transitions:
            if (one.source or "") == node.path:
                guard = f" if {getattr(one.guard, '__name__', 'allowed')}" if one.guard else ""
                history = f" ({one.history.value} history)" if one.history else ""
                lines.append(f"{indent}  {one.reason()} -> {one.target or 'stays'}{history}{guard}")
        for child in node.children:
            mark = " (initial)" if child is node.initial else ""
            lines.append(f"{indent}  {child.name}{mark}")
            self._describe(lines, child, indent + "  ")

    def _lay_out(self, parent: Node, states: tuple[State, ...], initial: str) -> None:
        if parent.depth >= MAXIMUM_DEPTH:
            raise ValueError(f"states of {self.name!r} nest deeper than {MAXIMUM_DEPTH} at {parent.path!r}")
        for state in states:
            path = f"{parent.path}/{state.name}" if parent.path else state.name
            node = Node(state, path, parent, len(self.nodes))
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

    def _lay_routes(self, leaf: Node) -> None:
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

    def _route(self, leaf: Node, source: Node, number: int, one: Transition) -> Route:
        route = Route(source, one, one.reason())
        if one.guard is not None:
            route.guard_name = _guard_name(number, one)
        if one.action is not None:
            route.actions = ((one.action, _action_name(number, one)),)
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
                    active, domain, _remembered(target, left.get(target.index), is_deep=is_deep)
                )
        return route


def _remembered(target: Node, leaf: int | None, *, is_deep: bool) -> Node:
    """Return the leaf that a transition with history leads to."""
    below = first_leaf(target)
    if leaf is None:
        return below
    last = target.leaf(leaf)
    return last if is_deep else first_leaf(last.up_to(target)[-1])


def _guard_name(number: int, one: Transition) -> str:
    return f"guard of {one} ({number + 1})"


def _action_name(number: int, one: Transition) -> str:
    return f"action of {one} ({number + 1})"
