"""StateTransition: what leads from one state of a StateMachine to another, as a node below the state."""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    NodePath,
    RefusedValue,
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
from addons.ai_core.nodes.characters.guard_expression import GuardExpression
from addons.ai_core.nodes.scheduling.scheduled import check_callable
from addons.ai_core.nodes.state_machines.ai_state import tell_machine


@gdclass(icon="res://addons/ai_core/icons/state_transition.svg")
class StateTransition(Node):
    """Leads out of the AIState above it; right below the StateMachine: out of every state.

    It is taken when its event is sent and its guard allows it; without an event by itself,
    after a time, when its guard allows it, or both. Of several the first one that may is taken.
    """

    class Target(IntEnum):
        STATE = 0
        PREVIOUS = 1
        STAY = 2

    class History(IntEnum):
        NONE = 0
        SHALLOW = 1
        DEEP = 2

    event = export(str, "", doc="What must be sent with send_event(). Empty: it is tried in every update.")
    after_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", shown_when=("event", ""),
        doc="Least time that the state has been active.")
    target = export(
        Target, Target.STATE,
        doc="Where it leads: to a state, to the one before the present one, or nowhere: nothing is left, and only"
            " taken is emitted.")
    to = export(
        NodePath, NodePath(""), hint=node_path("AIState"), shown_when=("target", Target.STATE),
        doc="The state it leads to.")
    history = export(
        History, History.NONE, shown_when=("target", Target.STATE),
        doc="Where a state with states inside is entered: at its initial one, at the inside one that was active"
            " last, or where it was left, however deep. One that is active is left now, and goes back to there.")
    guard_expression = export(
        str, "", group="Guard",
        doc="It is taken only if this is true: \"health < 0.3 and can_see(cargo)\". Names are values of the"
            " blackboard, properties and methods of the actor, cargo, event, time_in_state_s; while one is not there"
            " yet, it says no.")
    guard_method = export(
        StringName, StringName(""), shown_when=("guard_expression", ""),
        doc="Method of the actor, called without arguments; true allows it.")

    taken = signal(("event", str), ("cargo", Variant), doc="It is taken: the old states have ended, no new one begun.")

    def __init__(self) -> None:
        self.machine: Any = None
        self._callable: Any = None
        self._guard: Callable[[], object] | None = None

    @hook
    def _is_allowed(self) -> bool:
        """May it be taken now?"""
        return True

    def on_entered(self) -> None:
        if self.machine is None:
            tell_machine(self)

    def on_exit_tree(self) -> None:
        if self.machine is not None and self.machine.is_valid():
            self.machine.drop(self)

    def on_predelete(self) -> None:
        self._callable = self._guard = None      # they hold scripts: let them go now

    @method
    def set_guard(self, guard: GDCallable) -> None:
        """Ask a Callable, without arguments, whether the transition may be taken; before all other guards."""
        check_callable(guard, "set_guard()")
        self._callable = guard
        if self.machine is not None and self.machine.is_valid():
            self.machine.rebuild()

    @method
    def get_machine(self) -> GDObject:
        """Return the StateMachine this transition belongs to."""
        return self.machine

    def join(self, machine: Any, place: str) -> None:
        """Be a transition of a machine, and look up what guards it.

        Raises:
            RefusedValue: if the expression cannot be read.
        """
        self.machine = machine
        guards = list(self._guards(place))
        self._guard = guards[0] if len(guards) == 1 else (lambda: all(one() for one in guards)) if guards else None

    @property
    def is_guarded(self) -> bool:
        """Whether something may forbid it."""
        return self._guard is not None

    def allows(self) -> bool:
        assert self._guard is not None
        return bool(self._guard())

    def tell_taken(self, event: str | None, cargo: Any) -> None:
        if self.is_valid() and has_listeners(self, "taken"):
            self.taken.emit(event or "", cargo)

    def _guards(self, place: str) -> Any:
        if self._callable is not None:
            yield self._callable
        if self.guard_expression:
            expression = GuardExpression(self.guard_expression, place)
            yield lambda: expression.is_met(self.machine)
        elif self.guard_method:
            yield lambda: self.machine.actor_method(self.guard_method)()
        if has_script_method(self, "_is_allowed"):
            yield self._is_allowed

    def _get_configuration_warnings(self) -> list[str]:
        above = self.get_parent()
        if above is not None and not (above.is_class("StateMachine") or above.is_class("AIState")):
            return ["is not right below a StateMachine or AIState and is never taken; put it there"]
        if self.target == self.Target.STATE:
            to = self.get_node_or_null(self.to) if self.to else None
            if to is None or not to.is_class("AIState"):
                return [f"to '{self.to}' is no AIState; choose the state it leads to"]
        if self.guard_expression:
            try:
                GuardExpression(self.guard_expression, "guard_expression")
            except RefusedValue as refused:
                return [str(refused)]
        return []
