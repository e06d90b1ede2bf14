"""The state of the tables of sensors and sources, matched by name with those that are here."""
from __future__ import annotations

import math
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ai_core.saving.declared_state import Change, Part
from ai_core.saving.fields import LATEST_S, State, StateError, place_in, refuse
from ai_core.saving.kinds import ArrayOf, Kind, ListOf, MapOf, Number, Optional, Point, Record, Seconds, Text, Whole
from ai_core.saving.matching import match_by_name
from ai_core.senses.id_table import GENERATIONS, LARGEST_ID, read_ids, saved_ids
from ai_core.senses.modality import ByModality
from ai_core.senses.sensor_table import DEAF, NO_SOURCE, SensorTable
from ai_core.senses.sight.sight_cones import CONE_NUMBERS
from ai_core.senses.source_details import Clue, SourceDetails, VisiblePart, visible_parts
from ai_core.senses.source_table import ALL_AFFILIATIONS, NO_STRENGTH, SourceTable

__all__ = [
    "LoadedTable",
    "SensorsPart",
    "SourcesPart",
]

MOST_ROOM_FOR_CONES = 1 << 20
"""Sensors times the most cones that one of them has, in a save (count); 32 MB.

Every sensor has room for as many: more lets a damaged save take all memory.
"""

UNIT_TOLERANCE = 1e-4
"""How far the squared length of a direction may be from 1: far above float32's rounding."""

Table = TypeVar("Table", SensorTable, SourceTable)


