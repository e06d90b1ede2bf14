"""The nodes of ai_core: Godot types in and out, one call into the library.

Run AI within a budget: AIScheduler, AIBehavior. Tell what happened: AIEventManager,
SignalEvent. Ask about the world: PollingStation. Perceive: SenseManager, Sensor3D,
SenseSource3D. Decide: HabitTree, Habit.
"""
from __future__ import annotations

from addons.ai_core.nodes.ai_behavior import AIBehavior
from addons.ai_core.nodes.ai_event_manager import AIEventManager
from addons.ai_core.nodes.ai_scheduler import AIScheduler
from addons.ai_core.nodes.polling_station import PollingStation
from addons.ai_core.nodes.signal_event import SignalEvent

__all__ = ["AIBehavior", "AIEventManager", "AIScheduler", "PollingStation", "SignalEvent"]
