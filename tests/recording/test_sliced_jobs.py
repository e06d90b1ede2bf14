"""Slices of jobs that were recorded on budgets of time: they pause in a replay where they paused."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.scheduling.timeslicer import Timeslicer


@pytest.mark.parametrize("allowed_us", [0.5, 1.5, 3.5, 9.5])
def test_an_update_on_time_pauses_in_a_replay_where_it_paused(allowed_us):
    passed_ns, started, grants = [0], [], []

    def think(key):
        passed_ns[0] += 1000
        return key

    for replays in (False, True):
        slicer = Timeslicer(ManualClock(), think)
        for key in range(8):
            slicer.add(key)
        whole = Budget.of_time(allowed_us, lambda: passed_ns[0])
        started.append(slicer.advance(ReplayBudget(grants) if replays else RecordingBudget(whole, grants)))
    assert started[0] == started[1] == min(8, math.ceil(allowed_us))
