"""Saving, recording and replaying what runs under an AIScheduler."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Results, Variant, method
from addons.ai_core.nodes.saving.saved_node import GROUP as SAVED
from addons.ai_core.nodes.saving.saved_node import SavedNode
from addons.ai_core.nodes.saving.scene_recording import recorder_to, replay_from
from addons.ai_core.nodes.saving.scene_saving import NodePart, SchedulerPart, load_parts, save_parts
from addons.ai_core.nodes.saving.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduling.scheduled import SCHEDULERS, nearest
from ai_core.recording.replay import Difference
from ai_core.saving.fields import StateError
from ai_core.scheduling.task import Task
from ai_core.snapshot import Saveable


class SchedulerSaving:
    """How an AIScheduler is saved, loaded, recorded and replayed; a part of that class."""

    clock: Any
    faults: Any
    top: Any
    need_top: Any
    replay_ended: Any
    is_inside_tree: Any
    get_tree: Any
    show_monitors: Any
    values: SceneValues
    results: Results
    crowds: dict[str, Any]
    _tasks: dict[int, Task]
    weigh_anew: Any
    name_anew: Any
    _inner: dict[int, Any]
    _members: dict[int, Any]
    _recorder: Any

    @property
    def recorder(self) -> Any:
        """Has begin_frame(budget) -> budget and end_frame(): a Recorder, for instance; or None."""
        return self._recorder

    @recorder.setter
    def recorder(self, recorder: Any) -> None:
        self._recorder = recorder
        self.results.take = None if recorder is None else self.result_of

    def join(self, node: Any) -> None:
        """Let a node be saved with this one, until it leaves."""
        self.top._members[node.instance_id] = node

    def leave(self, node: Any) -> None:
        """Save a node no more."""
        self.top._members.pop(node.instance_id, None)

    @property
    def joined_nodes(self) -> list[Any]:
        """Nodes that are saved with this one, in the order they came."""
        return list(self.top._members.values())

    def number_behaviors(self) -> None:
        """Use the ids that a loaded game had."""
        self._tasks = {task.id: task for task in self._tasks.values()}
        self.weigh_anew()
        self.show_monitors()
        for inner in self._inner.values():
            inner.number_behaviors()
            inner.pause_nesting()

    def settle_crowds(self) -> None:
        """Let nodes that decide sleep as they did, once all are loaded."""
        for crowd in self.crowds.values():
            crowd.settle()
        for inner in self._inner.values():
            inner.settle_crowds()

    @method
    def save_state(self) -> dict:
        """Return the state of all AI that runs through this node, as a Dictionary of plain data.

        Call it between two frames of AI. Nodes are found again by their paths from this one,
        behaviors and listeners by the names of node and method. What scripts keep in variables
        of their own they give in _save_state(): habits, and nodes in the group "ai_saved",
        of which place and motion are saved, too.
        """
        self.need_top("save_state()")
        self.name_anew()
        return save_parts(self._parts())

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned, after the scene was loaded again.

        Everything is checked first: if something does not fit, an error says what, nothing is
        changed, and false is returned. Nodes and behaviors that are new since then are kept as
        they are. No habit is entered or exited, and no event is told, by loading. Ids of
        behaviors are those of the saved game afterwards.
        """
        self.need_top("load_state()")
        self.name_anew()
        parts, saved = self._parts(), state.get("parts")
        new = [name for name in parts if "/" in name and isinstance(saved, dict) and name not in saved]
        added: list[Any] = [parts.pop(name) for name in new]
        load_parts(state, parts)
        for part in added:
            part.begin_anew()
        self.settle_crowds()
        for node in self.joined_nodes:
            if node.is_class("ImportanceManager"):
                node.settle()
        return True

    @method
    def start_recording(self, path: str, read_inputs: Variant = None, look_every_frames: int = 60) -> bool:
        """Write every frame of AI to a file such as "user://run.jsonl", until stop_recording().

        A Callable ``read_inputs`` is called as each frame begins, and returns what comes from
        outside, such as the keys that are pressed. What ran and what was told is compared in
        every frame, the state of each node as rarely as ``look_every_frames`` says: 1 finds each
        change in its frame, and costs more than all else.
        """
        self.need_top("start_recording()")
        self.stop_recording()
        self.name_anew()
        self.recorder = recorder_to(self, path, read_inputs, look_every_frames)
        return True

    @method
    def stop_recording(self) -> None:
        """End the recording or the replay, if there is one."""
        recorder, self.recorder = self.recorder, None
        close = getattr(recorder, "close", None)
        if close is not None:
            close()

    @method
    def start_replay(self, path: str, give_inputs: Variant = None) -> bool:
        """Run what start_recording() wrote again, in the same scene, at the moment it began.

        Each frame of AI is granted what it was granted then, whatever the time. A Callable
        ``give_inputs`` is called as each frame begins, with what came from outside then. The
        replay ends at the first frame that differs: see replay_ended.
        """
        self.need_top("start_replay()")
        self.stop_recording()
        self.name_anew()
        self.recorder = replay_from(self, path, give_inputs)
        return True

    def tell_replay_ended(self, difference: Difference | None) -> None:
        """Say that the replay is over."""
        self.recorder = None
        self.replay_ended.emit(*(difference[:3] if difference is not None else (-1, "", "")))

    def parts_of_nodes(self) -> dict[str, tuple[Any, Any]]:
        """Return what is saved of each node, and the node, by "Class/path" or "node/path"."""
        found: dict[str, tuple[Any, Any]] = {}
        for node in self._members.values():
            if node.is_valid() and node.is_inside_tree():
                found[f"{node.get_class()}/{path_of(self, node)}"] = NodePart(node), node
        for node in self.get_tree().get_nodes_in_group(SAVED) if self.is_inside_tree() else ():
            if nearest(node, "AIScheduler", SCHEDULERS).top is self:
                found[f"node/{path_of(self, node)}"] = SavedNode(node, self.values), node
        return found

    def result_of(self, answer: object) -> object:
        """Return what a behavior returned as a recording compares it."""
        if answer is None:
            return None
        try:
            return self.values.plain(answer, "result")
        except StateError:
            return type(answer).__name__

    def _parts(self) -> dict[str, Saveable]:
        nodes = {name: part for name, (part, _) in self.parts_of_nodes().items()}
        return {"clock": self.clock, "faults": self.faults, "scheduler": SchedulerPart(self), **nodes}
