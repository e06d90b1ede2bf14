"""Rows of the table of percepts, viewed one by one, and saved."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import LARGEST, LATEST_S
from ai_core.saving.kinds import ArrayOf, Columns, ListOf, MapOf, Record, Seconds
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.percepts.percept_loops import COLUMNS, NO_SENSE, NOT_IN_VIEW, SENSE_COLUMNS, PerceptTable
from ai_core.senses.sensation import FARTHEST_M, Point
from ai_core.senses.sight.pair_keys import ID_BITS

__all__ = ["ROWS", "RowView", "SavedRows", "put_rows", "saved_rows"]

ID_MASK = (1 << ID_BITS) - 1

COLUMN = {name: place for place, name in enumerate(COLUMNS)}
"""Places of the numbers of a row by name."""


class _Part(NamedTuple):
    """A part of a row: the memory, or the awareness meter.

    Attributes:
        has: name of the flag that says whether the row has it.
        looked, ago: name of its number of a look, and how many looks ago that was, at most ``LONG_AGO``. The last
            look may be under way.
        columns, of_sense: places of its numbers in a row, and in those of a modality.
        saved: names of the numbers that are saved.
    """

    has: str
    looked: str
    ago: str
    columns: slice
    of_sense: slice
    saved: tuple[str, ...]


LONG_AGO = 2
"""Stands for at least so many among saved numbers of looks."""

MEMORY, METER = PARTS = (
    _Part("is_known", "looked", "looked_ago", slice(0, COLUMN["has_meter"]), slice(0, 2),
          ("is_known", "is_noticed", "is_expired", *COLUMNS[4 : COLUMN["has_meter"]])),
    _Part("has_meter", "shown_at", "shown_ago", slice(COLUMN["has_meter"], len(COLUMNS)), slice(2, 4),
          ("has_meter", "level", "value", "visibility", "line_s", "line_value", "meter_s")),
)


Values = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Numbers of a row, those by modality, and the moments of its reactions."""


class RowView:
    """A view of one row. When the row ends, the view keeps its last values."""

    __slots__ = ("__weakref__", "_kept", "_key", "_table")

    def __init__(self, table: PerceptTable, key: int) -> None:
        self._table, self._key = table, key
        self._kept: Values | None = None

    @property
    def target(self) -> int:
        """Id of the source."""
        return self._key & ID_MASK

    def _end(self) -> None:
        """Keep the values of a row that ends."""
        rows, senses, reacts = self._values()
        self._kept = rows.copy(), senses.copy(), reacts.copy()

    def _values(self) -> Values:
        if self._kept is not None:
            return self._kept
        table = self._table
        row = table.find(self._key)
        return table.all_rows[row], table.all_senses[row], table.all_reacts[row]

    def _number(self, name: str) -> float:
        return float(self._values()[0][COLUMN[name]])

    def _point(self, first: str) -> Point:
        place = COLUMN[first]
        x, y, z = self._values()[0][place : place + 3].tolist()
        return (x, y, z)

    def _by_modality(self, name: str, of: str, absent: float) -> dict[str, float]:
        """Return numbers by modality, of those whose number ``of`` is not the absent one."""
        senses = self._values()[1]
        values, conditions = (senses[:, SENSE_COLUMNS.index(one)].tolist() for one in (name, of))
        return {
            modality: value
            for modality, value, condition in zip(self._table.modalities, values, conditions, strict=False)
            if condition != absent}


class SavedRows(NamedTuple):
    """Rows as they are saved.

    Attributes:
        targets: (n,) int64.
        memory, meters: (n,) columns by name, zeros in rows without.
        reacts_at_s: for each row when the levels above its own are reported (s).
        senses: (n,) columns of ``SENSE_COLUMNS`` by name, by modality.
    """

    targets: NDArray[np.int64]
    memory: dict[str, NDArray[Any]]
    meters: dict[str, NDArray[Any]]
    reacts_at_s: list[list[float]]
    senses: dict[str, dict[str, NDArray[np.float64]]]

    @classmethod
    def checked(cls, **columns: Any) -> SavedRows:
        """Return rows of a save."""
        rows = cls(**columns)
        memory, count = rows.memory, len(rows.targets)
        lengths = {
            "memory": len(memory["is_known"]), "meters": len(rows.meters["level"]),
            "reacts_at_s": len(rows.reacts_at_s),
            **{f"senses.{modality}": len(one["strength"]) for modality, one in rows.senses.items()}}
        for name, length in lengths.items():
            if length != count:
                raise ValueError(f"{name} must have {count} rows as targets, got {length}")
        if (np.isnan(memory["first_seen_s"]) != np.isnan(memory["last_seen_s"])).any():
            raise ValueError("memory.first_seen_s must be None where last_seen_s is, and only there")
        was_sensed = memory["is_known"] == 0
        for one in rows.senses.values():
            was_sensed |= one["sensed_at_s"] > -math.inf
        if not was_sensed.all():
            raise ValueError(f"senses must hold when target [{int(was_sensed.argmin())}] was sensed, in one at least")
        if (memory["noticed_s"] > memory["last_sensed_s"]).any():
            raise ValueError("memory.noticed_s must not be later than last_sensed_s")
        if any(one != sorted(one) for one in rows.reacts_at_s):
            raise ValueError("reacts_at_s must ascend")
        return rows

    def refusal(self, levels: NDArray[np.integer], latest_s: float) -> str:
        """Return why rows do not fit their owner; empty if they do."""
        reached = self.meters["level"] + np.array([*map(len, self.reacts_at_s)], np.int64)
        if (reached > levels).any():
            row = int((reached > levels).argmax())
            return f"meters.level[{row}] must be at most {levels[row]} with its reactions, got {reached[row]}"
        for columns in (self.memory, self.meters, *self.senses.values()):
            for name, column in columns.items():
                if name.endswith("_s") and (column > latest_s).any():
                    return f"{name} must not be later than the save, at {latest_s:g} s"
        return ""


