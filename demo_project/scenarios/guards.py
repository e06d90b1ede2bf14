"""Six guards patrol a yard with walls; an intruder walks and runs through it at will.

They see in cones and past walls, hear running, remember, chase, follow clues,
look around and give up. Budget: enough for most frames, not for all.
"""
from __future__ import annotations

import math
from typing import Any

from ai_core.budget import Stopwatch
from ai_core.saving.declared_state import DeclaredState, Part, Saveable
from ai_core.saving.kinds import Whole
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sight.sight_cones import SightCone
from demo_project.scenarios.guard import Guard
from demo_project.scenarios.player import Player
from demo_project.scenarios.scenario import Scenario
from demo_project.scenarios.yard import Body, Place, distance_m, line_of_sight

BUDGET_STEPS = 10
THINKS_EVERY_FRAMES = 4
CAUGHT_WITHIN_M = 0.9
STRIDE_FRAMES = 18
"""Frames between two footsteps of a running intruder (count)."""

CORNERS: list[Place] = [(20.0, 10.0), (38.0, 28.0), (2.0, 28.0), (38.0, 2.0), (1.0, 1.0)]
"""Where the intruder begins, first in the middle, then wherever it was not caught."""

ROUTES: list[list[Place]] = [
    [(3.0, 3.0), (3.0, 20.0), (12.0, 20.0), (12.0, 3.0)],
    [(20.0, 4.0), (27.0, 4.0), (27.0, 12.0), (20.0, 12.0)],
    [(36.0, 3.0), (36.0, 26.0)],
    [(5.0, 26.0), (12.0, 26.0), (12.0, 18.0)],
    [(15.0, 18.0), (28.0, 18.0), (28.0, 26.0), (28.0, 18.0)],
    [(33.0, 17.0), (20.0, 17.0), (33.0, 20.0)],
]
CONES = (SightCone(14.0, math.radians(90), math.radians(60)), SightCone(4.0, math.radians(200), math.radians(90), 0.7))


class Guards(Saveable, Scenario):
    """The yard, its guards and the intruder."""

    STATE = DeclaredState(intruder=Part(), times_caught=Whole())

    def __init__(self, seed: int = 0, *, count: int = len(ROUTES), stopwatch: Stopwatch | None = None) -> None:
        super().__init__("guards", seed, budget_steps=BUDGET_STEPS * count // len(ROUTES), stopwatch=stopwatch)
        self.player = Player(seed)
        self.intruder = Body(CORNERS[0], speed_m_s=2.0)
        self.times_caught = 0
        self.senses = RegionalSenseManager(
            self.clock, line_of_sight=line_of_sight, faults=self.faults, trace=self.trace,
            modalities=(Modality.sight(range_m=20.0), Modality.hearing(range_m=30.0)),
        )
        self.source = self.senses.add_source(position=_at(CORNERS[0]), strengths={"sight": 1.0, "hearing": 2.0})
        self.guards = [
            Guard(f"guard {n}", ROUTES[n % len(ROUTES)], seed * 1000 + n,
                  clock=self.clock, trace=self.trace, faults=self.faults)
            for n in range(count)
        ]
        self.sensors = [self._sensor_of(guard) for guard in self.guards]
        self.scheduler.add(self.senses, name="senses", priority=4.0)
        for guard in self.guards:
            self.scheduler.add(guard.think, period_frames=THINKS_EVERY_FRAMES, name=guard.name)
            self.parts[guard.name] = guard
            self.parts[f"habits of {guard.name}"] = guard.habits
            self.observed[guard.name] = guard
        self.observed["yard"] = self
        self.parts |= {"yard": self, "player": self.player, "senses": self.senses, "scheduler": self.scheduler}

    def next_inputs(self) -> dict[str, Any]:
        return self.player.next_inputs()

    def take_in(self, inputs: dict[str, Any]) -> None:
        x, z = inputs["move"]
        self.intruder.facing = (x, z)
        self.intruder.speed_m_s = 4.0 if inputs["run"] else 2.0
        self.intruder.go((x, z), self.intruder.speed_m_s * self.clock.seconds_per_frame)
        self.senses.move_sources([self.source], [_at(self.intruder.place)])
        if inputs["run"] and self.clock.now.frame % STRIDE_FRAMES == 0:
            self.senses.emit(self.source, "hearing")

    def move(self, passed_s: float) -> None:
        for guard in self.guards:
            guard.body.walk(passed_s)
            if distance_m(guard.body.place, self.intruder.place) < CAUGHT_WITHIN_M:
                self.times_caught += 1
                self.intruder.place = CORNERS[self.times_caught % len(CORNERS)]
        self.senses.move_sensors(
            self.sensors, [_at(guard.body.place) for guard in self.guards],
            [_at(guard.body.facing) for guard in self.guards],
        )

    def observe(self) -> dict[str, Any]:
        """Return the state of the yard itself."""
        return {"intruder": self.intruder.observe(), "times_caught": self.times_caught}

    def _sensor_of(self, guard: Guard) -> int:
        return self.senses.add_sensor(
            position=_at(guard.body.place), forward=_at(guard.body.facing),
            thresholds={"sight": 0.3, "hearing": 0.25}, sight_cones=CONES,
            memory=guard.memory, awareness=AwarenessSettings(),
        )


def build(seed: int = 0, **settings: Any) -> Guards:
    """Return a yard; ``count`` guards if given, which share the routes."""
    return Guards(seed, **settings)


def _at(place: Place) -> tuple[float, float, float]:
    return (place[0], 0.0, place[1])
