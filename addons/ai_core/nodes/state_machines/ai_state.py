"""AIState node: a state of a StateMachine."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    Node,
    NodePath,
    StringName,
    Variant,
    export,
    gdclass,
    has_listeners,
    hook,
    is_overridden,
    method,
    node_path,
    signal,
)
from addons.ai_core.nodes.debugging.chart_words import ChartNode
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame

NO_CALLS = (None, None, None)


def notify_machine(part: Any) -> None:
    """Notify the StateMachine above that a state or transition was added; report a part without one."""
    above = part.get_parent()
    while above is not None and above.is_class("AIState"):
        above = above.get_parent()
    if above is not None and above.is_class("StateMachine"):
        above.parts_changed()
    else:
        report_next_frame(part, lambda: misplaced(part))


def misplaced(part: Any) -> list[str]:
    """Return the error of a state or transition that belongs to no StateMachine."""
    above = part.get_parent()
    if above is None or above.is_class("StateMachine") or above.is_class("AIState"):
        return []
    return ["is not a child of a StateMachine or AIState and has no effect; make it a child of one"]


@gdclass(icon="res://addons/ai_core/icons/ai_state.svg")
class AIState(ChartNode, Node):
    """A state of a StateMachine. While it is active, exactly one of its child states is active, if it has any.

    To react to a state, connect its signals; or extend it in GDScript and override _enter(), _update() and
    _exit(); or name methods of the actor. Its StateTransition children lead out of it; the first
    transition that is allowed is taken.
    """

    initial_state = export(
        NodePath, NodePath(""), hint=node_path("AIState"),
        doc="Child state that becomes active with this state; if empty, the first.")
    emit_updated = export(bool, False, doc="If true, emits updated in every update while the state is active.")
    enter_method = export(
        StringName, StringName(""), group="Methods of the actor", doc="Called without arguments when the state begins.")
    update_method = export(
        StringName, StringName(""), doc="Called with the elapsed seconds while the state is active.")
    exit_method = export(StringName, StringName(""), doc="Called without arguments when the state ends.")

    entered = signal(doc="Emitted when the state begins.")
    exited = signal(doc="Emitted when the state ends.")
    updated = signal(("elapsed_s", float), doc="Emitted in every update of the active state, if emit_updated is on.")

    def __init__(self) -> None:
        self.machine: Any = None
        self.path = ""
        self._calls: tuple[Callable[..., object] | None, ...] = NO_CALLS

    @hook
    def _enter(self) -> None:
        """Called when the state begins."""

    @hook
    def _update(self, elapsed_s: float) -> None:
        """Called in every update while the state is active."""

    @hook
    def _exit(self) -> None:
        """Called when the state ends."""

    @hook
    def _save_state(self) -> Variant:
        """Return the values of the script's own variables, to be saved with the machine."""

    @hook
    def _load_state(self, state: Variant) -> None:
        """Restore the value that _save_state() returned; called after the whole machine is loaded."""

    @method
    def get_machine(self) -> GDObject:
        """Return the StateMachine that the state belongs to."""
        return self.machine

    @method
    def get_actor(self) -> GDObject:
        """Return the actor of the StateMachine: the character."""
        return self.machine.actor_node() if self.machine is not None else None

    @method
    def is_active(self) -> bool:
        """Return whether the state is active: from its entered signal to its exited signal, both included."""
        return self.machine is not None and self.machine.core is not None and self.machine.core.is_in(self.path)

    def join(self, machine: Any, path: str) -> None:
        """Become the state at a path of a machine, and look up its callbacks."""
        self.machine, self.path = machine, path
        self._calls = tuple(
            self._callback_for(hook_name, name) for hook_name, name in (
                ("_enter", self.enter_method), ("_update", self.update_method), ("_exit", self.exit_method)))

    @property
    def used_callbacks(self) -> tuple[bool, bool, bool]:
        """Whether the state has callbacks for its beginning, updates and end; signals count for updates only."""
        enter, update, leave = (one is not None for one in self._calls)
        return enter, update or self.emit_updated, leave

    def on_entered(self) -> None:
        if self.machine is None:
            notify_machine(self)

    def on_exit_tree(self) -> None:
        if self.machine is not None and self.machine.is_valid():
            self.machine.part_removed(self)

    def on_predelete(self) -> None:
        self._calls = NO_CALLS      # they refer to the state

    def begin(self) -> None:
        machine = self.machine
        if not (machine.is_valid() and self.is_valid()):
            return                       # freed by a state that ended
        if has_listeners(machine, "state_entered"):
            machine.state_entered.emit(self.path)
        if self.is_valid() and has_listeners(self, "entered"):
            self.entered.emit()
        if self.is_valid() and self._calls[0] is not None:     # a listener may have freed it
            self._calls[0]()

    def update(self, elapsed_s: float) -> None:
        if self.emit_updated:
            self.updated.emit(elapsed_s)
        if self.is_valid() and self._calls[1] is not None:
            self._calls[1](elapsed_s)

    def end(self) -> None:
        try:
            if self.is_valid() and self._calls[2] is not None:
                self._calls[2]()
        finally:
            if self.is_valid():
                if has_listeners(self, "exited"):
                    self.exited.emit()
                if self.machine.is_valid() and has_listeners(self.machine, "state_exited"):
                    self.machine.state_exited.emit(self.path)

    def script_state(self) -> Any:
        """Return the state that the script saves, None if it has no _save_state()."""
        return self._save_state() if is_overridden(self, "_save_state") else None

    def load_script_state(self, of_script: Any) -> None:
        """Restore the saved state of the script."""
        if of_script is not None and is_overridden(self, "_load_state"):
            self._load_state(of_script)

    def _callback_for(self, hook_name: str, method_name: str) -> Callable[..., object] | None:
        if method_name:
            return lambda *values: self.machine.actor_method(method_name)(*values)
        return getattr(self, hook_name) if is_overridden(self, hook_name) else None

    def _get_configuration_warnings(self) -> list[str]:
        return misplaced(self)
