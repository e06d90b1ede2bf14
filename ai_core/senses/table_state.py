"""The state of the tables of sensors and sources, matched by name with those that are here."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.matching import match_by_name
from ai_core.senses.id_table import LARGEST_ID, read_ids, saved_ids
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import DEAF, NO_SOURCE, SensorTable
from ai_core.senses.sight.sight_cones import CONE_NUMBERS
from ai_core.senses.source_details import read_details, saved_details
from ai_core.senses.source_table import ALL_AFFILIATIONS, NO_STRENGTH, SourceTable

__all__ = [
    "LoadedTable",
    "read_sensors",
    "read_sources",
    "saved_sensors",
    "saved_sources",
]

MOST_ROOM_FOR_CONES = 1 << 20
"""Sensors times the most cones that one of them has, in a save (count); 32 MB.

Every sensor has room for as many: more lets a damaged save take all memory.
"""

UNIT_TOLERANCE = 1e-4
"""How far the squared length of a direction may be from 1: far above float32's rounding."""

Table = TypeVar("Table", SensorTable, SourceTable)


class LoadedTable(NamedTuple):
    """A table made from a save.

    Attributes:
        table: holds what was saved, and what is only here under new ids.
        new_ids: by the id here, the one it has from now on.
        saved_ids: those that were saved, in the order of the save.
    """

    table: Any
    new_ids: dict[int, int]
    saved_ids: list[int]


def saved_sensors(table: SensorTable) -> State:
    """Return all sensors, in the order in which they were added."""
    rows = []
    for one, name in table.ids.names.items():
        slot = table.ids.slot(one)
        cones = table.cones[slot]
        rows.append({
            "id": one,
            "name": name,
            "position": table.position[slot].tolist(),
            "forward": table.forward[slot].tolist(),
            "thresholds": _by_modality(table._modalities, table.own_threshold[slot], DEAF),
            "sensitivity": _by_modality(table._modalities, table.sensitivity[slot], 1.0),
            "cones": cones[cones[:, 0] >= 0].tolist(),
            "detection_mask": int(table.detection_mask[slot]),
            "self_source": int(table.self_source[slot]),
        })
    return {**saved_ids(table.ids), "rows": rows}


def saved_sources(table: SourceTable) -> State:
    """Return all sources, in the order in which they were added."""
    rows = []
    for one, name in table.ids.names.items():
        slot = table.ids.slot(one)
        rows.append({
            "id": one,
            "name": name,
            "position": table.position[slot].tolist(),
            "strengths": _by_modality(table._modalities, table.own_strength[slot], NO_STRENGTH),
            "affiliation": int(table.affiliation[slot]),
            "light": float(table.light[slot]),
            "size": float(table.size[slot]),
            "speed_m_per_s": float(table.speed[slot]),
            "measured_position": table.measured[slot].tolist(),
            "pattern": table.camouflage.name(int(table.pattern[slot])),
            **saved_details(table.details_of(one)),
        })
    measured_at_s = table.measured_at_s if math.isfinite(table.measured_at_s) else None
    return {**saved_ids(table.ids), "rows": rows, "measured_at_s": measured_at_s}


def read_sources(here: SourceTable, fields: Fields) -> LoadedTable:
    """Return the table of sources that was saved."""
    empty = SourceTable(here._modalities, here.camouflage, has_backdrops=here.has_backdrops)
    if fields.anything("measured_at_s") is not None:
        empty.measured_at_s = fields.seconds("measured_at_s")
    loaded, rows = _read_rows(empty, here, fields, "source")
    table = loaded.table
    for one, slot in rows:
        table.position[slot] = one.point("position")
        table.own_strength[slot] = _read_by_modality(one, "strengths", here._modalities, NO_STRENGTH)
        table.affiliation[slot] = one.whole("affiliation", maximum=ALL_AFFILIATIONS)
        table.light[slot] = one.number("light", minimum=0)
        table.size[slot] = one.number("size", minimum=1e-3, maximum=1e6)
        table.speed[slot] = one.number("speed_m_per_s", minimum=0)
        table.measured[slot] = one.point("measured_position")
        table.pattern[slot] = _read_pattern(one, here)
        table.put_details(int(table.ids.of_slots(np.array([slot]))[0]), read_details(one))
        one.end()
    new_slots = {new: old for old, new in _slots_of_extra(here, loaded)}
    for new, old in new_slots.items():
        for name in ("position", "own_strength", "affiliation", "light", "size", "pattern", "speed", "measured"):
            getattr(table, name)[new] = getattr(here, name)[old]
    for old_id, new_id in loaded.new_ids.items():
        if table.ids.slot(new_id) in new_slots:
            table.put_details(new_id, here.details_of(old_id))
    table.refresh(np.array([table.ids.slot(one) for one in table.ids.names], np.intp))
    return loaded


