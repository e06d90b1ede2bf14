"""AIScheduler node: one clock, one budget and one callback per frame for all AI below it."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from enum import IntEnum
from typing import Any, TypeAlias
from weakref import WeakSet, WeakValueDictionary

from addons.ai_core.bridge.gd import (
    GDCallable,
    KeptCall,
    Node,
    RefusedValue,
    Results,
    Variant,
    delta_time_of,
    editor_method,
    export,
    gdclass,
    method,
    physics_delta_time_of,
    report_error,
    report_exception,
    report_warning,
    signal,
)
from addons.ai_core.nodes.characters.blackboard_scopes import scopes_of
from addons.ai_core.nodes.debugging.debugger_link import DebuggerLink
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.saving.saved_node import GROUP as SAVED
from addons.ai_core.nodes.saving.saved_node import SavedNode
from addons.ai_core.nodes.saving.scene_recording import SceneRecorder, SceneReplay
from addons.ai_core.nodes.saving.scene_saving import (
    LoadFailed,
    NodePart,
    SchedulerPart,
    load_parts,
    save_parts,
    without_missing_nodes,
)
from addons.ai_core.nodes.saving.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduling import scheduler_core
from addons.ai_core.nodes.scheduling.garbage_collection import COLLECTED_EVERY, collect_due
from addons.ai_core.nodes.scheduling.release_calls import release_call
from addons.ai_core.nodes.scheduling.scheduler_core import core_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    SCHEDULERS,
    call_waiting,
    callable_name,
    callable_naming,
    check_callable,
    enter_group,
    exit_group,
    move_orphans,
    named_after,
    nearest,
    report_fault,
    when_settled,
)
from addons.ai_core.nodes.scheduling.scheduler_monitors import SchedulerMonitors
from addons.ai_core.nodes.scheduling.script_work import (
    MOST_STEPS,
    Coroutines,
    ScriptJob,
    ThreadCall,
    TimedBehavior,
    TimedCall,
    takes_time_left,
)
from addons.ai_core.nodes.walking.held_walks import HeldWalks
from ai_core.budget import Budget, time_budget
from ai_core.clock import ManualClock
from ai_core.faults import Fault, FaultIsolation
from ai_core.recording.replay import Difference
from ai_core.saving.fields import StateError
from ai_core.scheduling.phase_quality import phase_quality
from ai_core.scheduling.phasing import DryRun, PhaseSlot, PhaseTable, rephased
from ai_core.scheduling.run_loops import UNIT
from ai_core.scheduling.scheduler import Scheduler, tree_statistics
from ai_core.scheduling.statistics import Overrun, QualityOfService, statistics_table
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, MAX_PRIORITY, Task, Turn, Work, checked_period
from ai_core.scheduling.threaded_work import MAX_DELAY_FRAMES
from ai_core.snapshot import SnapshotPart
from ai_core.trace import Trace

RUN_BY_PERIOD = (
    "AIBehavior", "BehavioralLOD", "HabitTree", "ImportanceManager", "Timeslicer",
)
"""Classes whose nodes run every ``period_frames``."""


AUTOMATIC_PHASE = -1
Naming: TypeAlias = str | Callable[[], str]


def _phase(phase_frames: int) -> int | None:
    """Return a phase as the library takes it: None for an automatic phase."""
    if phase_frames < AUTOMATIC_PHASE:
        raise RefusedValue(f"phase_frames must be at least 0, got {phase_frames}; use -1 for an automatic phase")
    return None if phase_frames == AUTOMATIC_PHASE else phase_frames


MOST_BUDGET_US = 1e9
"""Largest budget of a frame (µs), 1,000 s; ns must fit into 64 bits."""


def _usable_ns(budget_us: float) -> int:
    """Return how much of a budget is left between the first and the last reading of the clock (ns)."""
    budget_ns = round(1000 * budget_us)
    return budget_ns - min(OWN_NS, budget_ns // OWN_SHARE)


TABLE = (
    "path", "period_frames", "runs", "used_us_mean", "used_us_p95", "used_us_max", "lateness_frames_max",
    "staleness_frames", "overruns", "faults",
)
"""Columns of the table of statistics."""
LONGEST_STEP_S = 1e6
"""Longest frame (s), about eleven days: clocks reach 1e12 s at most, and no single frame may use that up."""
SETTLED = "cannot change after behaviors were added; set it before the scene runs"

OWN_NS, OWN_SHARE = 25_000, 16
"""Time between the engine's call and the first reading of the clock, and from the last one to the return (ns), where
the caches are cold; at most 1/16 of a budget. It is taken off first, as no reading shows it."""

DRAWING_NS = 2_000_000
"""Time after which drawing continues in the next frame (ns): 1/8 of a frame at 60 Hz, outside the budget."""


@gdclass(icon="res://addons/ai_core/icons/ai_scheduler.svg", keywords="ai manager, budget, time slicing, throttle")
class AIScheduler(Node):
    """Runs the AI of the game within a time budget per frame.

    Every sense manager, habit tree, event manager and behavior below this node runs through it. Work
    that does not fit into a frame waits for the next frame and receives the actual time since its last
    run. An AIScheduler below another AIScheduler is a task of the outer one and uses its clock; the outer
    one grants its budget, saves and records.

    save_state() saves the AI of the scene and each node in the group "ai_saved": its position, its motion,
    and the value that its script returns from _save_state(). load_state() passes that value to
    _load_state(state) of the script.
    """

    class Update(IntEnum):
        IDLE = 0
        PHYSICS = 1
        MANUAL = 2

    class Rate(IntEnum):
        BUDGET = 0
        CUSTOM = 1
        HZ_30 = 30
        HZ_60 = 60
        HZ_90 = 90

    Policy = scheduler_core.Policy

    policy = export(
        Policy, Policy.LOAD_BALANCING, on_set="_core_setting_set",
        doc="Which behaviors run in a frame. Load balancing keeps to the budget and carries work over. Frequency runs"
            " all due behaviors. Priority runs all due behaviors with a share of the budget. Requested time grants the"
            " time of request_time() in full, or lets the behavior wait.")
    update = export(
        Update, Update.PHYSICS, on_set="_apply_update",
        doc="When a frame of AI runs. Physics is the safest, as rays need the physics space. Manual: when step() is"
        " called.")
    target_rate = export(
        Rate, Rate.BUDGET, words=("Budget", "Custom", "30 Hz", "60 Hz", "90 Hz"), group="Budget", on_set="_budget_set",
        doc="Target frame rate; the budget is a share of such a frame. Budget: budget is used as it is set.")
    custom_rate = export(
        float, 60.0, range=(1, 1000, 1), unit="Hz", on_set="_budget_set",
        shown_when=("target_rate", Rate.CUSTOM), doc="The custom target frame rate.")
    ai_share = export(
        float, 0.15, range=(0.001, 1, 0.001), on_set="_budget_set",
        shown_when=("target_rate", Rate.CUSTOM, Rate.HZ_30, Rate.HZ_60, Rate.HZ_90),
        doc="Share of a frame at the target rate that AI may take. 0.15 is 2500 µs at 60 Hz.")
    budget = export(
        float, 2000.0, range=(0, 100000, 10), or_greater=True, most=MOST_BUDGET_US, unit="µs", on_set="_budget_set",
        shown_when=("target_rate", Rate.BUDGET),
        doc="Time that all AI below should take in one frame; 0 means unlimited. No behavior begins once the budget is"
            " spent, but a running behavior finishes. With a target rate this value is computed.")
    budget_margin = export(
        bool, True, on_set="_core_setting_set",
        shown_when=("policy", scheduler_core.Policy.LOAD_BALANCING, scheduler_core.Policy.REQUESTED_TIME),
        doc="If true, the scheduler stops before the budget ends, with a margin learned from recent overruns. If false,"
            " it stops when the budget is spent, and the behavior that is running then overruns it.")
    overrun_bias = export(
        bool, False, on_set="_core_setting_set",
        shown_when=("policy", *scheduler_core.SHARING),
        doc="If true, behaviors that use more than their share get smaller shares, and those that use less get larger"
            " shares. Has no effect with the policy frequency.")
    automatic_phasing = export(
        bool, True, group="Phasing",
        doc="If true, behaviors with an automatic phase run in the frames with the fewest other runs; if false, their"
            " phase is 0.")
    look_ahead = export(
        int, 0, range=(0, 5040, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", on_set="_core_setting_set",
        shown_when=("automatic_phasing", True),
        doc="Frames of the dry run that chooses automatic phases. 0 compares all future frames instead, with the best"
            " result.")
    nested_period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Below Another Scheduler",
        on_set="_nesting_changed",
        shown_when=("update", Update.IDLE, Update.PHYSICS),
        doc="Frames of the outer scheduler from one frame of this scheduler to the next.")
    nested_priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_nesting_changed",
        shown_when=("update", Update.IDLE, Update.PHYSICS),
        doc="Weight of this scheduler when the outer one shares out its budget.")
    quarantine_after = export(
        int, 3, range=(1, 100, 1), group="Debug", on_set="_tries_set",
        doc="Failures in a row after which a behavior is quarantined: it does not run until release_behavior(). Python"
            " exceptions and failed calls count; errors inside GDScript functions do not, as the engine hides them.")
    monitor_behaviors = export(
        bool, False, on_set="show_monitors",
        doc="If true, the debugger's Monitors tab shows the mean time of each behavior in addition to the totals.")

    frame_overran = signal(
        ("behavior", str), ("over_us", float),
        doc="Emitted at the start of a frame of AI if a behavior exceeded the budget of the last one, by over_us µs.")
    behavior_failed = signal(
        ("behavior", str), ("message", str),
        doc="Emitted when a behavior raises in Python or cannot be called. Errors inside GDScript functions are not"
        " detected.")
    job_finished = signal(("job_id", int), doc="Emitted when a job of add_job() is done; its id is no longer used.")
    behavior_quarantined = signal(
        ("behavior", str), doc="Emitted when a behavior is quarantined; see quarantine_after.")
    replay_ended = signal(
        ("frame", int), ("part", str), ("difference", str),
        doc="Emitted at the end of a replay, with the first difference, or why it stopped; -1 and empty strings if"
            " there is none.")

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.trace = Trace()
        self.values = SceneValues(self)
        self._has_told_outside = False
        self.results = Results()
        self._faults: FaultIsolation | None = None
        self._core: Scheduler | None = None
        self._tasks: dict[int, Task] = {}
        self._services: dict[Task, float] = {}    # tasks that serve all others, and their own priority
        self._namings: dict[Task, Callable[[], str]] = {}     # functions that return the present names of tasks
        self._deciding: dict[Task, int] = {}      # all other tasks, and their weights (units)
        self._units = 0                           # sum of these weights
        self._last_frame_us = 0.0
        self._overran: list[tuple[Any, Overrun]] = []      # of the last frame, by this scheduler and those in it
        self._is_settled = True
        self.walks = HeldWalks()
        self._walking_ns = 0        # of the last frame
        self._uncollected = 0       # frames since garbage was looked at
        self._drawings: dict[int, tuple[Any, Callable[[], object]]] = {}     # by instance id, for this frame
        self._frame_budget_ns = _usable_ns(self.budget)     # read in each frame
        self._service = QualityOfService(target_hz=60, ai_share=0.15)
        self._monitors = SchedulerMonitors(self)
        self._debugging = DebuggerLink(self)
        self._recorder: Any = None
        self._left_out: dict[str, str] = {}       # by part, the reason why the last load left it out
        self.leaving_out: dict[str, str] | None = None      # left out by the load under way, by path; None: refused
        self.update_groups: dict[str, Any] = {}          # by kind, the update group of all its nodes
        self.shared: dict[Any, Any] = {}          # by its class, what the nodes of a kind share under this scheduler
        # Instance id -> node that saves through this one; a freed node, which holds resources and scripts, is let go.
        self._members: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self.runs: WeakSet[Any] = WeakSet()       # nodes that run under this scheduler
        self._outer: Any = None
        self._nesting: Task | None = None         # task of the outer scheduler that runs this one
        self._paused_since_s: float | None = None     # while only this one is paused or outside: time skipped so far
        self._timekeeper: Any = None              # the scheduler whose clock this one uses, once it has run in another
        self._inner: dict[int, Any] = {}          # instance id -> AIScheduler that runs in this one
        self.present_budget: Budget | None = None        # of the work that runs, in the outermost scheduler
        self._coroutines = Coroutines(self)
        self._thread_calls: set[ThreadCall] = set()

    def on_enter_tree(self) -> None:
        enter_group(self, SCHEDULERS)
        self.note_pause()
        if self.update != self.Update.MANUAL:
            self.enter_outer()
        self._apply_update()
        self._is_settled = False
        when_settled(self, self._begin_to_run)
        self.show_monitors()
        self.open_debugger_link()

    def on_entered(self) -> None:
        call_waiting(self, SCHEDULERS)

    def on_exit_tree(self) -> None:
        exit_group(self, SCHEDULERS)
        self._debugging.close()
        self._monitors.close()
        self.leave_outer()

    def on_predelete(self) -> None:
        move_orphans(self)
        # Behaviors hold Callables, which hold scripts: release them now, not at the next garbage collection.
        self._services.clear()
        self._namings.clear()
        self._coroutines.clear()
        for call in list(self._thread_calls):
            self.end_thread_call(call)
        for task in list(self._tasks.values()):
            self.unschedule(task)
        if self._core is not None:
            self._core.remove_all()
        self.stop_recording()
        self._core = self._faults = None

    def on_process(self) -> None:
        if self._is_settled:
            self.step(delta_time_of(self))

    def on_physics_process(self) -> None:
        if self._is_settled:
            self.step(physics_delta_time_of(self))

    def _begin_to_run(self) -> None:
        """Start frames of AI: rays now meet the walls of the scene."""
        self._is_settled = True

    @property
    def faults(self) -> FaultIsolation:
        """Fault isolation for work that raises; shared by all nodes below."""
        if self._faults is None:
            self._faults = FaultIsolation(quarantine_after=self.quarantine_after, report=self._report)
        return self._faults

    @property
    def core(self) -> Scheduler:
        """The library's scheduler, created when it is first needed."""
        if self._core is None:
            self._core = core_of(self, self._note_overrun)
        return self._core

    @method
    def step(self, delta_s: float = 1 / 60) -> None:
        """Run one frame of AI of ``delta_s`` seconds, 0 to 1,000,000; call this if ``update`` is manual."""
        stopwatch, budget_ns = time.perf_counter_ns, self._frame_budget_ns
        begun_ns, kept_ns = stopwatch(), self._walking_ns and min(self._walking_ns, budget_ns // 2)
        budget = time_budget(begun_ns, budget_ns - kept_ns, stopwatch) if budget_ns > 0 else Budget.unlimited()
        if not 0.0 <= delta_s <= LONGEST_STEP_S:
            raise RefusedValue(f"delta_s must be from 0 to {LONGEST_STEP_S:g}, got {delta_s:g}; call step() more often")
        if self._outer is not None:
            self.require_top("step()")
        if self.present_budget is not None:
            raise RefusedValue("step() runs this work at present, and cannot be called by it; call it between frames")
        self._uncollected += 1
        if self._uncollected == COLLECTED_EVERY:
            self._uncollected = 0
            collect_due()
        if self._overran:
            self._emit_overruns()
        if self._timekeeper is None:
            self.clock.advance(seconds=delta_s)
        else:
            self.advance_clock(delta_s)
        recorder = self._recorder
        self.present_budget = granted = budget if recorder is None else recorder.begin_frame(budget)
        if recorder is not None and not self.is_valid():        # a script freed it while it read inputs
            recorder.end_frame()
            return
        try:
            (self._core or self.core).advance(granted)
        finally:
            self.present_budget = None
        ended_ns, deadline_ns = stopwatch(), budget.deadline_ns
        if self._walking_ns or self.walks.habits or self.walks.to_decide:
            if recorder is None:
                self.walks.go_on(delta_s)
            self._walking_ns, ended_ns = stopwatch() - ended_ns, stopwatch()
        self._last_frame_us = used_us = (ended_ns - begun_ns) / 1000
        if deadline_ns is not None:
            self._service.note(used_us, max(0, ended_ns - deadline_ns - kept_ns) / 1000)
        if recorder is not None:
            recorder.end_frame()
        if self._drawings:
            self._draw()

    def draw_later(self, node: Any, draw: Callable[[], object]) -> None:
        """Draw the in-game picture of a node after this frame of AI, outside the budget.

        Args:
            node: has ``show_in_game``; one drawing per node and frame.
            draw: called if the node is still in the tree and ``show_in_game`` is on.
        """
        if self._outer is not None:
            self._outer.draw_later(node, draw)
        else:
            self._drawings[node.instance_id] = node, draw

    def _draw(self) -> None:
        """Draw for at most ``DRAWING_NS``; the remaining drawings come first in the next frame."""
        until_ns = time.perf_counter_ns() + DRAWING_NS
        while self._drawings:
            node, draw = self._drawings.pop(next(iter(self._drawings)))
            try:
                if node.is_valid() and node.is_inside_tree() and node.show_in_game:
                    draw()
            except Exception as error:  # an error in a picture must not stop the AI
                report_exception(error, "drawing in the game", node)
            if time.perf_counter_ns() > until_ns:
                return

    @method
    def get_stats(self) -> dict:
        """Return frame, game time, time used, overruns with the behaviors that caused them, and a row per behavior.

        "walking_us" is the part of "last_frame_us" in which bodies walked on whose trees had no turn. Keys that begin
        with "recent_" cover the last 600 frames, and so does "offenders": the behaviors that exceeded the budget of a
        frame, the worst first, or "(none)" for frames in which the time of the AIScheduler itself exceeded it.
        """
        report = self._service.report()
        listed = ("frames_kept", "frames_over", "offenders")
        return {
            "frame": self.clock.now.frame,
            "seconds": self.clock.now.seconds,
            "policy": scheduler_core.Policy(self.policy).name,
            "last_frame_us": self._last_frame_us,
            "walking_us": self._walking_ns / 1000,
            "budget_us": self.budget,
            "overruns": self.core.overruns,
            **{name: value for name, value in report.items() if name in listed or name.startswith("recent_")},
            "behaviors": self.core.statistics(),
        }

    @method
    def get_stats_table(self, max_rows: int = 40) -> str:
        """Return a table of the time that behaviors used, the largest first, including those of nested schedulers."""
        rows = tree_statistics(self.core)
        return statistics_table(rows, columns=TABLE, sort_by="used_us_mean", max_rows=max_rows)

    def monitored_total(self, name: str) -> float:
        """Return a total for the engine's Monitors tab."""
        if name == "budget_used_percent":
            return 100 * self._last_frame_us / self.budget if self.budget > 0 else 0.0
        if name == "time_us":
            return self._last_frame_us
        return float(self.core.overruns if name == "overruns" else len(self.core.tasks))

    def show_monitors(self) -> None:
        """Update the entries in the engine's Monitors tab to the present settings."""
        if self.is_inside_tree() and self._outer is None:
            self._monitors.open()
            self._monitors.show(self._tasks.values() if self.monitor_behaviors else ())

    def open_debugger_link(self) -> None:
        """Connect to the debugger tab of the editor, unless another scheduler is connected."""
        self._debugging.open()

    def handle_debugger_message(self, message: str, data: list[Any]) -> bool:
        """Handle a message of the debugger tab; called by the engine."""
        return self._debugging.asked(message, data)

    def send_debug_report(self) -> None:
        """Send a report to the debugger tab; called by a timer while the tab is in use."""
        self._debugging.send()

    def _report(self, fault: Fault) -> None:
        if not self.is_valid():
            return               # freed by one of its own behaviors
        report_fault(fault, f"behavior '{fault.name}'", self, release_call(fault))
        self.behavior_failed.emit(fault.name, f"{type(fault.error).__name__}: {fault.error}")
        if fault.is_quarantined:
            self.behavior_quarantined.emit(fault.name)

    def _note_overrun(self, overrun: Overrun) -> None:
        """Keep an overrun for the next frame: a listener would make this one, which is late already, longer."""
        self._service.on_overrun(overrun)
        self.top._overran.append((self, overrun))

    def _emit_overruns(self) -> None:
        """Emit ``frame_overran`` for the last frame."""
        overran, self._overran = self._overran, []
        for scheduler, overrun in overran:
            if scheduler.is_valid():
                scheduler.frame_overran.emit(overrun.name, overrun.over)

    def _apply_update(self) -> None:
        if self.is_inside_tree():
            is_top = self._outer is None
            if not is_top and self.update == self.Update.MANUAL:
                raise RefusedValue(
                    "update cannot become manual below another AIScheduler; set it before the scene runs")
            self.set_process_internal(is_top and self.update == self.Update.IDLE)
            self.set_physics_process_internal(is_top and self.update == self.Update.PHYSICS)

    def _budget_set(self) -> None:
        budget_us = self.budget
        if self.target_rate != self.Rate.BUDGET:
            hz = self.custom_rate if self.target_rate == self.Rate.CUSTOM else float(self.target_rate)
            self._service.target_hz, self._service.ai_share = hz, self.ai_share
            budget_us = self._service.budget_us
        is_timed = getattr(self._recorder, "is_timed", None)
        if is_timed is not None and is_timed != (budget_us > 0):
            raise RefusedValue(
                "budget cannot change between limited and unlimited in a recording; call stop_recording() first")
        self.__dict__[type(self).budget.slot] = budget_us
        self._frame_budget_ns = _usable_ns(budget_us)

    def _tries_set(self) -> None:
        if self._faults is not None:
            raise RefusedValue(SETTLED)

    def _core_setting_set(self) -> None:
        if self._core is not None:
            raise RefusedValue(SETTLED)

    def schedule(
        self, work: Work, *, name: Naming, period_frames: int = 1,
        phase_frames: int | None = None, priority: float = 1.0, is_saved: bool = True,
    ) -> Task:
        """Add ``work``, which is called with a Turn; for nodes and behaviors written in Python.

        ``name`` is a string, or a function that returns the present name: see ``refresh_names``. Work with
        ``is_saved`` False is not in saves.
        """
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        task: Task = self.core.add(
            work, period_frames=period_frames, phase_frames=phase_frames, priority=priority,
            name=name if isinstance(name, str) else name(), is_saved=is_saved)
        self._tasks[task.id] = task
        if not isinstance(name, str):
            self._namings[task] = name
        self.set_weight(task, priority)
        if self.monitor_behaviors and self._monitors.is_open:
            self._monitors.add(task)
        return task

    def schedule_service(
        self, node: Any, work: Work, suffix: str = "", *, name: str = "", priority: float = 1.0
    ) -> Task:
        """Add work of a node that serves all deciding nodes, such as sensing, and save the node with this scheduler.

        The work runs in each frame. Its weight is that of all deciding nodes together: as one task among hundreds of
        characters it would get almost none of the budget. ``leave_scheduler`` ends it.

        Args:
            suffix: suffix of the task's name, which is that of the node: "senses".
            name: name of the task, if it is not of this node alone.
        """
        naming = name or named_after(self, node, f" {suffix}")
        task = self.schedule(work, name=naming, phase_frames=0, priority=priority)
        self._services[task] = priority
        self.set_weight(task, 0.0)
        self.join(node)
        return task

    def refresh_names(self) -> None:
        """Update the names of all tasks after their nodes, which may have been renamed; saves refer to these names.

        Does nothing during a recording or replay, which identify tasks by name. Cost: O(tasks), 1 µs per task.
        """
        if self.recorder is not None:
            return
        for task, naming in self._namings.items():
            name = naming()
            if name != task.name:
                self.core.change(task, name=name)
        for inner in self._inner.values():
            inner.refresh_names()

    def change_priority(self, task: Task, priority: float) -> None:
        """Set the priority of a task and update the weights of services; for a service, set its own priority."""
        self.core.change(task, priority=priority)
        if task in self._services:
            self._services[task] = priority
            self.update_service_weights()
        else:
            self.set_weight(task, priority)

    def recompute_weights(self) -> None:
        """Recompute all weights after loading a save, which may contain other characters or older weights."""
        for task in self._tasks.values():
            if task not in self._services:
                self.set_weight(task, task.priority)
        self.update_service_weights()

    def update_service_weights(self) -> None:
        """Set the weight of each service to that of all deciding tasks together. Cost: O(services)."""
        for task, priority in self._services.items():
            weight = min(priority * max(1.0, self._units / UNIT), MAX_PRIORITY)
            if weight != task.priority:
                self.core.change(task, priority=weight)

    def set_weight(self, task: Task, priority: float) -> None:
        """Set the weight of a task among the deciding tasks; 0 removes it from them."""
        before, units = self._deciding.pop(task, 0), round(priority * UNIT)    # whole units: sums of floats would drift
        if units:
            self._deciding[task] = units
        if units != before:
            self._units += units - before
            self.update_service_weights()

    def reschedule(self, task: Task, *, period_frames: int, phase_frames: int | None, priority: float) -> None:
        """Change the settings of a task, which keeps its statistics; a phase of None is chosen automatically."""
        if task.is_removed:
            return                      # this scheduler is being freed, and the node will find another
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        self.core.change(task, period_frames=period_frames, phase_frames=phase_frames, priority=priority)
        self.change_priority(task, priority)
        if phase_frames is None and not task.is_automatic_phase:
            self.core.choose_phase(task)

    def unschedule(self, task: Task) -> None:
        """Remove a task that ``schedule`` returned; a second call has no effect."""
        if self._core is not None and not task.is_removed:   # None: it is being freed
            self._core.remove(task)
        self._tasks.pop(task.id, None)
        self._services.pop(task, None)
        self._namings.pop(task, None)
        self.set_weight(task, 0.0)
        self._monitors.leave_out(task.id)

    def set_enabled(self, task: Task, is_enabled: bool) -> None:
        """Pause the task of a node, or resume it and release it from quarantine."""
        if task.is_removed:
            return
        if not is_enabled:
            self.core.pause(task)
        else:
            self.core.resume(task)
            self.core.release(task)

    @method
    def add_behavior(
        self, behavior: GDCallable, period_frames: int = 1, phase_frames: int = AUTOMATIC_PHASE,
        priority: float = 1.0, behavior_name: str = "",
    ) -> int:
        """Call ``behavior(elapsed_s)`` every ``period_frames`` frames; return the behavior's id, or 0 with an error.

        A behavior with two parameters is called with the time that it may use, too: ``behavior(elapsed_s,
        time_left_us)``, INF without a limit.

        It is due when (frame + phase) is a multiple of the period; a phase of -1 is chosen automatically, so that it
        runs in the frames with the fewest other runs. ``priority`` is its weight when the budget is shared out.
        """
        check_callable(behavior, "add_behavior")
        phase = _phase(phase_frames)
        task = self.schedule(
            self._caller(behavior, behavior_name or callable_name(self, behavior)),
            name=behavior_name or callable_naming(self, behavior), period_frames=period_frames, phase_frames=phase,
            priority=priority)
        return task.id

    @method
    def get_time_left_usec(self) -> float:
        """Return the time that the running work may still use (µs): INF without a limit, 0 outside a frame of AI.

        Jobs, coroutines and behaviors with two parameters have a share of their own; other behaviors share the
        time that is left of the frame.
        """
        budget = self.top.present_budget
        return 0.0 if budget is None else budget.left

    @method
    def is_time_up(self) -> bool:
        """Return whether the running work has used its time, as in get_time_left_usec(); true outside a frame of AI."""
        budget = self.top.present_budget
        return budget is None or budget.is_spent

    @method
    def pause(self) -> Variant:
        """Pause a coroutine until it has time: ``await scheduler.pause()``.

        The coroutine continues at once while its time is not up, otherwise in a later frame of AI, and always in a
        later frame if it is not run by this scheduler yet. Paused coroutines continue in the order in which they
        paused; without a limit of time each passes at most 10,000 pauses in a frame. A save does not contain them.
        """
        budget = self.top.present_budget
        if budget is None or budget.is_spent or (budget.is_unlimited and budget.steps >= MOST_STEPS):
            return self._coroutines.add()
        budget.spend()
        return None

    @method
    def add_job(self, job: GDCallable, priority: float = 1.0, job_name: str = "") -> int:
        """Call ``job(time_left_us)`` in each frame until it returns true, emit job_finished and remove it.

        Returns its id, which is that of a behavior, or 0 with an error. The job must return false while it is not
        done; any other value is a failure, as an error inside a GDScript function returns null. A job without a
        parameter is called without the time. A save does not contain jobs; load_state() keeps them, under new ids.
        """
        check_callable(job, "add_job")
        work = ScriptJob(job, job_name or callable_name(self, job), self._finish_job)
        task = self.schedule(
            TimedCall(self, work), name=job_name or callable_naming(self, job), phase_frames=0, priority=priority,
            is_saved=False)
        work.belong_to(task)
        return task.id

    def _finish_job(self, task: Task | None) -> None:
        if task is not None and not task.is_removed:
            self.unschedule(task)
            self.job_finished.emit(task.id)

    @method
    def run_in_thread(self, function: GDCallable, then: Variant = None, frames: int = 0) -> None:
        """Call ``function()`` on a thread of the engine, and ``then(result)`` in a later frame of AI.

        With ``frames`` above 0, ``then`` is called exactly so many frames later, after waiting for the thread if
        necessary, so that every run of the game has the same result; with 0 in the first frame in which the result
        is there. The function must not touch nodes, and its object must live until it has ended; the result for an
        object that was freed is dropped. A save does not contain such calls.
        """
        check_callable(function, "run_in_thread")
        if then is not None:
            check_callable(then, "run_in_thread, for then,")
            if not callable(then):
                raise RefusedValue(f"run_in_thread needs a Callable for then, or null, got {then!r}")
        if not 0 <= frames <= MAX_DELAY_FRAMES:
            raise RefusedValue(f"frames must be from 0 to {MAX_DELAY_FRAMES}, got {frames}")
        self._thread_calls.add(ThreadCall(self, function, then, frames, callable_name(self, function)))

    def end_thread_call(self, call: ThreadCall) -> None:
        """Remove a call of ``run_in_thread``."""
        self._thread_calls.discard(call)
        call.close()

    @method
    def remove_behavior(self, behavior_id: int) -> None:
        """Remove a behavior; it is not called any more."""
        self.unschedule(self._task(behavior_id))

    @method
    def pause_behavior(self, behavior_id: int) -> None:
        """Pause a behavior until resume_behavior(); its next elapsed time includes the time until then."""
        self.core.pause(self._task(behavior_id))

    @method
    def resume_behavior(self, behavior_id: int) -> None:
        """Resume a paused behavior."""
        self.core.resume(self._task(behavior_id))

    @method
    def release_behavior(self, behavior_id: int) -> None:
        """Release a quarantined behavior, or the work of a node, so that it runs again; get_stats() has the ids."""
        self.core.release(self._task(behavior_id))

    @method
    def set_behavior_period(self, behavior_id: int, period_frames: int) -> None:
        """Set the period of a behavior (frames); an automatic phase is chosen again."""
        self.core.change(self._task(behavior_id), period_frames=period_frames)

    @method
    def set_behavior_phase(self, behavior_id: int, phase_frames: int = AUTOMATIC_PHASE) -> None:
        """Set the phase of a behavior: it is due when (frame + phase) is a multiple of its period; -1 is automatic."""
        task, phase = self._task(behavior_id), _phase(phase_frames)
        priority = self._services.get(task, task.priority)
        self.reschedule(task, period_frames=task.period_frames, phase_frames=phase, priority=priority)

    @method
    def set_behavior_priority(self, behavior_id: int, priority: float) -> None:
        """Set the weight of a behavior when the budget is shared out."""
        self.change_priority(self._task(behavior_id), priority)

    @method
    def request_time(self, behavior_id: int, us: float) -> None:
        """Request µs for each run of a behavior, with the policy requested time; -1 grants a share by priority."""
        if self.policy != self.Policy.REQUESTED_TIME:
            raise RefusedValue("request_time() needs the policy requested time; set it before the scene runs")
        self.core.request(self._task(behavior_id), None if us == -1 else us)

    @method
    def get_longest_wait(self, behavior_id: int) -> int:
        """Return the most frames that a due behavior can wait before it runs, as long as no behavior is added."""
        task = self._task(behavior_id)
        return self.core.longest_wait_frames(task)

    @method
    def rephase(self, by_cost: bool = False) -> int:
        """Choose all automatic phases again, together, and return the number of behaviors whose phase changed.

        The result is more even than phases chosen one by one as behaviors were added. With ``by_cost`` the
        measured time counts, not only the number of runs; phases, and so replays, then differ from run to run.
        Takes up to 0.2 s with thousands of behaviors: call it after a level was loaded.
        """
        return self.core.rephase(by_cost=by_cost)

    @method
    def get_phase_quality(self) -> dict:
        """Return how evenly runs and their cost are spread over the coming frames, also as "text".

        "runs" and "cost_us" have minimum, maximum, mean and spread; "frames_with" is the number of frames with 0 runs,
        1, and so on; "worst_names" lists the behaviors that run in "worst_frame", and "advice" says how to improve the
        spread. "is_exact" is false if the spread repeats after more than 100,000 frames; then it is that of a sample.
        """
        quality = self.core.phase_quality()
        return {**asdict(quality), "text": str(quality)}

    def monitored_behavior(self, behavior_id: int) -> float:
        """Return the mean time of a behavior's runs (µs), for the engine's Monitors tab."""
        task = self._tasks.get(behavior_id)
        return 0.0 if task is None else task.used_us / max(1, task.runs)

    def _caller(self, behavior: GDCallable, name: str) -> Any:
        if isinstance(behavior, GDCallable):
            freed = f"the object of behavior '{name}' was freed; call remove_behavior() before freeing it"
            if takes_time_left(behavior, name):
                return TimedCall(self, TimedBehavior(behavior, behavior.is_live, self.results, freed))
            return KeptCall(behavior, "", "elapsed_s", self.results, freed)
        function: Any = behavior

        def call(turn: Turn) -> object:
            answer = function(turn.elapsed_s)
            return None if self.results.take is None else self.results.take(answer)

        return call

    def _task(self, behavior_id: int) -> Task:
        task = self._tasks.get(behavior_id)
        if task is None:
            raise RefusedValue(
                f"unknown behavior id {behavior_id}; use an id from add_behavior() whose behavior was not removed")
        return task

    @property
    def recorder(self) -> Any:
        """The present recorder, with begin_frame(budget) -> budget and end_frame(); None if there is none."""
        return self._recorder

    @recorder.setter
    def recorder(self, recorder: Any) -> None:
        self._recorder = recorder
        self.results.take = None if recorder is None else self.result_of

    def join(self, node: Any) -> None:
        """Save a node with this scheduler, until ``leave``."""
        self.top._members[node.instance_id] = node

    def leave(self, node: Any) -> None:
        """Stop saving a node; this scheduler may have left the one above before the node."""
        for one in (self.top, self._timekeeper):
            if one is not None:
                one._members.pop(node.instance_id, None)

    @property
    def joined_nodes(self) -> list[Any]:
        """Nodes that are saved with this scheduler, in the order in which they joined."""
        return list(self.top._members.values())

    def restore_behavior_ids(self) -> None:
        """Restore the ids of behaviors from a loaded save."""
        self._tasks = {task.id: task for task in self._tasks.values()}
        self.recompute_weights()
        self.show_monitors()
        for inner in self._inner.values():
            inner.restore_behavior_ids()
            inner.update_nested_pause()

    def settle_update_groups(self) -> None:
        """Restore which deciding nodes sleep, after all nodes are loaded."""
        for crowd in self.update_groups.values():
            crowd.settle()
        for inner in self._inner.values():
            inner.settle_update_groups()

    @method
    def save_state(self) -> dict:
        """Return the state of all AI that runs through this node, as a Dictionary of plain data.

        Call it between two frames of AI. Nodes are identified by their paths from this node, behaviors
        and listeners by the names of node and method. Scripts of habits, states and nodes in the group "ai_saved"
        return their own variables from _save_state(); position and motion of the latter are saved, too.
        If anything cannot be saved, an error names it and the result is empty: check that before you open the file.
        References to nodes outside the tree, such as characters in a pool, are saved as null, with one warning.
        """
        self.require_top("save_state()")
        self.refresh_names()
        outside = self.values.outside
        outside.clear()
        state = save_parts(self._parts())
        if outside and not self._has_told_outside:
            self._has_told_outside = True
            report_warning(
                f"save_state() saves references to nodes outside the tree as null: {', '.join([*outside][:3])}; add"
                " nodes to the tree before saving if they are to be found again", self)
        return state

    @method
    def load_state(self, state: dict, skip_broken: bool = False, roll_back: bool = False) -> bool:
        """Restore the state that save_state() returned, after the scene was loaded again.

        The whole state is checked first: if a part does not fit, an error names it, nothing is
        changed, and false is returned. Nodes and behaviors that the state does not contain stay as they
        are. Loading enters and exits no habit and dispatches no event. Afterwards behaviors have the
        ids of the saved game.

        With ``skip_broken`` the part of a node that cannot be read is left out, and so is all that was
        saved of a node that does not exist, such as what others knew of it. All else is loaded; a warning and
        get_left_out() report what was left out, a missing node once by its path, and why.

        A script can fail in _load_state(), after the check. The error then names the node and says
        that all other parts were loaded. With ``roll_back`` the present state is saved first and
        restored in that case, which takes the time of a save.
        """
        self.require_top("load_state()")
        self.refresh_names()
        behaviors: dict[str, str] = {}
        parts, saved = self._parts(behaviors if skip_broken else None), state.get("parts")
        new = [name for name in parts if "/" in name and isinstance(saved, dict) and name not in saved]
        added: list[Any] = [parts.pop(name) for name in new]
        self.leaving_out = {} if skip_broken else None
        try:
            state = without_missing_nodes(self, state, parts)
            left_out = load_parts(state, parts, skip_broken=skip_broken, roll_back=roll_back) | behaviors
            added += [parts[name] for name in left_out if hasattr(parts.get(name), "reset_unsaved")]
            missing = self.leaving_out or {}
            of_missing = tuple(f"behavior {path}{end}" for path in missing for end in ("/", ".", " "))
            self._left_out = missing | {
                name: why for name, why in left_out.items() if not f"{name} ".startswith(of_missing)}
        except LoadFailed:
            self._settle()
            raise
        finally:
            self.leaving_out = None
            for node in self.joined_nodes:
                if node.is_class("SenseManager"):
                    node.drop_absent()
        for part in added:
            part.reset_unsaved()
        self._settle()
        if isinstance(self.recorder, SceneRecorder):
            self.stop_recording()
            report_warning("load_state() ends the recording, which holds one run without a gap; record again", self)
        if self._left_out:
            first = "; ".join(f"{name}: {why}" for name, why in [*self._left_out.items()][:3])
            report_warning(f"load_state() left out {len(self._left_out)} parts, see get_left_out(): {first}", self)
        return True

    @method
    def get_left_out(self) -> dict:
        """Return the missing nodes, by path, and the broken parts, by name, that the last load_state() left out.

        The value is the reason.
        """
        return self._left_out

    @method
    def start_recording(self, path: str, read_inputs: Variant = None, digest_every_frames: int = 60) -> bool:
        """Write every frame of AI to a file such as "user://run.jsonl", until stop_recording().

        The path may be any that the game can write: below user://, absolute, or below res:// while
        the project runs from its folder. An existing file is overwritten. The path is never read
        from a save; a game that takes it from a player must check it.

        A Callable ``read_inputs`` is called at the start of each frame and returns the inputs from
        outside, such as pressed keys. A replay compares the behaviors that ran and the events in every
        frame, and the state of each node every ``digest_every_frames`` frames: 1 finds each difference in
        its frame, and costs more than all the rest.
        """
        self.require_top("start_recording()")
        self.stop_recording()
        self.refresh_names()
        self.recorder = SceneRecorder(self, path, read_inputs, digest_every_frames)
        return True

    @method
    def stop_recording(self) -> None:
        """End the recording or replay, if there is one."""
        recorder, self.recorder = self.recorder, None
        close = getattr(recorder, "close", None)
        if close is not None:
            close()

    @method
    def start_replay(self, path: str, give_inputs: Variant = None) -> bool:
        """Replay a file of start_recording(), in the same scene and the same state as when the recording began.

        Each frame of AI gets the budget that it got in the recording, whatever the time. A Callable
        ``give_inputs`` is called at the start of each frame with the recorded inputs. The replay ends
        at the first frame that differs: see replay_ended.
        """
        self.require_top("start_replay()")
        self.stop_recording()
        self.refresh_names()
        self.recorder = SceneReplay(self, path, give_inputs)
        return True

    def emit_replay_ended(self, difference: Difference | None) -> None:
        """End the replay and emit ``replay_ended``."""
        self.recorder = None
        self.replay_ended.emit(*(difference[:3] if difference is not None else (-1, "", "")))

    def parts_of_nodes(self) -> dict[str, tuple[Any, Any]]:
        """Return the saved part of each node, and the node, by "Class/path" or "node/path"; "scopes" come first."""
        found: dict[str, tuple[Any, Any]] = {"scopes": (scopes_of(self), self)}
        for node in self._members.values():
            if node.is_valid() and node.is_inside_tree():
                name = node.saved_as if hasattr(node, "saved_as") else f"{node.get_class()}/{path_of(self, node)}"
                found[name] = NodePart(node), node
        signatures: dict[object, Any] = {}
        for node in self.get_tree().get_nodes_in_group(SAVED) if self.is_inside_tree() else ():
            if nearest(node, "AIScheduler", SCHEDULERS).top is self:
                found[f"node/{path_of(self, node)}"] = SavedNode(node, self.values, signatures), node
        return found

    def result_of(self, answer: object) -> object:
        """Return the result of a behavior in the form that recordings compare."""
        if answer is None:
            return None
        try:
            return self.values.plain(answer, "result")
        except StateError:
            return type(answer).__name__

    def _settle(self) -> None:
        """Restore which nodes sleep and pause, after all nodes are loaded."""
        self.settle_update_groups()
        for node in self.joined_nodes:
            if node.is_class("ImportanceManager") or node.is_class("Squad"):
                node.settle()

    def _parts(self, left_out: dict[str, str] | None = None) -> dict[str, SnapshotPart]:
        nodes = {name: part for name, (part, _) in self.parts_of_nodes().items()}
        return {"clock": self.clock, "faults": self.faults, "scheduler": SchedulerPart(self, left_out), **nodes}

    @property
    def top(self) -> Any:
        """The outermost AIScheduler, in whose frames this scheduler runs; without another, this scheduler."""
        return self if self._outer is None else self._outer.top

    def require_top(self, subject: str) -> None:
        """Raise RefusedValue if this scheduler runs in another."""
        if self._outer is not None:
            raise RefusedValue(
                f"{subject} belongs to the AIScheduler above, in whose frames it runs; call it on"
                f" '{self.top.get_name()}'")

    def enter_outer(self) -> None:
        """Become a task of the nearest AIScheduler above, if there is one."""
        outer = self.get_parent()
        while outer is not None and not outer.is_class("AIScheduler"):
            outer = outer.get_parent()
        if outer is None:
            return
        if self._core is not None and self._core.clock is not outer.clock:
            report_error(
                "runs on its own, because behaviors were added before it was moved below another AIScheduler;"
                " add it to the tree before its behaviors", self)
            return
        self._outer, self._timekeeper = outer, outer.top
        self.clock, self.trace, self.results, self._faults = outer.clock, outer.trace, outer.results, outer.faults
        outer._inner[self.instance_id] = self
        self._nesting = outer.schedule(
            self.core, name=named_after(outer, self), period_frames=self.nested_period,
            priority=self.nested_priority)
        self.update_nested_pause()

    def on_paused(self) -> None:
        self.update_nested_pause()

    def on_unpaused(self) -> None:
        self.update_nested_pause()

    def update_nested_pause(self) -> None:
        """Pause the task in the outer scheduler while this node is paused or disabled; otherwise resume it."""
        if self._outer is not None and self._nesting is not None and self._outer.is_valid():
            core = self._outer.core
            (core.resume if self.can_process() else core.pause)(self._nesting)
        self.note_pause()

    @property
    def is_still(self) -> bool:
        """Whether the task in the outer scheduler is paused, while that may run."""
        return self._nesting is not None and self._nesting.is_paused

    def note_pause(self, *, is_loaded: bool = False) -> None:
        """Note since when this scheduler, and those in it, are paused alone; before that, leave out the time until now.

        Such a pause is no elapsed time of their tasks, as none passes while the outermost scheduler is paused. What was
        noted before a load is of another time.
        """
        if not is_loaded:
            self.skip_pause()
        is_alone = self.is_still and self._outer is not None and not self._outer.is_still
        self._paused_since_s = self.clock.now.seconds if is_alone else None
        for inner in self._inner.values():
            inner.note_pause(is_loaded=is_loaded)

    def skip_paused_time(self) -> None:
        """Leave out of the elapsed times of tasks how long this scheduler, and those in it, have been paused so far."""
        self.skip_pause()
        for inner in self._inner.values():
            inner.skip_paused_time()

    def skip_pause(self) -> None:
        """Leave out of the elapsed times of tasks how long this scheduler, or one around it, has been paused so far."""
        since_s, now_s = self._paused_since_s, self.clock.now.seconds
        if since_s is not None and since_s < now_s:
            self.core.skip_time(now_s - since_s)
            self._paused_since_s = now_s
        if self._outer is not None and self._outer.is_valid():
            self._outer.skip_pause()

    def advance_clock(self, delta_s: float) -> None:
        """Advance the clock, unless it belongs to another scheduler that still exists and advances it."""
        if self._timekeeper is not None:
            if self._timekeeper.is_valid():
                return
            self._timekeeper = None
        self.clock.advance(seconds=delta_s)

    def leave_outer(self) -> None:
        """Stop being a task of the outer scheduler, and note since when this one is outside the tree."""
        self.skip_pause()
        outer, self._outer = self._outer, None
        if outer is not None and outer.is_valid():
            if self._nesting is not None:       # None: the outer scheduler did not accept it
                outer.unschedule(self._nesting)
                self._nesting = None
            outer._inner.pop(self.instance_id, None)
        self._paused_since_s = self.clock.now.seconds

    def _nesting_changed(self) -> None:
        """Pass the period and priority to the outer scheduler after a change.

        Raises:
            RefusedValue: if the period exceeds the limit of schedulers.
        """
        try:
            checked_period(self.nested_period, "nested_period")
        except ValueError as error:
            raise RefusedValue(str(error)) from None
        if self._outer is not None and self._nesting is not None:
            self._outer.core.change(self._nesting, period_frames=self.nested_period)
            self._outer.change_priority(self._nesting, self.nested_priority)

    @editor_method
    def get_phase_outlook(self) -> str:
        """Return a text on how the runs of the nodes below will coincide, and how rephase() would spread them."""
        nodes = self._periodic_nodes()
        if not nodes:
            return "No node of this scene runs periodically under this AIScheduler."
        slots, movable = self._slots(nodes)
        quality = phase_quality(slots, names=[str(one.get_name()) for one in nodes])
        phases = rephased(slots, movable=movable)
        better = phase_quality([
            PhaseSlot(slot.period_frames, phase) for slot, phase in zip(slots, phases, strict=True)])
        runs = quality.runs
        return (
            f"{len(nodes)} nodes run periodically: {runs.minimum:g} to {runs.maximum:g} per frame,"
            f" {runs.mean:.2f} on average; after rephase() at most {better.runs.maximum:g}.\n{quality.advice}")

    def _periodic_nodes(self) -> list[Any]:
        found = [one for name in RUN_BY_PERIOD for one in nodes_of(self, name)]  # type: ignore[arg-type]
        return [one for one in found if nearest(one, "AIScheduler", SCHEDULERS) == self]

    def _slots(self, nodes: list[Any]) -> tuple[list[PhaseSlot], list[bool]]:
        """Return the slots that nodes get when they are added, and whether their phases are automatic."""
        table: Any = DryRun(self.look_ahead) if self.look_ahead else PhaseTable()
        slots, movable = [], []
        for node in nodes:
            is_automatic = self.automatic_phasing and getattr(node, "automatic_phase", True)
            period = node.period
            phase = table.best_phase(period) if is_automatic else getattr(node, "phase_frames", 0)
            slots.append(PhaseSlot(period, phase % period))
            movable.append(is_automatic)
            table.add(slots[-1])
        return slots, movable
