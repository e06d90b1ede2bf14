"""Percepts of many sensors: memory and awareness of what stays in view."""
from __future__ import annotations

import math

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sight.sight_cones import SightCone
from tools.benchmarking.declarations import Contest

TARGETS = 5
FRAMES = 15
"""Frames in a run: each sensor is told once in them of what stays in view (count)."""


class Crowd:
    """n sensors that all see the same targets walk by."""

    def __init__(self, n: int) -> None:
        self.clock = ManualClock(1 / 60)
        self.manager = RegionalSenseManager(
            self.clock, modalities=(Modality.sight(range_m=100.0, kept_per_m=0.99),))
        self.told = 0
        for k in range(n):
            self.manager.add_sensor(
                position=(k / n, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.1},
                sight_cones=[SightCone(100.0, math.tau, math.pi)], memory=SenseMemory(),
                awareness=AwarenessSettings(), on_sensed=self._count)
        self.targets = [
            self.manager.add_source(position=(k, 0, -5), strengths={"sight": 1.0}) for k in range(TARGETS)]
        for _ in range(100):     # until all are alert: nothing else happens after that
            self.clock.advance()
            self.manager.advance(Budget.unlimited())

    def live(self) -> None:
        """Advance percepts over some frames, with what was in view in the last."""
        for _ in range(FRAMES):
            self.clock.advance()
            self.manager.move_sources(
                self.targets, [(k + self.clock.now.frame % 50 / 100, 0, -5) for k in range(TARGETS)])
            self.manager._perception.advance(self.manager._continuous.pairs, Budget.unlimited())

    def _count(self, _: object) -> None:
        self.told += 1


def minds(n: int) -> Contest:
    """Memory and awareness of n sensors with five targets each, for 15 frames."""
    crowd = Crowd(n)

    def complaint() -> str:
        record = crowd.manager.memory_of(0)
        known = 0 if record is None else len(record)
        return "" if known == TARGETS and crowd.told else f"a sensor knows {known} of {TARGETS} targets"

    return Contest(crowd.live, complaint=complaint)
