"""The state of a state machine, saved and put off: where it is since when, and where it was.

Loading begins and ends nothing: no callback is called.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ai_core.clock import Clock
from ai_core.decisions.callback_faults import read_failing
from ai_core.decisions.state_machine_plan import Node
from ai_core.errors import UnknownNameError, finite_number
from ai_core.saving.fields import LATEST_S, Fields, State

if TYPE_CHECKING:
    from ai_core.decisions.state_machine import StateMachine

__all__ = ["SaveableMachine"]

VERSION = 1


class SaveableMachine:
    """What makes a ``StateMachine`` saveable, and lets its time stand still."""

    __slots__ = ("_clock",)

    _clock: Clock | None

    @property
    def clock(self) -> Clock | None:
        """What tells it the time, or None."""
        return self._clock

    def stand_still(self, seconds: float) -> None:
        """Let time that has passed count for nothing: its character was paused, and states began that much later.

        Args:
            seconds: game time (s), 0 or more; no state begins later than now.

        Raises:
            ValueError: if it is negative or no finite number.

        Cost: O(depth of the active state).
        """
        finite_number("seconds", seconds, minimum=0, remedy="give the time that has passed")
        machine = cast("StateMachine", self)
        now_s = machine._now_s()
        machine._since_s = min(machine._since_s + seconds, now_s)
        if machine._since_around:
            machine._since_around = {
                index: min(since_s + seconds, now_s) for index, since_s in machine._since_around.items()}

    def save_state(self) -> State:
        """Return the active state, since when, and where the machine was, as plain data.

        Raises:
            RuntimeError: if called from inside a callback of this machine.
        """
        return _saved(cast("StateMachine", self))

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the states that are here; return what loads it.

        States are found by their paths. No callback is called by loading, and
        what was active here is dropped without its ``exit``.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a callback of this machine.
        """
        return _prepared(cast("StateMachine", self), state)


def _saved(machine: StateMachine) -> State:
    _check_at_rest(machine)
    nodes = machine.definition.nodes
    return {
        "version": VERSION,
        "state": machine.state,
        "reason": machine._reason,
        "previous": machine.previous_state,
        "updates": machine._frame,
        "seconds": machine._seconds,
        "since_s": machine._since_s,
        "since_around": {nodes[index].path: since for index, since in sorted((machine._since_around or {}).items())},
        "left": {nodes[index].path: nodes[leaf].path for index, leaf in sorted((machine._left or {}).items())},
        "failing": [] if machine._faults is None else machine._faults.save(),
    }


def _prepared(machine: StateMachine, state: object) -> Callable[[], None]:
    _check_at_rest(machine)
    fields = Fields.versioned(state, version=VERSION)
    leaf, previous = _leaf_or_none(machine, fields, "state"), _leaf_or_none(machine, fields, "previous")
    reason, frame = fields.text("reason"), fields.whole("updates")
    seconds = fields.number("seconds", minimum=0.0, maximum=LATEST_S)
    since_s = fields.seconds("since_s")
    around = fields.group("since_around")
    since_around = {_node(machine, around, path, path).index: around.seconds(path) for path in around.names()}
    left = _read_left(machine, fields.group("left"))
    failing = read_failing(fields, machine.definition.callback_names())
    fields.end()

    def change() -> None:
        machine._leaf, machine._previous, machine._reason = leaf, previous, reason
        machine._come_to_rest()
        machine._frame, machine._seconds, machine._since_s = frame, seconds, since_s
        machine._since_around, machine._left = since_around or None, left or None
        if failing or machine._faults is not None:
            machine._callback_faults().put(failing)

    return change


def _check_at_rest(machine: StateMachine) -> None:
    if machine.is_busy:
        raise RuntimeError(f"{machine.name!r} is in the middle of a transition; save and load between two frames")


def _node(machine: StateMachine, fields: Fields, field: str, path: str) -> Node:
    try:
        return machine.definition.node(path)
    except UnknownNameError as error:
        fields.refuse(field, f"is not here: {error}")


def _leaf(machine: StateMachine, fields: Fields, field: str) -> Node:
    node = _node(machine, fields, field, fields.text(field))
    if node.children:
        fields.refuse(field, f"must be a state without states inside, got {node.path!r}")
    return node


def _leaf_or_none(machine: StateMachine, fields: Fields, field: str) -> Node | None:
    return None if fields.text(field) == "" else _leaf(machine, fields, field)


def _read_left(machine: StateMachine, fields: Fields) -> dict[int, int]:
    """Return by state the leaf it was left in."""
    left: dict[int, int] = {}
    for path in fields.names():
        node, leaf = _node(machine, fields, path, path), _leaf(machine, fields, path)
        if node is leaf or node not in leaf.up():
            fields.refuse(path, f"must be a state inside {path!r}, got {leaf.path!r}")
        left[node.index] = leaf.index
    return left
