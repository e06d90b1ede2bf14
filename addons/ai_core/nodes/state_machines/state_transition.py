"""StateTransition node: leads from its parent state to another state of the StateMachine."""
from __future__ import annotations

from collections.abc import Callable, Iterator
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
    hook,
    is_overridden,
    method,
    node_path,
    signal,
)
from addons.ai_core.nodes.characters.event_names import misspelt
from addons.ai_core.nodes.characters.guard_expression import GuardExpression, deciding_names
from addons.ai_core.nodes.debugging.chart_words import ChartNode
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable
from addons.ai_core.nodes.state_machines.ai_state import misplaced, notify_machine

OF_AN_EVENT = {"event", "payload"}
"""Names in guard expressions that have a value only while an event is handled."""

OF_EXPRESSION = "its expression was false"
"""Refusal of a guard expression."""


@gdclass(icon="res://addons/ai_core/icons/state_transition.svg")
class StateTransition(ChartNode, Node):
    """Leads out of its parent AIState; as a child of the StateMachine, out of every state.

    A transition with an event is taken when the event is sent and its guard is true. A transition without
    an event is tried in every update, once after has passed and its guard is true. Of several
    transitions the first that is allowed is taken.
    """

    class Target(IntEnum):
        STATE = 0
        PREVIOUS = 1
        STAY = 2

    class History(IntEnum):
        NONE = 0
        SHALLOW = 1
        DEEP = 2

    event = export(
        str, "",
        doc="Event that takes the transition: of send_event(), or of the sensor, squad or radio of the character."
            " Empty: it is tried in every update.")
    after = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", shown_when=("event", ""),
        doc="Time for which the state must have been active; 0 means no delay.")
    target = export(
        Target, Target.STATE,
        doc="Target of the transition. State: to the state in to. Previous: to the state before the present one."
            " Stay: no state is exited or entered, and only taken is emitted.")
    to = export(
        NodePath, NodePath(""), hint=node_path("AIState"), shown_when=("target", Target.STATE),
        doc="Target state.")
    history = export(
        History, History.NONE, shown_when=("target", Target.STATE),
        doc="Entry into a target with inner states. None: at its initial state. Shallow: at the inner state that"
            " was active last. Deep: at the innermost state that was active last. An active target is exited first.")
    guard_expression = export(
        str, "", group="Guard",
        doc="Expression that must be true: \"health < 0.3 and can_see(payload)\". Names refer to payload, event and"
            " time_in_state_s, then to values of the blackboard, then to properties of the actor; methods are those of"
            " the actor. While a name has no value, the guard is false.")
    guard_method = export(
        StringName, StringName(""), shown_when=("guard_expression", ""),
        doc="Method of the actor, called without arguments; true allows the transition.")

    taken = signal(
        ("event", str), ("payload", Variant),
        doc="Emitted when the transition is taken, after the old states ended and before the new ones begin.")

    def __init__(self) -> None:
        self.machine: Any = None
        self._callable: Any = None
        self._guards: list[tuple[str, Callable[[], object]]] = []     # with words for each that refuses
        self._expression: GuardExpression | None = None
        self._refusal: str | None = None         # words of the guard that refused when they were asked last

    @hook
    def _is_allowed(self) -> bool:
        """Return whether the transition may be taken."""
        return True

    def on_entered(self) -> None:
        if self.machine is None:
            notify_machine(self)

    def on_exit_tree(self) -> None:
        if self.machine is not None and self.machine.is_valid():
            self.machine.part_removed(self)

    def on_predelete(self) -> None:
        self._callable, self._guards = None, []      # they hold scripts: release them now

    @method
    def set_guard(self, guard: GDCallable) -> None:
        """Set a Callable as the first guard: it takes no arguments and returns whether the transition is allowed."""
        check_callable(guard, "set_guard()")
        self._callable = guard
        if self.machine is not None and self.machine.is_valid():
            self.machine.rebuild()

    @method
    def get_machine(self) -> GDObject:
        """Return the StateMachine that the transition belongs to."""
        return self.machine

    def join(self, machine: Any, place: str) -> None:
        """Become a transition of a machine, and look up the guards.

        Raises:
            RefusedValue: if the expression cannot be read.
        """
        self.machine = machine
        self._expression, self._refusal = None, None
        self._guards = list(self._guards_at(place))

    @property
    def is_guarded(self) -> bool:
        """Whether the transition has a guard."""
        return bool(self._guards)

    def allows(self) -> bool:
        for words, guard in self._guards:
            if not guard():
                self._refusal = words
                return False
        self._refusal = ""
        return True

    def guards_allow(self) -> bool | None:
        """Return whether the guards allow it, without a call of the game's code; None if that is not known.

        An expression of values alone is evaluated now; other guards as they answered last.
        """
        expression = self._expression
        if expression is not None and deciding_names(expression.text) and not OF_AN_EVENT & set(expression.names):
            is_true = expression.is_true_by_names(self.machine)
            if not is_true or len(self._guards) == 1:
                return is_true
        return None if self._refusal is None else not self._refusal

    def why_not_taken(self, waited_s: float) -> str:
        """Return what it waits for, in words.

        Args:
            waited_s: time since its source state began (s).
        """
        parts = [f"waits for {self.event}"] if self.event else []
        if not self.event and self.after > waited_s:
            parts.append(f"after {waited_s:.1f} of {self.after:g} s")
        if self._guards and self.guards_allow() is False:
            expression, refusal = self._expression, self._refusal
            if expression is not None and (not refusal or refusal == OF_EXPRESSION):
                values = expression.why_false(self.machine)
                refusal = f"`{expression.text}` is false{f': {values}' if values else ''}"
            parts.append(str(refusal))
        return ", ".join(parts) or "allowed"

    def guard_text(self) -> str:
        """Return what the guards ask, in words."""
        asked = ["its Callable"] if self._callable is not None else []
        if self.guard_expression or self.guard_method:
            asked.append(self.guard_expression or f"{self.guard_method}()")
        if is_overridden(self, "_is_allowed"):
            asked.append("_is_allowed()")
        return " and ".join(map(str, asked))

    def emit_taken(self, event: str | None, payload: Any) -> None:
        if self.is_valid() and has_listeners(self, "taken"):
            self.taken.emit(event or "", payload)

    def _guards_at(self, place: str) -> Iterator[tuple[str, Callable[[], object]]]:
        if self._callable is not None:
            yield "its Callable returned false", self._callable
        if self.guard_expression:
            expression = self._expression = GuardExpression(self.guard_expression, place)
            yield OF_EXPRESSION, lambda: expression.is_met(self.machine)
        elif self.guard_method:
            yield (f"{self.guard_method}() of the actor returned false",
                   lambda: self.machine.actor_method(self.guard_method)())
        if is_overridden(self, "_is_allowed"):
            yield "_is_allowed() returned false", self._is_allowed

    def _get_configuration_warnings(self) -> list[str]:
        return misplaced(self) or self.mistakes() or misspelt([self.event] if self.event else [])

    def mistakes(self) -> list[str]:
        """Return what is wrong with the settings, so that no machine can be built of them."""
        if self.target == self.Target.STATE:
            to = self.get_node_or_null(self.to) if self.to else None
            if to is None or not to.is_class("AIState"):
                return [f"to '{self.to}' is not an AIState; choose the target state"]
        if self.guard_expression:
            try:
                GuardExpression(self.guard_expression, "guard_expression")
            except RefusedValue as refused:
                return [str(refused)]
        return []
