"""The state of the tables of sensors and sources, matched by name with those that are here."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from ai_core.saving.declared_state import Change, Part
from ai_core.saving.fields import LATEST_S, StateError, place_in, refuse
from ai_core.saving.kinds import Flag, ListOf, MapOf, Number, OneOf, Optional, Point, Record, Row, Seconds, Text, Whole
from ai_core.saving.matching import match_by_name
from ai_core.senses.id_table import GENERATIONS, LARGEST_ID, read_ids, saved_ids
from ai_core.senses.modality import ByModality
from ai_core.senses.sensor_table import NO_SOURCE, SensorTable
from ai_core.senses.source_table import (
    ALL_AFFILIATIONS,
    PLAIN,
    Clue,
    SourceDetails,
    SourceTable,
    VisiblePart,
    visible_parts,
)

__all__ = ["SENSORS", "SOURCES", "without_clues"]

MOST_ROOM_FOR_CONES = 1 << 20
"""Sensors times the most cones that one of them has, in a save (count); 32 MB.

Every sensor has room for as many: more lets a damaged save take all memory.
"""

UNIT_TOLERANCE = 1e-4
"""How far the squared length of a direction may be from 1: far above float32's rounding."""


def _sensor_row(**fields: Any) -> SimpleNamespace:
    row = SimpleNamespace(**fields)
    if abs(sum(one * one for one in row.forward) - 1) > UNIT_TOLERANCE:
        raise ValueError(f"forward must be of length 1, got {list(row.forward)}")
    return row


ID, MASK = Whole(maximum=LARGEST_ID), Whole(maximum=ALL_AFFILIATIONS)
CONE = Row(lambda *numbers: numbers, Number(0), Number(-1, 1), Number(0, 1), Number(0), Whole(maximum=1))
"""How a cone is saved, a row of ``packed_cones``."""

SENSOR = Record(
    _sensor_row, id=ID, name=Text(), position=Point(3), forward=Point(3), thresholds=ByModality(Number(0)),
    sensitivity=ByModality(Number(0)), until_s=ByModality(Seconds()), cones=ListOf(CONE), detection_mask=MASK,
    self_source=Whole(NO_SOURCE, LARGEST_ID))

DETAILS = Record(
    lambda parts, **others: SourceDetails(parts=visible_parts(parts), **others),
    tag=Text(), actions=MapOf(Number(0)), gives_light=Flag(),
    parts=ListOf(Record(VisiblePart, name=Text(), offset=Point(3), share=Number(1e-9))),
    clue=Optional(Record(Clue, about=Whole(-1, LARGEST_ID), left_at_s=Seconds(), until_s=Number(-LATEST_S, LATEST_S))))

SOURCE = Record(
    SimpleNamespace, id=ID, name=Text(), position=Point(3), strengths=ByModality(Number(0)), affiliation=MASK,
    light=Number(0), size=Number(1e-3, 1e6), speed=Number(0), measured=Point(3),
    pattern=OneOf(lambda table: ("", *table.camouflage.patterns)), details=DETAILS)


class _TablePart(Part):
    """A table, its rows in the order in which they were added; later fields find it as ``within.sensors``, or sources.

    Args:
        row: how a row is saved.
        empty: returns an empty table like one.
        own: attributes of the table that are fields of their own, or set by the program.
    """

    def __init__(self, row: Record, empty: Callable[[Any], Any], *own: str, at: str) -> None:
        super().__init__(at=at)
        self._empty, self._own = empty, own
        self._kind = Record(
            SimpleNamespace, generations=ListOf(Whole(maximum=GENERATIONS)), free=ListOf(Whole()),
            rows=ListOf(row, unique=attrgetter("id")))

    def save(self, value: Any, owner: Any) -> Any:
        """Return all rows."""
        rows = [value.row(one) for one in value.ids.names]
        return self._kind.save(SimpleNamespace(**saved_ids(value.ids), rows=rows), value)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the rows, matched by name with those of the table; return the function that loads them."""
        assert within is not None
        saved, table, noun = self._kind.read(plain, place, part), self._empty(part), part.ids.noun
        names = {row.id: row.name for row in saved.rows}
        table.ids = read_ids(saved.generations, saved.free, [*names], [*names.values()], noun, place)
        # The caller does not create clues: saved clues come back, present ones are removed.
        lasting = without_clues(names, {row.id: getattr(row, "details", PLAIN) for row in saved.rows})
        here = without_clues(part.ids.names, getattr(part, "details", {}))
        try:
            found = match_by_name(noun, list(lasting.values()), list(here.values()))
        except StateError as error:
            refuse(place_in(place, "rows"), f"are inconsistent: {error}")
        new_ids = {[*here][index]: one for one, index in zip(lasting, found, strict=True)}
        extra = {old: table.ids.add(name) for old, name in here.items() if old not in new_ids}
        table.fit()
        table.new_ids, table.saved_ids = {**new_ids, **extra}, [*names]
        setattr(within, f"{noun}s", table)
        rows = [*saved.rows, *(self._moved(part.row(old), new, within) for old, new in extra.items())]
        most = MOST_ROOM_FOR_CONES // table.ids.capacity
        for index, row in enumerate(rows):
            if len(getattr(row, "cones", ())) > most:
                refuse(f"{place}.rows[{index}].cones",
                       f"must be at most {most} cones for {table.ids.capacity} sensors, got {len(row.cones)}")
            table.put_row(row)

        def load() -> None:
            own = {name: vars(part)[name] for name in self._own}
            vars(part).clear()      # what was computed from the rows before goes with them
            vars(part).update(vars(table), **own)
        return load

    def _moved(self, row: Any, new: int, within: SimpleNamespace) -> Any:
        """Return a row under a new id, with the new id of its own source."""
        row.id = new
        if hasattr(row, "self_source"):
            row.self_source = within.sources.new_ids.get(row.self_source, row.self_source)
        return row


SOURCES = _TablePart(
    SOURCE, lambda here: SourceTable(here._modalities, here.camouflage, has_backdrops=here.has_backdrops),
    "measured_at_s", at="_sources")
"""How the sources of a sense manager are saved."""

SENSORS = _TablePart(SENSOR, lambda here: SensorTable(here._modalities), "period", "loops", at="_sensors")
"""How its sensors are saved, after the sources."""


def without_clues(names: Mapping[int, str], details: Mapping[int, SourceDetails]) -> dict[int, str]:
    """Return the names of sources that the game has made."""
    return {one: name for one, name in names.items() if one not in details or details[one].clue is None}
