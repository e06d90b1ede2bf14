"""The floor of calling scripts from an extension: each method by its name, many in one crossing, and nothing else."""
from __future__ import annotations

from array import array
from typing import Any

from _bridge import KeptCall

from addons.ai_core.bridge.gd import Node, Results, delta_time_of, gdclass, method

AT_ONCE = 64
NEVER_NS = 1 << 62


class _Given:
    elapsed_s = 0.0


@gdclass
class BenchNamedCalls(Node):
    """Calls ``think`` of its children, each every so many frames."""

    def __init__(self) -> None:
        self._rows: list[list[list[Any]]] = []
        self._ended_ns = array("q", bytes(8 * AT_ONCE))
        self._frame = 0

    @method
    def call_every(self, period: int) -> None:
        """Begin with the children that there are."""
        calls = [
            KeptCall(child, "think", "elapsed_s", Results(), "freed", is_watched=True) for child in self.get_children()
        ]
        due = [calls[first::period] for first in range(period)]
        self._rows = [[one[place:place + AT_ONCE] for place in range(0, len(one), AT_ONCE)] for one in due]
        self.set_process_internal(True)

    def on_process(self) -> None:
        given, rows = _Given(), self._rows[self._frame % len(self._rows)]
        given.elapsed_s = delta_time_of(self)
        self._frame += 1
        for calls in rows:
            made = KeptCall.call_row(calls, given, 0, NEVER_NS, self._ended_ns)
            for call in calls[made:]:
                call(given)
