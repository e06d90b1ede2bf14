"""A crowd in the engine whose senses get more work than their budget pays for; `dev.py soak` plays it for longer."""
from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import singleton
from addons.ai_core.nodes.scheduling import ai_scheduler, scheduler_core

NS_PER_QUERY = 5_000
"""Time between two queries of the budget (ns). At 3,000 the budget pays for all sounds, above 7,000 for no bound
that ends within a visit."""


@pytest.fixture
def crowd(node, physics_frames, expect_errors, monkeypatch):
    """``crowd(sounds)``: 40 people, with as many sounds in a frame, and a budget that does not pay for three.

    The warning about it is one of the engine, and comes once. Time is counted, not measured: work takes as long as its
    queries of the budget, on any machine.
    """
    counted = SimpleNamespace(perf_counter_ns=count(0, NS_PER_QUERY).__next__)
    for module in (ai_scheduler, scheduler_core):
        monkeypatch.setattr(module, "time", counted)

    def add(sounds):
        expect_errors("signals are emitted faster than the budget of the senses", times=1)
        script = singleton("ResourceLoader").load("res://tests/soak/crowd.gd")
        made = node("Node3D", script=script, people=40, sounds=sounds, budget=400.0)
        physics_frames(2)
        return made

    return add


@pytest.mark.parametrize("sounds", [3, 30])
def test_visitor_is_noticed_within_the_bound_under_overload(crowd, sounds):
    crowd = crowd(sounds)
    crowd.live(450)
    before = crowd.report()
    crowd.live(1350)
    after = crowd.report()
    assert after["failures"] == []
    assert after["visits"] == 3
    assert after["noticed"] >= 2 * after["people"], "each sensor notices the visitor of each whole visit"
    assert after["merged"] > before["merged"]
    assert after["most_waiting"] <= max(4000, 2 * before["most_waiting"])
    assert after["objects"] <= before["objects"]


def test_signals_that_merge_are_counted_by_the_node(crowd):
    crowd = crowd(100)
    crowd.live(60)
    stats = crowd.get("manager").get_stats()
    assert stats["stimuli_merged"] > 500
    assert stats["stimuli_waiting"] <= 100, "one of each source, or those of the last frame"
