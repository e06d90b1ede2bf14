"""What docs/library/determinism.md shows of recording works as it says."""
from __future__ import annotations

import re
from pathlib import Path

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import Trace

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "determinism.md").read_text(encoding="utf-8")
FRAMES = 12


class Bob:
    """Walks on by what comes from outside."""

    def __init__(self):
        self.place = 0

    def think(self, turn):
        self.place += 1
        return self.place

    def observe(self):
        return {"place": self.place}


def world():
    clock, trace, bob = ManualClock(), Trace(), Bob()
    scheduler = Scheduler(clock, trace=trace)
    scheduler.add(bob.think, period_frames=2)

    def step(budget, inputs):
        bob.place += inputs["steps"]
        scheduler.advance(budget)
        clock.advance()

    return {"clock": clock, "trace": trace, "bob": bob, "step": step}


def test_its_sample_records_a_world_and_replays_it():
    (sample,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    imports, recording, replay = sample.split("\n\n")
    inputs = [{"steps": number % 3} for number in range(FRAMES)]
    known = {
        "Budget": Budget, "lines": [], "everything_that_comes_from_outside": inputs,
    }
    exec(imports, known)
    first = world()
    exec(recording, {**known, **first})
    for changed in (False, True):
        again = world()
        again["bob"].place += changed
        names = {**known, **again}
        exec(replay, names)
        assert (names["difference"] is None) == (not changed)
