"""What happened, and who is told.

Choose ``EventManager`` when one thing happens and many may care: a door opens,
a shot is fired. Nobody asks; those who listen to the code are told.
Choose ``PollingStation`` when one asks and the answer is dear: can I see him,
how long is the way. Answers are kept for a while and shared by all who ask.

Rejected: a bit mask of codes for interest. Strings in a dictionary cost the
same to dispatch, are not limited in number, and can be read in a debugger.
"""
from __future__ import annotations

from ai_core.events.event_manager import Event, EventCounts, EventManager, Listening
from ai_core.events.polling_station import PollingStation, TopicStatistics

__all__ = [
    "Event",
    "EventCounts",
    "EventManager",
    "Listening",
    "PollingStation",
    "TopicStatistics",
]
