"""GroupLOD: many simulated as one, and opened again."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    PackedStringArray,
    RefusedValue,
    export,
    gdclass,
    has_script_method,
    hook,
    method,
    signal,
)
from addons.ai_core.nodes.level_of_detail.importance_agent import ImportanceAgent
from addons.ai_core.nodes.level_of_detail.importance_member import importance_warnings
from addons.ai_core.nodes.level_of_detail.lod_behavior import nearest_below, switch_children
from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.errors import shown
from ai_core.level_of_detail import group_lod as core
from ai_core.saving.fields import Fields, State, StateError
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES


@gdclass(icon="res://addons/ai_core/icons/group_lod.svg", keywords="level of detail, crowd")
class GroupLOD(ImportanceAgent, Node):
    """A town, an army, a herd: simulated as one while nobody is near, opened into its members else.

    Extend it and override _simulate() for the group as one, _expand() and _tick_member() for
    members that are there only while it is open, and _compress(). GroupLOD nodes below it
    are groups inside; AIBehavior, HabitTree and BehavioralLOD nodes are enabled while it is open.
    """

    class Source(IntEnum):
        VIEWERS = 0
        SCRIPT = 1

    enabled = export(bool, True, on_set="_enable", live=True, doc="Off: it closes, and is not simulated.")
    importance_source = export(
        Source, Source.VIEWERS, live=False,
        doc="Who says how important it is: ImportanceViewers, or a script that sets importance.")
    importance = export(
        float, 0.0, range=(0, 1, 0.001),
        shown_when=("importance_source", Source.SCRIPT), live=True,
        doc="What it opens by; set it only if the source is script.")
    open_at = export(float, 0.55, range=(0, 1, 0.01), live=False, doc="It opens at this importance or more.")
    close_at = export(
        float, 0.45, range=(0, 1, 0.01), live=False, doc="It closes below; not above open at.")
    radius = export(
        float, 10.0, range=(0, 10000, 0.5), or_greater=True, unit="m", live=False,
        shown_when=("importance_source", Source.VIEWERS),
        doc="How far its members are from the Node3D or Node2D above; distance is counted from the edge.")
    role = export(
        float, 0.0, range=(0, 1, 0.01), live=False,
        shown_when=("importance_source", Source.VIEWERS), doc="Part in the story, 0 to 1.")
    closed_period = export(
        int, 15, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", live=False, doc="Frames from one _simulate() to the next while it is closed.")
    member_period = export(
        int, 10, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", live=False,
        doc="Frames from one _tick_member() to the next, for each member.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), live=False, doc="Weight of its share of the budget.")

    opened = signal(doc="Its members run, each for itself.")
    closed = signal(doc="Its members are one again.")

    without_manager = "never opens"

    def __init__(self) -> None:
        self.core: core.GroupLOD | None = None
        self._told_open: bool | None = None       # while a signal tells of it, before the library knows
        self.agent_id = -1
        self._scheduler: Any = None
        self._task: Task | None = None
        self._outer: Any = None

    @hook
    def _simulate(self, elapsed_s: float) -> None:
        """Let time pass for all at once, while the group is closed."""

    @hook
    def _expand(self) -> PackedStringArray:
        """It opens: return names of members that are there only while it is open."""
        return PackedStringArray()

    @hook
    def _tick_member(self, member: str, elapsed_s: float) -> None:
        """A member that _expand() named goes on."""

    @hook
    def _compress(self) -> None:
        """It closes: take the members together again. If it raises, as Python can, the group stays open."""

    @property
    def size(self) -> float:
        return max(0.01, 2 * self.radius)

    def on_entered(self) -> None:
        if self.core is None:
            self._begin()
        if self.core is not None and self.importance_source == self.Source.VIEWERS:
            self.join_importance()

    def on_exit_tree(self) -> None:
        self.leave_importance()
        if self._outer is not None and self._outer.is_valid():
            self._outer.let_go(self)
        if self._scheduler is not None and self._scheduler.is_valid():
            if self._task is not None:
                self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)
        if self.core is not None:
            self.core.drop_members()
        self.core = self._task = self._scheduler = self._outer = None

    @method
    def is_open(self) -> bool:
        """Return whether its members run, each for itself."""
        if self._told_open is not None:
            return self._told_open
        return self.core is not None and self.core.is_open

    @method
    def get_member_names(self) -> PackedStringArray:
        """Return the paths of groups inside and, while it is open, the names of its members."""
        return PackedStringArray([] if self.core is None else list(self.core.members))

    @method
    def rebuild(self) -> None:
        """Look for characters below again, after adding some: they run if the group is open."""
        if self.core is not None:
            switch_children(self, self.core.is_open)

    @method
    def release(self) -> None:
        """Try again what had failed too often."""
        if self.core is not None:
            self.core.release()

    def saved(self) -> State:
        self._refresh_names()
        inner = self.core.save_state() if self._outer is None else None
        return {"version": 1, "settings": saved_settings(self), "group": inner}

    def prepared(self, state: object) -> Callable[[], None]:
        if self.core is None:
            raise StateError("it does not run; give it an AIScheduler first")
        self._refresh_names()
        fields = Fields.versioned(state, version=1)
        change_settings = prepared_settings(self, fields.group("settings"))
        inner = fields.anything("group")
        if (inner is None) != (self._outer is not None):
            fields.refuse("group", "must be there for an outermost group, and for no other")
        change = (lambda: None) if inner is None else self.core.prepare_state(inner)
        fields.end()

        def change_all() -> None:
            change_settings()
            change()

        return change_all

    def _refresh_names(self) -> None:
        self.core.name = path_of(self._scheduler, self)      # it may have been renamed

    def take_in(self, inner: Any) -> None:
        """Make a group below a member, by its path: districts may each have a group of the same name."""
        self.core.add(inner.core, name=str(self.get_path_to(inner)), period_frames=inner.closed_period,
                      priority=inner.priority)

    def let_go(self, inner: Any) -> None:
        """A group below leaves."""
        members = {} if self.core is None else self.core.members
        for name in [one for one, work in members.items() if work is inner.core]:     # renamed since, perhaps
            self.core.remove(name)

    def _get_configuration_warnings(self) -> list[str]:
        warnings = []
        if self.close_at > self.open_at:
            warnings.append(
                f"close_at must not be above open_at, got {self.close_at:g} and {self.open_at:g};"
                " lower the one or raise the other, apart by the hysteresis wanted")
        if self.importance_source == self.Source.VIEWERS:
            warnings += importance_warnings(self, self.without_manager)
        return [*warnings, *scheduler_warnings(self)]

    def _begin(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        if self.close_at > self.open_at:
            report_next_frame(self, lambda: [] if self.core is not None else self._get_configuration_warnings()[:1])
            return
        name = path_of(self._scheduler, self)
        self.core = core.GroupLOD(
            name, self._scheduler.clock, importance=self._current_importance, work=self._run_as_one,
            open_at=self.open_at, close_at=self.close_at, closed_period_frames=self.closed_period,
            member_period_frames=self.member_period, expand=self._open, member=self._member,
            compress=self._close, faults=self._scheduler.faults, trace=self._scheduler.trace)
        self._began_in_frame = self._scheduler.clock.now.frame
        switch_children(self, False)
        for inner in nearest_below(self, ("GroupLOD",)):
            if inner.core is not None:
                inner.be_inside(self)
        self._scheduler.join(self)
        outer = self._nearest_group()
        if outer is not None:
            if outer.core is not None:
                self.be_inside(outer)
            return                                # else the outer one takes it in, when it begins
        self._task = self._scheduler.schedule(
            self._go_on, name=named_after(self._scheduler, self), period_frames=1, priority=self.priority)
        self._scheduler.set_enabled(self._task, self.enabled)

    def be_inside(self, outer: Any) -> None:
        """Run as a member of another group."""
        outer.take_in(self)
        self._outer = outer

    def _nearest_group(self) -> Any:
        above = self.get_parent()
        while above is not None and not isinstance(above, GroupLOD):
            above = above.get_parent()
        return above

    def _go_on(self, turn: Turn) -> object:
        return self.core(turn) if self.can_process() else None

    def _current_importance(self) -> float:
        if not self.enabled:
            return 0.0
        if self.importance_source == self.Source.VIEWERS:
            value = None if self._importance is None else self._importance.value_of(self)
            self.importance = 0.0 if value is None else value
        return self.importance

    def _run_as_one(self, turn: Turn) -> None:
        if self.enabled and has_script_method(self, "_simulate"):
            self._simulate(turn.elapsed_s)

    def _open(self) -> list[str]:
        names = self._expand() if has_script_method(self, "_expand") else []
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"_expand() must return names in an array, got {shown(names)}")
        names, taken = list(names), set(self.core.members)
        for name in names:
            if not name or name in taken:
                raise ValueError(f"_expand() must return names that differ, got {shown(name)} again or an empty one")
            taken.add(name)
        switch_children(self, True)
        self._tell(True, self.opened)
        return names

    def _close(self) -> None:
        if has_script_method(self, "_compress"):
            self._compress()
        switch_children(self, False)
        self._tell(False, self.closed)

    def _tell(self, is_open: bool, what: Any) -> None:
        self._told_open = is_open
        try:
            what.emit()
        finally:
            self._told_open = None

    def _member(self, name: str) -> Callable[[Turn], object]:
        def go_on(turn: Turn) -> None:
            if self.enabled and has_script_method(self, "_tick_member"):
                self._tick_member(name, turn.elapsed_s)
        return go_on

    def _enable(self) -> None:
        if self.core is None:
            return
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)
        if not self.enabled:
            self.core.close()
        if self.core.is_open:                     # its members could not be compressed: they wait
            switch_children(self, self.enabled)

    def _in_use(self) -> None:
        if self.core is not None and self._scheduler.clock.now.frame != self._began_in_frame:
            raise RefusedValue("this cannot change while the group runs; set it before its first frame")
        if self._scheduler is not None:     # it has not run yet: begin again by what is set now
            self.on_exit_tree()
            self.on_entered()
