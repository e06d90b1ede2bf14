"""Lets AIScheduler nodes measure the time of their thread, so that other programs of the machine do not count."""
from __future__ import annotations

import time

from addons.ai_core.bridge.gd import Node, gdclass
from addons.ai_core.nodes.scheduling import ai_scheduler


class ThreadTime:
    """Stands for the module ``time``."""

    perf_counter_ns = staticmethod(time.thread_time_ns)


@gdclass
class BenchThreadClock(Node):
    """From its entering the tree on, all budgets count the time of the main thread."""

    def on_enter_tree(self) -> None:
        ai_scheduler.time = ThreadTime  # type: ignore[assignment]