class _NumbersByModality(ByModality):
    """Numbers of all modalities, saved by name without those that are absent."""

    def __init__(self, absent: float, *, at: str | None = None) -> None:
        super().__init__(Number(0), at=at)
        self._absent = absent

    def save(self, value: Any, owner: Any) -> Any:
        return super().save({number: one for number, one in enumerate(value) if one != self._absent}, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        found = super().read(plain, place, owner)
        return [found.get(number, self._absent) for number in range(len(owner._modalities))]


class _Pattern(Text):
    """The number of a camouflage pattern, saved by its name."""

    def save(self, value: Any, owner: Any) -> Any:
        return owner.camouflage.name(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        try:
            return owner.camouflage.number(super().read(plain, place, owner))
        except LookupError as error:
            refuse(place, f"is an unknown pattern: {error}")


class _Direction(Point):
    """A direction of unit length."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        found = super().read(plain, place, owner)
        if abs(sum(one * one for one in found) - 1) > UNIT_TOLERANCE:
            refuse(place, f"must be of length 1, got {list(found)}")
        return found


CONES = ArrayOf(shape=(None, CONE_NUMBERS))


class _Cones(Kind):
    """The rows of sight cones that a sensor has."""

    def save(self, value: Any, owner: Any) -> Any:
        return [row for row in value if row[0] >= 0]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        cones = CONES.read(plain, place, owner)
        for index, (range_m, cos_half, sin_half, acuity, keeps) in enumerate(cones.tolist()):
            is_cone = range_m >= 0 and -1 <= cos_half <= 1 and 0 <= sin_half <= 1 and acuity >= 0
            if not is_cone or keeps not in (0, 1):
                refuse(f"{place}[{index}]", "must be [range, cosine, sine, acuity, only keeps] of a cone")
        return cones


SENSOR = Record(
    SimpleNamespace, id=Whole(maximum=LARGEST_ID), name=Text(), position=Point(3), forward=_Direction(3),
    thresholds=_NumbersByModality(DEAF, at="own_threshold"), sensitivity=_NumbersByModality(1.0), cones=_Cones(),
    detection_mask=Whole(maximum=ALL_AFFILIATIONS), self_source=Whole(NO_SOURCE, LARGEST_ID))

SOURCE = Record(
    SimpleNamespace, id=Whole(maximum=LARGEST_ID), name=Text(), position=Point(3),
    strengths=_NumbersByModality(NO_STRENGTH, at="own_strength"), affiliation=Whole(maximum=ALL_AFFILIATIONS),
    light=Number(0), size=Number(1e-3, 1e6), speed_m_per_s=Number(0, at="speed"),
    measured_position=Point(3, at="measured"), pattern=_Pattern(), details=Optional(Record(
        lambda parts, **others: SourceDetails(parts=visible_parts(parts), **others),
        tag=Text(), actions=MapOf(Number(0)),
        parts=ListOf(Record(VisiblePart, name=Text(), offset=Point(3), share=Number(1e-9))),
        clue=Optional(Record(
            Clue, about=Whole(-1, LARGEST_ID), left_at_s=Seconds(), until_s=Number(-LATEST_S, LATEST_S))))))


def _table(record: Record, **more: Kind) -> Record:
    """Return how a table is saved; its rows in the order in which they were added."""
    return Record(
        SimpleNamespace, generations=ListOf(Whole(maximum=GENERATIONS)), free=ListOf(Whole()),
        rows=ListOf(record, unique=attrgetter("id")), **more)  # type: ignore[arg-type]


SENSORS = _table(SENSOR)
SOURCES = _table(SOURCE, measured_at_s=Seconds(absent=-math.inf))


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


class _SavedRow:
    """One row of a table: its columns as attributes, in plain numbers."""

    def __init__(self, table: SensorTable | SourceTable, known_id: int, name: str) -> None:
        self._table, self._slot = table, table.ids.slot(known_id)
        self.id, self.name = known_id, name
        if isinstance(table, SourceTable):
            self.details = table.details.get(known_id)

    def __getattr__(self, column: str) -> Any:
        return getattr(self._table, column)[self._slot].tolist()


def _saved(table: Table, kind: Record, **more: Any) -> State:
    rows = [_SavedRow(table, one, name) for one, name in table.ids.names.items()]
    state: State = kind.save(SimpleNamespace(**saved_ids(table.ids), rows=rows, **more), table)
    return state


def _read_sources(here: SourceTable, plain: object, place: str) -> LoadedTable:
    """Return the table of sources that was saved."""
    empty = SourceTable(here._modalities, here.camouflage, has_backdrops=here.has_backdrops)
    saved = SOURCES.read(plain, place, here)
    empty.measured_at_s = saved.measured_at_s
    columns = ("position", "own_strength", "affiliation", "light", "size", "speed", "measured", "pattern")
    loaded = _with_ids(empty, here, saved, place)
    table = loaded.table
    for one in saved.rows:
        slot = table.ids.slot(one.id)
        _put(table, slot, SOURCE, one, columns)
        if one.details is not None:
            table.put_details(one.id, one.details)
    for old, new in loaded.extra():
        for name in columns:
            getattr(table, name)[table.ids.slot(new)] = getattr(here, name)[here.ids.slot(old)]
        table.put_details(new, here.details_of(old))
    table.refresh(np.array([table.ids.slot(one) for one in table.ids.names], np.intp))
    return loaded


def _read_sensors(here: SensorTable, plain: object, place: str, new_source_ids: dict[int, int]) -> LoadedTable:
    """Return the table of sensors that was saved."""
    columns = ("position", "forward", "sensitivity", "detection_mask", "self_source")
    saved = SENSORS.read(plain, place, here)
    loaded = _with_ids(SensorTable(here._modalities), here, saved, place)
    table, most = loaded.table, MOST_ROOM_FOR_CONES // loaded.table.ids.capacity
    for index, one in enumerate(saved.rows):
        if len(one.cones) > most:
            refuse(f"{place}.rows[{index}].cones",
                   f"must hold at most {most} cones for {table.ids.capacity} sensors, got {len(one.cones)}")
        slot = table.ids.slot(one.id)
        _put(table, slot, SENSOR, one, columns)
        table.put_thresholds(slot, np.array(one.thresholds))
        table._put_cones(slot, one.cones)
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
        return _saved(value, SOURCES, measured_at_s=value.measured_at_s)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the sources, matched by name with those of the table; return the function that loads them."""
        assert within is not None
        within.sources = loaded = _read_sources(part, plain, place)
        return lambda: vars(part).update(vars(loaded.table))


class SensorsPart(Part):
    """The table of sensors, after that of the sources; later fields find it as ``within.sensors``."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return all sensors, in the order in which they were added."""
        return _saved(value, SENSORS)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the sensors, matched by name with those of the table; return the function that loads them."""
        assert within is not None
        within.sensors = loaded = _read_sensors(part, plain, place, within.sources.new_ids)
        return lambda: vars(part).update(vars(loaded.table))


def _put(table: Any, slot: int, record: Record, row: Any, columns: tuple[str, ...]) -> None:
    for name, kind in record.kinds.items():
        if (kind.at or name) in columns:
            getattr(table, kind.at or name)[slot] = getattr(row, name)


def _with_ids(empty: Table, here: Table, saved: SimpleNamespace, place: str) -> LoadedTable:
    """Return a table with the ids of a save but nothing in its rows."""
    noun, rows = here.ids.noun, saved.rows
    ids = [one.id for one in rows]
    empty.ids = read_ids(saved.generations, saved.free, ids, [one.name for one in rows], noun, place)
    # The caller does not create clues: saved clues come back, present ones are removed.
    lasting = [one for one in rows if not _is_clue(getattr(one, "details", None))]
    here_names = {
        one: name for one, name in here.ids.names.items()
        if not (isinstance(here, SourceTable) and _is_clue(here.details.get(one)))}
    try:
        found = match_by_name(noun, [one.name for one in lasting], list(here_names.values()))
    except StateError as error:
        refuse(place_in(place, "rows"), f"are inconsistent: {error}")
    here_ids = list(here_names)
    new_ids = {here_ids[index]: one.id for one, index in zip(lasting, found, strict=True)}
    for old, name in here_names.items():
        if old not in new_ids:
            new_ids[old] = empty.ids.add(name)
    empty._fit()
    return LoadedTable(empty, new_ids, ids)


def _is_clue(details: SourceDetails | None) -> bool:
    return details is not None and details.clue is not None
