"""The table of percepts: one row for what one sensor knows of one target."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import LARGEST, LATEST_S
from ai_core.saving.kinds import ArrayOf, Columns, ListOf, MapOf, Record, Seconds
from ai_core.senses.id_table import LARGEST_ID, SLOT_BITS
from ai_core.senses.percepts.percept_loops import (
    COLUMNS,
    LEVEL_NUMBERS,
    MIND_COLUMNS,
    SENSE_COLUMNS,
    PerceptLoops,
)
from ai_core.senses.sensation import FARTHEST_M, Point
from ai_core.senses.sensor_phases import LONGEST_PERIOD
from ai_core.senses.sight.pair_keys import ID_BITS

__all__ = ["ROWS", "AwarenessNumbers", "MemoryDurations", "PerceptTable", "RowView", "SavedRows"]

ID_MASK = (1 << ID_BITS) - 1

COLUMN = {name: place for place, name in enumerate(COLUMNS)}
"""Places of the numbers of a row by name."""

ENDS = [COLUMN["is_known"], COLUMN["has_meter"]]
"""Places of the flags of which a row needs one; it ends without."""

NOT_IN_VIEW = -math.inf
"""Number of a look long ago."""

NO_MIND = -1.0
"""Stands for a row without a sensor in the settings of sensors."""

NO_SENSE = (0.0, -math.inf, 0.0, 0.0)
"""Numbers of a modality in which nothing was sensed."""


class _Part(NamedTuple):
    """A part of a row: the memory, or the awareness meter.

    Attributes:
        has: name of the flag that says whether the row has it.
        looked, ago: name of its number of a look, and how many looks ago that was: below two periods, or
            ``LONG_AGO``. The last look may be under way.
        columns, of_sense: places of its numbers in a row, and in those of a modality.
        saved: names of the numbers that are saved.
    """

    has: str
    looked: str
    ago: str
    columns: slice
    of_sense: slice
    saved: tuple[str, ...]


LONG_AGO = 2 * LONGEST_PERIOD
"""Stands for at least two periods among saved numbers of looks."""

MEMORY, METER = PARTS = (
    _Part("is_known", "looked", "looked_ago", slice(0, COLUMN["has_meter"]), slice(0, 2),
          ("is_known", "is_noticed", "is_expired", *COLUMNS[4 : COLUMN["has_meter"]])),
    _Part("has_meter", "shown_at", "shown_ago", slice(COLUMN["has_meter"], len(COLUMNS)), slice(2, 4),
          ("has_meter", "level", "value", "visibility", "line_s", "line_value", "meter_s")),
)


class MemoryDurations(NamedTuple):
    """Durations of a memory (s); ``SenseMemory`` describes them."""

    lose_after_s: float
    max_age_s: float
    keep_expired_s: float
    free_knowledge_s: float


class AwarenessNumbers(NamedTuple):
    """Numbers of awareness; ``AwarenessSettings`` describes them. A level: reached at, left at, reaction time (s)."""

    gain_per_s: float
    decay_per_s: float
    gain_per_signal: float
    levels: Sequence[tuple[float, float, float]]


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
        row = table.loops.find(self._key)
        return table.rows[row], table.senses[row], table.reacts[row]

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


class PerceptTable:
    """All that sensors remember and are aware of.

    Attributes:
        keys: (n,) int64, ascending: sensor, then target.
        order: (n,) int64, the row of each key: new keys do not move rows.
        key_of_row: (capacity,) int64, the key of each row, -1 for none.
        rows: (capacity, ``COLUMNS``) float64.
        senses: (capacity, modalities, ``SENSE_COLUMNS``) float64.
        reacts: (capacity, levels) float64, when levels that are reached are reported (s).
        modalities: names of all modalities.
        loops: the loops over these arrays.
        now_s: game time of the last pass over all rows (s).
        revision: number of passes and changes of rows so far.
        known_targets, meters: views in use, by key.

    Cost: new rows O(n) for any number of them, 16 bytes a key; 300 to 500 bytes a row.
    """

    def __init__(self, modalities: Iterable[str] = ()) -> None:
        self.modalities = list(modalities)
        self._numbers = {name: number for number, name in enumerate(self.modalities)}
        self.loops = PerceptLoops()
        self.now_s = -math.inf
        self.revision = 0
        self.known_targets: WeakValueDictionary[int, RowView] = WeakValueDictionary()
        self.meters: WeakValueDictionary[int, RowView] = WeakValueDictionary()
        self._minds = np.full((0, len(MIND_COLUMNS)), NO_MIND)
        self._levels = np.zeros((0, 0, LEVEL_NUMBERS))
        self.keys, self.order, self.key_of_row = (np.zeros(0, np.int64) for _ in range(3))
        self._free: list[int] = []
        self._put(*self._empty(0))

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, modality: str) -> int:
        """Return the number of a modality; a new name gets a new one."""
        number = self._numbers.get(modality)
        if number is None:
            number = self._numbers[modality] = len(self.modalities)
            self.modalities.append(modality)
            more = np.broadcast_to(NO_SENSE, (len(self.rows), 1, len(SENSE_COLUMNS)))
            self._put(self.rows, np.concatenate([self.senses, more], axis=1), self.reacts)
        return number

    def put_mind(
        self, sensor_id: int, owner_id: int, memory: MemoryDurations | None, awareness: AwarenessNumbers | None
    ) -> None:
        """Set the numbers of memory and awareness of a sensor."""
        slot, levels = sensor_id & ((1 << SLOT_BITS) - 1), () if awareness is None else awareness.levels
        if slot >= len(self._minds) or len(levels) > self._levels.shape[1]:
            self._make_room(slot + 1, len(levels))
        durations = (0.0, 0.0, 0.0, 0.0) if memory is None else memory
        rates = (0.0, 0.0, 0.0) if awareness is None else awareness[:3]
        self._minds[slot] = (
            sensor_id, owner_id, memory is not None, *durations, awareness is not None, *rates, len(levels))
        if levels:
            self._levels[slot, : len(levels)] = levels

    def drop_mind(self, sensor_id: int) -> None:
        """End all rows of a sensor that is removed."""
        first, end = self.span(sensor_id)
        if end > first:
            kept = np.ones(len(self.keys), np.bool_)
            kept[first:end] = False
            self._keep(kept)
        self._minds[sensor_id & ((1 << SLOT_BITS) - 1), 0] = NO_MIND

    def add(self, keys: Iterable[int]) -> None:
        """Make rows for those of some keys that have none."""
        loops = self.loops
        new = np.array(sorted({key for key in keys if loops.find(key) < 0}), np.int64)
        if not len(new):
            return
        if len(new) > len(self._free):
            self._grow(len(self.keys) + len(new))
        free = np.array([self._free.pop() for _ in range(len(new))], np.int64)
        self.rows[free], self.senses[free], self.reacts[free], self.key_of_row[free] = 0.0, NO_SENSE, 0.0, new
        at = self.keys.searchsorted(new)
        self.keys, self.order = np.insert(self.keys, at, new), np.insert(self.order, at, free)
        self._put(self.rows, self.senses, self.reacts)

    def drop_ended(self) -> None:
        """Drop rows that hold neither a memory nor a meter, and end views of those that are over."""
        for name, views in (("is_known", self.known_targets), ("has_meter", self.meters)):
            for key, view in list(views.items()) if views else ():
                if not self.rows[self.loops.find(key), COLUMN[name]]:
                    view._end()
                    del views[key]
        ends = self.rows[self.order[:, np.newaxis], ENDS]
        kept = (ends[:, 0] != 0) | (ends[:, 1] != 0)
        if not kept.all():
            self._keep(kept)

    def forget(self, rows: Sequence[int]) -> None:
        """End the memories of some rows, which is no change to report."""
        self.rows[rows, COLUMN["is_known"]] = 0     # the other numbers are the last that views keep
        self.drop_ended()

    def forget_all(self, sensor_id: int) -> None:
        """End all memories and meters of a sensor, which is no change to report."""
        first, end = self.span(sensor_id)
        self.rows[self.order[first:end, np.newaxis], ENDS] = 0
        self.drop_ended()

    def span(self, sensor_id: int) -> tuple[int, int]:
        """Return the place of the first key of a sensor, and the one after its last."""
        first, end = self.keys.searchsorted((sensor_id << ID_BITS, (sensor_id + 1) << ID_BITS)).tolist()
        return first, end

    def known(self, sensor_id: int) -> list[int]:
        """Return the rows of a sensor that hold a memory, by target."""
        first, end = self.span(sensor_id)
        rows = self.order[first:end]
        found: list[int] = rows[self.rows[rows, COLUMN["is_known"]] != 0].tolist()
        return found

    def has_meter(self, row: int) -> bool:
        """Return whether a row holds an awareness meter."""
        return bool(self.rows[row, COLUMN["has_meter"]])

    def move_memory(self, sensor_id: int, other: PerceptTable, other_id: int) -> None:
        """Move what a sensor remembers, but not its meters, to another sensor, of this table or another."""
        rows = self.known(sensor_id)
        if not rows:
            return
        before = self.key_of_row[rows].tolist()
        after = [other_id << ID_BITS | key & ID_MASK for key in before]
        numbers = [other.number(name) for name in self.modalities]
        values, senses = self.rows[rows, MEMORY.columns], self.senses[rows, :, MEMORY.of_sense]
        for key, new in zip(before, after, strict=True):
            view = self.known_targets.pop(key, None)
            if view is not None:
                view._table, view._key = other, new
                other.known_targets[new] = view
        other.add(after)
        moved = [other.loops.find(key) for key in after]
        other.rows[moved, MEMORY.columns] = values
        other.rows[moved, COLUMN["looked"]] = NOT_IN_VIEW
        for place, number in enumerate(numbers):
            other.senses[moved, number, MEMORY.of_sense] = senses[:, place]
        self.forget([row for row in (self.loops.find(key) for key in before) if row >= 0])

    def saved(self, rows: NDArray[np.intp], *, memory: bool = True, meters: bool = True) -> SavedRows:
        """Return some rows for saving."""
        values, senses, looks = self.rows[rows], self.senses[rows], self.loops.looks
        for part, is_saved in zip(PARTS, (memory, meters), strict=True):
            is_over = (values[:, COLUMN[part.has]] == 0) | (not is_saved)
            values[is_over, part.columns] = 0
            values[is_over, COLUMN[part.looked]] = NOT_IN_VIEW
            senses[is_over, :, part.of_sense] = NO_SENSE[part.of_sense]
        memories, kept_meters = (
            {part.ago: np.where(ago < 2 * self.loops.period, ago, LONG_AGO),
             **{name: values[:, COLUMN[name]] for name in part.saved}}
            for part in PARTS for ago in [looks - values[:, COLUMN[part.looked]]])
        pending = values[:, [COLUMN["level"], COLUMN["reached"]]].astype(np.intp).tolist()
        return SavedRows(
            self.key_of_row[rows] & ID_MASK, memories, kept_meters,
            [self.reacts[row, level:reached].tolist()
             for row, (level, reached) in zip(rows.tolist(), pending, strict=True)],
            {modality: dict(zip(SENSE_COLUMNS, senses[:, number].T, strict=True))
             for number, modality in enumerate(self.modalities) if (senses[:, number] != NO_SENSE).any()})

    def put(self, keys: NDArray[np.int64], saved: SavedRows) -> None:
        """Have these rows and no others of the sensors of their keys; ended rows must have been dropped."""
        numbers = [self.number(modality) for modality in saved.senses]
        self.add(keys.tolist())
        rows = np.array([self.loops.find(key) for key in keys.tolist()], np.intp)
        for part, columns in zip(PARTS, (saved.memory, saved.meters), strict=True):
            is_kept = columns[part.has] != 0
            mine, ago = rows[is_kept], columns[part.ago][is_kept]
            for name in part.saved:
                self.rows[mine, COLUMN[name]] = columns[name][is_kept]
            self.rows[mine, COLUMN[part.looked]] = np.where(ago == LONG_AGO, NOT_IN_VIEW, self.loops.looks - ago)
            self.senses[mine, :, part.of_sense] = NO_SENSE[part.of_sense]
            for number, senses in zip(numbers, saved.senses.values(), strict=True):
                for column, name in [*enumerate(SENSE_COLUMNS)][part.of_sense]:
                    self.senses[mine, number, column] = senses[name][is_kept]
        for row, level, reacts in zip(rows.tolist(), saved.meters["level"].tolist(), saved.reacts_at_s, strict=True):
            self.rows[row, COLUMN["reached"]] = level + len(reacts)
            self.reacts[row, level : level + len(reacts)] = reacts

    def _empty(self, count: int) -> Values:
        senses = np.empty((count, len(self.modalities), len(SENSE_COLUMNS)))
        senses[:] = NO_SENSE
        return np.zeros((count, len(COLUMNS))), senses, np.zeros((count, self._levels.shape[1]))

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        ended = self.order[~kept]
        gone = set(self.keys[~kept].tolist())
        for views in (self.known_targets, self.meters):
            for key, view in list(views.items()) if views else ():
                if key in gone:
                    view._end()
                    del views[key]
        self.key_of_row[ended] = -1
        self._free.extend(ended[::-1].tolist())
        self.keys, self.order = self.keys[kept], self.order[kept]
        self._put(self.rows, self.senses, self.reacts)

    def _grow(self, count: int) -> None:
        """Make room for so many rows, and as many more."""
        before, capacity = len(self.rows), max(8, 2 * count)
        grown = self._empty(capacity)
        for new, old in zip(grown, (self.rows, self.senses, self.reacts), strict=True):
            new[:before] = old
        self.key_of_row = np.append(self.key_of_row, np.full(capacity - before, -1, np.int64))
        self._free = [*range(capacity - 1, before - 1, -1), *self._free]
        self._put(*grown)

    def _make_room(self, sensors: int, levels: int) -> None:
        """Make room for settings of so many sensors, and for so many levels."""
        sensors = max(sensors, len(self._minds)) if sensors <= len(self._minds) else max(8, 2 * sensors)
        levels = max(levels, self._levels.shape[1])
        minds = np.full((sensors, len(MIND_COLUMNS)), NO_MIND)
        minds[: len(self._minds)] = self._minds
        numbers = np.zeros((sensors, levels, LEVEL_NUMBERS))
        numbers[: len(self._levels), : self._levels.shape[1]] = self._levels
        reacts = np.zeros((len(self.rows), levels))
        reacts[:, : self.reacts.shape[1]] = self.reacts
        self._minds, self._levels = minds, numbers
        self._put(self.rows, self.senses, reacts)

    def _put(
        self, rows: NDArray[np.float64], senses: NDArray[np.float64], reacts: NDArray[np.float64],
    ) -> None:
        """Have these rows; the loops work on them, and on the keys, from now on."""
        self.rows, self.senses, self.reacts = rows, senses, reacts
        self.loops.take(
            self.keys, self.order, self.key_of_row, rows, senses, reacts, self._minds, self._levels)


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


def _kind_of(name: str) -> ArrayOf:
    """Return how a column is saved."""
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
