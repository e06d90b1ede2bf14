from typing import Any

from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph_ways import PortalTable
from ai_core.senses.graph.sense_wavefront import WavefrontLabels

INTERFACE: int

def spread(
    ways: PortalTable,
    waiting: WavefrontLabels,
    settled: NDArray[Any],
    range_m: float,
    faintest: float,
    until_m: float,
    most: int,
    reached: WavefrontLabels,
    left: WavefrontLabels,
) -> tuple[int, int]: ...
