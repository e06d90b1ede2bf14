"""AIScheduler: one clock, one budget, one per-frame callback for all AI below it."""
from __future__ import annotations

import time
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    report_exception,
    signal,
)
from addons.ai_core.nodes.saved_node import GROUP as SAVED
from addons.ai_core.nodes.saved_node import SavedNode
from addons.ai_core.nodes.scene_recording import recorder_to, replay_from
from addons.ai_core.nodes.scene_saving import NodePart, SchedulerPart, load_parts, save_parts
from addons.ai_core.nodes.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduled import SCHEDULERS, call_waiting, callable_name, check_callable, nearest
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import Fault, FaultIsolation
from ai_core.recording.replay import Difference
from ai_core.saving.fields import StateError
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Turn, Work
from ai_core.snapshot import Saveable
from ai_core.trace import Trace

AUTOMATIC_PHASE = -1


@gdclass(icon="res://addons/ai_core/icons/ai_scheduler.svg")
class AIScheduler(Node):
    """Runs the AI of the game within a time budget per frame.

    Every sense manager, habit tree, event manager and behavior below this node
    runs through it. Work that does not fit into a frame waits for the next one,
    and is told the true time since it last ran.

    It saves the AI of the scene, and with it each node in the group "ai_saved": where the
    node is, how it moves, and what its script returns from _save_state(), which is handed
    to its _load_state(state) when the game is loaded.
    """

    class Update(IntEnum):
        IDLE = 0
        PHYSICS = 1
        MANUAL = 2

    class Policy(IntEnum):
        LOAD_BALANCING = 0
        FREQUENCY = 1

    policy = export(
        Policy, Policy.LOAD_BALANCING, on_set="_policy_set",
        doc="Load balancing keeps to the budget and carries work over; frequency runs whatever is due.")
    update = export(
        Update, Update.PHYSICS, on_set="_apply_update",
        doc="When a frame of AI runs. Rays need the physics space, so physics is safest; manual runs on step().")
    budget_us = export(
        float, 2000.0, range=(0, 100000, 10), or_greater=True, unit="µs", group="Optimizations",
        on_set="_budget_set", doc="Time that all AI below may take in one frame; 0 is unlimited.")
    quarantine_after = export(
        int, 3, range=(1, 100, 1), group="Debug",
        doc="Failures in a row after which a behavior is left out until release_behavior().")

    frame_overran = signal(
        ("behavior", str), ("over_us", float), doc="A behavior took the frame beyond the budget.")
    behavior_failed = signal(("behavior", str), ("message", str), doc="A behavior raised.")
    behavior_quarantined = signal(("behavior", str), doc="A behavior failed too often in a row and is left out.")
    replay_ended = signal(
        ("frame", int), ("part", str), ("what", str),
        doc="The replay is over: where it first differed, or -1 and empty texts if nothing did.")

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.trace = Trace()
        self._faults: FaultIsolation | None = None
        self._core: FrequencyScheduler | LoadBalancingScheduler | None = None
        self._tasks: dict[int, Task] = {}
        self._last_frame_us = 0.0
        self._members: dict[int, Any] = {}        # instance id -> node that saves through this one
        self.values = SceneValues(self)
        self.recorder: Any = None      # has begin_frame(budget) -> budget and end_frame(): a Recorder, for instance

    def on_enter_tree(self) -> None:
        self.add_to_group(SCHEDULERS)
        self._apply_update()

    def on_entered(self) -> None:
        call_waiting(self, SCHEDULERS)

    def on_predelete(self) -> None:
        # Behaviors hold Callables, which hold scripts: let them go now, not whenever Python tidies up.
        for task in list(self._tasks.values()):
            self.unschedule(task)
        self.stop_recording()
        self._core = self._faults = None

    def on_process(self) -> None:
        self.step(self.get_process_delta_time())

    def on_physics_process(self) -> None:
        self.step(self.get_physics_process_delta_time())

    @property
    def faults(self) -> FaultIsolation:
        """What happens to work that raises; shared by all nodes below."""
        if self._faults is None:
            self._faults = FaultIsolation(quarantine_after=self.quarantine_after, report=self._report)
        return self._faults

    @property
    def core(self) -> FrequencyScheduler | LoadBalancingScheduler:
        if self._core is None:
            balanced = self.policy == self.Policy.LOAD_BALANCING
            kind = LoadBalancingScheduler if balanced else FrequencyScheduler
            self._core = kind(
                self.clock, faults=self.faults, trace=self.trace,
                stopwatch=time.perf_counter_ns, on_overrun=self._tell_overrun,
            )
        return self._core

    def schedule(
        self, work: Work, *, name: str, period_frames: int = 1,
        phase_frames: int | None = None, priority: float = 1.0,
    ) -> Task:
        """For nodes and behaviors written in Python: run ``work`` with a Turn."""
        task = self.core.add(
            work, period_frames=period_frames, phase_frames=phase_frames, priority=priority, name=name)
        self._tasks[task.id] = task
        return task

    def unschedule(self, task: Task) -> None:
        if self._core is not None and not task.is_removed:   # None: it is being freed
            self._core.remove(task)
        self._tasks.pop(task.id, None)

    def set_enabled(self, task: Task, is_enabled: bool) -> None:
        """Leave out the work of a node, or let it run again, with all its tries."""
        if not is_enabled:
            self.core.pause(task)
        else:
            self.core.resume(task)
            self.core.release(task)

    def join(self, node: Any) -> None:
        """Let a node be saved with this one, until it leaves."""
        self._members[node.instance_id] = node

    def leave(self, node: Any) -> None:
        self._members.pop(node.instance_id, None)

    def number_behaviors(self) -> None:
        """Use the ids that a loaded game had."""
        self._tasks = {task.id: task for task in self._tasks.values()}

    @method
    def add_behavior(
        self, behavior: GDCallable, period_frames: int = 1, phase_frames: int = AUTOMATIC_PHASE,
        priority: float = 1.0, behavior_name: str = "",
    ) -> int:
        """Call ``behavior(elapsed_s)`` every ``period_frames`` and return its id.

        A phase of -1 chooses the frame where the fewest others run.
        """
        check_callable(behavior, "add_behavior")
        phase = None if phase_frames == AUTOMATIC_PHASE else phase_frames
        name = behavior_name or callable_name(self, behavior)
        task = self.schedule(
            self._caller(behavior, name), name=name, period_frames=period_frames,
            phase_frames=phase, priority=priority)
        return task.id

    @method
    def remove_behavior(self, behavior_id: int) -> None:
        """Stop calling a behavior."""
        self.unschedule(self._task(behavior_id))

    @method
    def pause_behavior(self, behavior_id: int) -> None:
        """Leave a behavior out until resume_behavior()."""
        self.core.pause(self._task(behavior_id))

    @method
    def resume_behavior(self, behavior_id: int) -> None:
        """Let a paused behavior run again."""
        self.core.resume(self._task(behavior_id))

    @method
    def release_behavior(self, behavior_id: int) -> None:
        """Let a quarantined behavior, or a node's work, run again; ids are in get_stats()."""
        self.core.release(self._task(behavior_id))

    @method
    def step(self, delta_s: float = 1 / 60) -> None:
        """Run one frame of AI; call it yourself when update is manual."""
        self.clock.advance(seconds=delta_s)
        recorder = self.recorder
        budget = Budget.unlimited()
        if self.budget_us > 0:
            budget = Budget.of_time(self.budget_us, time.perf_counter_ns)
        if recorder is not None:
            budget = recorder.begin_frame(budget)
        begun_ns = time.perf_counter_ns()
        self.core.advance(budget)
        self._last_frame_us = (time.perf_counter_ns() - begun_ns) / 1000
        if recorder is not None:
            recorder.end_frame()

    @method
    def save_state(self) -> dict:
        """Return the state of all AI that runs through this node, as a Dictionary of plain data.

        Call it between two frames of AI. Nodes are found again by their paths from this one,
        behaviors and listeners by the names of node and method. What scripts keep in variables
        of their own they give in _save_state(): habits, and nodes in the group "ai_saved",
        of which place and motion are saved, too.
        """
        return save_parts(self._parts())

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned, after the scene was loaded again.

        Everything is checked first: if something does not fit, an error says what, nothing is
        changed, and false is returned. Nodes and behaviors that are new since then are kept as
        they are. No habit is entered or exited, and no event is told, by loading. Ids of
        behaviors are those of the saved game afterwards.
        """
        parts, saved = self._parts(), state.get("parts")
        new = [name for name in parts if "/" in name and isinstance(saved, dict) and name not in saved]
        added = [parts.pop(name) for name in new]
        load_parts(state, parts)
        for part in added:
            part.begin_anew()
        return True

    @method
    def start_recording(self, path: str, read_inputs: Variant = None, look_every_frames: int = 60) -> bool:
        """Write every frame of AI to a file such as "user://run.jsonl", until stop_recording().

        A Callable ``read_inputs`` is called as each frame begins, and returns what comes from
        outside, such as the keys that are pressed. What ran and what was told is compared in
        every frame, the state of each node as rarely as ``look_every_frames`` says: 1 finds each
        change in its frame, and costs more than all else.
        """
        self.stop_recording()
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
        self.stop_recording()
        self.recorder = replay_from(self, path, give_inputs)
        return True

    def tell_replay_ended(self, difference: Difference | None) -> None:
        self.recorder = None
        self.replay_ended.emit(*(difference[:3] if difference is not None else (-1, "", "")))

    def _parts(self) -> dict[str, Saveable]:
        nodes = {name: part for name, (part, _) in self.parts_of_nodes().items()}
        return {"clock": self.clock, "faults": self.faults, "scheduler": SchedulerPart(self), **nodes}

    def parts_of_nodes(self) -> dict[str, tuple[Any, Any]]:
        """Return what is saved of each node, and the node, by "Class/path" or "node/path"."""
        found: dict[str, tuple[Any, Any]] = {}
        for node in self._members.values():
            if node.is_valid() and node.is_inside_tree():
                found[f"{node.get_class()}/{path_of(self, node)}"] = NodePart(node), node
        for node in self.get_tree().get_nodes_in_group(SAVED) if self.is_inside_tree() else ():
            if nearest(node, "AIScheduler", SCHEDULERS) == self:
                found[f"node/{path_of(self, node)}"] = SavedNode(node, self.values), node
        return found

    def result_of(self, answer: object) -> object:
        """Return what a behavior returned as a recording compares it; nothing while none is made."""
        if self.recorder is None or answer is None:
            return None
        try:
            return self.values.plain(answer, "result")
        except StateError:
            return type(answer).__name__

    @method
    def get_stats(self) -> dict:
        """Return frame, game time, time used in the last frame, overruns, and a row per behavior."""
        return {
            "frame": self.clock.now.frame,
            "seconds": self.clock.now.seconds,
            "last_frame_us": self._last_frame_us,
            "budget_us": self.budget_us,
            "overruns": self.core.overruns,
            "behaviors": self.core.statistics(),
        }

    def _caller(self, behavior: GDCallable, name: str) -> Any:
        def call(turn: Turn) -> object:
            if isinstance(behavior, GDCallable) and not behavior.is_live():
                raise ReferenceError(
                    f"the object of behavior '{name}' has been freed; call remove_behavior() before freeing it")
            return self.result_of(behavior(turn.elapsed_s))
        return call

    def _task(self, behavior_id: int) -> Task:
        task = self._tasks.get(behavior_id)
        if task is None:
            raise RefusedValue(
                f"there is no behavior {behavior_id}; use an id that add_behavior() returned and that was not removed")
        return task

    def _report(self, fault: Fault) -> None:
        if not self.is_valid():
            return               # freed by one of its own behaviors
        report_exception(fault.error, f"behavior '{fault.name}'", self)
        self.behavior_failed.emit(fault.name, f"{type(fault.error).__name__}: {fault.error}")
        if fault.is_quarantined:
            self.behavior_quarantined.emit(fault.name)

    def _tell_overrun(self, overrun: Overrun) -> None:
        if self.is_valid():
            self.frame_overran.emit(overrun.name, overrun.over)

    def _apply_update(self) -> None:
        if self.is_inside_tree():
            self.set_process_internal(self.update == self.Update.IDLE)
            self.set_physics_process_internal(self.update == self.Update.PHYSICS)

    def _budget_set(self) -> None:
        is_timed = getattr(self.recorder, "is_timed", None)
        if is_timed is not None and is_timed != (self.budget_us > 0):
            raise RefusedValue("budget_us cannot become limited or unlimited in a recording; stop it first")

    def _policy_set(self) -> None:
        if self._core is not None:
            raise RefusedValue("policy cannot change once behaviors were added; set it before the scene runs")
