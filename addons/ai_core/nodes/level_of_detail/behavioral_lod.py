"""BehavioralLOD: runs the behavior that suits the importance of a character."""
from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    RefusedValue,
    StringName,
    export,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.characters.character_work import LevelOfCharacter
from addons.ai_core.nodes.level_of_detail.importance_manager import LODCrowd
from addons.ai_core.nodes.level_of_detail.importance_member import WITH_VIEWERS, ImportanceAgent, importance_warnings
from addons.ai_core.nodes.level_of_detail.lod_behavior import LODBehavior, switch_children
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    check_callable,
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.level_of_detail import behavioral_lod as core
from ai_core.saving.declared_state import DeclaredState, Hook
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Turn


@gdclass(icon="res://addons/ai_core/icons/behavioral_lod.svg", keywords="level of detail, behavior")
class BehavioralLOD(LevelOfCharacter, ImportanceAgent, Node):
    """Runs one of its LODBehavior children, the levels, depending on the importance of the character.

    The character is the nearest Node3D or Node2D above. The first child is the most detailed level. A level runs
    while the importance is in its range; then it exits, and the next level enters with the data that the exit
    returned.
    """

    class Arbitration(IntEnum):
        FIRST = 0
        ANY = 1
        MOST_CENTRAL = 2
        SMALLEST_RANGE = 3

    enabled = export(bool, True, on_set="_enable", live=True,
        doc="If false, the level exits and no level runs.")
    role = export(
        float, 0.0, range=(0, 1, 0.01), on_set="_change_role", shown_when=WITH_VIEWERS, live=True,
        doc="Role of the character in the story: 0 for a passer-by, 1 for a main character.")
    size = export(
        float, 1.0, range=(0.01, 1000, 0.01), or_greater=True, unit="m", live=False, shown_when=WITH_VIEWERS,
        doc="Diameter of the character as seen from afar.")
    arbitration = export(
        Arbitration, Arbitration.FIRST, live=False, group="Choice", core="arbitration",
        doc="Choice among several levels in range: the first level, any level, the level whose center is nearest to the"
            " importance, or the level with the smallest range.")
    crowd = export(
        StringName, StringName(""), live=False, group="Optimizations", shown_when=WITH_VIEWERS,
        doc="Name of the crowd; characters of the same crowd share the maximum counts of levels. If empty, there are no"
            " shared limits.")
    spread_updates = export(
        int, 1, range=(1, 1000, 1), or_greater=True, live=False, shown_when=WITH_VIEWERS,
        doc="Number of evaluations over which characters that join a crowd together get their levels.")
    period = export(
        int, 6, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames", on_set="_reschedule",
        live=True,
        doc="Number of frames between two choices of a level, and between two calls of _lod_tick().")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the node's share of the budget.")

    level_changed = signal(
        ("previous", str), ("next", str),
        doc="Emitted when another level runs; an empty string is no level.")

    without_manager = "its levels are never chosen"
    radius = 0.0

    STATE = DeclaredState(settings=Hook(), lod=Hook())
    cannot_load = "its levels do not run; add LODBehavior children and an AIScheduler first"

    def __init__(self) -> None:
        self._levels: dict[str, LODBehavior] = {}      # by the name of the node
        self._prefix = ""
        self._is_entered = self._is_to_begin = False
        self._was_called = False           # called by a script; a restart would lose that

    def on_entered(self) -> None:
        self._is_entered = True
        self._enter()

    def _enter(self) -> None:
        if self.core is None:
            self._begin()
        if self.core is not None and self.importance_source == self.ImportanceSource.VIEWERS:
            self.join_importance()
            self._join_crowd()

    def on_exit_tree(self) -> None:
        self._is_entered = False
        self.leave_importance()
        self._end()

    @method
    def get_level(self) -> str:
        """Return the name of the running level, an empty string if no level runs."""
        current = None if self.core is None else self.core.current
        return (current or "").removeprefix(self._prefix)

    @method
    def force_level(self, level: str, for_s: float = math.inf) -> None:
        """Run a level regardless of the importance, for a time or until unforce_level().

        In a crowd, the character gets the level at the next evaluation in place of the least important character;
        maximum counts still apply.
        """
        self.core_or_refuse().force(self._full_name(level), for_s=None if for_s == math.inf else for_s)

    @method
    def unforce_level(self) -> None:
        """End force_level(), so that levels are chosen by importance again."""
        if self.core is not None:
            self.core.unforce()

    @method
    def set_compression(self, leaving: str, entering: str, function: GDCallable) -> None:
        """Set a function that converts the return value of one level's _lod_exit() for another's _lod_enter()."""
        check_callable(function, "set_compression")
        self.core_or_refuse().compress(self._full_name(leaving), self._full_name(entering), function)

    @method
    def release_level(self, level: str) -> None:
        """Allow a level that was disabled after repeated failures to be chosen again."""
        self.core_or_refuse().release(self._full_name(level))

    @method
    def rebuild(self) -> None:
        """Read the levels below again, after a script has changed them."""
        self._is_to_begin = False
        self.leave_importance()
        self._end()
        if self._is_entered:        # not in a signal of a level that ends as the node leaves
            self._enter()

    def _save_lod(self) -> object:
        return _called(self.core.save_state(), f"{path_of(self._scheduler, self)}/")

    def _prepare_lod(self, plain: object, place: str) -> Callable[[], None]:
        change = self.core.prepare_state(_called(plain, self._prefix))

        def change_all() -> None:
            if self.enabled:
                self._join_crowd()
            elif self._importance is not None:
                self._importance.leave_crowd(self)
            change()
            for name, level in self._levels.items():
                level.take_state(name == self.get_level())

        return change_all

    def short_name(self, behavior: core.LODBehavior | None) -> str:
        """Return the name of a level's node, "" for none."""
        return "" if behavior is None else behavior.name.removeprefix(self._prefix)

    def emit_level_changed(self, previous: str, following: str) -> None:
        self.level_changed.emit(previous, following)

    def core_or_refuse(self) -> core.BehavioralLOD:
        if self.core is None and not self.is_inside_tree():
            raise RefusedValue("its levels do not run outside the tree; add it to a scene first")
        if self.core is None:
            raise RefusedValue("its levels do not run; see the error that was reported when it entered the tree")
        self._was_called = True
        return self.core

    def _get_configuration_warnings(self) -> list[str]:
        children = [child for child in self.get_children() if isinstance(child, LODBehavior)]
        if not children:
            return ["has no LODBehavior below it and does nothing; add at least one"]
        warnings = []
        if sum(child.fallback for child in children) > 1:
            warnings.append("has several levels with fallback on; turn it on for one only")
        if self.importance_source == self.ImportanceSource.VIEWERS:
            warnings += importance_warnings(self, self.without_manager)
        elif self.crowd:
            warnings.append(
                "shares no limits with its crowd, because a script sets its importance; set importance_source to"
                " Viewers, or clear crowd")
        return [*warnings, *scheduler_warnings(self)]

    def levels_changed(self) -> None:
        """Try to start again after a level below was added or changed."""
        if self.core is None and self._is_entered and not self._is_to_begin:
            self._is_to_begin = True
            self.call_deferred("rebuild")       # a script may add further levels

    def _begin(self) -> None:
        children = [child for child in self.get_children() if isinstance(child, LODBehavior)]
        if not children or sum(child.fallback for child in children) > 1:
            report_next_frame(self, lambda: [] if self.core is not None else self._get_configuration_warnings())
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        self._prefix = f"{path_of(self._scheduler, self)}/"
        children.sort(key=lambda child: child.fallback)          # the fallback comes last
        self._levels = {str(child.get_name()): child for child in children}
        try:
            self.core = self._made_core()
        except ValueError as error:
            mistake = str(error).replace(self._prefix, "")
            report_next_frame(self, lambda: [] if self.core is not None else [mistake])
            return
        self._was_called = False
        self._began_in_frame = self._scheduler.clock.now.frame
        for child in children:
            switch_children(child, False)
        self._scheduler.join(self)
        self._reschedule()

    def _made_core(self) -> core.BehavioralLOD:
        made = [(level, level.definition(self, self._prefix + name)) for name, level in self._levels.items()]
        return core.BehavioralLOD(
            [one for level, one in made if not level.fallback], **core_settings(self),
            fallback=next((one for level, one in made if level.fallback), None), faults=self._scheduler.faults)

    def _end(self) -> None:
        if self.core is not None:
            self.core.level = len(self._levels)
            self.core.switch_if_needed()
        self.leave_tasks()
        self.core = self._task = self._scheduler = None

    def _reschedule(self) -> None:
        if self.core is None:
            return
        when: dict[str, Any] = {"period_frames": self.period, "phase_frames": None, "priority": self.priority}
        if self._task is not None:
            self._scheduler.reschedule(self._task, **when)
            return
        name = named_after(self._scheduler, self, "/level")
        self._task = self._scheduler.schedule(self._choose_and_run, name=name, **when)
        self._enable()

    def _choose_and_run(self, turn: Turn) -> object:
        if not self.can_process():                # paused or disabled
            return None
        if not self.read_importance():            # not evaluated yet
            return None
        self.core.importance = self.importance
        return self.core(turn)

    def _enable(self) -> None:
        if self._task is None:
            return
        self._scheduler.set_enabled(self._task, self.enabled)
        if self.enabled:
            self.core.level = None
            self._join_crowd()
            return
        if self._importance is not None:
            self._importance.leave_crowd(self)
        self.core.level = len(self._levels)       # beyond the last level: none
        self.core.unforce()
        self.core.switch_if_needed()

    def new_crowd(self) -> LODCrowd:
        """Return an empty crowd with the levels of this node."""
        return LODCrowd([level.limits() for level in self._levels.values()], self.spread_updates)

    def _join_crowd(self) -> None:
        if self.crowd and self.enabled and self._importance is not None and self._importance.crowd_of(self) is None:
            self._importance.join_crowd(self, str(self.crowd))

    def _full_name(self, level: str) -> str:
        self.core_or_refuse()
        if level not in self._levels:
            raise RefusedValue(f"unknown level '{level}'; use one of: {', '.join(self._levels)}")
        return self._prefix + level

    def _change_role(self) -> None:
        if self._importance is not None:
            self._importance.core.set_role(self.agent_id, self.role)

    def _in_use(self) -> None:
        if self.core is not None and (self._was_called or self._scheduler.clock.now.frame != self._began_in_frame):
            raise RefusedValue("cannot change while the levels run; set it before their first frame")
        if self._is_entered:                # they have not run yet: start again with the present settings
            self.rebuild()


def _called(state: Any, prefix: str) -> object:
    """Return a saved state with the level names of this node, which may have had another name."""
    def own(name: str) -> str:
        return prefix + name.rpartition("/")[2]

    try:
        current, forced = state["current"], state["forced"]
        return {
            **state, "current": current and own(current), "forced": forced and [own(forced[0]), *forced[1:]],
            "failing": {own(name): one for name, one in state["failing"].items()},
            "works": {own(name): work for name, work in state["works"].items()}}
    except (LookupError, TypeError, AttributeError):
        return state                     # the next reader refuses it with the reason
