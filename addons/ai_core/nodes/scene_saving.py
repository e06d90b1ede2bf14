"""Saving a scene's AI: what the parts are, and how errors are told in the engine."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue
from addons.ai_core.nodes.scene_values import path_of
from ai_core.saving.fields import Fields, State, StateError
from ai_core.snapshot import Saveable, restore, take


class SchedulerPart:
    """The scheduler of an AIScheduler: its ids of behaviors follow those of the save."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self.clock = node.clock
        self.save_state = node.core.save_state

    def prepare_state(self, state: object) -> Callable[[], None]:
        here = {path_of(self._node, one) for one in self._node.joined_nodes if hasattr(one, "in_crowd")}
        change = self._node.core.prepare_state(without_tasks(state, here))

        def change_all() -> None:
            change()
            self._node.number_behaviors()

        return change_all


def without_tasks(state: Any, names: set[str]) -> object:
    """Return a scheduler's state without the work of nodes that have their turns in a crowd by now."""
    try:
        gone = {task["id"] for task in state["tasks"] if task["name"] in names}
        if not gone:
            return state
        return {**state, "tasks": [task for task in state["tasks"] if task["id"] not in gone],
                "waiting": [one for one in state["waiting"] if one[0] not in gone]}
    except (LookupError, TypeError):
        return state                     # refused, with what is wrong, by who reads it next


class NodePart:
    """A node that may not be in use: then there is nothing to save, and nothing to load."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def save_state(self) -> State:
        return {"version": 1, "state": self._node.saved() if self._node.is_in_use() else None}

    def prepare_state(self, state: object) -> Callable[[], None]:
        fields = Fields.versioned(state, version=1)
        inner = fields.anything("state")
        fields.end()
        if inner is None:
            return lambda: None
        change: Callable[[], None] = self._node.prepared(inner)
        return change

    def begin_anew(self) -> None:
        """The clock was set to a save in which the node was not."""
        if self._node.is_in_use() and self._node.is_class("SenseManager"):
            self._node.core.forget_all()


def save_parts(parts: dict[str, Saveable]) -> State:
    """Return a snapshot, or refuse with the reason, as an error of the node."""
    try:
        return take(parts)
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot be saved: {error}") from None


def load_parts(snapshot: State, parts: dict[str, Saveable]) -> None:
    """Load a snapshot, or refuse with the reason; nothing is changed then."""
    try:
        restore(snapshot, parts)
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot load this state: {error}; nothing was changed") from None


def save_node(node: Any) -> State:
    """Return the state of one node, for its ``save_state``."""
    return save_parts({"node": NodePart(node)})


def load_node(node: Any, snapshot: State) -> bool:
    """Load what ``save_node`` returned."""
    load_parts(snapshot, {"node": NodePart(node)})
    return True
