"""The state of looking around: pairs in view, their turns, and a pass half done."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import MOST, Fields, State
from ai_core.senses.id_state import was_given_out
from ai_core.senses.id_table import LARGEST_ID, IdTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.pairs_in_view import NEVER_TOLD_S, PairsInView, ids_of, keys_of

__all__ = ["prepared_looking", "saved_looking"]

Found = tuple[NDArray[np.int64], NDArray[np.float64]]


def saved_looking(continuous: ContinuousSensing) -> State:
    """Return pairs by modality, and what a pass that was interrupted has found so far."""
    half_done = None
    if continuous._is_looking:
        half_done = {
            "to_look": continuous._to_look.tolist(),
            "found": {
                continuous._modalities[number].name: _saved_found(found)
                for number, found in continuous._found.items()
            },
        }
    return {
        "passes": continuous.ages.passes,
        "pairs": {
            continuous._modalities[number].name: _saved_pairs(pairs)
            for number, pairs in continuous.pairs.items()
        },
        "half_done": half_done,
        "importance": continuous.turns.save_state(),
        "ages": continuous.ages.save_state(),
    }


def prepared_looking(
    continuous: ContinuousSensing,
    fields: Fields,
    sensor_ids: IdTable,
    source_ids: IdTable,
    latest_s: float,
) -> Callable[[], None]:
    """Check saved pairs against the ids there are; return what loads them."""
    passes = fields.whole("passes", maximum=MOST // 4)
    numbers = {continuous._modalities[number].name: number for number in continuous.pairs}
    by_name = fields.group("pairs")
    pairs = {
        number: _read_pairs(by_name.group(name), passes, latest_s)
        for name, number in numbers.items()
    }
    by_name.end()
    to_look, found = _read_half_done(fields, numbers)
    importance = continuous.turns.read(fields.group("importance"), LARGEST_ID)
    ages = continuous.ages.loaded(passes, fields.group("ages"), latest_s)
    fields.end()
    all_keys = [one.keys for one in pairs.values()]
    all_keys += [keys for rows in (found or {}).values() for keys, _ in rows]
    _check_given_out(fields, all_keys, sensor_ids, source_ids)

    def change() -> None:
        continuous.ages, continuous._is_looking = ages, found is not None
        continuous.pairs.update(pairs)
        continuous._to_look, continuous._found = to_look, found or {}
        continuous.turns.put(importance)
        continuous.expect_removed()

    return change


def _saved_pairs(pairs: PairsInView) -> State:
    sensors, sources = ids_of(pairs.keys)
    return {
        "sensor_ids": sensors.tolist(),
        "source_ids": sources.tolist(),
        "intensity": pairs.intensity.tolist(),
        "waiting_since": pairs.waiting_since.tolist(),
        "is_sensed": pairs.is_sensed.tolist(),
        "told_at_s": [None if one == NEVER_TOLD_S else one for one in pairs.told_at_s.tolist()],
    }


def _read_pairs(fields: Fields, passes: int, latest_s: float) -> PairsInView:
    pairs = PairsInView()
    pairs.keys, pairs.intensity = _read_found(fields)
    count = len(pairs.keys)
    if (np.diff(pairs.keys) <= 0).any():
        fields.refuse("source_ids", "must be sorted by ascending sensor, then source, each pair once")
    since = fields.wholes("waiting_since", count=count, maximum=2 * passes + 1)
    pairs.waiting_since = np.array(since, np.int64)
    sensed = fields.items("is_sensed", count=count)
    if not all(type(one) is bool for one in sensed):
        fields.refuse("is_sensed", "must hold only true and false")
    pairs.is_sensed = np.array(sensed, np.bool_)
    told = fields.numbers("told_at_s", count=count, maximum=latest_s, absent=NEVER_TOLD_S)
    pairs.told_at_s = np.array(told, np.float64)
    fields.end()
    return pairs


def _saved_found(found: list[Found]) -> State:
    keys = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in found)])
    intensity = np.concatenate([np.zeros(0), *(one for _, one in found)])
    sensors, sources = ids_of(keys)
    return {
        "sensor_ids": sensors.tolist(),
        "source_ids": sources.tolist(),
        "intensity": intensity.tolist(),
    }


def _read_found(fields: Fields) -> Found:
    sensors = fields.wholes("sensor_ids", maximum=LARGEST_ID)
    sources = fields.wholes("source_ids", count=len(sensors), maximum=LARGEST_ID)
    intensity = fields.numbers("intensity", count=len(sensors), minimum=0)
    keys = keys_of(np.array(sensors, np.int32), np.array(sources, np.int32))
    return keys, np.array(intensity, np.float64)


def _read_half_done(
    fields: Fields, numbers: dict[str, int]
) -> tuple[NDArray[np.int32], dict[int, list[Found]] | None]:
    if fields.anything("half_done") is None:
        return np.zeros(0, np.int32), None
    half_done = fields.group("half_done")
    to_look = half_done.wholes("to_look", maximum=LARGEST_ID)
    if to_look != sorted(set(to_look)):
        half_done.refuse("to_look", "must be ascending ids, each once")
    by_name = half_done.group("found")
    found = {}
    for name, number in numbers.items():
        one = by_name.group(name)
        keys, intensity = _read_found(one)
        if len(np.unique(keys)) < len(keys):
            one.refuse("source_ids", "must hold each pair once")
        one.end()
        found[number] = [(keys, intensity)]
    by_name.end()
    half_done.end()
    return np.array(to_look, np.int32), found


def _check_given_out(
    fields: Fields, all_keys: list[Any], sensor_ids: IdTable, source_ids: IdTable
) -> None:
    for keys in all_keys:
        for ids, table in zip(ids_of(keys), (sensor_ids, source_ids), strict=True):
            for one in np.unique(ids).tolist():
                if not was_given_out(table, one):
                    fields.refuse("pairs", f"contain the {table.noun} id {one}, which never existed")
