"""AIBehavior: one method of one node, called every so many frames."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    StringName,
    export,
    gdclass,
    report_error,
)
from addons.ai_core.nodes.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.scene_values import path_of
from addons.ai_core.nodes.scheduled import scheduler_of
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Task, Turn

SAVED = ("enabled", "period_frames", "automatic_phase", "phase_frames", "priority")


@gdclass(icon="res://addons/ai_core/icons/ai_behavior.svg")
class AIBehavior(Node):
    """Calls ``method(elapsed_s)`` of its target regularly, within the AIScheduler's budget."""

    target = export(NodePath, NodePath(".."), on_set="_rebuild", doc="Whose method is called; by default the parent.")
    method_name = export(
        StringName, StringName("think"), on_set="_rebuild", doc="Called with the seconds since its last run.")
    enabled = export(
        bool, True, on_set="_enable",
        doc="Off: the method is not called. The time until it is on again counts as elapsed.")
    period_frames = export(
        int, 10, range=(1, 600, 1), or_greater=True, unit="frames", group="Optimizations",
        on_set="_rebuild", doc="Frames from one run to the next; larger is rarer.")
    automatic_phase = export(bool, True, on_set="_rebuild", doc="Run on the frames where the fewest others run.")
    phase_frames = export(
        int, 0, range=(0, 600, 1), or_greater=True, unit="frames", on_set="_rebuild",
        doc="Due when (frame + phase) is a multiple of the period; used when automatic phase is off.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_rebuild", doc="Weight of its share of the budget.")

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        self._rebuild()
        if self._scheduler is not None:
            self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        self._stop()
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._scheduler = None

    def is_in_use(self) -> bool:
        return self._task is not None

    def saved(self) -> State:
        return {"version": 1, "settings": saved_settings(self, SAVED)}

    def prepared(self, state: object) -> Callable[[], None]:
        fields = Fields.versioned(state, version=1)
        change = prepared_settings(self, SAVED, fields.group("settings"))
        fields.end()
        return change

    def _get_configuration_warnings(self) -> list[str]:
        node = self.get_node_or_null(self.target)
        if node is None:
            return [f"target '{self.target}' is not in the scene; choose the node whose method is called"]
        if not node.has_method(self.method_name):
            return [f"'{node.get_name()}' has no method {self.method_name}(); write one that takes the elapsed seconds"]
        return []

    def _rebuild(self) -> None:
        if self._scheduler is None:
            return
        self._stop()
        warnings = self._get_configuration_warnings()
        for warning in warnings:
            report_error(warning, self)
        if not warnings:
            node = self.get_node(self.target)
            phase = None if self.automatic_phase else self.phase_frames
            name = f"{path_of(self._scheduler, node)}.{self.method_name}"
            self._task = self._scheduler.schedule(
                self._caller(node, str(self.method_name)), name=name,
                period_frames=self.period_frames, phase_frames=phase, priority=self.priority)
            self._enable()

    def _enable(self) -> None:
        # Left out, not removed: what is off when a game is saved is found, and off, when it is loaded.
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)

    def _caller(self, node: Any, name: str) -> Any:
        def call(turn: Turn) -> object:
            if not node.can_process():       # paused or disabled
                return None
            return self._scheduler.result_of(node.call(name, turn.elapsed_s))
        return call

    def _stop(self) -> None:
        if self._task is not None:
            if self._scheduler.is_valid():
                self._scheduler.unschedule(self._task)
            self._task = None
