"""The game's side of the debugger's tab, for scenes that measure: exported games have no debugger."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import GDObject, Node, Variant, gdclass, method, signal
from addons.ai_core.nodes.debugging.debug_watch import DebugWatch
from addons.ai_core.nodes.debugging.habit_probe import HabitProbe
from addons.ai_core.nodes.debugging.probe import CharacterProbes


@gdclass
class BenchLiveChart(Node):
    """Reports the habits of one character as ``DebuggerLink`` does, to a signal."""

    reported = signal(("report", Variant), doc="Emitted with each report.")

    def __init__(self) -> None:
        self._watch: Any = None
        self._path = ""

    @method
    def watch(self, scheduler: GDObject, path: str) -> None:
        """Begin to look at the habits of the character at a path."""
        self._watch = DebugWatch(scheduler, CharacterProbes({"HabitTree": HabitProbe}, print))
        self._path = path
        self._watch.choose("habits", path, "")

    @method
    def unwatch(self) -> None:
        """End it."""
        self._watch.close()
        self._watch = None

    @method
    def report(self) -> None:
        """Make a report."""
        self.reported.emit(self._watch.report())

    @method
    def wish(self) -> None:
        """Repeat the request, as the tab does every second."""
        self._watch.choose("habits", self._path, "")
