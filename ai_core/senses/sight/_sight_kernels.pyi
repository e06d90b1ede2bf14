from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ai_core.senses.modality import Modality
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_kernels import Reached
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ModalityNumbers, StimulusNumbers

INTERFACE: int

def pairs_in_reach(
    sensors: SensorTable,
    sensor_ids: NDArray[Any],
    sources: SourceTable,
    source_ids: NDArray[Any],
    sense: ModalityNumbers,
    out_keys: NDArray[Any],
    out_intensity: NDArray[Any],
) -> int: ...
def plain_signal(
    voices: Mapping[tuple[int, str], tuple[int, int, str]], order: int, source_id: object, modality: object,
    strength: object, place: object, sent_at_s: float, channel: object
) -> Signal | None: ...
def sensors_reached(sensors: SensorTable, waves: Sequence[StimulusNumbers]) -> Reached: ...
def signals_reached(sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality]) -> Reached: ...
