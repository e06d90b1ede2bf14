"""AIScheduler: one clock, one budget, one per-frame callback for all AI below it."""
from __future__ import annotations

import time
from collections.abc import Callable
from enum import IntEnum
from typing import Any
from weakref import WeakSet

from addons.ai_core.bridge.gd import (
    Node,
    RefusedValue,
    Results,
    delta_time_of,
    export,
    gdclass,
    method,
    physics_delta_time_of,
    signal,
)
from addons.ai_core.nodes.debugging.debugger_link import DebuggerLink
from addons.ai_core.nodes.saving.scene_values import SceneValues
from addons.ai_core.nodes.scheduling import scheduler_core
from addons.ai_core.nodes.scheduling.garbage_collecting import scene_ended
from addons.ai_core.nodes.scheduling.phase_outlook import PhaseOutlook
from addons.ai_core.nodes.scheduling.scheduled import SCHEDULERS, call_waiting, look_for_another, report_fault
from addons.ai_core.nodes.scheduling.scheduler_behaviors import SchedulerBehaviors
from addons.ai_core.nodes.scheduling.scheduler_core import core_of
from addons.ai_core.nodes.scheduling.scheduler_monitors import SchedulerMonitors
from addons.ai_core.nodes.scheduling.scheduler_nesting import SchedulerNesting
from addons.ai_core.nodes.scheduling.scheduler_saving import SchedulerSaving
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import Fault, FaultIsolation
from ai_core.scheduling.hierarchical import tree_statistics
from ai_core.scheduling.quality_of_service import QualityOfService
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.statistics_table import statistics_table
from ai_core.scheduling.task import Task
from ai_core.trace import Trace

TABLE = (
    "path", "period_frames", "runs", "used_us_mean", "used_us_p95", "used_us_max", "lateness_frames_max",
    "staleness_frames", "overruns", "faults",
)
"""Columns of the table of statistics."""

SETTLED = "cannot change once behaviors were added; set it before the scene runs"


@gdclass(icon="res://addons/ai_core/icons/ai_scheduler.svg")
class AIScheduler(SchedulerBehaviors, SchedulerSaving, SchedulerNesting, PhaseOutlook, Node):
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
        doc="Time that all AI below may take in one frame; 0 is unlimited. Follows from a target rate if there is one.")
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
        int, 0, range=(0, 5040, 1), or_greater=True, unit="frames", on_set="_core_setting_set",
        shown_when=("automatic_phasing", True),
        doc="0 places behaviors best, by all frames they will ever join. Else the textbook's dry run over so many.")
    nested_period_frames = export(
        int, 1, range=(1, 600, 1), or_greater=True, unit="frames", group="Below Another Scheduler",
        on_set="nesting_set",
        shown_when=("update", Update.IDLE, Update.PHYSICS),
        doc="Frames of the outer scheduler from one frame of this one to the next.")
    nested_priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="nesting_set",
        shown_when=("update", Update.IDLE, Update.PHYSICS), doc="Weight of its share of the outer's budget.")
    quarantine_after = export(
        int, 3, range=(1, 100, 1), group="Debug", on_set="_tries_set",
        doc="Failures in a row after which a behavior is left out until release_behavior().")
    timed_every = export(
        int, 16, range=(1, 1000, 1), on_set="_core_setting_set",
        doc="With direct access: of so many runs of a behavior one is timed by itself, for the others; 1 times all,"
            " which takes half as long again with behaviors that do little.")
    monitor_behaviors = export(
        bool, False, on_set="show_monitors",
        doc="Show the mean time of each behavior in the debugger's monitors, beside the totals.")

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
        self._frame_budget_us: float = self.budget_us     # the same, for a look at it in each frame
        self._service = QualityOfService(target_hz=60, ai_share=0.15)
        self._monitors = SchedulerMonitors(self)
        self._debugging = DebuggerLink(self)
        self._recorder: Any = None
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
        self.step(delta_time_of(self))

    def on_physics_process(self) -> None:
        self.step(physics_delta_time_of(self))

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
        """Run one frame of AI; call it yourself when update is manual."""
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
