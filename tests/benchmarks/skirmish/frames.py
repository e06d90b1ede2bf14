"""Frames of the AI of two strategists in the middle of a skirmish: within a budget, and all at once."""
from __future__ import annotations

import time

import numpy as np

from ai_core.budget import Budget
from demo_project.scenarios.skirmish import FRAMES_PER_S, Skirmish
from tools.benchmarking.declarations import LIMITED_CALL_NS, Contest
from tools.benchmarking.empty_call import empty_call_ns

BUDGET_US, OVER = 3000.0, 1.1
PLAYED_S = 60
FEW_FRAMES = 100
"""Below so many frames a hundredth of them is none."""


def frame_of_ai(n):
    """The AI of both sides in one frame; the hundredth slowest may be a tenth over its budget.

    The world stands still fallback, as only the AI is timed; its clock goes on, and so do looks, maps and
    thoughts. Processor time of this thread: what other programs take does not count.
    """
    watch = time.thread_time_ns
    game, other = (_played(n) for _ in range(2))
    slower = max(1.0, float(np.median([empty_call_ns(watch) for _ in range(9)])) / LIMITED_CALL_NS)
    used_us: list[float] = []

    def ours():
        game.clock.advance()
        began_ns = watch()
        game.scheduler.advance(Budget.of_time(BUDGET_US * slower, watch))
        used_us.append((watch() - began_ns) / 1000 / slower)

    def all_at_once():
        other.clock.advance()
        for side in other.sides:
            _finish(side.look)
            side.maps.begin()
            side.maps.advance(Budget.unlimited())
            _finish(side.think)

    def complaint():
        if len(used_us) < FEW_FRAMES:
            return ""
        p50, p99 = np.percentile(used_us, (50, 99))
        return "" if p99 <= OVER * BUDGET_US else f"p50 {p50:.0f} µs, p99 {p99:.0f} of {BUDGET_US:.0f} µs"

    return Contest(ours, {"naive, all at once": all_at_once}, complaint=complaint)


class _Turn:
    budget = Budget.unlimited()


def _finish(work):
    """Run a generator of work to its end, as somebody without a scheduler would."""
    running = work(_Turn)
    next(running, None)
    while True:
        try:
            running.send(_Turn)
        except StopIteration:
            return


def _played(units):
    game = Skirmish(1, units=units, stopwatch=time.thread_time_ns)
    for _ in range(PLAYED_S * FRAMES_PER_S):
        game.step()
    return game
