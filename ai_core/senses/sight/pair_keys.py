"""Keys of pairs of sensor and source: a sensor id and a source id in one number."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import refuse
from ai_core.saving.kinds import ArrayOf, Row, Whole
from ai_core.senses.id_table import LARGEST_ID

__all__ = ["ID_BITS", "NEVER_REPORTED_S", "PairKey", "PairKeys", "ids_of", "key_of", "keys_of"]

ID_BITS = 31
"""Bits of an id; two of them make one int64 key that sorts by sensor, then source."""

NEVER_REPORTED_S = -np.inf
"""Stands for "not yet" among moments of reports (s)."""


def keys_of(sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the keys of pairs."""
    keys: NDArray[np.int64] = sensor_ids.astype(np.int64) << ID_BITS | source_ids
    return keys


def key_of(sensor_id: int, source_id: int) -> int:
    """Return the key of one pair."""
    return int(sensor_id) << ID_BITS | int(source_id)


def ids_of(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return sensor ids and source ids of keys."""
    sensor_ids = (keys >> ID_BITS).astype(np.int32)
    source_ids = (keys & ((1 << ID_BITS) - 1)).astype(np.int32)
    return sensor_ids, source_ids


class PairKeys(ArrayOf):
    """Keys of pairs, saved as their sensor ids and source ids; ``is_ascending`` by sensor, then source."""

    def __init__(self, *, is_ascending: bool = False, at: str | None = None) -> None:
        super().__init__(np.int32, shape=(2, None), minimum=0, maximum=LARGEST_ID, at=at)
        self._are_sorted = is_ascending

    def save(self, value: Any, owner: Any) -> Any:
        """Return the sensor ids and the source ids."""
        return [ids.tolist() for ids in ids_of(value)]

    def read(self, plain: Any, place: str, owner: Any) -> NDArray[Any]:
        """Return the keys."""
        keys = keys_of(*super().read(plain, place, owner))
        if self._are_sorted and (keys[1:] <= keys[:-1]).any():
            refuse(place, "must be sorted by ascending sensor, then source, each pair once")
        return keys


class PairKey(Row):
    """Key of a pair, saved as its sensor id and source id."""

    def __init__(self, *, at: str | None = None) -> None:
        super().__init__(key_of, Whole(maximum=LARGEST_ID), Whole(maximum=LARGEST_ID), at=at)

    def save(self, value: Any, owner: Any) -> Any:
        """Return the sensor id and the source id."""
        return [value >> ID_BITS, value & (1 << ID_BITS) - 1]
