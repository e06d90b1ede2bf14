"""The floor of calling scripts from an extension: each method by its name, many in one crossing, and nothing else."""
from __future__ import annotations

from typing import Any

from _bridge import KeptBatch, KeptCall

from addons.ai_core.bridge.gd import Node, Results, delta_time_of, gdclass, method


class _Row:
    changes = 0

    def __init__(self, calls: list[Any]) -> None:
        self.calls = calls


class _Given:
    elapsed_s = 0.0


@gdclass
class BenchNamedCalls(Node):
    """Calls ``think`` of its children, each every so many frames."""

    def __init__(self) -> None:
        self._batches: list[Any] = []
        self._frame = 0

    @method
    def call_every(self, period: int) -> None:
        """Begin with the children that there are."""
        calls = [
            KeptCall(child, "think", "elapsed_s", Results(), "freed", is_watched=True) for child in self.get_children()
        ]
        self._batches = [KeptBatch(_Row(calls[first::period])) for first in range(period)]
        self.set_process_internal(True)

    def on_process(self) -> None:
        given, batch = _Given(), self._batches[self._frame % len(self._batches)]
        given.elapsed_s = delta_time_of(self)
        self._frame += 1
        batch.begin(given)
        for call in batch:
            call(given)
