"""Small worlds for the tests of the senses."""
from __future__ import annotations

import math

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sight.sight_cones import SightCone

ALL_ROUND = SightCone(50.0, math.tau, math.pi)
AHEAD = (0.0, 0.0, -1.0)


class World:
    """A manager and its clock; ``heard`` collects what sensors are told."""

    def __init__(self, *, seconds_per_frame=0.125, reraise=True, **settings):
        self.clock = ManualClock(seconds_per_frame)
        self.faults = FaultIsolation(reraise=reraise, report=lambda fault: self.reported.append(fault))
        self.reported = []
        self.heard = []
        self.manager = RegionalSenseManager(self.clock, faults=self.faults, **settings)

    def ear(self, position, threshold=0.0, **more):
        return self.manager.add_sensor(
            position=position, forward=AHEAD, thresholds={"hearing": threshold},
            **{"on_sensed": self.heard.append, **more},
        )

    def eye(self, position, *, forward=AHEAD, threshold=0.5, cones=(ALL_ROUND,), **more):
        return self.manager.add_sensor(
            position=position, forward=forward, thresholds={"sight": threshold},
            sight_cones=cones, **{"on_sensed": self.heard.append, **more},
        )

    def thing(self, position, *, sight=1.0, **more):
        return self.manager.add_source(position=position, strengths={"sight": sight}, **more)

    def tick(self, frames=1, budget=None):
        """Advance the clock, then the manager, frame by frame."""
        for _ in range(frames):
            self.clock.advance()
            self.manager.advance(budget or Budget.unlimited())

    def sensed(self):
        return [(one.sensor_id, one.source_id) for one in self.heard]


def hearing(*, kept_per_m=0.9, delay_s_per_m=0.0, range_m=100.0):
    return Modality("hearing", range_m=range_m, kept_per_m=kept_per_m,
                    speed_m_per_s=1 / delay_s_per_m if delay_s_per_m else math.inf)


class Rays:
    """A line of sight that counts its batches; blocked pairs are set by hand."""

    def __init__(self, blocked=()):
        self.blocked = set(blocked)
        self.batches = []

    def __call__(self, eyes, targets, sensor_ids, source_ids):
        pairs = list(zip(sensor_ids.tolist(), source_ids.tolist(), strict=True))
        self.batches.append(pairs)
        assert eyes.shape == targets.shape == (len(pairs), 3)
        return np.array([pair not in self.blocked for pair in pairs], np.bool_)


class Stopwatch:
    """Takes another time at each look."""

    def __init__(self, steps_ns):
        self._steps_ns, self._looks, self._ns = steps_ns, 0, 0

    def __call__(self):
        self._ns += self._steps_ns[self._looks % len(self._steps_ns)]
        self._looks += 1
        return self._ns
