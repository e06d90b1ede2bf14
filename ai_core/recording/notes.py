"""Collector of task runs and reports while a frame runs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ai_core.clock import TimeIndex
from ai_core.recording.digest import PLAIN
from ai_core.recording.packed import pack

__all__ = ["FIELDS_OF_A_RUN", "REPORT_KINDS", "Notes"]

FIELDS_OF_A_RUN = 6
"""Values stored per run (count): name, depth, granted, steps, µs, result."""

REPORT_KINDS = ("events", "sensations", "states", "paths")
"""Kinds of reports in a frame; reports of a kind keep their order."""

class Notes:
    """Listener of a trace that collects what it reports; a closure for each hook runs a quarter faster than a method.

    Cost: 0.5 µs per run, including packing.
    """

    def __init__(self, frozen: Callable[[object], object]) -> None:
        self._frozen = frozen
        self._runs: list[Any] = []
        self._reports: tuple[list[object], ...] = tuple([] for _ in REPORT_KINDS)
        self._listen_to_tasks()
        events, sensations, states, paths = self._reports

        def event_sent(event: Any, now: TimeIndex) -> None:
            sender = None if event.sender is None else type(event.sender).__name__
            events.append(frozen((event.code, event.arguments, sender, event.due_at_s)))

        def sensed(
            sensor_id: int, source_id: int, modality_name: str, intensity: float, now: TimeIndex
        ) -> None:
            sensations.append(frozen((sensor_id, source_id, modality_name, intensity)))

        def state_entered(owner_name: str, state_path: str, reason: str, now: TimeIndex) -> None:
            states.append(frozen((owner_name, state_path, reason)))

        def path_done(ticket: object, now: TimeIndex) -> None:
            paths.append(frozen(ticket))

        self.event_sent, self.sensed = event_sent, sensed
        self.state_entered, self.path_done = state_entered, path_done

    def clear(self) -> None:
        """Clear all data at the start of a frame."""
        self._restart()
        self._runs.clear()
        for entries in self._reports:
            entries.clear()

    def packed(self, grants: Sequence[tuple[int, int] | None]) -> str:
        """Return (runs, reports by kind, grants) packed by ``packed.pack``; a run is FIELDS_OF_A_RUN values."""
        try:
            return pack((self._runs, self._reports, grants))
        except ValueError:  # for example, a name of a custom str class
            return pack((list(map(self._frozen, self._runs)), self._reports, grants))

    def _listen_to_tasks(self) -> None:
        frozen, extend, depth = self._frozen, self._runs.extend, 0

        def before_task(name: str, now: TimeIndex) -> None:
            nonlocal depth
            depth += 1

        def task_ran(
            name: str, now: TimeIndex, granted: float, steps: int, used_us: float, result: object
        ) -> None:
            nonlocal depth
            depth -= 1
            if type(result) not in PLAIN:  # mutable results are not stored
                result = frozen(result)
            extend((name, depth, granted, steps, used_us, result))

        def restart() -> None:
            nonlocal depth
            depth = 0

        self.before_task, self.task_ran, self._restart = before_task, task_ran, restart