def saved_rows(
    table: PerceptTable, rows: NDArray[np.intp], *, memory: bool = True, meters: bool = True,
) -> SavedRows:
    """Return some rows for saving."""
    values, senses, looks = table.all_rows[rows], table.all_senses[rows], table.looks
    for part, is_saved in zip(PARTS, (memory, meters), strict=True):
        is_over = (values[:, COLUMN[part.has]] == 0) | (not is_saved)
        values[is_over, part.columns] = 0
        values[is_over, COLUMN[part.looked]] = NOT_IN_VIEW
        senses[is_over, :, part.of_sense] = NO_SENSE[part.of_sense]
    memories, kept_meters = (
        {part.ago: np.minimum(ago, LONG_AGO),
         **{name: values[:, COLUMN[name]] for name in part.saved}}
        for part in PARTS for ago in [looks - values[:, COLUMN[part.looked]]])
    pending = values[:, [COLUMN["level"], COLUMN["reached"]]].astype(np.intp).tolist()
    return SavedRows(
        table.row_keys[rows] & ID_MASK, memories, kept_meters,
        [table.all_reacts[row, level:reached].tolist()
         for row, (level, reached) in zip(rows.tolist(), pending, strict=True)],
        {modality: dict(zip(SENSE_COLUMNS, senses[:, number].T, strict=True))
         for number, modality in enumerate(table.modalities) if (senses[:, number] != NO_SENSE).any()})


def put_rows(table: PerceptTable, keys: NDArray[np.int64], saved: SavedRows) -> None:
    """Have these rows and no others of the sensors of their keys; ended rows must have been dropped."""
    numbers = [table.number(modality) for modality in saved.senses]
    table.add(keys.tolist())
    rows = np.array([table.find(key) for key in keys.tolist()], np.intp)
    for part, columns in zip(PARTS, (saved.memory, saved.meters), strict=True):
        is_kept = columns[part.has] != 0
        mine, ago = rows[is_kept], columns[part.ago][is_kept]
        for name in part.saved:
            table.all_rows[mine, COLUMN[name]] = columns[name][is_kept]
        table.all_rows[mine, COLUMN[part.looked]] = np.where(ago == LONG_AGO, NOT_IN_VIEW, table.looks - ago)
        table.all_senses[mine, :, part.of_sense] = NO_SENSE[part.of_sense]
        for number, senses in zip(numbers, saved.senses.values(), strict=True):
            for column, name in [*enumerate(SENSE_COLUMNS)][part.of_sense]:
                table.all_senses[mine, number, column] = senses[name][is_kept]
    for row, level, reacts in zip(rows.tolist(), saved.meters["level"].tolist(), saved.reacts_at_s, strict=True):
        table.all_rows[row, COLUMN["reached"]] = level + len(reacts)
        table.all_reacts[row, level : level + len(reacts)] = reacts


def _kind_of(name: str) -> ArrayOf:
    if name.endswith("_ago"):
        return ArrayOf(np.uint8, maximum=LONG_AGO)
    if name.startswith(("is_", "has_")):
        return ArrayOf(np.uint8, maximum=1)
    if name == "level":
        return ArrayOf(np.uint16)
    if name.endswith("_s"):
        never = {"first_seen_s": math.nan, "last_seen_s": math.nan, "sensed_at_s": -math.inf}
        return ArrayOf(minimum=-LATEST_S, maximum=LATEST_S, absent=never.get(name))
    if name.endswith(("x", "y", "z")):
        most = LARGEST if name.startswith("v") else FARTHEST_M
        return ArrayOf(minimum=-most, maximum=most)
    return ArrayOf(minimum=0, maximum=1 if name.endswith("value") else LARGEST)


def _columns(names: Iterable[str]) -> Columns:
    kinds: dict[str, Any] = {name: _kind_of(name) for name in names}
    return Columns(**kinds)


ROWS = Record(
    SavedRows.checked, at="_saved_rows", targets=ArrayOf(np.int64, minimum=0, maximum=LARGEST_ID),
    memory=_columns([MEMORY.ago, *MEMORY.saved]), meters=_columns([METER.ago, *METER.saved]),
    reacts_at_s=ListOf(ListOf(Seconds())), senses=MapOf(_columns(SENSE_COLUMNS)))
"""How rows are saved, for owners with ``_saved_rows``."""
