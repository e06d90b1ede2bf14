"""LODBehavior: the behavior of a character in one range of importance."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    RefusedValue,
    Variant,
    export,
    gdclass,
    hook,
    is_overridden,
    method,
    signal,
)
from addons.ai_core.nodes.characters.character_work import LevelOfCharacter
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame
from ai_core.level_of_detail import behavioral_lod as core
from ai_core.level_of_detail.level_limits import Level
from ai_core.scheduling.task import Turn

SWITCHED = ("AIBehavior", "HabitTree", "BehavioralLOD", "GroupLOD")
"""Nodes that run while their level or group runs."""


@gdclass(icon="res://addons/ai_core/icons/lod_behavior.svg")
class LODBehavior(LevelOfCharacter, Node):
    """A level of detail: the behavior of a character while its importance is in a range. A child of BehavioralLOD.

    Extend it and override _lod_enter(), _lod_exit() and _lod_tick(), or add AIBehavior and HabitTree nodes below it,
    which are enabled while the level runs and disabled otherwise. Let the ranges of neighboring levels overlap; the
    overlap is the hysteresis. After a change in a running scene, call rebuild() of the BehavioralLOD.
    """

    lowest = export(
        float, 0.0, range=(0, 1, 0.01),
        shown_when=("fallback", False), doc="Lowest importance at which the level may run.")
    highest = export(
        float, 1.0, range=(0, 1, 0.01),
        shown_when=("fallback", False), doc="Highest importance at which the level may run.")
    fallback = export(bool, False,
        doc="If true, the level runs when no range contains the importance; its own range is ignored.")
    max_count = export(
        int, 0, range=(0, 100000, 1), or_greater=True, group="Optimizations",
        doc="Largest number of characters of a crowd at this level at once; 0 means unlimited.")

    entered = signal(("previous", str), doc="Emitted when the level starts; previous is empty for none.")
    exited = signal(("next", str), doc="Emitted when the level ends; next is empty for none.")

    def __init__(self) -> None:
        self._is_current = False

    def on_entered(self) -> None:
        above = self.get_parent()
        if above is not None and above.is_class("BehavioralLOD"):
            above.levels_changed()
        elif above is not None:
            report_next_frame(self, self._get_configuration_warnings)

    @hook
    def _lod_enter(self, previous: str, data: Variant) -> None:
        """Start the level; data is the return value of the previous level's _lod_exit(), null at first."""

    @hook
    def _lod_exit(self, next_level: str) -> Variant:
        """End the level, and return the data that the next level needs."""
        return None

    @hook
    def _lod_tick(self, elapsed_s: float) -> None:
        """Continue the level; called every period of the BehavioralLOD."""

    @method
    def is_current(self) -> bool:
        """Return true if this level is running."""
        return self._is_current

    def limits(self) -> Level:
        """Return the range and maximum count; a fallback has the full range."""
        lowest, highest = (0.0, 1.0) if self.fallback else (self.lowest, self.highest)
        return Level(lowest, highest, self.max_count or None)

    def definition(self, owner: Any, name: str) -> core.LODBehavior:
        """Return the library's behavior for this node.

        Args:
            owner: the BehavioralLOD, which emits each switch.
            name: name of the level in reports.
        """
        own_name = str(self.get_name())

        def enter(before: core.LODBehavior | None, data: Any) -> None:
            if not self.is_valid():
                return                            # freed by the game
            previous = owner.short_name(before)
            self._is_current = True
            try:
                if is_overridden(self, "_lod_enter"):
                    self._lod_enter(previous, data)
            finally:
                _while_there(
                    (self, lambda: switch_children(self, True)), (self, lambda: self.entered.emit(previous)),
                    (owner, lambda: owner.emit_level_changed(previous, own_name)))

        def leave(after: core.LODBehavior | None) -> Any:
            if not self.is_valid():
                return None
            following = owner.short_name(after)
            try:
                return self._lod_exit(following) if is_overridden(self, "_lod_exit") else None
            finally:
                self._is_current = False
                _while_there(
                    (self, lambda: switch_children(self, False)), (self, lambda: self.exited.emit(following)),
                    (owner, lambda: after or owner.emit_level_changed(own_name, "")))

        def tick(turn: Turn) -> None:
            if not self.is_valid():
                if owner.is_valid():              # otherwise the whole character was freed
                    raise RefusedValue(f"level '{own_name}' was freed; call rebuild() of its BehavioralLOD afterwards")
            elif is_overridden(self, "_lod_tick"):
                self._lod_tick(turn.elapsed_s)

        return core.LODBehavior(
            name=name, work=tick, lowest=self.lowest, highest=self.highest, enter=enter, exit=leave)

    def _get_configuration_warnings(self) -> list[str]:
        above = self.get_parent()
        if above is not None and not above.is_class("BehavioralLOD"):
            return ["is not a child of a BehavioralLOD, so it is not a level; make it one"]
        if self.lowest > self.highest and not self.fallback:
            return [f"lowest must not be above highest, got {self.lowest:g} and {self.highest:g}; swap them"]
        return []

    def take_state(self, is_current: bool) -> None:
        """Set whether the level runs, from a loaded game, without emitting a signal."""
        self._is_current = is_current


def nearest_below(node: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    """Yield nodes of some classes below a node, except those below another such node."""
    for child in node.get_children():
        if any(child.is_class(one) for one in kinds):
            yield child
        else:
            yield from nearest_below(child, kinds)


def switch_children(node: Any, is_on: bool) -> None:
    """Enable or disable the running nodes below a level or a group; inner groups open and close by themselves."""
    is_group = node.is_class("GroupLOD")
    for one in list(nearest_below(node, SWITCHED)):
        if not (is_group and one.is_class("GroupLOD")):
            one.set("enabled", is_on)


def _while_there(*steps: tuple[Any, Callable[[], object]]) -> None:
    """Call each step unless an earlier step freed its node."""
    for node, step in steps:
        if node.is_valid():
            step()
