"""A market: hundreds of visitors think about where to go, on a budget too small for all.

Each thinks in its own period; a visitor that does not fit into a frame waits for the next
one. A census takes many frames; the takings are counted in one go, and
take their frame beyond its budget.
"""
from __future__ import annotations

import random
from typing import Any

import numpy as np

from ai_core.budget import Budget, Stopwatch
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ArrayOf, ListOf, Number, Whole
from ai_core.scheduling.task import Turn, Work
from demo_project.scenarios.scenario import Scenario

VISITORS = 240
BUDGET_STEPS = 22
PERIODS_FRAMES = (6, 10, 15, 30)
SIDE_M = 60.0
STALLS = 12
WALKS_M_S = 1.4
BOREDOM_PER_S = 0.05
TAKINGS_EVERY_FRAMES, TAKINGS_STEPS = 80, 36


class Market(Saveable, Scenario):
    """Visitors and stalls in a square."""

    STATE = DeclaredState(
        places=ArrayOf(shape=lambda market: market.places.shape),
        chosen=ArrayOf(np.int64, shape=lambda market: market.chosen.shape, minimum=0, maximum=STALLS - 1),
        interest=ListOf(ListOf(Number(), count=STALLS), count=lambda market: len(market.places)),
        appeal=ListOf(Number(), count=STALLS), crowding=ListOf(Whole(), count=STALLS),
        takings=ListOf(Number(), count=STALLS), chance=RandomGenerator())

    def __init__(self, seed: int = 0, *, count: int = VISITORS, stopwatch: Stopwatch | None = None) -> None:
        super().__init__("crowd", seed, budget_steps=max(1, BUDGET_STEPS * count // VISITORS), stopwatch=stopwatch)
        chance = random.Random(seed)
        self.chance = random.Random(seed + 1)
        self.stalls = _scatter(chance, STALLS)
        self.places = _scatter(chance, count)
        self.tastes = _scatter(chance, count, STALLS) / SIDE_M
        self.interest = [[1.0] * STALLS for _ in range(count)]
        self.appeal = [1.0] * STALLS
        self.chosen = np.zeros(count, np.int64)
        self.crowding = [0] * STALLS
        self.takings = [0.0] * STALLS
        self.census = Census(self)
        for visitor in range(count):
            period = PERIODS_FRAMES[int(chance.random() * len(PERIODS_FRAMES))]
            self.scheduler.add(
                self._thought_of(visitor), period_frames=period, name=f"visitor {visitor:03}",
                priority=4.0 if visitor % 20 == 0 else 1.0,
            )
        self.scheduler.add(self.census, period_frames=4, name="census", priority=2.0)
        self.scheduler.add(self._take_in_money, period_frames=TAKINGS_EVERY_FRAMES, name="takings")
        self.parts |= {"market": self, "census": self.census, "scheduler": self.scheduler}
        self.observed = {"market": self, "census": self.census}

    def next_inputs(self) -> dict[str, Any]:
        """Return {"sale": number of a stall or None}: now and then one becomes more attractive."""
        lucky = self.chance.random() < 1 / 50
        return {"sale": int(self.chance.random() * STALLS) if lucky else None}

    def take_in(self, inputs: dict[str, Any]) -> None:
        if inputs["sale"] is not None:
            self.appeal[inputs["sale"]] += 0.5

    def move(self, passed_s: float) -> None:
        offset = self.stalls[self.chosen] - self.places
        away_m = np.sqrt((offset * offset).sum(axis=1))
        share = np.minimum(1.0, WALKS_M_S * passed_s / np.maximum(away_m, 1e-9))
        self.places += offset * share[:, None]

    def observe(self) -> dict[str, Any]:
        """Return where everybody is and what was chosen."""
        return {
            "places": self.places, "chosen": self.chosen, "appeal": self.appeal,
            "crowding": self.crowding, "takings": self.takings,
        }

    def _thought_of(self, visitor: int) -> Work:
        tastes = self.tastes[visitor].tolist()
        stalls = self.stalls.tolist()

        def think(turn: Turn) -> object:
            """Weigh every stall; return the best and how good it is."""
            x, z = self.places[visitor].tolist()
            interest = self.interest[visitor]
            bored = int(self.chosen[visitor])
            interest[bored] = max(0.0, interest[bored] - BOREDOM_PER_S * turn.elapsed_s)
            best, best_score = 0, -1.0
            for stall, (stall_x, stall_z) in enumerate(stalls):
                away_m = abs(stall_x - x) + abs(stall_z - z)
                wish = tastes[stall] * interest[stall] * self.appeal[stall]
                score = wish / (1.0 + 0.05 * away_m + 0.01 * self.crowding[stall])
                if score > best_score:
                    best, best_score = stall, score
            self.chosen[visitor] = best
            return best, best_score

        return think

    def _take_in_money(self, turn: Turn) -> object:
        turn.budget.spend(TAKINGS_STEPS)  # all of it, whatever was granted
        for stall in range(STALLS):
            self.takings[stall] += turn.elapsed_s * self.crowding[stall] * 0.1
        return sum(self.takings)


class Census(Saveable):
    """Counts the visitors of every stall, a few at a time, and begins again."""

    STATE = DeclaredState(
        next=Whole(maximum=lambda census: len(census._market.chosen) - 1, at="_next"),
        counts=ListOf(Whole(), count=STALLS, at="_counts"))

    def __init__(self, market: Market) -> None:
        self._market = market
        self._next = 0
        self._counts = [0] * STALLS

    def advance(self, budget: Budget) -> object:
        """Count on; return how many are counted."""
        chosen = self._market.chosen
        while True:
            self._counts[int(chosen[self._next])] += 1
            self._next += 1
            budget.spend()
            if self._next == len(chosen):
                self._market.crowding, self._counts, self._next = self._counts, [0] * STALLS, 0
                return "complete"
            if budget.is_spent:
                return self._next

    def observe(self) -> dict[str, Any]:
        """Return how far it is."""
        return {"next": self._next, "counts": self._counts}


def build(seed: int = 0, **settings: Any) -> Market:
    """Return a market; ``count`` visitors if given."""
    return Market(seed, **settings)


def _scatter(chance: random.Random, count: int, columns: int = 2) -> Any:
    return np.array([[chance.random() * SIDE_M for _ in range(columns)] for _ in range(count)])
