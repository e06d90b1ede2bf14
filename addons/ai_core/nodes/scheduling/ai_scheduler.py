"""AIScheduler: one clock, one budget, one per-frame callback for all AI below it."""
from __future__ import annotations

import time
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeAlias
from weakref import WeakSet

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
from addons.ai_core.nodes.debugging.debugger_link import DebuggerLink
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.saving.saved_node import GROUP as SAVED
from addons.ai_core.nodes.saving.saved_node import SavedNode
from addons.ai_core.nodes.saving.scene_recording import recorder_to, replay_from
from addons.ai_core.nodes.saving.scene_saving import LoadFailed, NodePart, SchedulerPart, load_parts, save_parts
from addons.ai_core.nodes.saving.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduling import scheduler_core
from addons.ai_core.nodes.scheduling.garbage_collecting import scene_ended
from addons.ai_core.nodes.scheduling.scheduled import (
    SCHEDULERS,
    call_waiting,
    callable_name,
    callable_naming,
    check_callable,
    look_for_another,
    named_after,
    nearest,
    report_fault,
    when_settled,
)
from addons.ai_core.nodes.scheduling.scheduler_core import core_of
from addons.ai_core.nodes.scheduling.scheduler_monitors import SchedulerMonitors
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import Fault, FaultIsolation
from ai_core.recording.replay import Difference
from ai_core.saving.fields import StateError
from ai_core.scheduling.hierarchical import tree_statistics
from ai_core.scheduling.phasing import DryRun, PhaseTable, Rephasing, Slot, phase_quality
from ai_core.scheduling.quality_of_service import QualityOfService
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.statistics_table import statistics_table
from ai_core.scheduling.task import Task, Turn, Work
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, MAX_PRIORITY, checked_period
from ai_core.scheduling.waiting_line import UNIT
from ai_core.snapshot import Saveable
from ai_core.trace import Trace

RUN_BY_PERIOD = (
    "AIBehavior", "BehavioralLOD", "HabitTree", "ImportanceManager", "Timeslicer",
)
"""Classes whose nodes run every ``period_frames``."""


AUTOMATIC_PHASE = -1
Naming: TypeAlias = str | Callable[[], str]


def _phase(phase_frames: int) -> int | None:
    """Return a phase as the library takes it, None to have it chosen."""
    if phase_frames < AUTOMATIC_PHASE:
        raise RefusedValue(f"phase_frames must be at least 0, got {phase_frames}; or -1 to have it chosen")
    return None if phase_frames == AUTOMATIC_PHASE else phase_frames


TABLE = (
    "path", "period_frames", "runs", "used_us_mean", "used_us_p95", "used_us_max", "lateness_frames_max",
    "staleness_frames", "overruns", "faults",
)
"""Columns of the table of statistics."""
LONGEST_STEP_S = 1e6
"""Longest frame (s), some eleven days: of clocks that go to 1e12 s at most, one frame must not take all."""
SETTLED = "cannot change once behaviors were added; set it before the scene runs"

DRAWING_NS = 2_000_000
"""Time after which drawing goes on in the next frame (ns): an eighth of a frame at 60 a second, beside the budget."""


