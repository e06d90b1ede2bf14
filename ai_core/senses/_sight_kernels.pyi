from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ai_core.senses.modality import Modality
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight_kernels import Reached
from ai_core.senses.signal_queue import Signal
from ai_core.senses.source_table import SourceTable
from ai_core.senses.waves import Sense, Wave

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
def exact_place(place: object) -> Point | None: ...
def sensors_reached(sensors: SensorTable, waves: Sequence[Wave]) -> Reached: ...
def signals_reached(sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality]) -> Reached: ...
