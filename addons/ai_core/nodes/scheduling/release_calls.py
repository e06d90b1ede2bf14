"""Which call releases work from quarantine."""
from __future__ import annotations

from ai_core.events.event_manager import Subscription
from ai_core.events.polling_station import PollingStation
from ai_core.faults import Fault
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.scheduling.task import Task
from ai_core.senses.regional_sense_manager import RegionalSenseManager


def release_call(fault: Fault) -> str:
    """Return the call that releases the work of a fault, as text."""
    owner, part = fault.key if isinstance(fault.key, tuple) else (fault.key, "")
    if isinstance(owner, Task):
        return f"release_behavior({owner.id})"
    if isinstance(owner, BehavioralLOD):
        return f'release_level("{part.rpartition("/")[2]}") of its BehavioralLOD'
    if isinstance(owner, GroupLOD):
        return "release() of its GroupLOD"
    if isinstance(owner, Subscription):
        return "unlisten() and listen() again"
    if isinstance(owner, PollingStation):
        return f'remove_topic("{part}") and add_topic() again'
    if isinstance(owner, RegionalSenseManager):
        return "core.release() of its SenseManager"
    return "release_quarantined() of its node"
