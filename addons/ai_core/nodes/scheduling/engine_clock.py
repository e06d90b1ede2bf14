"""EngineClock: the engine's frames as a clock, for nodes without an AIScheduler."""
from __future__ import annotations

from addons.ai_core.bridge.gd import singleton
from ai_core.clock import TimeIndex


class EngineClock:
    """Counts physics and process frames, and seconds since the start. Cost: three engine calls per reading."""

    @property
    def now(self) -> TimeIndex:
        frame = singleton("Engine").get_physics_frames() + singleton("Engine").get_process_frames()
        return TimeIndex(frame, singleton("Time").get_ticks_usec() / 1e6)
