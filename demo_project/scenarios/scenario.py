"""What every scenario is: parts under one scheduler, inputs, and a step."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import Trace


class Scenario(ABC):
    """A world that is stepped by hand, 60 frames a second unless it says otherwise.

    What comes from outside (a player, a fire) is asked of ``next_inputs`` and
    given to ``step``, so that it can be recorded and given again.

    Attributes:
        name: what it is called.
        seed: what all its chance comes from.
        budget_steps: default budget of a frame.
        clock, trace, faults, scheduler: what the world runs on.
        parts: by name, everything that lives across frames; each is saveable.
        observed: by name, what a recording compares; each has ``observe()``.
    """

    def __init__(
        self, name: str, seed: int, *, budget_steps: int, stopwatch: Stopwatch | None = None,
        seconds_per_frame: float = 1 / 60,
    ) -> None:
        self.name = name
        self.seed = seed
        self.budget_steps = budget_steps
        self.clock = ManualClock(seconds_per_frame)
        self.trace = Trace()
        self.faults = FaultIsolation(reraise=True)
        self.scheduler = Scheduler(
            self.clock, faults=self.faults, trace=self.trace, stopwatch=stopwatch
        )
        self.parts: dict[str, Any] = {"clock": self.clock}
        self.observed: dict[str, Any] = {}

    def step(self, budget: Budget | None = None, inputs: Any = None) -> None:
        """Run one frame.

        Args:
            budget: what it may use; None for ``budget_steps``.
            inputs: what comes from outside, as ``next_inputs`` returned it;
                None asks for it now.
        """
        self.clock.advance()
        self.take_in(self.next_inputs() if inputs is None else inputs)
        self.scheduler.advance(Budget.of_steps(self.budget_steps) if budget is None else budget)
        self.move(self.clock.seconds_per_frame)

    @abstractmethod
    def next_inputs(self) -> dict[str, Any]:
        """Return what comes from outside in the next frame, as plain data."""

    @abstractmethod
    def take_in(self, inputs: dict[str, Any]) -> None:
        """Let what comes from outside happen."""

    @abstractmethod
    def move(self, passed_s: float) -> None:
        """Let bodies and things move after everybody has thought."""
