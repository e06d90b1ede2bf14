from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ai_core.senses.percepts.following import VisiblePairs

INTERFACE: int

def sensing(keys: NDArray[Any], is_sensed: NDArray[Any]) -> list[int]: ...
def are_sensing(keys: NDArray[Any], is_sensed: NDArray[Any], ids: NDArray[Any]) -> bool: ...
def shown(
    keys: NDArray[Any], is_sensed: NDArray[Any], told_at_s: NDArray[Any], intensity: NDArray[Any],
    first: int, end: int, ids_of_slots: NDArray[Any], positions: NDArray[Any], now_s: float, tell_every_s: float,
    out: VisiblePairs,
) -> int: ...
def dirty_sensors(
    rows: Mapping[str, NDArray[Any]], first: int, end: int, keys: NDArray[Any], intensity: NDArray[Any],
    number: NDArray[Any], now_s: float,
) -> list[int]: ...
def move_on(
    rows: Mapping[str, NDArray[Any]], first: int, end: int, intensity: NDArray[Any], position: NDArray[Any],
    now_s: float,
) -> None: ...
def first_in_line(since: NDArray[Any], most: int, out_rows: NDArray[Any]) -> int: ...
def note_answers(
    rows: NDArray[Any], is_free: NDArray[Any], moment: int,
    is_sensed: NDArray[Any], told_at_s: NDArray[Any], waiting_since: NDArray[Any],
) -> int: ...
def places_of(positions: NDArray[Any], ids: NDArray[Any], out: NDArray[Any]) -> None: ...
