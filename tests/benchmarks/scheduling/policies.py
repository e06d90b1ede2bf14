"""What sharing a budget costs beside calling the work, and how much is left to the work."""
from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tools.benchmarking.declarations import Contest

FRAME_US = 1e6
# Long enough for every piece to run in every frame, so that all are timed and none waits.


SERVED = 100
"""Pieces of work that run in a frame while all others wait (count)."""


class Thinker:
    """A behavior that does next to nothing."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0

    def think(self, _turn: object) -> None:
        self.calls += 1


def load_balanced_work(n: int) -> Contest:
    """One frame of n due pieces under load balancing, each timed and given its share."""
    return _frame_of_work(Scheduler(ManualClock()), n)


def prioritised_work(n: int) -> Contest:
    """One frame of n due pieces of three priorities, each timed and given its share."""
    return _frame_of_work(Scheduler(ManualClock(), policy=Policy.PRIORITY), n)


def requesting_work(n: int) -> Contest:
    """One frame of n due pieces, every other of which asks for time of its own."""
    scheduler = Scheduler(ManualClock(), policy=Policy.REQUESTED_TIME)

    def ask() -> None:
        for task in scheduler.tasks[::2]:
            scheduler.request(task, 1)

    return _frame_of_work(scheduler, n, ask)


def backlog(n: int) -> Contest:
    """One frame in which SERVED of n pieces run and all others wait, each due in every frame."""
    return _frame_of_backlog(Scheduler(ManualClock()), n)


def rare_backlog(n: int) -> Contest:
    """The same where no more fall due than run: half of all wait."""
    return _frame_of_backlog(Scheduler(ManualClock()), n, period_frames=n // SERVED)


def _frame_of_backlog(scheduler: Scheduler, n: int, period_frames: int = 1) -> Contest:
    crowd, others = [[Thinker() for _ in range(n)] for _ in range(2)]
    for number, one in enumerate(crowd):
        scheduler.add(one.think, phase_frames=number // SERVED, period_frames=period_frames, priority=1 + number % 3)
    for _ in range(period_frames):  # one runs in each
        scheduler.advance(Budget.of_steps(0))
    thoughts = [one.think for one in others[:SERVED]]

    def ours() -> int:
        reads = count(0, 1000)  # each run takes 1 µs, however long it does
        scheduler.advance(Budget.of_time(SERVED, lambda: next(reads)))
        return SERVED

    def bare() -> int:
        for think in thoughts:
            think(None)
        return SERVED

    def complaint() -> str:
        ran = sum(one.calls for one in crowd)
        frames = scheduler.frame - period_frames
        is_off = not 0.95 * SERVED * frames <= ran - period_frames <= SERVED * frames
        return f"{ran} runs in {frames} frames" if is_off and frames else ""

    return Contest(ours, {"loop over the work": bare}, complaint=complaint)


def _frame_of_work(
    scheduler: Scheduler, n: int, prepare: Callable[[], None] = lambda: None
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
