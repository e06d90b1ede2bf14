"""What a PollingStation may compute in a frame, and which events make its answers old."""
from __future__ import annotations

import time
from typing import Any

from addons.ai_core.bridge.gd import PackedStringArray, export
from addons.ai_core.nodes.scheduling.scheduled import nearest, wait_for
from ai_core.budget import Budget

MANAGERS = "ai_event_managers"


class PollingLimits:
    """Budget and invalidation of a PollingStation; a part of that class."""

    is_inside_tree: Any
    answers: Any
    _answers: Any
    _answers_changed: Any
    is_limited = False      # asked at each poll: two exported properties would take longer

    answers_per_frame = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Budget", on_set="_limits_changed",
        doc="Most answers computed in a frame; beyond it old ones are told, where there are any, and the question"
            " waits for the next frame. 0 is no limit.")
    budget_us = export(
        float, 0.0, range=(0, 100000, 10), or_greater=True, unit="µs", on_set="_limits_changed",
        doc="The same as a time, without answers_per_frame; then the machine decides what is computed. 0 is no limit.")
    invalidated_by = export(
        PackedStringArray, (), group="Optimizations", on_set="listen_for_changes",
        doc="Codes of events after which answers of built-in topics are computed anew: a door was opened.")

    def begin_limits(self) -> None:
        self._frame = -1
        self._heard: list[tuple[Any, str]] = []
        self._heard_for: dict[tuple[Any, str, str, bool], Any] = {}

    def begin_frame(self, answers: Any) -> None:
        """Work off what waits, at the first question of a frame, and limit the rest of it."""
        frame = answers.clock.now.frame
        if frame == self._frame:
            return
        self._frame = frame
        if self.answers_per_frame:
            answers.begin_frame(Budget.of_steps(self.answers_per_frame))
        else:
            answers.begin_frame(Budget.of_time(self.budget_us, time.perf_counter_ns))

    def _limits_changed(self) -> None:
        self.is_limited = bool(self.answers_per_frame) or self.budget_us > 0

    def listen_for_changes(self) -> None:
        """Hear the events that make built-in answers old, at the nearest AIEventManager."""
        manager = None
        if len(self.invalidated_by) and self.is_inside_tree():
            manager = nearest(self, "AIEventManager", MANAGERS)
            wait_for(self, MANAGERS)        # for the first, or one that takes its place
        wanted = [] if manager is None else [(manager, code) for code in self.invalidated_by]
        if wanted == self._heard:
            return
        self.stop_listening()
        for manager, code in wanted:
            manager.listen(code, self._forget_own)
            self._heard.append((manager, code))

    def stop_listening(self) -> None:
        """Hear them no more."""
        for manager, code in self._heard:
            if manager.is_valid():
                manager.unlisten(code, self._forget_own)
        self._heard.clear()

    def invalidate_when(self, manager: Any, event_code: str, topic: str, by_key: bool) -> None:
        """Hear one more event, as long as both nodes and the topic are there; harmless if it is heard already."""
        question = manager, event_code, topic, by_key
        if question in self._heard_for:
            return

        def forget(_code: str, arguments: list[Any]) -> None:
            if self._answers is not None and topic in self._answers.codes:
                self._answers.invalidate(topic, *(arguments if by_key else ()))
        manager.listen(event_code, forget)
        self._heard_for[question] = forget

    def forget_events(self, topic: str | None = None) -> None:
        """Hear no more what made a topic old, or all of them."""
        for question in [one for one in self._heard_for if topic in (None, one[2])]:
            manager, event_code, _, _ = question
            if manager.is_valid():
                manager.unlisten(event_code, self._heard_for[question])
            del self._heard_for[question]

    def _forget_own(self, _code: str, _arguments: list[Any]) -> None:
        self._answers_changed()
