"""Which call the report of a quarantine names."""
from __future__ import annotations

import pytest

from addons.ai_core.nodes.scheduling.release_calls import release_call
from ai_core.clock import ManualClock
from ai_core.events import EventManager, PollingStation
from ai_core.faults import Fault
from ai_core.level_of_detail import BehavioralLOD, GroupLOD, LODBehavior
from ai_core.scheduling import Scheduler
from ai_core.senses import RegionalSenseManager


def task():
    return Scheduler(ManualClock()).add(print, period_frames=1)


def level():
    plan = LODBehavior(name="/root/Bob/Plan", work=print)
    return BehavioralLOD([plan]), plan.name


@pytest.mark.parametrize(("key", "call"), [
    (task, "release_behavior(1)"),
    (level, 'release_level("Plan") of its BehavioralLOD'),
    (lambda: (GroupLOD("crowd", ManualClock(), importance=float), "compress"), "release() of its GroupLOD"),
    (lambda: EventManager(ManualClock()).listen("alarm", print), "unlisten() and listen() again"),
    (lambda: (PollingStation(ManualClock()), "cover"), 'remove_topic("cover") and add_topic() again'),
    (lambda: (RegionalSenseManager(ManualClock()), "line_of_sight"), "core.release() of its SenseManager"),
    (lambda: (object(), "rule 'flee'"), "release_quarantined() of its node"),
    (lambda: "tick_batch of guard/walk", "release_quarantined() of its node"),
])
def test_a_report_names_the_one_call_that_releases(key, call):
    made = key()
    fault = Fault("work", 0, ValueError(), 3, is_quarantined=True, key=made)
    said = release_call(fault)
    assert said == call.replace("(1)", f"({getattr(made, 'id', 1)})")
