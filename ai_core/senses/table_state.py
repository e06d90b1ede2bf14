"""The state of the tables of sensors and sources, matched by name with those that are here."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ai_core.saving.declared_state import Change, Part
from ai_core.saving.fields import LATEST_S, State, StateError, place_in, refuse
from ai_core.saving.kinds import (
    ArrayOf,
    Columns,
    ListOf,
    MapOf,
    Number,
    Optional,
    Point,
    Record,
    Row,
    Seconds,
    Text,
    Whole,
)
from ai_core.saving.matching import match_by_name
from ai_core.senses.id_table import GENERATIONS, LARGEST_ID, read_ids, saved_ids
from ai_core.senses.modality import ByModality
from ai_core.senses.sensor_table import DEAF, NO_SOURCE, SensorTable
from ai_core.senses.sight.sight_cones import CONE_NUMBERS
from ai_core.senses.source_table import (
    ALL_AFFILIATIONS,
    NO_STRENGTH,
    Clue,
    SourceDetails,
    SourceTable,
    VisiblePart,
    visible_parts,
)

__all__ = ["LoadedTable", "SensorsPart", "SourcesPart", "without_clues"]

MOST_ROOM_FOR_CONES = 1 << 20
"""Sensors times the most cones that one of them has, in a save (count); 32 MB.

Every sensor has room for as many: more lets a damaged save take all memory.
"""

UNIT_TOLERANCE = 1e-4
"""How far the squared length of a direction may be from 1: far above float32's rounding."""

Table = TypeVar("Table", SensorTable, SourceTable)


