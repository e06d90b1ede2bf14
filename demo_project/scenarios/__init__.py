"""Small worlds that run without an engine, for tests, benchmarks and recordings.

- ``guards``: senses and habits around an intruder that walks at random.
- ``crowd``: hundreds of thinkers share a budget that is too small for all.
- ``city``: four towns; near ones are people, far ones a number.
- ``ghosts``: four ghosts in a maze by one rule set.
- ``skirmish``: two strategists with 30 units each, on maps of their own.
- ``alarm``: smoke, delayed events, polling, random habits, a scheduler per storey.

``build(name, seed)`` makes one; the same seed makes the same world.
"""
from __future__ import annotations

from collections.abc import Callable

from ai_core.errors import UnknownNameError
from demo_project.scenarios import alarm, city, crowd, ghosts, guards, skirmish
from demo_project.scenarios.scenario import Scenario

__all__ = ["SCENARIOS", "Scenario", "build"]

SCENARIOS: dict[str, Callable[[int], Scenario]] = {
    "alarm": alarm.build,
    "city": city.build,
    "crowd": crowd.build,
    "ghosts": ghosts.build,
    "guards": guards.build,
    "skirmish": lambda seed: skirmish.build(seed, units=30),
}


def build(name: str, seed: int = 0) -> Scenario:
    """Return a new world.

    Raises:
        UnknownNameError: if there is none of this name.
    """
    if name not in SCENARIOS:
        raise UnknownNameError("scenario", name, SCENARIOS)
    return SCENARIOS[name](seed)
