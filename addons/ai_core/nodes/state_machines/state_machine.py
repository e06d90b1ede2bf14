"""StateMachine node: a hierarchical state machine of the AIState nodes below it, driven by events."""
from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    KeptNotice,
    Node,
    NodePath,
    NodeRow,
    PackedStringArray,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    report_warning,
    signal,
)
from addons.ai_core.nodes.characters.character_work import ACTOR_DOC, ScheduledCharacter
from addons.ai_core.nodes.characters.event_names import report_misspelt
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.characters.update_group import STATE_MACHINES, UpdateGroup
from addons.ai_core.nodes.debugging.chart_words import ChartNode
from addons.ai_core.nodes.saving.node_state import SavedState, prepared_scripts, saved_scripts
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.state_machines.ai_state import AIState
from addons.ai_core.nodes.state_machines.state_transition import StateTransition
from ai_core.decisions import state_machine as library
from ai_core.decisions.state_machine_definition import (
    PREVIOUS,
    History,
    State,
    StateMachineDefinition,
    Transition,
    first_leaf,
)
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import StateError, checked_dict
from ai_core.saving.kinds import GameDict
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

HISTORIES = (None, History.SHALLOW, History.DEEP)

KEPT_DEFINITIONS = 64
"""Definitions kept for machines to come (count): a level has a few kinds; each one dropped is a reference cycle."""


