from typing import Any

from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph_ways import Ways
from ai_core.senses.graph.sense_wavefront import Labels

INTERFACE: int

def spread(
    ways: Ways,
    waiting: Labels,
    settled: NDArray[Any],
    range_m: float,
    faintest: float,
    until_m: float,
    most: int,
    reached: Labels,
    left: Labels,
) -> tuple[int, int]: ...
