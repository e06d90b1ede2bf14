"""GroupLOD: simulates many characters as one group, and expands it into its members again."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    PackedStringArray,
    RefusedValue,
    export,
    gdclass,
    hook,
    is_overridden,
    method,
    signal,
)
from addons.ai_core.nodes.level_of_detail.importance_member import WITH_VIEWERS, ImportanceAgent, importance_warnings
from addons.ai_core.nodes.level_of_detail.lod_behavior import nearest_below, switch_children
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    ONE_SHOT,
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.errors import shown
from ai_core.level_of_detail import group_lod as core
from ai_core.saving.declared_state import DeclaredState, Hook
from ai_core.saving.fields import State, refuse
from ai_core.saving.inner_state import prepared_inner
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Turn


class _GroupWork:
    """The work of an outermost group's task, which passes pauses of its scheduler on to the members."""

    def __init__(self, node: GroupLOD) -> None:
        self._node = node

    def __call__(self, turn: Turn) -> object:
        return self._node._run(turn)

    def skip_time(self, seconds: float) -> None:
        """Leave out a time that has just passed of the ``elapsed_s`` of all members."""
        if self._node.core is not None:
            self._node.core.skip_time(seconds)


@gdclass(icon="res://addons/ai_core/icons/group_lod.svg", keywords="level of detail, crowd")
class GroupLOD(ImportanceAgent, Node):
    """A group such as a town, an army or a herd: simulated as one while it is unimportant, otherwise as its members.

    Extend it and override _simulate() for the closed group, _expand() and _tick_member() for members that exist only
    while it is open, and _compress(). GroupLOD nodes below it are inner groups; AIBehavior, HabitTree and
    BehavioralLOD nodes below it are enabled while it is open.
    """

    enabled = export(bool, True, on_set="_enable", live=True, doc="If false, the group closes and is not simulated.")
    open_at = export(
        float, 0.55, range=(0, 1, 0.01), live=False, core="open_at", doc="Lowest importance at which the group opens.")
    close_at = export(
        float, 0.45, range=(0, 1, 0.01), live=False, core="close_at",
        doc="Importance below which the group closes; must not be above open_at.")
    radius = export(
        float, 10.0, range=(0, 10000, 0.5), or_greater=True, unit="m", live=False, shown_when=WITH_VIEWERS,
        doc="Radius of the group around the Node3D or Node2D above; distances to viewers are measured from its edge.")
    role = export(
        float, 0.0, range=(0, 1, 0.01), live=False, shown_when=WITH_VIEWERS,
        doc="Role of the group in the story, from 0 to 1.")
    closed_period = export(
        int, 15, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", live=False, core="closed_period_frames",
        doc="Number of frames between two calls of _simulate() while the group is closed; it opens this late at most.")
    member_period = export(
        int, 10, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", live=False,
        core="member_period_frames",
        doc="Number of frames between two calls of _tick_member() for each member.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), live=False, doc="Weight of the group's share of the budget.")

    opened = signal(doc="Emitted when the group opens and its members run.")
    closed = signal(doc="Emitted when the group closes and is simulated as one.")

    without_manager = "never opens"

    STATE = DeclaredState(settings=Hook(), group=Hook())
    cannot_load = "the group does not run; add an AIScheduler first"

    def __init__(self) -> None:
        self._signalled_open: bool | None = None  # during a signal, before the library changes
        self._outer: Any = None
        self._kept_members: list[str] | None = None     # those with which it left the tree, open
        self._knows_importance = False            # the last time the group ran
        self._is_to_enable = False

    @hook
    def _simulate(self, elapsed_s: float) -> None:
        """Simulate the closed group as one for an elapsed time; called every closed_period frames."""

    @hook
    def _expand(self) -> PackedStringArray:
        """Return the names of members that exist only while the group is open; called when it opens."""
        return PackedStringArray()

    @hook
    def _tick_member(self, member: str, elapsed_s: float) -> None:
        """Run a member that _expand() returned; called every member_period frames while the group is open."""

    @hook
    def _compress(self) -> None:
        """Summarize the members; called when the group closes. If it raises, which Python can, the group stays open."""

    @property
    def size(self) -> float:
        return max(0.01, 2 * self.radius)

    def on_entered(self) -> None:
        if self.core is None:
            self._begin()
        if self.core is not None and self.importance_source == self.ImportanceSource.VIEWERS:
            self.join_importance()

    def on_exit_tree(self) -> None:
        self.leave_importance()
        if self.core is not None and self.core.is_open:
            self._kept_members = [
                name for name, work in self.core.members.items() if not isinstance(work, core.GroupLOD)]
        if self._outer is not None and self._outer.is_valid():
            self._outer.release_inner(self)
        self.leave_tasks()
        if self.core is not None:
            self.core.drop_members()
        self.core = self._task = self._scheduler = self._outer = None

    @method
    def is_open(self) -> bool:
        """Return true if the group is open and its members run."""
        if self._signalled_open is not None:
            return self._signalled_open
        return self.core is not None and self.core.is_open

    @method
    def get_member_names(self) -> PackedStringArray:
        """Return the paths of inner groups and, while the group is open, the names of its members."""
        return PackedStringArray([] if self.core is None else list(self.core.members))

    @method
    def rebuild(self) -> None:
        """Read the nodes below again, after adding some; they run if the group is open."""
        if self.core is not None:
            switch_children(self, self.is_open())

    @method
    def release(self) -> None:
        """Allow members and _simulate() to run again that were disabled after repeated failures."""
        if self.core is not None:
            self.core.release()

    def _save_group(self) -> State | None:
        self.core.name = path_of(self._scheduler, self)      # it may have been renamed
        return self.core.save_state() if self._outer is None else None

    def _prepare_group(self, plain: object, place: str) -> Callable[[], object]:
        if (plain is None) != (self._outer is not None):
            refuse(place, "must be set for an outermost group, and null for an inner group")
        self.core.name = path_of(self._scheduler, self)
        return prepared_inner(self.core, plain, repr(place))

    def add_inner(self, inner: Any) -> None:
        """Add a group below as a member, by its path, because inner groups may have equal names."""
        self.core.add(inner.core, name=str(self.get_path_to(inner)), period_frames=inner.closed_period,
                      priority=inner.priority)

    def release_inner(self, inner: Any) -> None:
        """Remove a group below."""
        members = {} if self.core is None else self.core.members
        for name in [one for one, work in members.items() if work is inner.core]:     # it may have been renamed
            self.core.remove(name)

    def _get_configuration_warnings(self) -> list[str]:
        warnings = []
        if self.close_at > self.open_at:
            warnings.append(
                f"close_at must not be above open_at, got {self.close_at:g} and {self.open_at:g};"
                " lower close_at or raise open_at; their difference is the hysteresis")
        if self.importance_source == self.ImportanceSource.VIEWERS:
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
            expand=self._open, member=self._member, compress=self._close, **core_settings(self),
            faults=self._scheduler.faults, trace=self._scheduler.trace)
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
                if outer.core.is_open:
                    self._open_again()
            return                                # otherwise the outer group adds it when it starts
        self._task = self._scheduler.schedule(
            _GroupWork(self), name=named_after(self._scheduler, self), period_frames=1, priority=self.priority)
        self._scheduler.set_enabled(self._task, self.enabled)
        self._open_again()

    def _open_again(self) -> None:
        """Open with the members with which the group left the tree, if it was open then; inner groups as well."""
        if self._kept_members is None:
            return
        self.core.open(self._scheduler.clock.now.frame)
        for inner in nearest_below(self, ("GroupLOD",)):
            if inner.core is not None:
                inner._open_again()
        if not self.enabled:                      # disabled outside the tree
            self._enable_soon()

    def be_inside(self, outer: Any) -> None:
        """Run as a member of another group."""
        outer.add_inner(self)
        self._outer = outer

    def _nearest_group(self) -> Any:
        above = self.get_parent()
        while above is not None and not isinstance(above, GroupLOD):
            above = above.get_parent()
        return above

    def _run(self, turn: Turn) -> object:
        if not self.can_process():
            self.core.skip_time(turn.elapsed_s)
            return None
        count = self.core(turn)
        self._pace()
        return count

    def _pace(self) -> None:
        """Run every closed_period frames while the group is closed, from its first known importance on."""
        if self._task is None or self._task.is_removed:
            return
        may_rest = self._knows_importance and self.importance < self.open_at and not self.core.is_open
        period = self.closed_period if may_rest else 1
        if period != self._task.period_frames:
            self._scheduler.reschedule(self._task, period_frames=period, phase_frames=None, priority=self.priority)

    def importance_set(self) -> None:
        if self.importance_source == self.ImportanceSource.SCRIPT:
            self._pace()

    def _current_importance(self) -> float:
        self._knows_importance = self.read_importance()
        return self.importance if self.enabled and self._knows_importance else 0.0

    def _run_as_one(self, turn: Turn) -> None:
        if self.enabled and is_overridden(self, "_simulate"):
            self._simulate(turn.elapsed_s)

    def _open(self) -> list[str]:
        kept, self._kept_members = self._kept_members, None
        if kept is not None:
            switch_children(self, True)
            return kept
        names = self._expand() if is_overridden(self, "_expand") else []
        if isinstance(names, str) or not isinstance(names, Iterable):
            bool(names)         # refuses a method with await
            raise RefusedValue(f"_expand() must return an array of names, got {shown(names)}")
        names, taken = list(names), set(self.core.members)
        for name in names:
            if not isinstance(name, str) or not name or name in taken:
                raise RefusedValue(f"_expand() must return unique, non-empty names, got {shown(name)}")
            taken.add(name)
        switch_children(self, True)
        self._emit_signal(True, self.opened)
        return names

    def _close(self) -> None:
        if is_overridden(self, "_compress"):
            self._compress()
        switch_children(self, False)
        self._emit_signal(False, self.closed)

    def _emit_signal(self, is_open: bool, changed: Any) -> None:
        self._signalled_open = is_open
        try:
            changed.emit()
        finally:
            self._signalled_open = None

    def _member(self, name: str) -> Callable[[Turn], object]:
        def run(turn: Turn) -> None:
            if self.enabled and is_overridden(self, "_tick_member"):
                self._tick_member(name, turn.elapsed_s)
        return run

    def _enable_soon(self) -> None:
        """Close or run, as ``enabled`` says, in the next frame."""
        if not self._is_to_enable:
            self._is_to_enable = True
            self.get_tree().connect("process_frame", self._enable, ONE_SHOT)

    def _enable(self) -> None:
        if self._signalled_open is not None:      # set in a signal, before the group has changed
            self._enable_soon()
            return
        self._is_to_enable = False
        if self.core is None:
            return
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)
        if not self.enabled:
            self.core.close()
        if self.core.is_open:                     # its members could not be compressed, and wait
            switch_children(self, self.enabled)

    def _in_use(self) -> None:
        if self.core is not None and self._scheduler.clock.now.frame != self._began_in_frame:
            raise RefusedValue("cannot change while the group runs; set it before its first frame")
        if self._scheduler is not None:     # it has not run yet: start again with the present settings
            self.on_exit_tree()
            self.on_entered()
