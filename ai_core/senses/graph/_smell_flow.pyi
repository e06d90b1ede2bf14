from typing import Any

from numpy.typing import NDArray

from ai_core.senses.graph.smell_flow import Cloud, Newcomers, SmellPlan

INTERFACE: int

def flow(
    plan: SmellPlan, cloud: Cloud, now_s: float, mass: NDArray[Any], came: Newcomers
) -> int: ...
