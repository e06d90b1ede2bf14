"""Saving a scene's AI: what the parts are, and how errors are told in the engine."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, method
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.saving.fields import Fields, State, StateError
from ai_core.snapshot import PartFailedError, Saveable, restore, take


class LoadFailed(RefusedValue):
    """A load failed while it changed nodes; what the message says became of them."""


class SchedulerPart:
    """The scheduler of an AIScheduler: its ids of behaviors follow those of the save.

    Args:
        node: the AIScheduler.
        left_out: where behaviors that are not here are noted, and left out; None to refuse the save for them.
    """

    def __init__(self, node: Any, left_out: dict[str, str] | None = None) -> None:
        self._node = node
        self._left_out = left_out
        self.clock = node.clock
        self.save_state = node.core.save_state

    def prepare_state(self, state: object) -> Callable[[], None]:
        here = {path_of(self._node, one) for one in self._node.joined_nodes if hasattr(one, "group_member")}
        state = without_tasks(state, here)
        if self._left_out is not None:
            state = self._without_missing(state, self._left_out)
        change = self._node.core.prepare_state(state)

        def change_all() -> None:
            change()
            self._node.restore_behavior_ids()

        return change_all

    def reset_unsaved(self) -> None:
        """The clock was set to a save of which the scheduler's part was left out: all had their turns just now."""
        state, now = self.save_state(), list(self.clock.now)
        tasks = [{**task, "last_run": now} for task in state["tasks"]]
        self.prepare_state({**state, "now": now, "tasks": tasks})()

    def _without_missing(self, state: Any, left_out: dict[str, str]) -> object:
        """Return a state without behaviors that are not here, or of which there are more or fewer of one name."""
        here = Counter(task.name for task in self._node.core.tasks)
        try:
            saved = Counter(task["name"] for task in state["tasks"])
            missing = {name for name, count in saved.items() if here[name] != count}
        except (LookupError, TypeError):
            return state
        left_out.update({f"behavior {name}": f"{saved[name]} saved, {here[name]} here" for name in missing})
        return without_tasks(state, missing)


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

    def reset_unsaved(self) -> None:
        """The clock was set to a save in which the node was not."""
        if self._node.is_in_use() and self._node.is_class("SenseManager"):
            self._node.core.forget_all()


def save_parts(parts: dict[str, Saveable]) -> State:
    """Return a snapshot, or refuse with the reason, as an error of the node."""
    try:
        return take(parts)
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot be saved: {error}") from None


def load_parts(
    snapshot: State, parts: dict[str, Saveable], *, skip_broken: bool = False, roll_back: bool = False
) -> dict[str, str]:
    """Load a snapshot; return which parts were left out, and why.

    Raises:
        LoadFailed: if a part failed after the first change; says what became of all.
        RefusedValue: if something is wrong, with the reason; nothing is changed then.
    """
    try:
        return restore(snapshot, parts, skip_broken=skip_broken, roll_back=roll_back)
    except PartFailedError as error:
        raise LoadFailed(f"could not load all of this state: {error}") from None
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot load this state: {error}; nothing was changed") from None


def saving(what: str, *, more: str = "", when_loading: str = "") -> tuple[Any, Any]:
    """Return the methods of a node that saves itself: ``save_state, load_state = saving("facts and parameters")``.

    Such a node is also saved by its AIScheduler, which it joins. It has ``is_in_use``, ``saved``
    and ``prepared``.

    Args:
        what: what is saved; the inspector shows it.
        more: another paragraph for the inspector.
        when_loading: another for ``load_state``.
    """
    @method
    def save_state(self: Any) -> dict:
        return save_parts({"node": NodePart(self)})

    @method
    def load_state(self: Any, state: dict) -> bool:
        load_parts(state, {"node": NodePart(self)})
        return True

    save_state.__doc__ = _paragraphs(f"Return {what}; AIScheduler.save_state() includes it.", more)
    load_state.__doc__ = _paragraphs(
        "Take back what save_state() returned; checks all of it before it changes anything.", when_loading)
    return save_state, load_state


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
