"""A house of three storeys: smoke spreads, detectors poll it, an alarm sounds late upstairs.

Events with delays, answers that are polled and kept, habits launched at random,
and a scheduler for each storey inside the one of the house.
"""
from __future__ import annotations

import random
from typing import Any

from ai_core.budget import Stopwatch
from ai_core.events.event_manager import Event, EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Flag, ListOf, Number
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Turn, Work
from demo_project.scenarios.resident import Resident
from demo_project.scenarios.scenario import Scenario

STOREYS, ROOMS = 3, 4
RESIDENTS_PER_STOREY = 4
BUDGET_STEPS = 12
DETECTORS_EVERY_FRAMES = 6
SMOKE_IS_FOUND_AT = 0.3
SOUND_PER_STOREY_S = 0.4
ALL_CLEAR_AFTER_S = 2.0
SPREAD_PER_FRAME, THINNING_PER_FRAME = 0.02, 0.012


class House(Saveable, Scenario):
    """Rooms in a row on each storey, residents, smoke."""

    STATE = DeclaredState(
        smoke=ListOf(Number(), count=lambda house: len(house.smoke)), is_alarmed=Flag(), chance=RandomGenerator())

    def __init__(self, seed: int = 0, *, stopwatch: Stopwatch | None = None) -> None:
        super().__init__("alarm", seed, budget_steps=BUDGET_STEPS, stopwatch=stopwatch)
        self.chance = random.Random(seed)
        self.smoke = [0.0] * (STOREYS * ROOMS)
        self.is_alarmed = False
        self.events = EventManager(
            self.clock, codes=("smoke_found", "alarm", "all_clear"), faults=self.faults, trace=self.trace
        )
        self.polling = PollingStation(self.clock, faults=self.faults)
        self.polling.add_topic("smoke_near", self._smoke_near, lifetime_frames=4)
        self.events.listen("smoke_found", self._sound_the_alarm)
        self.events.listen("all_clear", self._calm_down)
        self.scheduler.add(self.events, name="events", priority=4.0)
        self.parts |= {"house": self, "events": self.events, "polling": self.polling}
        self.observed["house"] = self
        self.residents: list[Resident] = []
        for storey in range(STOREYS):
            self._furnish(storey)
        self.parts["scheduler"] = self.scheduler

    def next_inputs(self) -> dict[str, Any]:
        """Return {"smoke": room or None}: now and then something begins to burn."""
        burns = self.chance.random() < 1 / 150
        return {"smoke": int(self.chance.random() * len(self.smoke)) if burns else None}

    def take_in(self, inputs: dict[str, Any]) -> None:
        if inputs["smoke"] is not None:
            self.smoke[inputs["smoke"]] += 2.0

    def move(self, passed_s: float) -> None:
        before = list(self.smoke)
        for room in range(len(before)):
            for other in _neighbours(room):
                self.smoke[room] += SPREAD_PER_FRAME * (before[other] - before[room])
            self.smoke[room] *= 1 - THINNING_PER_FRAME
        for resident in self.residents:
            resident.walk(passed_s)

    def observe(self) -> dict[str, Any]:
        """Return the smoke in every room, and what is going on."""
        return {
            "smoke": self.smoke, "is_alarmed": self.is_alarmed, "queue": self.events.queue_length,
            "polled": [(one.code, one.hits, one.misses) for one in self.polling.statistics()],
        }

    def _furnish(self, storey: int) -> None:
        """Put detectors and residents on a storey, under a scheduler of its own."""
        floor = Scheduler(self.clock, policy=Policy.FREQUENCY, faults=self.faults, trace=self.trace)
        for room in range(storey * ROOMS, (storey + 1) * ROOMS):
            floor.add(self._detector(room), period_frames=DETECTORS_EVERY_FRAMES, name=f"detector {room}")
        for number in range(RESIDENTS_PER_STOREY):
            name = f"resident {storey}.{number}"
            resident = Resident(
                name, storey * ROOMS + number % ROOMS, self.seed * 100 + len(self.residents),
                clock=self.clock, trace=self.trace, faults=self.faults,
                smells=lambda room: float(self.polling.poll("smoke_near", room)),
                rooms=tuple(range(storey * ROOMS, (storey + 1) * ROOMS)),
            )
            self.residents.append(resident)
            self.events.listen(("alarm", "all_clear"), resident.hears)
            floor.add(resident.think, period_frames=3, name=name)
            self.parts[name] = self.observed[name] = resident
            self.parts[f"habits of {name}"] = resident.habits
        self.scheduler.add(floor, name=f"storey {storey}")
        self.parts[f"storey {storey}"] = floor

    def _detector(self, room: int) -> Work:
        def detect(turn: Turn) -> object:
            level = float(self.polling.poll("smoke_near", room))
            if level > SMOKE_IS_FOUND_AT and not self.is_alarmed:
                self.events.send("smoke_found", room, level)
            return level

        return detect

    def _smoke_near(self, room: int) -> float:
        return max(self.smoke[room], *(0.5 * self.smoke[other] for other in _neighbours(room)))

    def _sound_the_alarm(self, event: Event) -> None:
        if not self.is_alarmed:
            self.is_alarmed = True
            room = event.arguments[0]
            for storey in range(STOREYS):
                away = abs(storey - room // ROOMS)
                self.events.send("alarm", storey, delay_s=SOUND_PER_STOREY_S * away)
            self.events.send("all_clear", delay_s=ALL_CLEAR_AFTER_S)

    def _calm_down(self, _event: Event) -> None:
        self.is_alarmed = False


def build(seed: int = 0, **settings: Any) -> House:
    """Return a house."""
    return House(seed, **settings)


def _neighbours(room: int) -> list[int]:
    """Return the rooms beside, below and above."""
    beside = [one for one in (room - 1, room + 1) if one // ROOMS == room // ROOMS and one >= 0]
    return beside + [one for one in (room - ROOMS, room + ROOMS) if 0 <= one < STOREYS * ROOMS]
