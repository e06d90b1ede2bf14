"""Saved behavioral levels of detail: what a load does to what was half done."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.scheduling.task import Turn


def test_load_completes_although_cleanup_of_old_work_raises(clock):
    def walking(turn):
        try:
            while True:
                yield
        finally:
            raise OSError("no way back")

    def walker(faults):
        return BehavioralLOD([LODBehavior(name="walk", work=walking, lowest=0.5),
                              LODBehavior(name="stroll", work=print, highest=0.5)],
                             faults=FaultIsolation(report=faults.append))

    faults = []
    saved, loaded = walker([]), walker(faults)
    state = saved.save_state()
    loaded.importance = 0.9
    loaded(Turn(clock.now, 0.1, Budget.of_steps(1)))
    assert loaded.current == "walk"
    loaded.prepare_state(state)()
    assert loaded.save_state() == state
    assert [(fault.name, str(fault.error)) for fault in faults] == [("walk", "no way back")]
