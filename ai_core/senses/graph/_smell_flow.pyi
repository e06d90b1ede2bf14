from typing import Any

from numpy.typing import NDArray

from ai_core.senses.graph.smell_flow import Cloud, NewRegions, SmellPlan

INTERFACE: int

def flow(
    plan: SmellPlan, cloud: Cloud, now_s: float, mass: NDArray[Any], came: NewRegions
) -> int: ...
