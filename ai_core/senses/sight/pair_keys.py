"""Keys of pairs of sensor and source: a sensor id and a source id in one number."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import Fields
from ai_core.senses.id_table import LARGEST_ID

__all__ = ["ID_BITS", "NEVER_REPORTED_S", "ids_of", "key_of", "keys_of", "read_found"]

ID_BITS = 31
"""Bits of an id; two of them make one int64 key that sorts by sensor, then source."""

NEVER_REPORTED_S = -np.inf
"""Stands for "not yet" among moments of reports (s)."""


def keys_of(
    sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32]
) -> NDArray[np.int64]:
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


def read_found(fields: Fields) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return saved pairs and intensities, in their order."""
    sensors = fields.wholes("sensor_ids", maximum=LARGEST_ID)
    sources = fields.wholes("source_ids", count=len(sensors), maximum=LARGEST_ID)
    intensity = fields.numbers("intensity", count=len(sensors), minimum=0)
    keys = keys_of(np.array(sensors, np.int32), np.array(sources, np.int32))
    return keys, np.array(intensity, np.float64)
