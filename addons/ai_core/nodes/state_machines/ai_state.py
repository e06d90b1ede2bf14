"""AIState: what a character is until something happens, as a node below its StateMachine."""
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
    has_script_method,
    hook,
    method,
    node_path,
    signal,
)


def tell_machine(part: Any) -> None:
    """Tell the StateMachine above a state or transition that it has come."""
    above = part.get_parent()
    while above is not None and above.is_class("AIState"):
        above = above.get_parent()
    if above is not None and above.is_class("StateMachine"):
        above.parts_changed()


@gdclass(icon="res://addons/ai_core/icons/ai_state.svg")
class AIState(Node):
    """A state of a StateMachine. While it is active, exactly one of the states below it is, if there are any.

    Connect its signals; or extend it in GDScript and override _enter(), _update() and
    _exit(); or name methods of the actor. StateTransition nodes below it say what leads
    out of it, and stand from most to least wanted.
    """

    initial_state = export(
        NodePath, NodePath(""), hint=node_path("AIState"),
        doc="The state below that it begins with; empty is the first.")
    emits_updated = export(bool, False, doc="Emits updated in every update while it is active.")
    enter_method = export(
        StringName, StringName(""), group="Methods of the actor", doc="Called when the state begins.")
    update_method = export(
        StringName, StringName(""), doc="Called with the elapsed seconds while the state is active.")
    exit_method = export(StringName, StringName(""), doc="Called when the state ends.")

    entered = signal(doc="The state began.")
    exited = signal(doc="The state ended.")
    updated = signal(("elapsed_s", float), doc="The state goes on; only if emits_updated.")

    def __init__(self) -> None:
        self.machine: Any = None
        self.path = ""
        self._calls: tuple[Callable[..., object] | None, ...] = (None, None, None)

    @hook
    def _enter(self) -> None:
        """The state begins."""

    @hook
    def _update(self, elapsed_s: float) -> None:
        """The state goes on."""

    @hook
    def _exit(self) -> None:
        """The state ends."""

    @hook
    def _save_state(self) -> Variant:
        """Return what this script keeps in variables of its own, to be saved with the machine."""

    @hook
    def _load_state(self, state: Variant) -> None:
        """Take back what _save_state() returned; called after the whole machine was loaded."""

    @method
    def get_machine(self) -> GDObject:
        """Return the StateMachine this state belongs to."""
        return self.machine

    @method
    def get_actor(self) -> GDObject:
        """Return the character, as set on the StateMachine."""
        return self.machine.actor_node() if self.machine is not None else None

    @method
    def is_active(self) -> bool:
        """Return whether the state is active, or one inside it; it is from its own entered to its own exited."""
        return self.machine is not None and self.machine.core is not None and self.machine.core.is_in(self.path)

    def join(self, machine: Any, path: str) -> None:
        """Be the state at a path of a machine, and look up what is called."""
        self.machine, self.path = machine, path
        self._calls = tuple(
            self._call_of(hook_name, name) for hook_name, name in (
                ("_enter", self.enter_method), ("_update", self.update_method), ("_exit", self.exit_method)))

    @property
    def called(self) -> tuple[bool, bool, bool]:
        """Whether something is called as it begins, goes on and ends; signals aside."""
        enter, update, leave = (one is not None for one in self._calls)
        return enter, update or self.emits_updated, leave

    def on_entered(self) -> None:
        if self.machine is None:
            tell_machine(self)

    def on_exit_tree(self) -> None:
        if self.machine is not None and self.machine.is_valid():
            self.machine.drop(self)

    def begin(self) -> None:
        machine = self.machine
        if not (machine.is_valid() and self.is_valid()):
            return                       # freed by a state that ended
        if has_listeners(machine, "state_entered"):
            machine.state_entered.emit(self.path)
        if self.is_valid() and has_listeners(self, "entered"):
            self.entered.emit()
        if self.is_valid() and self._calls[0] is not None:     # else who was told has freed it
            self._calls[0]()

    def go_on(self, elapsed_s: float) -> None:
        if self.emits_updated:
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

    def saved_by_script(self) -> Any:
        """Return what the script wants saved, None if it does not say."""
        return self._save_state() if has_script_method(self, "_save_state") else None

    def take_state(self, of_script: Any) -> None:
        """Hand back what the script had saved."""
        if of_script is not None and has_script_method(self, "_load_state"):
            self._load_state(of_script)

    def _call_of(self, hook_name: str, method_name: str) -> Callable[..., object] | None:
        if method_name:
            return lambda *values: self.machine.actor_method(method_name)(*values)
        return getattr(self, hook_name) if has_script_method(self, hook_name) else None

    def _get_configuration_warnings(self) -> list[str]:
        above = self.get_parent()
        if above is not None and not (above.is_class("StateMachine") or above.is_class("AIState")):
            return ["is not right below a StateMachine or AIState and is never active; put it there"]
        return []
