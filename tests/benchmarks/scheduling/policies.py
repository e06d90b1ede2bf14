"""What sharing a budget costs beside calling the work, and how much is left to the work."""
from __future__ import annotations

import time
from collections.abc import Callable

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.priority import PriorityScheduler
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.sharing import SharingScheduler
from tools.benchmarking.declarations import Contest

FRAME_US = 1e6
# Long enough for every piece to run in every frame, so that all are timed and none waits.


class Thinker:
    """A behavior that does next to nothing."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0

    def think(self, _turn: object) -> None:
        self.calls += 1


def load_balanced_work(n: int) -> Contest:
    """One frame of n due pieces under load balancing, each timed and given its share."""
    return _frame_of_work(LoadBalancingScheduler(ManualClock()), n)


def prioritised_work(n: int) -> Contest:
    """One frame of n due pieces of three priorities, each timed and given its share."""
    return _frame_of_work(PriorityScheduler(ManualClock()), n)


def requesting_work(n: int) -> Contest:
    """One frame of n due pieces, every other of which asks for time of its own."""
    scheduler = RequestedTimeScheduler(ManualClock())

    def ask() -> None:
        for task in scheduler.tasks[::2]:
            scheduler.request(task, 1)

    return _frame_of_work(scheduler, n, ask)


def _frame_of_work(
    scheduler: SharingScheduler, n: int, prepare: Callable[[], None] = lambda: None
) -> Contest:
    crowd, others = [[Thinker() for _ in range(n)] for _ in range(2)]
    for number, one in enumerate(crowd):
        scheduler.add(one.think, phase_frames=0, priority=1 + number % 3)
    prepare()
    thoughts = [one.think for one in others]

    def ours() -> int:
        scheduler.advance(Budget.of_time(FRAME_US, time.perf_counter_ns))
        return n

    def bare() -> int:
        for think in thoughts:
            think(None)
        return n

    def complaint() -> str:
        frames = scheduler.frame
        missed = sum(one.calls != frames for one in crowd)
        unmeasured = sum(not row["used_us_mean"] for row in scheduler.statistics())
        return f"{missed} of {n} missed a frame, {unmeasured} were not timed" if missed or unmeasured else ""

    return Contest(ours, {"loop over the work": bare}, complaint=complaint)