def read_sensors(here: SensorTable, fields: Fields, new_source_ids: dict[int, int]) -> LoadedTable:
    """Return the table of sensors that was saved."""
    loaded, rows = _read_rows(SensorTable(here._modalities), here, fields, "sensor")
    table = loaded.table
    for one, slot in rows:
        table.position[slot] = one.point("position")
        table.forward[slot] = _read_direction(one)
        table.sensitivity[slot] = _read_by_modality(one, "sensitivity", here._modalities, 1.0)
        table.put_thresholds(
            slot, np.array(_read_by_modality(one, "thresholds", here._modalities, DEAF))
        )
        table._put_cones(slot, _read_cones(one, table.ids.capacity))
        table.detection_mask[slot] = one.whole("detection_mask", maximum=ALL_AFFILIATIONS)
        table.self_source[slot] = one.whole("self_source", minimum=NO_SOURCE, maximum=LARGEST_ID)
        one.end()
    for old, new in _slots_of_extra(here, loaded):
        table.position[new] = here.position[old]
        table.forward[new] = here.forward[old]
        table.sensitivity[new] = here.sensitivity[old]
        table.put_thresholds(new, here.own_threshold[old])
        cones = here.cones[old]
        table._put_cones(new, cones[cones[:, 0] >= 0])
        table.detection_mask[new] = here.detection_mask[old]
        own = int(here.self_source[old])
        table.self_source[new] = new_source_ids.get(own, own)
    return loaded


def _read_rows(
    empty: Table, here: Table, fields: Fields, noun: str
) -> tuple[LoadedTable, list[tuple[Fields, int]]]:
    """Return a table with ids but nothing in its rows, and what belongs into which."""
    rows = list(fields.groups("rows"))
    ids = [one.whole("id", maximum=LARGEST_ID) for one in rows]
    if len(set(ids)) < len(ids):
        fields.refuse("rows", "must hold each id once")
    names = [one.text("name") for one in rows]
    empty.ids = read_ids(fields, ids, names, noun)
    fields.end()
    # Clues are not made by whoever loads: those saved come back, those here go.
    is_clue = [noun == "source" and row.anything("clue") is not None for row in rows]
    lasting = [one for one, gone in zip(ids, is_clue, strict=True) if not gone]
    lasting_names = [name for name, gone in zip(names, is_clue, strict=True) if not gone]
    here_names = {one: name for one, name in here.ids.names.items() if not _is_clue(here, one)}
    try:
        found = match_by_name(noun, lasting_names, list(here_names.values()))
    except StateError as error:
        fields.refuse("rows", f"are inconsistent: {error}")
    here_ids = list(here_names)
    new_ids = {here_ids[index]: one for one, index in zip(lasting, found, strict=True)}
    for old, name in here_names.items():
        if old not in new_ids:
            new_ids[old] = empty.ids.add(name)
    empty._fit()
    slots = [empty.ids.slot(one) for one in ids]
    return LoadedTable(empty, new_ids, ids), list(zip(rows, slots, strict=True))


def _is_clue(table: SensorTable | SourceTable, one: int) -> bool:
    return isinstance(table, SourceTable) and table.details_of(one).clue is not None


def _read_pattern(fields: Fields, here: SourceTable) -> int:
    try:
        return here.camouflage.number(fields.text("pattern"))
    except LookupError as error:
        fields.refuse("pattern", f"is an unknown pattern: {error}")


def _slots_of_extra(here: Table, loaded: LoadedTable) -> list[tuple[int, int]]:
    """Return for each row that was not saved where it is here, and where it goes."""
    saved = set(loaded.saved_ids)
    return [
        (here.ids.slot(old), loaded.table.ids.slot(new))
        for old, new in loaded.new_ids.items() if new not in saved
    ]


def _by_modality(modalities: ModalitySet, row: Any, absent: float) -> dict[str, float]:
    return {
        modalities[number].name: value
        for number, value in enumerate(row.tolist()) if value != absent
    }


def _read_by_modality(
    fields: Fields, field: str, modalities: ModalitySet, absent: float
) -> Sequence[float]:
    values = fields.group(field)
    row = [absent] * len(modalities)
    for name in values.names():
        try:
            number = modalities.number(name)
        except LookupError as error:
            values.refuse(name, f"is an unknown modality: {error}")
        row[number] = values.number(name, minimum=0)
    return row


def _read_direction(fields: Fields) -> tuple[float, float, float]:
    x, y, z = fields.point("forward")
    if abs(x * x + y * y + z * z - 1) > UNIT_TOLERANCE:
        fields.refuse("forward", f"must be of length 1, got {[x, y, z]}")
    return (x, y, z)


def _read_cones(fields: Fields, sensors: int) -> np.ndarray[Any, Any]:
    rows = fields.items("cones")
    most = MOST_ROOM_FOR_CONES // sensors
    if len(rows) > most:
        fields.refuse("cones", f"must hold at most {most} cones for {sensors} sensors, got {len(rows)}")
    cones = []
    for index, row in enumerate(rows):
        one = Fields({"cone": row}, fields.place_of(f"cones[{index}]"))
        range_m, cos_half, sin_half, acuity, keeps = one.numbers("cone", count=CONE_NUMBERS)
        is_cone = range_m >= 0 and -1 <= cos_half <= 1 and 0 <= sin_half <= 1 and acuity >= 0
        if not is_cone or keeps not in (0, 1):
            one.refuse("cone", "must be [range, cosine, sine, acuity, only keeps] of a cone")
        cones.append((range_m, cos_half, sin_half, acuity, keeps))
    return np.array(cones, np.float64).reshape(len(cones), CONE_NUMBERS)
