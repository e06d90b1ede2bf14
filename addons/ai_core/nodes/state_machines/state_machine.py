"""StateMachine: what a character is, changed by events, built of the states below it."""
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
from addons.ai_core.nodes.characters.character_crowd import STATE_MACHINES, CharacterCrowd
from addons.ai_core.nodes.characters.character_work import CharacterWork
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduled import report_next_frame, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.state_machines.state_machine_sharing import MachineNodes, needs_update, unreached
from ai_core.decisions.state_machines import state_machine as library
from ai_core.decisions.state_machines.state_machine import still_there
from ai_core.decisions.state_machines.state_machine_definition import StateMachineDefinition
from ai_core.saving.fields import Fields, State, StateError
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES

SAVED = ("enabled", "period_frames", "priority")
OF_EXPRESSIONS = ("cargo", "event", "time_in_state_s")
"""What a machine knows of itself; the rest stands on its blackboard."""

MISTAKES = (RefusedValue, ValueError, TypeError, LookupError)


@gdclass(icon="res://addons/ai_core/icons/state_machine.svg")
class StateMachine(CharacterWork, Node):
    """One state at a time, changed by events: send_event("noise").

    AIState nodes below it are the states, and may have states inside; StateTransition nodes
    below a state lead out of it. It begins in its first frame of AI. Without anything to
    update it costs nothing until an event is sent.
    """

    # Each event reads them: kept side by side.
    __slots__ = ("_is_asleep", "_is_changed", "_is_off", "_needs_update", "core")

    KIND = STATE_MACHINES

    initial_state = export(
        NodePath, NodePath(""), hint=node_path("AIState"), doc="The state it begins with; empty is the first.")
    actor = export(NodePath, NodePath(".."), on_set="_actor_set", doc="The character; by default the parent.")
    enabled = export(bool, True, on_set="_enable", doc="Off: every state is left; on again, it begins anew.")
    period_frames = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule",
        doc="Frames from one update to the next. Events are settled at once.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", doc="Weight of its share of the budget.")

    state_entered = signal(("path", str), doc="A state began: \"hostile/chase\".")
    state_exited = signal(("path", str), doc="A state ended.")

    def __init__(self) -> None:
        self.core: library.StateMachine | None = None
        self.nodes: MachineNodes | None = None
        self.blackboard: dict[str, Any] = {}
        self._scheduler: Any = None
        self._crowd: CharacterCrowd | None = None
        self._needs_update = self._is_asleep = False
        self._is_off = self._is_changed = self._is_entered = self._is_to_rebuild = False
        self._unknown_events: set[str] = set()       # of which was warned
        self._still_since_s: float | None = None     # paused or disabled: up to when that has been counted out
        self._actor: Any = None

    def on_entered(self) -> None:
        self._look_for_actor()
        self._is_entered = True
        if any(child.is_class("AIState") for child in self.get_children()):
            self._begin()
        else:
            self.call_deferred("rebuild")     # whoever builds it by a script adds states next

    def on_predelete(self) -> None:
        self.blackboard.clear()     # it may hold scripts: let them go now

    def _actor_set(self) -> None:
        self._look_for_actor()
        if self.core is None:
            self.parts_changed()

    def parts_changed(self) -> None:
        """A state or transition below has come: read them again once the script that adds them is done."""
        if self._is_entered and not self._is_to_rebuild:
            self._is_to_rebuild = True
            self.call_deferred("rebuild")

    def on_exit_tree(self) -> None:
        self._is_entered = False
        self._leave_crowd()
        if self.core is not None:
            self.core.stop()
            self.core.parts.drop(self)
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self.core = self.nodes = self._scheduler = None

    @method
    def send_event(self, event: str, cargo: Variant = None) -> bool:
        """Tell the machine that something happened; return whether a transition was taken.

        From inside a state's own methods the event waits until the present transition is over,
        and false is returned. An event that no transition of the machine names is reported once, as a warning.
        """
        core = self.core
        if core is None:
            raise RefusedValue(f"does not run, and cannot be told {event!r}; see the errors as the scene began")
        if self._is_off:
            return False
        try:
            return core.send(event, cargo) or False
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

        A state counts from its own entered to its own exited, both included: while an outer one
        begins or ends, those inside it are not active. While a transition is taken only what stays active counts.
        """
        return self.core.state if self.core is not None else ""

    @method
    def get_previous_state(self) -> str:
        """Return the path of the state before this one, "" for none."""
        return self.core.previous_state if self.core is not None else ""

    @method
    def is_in(self, path: str) -> bool:
        """Return whether the state at a path is active, or one inside it; from its own entered to its own exited."""
        if self.core is None:
            return False
        try:
            return self.core.is_in(path)
        except LookupError as problem:
            raise RefusedValue(str(problem)) from None

    @method
    def get_time_in_state_s(self) -> float:
        """Return game time since the innermost active state began (s); while the node is paused it stands still."""
        self._stand_still()
        return self.core.time_in_state_s if self.core is not None else 0.0

    @method
    def get_event(self) -> str:
        """Return, inside methods that an event led to, that event; else ""."""
        return (self.core.event or "") if self.core is not None else ""

    @method
    def get_cargo(self) -> Variant:
        """Return, inside methods that an event led to, what was sent with it."""
        return self.core.cargo if self.core is not None else None

    @method
    def get_events(self) -> PackedStringArray:
        """Return every event that some transition waits for."""
        return PackedStringArray(self.core.definition.events if self.core is not None else [])

    @method
    def restart(self) -> None:
        """Leave every state and begin anew."""
        if self.core is not None:
            self._stop()
            self._enable()

    @method
    def rebuild(self) -> None:
        """Read states and transitions again, after changing or removing some; it happens by itself as some are added.

        What is active stays active; if that is gone, the machine begins again. Inside a transition
        it is done as soon as that is over.
        """
        self._is_to_rebuild = False
        if self.core is None:
            if self.is_inside_tree():
                self._begin()
            return
        self._is_changed = self.core.is_busy
        if self._is_changed:
            return
        old, nodes = self.core, MachineNodes(self)
        definition = nodes.definition()
        core = self._made(nodes, definition)
        try:
            change = core.prepare_state(still_there(old.save_state(), definition))
        except StateError:
            old.stop()
            change = None
        self.nodes, self.core = nodes, core
        if change is not None:
            change()
        self._reschedule()

    def _edit(self) -> None:
        """Do what rebuild() was asked for inside a transition, if that is over."""
        try:
            self.rebuild()
        except MISTAKES as mistake:
            report_error(f"goes on as it was: {mistake}", self)

    @method
    def release_quarantined(self) -> None:
        """Let methods of states be called again that were left out because they failed three times in a row."""
        if self.core is not None:
            self.core.release_quarantined()
            self._reschedule()

    @method
    def set_value(self, key: str, value: Variant) -> None:
        """Write to the character's blackboard, which guard expressions read."""
        self.blackboard[key] = value

    @method
    def get_value(self, key: str, default_value: Variant = None) -> Variant:
        """Read from the character's blackboard."""
        value = self.blackboard.get(key, default_value)
        return None if isinstance(value, GDObject) and not value.is_valid() else value

    def known(self, name: str) -> Any:
        """Return what an expression means by a name, ABSENT for what is not known."""
        if name in OF_EXPRESSIONS and self.core is not None:
            self._stand_still()
            return getattr(self.core, name)
        return self.get_value(name, ABSENT)

    @method
    def to_text(self) -> str:
        """Return which states are active, since when, why, and what they wait for; one state a line."""
        self._stand_still()
        return self.core.to_text() if self.core is not None else "not running"

    @method
    def get_transitions_text(self) -> str:
        """Return every state, and below it what leads out of it."""
        return self.core.definition.to_text() if self.core is not None else "not running"

    save_state, load_state = saving("where the machine is and was, the blackboard and what states' scripts save")

    def is_in_use(self) -> bool:
        return self.core is not None

    def saved(self) -> State:
        values = self._scheduler.values
        self._stand_still()
        return {
            "version": 1,
            "settings": saved_settings(self, SAVED),
            "machine": self.core.save_state(),
            "blackboard": values.plain(self.blackboard, "blackboard"),
            "scripts": {
                path: values.plain(state.saved_by_script(), f"_save_state() ({path})")
                for path, state in self.nodes.states.items()
            },
        }

    def prepared(self, state: object) -> Callable[[], None]:
        if self.core is None:
            raise StateError("the machine does not run; give it an actor, states and an AIScheduler first")
        fields, values = Fields.versioned(state, version=1), self._scheduler.values
        change_settings = prepared_settings(self, SAVED, fields.group("settings"))
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
            for path, node in self.nodes.states.items():
                node.take_state(of_scripts[path])

        return change_all

    def _get_configuration_warnings(self) -> list[str]:
        try:
            nodes = MachineNodes(self)
            warnings = [*unreached(nodes.definition()), *self.missing_methods(nodes.methods_of_the_actor())]
        except MISTAKES as mistake:
            warnings = [str(mistake)]
        return [*warnings, *self.actor_warnings(), *scheduler_warnings(self)]

    def _begin(self) -> None:
        problems = self.actor_warnings()
        try:
            nodes = MachineNodes(self)
            definition = nodes.definition()
        except MISTAKES as mistake:
            problems.append(str(mistake))
        if problems:
            report_next_frame(self, lambda: [] if self.core is not None else problems)
        self._scheduler = scheduler_of(self)
        if problems or self._scheduler is None:
            return
        self.nodes, self.core = nodes, self._made(nodes, definition)
        self._scheduler.join(self)
        self._note_pause()
        self._reschedule()

    def on_paused(self) -> None:
        if self._still_since_s is None:
            self._note_pause()
        self._enable()

    def on_unpaused(self) -> None:
        self._stand_still()
        self._still_since_s = None
        self._enable()

    def _note_pause(self) -> None:
        """Note since when it is paused or disabled, if it is."""
        is_still = self._scheduler is not None and not self.can_process()
        self._still_since_s = self._scheduler.clock.now.seconds if is_still else None

    def _stand_still(self) -> None:
        """Let what has passed while it was paused count for nothing."""
        if self._still_since_s is not None and self.core is not None:
            now_s = self._scheduler.clock.now.seconds
            self.core.stand_still(max(0.0, now_s - self._still_since_s))
            self._still_since_s = now_s

    def _made(self, nodes: MachineNodes, definition: StateMachineDefinition) -> library.StateMachine:
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
        """A state or transition below goes."""
        if self.core is not None:
            self.core.parts.drop(node)

    def _enable(self) -> None:
        self._is_off = not self.enabled
        if self.core is not None:
            if not self.enabled:
                self._stop()
            self._take_turns(is_on=self.enabled)
            self._is_asleep = False

    def _stop(self) -> None:
        self.core.stop()
        if self._is_changed:
            self._edit()

    def _wake(self) -> None:
        """Have a turn in the next frame: it may be in another state, or in none."""
        if self._crowd is not None:
            self._is_asleep = False
            self._crowd.wake(self)

    def has_settled(self, *, is_asleep: bool) -> None:
        self._is_asleep = is_asleep
        if is_asleep and not self._is_off and self.core.rests_s == 0:
            self._wake()     # another machine than the one that slept

    def live(self, elapsed_s: float) -> float:
        self.core.update(elapsed_s)
        if self._is_changed:
            self._edit()
        rest_s = 0.0 if self.core is None else self.core.rests_s     # None: a state has freed it
        self._is_asleep = rest_s > 0
        return rest_s
