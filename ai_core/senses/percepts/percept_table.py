"""The table of percepts: one row for what one sensor knows of one target."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import LARGEST, LATEST_S, Fields, State
from ai_core.senses.id_table import LARGEST_ID, SLOT_BITS
from ai_core.senses.percepts.percept_loops import (
    COLUMNS,
    LEVEL_NUMBERS,
    MIND_COLUMNS,
    SENSE_COLUMNS,
    PerceptLoops,
)
from ai_core.senses.sensation import FARTHEST_M, Point
from ai_core.senses.sight.pair_keys import ID_BITS

__all__ = ["AwarenessNumbers", "MemoryDurations", "PerceptTable", "RowView", "SavedRows"]

ID_MASK = (1 << ID_BITS) - 1

COLUMN = {name: place for place, name in enumerate(COLUMNS)}
"""Places of the numbers of a row by name."""

ENDS = [COLUMN["is_known"], COLUMN["has_meter"]]
"""Places of the flags of which a row needs one; it ends without."""

MEMORY, METER = slice(0, COLUMN["has_meter"]), slice(COLUMN["has_meter"], len(COLUMNS))
MEMORY_OF_SENSE, METER_OF_SENSE = slice(0, 2), slice(2, 4)

NOT_IN_VIEW = -2.0
"""Number of a look long ago."""

NO_MIND = -1.0
"""Stands for a row without a sensor in the settings of sensors."""

NO_SENSE = (0.0, -math.inf, 0.0, 0.0)
"""Numbers of a modality in which nothing was sensed."""


class MemoryDurations(NamedTuple):
    """Durations of a memory (s); ``SenseMemory`` describes them."""

    lose_after_s: float
    maximum_age_s: float
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
    """A view of one row. When the row ends, the view keeps its last values.

    Args:
        table: the table of the row.
        key: key of the row.
    """

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

    Args:
        modalities: names of modalities in the order of their numbers; others are added as they come.

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
        """Set the numbers of memory and awareness of a sensor.

        Args:
            sensor_id: the sensor.
            owner_id: the sensor under whose id its memory is kept: another one for a shared memory.
            memory: None for a sensor without memory.
            awareness: None for a sensor without awareness.
        """
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
        values, senses = self.rows[rows, MEMORY], self.senses[rows, :, MEMORY_OF_SENSE]
        for key, new in zip(before, after, strict=True):
            view = self.known_targets.pop(key, None)
            if view is not None:
                view._table, view._key = other, new
                other.known_targets[new] = view
        other.add(after)
        moved = [other.loops.find(key) for key in after]
        other.rows[moved, MEMORY] = values
        other.rows[moved, COLUMN["looked"]] = NOT_IN_VIEW
        for place, number in enumerate(numbers):
            other.senses[moved, number, MEMORY_OF_SENSE] = senses[:, place]
        self.forget([row for row in (self.loops.find(key) for key in before) if row >= 0])

    def save(self, rows: NDArray[np.intp], *, memory: bool = True, meters: bool = True) -> State:
        """Return some rows as plain data, by column.

        Args:
            rows: (n,) which.
            memory: whether memories are saved.
            meters: whether awareness meters are saved.
        """
        values, senses, looks = self.rows[rows], self.senses[rows], self.loops.looks
        for part, numbers, name in ((MEMORY, MEMORY_OF_SENSE, "is_known"), (METER, METER_OF_SENSE, "has_meter")):
            is_over = values[:, COLUMN[name]] == 0
            values[is_over, part] = 0
            values[is_over, COLUMN["looked" if name == "is_known" else "shown_at"]] = NOT_IN_VIEW
            senses[is_over, :, numbers] = NO_SENSE[numbers]
        state: State = {"targets": (self.key_of_row[rows] & ID_MASK).tolist()}
        for name in [*(MEMORY_FIELDS if memory else ()), *(METER_FIELDS if meters else ())]:
            state[name] = [value if math.isfinite(value) else None for value in values[:, COLUMN[name]].tolist()]
        if memory:
            state["looked_ago"] = _looks_ago(looks, values[:, COLUMN["looked"]])
        if meters:
            state["shown_ago"] = _looks_ago(looks, values[:, COLUMN["shown_at"]])
            pending = values[:, [COLUMN["level"], COLUMN["reached"]]].astype(np.intp).tolist()
            state["reacts_at_s"] = [
                self.reacts[row, level:reached].tolist()
                for row, (level, reached) in zip(rows.tolist(), pending, strict=True)]
        kept = [*(SENSE_COLUMNS[MEMORY_OF_SENSE] if memory else ()), *(SENSE_COLUMNS[METER_OF_SENSE] if meters else ())]
        state["by_modality"] = {}
        for number, modality in enumerate(self.modalities):
            some = senses[:, number]
            if (some != NO_SENSE).any():
                state["by_modality"][modality] = {
                    name: [value if math.isfinite(value) else None
                           for value in some[:, SENSE_COLUMNS.index(name)].tolist()]
                    for name in kept}
        return state

    def put(self, keys: NDArray[np.int64], saved: SavedRows) -> None:
        """Have these rows and no others of the sensors of their keys; ended rows must have been dropped."""
        for modality in saved.senses:
            self.number(modality)
        self.add(keys.tolist())
        for place, key in enumerate(keys.tolist()):
            row, level = self.loops.find(key), len(saved.reacts[place])
            for part, of_sense, has in (
                    (MEMORY, MEMORY_OF_SENSE, "is_known"), (METER, METER_OF_SENSE, "has_meter")):
                if saved.rows[place, COLUMN[has]]:
                    self.rows[row, part] = saved.rows[place, part]
                    self.senses[row, :, of_sense] = NO_SENSE[of_sense]
            if saved.rows[place, COLUMN["is_known"]]:
                self.rows[row, COLUMN["looked"]] = self._look_of(saved.looked_ago[place])
            if saved.rows[place, COLUMN["has_meter"]]:
                self.rows[row, COLUMN["shown_at"]] = self._look_of(saved.shown_ago[place])
                first = int(saved.rows[place, COLUMN["level"]])
                self.rows[row, COLUMN["reached"]] = first + level
                self.reacts[row, first : first + level] = saved.reacts[place]
            for modality, numbers in saved.senses.items():
                mine = self.senses[row, self._numbers[modality]]
                if saved.rows[place, COLUMN["is_known"]]:
                    mine[MEMORY_OF_SENSE] = numbers[place, MEMORY_OF_SENSE]
                if saved.rows[place, COLUMN["has_meter"]]:
                    mine[METER_OF_SENSE] = numbers[place, METER_OF_SENSE]

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

    def _look_of(self, ago: int | None) -> float:
        return NOT_IN_VIEW if ago is None else self.loops.looks - ago

    def _put(
        self, rows: NDArray[np.float64], senses: NDArray[np.float64], reacts: NDArray[np.float64],
    ) -> None:
        """Have these rows; the loops work on them, and on the keys, from now on."""
        self.rows, self.senses, self.reacts = rows, senses, reacts
        self.loops.take(
            self.keys, self.order, self.key_of_row, rows, senses, reacts, self._minds, self._levels)


MEMORY_FIELDS = ("is_known", "is_noticed", "is_expired", *COLUMNS[4 : MEMORY.stop])
METER_FIELDS = ("has_meter", "level", "value", "visibility", "line_s", "line_value", "meter_s")
FLAGS = ("is_known", "is_noticed", "is_expired", "has_meter")
NEVER_FIELDS = {"first_seen_s": math.nan, "last_seen_s": math.nan, "sensed_at_s": -math.inf}


class SavedRows(NamedTuple):
    """Rows of a save, checked.

    Attributes:
        targets: (n,) int64.
        rows: (n, ``COLUMNS``) float64, without numbers of looks and reached levels.
        looked_ago, shown_ago: (n,) how many looks ago the target was in view of the memory and of the meter: 0 or 1,
            None if it was not in the last two. The last look may be under way.
        reacts: for each row when the levels above its own are reported (s).
        senses: (n, ``SENSE_COLUMNS``) float64 by modality.
    """

    targets: NDArray[np.int64]
    rows: NDArray[np.float64]
    looked_ago: list[int | None]
    shown_ago: list[int | None]
    reacts: list[list[float]]
    senses: dict[str, NDArray[np.float64]]

    @classmethod
    def read(
        cls, fields: Fields, *, memory: bool = True, meters: bool = True, latest_s: float = LATEST_S,
        most_levels: Callable[[int], int] = lambda _: 0,
    ) -> SavedRows:
        """Check rows that ``PerceptTable.save`` returned.

        Args:
            fields: the saved data.
            memory, meters: what was saved.
            latest_s: game time of the save (s).
            most_levels: number of levels of a row, by its index.

        Raises:
            StateError: naming the place and the reason.
        """
        targets = np.array(fields.wholes("targets", maximum=LARGEST_ID), np.int64)
        count = len(targets)
        rows = np.zeros((count, len(COLUMNS)))
        for name in [*(MEMORY_FIELDS if memory else ()), *(METER_FIELDS if meters else ())]:
            rows[:, COLUMN[name]] = _column(fields, name, count, latest_s)
        nowhere: list[int | None] = [None] * count
        looked_ago = _read_looks_ago(fields, "looked_ago", count) if memory else nowhere
        shown_ago = _read_looks_ago(fields, "shown_ago", count) if meters else nowhere
        reacts: list[list[float]] = [[] for _ in range(count)]
        for place, moments in enumerate(fields.items("reacts_at_s", count=count) if meters else ()):
            one = Fields({"row": moments}, f"{fields.place_of('reacts_at_s')}[{place}]")
            reacts[place] = one.numbers("row", minimum=-LATEST_S, maximum=LATEST_S)
            level = int(rows[place, COLUMN["level"]])
            if level != rows[place, COLUMN["level"]] or level + len(reacts[place]) > most_levels(place):
                fields.refuse("level", f"[{place}] must be a whole number, at most {most_levels(place)} with its"
                                       " reactions")
            if reacts[place] != sorted(reacts[place]):
                fields.refuse("reacts_at_s", f"[{place}] must ascend")
        kept = [*(SENSE_COLUMNS[MEMORY_OF_SENSE] if memory else ()), *(SENSE_COLUMNS[METER_OF_SENSE] if meters else ())]
        senses = {}
        by_modality = fields.group("by_modality")
        for modality in by_modality.names():
            one = by_modality.group(modality)
            senses[modality] = np.full((count, len(SENSE_COLUMNS)), NO_SENSE)
            for name in kept:
                senses[modality][:, SENSE_COLUMNS.index(name)] = _column(one, name, count, latest_s)
            one.end()
        found = cls(targets, rows, looked_ago, shown_ago, reacts, senses)
        if memory:
            found._check_memory(fields)
        return found

    def has_meter(self, place: int) -> bool:
        """Return whether a row holds a meter."""
        return bool(self.rows[place, COLUMN["has_meter"]])

    def _check_memory(self, fields: Fields) -> None:
        """Refuse memories that cannot be."""
        first_seen, last_seen, noticed, sensed = (
            self.rows[:, COLUMN[name]] for name in ("first_seen_s", "last_seen_s", "noticed_s", "last_sensed_s"))
        if (np.isnan(first_seen) != np.isnan(last_seen)).any():
            fields.refuse("first_seen_s", "must be None where last_seen_s is, and only there")
        was_sensed = np.zeros(len(self.rows), np.bool_)
        for numbers in self.senses.values():
            was_sensed |= numbers[:, SENSE_COLUMNS.index("sensed_at_s")] > -math.inf
        for place in np.flatnonzero((self.rows[:, COLUMN["is_known"]] != 0) & ~was_sensed)[:1].tolist():
            fields.refuse("by_modality", f"must hold when target [{place}] was sensed, in one modality at least")
        if (noticed > sensed).any():
            fields.refuse("noticed_s", "must not be later than last_sensed_s")


def _column(fields: Fields, name: str, count: int, latest_s: float) -> NDArray[np.float64]:
    """Return a column of a save, checked."""
    absent = NEVER_FIELDS.get(name)
    minimum, maximum = -LATEST_S, latest_s
    if name in FLAGS or name in ("value", "line_value"):
        minimum, maximum = 0.0, 1.0
    elif name in ("x", "y", "z", "seen_x", "seen_y", "seen_z"):
        minimum, maximum = -FARTHEST_M, FARTHEST_M
    elif name in ("vx", "vy", "vz"):
        minimum, maximum = -LARGEST, LARGEST
    elif not name.endswith("_s"):
        minimum, maximum = 0.0, LARGEST
    column = np.array(
        fields.numbers(name, count=count, minimum=minimum, maximum=maximum, absent=absent), np.float64)
    if name in FLAGS and not np.isin(column, (0, 1)).all():
        fields.refuse(name, "must hold only 0 and 1")
    return column


def _looks_ago(looks: float, looked: NDArray[np.float64]) -> list[int | None]:
    return [int(ago) if ago in (0, 1) else None for ago in (looks - looked).tolist()]


def _read_looks_ago(fields: Fields, name: str, count: int) -> list[int | None]:
    found = fields.items(name, count=count)
    for place, ago in enumerate(found):
        if ago is not None and (type(ago) is not int or ago not in (0, 1)):
            fields.refuse(name, f"[{place}] must be 0, 1 or None, got {ago!r}")
    return found
