"""The state of the tables of sensors and sources, matched by name with those that are here."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.matching import match_by_name
from ai_core.senses.id_state import LARGEST_ID, read_ids, saved_ids
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import DEAF, NO_SOURCE, SensorTable
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
            "thresholds": _by_modality(table._modalities, table.threshold[slot], DEAF),
            "cones": cones[cones[:, 0] >= 0].tolist(),
            "notices": int(table.notices[slot]),
            "own_source": int(table.own_source[slot]),
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
            "strengths": _by_modality(table._modalities, table.strength[slot], NO_STRENGTH),
            "affiliation": int(table.affiliation[slot]),
        })
    return {**saved_ids(table.ids), "rows": rows}


def read_sources(here: SourceTable, fields: Fields) -> LoadedTable:
    """Return the table of sources that was saved."""
    loaded, rows = _read_rows(SourceTable(here._modalities), here, fields, "source")
    table = loaded.table
    for one, slot in rows:
        table.position[slot] = one.point("position")
        table.strength[slot] = _read_by_modality(one, "strengths", here._modalities, NO_STRENGTH)
        table.affiliation[slot] = one.whole("affiliation", maximum=ALL_AFFILIATIONS)
        one.end()
    for old, new in _slots_of_extra(here, loaded):
        table.position[new] = here.position[old]
        table.strength[new] = here.strength[old]
        table.affiliation[new] = here.affiliation[old]
    return loaded


def read_sensors(
    here: SensorTable, fields: Fields, new_source_ids: dict[int, int]
) -> tuple[LoadedTable, list[Fields]]:
    """Return the table of sensors that was saved, and of each the fields of its mind."""
    loaded, rows = _read_rows(SensorTable(here._modalities), here, fields, "sensor")
    table, minds = loaded.table, []
    for one, slot in rows:
        table.position[slot] = one.point("position")
        table.forward[slot] = _read_direction(one)
        table.threshold[slot] = _read_by_modality(one, "thresholds", here._modalities, DEAF)
        table._put_cones(slot, _read_cones(one, table.ids.capacity))
        table.notices[slot] = one.whole("notices", maximum=ALL_AFFILIATIONS)
        table.own_source[slot] = one.whole("own_source", minimum=NO_SOURCE, maximum=LARGEST_ID)
        minds.append(one.group("mind"))
        one.end()
    for old, new in _slots_of_extra(here, loaded):
        table.position[new] = here.position[old]
        table.forward[new] = here.forward[old]
        table.threshold[new] = here.threshold[old]
        cones = here.cones[old]
        table._put_cones(new, cones[cones[:, 0] >= 0])
        table.notices[new] = here.notices[old]
        own = int(here.own_source[old])
        table.own_source[new] = new_source_ids.get(own, own)
    return loaded, minds


def _read_rows(
    empty: Table, here: Table, fields: Fields, noun: str
) -> tuple[LoadedTable, list[tuple[Fields, int]]]:
    """Return a table with ids but nothing in its rows, and what belongs into which."""
    rows = list(fields.groups("rows"))
    ids = [one.whole("id", maximum=LARGEST_ID) for one in rows]
    if len(set(ids)) < len(ids):
        fields.refuse("rows", "hold an id twice")
    names = [one.text("name") for one in rows]
    empty.ids = read_ids(fields, ids, names, noun)
    fields.end()
    here_ids, here_names = list(here.ids.names), list(here.ids.names.values())
    try:
        found = match_by_name(noun, names, here_names)
    except StateError as error:
        fields.refuse("rows", f"do not fit: {error}")
    new_ids = {here_ids[index]: one for one, index in zip(ids, found, strict=True)}
    for old, name in here.ids.names.items():
        if old not in new_ids:
            new_ids[old] = empty.ids.add(name)
    empty._fit()
    slots = [empty.ids.slot(one) for one in ids]
    return LoadedTable(empty, new_ids, ids), list(zip(rows, slots, strict=True))


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
            values.refuse(name, f"is no modality here: {error}")
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
        fields.refuse("cones", f"must be at most {most} beside {sensors} sensors, got {len(rows)}")
    cones = []
    for index, row in enumerate(rows):
        one = Fields({"cone": row}, fields.place_of(f"cones[{index}]"))
        range_m, cos_half, sin_half, acuity = one.numbers("cone", count=4)
        if range_m < 0 or not -1 <= cos_half <= 1 or not 0 <= sin_half <= 1 or acuity < 0:
            one.refuse("cone", "must be [range, cosine, sine, acuity] of a cone")
        cones.append((range_m, cos_half, sin_half, acuity))
    return np.array(cones, np.float64).reshape(len(cones), 4)