class _NumbersByModality(ByModality):
    """A column of numbers for each modality, by its name.

    Args:
        absent: saved as None; also that of a modality that is not in the save.
    """

    def __init__(self, absent: float) -> None:
        super().__init__(ArrayOf(minimum=0, absent=absent))
        self._absent = absent

    def save(self, value: Any, owner: Any) -> Any:
        return super().save(dict(enumerate(np.where(value == self._absent, math.nan, value).T)), owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        found = super().read(plain, place, owner)
        count = len(next(iter(found.values()), ()))
        if any(len(column) != count for column in found.values()):
            refuse(place, "must have columns of one length")
        nothing = np.full(count, self._absent)
        return np.array([found.get(number, nothing) for number in range(len(owner._modalities))]).T


class _Patterns(ListOf):
    """Numbers of camouflage patterns, saved by name."""

    def __init__(self) -> None:
        super().__init__(Text())

    def save(self, value: Any, owner: Any) -> Any:
        return [*map(owner.camouflage.name, value.tolist())]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        try:
            return [*map(owner.camouflage.number, super().read(plain, place, owner))]
        except LookupError as error:
            refuse(place, f"has an unknown pattern: {error}")


class _Directions(ArrayOf):
    def read(self, plain: Any, place: str, owner: Any) -> Any:
        found = super().read(plain, place, owner)
        wrong = np.abs((found.astype(np.float64) ** 2).sum(axis=1) - 1) > UNIT_TOLERANCE
        if wrong.any():
            index = int(wrong.argmax())
            refuse(f"{place}[{index}]", f"must be of length 1, got {found[index].tolist()}")
        return found


CONE = Row(lambda *numbers: numbers, Number(0), Number(-1, 1), Number(0, 1), Number(0), Whole(maximum=1))
"""How a cone is saved, a row of ``packed_cones``."""


class _Cones(ListOf):
    """The sight cones of each sensor."""

    def __init__(self) -> None:
        super().__init__(ListOf(CONE))

    def save(self, value: Any, owner: Any) -> Any:
        return [cones[cones[:, 0] >= 0].tolist() for cones in value]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return [np.reshape(one, (-1, CONE_NUMBERS)) for one in super().read(plain, place, owner)]


IDS = ListOf(Whole(maximum=LARGEST_ID), unique=int)
MASKS = ArrayOf(np.int64, minimum=0, maximum=ALL_AFFILIATIONS)

DETAILS = Record(
    lambda parts, **others: SourceDetails(parts=visible_parts(parts), **others),
    tag=Text(), actions=MapOf(Number(0)),
    parts=ListOf(Record(VisiblePart, name=Text(), offset=Point(3), share=Number(1e-9))),
    clue=Optional(Record(Clue, about=Whole(-1, LARGEST_ID), left_at_s=Seconds(), until_s=Number(-LATEST_S, LATEST_S))))


SENSOR_ROWS = Columns(
    id=IDS, name=ListOf(Text()), position=ArrayOf(np.float32, shape=(None, 3)),
    forward=_Directions(np.float32, shape=(None, 3)), own_threshold=_NumbersByModality(DEAF),
    sensitivity=_NumbersByModality(1.0), cones=_Cones(), detection_mask=MASKS,
    self_source=ArrayOf(np.int64, minimum=NO_SOURCE, maximum=LARGEST_ID))

SOURCE_ROWS = Columns(
    id=IDS, name=ListOf(Text()), position=ArrayOf(np.float32, shape=(None, 3)),
    own_strength=_NumbersByModality(NO_STRENGTH), affiliation=MASKS, light=ArrayOf(minimum=0),
    size=ArrayOf(minimum=1e-3, maximum=1e6), speed=ArrayOf(minimum=0),
    measured=ArrayOf(np.float32, shape=(None, 3)), pattern=_Patterns())

SENSOR_COLUMNS, SOURCE_COLUMNS = ([*one.columns][2:] for one in (SENSOR_ROWS, SOURCE_ROWS))
"""Columns that are attributes of the tables: all but ``id`` and ``name``."""


def _table(rows: Columns, **more: Any) -> Record:
    """Return how a table is saved; its rows as columns, in the order in which they were added."""
    return Record(
        SimpleNamespace, generations=ListOf(Whole(maximum=GENERATIONS)), free=ListOf(Whole()), rows=rows, **more)


SENSORS = _table(SENSOR_ROWS)
SOURCES = _table(
    SOURCE_ROWS, details=MapOf(DETAILS, key=Whole(maximum=LARGEST_ID)), measured_at_s=Seconds(absent=-math.inf))


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

    def extra(self) -> list[tuple[int, int]]:
        """Return for each row that was not saved its id here, and its new one."""
        saved = set(self.saved_ids)
        return [(old, new) for old, new in self.new_ids.items() if new not in saved]


def _saved(table: Table, kind: Record, columns: Iterable[str], **more: Any) -> State:
    names = table.ids.names
    slots = table.ids.slots(list(names))
    rows = {name: getattr(table, name)[slots] for name in columns}
    state: State = kind.save(SimpleNamespace(
        **saved_ids(table.ids), rows={"id": list(names), "name": list(names.values()), **rows}, **more), table)
    return state


def _read_sources(here: SourceTable, plain: object, place: str) -> LoadedTable:
    empty = SourceTable(here._modalities, here.camouflage, has_backdrops=here.has_backdrops)
    saved = SOURCES.read(plain, place, here)
    empty.measured_at_s = saved.measured_at_s
    loaded = _with_ids(empty, here, saved, place, saved.details)
    table = loaded.table
    slots = table.ids.slots(saved.rows["id"])
    for name in SOURCE_COLUMNS:
        getattr(table, name)[slots] = saved.rows[name]
    for one, details in saved.details.items():
        if not table.ids.knows(one):
            refuse(place_in(place, "details"), f"has the unknown id {one}")
        table.put_details(one, details)
    for old, new in loaded.extra():
        for name in SOURCE_COLUMNS:
            getattr(table, name)[table.ids.slot(new)] = getattr(here, name)[here.ids.slot(old)]
        table.put_details(new, here.details_of(old))
    table.refresh(table.ids.slots(list(table.ids.names)))
    return loaded


def _read_sensors(here: SensorTable, plain: object, place: str, new_source_ids: dict[int, int]) -> LoadedTable:
    columns = ("position", "forward", "sensitivity", "detection_mask", "self_source")
    saved = SENSORS.read(plain, place, here)
    loaded = _with_ids(SensorTable(here._modalities), here, saved, place)
    table, most = loaded.table, MOST_ROOM_FOR_CONES // loaded.table.ids.capacity
    slots = table.ids.slots(saved.rows["id"])
    for name in columns:
        getattr(table, name)[slots] = saved.rows[name]
    for index, slot in enumerate(slots.tolist()):
        cones = saved.rows["cones"][index]
        if len(cones) > most:
            refuse(f"{place}.rows.cones[{index}]",
                   f"must be at most {most} cones for {table.ids.capacity} sensors, got {len(cones)}")
        table.put_thresholds(slot, saved.rows["own_threshold"][index])
        table._put_cones(slot, cones)
    for old_id, new_id in loaded.extra():
        old, new = here.ids.slot(old_id), table.ids.slot(new_id)
        for name in columns:
            getattr(table, name)[new] = getattr(here, name)[old]
        table.put_thresholds(new, here.own_threshold[old])
        cones = here.cones[old]
        table._put_cones(new, cones[cones[:, 0] >= 0])
        own = int(here.self_source[old])
        table.self_source[new] = new_source_ids.get(own, own)
    return loaded


class SourcesPart(Part):
    """The table of sources; later fields find it as ``within.sources``, a ``LoadedTable``."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return all sources, in the order in which they were added."""
        return _saved(
            value, SOURCES, SOURCE_COLUMNS, details=value.details, measured_at_s=value.measured_at_s)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the sources, matched by name with those of the table; return the function that loads them."""
        assert within is not None
        within.sources = loaded = _read_sources(part, plain, place)
        return lambda: vars(part).update({**vars(loaded.table), "views": part.views})   # loaded by themselves


class SensorsPart(Part):
    """The table of sensors, after that of the sources; later fields find it as ``within.sensors``."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return all sensors, in the order in which they were added."""
        return _saved(value, SENSORS, SENSOR_COLUMNS)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the sensors, matched by name with those of the table; return the function that loads them."""
        assert within is not None
        within.sensors = loaded = _read_sensors(part, plain, place, within.sources.new_ids)
        # Of these the first is loaded by itself, the other is set by the program.
        return lambda: vars(part).update({**vars(loaded.table), "until_s": part.until_s, "period": part.period})


def _with_ids(
    empty: Table, here: Table, saved: SimpleNamespace, place: str, details: Mapping[int, SourceDetails] | None = None
) -> LoadedTable:
    """Return a table with the ids of a save but nothing in its rows."""
    noun, ids, names = here.ids.noun, saved.rows["id"], saved.rows["name"]
    empty.ids = read_ids(saved.generations, saved.free, ids, names, noun, place)
    # The caller does not create clues: saved clues come back, present ones are removed.
    lasting = without_clues(empty.ids.names, details or {})
    here_names = without_clues(here.ids.names, getattr(here, "details", {}))
    try:
        found = match_by_name(noun, list(lasting.values()), list(here_names.values()))
    except StateError as error:
        refuse(place_in(place, "rows"), f"are inconsistent: {error}")
    here_ids = list(here_names)
    new_ids = {here_ids[index]: one for one, index in zip(lasting, found, strict=True)}
    for old, name in here_names.items():
        if old not in new_ids:
            new_ids[old] = empty.ids.add(name)
    empty._fit()
    return LoadedTable(empty, new_ids, ids)


def without_clues(names: Mapping[int, str], details: Mapping[int, SourceDetails]) -> dict[int, str]:
    """Return the names of sources that the game has made."""
    return {one: name for one, name in names.items() if one not in details or details[one].clue is None}
