from collections.abc import Mapping, Sequence

from ai_core.senses.modality import Modality
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import Reached
from ai_core.senses.stimuli.arriving import Arrived, HeardNow
from ai_core.senses.stimuli.noise import BackgroundNoise
from ai_core.senses.stimuli.signal_queue import Arrival, Channel, Signal

INTERFACE: int

def arrived_at_once(
    sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality], reached: Reached, now_s: float
) -> Arrived | None: ...
def heard_now(
    sensors: SensorTable, some: Sequence[tuple[Signal, Arrival]], first: int, kinds: Sequence[Modality],
    noise: BackgroundNoise | None, newest: Mapping[Channel, int], now_s: float
) -> HeardNow: ...
def arrivals_of(
    sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality], reached: Reached
) -> list[tuple[Signal, list[Arrival]]]: ...
