from typing import Any

from numpy.typing import NDArray

from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight_kernels import Sense
from ai_core.senses.source_table import SourceTable

INTERFACE: int

def pairs_in_reach(
    sensors: SensorTable,
    sensor_ids: NDArray[Any],
    sources: SourceTable,
    source_ids: NDArray[Any],
    sense: Sense,
    out_keys: NDArray[Any],
    out_intensity: NDArray[Any],
) -> int: ...
def sensors_reached(
    sensors: SensorTable,
    sense: Sense,
    origin: Point,
    strength: float,
    affiliation: int,
    source_id: int,
) -> tuple[list[int], list[float], list[float]]: ...
