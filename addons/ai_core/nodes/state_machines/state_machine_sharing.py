"""Definitions of state machines, read from nodes and shared by all machines with equal nodes."""
from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from addons.ai_core.bridge.gd import KeptNotice, NodeRow, RefusedValue
from addons.ai_core.nodes.state_machines.ai_state import AIState
from addons.ai_core.nodes.state_machines.state_transition import StateTransition
from ai_core.decisions.state_machine import (
    PREVIOUS,
    History,
    State,
    StateMachineDefinition,
    Transition,
    first_leaf,
)

HISTORIES = (None, History.SHALLOW, History.DEEP)

_shared: WeakValueDictionary[Any, StateMachineDefinition] = WeakValueDictionary()


class MachineChildren:
    """The states and transitions below a StateMachine, in the order of the scene dock.

    Attributes:
        states: by path.
        transitions: those of the machine first, then those of each state.

    Raises:
        RefusedValue, ValueError, LookupError: if the nodes define no valid machine; the message names the node.

    Cost: O(nodes).
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._name = str(machine.get_name())
        self.states: dict[str, AIState] = {}
        self.transitions: list[StateTransition] = []
        self._sources: list[str | None] = []
        self._described = self._read(machine, "")
        if not self.states:
            raise RefusedValue("has no AIState below it and does nothing; add an AIState")
        for parent in (machine, *self.states.values()):
            _check_initial(parent)
        self._between = tuple(map(self._transition, self.transitions, self._sources))

    def definition(self) -> StateMachineDefinition:
        """Return the definition; the first machine with equal nodes creates it."""
        key = self._name, str(self._initial(self._machine)), self._described, self._between
        found = _shared.get(key)
        if found is None:
            numbers = {path: number for number, path in enumerate(self.states, 1)}
            found = _shared[key] = StateMachineDefinition(
                self._name, [_state(one, "", numbers) for one in self._described],
                [_made(number, *one) for number, one in enumerate(self._between, 1 + len(numbers))], initial=key[1])
        return found

    def methods_of_the_actor(self) -> list[str]:
        """Return the methods of the actor that states and transitions name; some may be empty."""
        of_states = [(one.enter_method, one.update_method, one.exit_method) for one in self.states.values()]
        guards = [one.guard_method for one in self.transitions if not one.guard_expression]
        return [str(name) for name in [*[name for names in of_states for name in names], *guards]]

    def row(self) -> Any:
        """Return the machine, its states and its transitions, for callbacks of the definition to find."""
        return NodeRow(
            [self._machine, *self.states.values(), *self.transitions],
            [("state_entered", "state_exited"), *[("entered", "exited")] * len(self.states),
             *[("taken",)] * len(self.transitions)])

    def _read(self, parent: Any, path: str) -> tuple[Any, ...]:
        """Return (name, initial state, which callbacks exist, inner states) of each child state of a node."""
        described = []
        for child in parent.get_children():
            if isinstance(child, StateTransition):
                child.join(self._machine, f"transition '{self._machine.get_path_to(child)}'")
                self.transitions.append(child)
                self._sources.append(path or None)
            elif isinstance(child, AIState):
                name = str(child.get_name())
                below = f"{path}/{name}" if path else name
                child.join(self._machine, below)
                self.states[below] = child
                inside = self._read(child, below)
                described.append((name, self._initial(child), child.used_callbacks, inside))
        return tuple(described)

    def _initial(self, parent: Any) -> str:
        node = parent.get_node_or_null(parent.initial_state) if parent.initial_state else None
        return "" if node is None else str(node.get_name())

    def _transition(self, node: StateTransition, source: str | None) -> tuple[Any, ...]:
        """Return (event, source, target, history, after_s, is guarded)."""
        warnings = node._get_configuration_warnings()
        if warnings:
            raise RefusedValue(f"transition '{self._machine.get_path_to(node)}' {warnings[0]}")
        target: str | None = None
        if node.target == StateTransition.Target.STATE:
            target = self._path_of(node)
        elif node.target == StateTransition.Target.PREVIOUS:
            target = PREVIOUS
        after_s = node.after if not node.event and (node.after > 0 or not node.is_guarded) else None
        if after_s == 0:
            raise RefusedValue(
                f"transition '{self._machine.get_path_to(node)}' has no event, no after and no guard,"
                " and would be taken endlessly; set one of them")
        history = node.history if node.target == StateTransition.Target.STATE else 0
        return node.event or None, source, target, history, after_s, node.is_guarded

    def _path_of(self, node: StateTransition) -> str:
        to = node.get_node(node.to)
        for path, state in self.states.items():
            if state == to:
                return path
        raise RefusedValue(
            f"transition '{self._machine.get_path_to(node)}' leads to '{node.to}', a state of another machine;"
            " choose a state of its own machine")


def needs_update(definition: StateMachineDefinition) -> bool:
    """Return whether any state has updates or transitions without an event."""
    return not all(node.is_still for node in definition.nodes)


def unreachable_warnings(definition: StateMachineDefinition) -> list[str]:
    """Return a warning for each state that is never active."""
    reached = set(first_leaf(definition.root).ancestors())
    for one in definition.transitions:
        if one.target not in (None, PREVIOUS):
            reached |= set(first_leaf(definition.node(one.target)).ancestors())
    return [
        f"state '{node.path}' is never active: it is not initial, and no transition leads to it; add a transition"
        for node in definition.nodes if node not in reached
    ]


def _check_initial(state: Any) -> None:
    if state.initial_state:
        node = state.get_node_or_null(state.initial_state)
        if node is None or not isinstance(node, AIState) or node.get_parent() != state:
            raise RefusedValue(
                f"initial_state '{state.initial_state}' of '{state.get_name()}' is no child AIState; choose one")


def _state(described: tuple[Any, ...], around: str, numbers: dict[str, int]) -> State:
    name, initial, (has_enter, has_update, has_exit), inside = described
    path = f"{around}/{name}" if around else name
    number = numbers[path]

    def begin(machine: Any) -> None:
        machine.parts[number].begin()

    def update(machine: Any) -> None:
        machine.parts[number].go_on(machine.elapsed_s)

    def end(machine: Any) -> None:
        machine.parts[number].end()

    return State(
        name, [_state(one, path, numbers) for one in inside], initial=initial,
        enter=begin if has_enter else KeptNotice(number, "entered", "state_entered", begin),
        update=update if has_update else None,
        exit=end if has_exit else KeptNotice(number, "exited", "state_exited", end))


def _made(
    number: int, event: str | None, source: str | None, target: str | None, history: int, after_s: float | None,
    is_guarded: bool,
) -> Transition:
    def emit(machine: Any) -> None:
        machine.parts[number].emit_taken(machine.event, machine.payload)

    return Transition(
        event, source, target, history=HISTORIES[history], after_s=after_s,
        guard=(lambda machine: machine.parts[number].allows()) if is_guarded else None,
        action=KeptNotice(number, "taken", "", emit))
