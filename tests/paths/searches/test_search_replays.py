"""Searches that ran against time run again without it: they pause where they paused."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AnytimeSearch, AStarSearch, FlowField, RegionGraph, RegionSearch
from ai_core.recording.grants import RecordingBudget, ReplayBudget


def over_regions(passage, start, goal):
    regions = RegionGraph(passage, side=8, stretch=4)
    regions.advance(Budget.unlimited())
    return RegionSearch(regions, start, goal)


SEARCHES = {
    "A*": AStarSearch, "anytime": AnytimeSearch, "regions": over_regions,
    "flow": lambda passage, start, goal: FlowField(passage, goal),
}


def steps_by_frame(search, budgets):
    steps = []
    for budget in budgets:
        before = budget.steps
        search.advance(budget)
        steps.append(budget.steps - before)
        if search.is_done if hasattr(search, "is_done") else search.is_current:
            return steps
    return steps


@pytest.mark.parametrize("name", SEARCHES)
def test_a_replay_does_as_much_in_each_frame_as_the_recording(name):
    passage = Grid(np.where(np.arange(80 * 80).reshape(80, 80) % 7, 1.0, 2.0)).passage()
    now_ns, noted = 0, []

    def stopwatch():
        nonlocal now_ns
        now_ns += 1000
        return now_ns

    def watched():
        for _ in range(100):
            noted.append([])
            yield RecordingBudget(Budget.of_time(2, stopwatch), noted[-1])

    recorded = steps_by_frame(SEARCHES[name](passage, 0, 6399), watched())
    replayed = steps_by_frame(SEARCHES[name](passage, 0, 6399), (ReplayBudget(grants) for grants in noted))
    assert len(recorded) > 1
    assert replayed == recorded
