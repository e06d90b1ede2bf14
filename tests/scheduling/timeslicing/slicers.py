"""A world with a timeslicer in it, and executors that do what a test says."""
from __future__ import annotations

import json
from concurrent.futures import Executor, Future

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.timeslicer import Timeslicer, Timing


class InlineExecutor(Executor):
    """Runs each job as it is submitted."""

    def __init__(self):
        self.is_shut = False

    def submit(self, fn, /, *args, **kwargs):
        if self.is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class World:
    """A job is told the frame, negative for keys that are bad, and returns what it was told."""

    def __init__(self, timing=Timing.AIAO, keys=(), reraise=False, job=None, inputs=None, **settings):
        self.clock = ManualClock(0.5)
        self.reports = []
        self.ran = []
        self.bad = set()
        self.unreadable = set()
        self.faults = FaultIsolation(report=self.reports.append, reraise=reraise)
        self.slicer = Timeslicer(
            self.clock, job or self.job, inputs=inputs or self.read, timing=timing, name="decide",
            faults=self.faults, **settings,
        )
        for key in keys:
            self.slicer.add(key)

    def read(self, key):
        if key in self.unreadable:
            raise LookupError(key)
        return -self.clock.now.frame if key in self.bad else self.clock.now.frame

    def job(self, key, seen):
        self.ran.append(key)
        if seen < 0:
            raise ValueError(key)
        return [key, seen]

    def update(self, times=1, budget=None):
        started = 0
        for _ in range(times):
            self.clock.advance()
            started = self.slicer.advance(budget or Budget.unlimited())
        return started

    def results(self):
        return {key: self.slicer.result_of(key) for key in self.slicer.keys}

    def ages(self):
        return {key: self.slicer.age_updates(key) for key in self.slicer.keys}

    def save(self):
        return json.loads(json.dumps({"clock": self.clock.save_state(), "slicer": self.slicer.save_state()}))

    def load(self, state):
        changes = [getattr(self, name).prepare_state(one) for name, one in state.items()]
        for change in changes:
            change()

    def seen(self):
        """Everything that can be read of the slicer."""
        slicer = self.slicer
        return {
            key: (
                slicer.result_of(key), slicer.age_updates(key), slicer.age_s(key),
                slicer.is_failing(key), slicer.is_quarantined(key),
            )
            for key in slicer.keys
        }, slicer.statistics()


def age_bounds(timing, updates, *, later=False):
    """Return the least and the greatest age of results, with batches of so many updates."""
    reads_together, shows_together = timing.value
    if shows_together:
        return (updates if reads_together else 1), 2 * updates - 1
    return later, (2 * updates - 2 if reads_together else updates - 1) + later
