"""Saving the AI of a scene: its parts, and their errors in the engine."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, method
from addons.ai_core.nodes.saving.scene_values import leave_out, path_of
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Saveable
from ai_core.saving.fields import State, StateError
from ai_core.scheduling.scheduler import Scheduler
from ai_core.snapshot import PartFailedError, SnapshotPart, restore, take


class LoadFailed(RefusedValue):
    """A load failed while it changed nodes; the message describes their state."""


class SchedulerPart:
    """The scheduler of an AIScheduler; after loading, ids of behaviors are those of the save.

    Args:
        node: the AIScheduler.
        left_out: gets the missing behaviors, which are left out; None to refuse a save with missing behaviors.
    """

    def __init__(self, node: Any, left_out: dict[str, str] | None = None) -> None:
        self._node = node
        self._left_out = left_out

    def save_state(self) -> State:
        self._node.skip_paused_time()
        state: State = self._node.core.save_state()
        return state

    def prepare_state(self, state: object) -> Callable[[], None]:
        here = {path_of(self._node, one) for one in self._node.joined_nodes if hasattr(one, "group_member")}
        state = without_tasks(state, here)
        if self._left_out is not None:
            state = without_missing(self._node.core, state, self._left_out)
        change = self._node.core.prepare_state(state)

        def change_all() -> None:
            change()
            self._node.restore_behavior_ids()
            self._node.note_pause(is_loaded=True)

        return change_all

    def reset_unsaved(self) -> None:
        """Count all tasks as just run; called when the clock was set to a save without the scheduler's part."""
        self._node.core.count_as_run()
        self._node.note_pause(is_loaded=True)


def without_missing(scheduler: Scheduler, state: Any, left_out: dict[str, str]) -> Any:
    """Return a state without tasks whose number with the same name differs from the scene, of nested schedulers too."""
    here = Counter(task.name for task in scheduler.tasks)
    nested = {task.name: task.work for task in scheduler.tasks if isinstance(task.work, Scheduler)}
    try:
        saved = Counter(task["name"] for task in state["tasks"])
        tasks = [
            {**task, "work": without_missing(nested[task["name"]], task["work"], left_out)}
            if task["name"] in nested else task for task in state["tasks"] if saved[task["name"]] == here[task["name"]]]
    except (LookupError, TypeError):
        return state                     # the next reader refuses it with the reason
    for name, count in saved.items():
        if count != here[name]:
            left_out[f"behavior {name}"] = f"{count} saved, {here[name]} here"
    return {**state, "tasks": tasks}


def without_tasks(state: Any, names: set[str]) -> object:
    """Return a scheduler's state without the tasks of these names."""
    try:
        return {**state, "tasks": [task for task in state["tasks"] if task["name"] not in names]}
    except (LookupError, TypeError):
        return state                     # the next reader refuses it with the reason


def without_missing_nodes(scheduler: Any, state: State, parts: Mapping[str, object]) -> State:
    """Return a snapshot without the parts of nodes that are not in the scene, or are others now.

    Raises:
        RefusedValue: if there are such parts, unless the load leaves out missing nodes.
    """
    saved = state.get("parts")
    if not isinstance(saved, dict):
        return state                     # the next reader refuses it with the reason
    found = {}
    for name, part in saved.items():
        kind, is_node, path = str(name).partition("/")
        if name in parts or not is_node:
            found[name] = part
            continue
        try:
            leave_out(scheduler, path, name, "node of the group ai_saved" if kind == "node" else f"running {kind}")
        except StateError as error:
            raise RefusedValue(f"cannot load this state: {error}; nothing was changed") from None
    return {**state, "parts": found}


class NodePart(Saveable):
    """A node that may be unused; then there is nothing to save and nothing to load."""

    STATE = DeclaredState(state=Hook())

    def __init__(self, node: Any) -> None:
        self._node = node

    def _save_state(self) -> State | None:
        return self._node.saved() if self._node.is_in_use() else None

    def _prepare_state(self, plain: object, place: str) -> Change:
        change: Change = int if plain is None else self._node.prepared(plain)
        return change

    def reset_unsaved(self) -> None:
        """Reset the node, if it has this method; called when the clock was set to a save without the node."""
        if hasattr(type(self._node), "reset_unsaved"):       # not a method of a script
            self._node.reset_unsaved()


def save_parts(parts: dict[str, SnapshotPart]) -> State:
    """Return a snapshot; raise RefusedValue with the reason, if a part cannot be saved."""
    try:
        return take(parts)
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot be saved: {error}") from None


def load_parts(
    snapshot: State, parts: dict[str, SnapshotPart], *, skip_broken: bool = False, roll_back: bool = False
) -> dict[str, str]:
    """Load a snapshot; return the parts that were left out, with the reasons.

    Raises:
        LoadFailed: if a part failed after the first change; describes the state of all parts.
        RefusedValue: if the snapshot is invalid, with the reason; nothing is changed.
    """
    try:
        return restore(snapshot, parts, skip_broken=skip_broken, roll_back=roll_back)
    except PartFailedError as error:
        raise LoadFailed(f"could not load all of this state: {error}") from None
    except (RuntimeError, StateError) as error:
        raise RefusedValue(f"cannot load this state: {error}; nothing was changed") from None


def saving(what: str, *, more: str = "", when_loading: str = "") -> tuple[Any, Any]:
    """Return the save methods of a node: ``save_state, load_state = saving("facts and parameters")``.

    The AIScheduler that the node joins saves it as well. The node needs ``is_in_use``, ``saved`` and ``prepared``.

    Args:
        what: the saved data, for the class reference.
        more: another paragraph for the class reference.
        when_loading: another paragraph for ``load_state``.
    """
    @method
    def save_state(self: Any) -> dict:
        return save_parts({"node": NodePart(self)})

    @method
    def load_state(self: Any, state: dict) -> bool:
        load_parts(state, {"node": NodePart(self)})
        if hasattr(self, "settle"):
            self.settle()
        return True

    save_state.__doc__ = _paragraphs(f"Return {what}; AIScheduler.save_state() includes it.", more)
    load_state.__doc__ = _paragraphs(
        "Load a state that save_state() returned. The state is checked completely before anything is changed.",
        when_loading)
    return save_state, load_state


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
