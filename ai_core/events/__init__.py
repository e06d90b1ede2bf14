"""Events and polling: notification of listeners, and cached answers to queries.

- ``EventManager`` broadcasts an event to all listeners of its code: a door opens.
- ``Narrowcast`` limits an event to a group: a squad, a battalion, a room. With a
  ``SquadRadio`` a member shares intents and sightings with its group.
- ``CheckingEngine`` checks for conditions that have no natural sender.
- ``TimeOfDay`` notifies listeners at a time of day: 17:00, or dawn.
- ``PollingStation`` answers costly queries and caches the answers: a line of sight.
- ``EventLog`` records checks, events, deliveries and polls.

Rejected: bit masks as the storage of codes. Names in a dictionary cost the same
to dispatch, are not limited in number, and can be read in a debugger; a mask is
only another notation for a set of codes.
"""
from __future__ import annotations

from ai_core.events.checking import CheckingEngine, EventCheck
from ai_core.events.event import EVERY_CODE, Delivery, Event, Receipt
from ai_core.events.event_log import EventLog, EventLogEntry
from ai_core.events.event_manager import EventCounts, EventManager, Subscription
from ai_core.events.narrowcast import Group, GroupMembership, Narrowcast
from ai_core.events.polling_station import Answer, PollingStation, TopicStatistics
from ai_core.events.squad_radio import RadioMessage, SquadRadio
from ai_core.events.time_of_day import TimeOfDay

__all__ = [
    "EVERY_CODE", "Answer", "CheckingEngine", "Delivery", "Event", "EventCheck", "EventCounts", "EventLog",
    "EventLogEntry", "EventManager", "Group", "GroupMembership", "Narrowcast", "PollingStation", "RadioMessage",
    "Receipt", "SquadRadio", "Subscription", "TimeOfDay", "TopicStatistics"]
