"""Custom monitors of an AIScheduler in the debugger's Monitors tab."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import singleton
from ai_core.scheduling.task import Task

CATEGORY = "ai_core"

TOTALS = ("time_us", "budget_used_percent", "overruns", "behaviors")
"""Totals of every scheduler, read with ``monitored_total``: µs, %, frames so far, present number of behaviors."""


class SchedulerMonitors:
    """Custom monitors of one AIScheduler, from ``open`` to ``close``.

    The engine keeps the Callable of a monitor until the monitor is removed, and crashes at exit if its object
    is gone. So the Callables are methods of the node, and the monitors are removed when it leaves the tree.

    Args:
        node: has ``monitored_total(name)`` and ``monitored_behavior(id)``.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._suffix = ""
        self._totals: list[str] = []
        self._of_tasks: dict[int, str] = {}

    @property
    def is_open(self) -> bool:
        """Whether the monitors are shown."""
        return bool(self._totals)

    def open(self) -> None:
        """Show the totals under the first free name."""
        if self.is_open:
            return
        performance, name = singleton("Performance"), _plain(str(self._node.get_name()))
        suffixes = ["", f" ({name})", *(f" ({name} {number})" for number in range(2, 1000))]
        first = TOTALS[0]
        self._suffix = next(
            one for one in suffixes if not performance.has_custom_monitor(f"{CATEGORY}/{first}{one}"))
        for total in TOTALS:
            self._totals.append(f"{CATEGORY}/{total}{self._suffix}")
            performance.add_custom_monitor(self._totals[-1], self._node.monitored_total, [total])

    def close(self) -> None:
        """Remove all monitors."""
        self.show(())
        for shown in self._totals:
            singleton("Performance").remove_custom_monitor(shown)
        self._totals.clear()

    def show(self, tasks: Any) -> None:
        """Show the mean times of exactly these behaviors."""
        for task_id in list(self._of_tasks):
            self.leave_out(task_id)
        for task in tasks:
            self.add(task)

    def add(self, task: Task) -> None:
        """Show the mean time of a behavior; if its name is taken, its id is appended."""
        performance = singleton("Performance")
        shown = f"{CATEGORY}/{_plain(task.name)}{self._suffix}"
        if performance.has_custom_monitor(shown):
            shown += f" #{task.id}"
        performance.add_custom_monitor(shown, self._node.monitored_behavior, [task.id])
        self._of_tasks[task.id] = shown

    def leave_out(self, task_id: int) -> None:
        """Remove the monitor of a behavior; does nothing if there is none."""
        shown = self._of_tasks.pop(task_id, None)
        if shown is not None:
            singleton("Performance").remove_custom_monitor(shown)


def _plain(name: str) -> str:
    """Return a name without slashes: the engine allows one in the name of a monitor, after the category."""
    return name.replace("../", "").replace("/", ".")
