"""What happened, and who is told.

Choose ``EventManager`` when one thing happens and many may care: a door opens.
Choose ``Narrowcast`` when only some may hear it: a squad, a battalion, a room;
with a ``SquadRadio`` for each who tells comrades what it intends and sees.
Choose ``CheckingEngine`` to look for what nobody would send by himself, and
``TimeOfDay`` for those who wait for 17:00 or for dawn.
Choose ``PollingStation`` when one asks and the answer is dear: can I see him.
``EventLog`` shows what was checked, sent and told.

Rejected: bit masks as the way codes are kept. Names in a dictionary cost the
same to dispatch, are not limited in number, and can be read in a debugger; a
mask is one more way to say which.
"""
from __future__ import annotations

from ai_core.events.checking import CheckingEngine, EventCheck
from ai_core.events.event import Delivery, Event, Receipt
from ai_core.events.event_log import EventLog, EventLogEntry
from ai_core.events.event_manager import EventCounts, EventManager, Subscription
from ai_core.events.event_registry import EVERY_CODE
from ai_core.events.narrowcast import Group, GroupMembership, Narrowcast
from ai_core.events.polling.polling_log import PollingLog
from ai_core.events.polling.polling_station import REFUSED, Answer, PollingStation, TopicStatistics
from ai_core.events.polling.polling_topic import IdPairs
from ai_core.events.squad_radio import RadioMessage, SquadRadio
from ai_core.events.time_of_day import TimeOfDay

__all__ = [
    "EVERY_CODE",
    "REFUSED",
    "Answer",
    "CheckingEngine",
    "Delivery",
    "Event",
    "EventCheck",
    "EventCounts",
    "EventLog",
    "EventLogEntry",
    "EventManager",
    "Group",
    "GroupMembership",
    "IdPairs",
    "Narrowcast",
    "PollingLog",
    "PollingStation",
    "RadioMessage",
    "Receipt",
    "SquadRadio",
    "Subscription",
    "TimeOfDay",
    "TopicStatistics",
]
