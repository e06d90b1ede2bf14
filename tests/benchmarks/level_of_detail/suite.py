"""Level of detail: importance beside a plain loop, many inhabitants beside few."""
from __future__ import annotations

from tests.benchmarks.level_of_detail.city import frames_of_city
from tests.benchmarks.level_of_detail.importance import importance_of_agents
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "importance of many agents, and a city of which little is open",
    (
        Measurement(
            "importance of n agents, 4 viewers", importance_of_agents, sizes=(1000, 10_000, 100_000),
            goals={"plain loop": {100_000: 50.0}},
        ),
        Measurement(
            "60 frames of a city of n", frames_of_city, sizes=(1_000_000,),
            goals={"10,000 inhabitants": 1 / 1.3},
        ),
    ),
)
