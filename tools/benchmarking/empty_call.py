"""The yardstick: what an empty Python method call takes here and now."""
from __future__ import annotations

import time
from collections.abc import Callable
from itertools import repeat

CALLS = 20_000


class _Called:
    def empty(self) -> None:
        pass


def empty_call_ns(stopwatch: Callable[[], int] = time.perf_counter_ns, calls: int = CALLS) -> float:
    """Return the time of ``calls`` empty method calls in a loop, for one (ns)."""
    called = _Called()
    begun = stopwatch()
    for _ in repeat(None, calls):
        called.empty()
    return (stopwatch() - begun) / calls
