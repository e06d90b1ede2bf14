"""StateMachine node: a hierarchical state machine of the AIState nodes below it, driven by events."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
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
from addons.ai_core.nodes.characters.character_work import ScheduledCharacter
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.characters.update_group import STATE_MACHINES, UpdateGroup
from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.state_machines.state_machine_sharing import (
    MachineChildren,
    needs_update,
    unreachable_warnings,
)
from ai_core.decisions import state_machine as library
from ai_core.decisions.state_machine import StateMachineDefinition
from ai_core.saving.fields import Fields, State, StateError
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

EXPRESSION_NAMES = ("payload", "event", "time_in_state_s")
"""Names in guard expressions that are properties of the machine; other names refer to its blackboard."""

DEFINITION_ERRORS = (RefusedValue, ValueError, TypeError, LookupError)


@gdclass(
    icon="res://addons/ai_core/icons/state_machine.svg",
    keywords="fsm, hfsm, statechart, state chart, hierarchical state machine")
class StateMachine(ScheduledCharacter, Node):
    """A state machine of a character: one state is active, and events change it, such as send_event("noise").

    The AIState nodes below are the states and may contain states; StateTransition nodes below a state lead
    out of it. The machine starts in its first frame of AI. A machine without updates and timed transitions
    costs nothing until an event is sent.
    """

    # Read by each event, so stored side by side.
    __slots__ = ("_is_asleep", "_is_changed", "_is_off", "_needs_update", "core")

    KIND = STATE_MACHINES

    initial_state = export(
        NodePath, NodePath(""), hint=node_path("AIState"), doc="State in which the machine starts; empty is the first.")
    actor = export(NodePath, NodePath(".."), on_set="_actor_set", doc="Node of the character; by default the parent.")
    enabled = export(
        bool, True, on_set="_enable", live=True,
        doc="Off: all states are exited. On again: the machine starts from its initial state.")
    period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", live=True,
        doc="Frames from one update to the next; larger is rarer. Events are handled at once.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the machine when the budget is shared out.")

    state_entered = signal(("path", str), doc="Emitted when a state begins, with its path, such as \"hostile/chase\".")
    state_exited = signal(("path", str), doc="Emitted when a state ends, with its path.")

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
        """Read the states and transitions again after one was added, once the script that adds them has finished."""
        if self._is_entered and not self._is_to_rebuild:
            self._is_to_rebuild = True
            self.call_deferred("rebuild")

    def on_exit_tree(self) -> None:
        self._is_entered = False
        self.end_feed()
        self._leave_update_group()
        if self.core is not None:
            self.core.stop()
            self.core.parts.drop(self)
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
            raise RefusedValue(f"does not run and cannot receive {event!r}; see the errors at the start of the scene")
        if self._is_off:
            return False
        try:
            return core.send(event, payload) or False
        except LookupError as problem:
            if event not in self._unknown_events:
                self._unknown_events.add(event)
                report_warning(f"send_event(): {problem}; no transition of this machine waits for it", self)
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
        """Read the states and transitions again, after some were changed or removed; adding some needs no call.

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
        definition = nodes.definition()
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

    def _edit(self) -> None:
        """Run a rebuild() that was requested within a transition, if the transition is finished."""
        try:
            self.rebuild()
        except DEFINITION_ERRORS as mistake:
            report_error(f"keeps its previous states: {mistake}", self)

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

    def feed_value(self, key: str, value: Any) -> None:
        """Write a value of the sensor to the blackboard."""
        self.blackboard[key] = value

    def feed_event(self, name: str, payload: Any) -> None:
        """Send an event of the sensor, if a transition names it."""
        if self.core is not None and name in self.core.definition.events:
            self.send_event(name, payload)

    @method
    def to_text(self) -> str:
        """Return which states are active, since when and why, and what they wait for; one line per state."""
        self._skip_paused_time()
        return self.core.to_text() if self.core is not None else "not running"

    @method
    def get_transitions_text(self) -> str:
        """Return a text of all states, each with the transitions that lead out of it."""
        return self.core.definition.to_text() if self.core is not None else "not running"

    save_state, load_state = saving("the active and previous states, the blackboard and the states that scripts save")

    def is_in_use(self) -> bool:
        return self.core is not None

    def saved(self) -> State:
        values = self._scheduler.values
        self._skip_paused_time()
        return {
            "version": 1,
            "settings": saved_settings(self),
            "machine": self.core.save_state(),
            "blackboard": values.plain(self.blackboard, "blackboard"),
            "scripts": {
                path: values.plain(state.script_state(), f"_save_state() ({path})")
                for path, state in self.nodes.states.items()
            },
        }

    def prepared(self, state: object) -> Callable[[], None]:
        if self.core is None:
            raise StateError("the machine does not run; it needs an actor, states and an AIScheduler")
        fields, values = Fields.versioned(state, version=1), self._scheduler.values
        change_settings = prepared_settings(self, fields.group("settings"))
        change = self.core.prepare_state(fields.anything("machine"))
        blackboard = values.value(fields.anything("blackboard"), "blackboard")
        if not isinstance(blackboard, dict):
            raise StateError("'blackboard' must be a Dictionary")
        scripts = fields.group("scripts")
        of_scripts = {
            path: values.engine_value(scripts.anything(path), scripts.place_of(path)) for path in self.nodes.states}
        scripts.end()
        fields.end()

        def change_all() -> None:
            change_settings()
            change()
            self._note_pause()
            self._reschedule()
            self.blackboard.clear()
            self.blackboard.update(blackboard)
            self.feed_was_loaded()
            for path, node in self.nodes.states.items():
                node.load_script_state(of_scripts[path])

        return change_all

    def _get_configuration_warnings(self) -> list[str]:
        try:
            nodes = MachineChildren(self)
            warnings = [*unreachable_warnings(nodes.definition()), *self.missing_methods(nodes.methods_of_the_actor())]
        except DEFINITION_ERRORS as mistake:
            warnings = [str(mistake)]
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

    def drop(self, node: Any) -> None:
        """Remove a state or transition from the callbacks of the definition."""
        if self.core is not None:
            self.core.parts.drop(node)

    def _enable(self) -> None:
        self._is_off = not self.enabled
        if self.core is not None:
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
        if is_asleep and not self._is_off and self.core.rests_s == 0:
            self._wake()     # the loaded machine differs from the one that slept

    def live(self, elapsed_s: float) -> float:
        self.core.update(elapsed_s)
        if self._is_changed:
            self._edit()
        rest_s = 0.0 if self.core is None else self.core.rests_s     # None: freed by a callback of a state
        self._is_asleep = rest_s > 0
        return rest_s
