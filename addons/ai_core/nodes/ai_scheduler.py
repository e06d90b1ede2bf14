"""AIScheduler: one clock, one budget, one per-frame callback for all AI below it."""
from __future__ import annotations

import time
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    RefusedValue,
    export,
    gdclass,
    method,
    report_exception,
    signal,
)
from addons.ai_core.nodes.scene_saving import NodePart, SchedulerPart, load_parts, save_parts
from addons.ai_core.nodes.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduled import SCHEDULERS, call_waiting, callable_name, check_callable
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import Fault, FaultIsolation
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
        doc="Time that all AI below may take in one frame; 0 is unlimited.")
    quarantine_after = export(
        int, 3, range=(1, 100, 1), group="Debug",
        doc="Failures in a row after which a behavior is left out until release_behavior().")

    frame_overran = signal(
        ("behavior", str), ("over_us", float), doc="A behavior took the frame beyond the budget.")
    behavior_failed = signal(("behavior", str), ("message", str), doc="A behavior raised.")
    behavior_quarantined = signal(("behavior", str), doc="A behavior failed too often in a row and is left out.")

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.trace = Trace()
        self._faults: FaultIsolation | None = None
        self._core: FrequencyScheduler | LoadBalancingScheduler | None = None
        self._tasks: dict[int, Task] = {}
        self._last_frame_us = 0.0
        self._members: dict[int, Any] = {}        # instance id -> node that saves through this one
        self.values = SceneValues(self)

    def on_enter_tree(self) -> None:
        self.add_to_group(SCHEDULERS)
        self._apply_update()

    def on_entered(self) -> None:
        call_waiting(self, SCHEDULERS)

    def on_predelete(self) -> None:
        # Behaviors hold Callables, which hold scripts: let them go now, not whenever Python tidies up.
        for task in list(self._tasks.values()):
            self.unschedule(task)
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
        budget = Budget.unlimited()
        if self.budget_us > 0:
            budget = Budget.of_time(self.budget_us, time.perf_counter_ns)
        begun_ns = time.perf_counter_ns()
        self.core.advance(budget)
        self._last_frame_us = (time.perf_counter_ns() - begun_ns) / 1000

    @method
    def save_state(self) -> dict:
        """Return the state of all AI that runs through this node, as a Dictionary of plain data.

        Call it between two frames of AI. Nodes are found again by their paths from this one,
        behaviors and listeners by the names of node and method. What scripts keep in variables
        of their own is theirs to save; habits may do it in _save_state().
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

    def _parts(self) -> dict[str, Saveable]:
        nodes = {
            f"{node.get_class()}/{path_of(self, node)}": NodePart(node)
            for node in self._members.values() if node.is_valid() and node.is_inside_tree()
        }
        return {"clock": self.clock, "faults": self.faults, "scheduler": SchedulerPart(self), **nodes}

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
        def call(turn: Turn) -> None:
            if isinstance(behavior, GDCallable) and not behavior.is_live():
                raise ReferenceError(
                    f"the object of behavior '{name}' has been freed; call remove_behavior() before freeing it")
            behavior(turn.elapsed_s)
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

    def _policy_set(self) -> None:
        if self._core is not None:
            raise RefusedValue("policy cannot change once behaviors were added; set it before the scene runs")