class MachineChildren:
    """The states and transitions below a StateMachine, in the order of the scene dock.

    Attributes:
        states: by path.
        transitions: those of the machine first, then those of each state.
        sources: the path of the state that each transition leads out of; None for all states.

    Cost: O(nodes).
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._name = str(machine.get_name())
        self.states: dict[str, AIState] = {}
        self.transitions: list[StateTransition] = []
        self.sources: list[str | None] = []
        self._described = self._read(machine, "")

    def definition(self) -> StateMachineDefinition:
        """Return the definition, shared with machines of equal nodes.

        Raises:
            RefusedValue, ValueError, LookupError: if the nodes define no valid machine; the message names the node.
        """
        if not self.states:
            raise RefusedValue("has no AIState below it and does nothing; add an AIState")
        for parent in (self._machine, *self.states.values()):
            _check_initial(parent)
        between = tuple(map(self._transition, self.transitions, self.sources))
        return _definition(
            self._name, str(self._initial(self._machine)), self._described, between, tuple(self.states))

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
                self.sources.append(path or None)
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
        mistakes = node.mistakes()
        if mistakes:
            raise RefusedValue(f"transition '{self._machine.get_path_to(node)}' {mistakes[0]}")
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
                f"initial_state '{state.initial_state}' of '{state.get_name()}' is not a child AIState; choose one")


@functools.lru_cache(maxsize=KEPT_DEFINITIONS)
def _definition(
    name: str, initial: str, described: tuple[Any, ...], between: tuple[Any, ...], paths: tuple[str, ...],
) -> StateMachineDefinition:
    numbers = {path: number for number, path in enumerate(paths, 1)}
    return StateMachineDefinition(
        name, [_state(one, "", numbers) for one in described],
        [_made(number, *one) for number, one in enumerate(between, 1 + len(numbers))], initial=initial)


def _state(described: tuple[Any, ...], around: str, numbers: dict[str, int]) -> State:
    name, initial, (has_enter, has_update, has_exit), inside = described
    path = f"{around}/{name}" if around else name
    number = numbers[path]

    def begin(machine: Any) -> None:
        machine.parts[number].begin()

    def update(machine: Any) -> None:
        machine.parts[number].update(machine.elapsed_s)

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

    def guard(machine: Any) -> Any:
        return machine.parts[number].allows()

    guard.number = number  # type: ignore[attr-defined]
    return Transition(
        event, source, target, history=HISTORIES[history], after_s=after_s,
        guard=guard if is_guarded else None,
        action=KeptNotice(number, "taken", "", emit))


EXPRESSION_NAMES = ("payload", "event", "time_in_state_s")
"""Names in guard expressions that are properties of the machine; other names refer to its blackboard."""

DEFINITION_ERRORS = (RefusedValue, ValueError, TypeError, LookupError)


@gdclass(
    icon="res://addons/ai_core/icons/state_machine.svg",
    keywords="fsm, hfsm, statechart, state chart, hierarchical state machine")
class StateMachine(ChartNode, ScheduledCharacter, SavedState, Node):
    """A state machine of a character: one state is active, and events change it, such as send_event("noise").

    The AIState nodes below are the states and may contain states; StateTransition nodes below a state lead
    out of it. The machine starts in its first frame of AI. A machine without updates and timed transitions
    costs nothing until an event is sent.
    """

    # Read by each event, so stored side by side.
    __slots__ = ("_is_asleep", "_is_changed", "_is_off", "_needs_update", "core")

    KIND = STATE_MACHINES

    initial_state = export(
        NodePath, NodePath(""), hint=node_path("AIState"),
        doc="State in which the machine starts; if empty, the first.")
    actor = export(NodePath, NodePath(".."), on_set="_actor_set", doc=ACTOR_DOC)
    enabled = export(
        bool, True, on_set="_enable", live=True,
        doc="If false, all states are exited. When set to true again, the machine starts from its initial state.")
    period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", live=True,
        doc="Number of frames between two updates. Events are handled at once.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the machine's share of the budget.")

    state_entered = signal(("path", str), doc="Emitted when a state begins, with its path, such as \"hostile/chase\".")
    state_exited = signal(("path", str), doc="Emitted when a state ends, with its path.")

    STATE = DeclaredState(
        settings=Hook(), machine=Part(at="core"), blackboard=GameDict("_scheduler.values", at="blackboard"),
        scripts=Hook())
    cannot_load = "the machine does not run; it needs an actor, states and an AIScheduler"
    parts_noun, kept_of_others = "states", "its settings and blackboard"

    def __init__(self) -> None:
        self.core: library.StateMachine | None = None
        self.nodes: MachineChildren | None = None
        self.blackboard: dict[str, Any] = {}
        self._scheduler: Any = None
        self._update_group: UpdateGroup | None = None
        self._needs_update = self._is_asleep = False
        self._is_off = self._is_changed = self._is_entered = self._is_to_rebuild = False
        self._unknown_events: set[str] = set()       # unknown events already reported
        self._paused_since_s: float | None = None     # while paused: subtracted up to here
        self._actor: Any = None

    def on_entered(self) -> None:
        self._look_for_actor()
        self._is_entered = True
        if any(child.is_class("AIState") for child in self.get_children()):
            self._begin()
        else:
            self.call_deferred("rebuild")     # a script that builds the machine adds states next

    def on_predelete(self) -> None:
        self._chooser = None
        self.blackboard.clear()     # values may hold scripts: release them now

    def _actor_set(self) -> None:
        self._look_for_actor()
        if self.core is None:
            self.parts_changed()

    def parts_changed(self) -> None:
        """Read the states and transitions again after one came or left, once the script that does so has finished."""
        if self._is_entered and not self._is_to_rebuild:
            self._is_to_rebuild = True
            self.call_deferred("rebuild")

    def on_exit_tree(self) -> None:
        self._is_entered = False
        self._leave_update_group()
        if self.core is not None:
            self.core.stop()
            self.core.parts.drop(self)
        self.end_feed()
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self.core = self.nodes = self._scheduler = None

    @method
    def send_event(self, event: str, payload: Variant = None) -> bool:
        """Send an event with a payload to the machine; return whether a transition was taken.

        Within a callback of a state the event waits until the present transition is finished,
        and false is returned. An event that no transition of the machine names is reported once, as a warning.
        """
        core = self.core
        if core is None:
            raise RefusedValue(self.why_idle(f"receive {event!r}"))
        if self._is_off:
            return False
        try:
            return core.send(event, payload) or False
        except LookupError as problem:
            if event not in self._unknown_events:
                self._unknown_events.add(event)
                known = str(problem)
                end = "" if known.endswith("?") else "."
                report_warning(f"send_event(): {known}{end} No transition of this machine waits for it", self)
            return False
        finally:
            if self._is_changed:
                self._edit()
            if self._is_asleep and self._needs_update:
                self._wake()

    @method
    def get_state(self) -> str:
        """Return the path of the innermost active state, such as "hostile/chase"; "" before the first frame.

        A state is active from its entered signal to its exited signal, both included: while an outer state begins
        or ends, its inner states are not active. During a transition only the states that stay active count.
        """
        return self.core.state if self.core is not None else ""

    @method
    def get_previous_state(self) -> str:
        """Return the path of the previous state, "" if there is none."""
        return self.core.previous_state if self.core is not None else ""

    @method
    def is_in(self, path: str) -> bool:
        """Return whether the state at a path is active: from its entered signal to its exited signal, both included."""
        if self.core is None:
            return False
        try:
            return self.core.is_in(path)
        except LookupError as problem:
            raise RefusedValue(str(problem)) from None

    @method
    def get_time_in_state(self) -> float:
        """Return the game time since the innermost active state began (s), without pauses of the node."""
        self._skip_paused_time()
        return self.core.time_in_state_s if self.core is not None else 0.0

    @method
    def get_event(self) -> str:
        """Return the event that is being handled, inside callbacks that it causes; otherwise ""."""
        return (self.core.event or "") if self.core is not None else ""

    @method
    def get_payload(self) -> Variant:
        """Return the payload of the event that is being handled, inside callbacks that it causes; otherwise null."""
        return self.core.payload if self.core is not None else None

    @method
    def get_events(self) -> PackedStringArray:
        """Return all events that transitions of the machine wait for."""
        return PackedStringArray(self.core.definition.events if self.core is not None else [])

    @method
    def restart(self) -> None:
        """Exit all states and start from the initial state."""
        if self.core is not None:
            self._stop()
            self._enable()

    @method
    def rebuild(self) -> None:
        """Read the states and transitions again, after properties of some were set; adding and freeing needs no call.

        Active states stay active; if one of them is gone, the machine starts from its initial state. Within a
        transition the change takes effect once the transition is finished.
        """
        self._is_to_rebuild = False
        if self.core is None:
            if self.is_inside_tree():
                self._begin()
            return
        self._is_changed = self.core.is_busy
        if self._is_changed:
            return
        old, nodes = self.core, MachineChildren(self)
        try:
            definition = nodes.definition()
        except DEFINITION_ERRORS as mistake:
            raise RefusedValue(f"keeps its previous states: {mistake}") from None
        core = self._made(nodes, definition)
        try:
            change = core.prepare_state(definition.without_removed(old.save_state()))
        except StateError:
            old.stop()
            change = None
        self.nodes, self.core = nodes, core
        if change is not None:
            change()
        self._reschedule()

    def _edit_now(self) -> None:
        """Read the states and transitions before the end of the frame, if some came or left."""
        if self._is_to_rebuild:
            with suppress(RefusedValue):        # is reported at the end of the frame
                self.rebuild()

    def _edit(self) -> None:
        """Run a rebuild() that was requested within a transition, if the transition is finished."""
        try:
            self.rebuild()
        except RefusedValue as mistake:
            report_error(str(mistake), self)

    @method
    def release_quarantined(self) -> None:
        """Release the callbacks of states that were quarantined after three failures in a row."""
        if self.core is not None:
            self.core.release_quarantined()
            self._reschedule()

    @method
    def set_value(self, key: str, value: Variant) -> None:
        """Write a value to the blackboard of the machine, which guard expressions read."""
        self.blackboard[key] = value

    @method
    def get_value(self, key: str, default_value: Variant = None) -> Variant:
        """Return a value of the blackboard, else the default; null if it is an object that was freed."""
        value = self.blackboard.get(key, default_value)
        return None if isinstance(value, GDObject) and not value.is_valid() else value

    def known(self, name: str) -> Any:
        """Return the value of a name in an expression, ABSENT if it has none."""
        if name in EXPRESSION_NAMES and self.core is not None:
            self._skip_paused_time()
            return getattr(self.core, name)
        return self.get_value(name, ABSENT)

    def feed_values(self, values: Mapping[str, Any]) -> None:
        """Write values of the sensor to the blackboard."""
        self.blackboard.update(values)

    def feed_event(self, name: str, payload: Any) -> None:
        """Send an event of the sensor or the squad, if a transition names it."""
        if self.core is not None and name in self.core.definition.events:
            self.send_event(name, payload)

    @method
    def to_text(self) -> str:
        """Return a text of the active states: their times, causes and the events they wait for; one line per state."""
        self._skip_paused_time()
        return self.core.to_text() if self.core is not None else "not running"

    @method
    def get_transitions_text(self) -> str:
        """Return a text of all states, each with the transitions that lead out of it."""
        core = self.core
        return "not running" if core is None else core.definition.to_text(
            lambda guard: core.parts[guard.number].guard_text())

    save_state, load_state = saving("the active and previous states, the blackboard and the states that scripts save")

    def is_in_use(self) -> bool:
        return self.core is not None

    def saved(self) -> dict[str, Any]:
        self._edit_now()
        self._skip_paused_time()
        return super().saved()

    def prepared(self, state: object) -> Change:
        self._edit_now()
        return super().prepared(state)

    def _parts(self, state: dict[str, Any]) -> tuple[Iterable[str], Iterable[str]]:
        return checked_dict("scripts", state.get("scripts")), self.nodes.states

    def _prepared_of_others(self, state: dict[str, Any]) -> Change:
        change = self.STATE.prepare(self, state, without=("machine", "scripts"))

        def load() -> None:
            before = self.blackboard
            change()
            self.blackboard = {**before, **self.blackboard}

        return load

    def _save_scripts(self) -> dict[str, Any]:
        return saved_scripts(self, self.nodes.states)

    def _prepare_scripts(self, plain: object, place: str) -> Change:
        return prepared_scripts(self, self.nodes.states, plain, place)

    def _finish_load(self) -> None:
        self._note_pause()
        self._reschedule()
        self.feed_was_loaded()

    def _get_configuration_warnings(self) -> list[str]:
        nodes = MachineChildren(self)
        warnings = self.missing_methods(nodes.methods_of_the_actor())
        try:
            warnings += unreachable_warnings(nodes.definition())
        except DEFINITION_ERRORS as mistake:
            warnings.append(str(mistake))
        return [*warnings, *self.actor_warnings(), *self.sensor_warnings(), *scheduler_warnings(self)]

    def _begin(self) -> None:
        problems = self.actor_warnings()
        try:
            nodes = MachineChildren(self)
            definition = nodes.definition()
        except DEFINITION_ERRORS as mistake:
            problems.append(str(mistake))
        if problems:
            report_next_frame(self, lambda: [] if self.core is not None else problems)
        self._scheduler = scheduler_of(self)
        if problems or self._scheduler is None:
            return
        self.nodes, self.core = nodes, self._made(nodes, definition)
        self.begin_feed()
        self._scheduler.join(self)
        self._note_pause()
        self._reschedule()
        report_misspelt(self, definition.events)

    def on_paused(self) -> None:
        if self._paused_since_s is None:
            self._note_pause()
        self._enable()

    def on_unpaused(self) -> None:
        self._skip_paused_time()
        self._paused_since_s = None
        self._enable()

    def _note_pause(self) -> None:
        """Note the time at which the node was paused or disabled, if it is."""
        is_still = self._scheduler is not None and not self.can_process()
        self._paused_since_s = self._scheduler.clock.now.seconds if is_still else None

    def _skip_paused_time(self) -> None:
        """Subtract the time in which the node was paused from the times of the states."""
        if self._paused_since_s is not None and self.core is not None:
            now_s = self._scheduler.clock.now.seconds
            self.core.skip_time(max(0.0, now_s - self._paused_since_s))
            self._paused_since_s = now_s

    def _made(self, nodes: MachineChildren, definition: StateMachineDefinition) -> library.StateMachine:
        return library.StateMachine(
            definition, owner=self, name=str(self.get_path()), clock=self._scheduler.clock,
            trace=self._scheduler.trace, faults=self._scheduler.faults, parts=nodes.row(),
            listening=NodeRow.may_be_heard)

    def _reschedule(self) -> None:
        if self.core is None:
            return
        self._needs_update = needs_update(self.core.definition)
        self._enable()

    def part_removed(self, node: Any) -> None:
        """Remove a state or transition: its callbacks at once, itself once the script that frees it has finished."""
        if self.core is not None:
            self.core.parts.drop(node)
        self.parts_changed()

    def _enable(self) -> None:
        self._is_off = not self.enabled
        if self.core is not None and self._is_entered:      # not where a state sets it that ends as the node leaves
            if not self.enabled:
                self._stop()
            self._update_schedule(is_on=self.enabled)
            self._is_asleep = False

    def _stop(self) -> None:
        self.core.stop()
        if self._is_changed:
            self._edit()

    def _wake(self) -> None:
        """Update the machine in the next frame: its state may have changed."""
        if self._update_group is not None:
            self._is_asleep = False
            self._update_group.wake(self)

    def restore_sleep(self, *, is_asleep: bool) -> None:
        self._is_asleep = is_asleep
        if is_asleep and not self._is_off and self.core.sleep_s == 0:
            self._wake()     # the loaded machine differs from the one that slept

    def live(self, elapsed_s: float) -> float:
        self.core.update(elapsed_s)
        if self._is_changed:
            self._edit()
        rest_s = 0.0 if self.core is None else self.core.sleep_s     # None: freed by a callback of a state
        self._is_asleep = rest_s > 0
        return rest_s
