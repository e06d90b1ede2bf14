"""AIBehavior node: calls a method of a node at a fixed period."""
from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Any

from addons.ai_core.bridge.gd import (
    KeptCall,
    Node,
    NodePath,
    StringName,
    export,
    gdclass,
)
from addons.ai_core.nodes.level_of_detail.importance_manager import RatePair
from addons.ai_core.nodes.level_of_detail.importance_member import ImportanceMember, importance_warnings
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
)
from addons.ai_core.nodes.scheduling.script_work import (
    WITHOUT_PARAMETERS,
    TimedBehavior,
    TimedCall,
    python_method,
    takes_nothing,
)
from ai_core.saving.declared_state import Change, DeclaredState, Hook
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Task


@gdclass(icon="res://addons/ai_core/icons/ai_behavior.svg", keywords="behaviour, task, update, throttle")
class AIBehavior(SavedState, ImportanceMember, Node):
    """Calls ``method(elapsed_s)`` of its target every ``period``, within the budget of the AIScheduler.

    The method is not called while this node or the target is paused, disabled or outside the tree. Period,
    phase and priority may change at any time; the statistics in get_stats() of the AIScheduler are kept.
    An error inside a GDScript method is reported by the engine, ends that call, and does not count as a failure.
    """

    class FollowImportance(IntEnum):
        OFF = 0
        PERIOD = 1
        PRIORITY = 2
        PERIOD_AND_PRIORITY = 3

    target = export(
        NodePath, NodePath(".."), on_set="_rebuild", doc="Node whose method is called; by default the parent.")
    method_name = export(
        StringName, StringName("think"), on_set="_rebuild",
        doc="Method to call. Its argument is the game time since its last call, in seconds; a second parameter"
            " receives the time that it may use, in µs.")
    enabled = export(
        bool, True, on_set="_enable", live=True,
        doc="If false, the method is not called. The elapsed time of the next call includes the time without calls.")
    period = export(
        int, 10, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", group="Optimizations",
        on_set="_reschedule", live=True, doc="Frames from one call to the next; larger is rarer.")
    automatic_phase = export(
        bool, True, on_set="_reschedule", live=True,
        doc="If true, the scheduler chooses the phase, so that the method runs in the frames with the fewest other"
            " runs.")
    phase = export(
        int, 0, range=(0, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", on_set="_reschedule",
        shown_when=("automatic_phase", False), live=True,
        doc="The method is due when (frame + phase) is a multiple of the period. Used if automatic_phase is off.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the behavior when the budget is shared out.")
    follow_importance = export(
        FollowImportance, FollowImportance.OFF, group="Importance", on_set="_pace",
        doc="What follows the importance of the nearest Node3D or Node2D above to ImportanceViewers: the period grows"
        " and the priority falls with less importance.")
    longest_period = export(
        int, 60, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", on_set="_pace",
        shown_when=("follow_importance", FollowImportance.PERIOD, FollowImportance.PERIOD_AND_PRIORITY),
        doc="Period at importance 0; at importance 1 it is period.")
    lowest_priority = export(
        float, 0.1, range=(0.001, 1000, 0.001), on_set="_pace",
        shown_when=("follow_importance", FollowImportance.PRIORITY, FollowImportance.PERIOD_AND_PRIORITY),
        doc="Priority at importance 0; at importance 1 it is priority.")
    role = export(
        float, 0.0, range=(0, 1, 0.01), on_set="_change_role",
        shown_when=("follow_importance", *(one for one in FollowImportance if one)),
        doc="Importance of the role in the story: 0 for a passer-by, 1 for a main character.")

    without_manager = "its period and priority do not change"
    radius, size, agent_id = 0.0, 1.0, -1

    STATE = DeclaredState(settings=Hook())

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._call: KeptCall | TimedBehavior | None = None

    def on_entered(self) -> None:
        if self._task is not None:
            self._pace()                          # an ImportanceManager entered the tree
            return
        self._scheduler = scheduler_of(self)
        self._rebuild()
        if self._scheduler is not None:
            self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        try:
            self.leave_importance()
        finally:
            self._stop()              # in any case: the node above may be freed next
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._scheduler = None

    def on_paused(self) -> None:
        if self._call is not None:
            self._call.is_off = True

    def on_unpaused(self) -> None:
        if self._call is not None:
            self._call.is_off = False

    def is_in_use(self) -> bool:
        return self._task is not None

    def prepared(self, state: object) -> Change:
        return self.STATE.prepare(self, state)      # also while its target is missing

    def _finish_load(self) -> None:
        if self._task is not None:
            self._scheduler.set_weight(self._task, self.priority)    # not the priority that importance sets for now
        if self.follow_importance:
            self._pace()

    def _get_configuration_warnings(self) -> list[str]:
        importance = importance_warnings(self, self.without_manager) if self.follow_importance else []
        return [*self._target_warnings(), *importance, *scheduler_warnings(self)]

    def _target_warnings(self) -> list[str]:
        node = self.get_node_or_null(self.target)
        if node is None:
            return [f"target '{self.target}' is not in the scene; choose the node whose method is called"]
        if not node.has_method(self.method_name):
            return [f"'{node.get_name()}' has no method {self.method_name}(); write one that takes the elapsed seconds,"
                    " or set method_name to another"]
        if takes_nothing(node, self.method_name):
            return [f"method {self.method_name}() of '{node.get_name()}' {WITHOUT_PARAMETERS}"]
        return []

    def _rebuild(self) -> None:
        if self._scheduler is None:
            return
        self._stop()
        if self._target_warnings():
            report_next_frame(self, self._target_warnings)
        else:
            node = self.get_node(self.target)
            freed = f"its target was freed; free {self.get_name()} with it, or set another target"
            # A target above this node is paused with it, and is freed only after this node has left the tree.
            is_above = node.is_ancestor_of(self)
            results, work = self._scheduler.results, None
            takes_time = node.get_method_argument_count(self.method_name) == 2
            in_python = python_method(node, str(self.method_name))
            if takes_time or in_python is not None:
                behavior = in_python or partial(node.call, self.method_name)
                call = TimedBehavior(
                    behavior if takes_time else lambda elapsed_s, _: behavior(elapsed_s), node.is_valid, results, freed,
                    None if is_above else node)
                work = TimedCall(self._scheduler, call)
            else:
                call = KeptCall(
                    node, str(self.method_name), "elapsed_s", results, freed,
                    skips_paused=not is_above, is_watched=is_above)
            call.is_off = not self.can_process()
            self._call = call
            name = named_after(self._scheduler, node, f".{self.method_name}")
            self._task = self._scheduler.schedule(work or call, name=name, **self._when())
            self._enable()
            self._pace()

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, **self._when())
            self._pace()

    def _pace(self) -> None:
        """Let period and priority follow importance, as ``follow_importance`` says."""
        if self._task is None:
            return
        if not self.follow_importance:
            if self._importance is not None:
                self.leave_importance()
                self._scheduler.reschedule(self._task, **self._when())
            return
        self.join_importance()
        if self._importance is not None:
            rarest, lowest = self.period, self.priority
            if self.follow_importance & self.FollowImportance.PERIOD:
                rarest = max(rarest, self.longest_period)
            if self.follow_importance & self.FollowImportance.PRIORITY:
                lowest = min(lowest, self.lowest_priority)
            self._importance.pace(
                self, self._task, RatePair(self.period, rarest, self.priority, lowest), self._scheduler)

    def _change_role(self) -> None:
        if self._importance is not None:
            self._importance.core.set_role(self.agent_id, self.role)

    def _when(self) -> dict[str, Any]:
        phase = None if self.automatic_phase else self.phase
        return {"period_frames": self.period, "phase_frames": phase, "priority": self.priority}

    def _enable(self) -> None:
        # Paused, not removed: a save contains a disabled behavior, and loading finds it.
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)

    def _stop(self) -> None:
        if self._task is not None:
            if self._scheduler.is_valid():
                self._scheduler.unschedule(self._task)
            self._task = self._call = None
