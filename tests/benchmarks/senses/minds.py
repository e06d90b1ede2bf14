"""Minds of many sensors: what stays in view moves on in arrays, beside looking at each one."""
from __future__ import annotations

import math

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.followed_pairs import PerceptTable
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sight.sight_cones import SightCone
from tools.benchmarking.declarations import Case, Contest

TARGETS = 5
FRAMES = 15
"""Frames in a run: each sensor is told once in them of what stays in view (count)."""


class VisitedPairs(PerceptTable):
    """Follows nothing, so that every sensor is visited in every pass."""

    def add(self, *_: object) -> None:
        """Leave it to the next visit."""


class Crowd:
    """n sensors that all see the same targets walk by."""

    def __init__(self, n: int, followed: PerceptTable) -> None:
        self.clock = ManualClock(1 / 60)
        self.manager = RegionalSenseManager(
            self.clock, modalities=(Modality.sight(range_m=100.0, kept_per_m=0.99),))
        self.manager._perceivers._followed = followed
        self.told = 0
        for k in range(n):
            self.manager.add_sensor(
                position=(k / n, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.1},
                sight_cones=[SightCone(100.0, math.tau, math.pi)], memory=SenseMemory(),
                awareness=AwarenessSettings(), on_sensed=self._count)
        self.targets = [
            self.manager.add_source(position=(k, 0, -5), strengths={"sight": 1.0}) for k in range(TARGETS)]
        for _ in range(100):     # until all are alert: nothing else happens after that
            self._sense()

    def live(self) -> None:
        """Let minds take in some frames; only they are run anew, on what was sensed in the last."""
        for _ in range(FRAMES):
            self.clock.advance()
            self.manager.move_sources(
                self.targets, [(k + self.clock.now.frame % 50 / 100, 0, -5) for k in range(TARGETS)])
            self.manager._perceivers.remember(Budget.unlimited(), self.manager._continuous)

    def last_known(self) -> list[object]:
        """What the first sensor knows of all targets."""
        known = [self.manager.memory_of(0).find(one) for one in self.targets]  # type: ignore[union-attr]
        return [(one.last_known_position, one.velocity) for one in known if one is not None]

    def _sense(self) -> None:
        self.clock.advance()
        self.manager.advance(Budget.unlimited())

    def _count(self, _: object) -> None:
        self.told += 1


def minds(n: int) -> Contest:
    """Memory and awareness of n sensors with five targets each, for 15 frames."""
    ours, visited = Crowd(n, PerceptTable()), Crowd(n, VisitedPairs())
    runs = {"ours": 0, "visited": 0}

    def case(crowd: Crowd, name: str) -> Case:
        def run() -> None:
            runs[name] += 1
            crowd.live()
        return run

    def complaint() -> str:
        for crowd, name in ((ours, "ours"), (visited, "visited")):
            expected = n * TARGETS * runs[name]
            if abs(crowd.told - 7 * n * TARGETS - expected) > 2 * n * TARGETS + runs[name] * n:
                return f"{name}: {crowd.told} sensations told, about {expected} more than at first wanted"
        while runs["ours"] != runs["visited"]:
            name = min(runs, key=lambda one: runs[one])
            case({"ours": ours, "visited": visited}[name], name)()
        return "" if ours.last_known() == visited.last_known() else "arrays remember something else than visits"

    return Contest(case(ours, "ours"), {"visiting each sensor": case(visited, "visited")}, complaint=complaint)