@gdclass(icon="res://addons/ai_core/icons/ai_scheduler.svg")
class AIScheduler(Node):
    """Runs the AI of the game within a time budget per frame.

    Every sense manager, habit tree, event manager and behavior below this node
    runs through it. Work that does not fit into a frame waits for the next one,
    and is told the true time since it last ran. Below another AIScheduler it is
    part of that one's work: budget, clock, saves and recordings are the outer's.

    It saves the AI of the scene, and with it each node in the group "ai_saved": where the
    node is, how it moves, and what its script returns from _save_state(), which is handed
    to its _load_state(state) when the game is loaded.
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
        doc="Who runs. Load balancing keeps to the budget and carries work over. Frequency and direct access run"
            " whatever is due; direct access is cheaper, as it times few of many runs. Priority runs what is due,"
            " priority only everything, each with a share. Requested time grants what request_time() asked for, or"
            " lets it wait.")
    update = export(
        Update, Update.PHYSICS, on_set="_apply_update",
        doc="When a frame of AI runs. Rays need the physics space, so physics is safest; manual runs on step().")
    target_rate = export(
        Rate, Rate.BUDGET, group="Budget", on_set="_budget_set",
        doc="Frames a second the game aims at: the budget is a share of such a frame. Budget: as given below.")
    target_hz = export(
        float, 60.0, range=(1, 1000, 1), unit="Hz", on_set="_budget_set",
        shown_when=("target_rate", Rate.CUSTOM), doc="The target rate, if it is custom.")
    ai_share = export(
        float, 0.15, range=(0.001, 1, 0.001), on_set="_budget_set",
        shown_when=("target_rate", Rate.CUSTOM, Rate.HZ_30, Rate.HZ_60, Rate.HZ_90),
        doc="Share of a frame that AI may take, with a target rate. 0.15 is 2500 µs at 60 Hz.")
    budget_us = export(
        float, 2000.0, range=(0, 100000, 10), or_greater=True, unit="µs", on_set="_budget_set",
        shown_when=("target_rate", Rate.BUDGET),
        doc="Time that all AI below should take in one frame; 0 is unlimited. Nothing begins once it is spent, but what"
            " runs then ends its slice. Follows from a target rate if there is one.")
    holds_budget = export(
        bool, True, on_set="_core_setting_set",
        shown_when=("policy", scheduler_core.Policy.LOAD_BALANCING, scheduler_core.Policy.REQUESTED_TIME),
        doc="Stop a little before the budget ends, by as much as frames went beyond it lately. Off: stop when it is"
            " spent, and go beyond it by the behavior that was running.")
    learns_overruns = export(
        bool, False, on_set="_core_setting_set",
        shown_when=("policy", *scheduler_core.SHARING),
        doc="Give less to behaviors that use more than their share, and more to those that use less. Not where"
            " everything due simply runs: frequency, direct access.")
    activations_per_frame = export(
        int, 0, range=(0, 1000, 1), or_greater=True, on_set="_core_setting_set",
        shown_when=("policy", *scheduler_core.SHARING),
        doc="Most behaviors that run for the first time in one frame, so that a wave of new ones makes no spike."
            " 0 is no limit. Not with frequency and direct access.")
    automatic_phasing = export(
        bool, True, group="Phasing",
        doc="Behaviors that leave their phase open run on the frames where the fewest others do. Off: phase 0.")
    look_ahead_frames = export(
        int, 0, range=(0, 5040, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", on_set="_core_setting_set",
        shown_when=("automatic_phasing", True),
        doc="0 places behaviors best, by all frames they will ever join. Else the textbook's dry run over so many.")
    nested_period_frames = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Below Another Scheduler",
        on_set="nesting_set",
        shown_when=("update", Update.IDLE, Update.PHYSICS),
        doc="Frames of the outer scheduler from one frame of this one to the next.")
    nested_priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="nesting_set",
        shown_when=("update", Update.IDLE, Update.PHYSICS), doc="Weight of its share of the outer's budget.")
    quarantine_after = export(
        int, 3, range=(1, 100, 1), group="Debug", on_set="_tries_set",
        doc="Failures in a row after which a behavior is left out until release_behavior(). What Python raises counts,"
            " and what cannot be called; errors inside GDScript functions do not: the engine hides them.")
    timed_every = export(
        int, 16, range=(1, 1000, 1), on_set="_core_setting_set",
        doc="With direct access: of so many runs of a behavior one is timed by itself, for the others; 1 times all,"
            " which takes half as long again with behaviors that do little.")
    monitor_behaviors = export(
        bool, False, on_set="show_monitors",
        doc="Show the mean time of each behavior in the debugger's monitors, beside the totals.")

    frame_overran = signal(
        ("behavior", str), ("over_us", float), doc="A behavior took the frame beyond the budget.")
    behavior_failed = signal(
        ("behavior", str), ("message", str),
        doc="A behavior raised in Python, or could not be called. Errors inside GDScript functions are not noticed.")
    behavior_quarantined = signal(("behavior", str), doc="A behavior failed too often in a row and is left out.")
    replay_ended = signal(
        ("frame", int), ("part", str), ("what", str),
        doc="The replay is over: where it first differed, or -1 and empty texts if nothing did.")

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.trace = Trace()
        self.values = SceneValues(self)
        self.results = Results()
        self._faults: FaultIsolation | None = None
        self._core: Any = None
        self._tasks: dict[int, Task] = {}
        self._services: dict[Task, float] = {}    # tasks that are done for all, and their own priority
        self._namings: dict[Task, Callable[[], str]] = {}     # what tells the names of tasks, which may change
        self._deciding: dict[Task, int] = {}      # all others, and what they weigh (units)
        self._units = 0                           # what those weigh together
        self._last_frame_us = 0.0
        self._is_settled = True
        self._drawings: dict[int, tuple[Any, Callable[[], object]]] = {}     # by instance id, of this frame
        self._frame_budget_us: float = self.budget_us     # the same, for a look at it in each frame
        self._service = QualityOfService(target_hz=60, ai_share=0.15)
        self._monitors = SchedulerMonitors(self)
        self._debugging = DebuggerLink(self)
        self._recorder: Any = None
        self._left_out: dict[str, str] = {}       # by part, why the last load left it out
        self.crowds: dict[str, Any] = {}          # by kind, the work of all nodes that decide
        self._members: dict[int, Any] = {}        # instance id -> node that saves through this one
        self.runs: WeakSet[Any] = WeakSet()       # nodes that found this one to run under
        self._outer: Any = None
        self._nesting: Task | None = None         # the outer's: runs this one
        self._timekeeper: Any = None              # whose clock this one goes by, if it ever ran in another
        self._inner: dict[int, Any] = {}          # instance id -> AIScheduler that runs in this one

    def on_enter_tree(self) -> None:
        self.add_to_group(SCHEDULERS)
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
        self._debugging.close()
        self._monitors.close()
        self.leave_outer()

    def on_predelete(self) -> None:
        look_for_another(self)
        # Behaviors hold Callables, which hold scripts: let them go now, not whenever Python tidies up.
        self._services.clear()
        self._namings.clear()
        for task in list(self._tasks.values()):
            self.unschedule(task)
        if self._core is not None:
            self._core.remove_all()
        self.stop_recording()
        self._core = self._faults = None
        scene_ended()

    def on_process(self) -> None:
        if self._is_settled:
            self.step(delta_time_of(self))

    def on_physics_process(self) -> None:
        if self._is_settled:
            self.step(physics_delta_time_of(self))

    def _begin_to_run(self) -> None:
        """Walls that came with it are there for rays: AI may look."""
        self._is_settled = True

    @property
    def faults(self) -> FaultIsolation:
        """What happens to work that raises; shared by all nodes below."""
        if self._faults is None:
            self._faults = FaultIsolation(quarantine_after=self.quarantine_after, report=self._report)
        return self._faults

    @property
    def core(self) -> Any:
        """The library's scheduler, made when it is first needed."""
        if self._core is None:
            self._core = core_of(self, self._tell_overrun)
        return self._core

    @method
    def step(self, delta_s: float = 1 / 60) -> None:
        """Run one frame of AI; call it yourself when update is manual. A frame may be up to 1,000,000 s long."""
        if not 0.0 <= delta_s <= LONGEST_STEP_S:
            raise RefusedValue(f"delta_s must be 0 to {LONGEST_STEP_S:g}, got {delta_s:g}; step more often")
        if self._outer is not None:
            self.need_top("step()")
        if self._timekeeper is None:
            self.clock.advance(seconds=delta_s)
        else:
            self.pass_time(delta_s)
        stopwatch, recorder, budget_us = time.perf_counter_ns, self._recorder, self._frame_budget_us
        budget = Budget.of_time(budget_us, stopwatch) if budget_us > 0 else Budget.unlimited()
        granted = budget if recorder is None else recorder.begin_frame(budget)
        begun_ns = stopwatch()
        (self._core or self.core).advance(granted)
        ended_ns, deadline_ns = stopwatch(), budget.deadline_ns
        self._last_frame_us = used_us = (ended_ns - begun_ns) / 1000
        if deadline_ns is not None:
            self._service.note(used_us, (ended_ns - deadline_ns) / 1000 if ended_ns > deadline_ns else 0.0)
        if recorder is not None:
            recorder.end_frame()
        if self._drawings:
            self._draw()

    def draw_later(self, node: Any, draw: Callable[[], object]) -> None:
        """Draw what a node shows in the game when this frame of AI is over: no budget pays for it.

        Args:
            node: has ``show_in_game``; each has one drawing a frame.
            draw: called if the node is still in the tree and to be shown.
        """
        if self._outer is not None:
            self._outer.draw_later(node, draw)
        else:
            self._drawings[node.instance_id] = node, draw

    def _draw(self) -> None:
        """Draw until it takes long; the others are first in the next frame."""
        until_ns = time.perf_counter_ns() + DRAWING_NS
        while self._drawings:
            node, draw = self._drawings.pop(next(iter(self._drawings)))
            try:
                if node.is_valid() and node.is_inside_tree() and node.show_in_game:
                    draw()
            except Exception as error:  # a picture must not stop the AI
                report_exception(error, "drawing in the game", node)
            if time.perf_counter_ns() > until_ns:
                return

    @method
    def get_stats(self) -> dict:
        """Return frame, game time, time used, frames over the budget and by whom, and a row per behavior.

        What begins with "recent_" is of the last 600 frames.
        """
        report = self._service.report()
        told = ("frames_kept", "frames_over", "offenders")
        return {
            "frame": self.clock.now.frame,
            "seconds": self.clock.now.seconds,
            "policy": scheduler_core.Policy(self.policy).name,
            "last_frame_us": self._last_frame_us,
            "budget_us": self.budget_us,
            "overruns": self.core.overruns,
            **{name: value for name, value in report.items() if name in told or name.startswith("recent_")},
            "behaviors": self.core.statistics(),
        }

    @method
    def get_stats_table(self, most_rows: int = 40) -> str:
        """Return a table of what behaviors used, the most first; those below other schedulers, too."""
        rows = tree_statistics(self.core)
        return statistics_table(rows, columns=TABLE, sort_by="used_us_mean", most_rows=most_rows)

    def monitored_total(self, name: str) -> float:
        """Return a total for the engine's monitors."""
        if name == "budget_used_percent":
            return 100 * self._last_frame_us / self.budget_us if self.budget_us > 0 else 0.0
        if name == "time_us":
            return self._last_frame_us
        return float(self.core.overruns if name == "overruns" else len(self.core.tasks))

    def show_monitors(self) -> None:
        """Show in the engine's monitors what is to be shown by now."""
        if self.is_inside_tree() and self._outer is None:
            self._monitors.open()
            self._monitors.show(self._tasks.values() if self.monitor_behaviors else ())

    def open_debugger_link(self) -> None:
        """Answer the editor's debugger tab, if there is one and no other scheduler does."""
        self._debugging.open()

    def debugger_asked(self, message: str, data: list[Any]) -> bool:
        """Do what the debugger's tab asks; called by the engine."""
        return self._debugging.asked(message, data)

    def send_debug_report(self) -> None:
        """Tell the debugger's tab what it looks at; called by a timer while it does."""
        self._debugging.send()

    def _report(self, fault: Fault) -> None:
        if not self.is_valid():
            return               # freed by one of its own behaviors
        release = "release_behavior(), or what its node has for it: release_quarantined(), release(), release_level()"
        report_fault(fault, f"behavior '{fault.name}'", self, release)
        self.behavior_failed.emit(fault.name, f"{type(fault.error).__name__}: {fault.error}")
        if fault.is_quarantined:
            self.behavior_quarantined.emit(fault.name)

    def _tell_overrun(self, overrun: Overrun) -> None:
        self._service.on_overrun(overrun)
        if self.is_valid():
            self.frame_overran.emit(overrun.name, overrun.over)

    def _apply_update(self) -> None:
        if self.is_inside_tree():
            is_top = self._outer is None
            if not is_top and self.update == self.Update.MANUAL:
                raise RefusedValue(
                    "update cannot become manual below another AIScheduler; set it before the scene runs")
            self.set_process_internal(is_top and self.update == self.Update.IDLE)
            self.set_physics_process_internal(is_top and self.update == self.Update.PHYSICS)

    def _budget_set(self) -> None:
        budget_us = self.budget_us
        if self.target_rate != self.Rate.BUDGET:
            hz = self.target_hz if self.target_rate == self.Rate.CUSTOM else float(self.target_rate)
            self._service.aim(target_hz=hz, ai_share=self.ai_share)
            budget_us = self._service.budget_us
        is_timed = getattr(self._recorder, "is_timed", None)
        if is_timed is not None and is_timed != (budget_us > 0):
            raise RefusedValue("budget_us cannot become limited or unlimited in a recording; stop it first")
        self.__dict__[type(self).budget_us.slot] = self._frame_budget_us = budget_us

    def _tries_set(self) -> None:
        if self._faults is not None:
            raise RefusedValue(SETTLED)

    def _core_setting_set(self) -> None:
        if self._core is not None:
            raise RefusedValue(SETTLED)

    def schedule(
        self, work: Work, *, name: Naming, period_frames: int = 1,
        phase_frames: int | None = None, priority: float = 1.0,
    ) -> Task:
        """For nodes and behaviors written in Python: run ``work`` with a Turn.

        ``name`` is a text, or a function that tells it and is asked again when names matter: see ``name_anew``.
        """
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        task: Task = self.core.add(
            work, period_frames=period_frames, phase_frames=phase_frames, priority=priority,
            name=name if isinstance(name, str) else name())
        self._tasks[task.id] = task
        if not isinstance(name, str):
            self._namings[task] = name
        self.weigh(task, priority)
        if self.monitor_behaviors and self._monitors.is_open:
            self._monitors.add(task)
        return task

    def serve(self, node: Any, work: Work, what: str, *, priority: float = 1.0) -> Task:
        """Run in each frame what a node does for all who decide, such as sensing, and save the node with this one.

        It weighs as much as they together: as one among hundreds of characters it would get next to nothing of a
        budget, of which characters that follow leave the most. ``leave_scheduler`` ends it.

        Args:
            what: the end of the work's name: "senses".
        """
        task = self.schedule(work, name=named_after(self, node, f" {what}"), phase_frames=0, priority=priority)
        self._services[task] = priority
        self.weigh(task, 0.0)
        self.join(node)
        return task

    def name_anew(self) -> None:
        """Call all work after its nodes, which may have been renamed: saves and recordings find it by that.

        Not while it is recorded or replayed, which tell work from work by its name. Cost: O(work), a microsecond each.
        """
        if self.recorder is not None:
            return
        for task, naming in self._namings.items():
            name = naming()
            if name != task.name:
                self.core.rename(task, name)
        for inner in self._inner.values():
            inner.name_anew()

    def change_priority(self, task: Task, priority: float) -> None:
        """Change what a task weighs, and with it what is done for all; of a service, beside all who decide."""
        self.core.change(task, priority=priority)
        if task in self._services:
            self._services[task] = priority
            self.weigh_services()
        else:
            self.weigh(task, priority)

    def weigh_anew(self) -> None:
        """Weigh all as a save says, which may be of other characters, or of before what is done for all was weighed."""
        for task in self._tasks.values():
            if task not in self._services:
                self.weigh(task, task.priority)
        self.weigh_services()

    def weigh_services(self) -> None:
        """Let what is done for all weigh as much as all by now. Cost: O(services)."""
        for task, priority in self._services.items():
            weight = min(priority * max(1.0, self._units / UNIT), MAX_PRIORITY)
            if weight != task.priority:
                self.core.change(task, priority=weight)

    def weigh(self, task: Task, priority: float) -> None:
        """Note what a task weighs among those who decide, 0 if it is none of them."""
        before, units = self._deciding.pop(task, 0), int(priority * UNIT)    # whole units: sums of floats would drift
        if units:
            self._deciding[task] = units
        if units != before:
            self._units += units - before
            self.weigh_services()

    def reschedule(self, task: Task, *, period_frames: int, phase_frames: int | None, priority: float) -> None:
        """Change a task, which keeps its record; a phase of None is chosen, as in ``schedule``."""
        if task.is_removed:
            return                      # this is being freed, and the node looks for another
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        self.core.change(task, period_frames=period_frames, phase_frames=phase_frames, priority=priority)
        self.change_priority(task, priority)
        if phase_frames is None and not task.is_automatic_phase:
            self.core.choose_phase(task)

    def unschedule(self, task: Task) -> None:
        """Stop running what ``schedule`` returned; once is enough."""
        if self._core is not None and not task.is_removed:   # None: it is being freed
            self._core.remove(task)
        self._tasks.pop(task.id, None)
        self._services.pop(task, None)
        self._namings.pop(task, None)
        self.weigh(task, 0.0)
        self._monitors.leave_out(task.id)

    def set_enabled(self, task: Task, is_enabled: bool) -> None:
        """Leave out the work of a node, or let it run again, with all its tries."""
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
        """Call ``behavior(elapsed_s)`` every ``period_frames`` and return its id.

        A phase of -1 chooses the frame where the fewest others run.
        """
        check_callable(behavior, "add_behavior")
        phase = _phase(phase_frames)
        task = self.schedule(
            self._caller(behavior, behavior_name or callable_name(self, behavior)),
            name=behavior_name or callable_naming(self, behavior), period_frames=period_frames, phase_frames=phase,
            priority=priority)
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
    def set_behavior_period(self, behavior_id: int, period_frames: int) -> None:
        """Call a behavior every so many frames from now on; an automatic phase is chosen anew."""
        self.core.change(self._task(behavior_id), period_frames=period_frames)

    @method
    def set_behavior_phase(self, behavior_id: int, phase_frames: int = AUTOMATIC_PHASE) -> None:
        """Call a behavior when (frame + phase) is a multiple of its period; -1 chooses the phase."""
        task, phase = self._task(behavior_id), _phase(phase_frames)
        priority = self._services.get(task, task.priority)
        self.reschedule(task, period_frames=task.period_frames, phase_frames=phase, priority=priority)

    @method
    def set_behavior_priority(self, behavior_id: int, priority: float) -> None:
        """Set the weight of a behavior's share of the budget."""
        self.change_priority(self._task(behavior_id), priority)

    @method
    def request_time(self, behavior_id: int, us: float) -> None:
        """Ask for so many µs in each run of a behavior, with the policy requested time; -1 for a share by priority."""
        if not isinstance(self.core, RequestedTimeScheduler):
            raise RefusedValue("request_time() needs the policy requested time; set it before the scene runs")
        self.core.request(self._task(behavior_id), None if us == -1 else us)

    @method
    def get_longest_wait_frames(self, behavior_id: int) -> int:
        """Return the most frames a behavior can wait from falling due to running, as long as none is added."""
        task = self._task(behavior_id)
        return int(self.core.longest_wait_frames(task)) if isinstance(self.core, SharingScheduler) else 0

    @method
    def rephase(self, by_cost: bool = False) -> int:
        """Move automatic phases apart, all at once, and return how many behaviors have another one now.

        Better than what was chosen one by one as they were added. With ``by_cost`` the time they
        took counts, not only their number; then phases differ from run to run, and replays do, too.
        Takes up to 0.2 s with thousands of behaviors: call it when a level was loaded.
        """
        return int(self.core.rephase(by_cost=by_cost).result)

    @method
    def get_phase_quality(self) -> dict:
        """Return how evenly runs and their cost are spread over coming frames, and "text" that tells it.

        Runs and cost have minimum, maximum, mean, spread and histogram; the worst frame says who
        meets in it, and "advice" what could be done.
        """
        quality = self.core.phase_quality()
        common = min(quality.common_multiple, 2**63 - 1)     # the engine knows no greater int
        return {**quality.as_dict(), "common_multiple": common, "text": str(quality)}

    def monitored_behavior(self, behavior_id: int) -> float:
        """Return the mean time of a behavior's runs (µs), for the engine's monitors."""
        task = self._tasks.get(behavior_id)
        return 0.0 if task is None else task.used_us / max(1, task.runs)

    def _caller(self, behavior: GDCallable, name: str) -> Any:
        if isinstance(behavior, GDCallable):
            freed = f"the object of behavior '{name}' has been freed; call remove_behavior() before freeing it"
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
                f"there is no behavior {behavior_id}; use an id that add_behavior() returned and that was not removed")
        return task

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
    def load_state(self, state: dict, skip_broken: bool = False, roll_back: bool = False) -> bool:
        """Take back what save_state() returned, after the scene was loaded again.

        Everything is checked first: if something does not fit, an error says what, nothing is
        changed, and false is returned. Nodes and behaviors that are new since then are kept as
        they are. No habit is entered or exited, and no event is told, by loading. Ids of
        behaviors are those of the saved game afterwards.

        With ``skip_broken`` the part of a node that cannot be read, or of a node that is gone, is
        left out, and all else is loaded: a warning and get_left_out() say what and why.

        What a script does in _load_state() can fail after the check. The error names the node
        then, and says that all other parts were loaded. With ``roll_back`` the present state is saved
        first and loaded again in that case, which takes the time of a save.
        """
        self.need_top("load_state()")
        self.name_anew()
        behaviors: dict[str, str] = {}
        parts, saved = self._parts(behaviors if skip_broken else None), state.get("parts")
        new = [name for name in parts if "/" in name and isinstance(saved, dict) and name not in saved]
        added: list[Any] = [parts.pop(name) for name in new]
        try:
            self._left_out = load_parts(state, parts, skip_broken=skip_broken, roll_back=roll_back) | behaviors
            added += [parts[name] for name in self._left_out if hasattr(parts.get(name), "begin_anew")]
        except LoadFailed:
            self._settle()
            raise
        for part in added:
            part.begin_anew()
        self._settle()
        if self._left_out:
            first = "; ".join(f"{name}: {why}" for name, why in [*self._left_out.items()][:3])
            report_warning(f"load_state() left out {len(self._left_out)} parts, see get_left_out(): {first}", self)
        return True

    @method
    def get_left_out(self) -> dict:
        """Return what the last load_state() with skip_broken left out: by the name of the part, why."""
        return self._left_out

    @method
    def start_recording(self, path: str, read_inputs: Variant = None, look_every_frames: int = 60) -> bool:
        """Write every frame of AI to a file such as "user://run.jsonl", until stop_recording().

        A path may be any that the game may write: below user://, absolute, or below res:// while
        the project runs from its folder. A file that is there is overwritten. It is never taken
        from a save; a game that takes it from a player checks it first.

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
        signatures: dict[object, Any] = {}
        for node in self.get_tree().get_nodes_in_group(SAVED) if self.is_inside_tree() else ():
            if nearest(node, "AIScheduler", SCHEDULERS).top is self:
                found[f"node/{path_of(self, node)}"] = SavedNode(node, self.values, signatures), node
        return found

    def result_of(self, answer: object) -> object:
        """Return what a behavior returned as a recording compares it."""
        if answer is None:
            return None
        try:
            return self.values.plain(answer, "result")
        except StateError:
            return type(answer).__name__

    def _settle(self) -> None:
        """Let nodes sleep and pause as they are to, once all are loaded."""
        self.settle_crowds()
        for node in self.joined_nodes:
            if node.is_class("ImportanceManager"):
                node.settle()

    def _parts(self, left_out: dict[str, str] | None = None) -> dict[str, Saveable]:
        nodes = {name: part for name, (part, _) in self.parts_of_nodes().items()}
        return {"clock": self.clock, "faults": self.faults, "scheduler": SchedulerPart(self, left_out), **nodes}

    @property
    def top(self) -> Any:
        """The outermost AIScheduler, in whose frames this one runs; often this one."""
        return self if self._outer is None else self._outer.top

    def need_top(self, what: str) -> None:
        """Raise RefusedValue if this runs in another."""
        if self._outer is not None:
            raise RefusedValue(
                f"{what} is for the AIScheduler above it, '{self.top.get_name()}', in whose frames it runs; call that")

    def enter_outer(self) -> None:
        """Become work of the nearest AIScheduler above, if there is one."""
        outer = self.get_parent()
        while outer is not None and not outer.is_class("AIScheduler"):
            outer = outer.get_parent()
        if outer is None:
            return
        if self._core is not None and self._core.clock is not outer.clock:
            report_error(
                "got behaviors before it came below another AIScheduler, and runs by itself;"
                " add it to the tree first, behaviors after", self)
            return
        self._outer, self._timekeeper = outer, outer.top
        self.clock, self.trace, self.results, self._faults = outer.clock, outer.trace, outer.results, outer.faults
        outer._inner[self.instance_id] = self
        self._nesting = outer.schedule(
            self.core, name=named_after(outer, self), period_frames=self.nested_period_frames,
            priority=self.nested_priority)
        self.pause_nesting()

    def on_paused(self) -> None:
        self.pause_nesting()

    def on_unpaused(self) -> None:
        self.pause_nesting()

    def pause_nesting(self) -> None:
        """Be left out by the other while this is paused or disabled, and run again after."""
        if self._outer is not None and self._nesting is not None and self._outer.is_valid():
            core = self._outer.core
            (core.resume if self.can_process() else core.pause)(self._nesting)

    def pass_time(self, delta_s: float) -> None:
        """Let the clock go on, unless it is of another that is still there: then that one does."""
        if self._timekeeper is not None:
            if self._timekeeper.is_valid():
                return
            self._timekeeper = None
        self.clock.advance(seconds=delta_s)

    def leave_outer(self) -> None:
        """Stop being its work."""
        outer, self._outer = self._outer, None
        if outer is not None and outer.is_valid():
            if self._nesting is not None:       # None: the other could not take it in
                outer.unschedule(self._nesting)
                self._nesting = None
            outer._inner.pop(self.instance_id, None)

    def nesting_set(self) -> None:
        """Period or priority were changed.

        Raises:
            RefusedValue: if the period is beyond the limit of schedulers.
        """
        try:
            checked_period(self.nested_period_frames, "nested_period_frames")
        except ValueError as error:
            raise RefusedValue(str(error)) from None
        if self._outer is not None and self._nesting is not None:
            self._outer.core.change(self._nesting, period_frames=self.nested_period_frames)
            self._outer.change_priority(self._nesting, self.nested_priority)

    @editor_method
    def get_phase_outlook(self) -> str:
        """Return in words how the nodes below it will meet, and what rephase() would make of it."""
        nodes = self._periodic_nodes()
        if not nodes:
            return "No node of this scene runs by a period under this AIScheduler."
        slots, movable = self._slots(nodes)
        quality = phase_quality(slots, names=[str(one.get_name()) for one in nodes])
        search = Rephasing(slots, movable=movable)
        search.advance(Budget.unlimited())
        better = phase_quality([
            Slot(slot.period_frames, phase) for slot, phase in zip(slots, search.result, strict=True)])
        runs = quality.runs
        return (
            f"{len(nodes)} nodes run by a period: {runs.minimum:g} to {runs.maximum:g} in a frame,"
            f" {runs.mean:.2f} on average; after rephase() at most {better.runs.maximum:g}.\n{quality.advice}")

    def _periodic_nodes(self) -> list[Any]:
        found = [one for name in RUN_BY_PERIOD for one in nodes_of(self, name)]  # type: ignore[arg-type]
        return [one for one in found if nearest(one, "AIScheduler", SCHEDULERS) == self]

    def _slots(self, nodes: list[Any]) -> tuple[list[Slot], list[bool]]:
        """Return the slots that nodes get as they are added, and which have automatic phases."""
        table: Any = DryRun(self.look_ahead_frames) if self.look_ahead_frames else PhaseTable()
        slots, movable = [], []
        for node in nodes:
            is_automatic = self.automatic_phasing and getattr(node, "automatic_phase", True)
            period = node.period_frames
            phase = table.best_phase(period) if is_automatic else getattr(node, "phase_frames", 0)
            slots.append(Slot(period, phase % period))
            movable.append(is_automatic)
            table.add(slots[-1])
        return slots, movable
