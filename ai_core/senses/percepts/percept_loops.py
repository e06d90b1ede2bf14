# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# Row by row, with branches: as fast with -O1 as with -O3, compiled in half of the time.
# distutils: extra_compile_args = -O1
# mypy: ignore-errors
"""Memory and awareness of sensors, advanced row by row.

A row is what one sensor knows of one target. Everything that can happen to it happens here: it is sensed,
reported, lost, expired and forgotten, and its awareness rises and falls through levels. What happened is
collected in lists, in the order of rows; ``Perception`` sorts them, and listeners hear of it later.

Between two changes of visibility the meter of a row is a straight line, so moments of crossings are exact
at any frame rate, as are those at which a target is lost, expires and is forgotten.
"""
from __future__ import annotations

from typing import NamedTuple
from weakref import WeakValueDictionary

import cython
import numpy as np
from cython.cimports.libc.math import floor

__all__ = [
    "COLUMNS", "NOT_IN_VIEW", "NO_SENSE", "SENSE_COLUMNS", "AwarenessNumbers", "MemoryDurations", "PerceptTable",
    "WatchedTarget",
]

COLUMNS = (
    "is_known", "is_noticed", "is_expired", "looked",
    "first_sensed_s", "last_sensed_s", "noticed_s", "known_at_s", "x", "y", "z", "vx", "vy", "vz",
    "first_seen_s", "last_seen_s", "seen_x", "seen_y", "seen_z",
    "has_meter", "shown_at", "level", "reached", "value", "visibility", "line_s", "line_value", "meter_s",
)
"""Numbers of a row. The first 19 are its memory: ``looked`` is the number of the last look at which the target
was in view, ``noticed_s`` until when the sensor sensed it itself; NaN stands for a moment that never was. The others
are its awareness meter: ``shown_at`` is ``looked`` of the meter, ``reached`` the level whose reaction may still be
pending, and the line of the meter starts at (``line_s``, ``line_value``)."""

SENSE_COLUMNS = ("strength", "sensed_at_s", "shown", "stimulus_gain")
"""Numbers of a row for each modality: the last sensation, how it shows itself now, and the awareness that its stimuli
added."""

MIND_COLUMNS = (
    "sensor_id", "owner_id", "has_memory", "lose_after_s", "max_age_s", "keep_expired_s", "free_knowledge_s",
    "has_awareness", "gain_per_s", "decay_per_s", "gain_per_signal", "levels",
)
"""Settings of a sensor. ``owner_id`` is the sensor under whose id its memory is kept, another one if it is shared."""

LEVEL_NUMBERS = 3
"""Numbers of an awareness level: value at which it is reached, at which it is left, reaction time (s)."""

NOT_IN_VIEW = -np.inf
"""Number of a look long ago."""

NO_SENSE = (0.0, -np.inf, 0.0, 0.0)
"""Numbers of a modality in which nothing was sensed."""

NO_MIND = -1.0
"""Stands for a row without a sensor in the settings of sensors."""

ID_BITS = cython.declare(cython.int, 31)            # of a target in a key: pairs_in_view.ID_BITS
ID_MASK = cython.declare(cython.longlong, (1 << 31) - 1)
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
PHASE_STEP = cython.declare(cython.double, (5 ** 0.5 - 1) / 2)  # share of a turn between the reports of two sensors
INFINITY = cython.declare(cython.double, float("inf"))
NEVER = cython.declare(cython.double, float("nan"))

IS_KNOWN = cython.declare(cython.int, COLUMNS.index("is_known"))
IS_NOTICED = cython.declare(cython.int, COLUMNS.index("is_noticed"))
IS_EXPIRED = cython.declare(cython.int, COLUMNS.index("is_expired"))
LOOKED = cython.declare(cython.int, COLUMNS.index("looked"))
FIRST_SENSED_S = cython.declare(cython.int, COLUMNS.index("first_sensed_s"))
LAST_SENSED_S = cython.declare(cython.int, COLUMNS.index("last_sensed_s"))
NOTICED_S = cython.declare(cython.int, COLUMNS.index("noticed_s"))
KNOWN_AT_S = cython.declare(cython.int, COLUMNS.index("known_at_s"))
PLACE = cython.declare(cython.int, COLUMNS.index("x"))
VELOCITY = cython.declare(cython.int, COLUMNS.index("vx"))
FIRST_SEEN_S = cython.declare(cython.int, COLUMNS.index("first_seen_s"))
LAST_SEEN_S = cython.declare(cython.int, COLUMNS.index("last_seen_s"))
SEEN = cython.declare(cython.int, COLUMNS.index("seen_x"))
HAS_METER = cython.declare(cython.int, COLUMNS.index("has_meter"))
SHOWN_AT = cython.declare(cython.int, COLUMNS.index("shown_at"))
LEVEL = cython.declare(cython.int, COLUMNS.index("level"))
REACHED = cython.declare(cython.int, COLUMNS.index("reached"))
VALUE = cython.declare(cython.int, COLUMNS.index("value"))
VISIBILITY = cython.declare(cython.int, COLUMNS.index("visibility"))
LINE_S = cython.declare(cython.int, COLUMNS.index("line_s"))
LINE_VALUE = cython.declare(cython.int, COLUMNS.index("line_value"))
METER_S = cython.declare(cython.int, COLUMNS.index("meter_s"))

STRENGTH = cython.declare(cython.int, 0)            # SENSE_COLUMNS
SENSED_AT_S = cython.declare(cython.int, 1)
SHOWN = cython.declare(cython.int, 2)
STIMULUS_GAIN = cython.declare(cython.int, 3)

SENSOR_ID = cython.declare(cython.int, MIND_COLUMNS.index("sensor_id"))
OWNER_ID = cython.declare(cython.int, MIND_COLUMNS.index("owner_id"))
HAS_MEMORY = cython.declare(cython.int, MIND_COLUMNS.index("has_memory"))
LOSE_AFTER_S = cython.declare(cython.int, MIND_COLUMNS.index("lose_after_s"))
MAXIMUM_AGE_S = cython.declare(cython.int, MIND_COLUMNS.index("max_age_s"))
KEEP_EXPIRED_S = cython.declare(cython.int, MIND_COLUMNS.index("keep_expired_s"))
FREE_KNOWLEDGE_S = cython.declare(cython.int, MIND_COLUMNS.index("free_knowledge_s"))
HAS_AWARENESS = cython.declare(cython.int, MIND_COLUMNS.index("has_awareness"))
GAIN_PER_S = cython.declare(cython.int, MIND_COLUMNS.index("gain_per_s"))
DECAY_PER_S = cython.declare(cython.int, MIND_COLUMNS.index("decay_per_s"))
GAIN_PER_SIGNAL = cython.declare(cython.int, MIND_COLUMNS.index("gain_per_signal"))
LEVELS = cython.declare(cython.int, MIND_COLUMNS.index("levels"))

RISES_AT = cython.declare(cython.int, 0)            # numbers of a level
FALLS_AT = cython.declare(cython.int, 1)
REACTION_S = cython.declare(cython.int, 2)


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
    levels: list[tuple[float, float, float]]


@cython.cclass
class WatchedTarget:
    """What a sensor knew of one target when ``update_watched`` looked last; the base of a reader's own class.

    Attributes:
        sensor_id: id of the sensor.
        target: id of the target, -1 for none.
        phase: frames by which the turns of ``has_choice`` are shifted.
        period: frames from one look to the next.
        chooses_every: looks from one turn of ``has_choice`` to the next.
        has_choice: in its turns it is listed as changed if another target may be more important.
        by_awareness: only if the sensor is more aware of another target.
        is_new: it is listed as changed once.
        is_known: the sensor remembers the target.
        is_noticed: the target is not lost.
        is_in_view: the sensor sees the target.
        awareness: value of the meter, from 0 to 1.
        level: awareness level.
        x: x of the last known position (m); y and z likewise.
        reader: what is handed back if only the awareness or the place changed; None to list that as changed, too.
        character: the character of the target in view; if it is another one, that is listed as changed.
        place: the place of the target in view that was handed back last.
        known_at: of the reader; None after a new place.
    """

    sensor_id = cython.declare(cython.longlong, visibility="public")
    target = cython.declare(cython.longlong, visibility="public")
    phase = cython.declare(cython.longlong, visibility="public")
    period = cython.declare(cython.longlong, visibility="public")
    chooses_every = cython.declare(cython.longlong, visibility="public")
    has_choice = cython.declare(cython.bint, visibility="public")
    by_awareness = cython.declare(cython.bint, visibility="public")
    is_new = cython.declare(cython.bint, visibility="public")
    is_known = cython.declare(cython.bint, visibility="public")
    is_noticed = cython.declare(cython.bint, visibility="public")
    is_in_view = cython.declare(cython.bint, visibility="public")
    awareness = cython.declare(cython.double, visibility="public")
    level = cython.declare(cython.longlong, visibility="public")
    x = cython.declare(cython.double, visibility="public")
    y = cython.declare(cython.double, visibility="public")
    z = cython.declare(cython.double, visibility="public")
    reader = cython.declare(object, visibility="public")
    character = cython.declare(object, visibility="public")
    place = cython.declare(object, visibility="public")
    known_at = cython.declare(object, visibility="public")
    row: cython.Py_ssize_t

    def __init__(self) -> None:
        self.sensor_id = self.target = self.row = -1
        self.phase, self.period, self.chooses_every, self.level = 0, 1, 1, 0
        self.has_choice = self.by_awareness = self.is_known = self.is_noticed = self.is_in_view = False
        self.is_new = True
        self.awareness = self.x = self.y = self.z = 0.0
        self.reader = self.character = self.place = self.known_at = None


@cython.final
@cython.cclass
class PerceptTable:
    """All that sensors remember and are aware of, with modalities as they come: the first have the given names.

    Methods read ``self.rows``: a local name for a view counts its references atomically, which doubled the time of
    a row.

    Attributes:
        all_keys: (n,) int64, ascending: sensor, then target.
        all_order: (n,) int64, the row of each key: new keys do not move rows.
        row_keys: (capacity,) int64, the key of each row, -1 for none.
        all_rows: (capacity, ``COLUMNS``) float64.
        all_senses: (capacity, modalities, ``SENSE_COLUMNS``) float64.
        all_reacts: (capacity, levels) float64, when levels that are reached are reported (s).
        modalities: names of all modalities.
        memories, meters: views of rows in use, by key.
        now_s: game time of the last pass over all rows (s).
        revision: number of passes and changes of rows so far.
        changes: changes of memories: (sensor, time (s), target, kind, x, y, z).
        levels_crossed: changes of levels: (sensor, time (s), target, level).
        sensations: sensations to report: (sensor, source, number of the modality, intensity, x, y, z).
        missing: pairs without a row, by index: see ``see``.
        has_ended: whether a row has nothing to hold any more.
        looks: number of the last look.

    Cost: new rows O(n) for any number of them, 16 bytes a key; 300 to 500 bytes a row.
    """

    all_keys = cython.declare(object, visibility="readonly")
    all_order = cython.declare(object, visibility="readonly")
    row_keys = cython.declare(object, visibility="readonly")
    all_rows = cython.declare(object, visibility="readonly")
    all_senses = cython.declare(object, visibility="readonly")
    all_reacts = cython.declare(object, visibility="readonly")
    modalities = cython.declare(list, visibility="readonly")
    memories = cython.declare(object, visibility="readonly")
    meters = cython.declare(object, visibility="readonly")
    now_s = cython.declare(cython.double, visibility="public")
    revision = cython.declare(cython.longlong, visibility="public")
    changes = cython.declare(list, visibility="public")
    levels_crossed = cython.declare(list, visibility="public")
    sensations = cython.declare(list, visibility="public")
    missing = cython.declare(list, visibility="public")
    has_ended = cython.declare(cython.bint, visibility="readonly")
    looks = cython.declare(cython.double, visibility="readonly")
    numbers: dict                   # of modalities, by name
    free: list                      # rows
    all_minds: object
    all_levels: object
    # Views of these arrays.
    count: cython.Py_ssize_t
    capacity: cython.Py_ssize_t
    senses_count: cython.Py_ssize_t
    minds_count: cython.Py_ssize_t
    keys: cython.longlong[::1]
    order: cython.longlong[::1]
    key_of_row: cython.longlong[::1]
    rows: cython.double[:, ::1]
    senses: cython.double[:, :, ::1]
    reacts: cython.double[:, ::1]
    minds: cython.double[:, ::1]
    levels: cython.double[:, :, ::1]
    # Sources, and pairs in view, that are viewed.
    source_places: object
    source_ids: object
    places: cython.const[cython.float][:, :]
    ids: cython.const[cython.int][::1]
    pair_columns: tuple
    pair_keys: cython.const[cython.longlong][::1]
    pair_intensity: cython.const[cython.double][::1]
    pair_sensed: cython.const[cython.uchar][::1]
    pair_reported_s: cython.double[::1]

    def __init__(self, modalities=()) -> None:
        self.modalities = list(modalities)
        self.numbers = {name: number for number, name in enumerate(self.modalities)}
        self.memories, self.meters = WeakValueDictionary(), WeakValueDictionary()
        self.now_s, self.revision = -INFINITY, 0
        self.changes, self.levels_crossed, self.sensations, self.missing = [], [], [], []
        self.has_ended = False
        self.looks = 1      # no row was in view at look 0
        self.source_places = self.source_ids = self.pair_columns = None
        self.all_minds, self.all_levels = np.full((0, len(MIND_COLUMNS)), NO_MIND), np.zeros((0, 0, LEVEL_NUMBERS))
        self.all_keys, self.all_order, self.row_keys = np.zeros((3, 0), np.int64)
        self.free = []
        rows, senses, reacts = self.empty(0)
        self.put_arrays(rows, senses, reacts)

    def __len__(self) -> int:
        return self.count

    # -- rows

    def empty(self, count: int) -> tuple:
        """Return the arrays of so many new rows."""
        senses = np.empty((count, len(self.modalities), len(SENSE_COLUMNS)))
        senses[:] = NO_SENSE
        return np.zeros((count, len(COLUMNS))), senses, np.zeros((count, self.all_levels.shape[1]))

    @cython.cfunc
    def put_arrays(self, rows, senses, reacts):
        """Have these rows; loops work on them, and on the keys and settings, from now on."""
        self.all_rows, self.all_senses, self.all_reacts = rows, senses, reacts
        self.count, self.capacity = len(self.all_keys), len(self.row_keys)
        self.senses_count, self.minds_count = senses.shape[1], len(self.all_minds)
        self.keys, self.order = memoryview(self.all_keys), memoryview(self.all_order)
        self.key_of_row, self.rows, self.senses = memoryview(self.row_keys), memoryview(rows), memoryview(senses)
        self.reacts = memoryview(reacts)
        self.minds, self.levels = memoryview(self.all_minds), memoryview(self.all_levels)

    def number(self, modality: str) -> int:
        """Return the number of a modality; a new name gets a new one."""
        number = self.numbers.get(modality)
        if number is None:
            number = self.numbers[modality] = len(self.modalities)
            self.modalities.append(modality)
            more = np.broadcast_to(NO_SENSE, (len(self.all_rows), 1, len(SENSE_COLUMNS)))
            self.put_arrays(self.all_rows, np.concatenate([self.all_senses, more], axis=1), self.all_reacts)
        return number

    def put_mind(self, sensor_id: int, owner_id: int, memory: object, awareness: object) -> None:
        """Set ``MemoryDurations`` and ``AwarenessNumbers`` of a sensor, or None; see ``MIND_COLUMNS`` for the owner."""
        slot, levels = sensor_id & SLOT_MASK, () if awareness is None else awareness.levels
        if slot >= len(self.all_minds) or len(levels) > self.all_levels.shape[1]:
            self.make_room(slot + 1, len(levels))
        durations = (0.0, 0.0, 0.0, 0.0) if memory is None else memory
        rates = (0.0, 0.0, 0.0) if awareness is None else awareness[:3]
        self.all_minds[slot] = (
            sensor_id, owner_id, memory is not None, *durations, awareness is not None, *rates, len(levels))
        if levels:
            self.all_levels[slot, : len(levels)] = levels

    @cython.cfunc
    def make_room(self, sensors, levels):
        before, most = self.all_minds.shape[0], self.all_levels.shape[1]
        sensors = before if sensors <= before else max(8, 2 * sensors)
        minds = np.full((sensors, len(MIND_COLUMNS)), NO_MIND)
        minds[:before] = self.all_minds
        numbers = np.zeros((sensors, max(levels, most), LEVEL_NUMBERS))
        numbers[:before, :most] = self.all_levels
        reacts = np.zeros((len(self.all_rows), max(levels, most)))
        reacts[:, :most] = self.all_reacts
        self.all_minds, self.all_levels = minds, numbers
        self.put_arrays(self.all_rows, self.all_senses, reacts)

    def drop_mind(self, sensor_id: int) -> None:
        """End all rows of a sensor that is removed."""
        first, end = self.span(sensor_id)
        if end > first:
            kept = np.ones(len(self.all_keys), np.bool_)
            kept[first:end] = False
            self.keep(kept)
        self.all_minds[sensor_id & SLOT_MASK, SENSOR_ID] = NO_MIND

    def add(self, keys: list) -> None:
        """Make rows for those of some keys that have none."""
        new = np.array(sorted({key for key in keys if self.find(key) < 0}), np.int64)
        if not len(new):
            return
        if len(new) > len(self.free):
            before, capacity = len(self.all_rows), max(8, 2 * (len(self.all_keys) + len(new)))
            grown = self.empty(capacity)
            for mine, old in zip(grown, (self.all_rows, self.all_senses, self.all_reacts)):  # noqa: B905  three of both
                mine[:before] = old
            self.row_keys = np.append(self.row_keys, np.full(capacity - before, -1, np.int64))
            self.free = [*range(capacity - 1, before - 1, -1), *self.free]
            self.all_rows, self.all_senses, self.all_reacts = grown
        rows = np.array([self.free.pop() for _ in range(len(new))], np.int64)
        self.all_rows[rows], self.all_senses[rows], self.all_reacts[rows], self.row_keys[rows] = 0.0, NO_SENSE, 0.0, new
        at = self.all_keys.searchsorted(new)
        self.all_keys, self.all_order = np.insert(self.all_keys, at, new), np.insert(self.all_order, at, rows)
        self.put_arrays(self.all_rows, self.all_senses, self.all_reacts)

    @cython.cfunc
    def keep(self, kept):
        """Drop the rows of other keys."""
        ended = self.all_order[~kept]
        gone = set(self.all_keys[~kept].tolist())
        for views in (self.memories, self.meters):
            for key, view in list(views.items()) if views else ():
                if key in gone:
                    view._end()
                    del views[key]
        self.row_keys[ended] = -1
        self.free.extend(ended[::-1].tolist())
        self.all_keys, self.all_order = self.all_keys[kept], self.all_order[kept]
        self.put_arrays(self.all_rows, self.all_senses, self.all_reacts)

    def drop_ended(self) -> None:
        """Drop rows that hold neither a memory nor a meter, and end views of those that are over."""
        for column, views in ((IS_KNOWN, self.memories), (HAS_METER, self.meters)):
            for key, view in list(views.items()) if views else ():
                if not self.all_rows[self.find(key), column]:
                    view._end()
                    del views[key]
        rows = self.all_order
        kept = (self.all_rows[rows, IS_KNOWN] != 0) | (self.all_rows[rows, HAS_METER] != 0)
        if not kept.all():
            self.keep(kept)

    def forget(self, rows: list) -> None:
        """End the memories of some rows, which is no change to report."""
        self.all_rows[rows, IS_KNOWN] = 0     # the other numbers are the last that views keep
        self.drop_ended()

    def forget_all(self, sensor_id: int) -> None:
        """End all memories and meters of a sensor, which is no change to report."""
        first, end = self.span(sensor_id)
        rows = self.all_order[first:end]
        self.all_rows[rows, IS_KNOWN] = self.all_rows[rows, HAS_METER] = 0
        self.drop_ended()

    def move_memory(self, sensor_id: int, other: PerceptTable, other_id: int) -> None:
        """Move what a sensor remembers, but not its meters, to another sensor, of this table or another."""
        rows = self.known(sensor_id)
        if not rows:
            return
        before = self.row_keys[rows].tolist()
        after = [other_id << ID_BITS | key & ID_MASK for key in before]
        numbers = [other.number(name) for name in self.modalities]
        values, senses = self.all_rows[rows, :HAS_METER], self.all_senses[rows, :, :SHOWN]
        for key, new in zip(before, after):  # noqa: B905  made of each other
            view = self.memories.pop(key, None)
            if view is not None:
                view._table, view._key = other, new
                other.memories[new] = view
        other.add(after)
        moved = [other.find(key) for key in after]
        other.all_rows[moved, :HAS_METER] = values
        other.all_rows[moved, LOOKED] = NOT_IN_VIEW
        for place, number in enumerate(numbers):
            other.all_senses[moved, number, :SHOWN] = senses[:, place]
        self.forget([row for row in map(self.find, before) if row >= 0])

    # -- looking up

    def span(self, sensor_id: cython.longlong) -> tuple:
        """Return the place of the first key of a sensor, and the one after its last."""
        return self.place_of(sensor_id << ID_BITS), self.place_of((sensor_id + 1) << ID_BITS)

    def known(self, sensor_id: cython.longlong) -> list:
        """Return the rows of a sensor that hold a memory, by target."""
        first, end = self.span(sensor_id)
        rows = self.all_order[first:end]
        return rows[self.all_rows[rows, IS_KNOWN] != 0].tolist()

    def is_known(self, row: cython.Py_ssize_t) -> bool:
        """Return whether there is such a row, with a memory."""
        return 0 <= row < self.capacity and self.rows[row, IS_KNOWN] != 0

    def has_meter(self, row: cython.Py_ssize_t) -> bool:
        """Return whether there is such a row, with an awareness meter."""
        return 0 <= row < self.capacity and self.rows[row, HAS_METER] != 0

    @cython.ccall
    @cython.exceptval(check=False)
    def find(self, key: cython.longlong) -> cython.Py_ssize_t:
        """Return the row of a key, -1 if there is none. Cost: O(log n)."""
        first: cython.Py_ssize_t = self.place_of(key)
        return self.order[first] if first < self.count and self.keys[first] == key else -1

    @cython.cfunc
    @cython.exceptval(check=False)
    def place_of(self, key: cython.longlong) -> cython.Py_ssize_t:
        """Return the place of the first key that is not smaller."""
        first: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t = self.count
        middle: cython.Py_ssize_t
        while first < end:
            middle = (first + end) // 2
            if self.keys[middle] < key:
                first = middle + 1
            else:
                end = middle
        return first

    @cython.cfunc
    @cython.exceptval(check=False)
    def mind_of(self, sensor_id: cython.longlong) -> cython.Py_ssize_t:
        """Return the row of settings of a sensor, -1 if it is gone."""
        slot: cython.Py_ssize_t = sensor_id & SLOT_MASK
        return slot if slot < self.minds_count and self.minds[slot, SENSOR_ID] == sensor_id else -1

    def known_targets(self, sensor_id: cython.longlong) -> list:
        """Return the targets that are remembered under the id of a sensor, ascending. Cost: O(log n + targets)."""
        first: cython.Py_ssize_t = self.place_of(sensor_id << ID_BITS)
        found: list = []
        while first < self.count and self.keys[first] >> ID_BITS == sensor_id:
            if self.rows[self.order[first], IS_KNOWN]:
                found.append(self.keys[first] & ID_MASK)
            first += 1
        return found

    def first_target(
        self, sensor_id: cython.longlong, present: cython.longlong, here: object, nearer: cython.double,
    ) -> cython.longlong:
        """Return the target that a sensor remembers and is most aware of, or the nearest; -1 for none.

        Targets that are not lost precede; of equal ones the present one, then the smallest id.

        Cost: O(log n + targets of the sensor).
        """
        row: cython.Py_ssize_t
        meter: cython.Py_ssize_t
        mind: cython.Py_ssize_t = self.mind_of(sensor_id)
        target: cython.longlong
        best: cython.longlong = -1
        rank: cython.double
        best_rank: cython.double = 0.0
        is_noticed: cython.bint
        is_best_noticed: cython.bint = False
        x: cython.double = 0.0
        y: cython.double = 0.0
        z: cython.double = 0.0
        by_distance: cython.bint = here is not None
        if mind < 0:
            return -1
        if by_distance:
            x, y, z = here
        owner: cython.longlong = cython.cast(cython.longlong, self.minds[mind, OWNER_ID])
        at: cython.Py_ssize_t = self.place_of(owner << ID_BITS)
        while at < self.count and self.keys[at] >> ID_BITS == owner:
            row, target = self.order[at], self.keys[at] & ID_MASK
            at += 1
            if not self.rows[row, IS_KNOWN]:
                continue
            is_noticed = self.rows[row, IS_NOTICED] != 0
            if by_distance:
                rank = -((x - self.rows[row, PLACE]) ** 2 + (y - self.rows[row, PLACE + 1]) ** 2
                         + (z - self.rows[row, PLACE + 2]) ** 2)
                if target == present:
                    rank *= nearer * nearer
            else:
                meter = row if owner == sensor_id else self.find(sensor_id << ID_BITS | target)
                rank = self.rows[meter, VALUE] if meter >= 0 and self.rows[meter, HAS_METER] else 0.0
            if best < 0 or is_noticed > is_best_noticed or (is_noticed == is_best_noticed and (
                    rank > best_rank or (rank == best_rank and target == present))):
                best, best_rank, is_best_noticed = target, rank, is_noticed
        return best

    def update_watched(
        self, watched: list, sight: cython.Py_ssize_t, frame: cython.longlong, places: dict, find: object,
    ) -> tuple:
        """Bring watched targets up to date.

        Args:
            watched: each a ``WatchedTarget``.
            sight: number of the modality that decides whether a target is in view.
            frame: number of the frame.
            places: (place, character) of targets in view, by id; found ones are added.
            find: called with one of the watched, returns (place, character) of its target.

        Returns:
            (changed, aware, awareness, moved, places): those that its reader has to look at; of the others the readers
            for which only the awareness changed, with it; and those for which the target in view moved, with its
            place.

        Cost: O(log n) for each that is new, O(1) for the others.
        """
        awareness: cython.double
        one: WatchedTarget
        found: tuple
        changed: list = []
        aware: list = []
        awarenesses: list = []
        moved: list = []
        moved_to: list = []
        for one in watched:
            awareness = one.awareness
            if self.is_changed(one, sight) or (
                    one.has_choice and (frame + one.phase) // one.period % one.chooses_every == 0
                    and not (one.by_awareness
                             and self.first_target(one.sensor_id, one.target, None, 1.0) == one.target)):
                changed.append(one)
                continue
            if one.is_in_view:
                found = places.get(one.target)
                if found is None:
                    found = places[one.target] = find(one)
                if found[0] is not one.place and found[0] != one.place:
                    if one.reader is None or found[0] is None:
                        changed.append(one)
                        continue
                    one.place, one.known_at = found[0], None
                    moved.append(one.reader)
                    moved_to.append(found[0])
                if found[1] is not one.character:
                    changed.append(one)
                    continue
            if one.awareness != awareness:
                if one.reader is None:
                    changed.append(one)
                else:
                    aware.append(one.reader)
                    awarenesses.append(one.awareness)
        return changed, aware, awarenesses, moved, moved_to

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_changed(self, one: WatchedTarget, sight: cython.Py_ssize_t) -> cython.bint:
        """Take over the present state; return whether more than the awareness, or the place in view, is new."""
        mind: cython.Py_ssize_t = self.mind_of(one.sensor_id)
        row: cython.Py_ssize_t = -1
        meter: cython.Py_ssize_t
        key: cython.longlong
        is_noticed: cython.bint
        is_in_view: cython.bint
        level: cython.longlong
        is_new: cython.bint = one.is_new
        if mind >= 0 and one.target >= 0:
            key = cython.cast(cython.longlong, self.minds[mind, OWNER_ID]) << ID_BITS | one.target
            row = one.row
            if not (0 <= row < self.capacity and self.key_of_row[row] == key):
                row = one.row = self.find(key)
        one.is_known = row >= 0 and self.rows[row, IS_KNOWN] != 0
        if not one.is_known:
            return True
        meter = row
        if self.minds[mind, OWNER_ID] != one.sensor_id:
            meter = self.find(one.sensor_id << ID_BITS | one.target)
        if meter >= 0 and not self.rows[meter, HAS_METER]:
            meter = -1
        is_noticed = self.rows[row, IS_NOTICED] != 0
        is_in_view = is_noticed and meter >= 0 and self.senses[meter, sight, SHOWN] > 0
        level = cython.cast(cython.longlong, self.rows[meter, LEVEL]) if meter >= 0 else 0
        is_new = is_new or is_noticed != one.is_noticed or is_in_view != one.is_in_view or level != one.level or (
            not is_in_view and (one.x != self.rows[row, PLACE] or one.y != self.rows[row, PLACE + 1]
                                or one.z != self.rows[row, PLACE + 2]))
        one.is_new, one.is_noticed, one.is_in_view, one.level = False, is_noticed, is_in_view, level
        one.awareness = self.rows[meter, VALUE] if meter >= 0 else 0.0
        one.x, one.y, one.z = self.rows[row, PLACE], self.rows[row, PLACE + 1], self.rows[row, PLACE + 2]
        return is_new

    # -- memory

    def sense(
        self, row: cython.Py_ssize_t, sensor_id: cython.longlong, number: cython.Py_ssize_t, intensity: cython.double,
        x: cython.double, y: cython.double, z: cython.double, sent_s: cython.double, now_s: cython.double,
        is_seen: cython.bint,
    ) -> None:
        """Note in the memory of a row that its target is sensed; a change is reported to the given sensor."""
        self.check(row, number)
        self.remember(row, self.mind_of_row(row), sensor_id, number, intensity, x, y, z, sent_s, now_s, is_seen)

    def settle(self, row: cython.Py_ssize_t, now_s: cython.double) -> None:
        """Let time pass in the memory of a row: its target is lost, expires and is forgotten."""
        self.check(row)
        self.let_pass(row, self.mind_of_row(row), self.key_of_row[row] >> ID_BITS, now_s)

    def learn(
        self, row: cython.Py_ssize_t, number: cython.Py_ssize_t, strength: cython.double, x: cython.double,
        y: cython.double, z: cython.double, vx: cython.double, vy: cython.double, vz: cython.double,
        at_s: cython.double, now_s: cython.double,
    ) -> None:
        """Note what another memory reports of the target of a row, as it was at ``at_s``."""
        self.check(row, number)
        if not self.rows[row, IS_KNOWN]:
            self.begin(row, at_s)
        self.rows[row, PLACE], self.rows[row, PLACE + 1], self.rows[row, PLACE + 2] = x, y, z
        self.rows[row, VELOCITY], self.rows[row, VELOCITY + 1], self.rows[row, VELOCITY + 2] = vx, vy, vz
        self.rows[row, KNOWN_AT_S] = at_s
        self.senses[row, number, STRENGTH], self.senses[row, number, SENSED_AT_S] = strength, at_s
        self.rows[row, LAST_SENSED_S] = max(self.rows[row, LAST_SENSED_S], at_s)
        self.rows[row, IS_EXPIRED] = 0
        self.note(row, self.key_of_row[row] >> ID_BITS, "reported", now_s)

    # -- awareness

    def expose(
        self, row: cython.Py_ssize_t, visibility: cython.double, now_s: cython.double, shown_by_number: dict,
    ) -> None:
        """Set the visibility of the target of a row from now on, in all and by number of the modality."""
        number: cython.Py_ssize_t
        self.check(row)
        self.hide(row)
        for number, shown in shown_by_number.items():
            self.check(row, number)
            self.senses[row, number, SHOWN] = shown
        slot: cython.Py_ssize_t = self.mind_of_row(row)
        self.drift(row, slot, now_s)
        self.cross(row, slot)
        self.put_visibility(row, visibility)

    def stimulate(
        self, row: cython.Py_ssize_t, number: cython.Py_ssize_t, intensity: cython.double, now_s: cython.double,
    ) -> None:
        """Raise the meter of a row by a stimulus."""
        self.check(row, number)
        self.startle(row, self.mind_of_row(row), number, intensity, now_s)

    def advance_meter(self, row: cython.Py_ssize_t, now_s: cython.double) -> None:
        """Let time pass for the meter of a row."""
        self.check(row)
        slot: cython.Py_ssize_t = self.mind_of_row(row)
        self.drift(row, slot, now_s)
        self.cross(row, slot)

    def begin_awareness(self, row: cython.Py_ssize_t, now_s: cython.double) -> None:
        """Begin the meter of a row at 0."""
        self.check(row)
        self.begin_meter(row, now_s)

    # -- passes over many rows

    def hear(
        self, sensor_ids: list, which: list, intensities: list, what: list, first: cython.Py_ssize_t,
        now_s: cython.double,
    ) -> int:
        """Take in stimuli from one on; return which has no row yet, or how many there are."""
        place: cython.Py_ssize_t
        sensor_id: cython.longlong
        target: cython.longlong
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        row: cython.Py_ssize_t
        mine: cython.Py_ssize_t
        for place in range(first, len(sensor_ids)):
            sensor_id = sensor_ids[place]
            slot = self.mind_of(sensor_id)
            if slot < 0 or not (self.minds[slot, HAS_MEMORY] or self.minds[slot, HAS_AWARENESS]):
                continue
            target, number, position, sent_s, _ = what[which[place]]
            row = mine = -1
            if self.minds[slot, HAS_MEMORY]:
                row = self.find(cython.cast(cython.longlong, self.minds[slot, OWNER_ID]) << ID_BITS | target)
                if row < 0:
                    return place
            if self.minds[slot, HAS_AWARENESS]:
                mine = self.find(sensor_id << ID_BITS | target)
                if mine < 0:
                    return place
            if row >= 0:
                x, y, z = position
                self.check(row, number)
                self.remember(
                    row, self.mind_of_row(row), sensor_id, number, intensities[place], x, y, z, sent_s, now_s, False)
            if mine >= 0:
                self.check(mine, number)
                self.startle(mine, slot, number, intensities[place], now_s)
        return len(sensor_ids)

    def take_turn(self, places, ids, is_new: cython.bint) -> None:
        """Begin a look, a pass of ``see`` over all pairs, then of ``advance`` over all rows; or continue it.

        Args:
            places: (sources, 3) float32, positions of sources by slot (m), which ``see`` and ``advance`` read.
            ids: (sources,) int32, id in use of each slot, -1 for none.
            is_new: whether it begins.
        """
        if is_new:
            self.looks += 1
            self.has_ended = False
        if places is not self.source_places or ids is not self.source_ids:
            if len(places) < len(ids) or places.shape[1] != 3:
                raise ValueError("places must have a row per id")
            self.source_places = self.source_ids = None
            self.places, self.ids = memoryview(places), memoryview(ids)
            self.source_places, self.source_ids = places, ids

    def see(
        self, columns: tuple, number: cython.Py_ssize_t, is_seen: cython.bint, some: object, now_s: cython.double,
        report_every_s: cython.double, first: cython.Py_ssize_t, end: cython.Py_ssize_t,
    ) -> None:
        """Take in the pairs of a modality that are in view. Pairs without a row are listed in ``missing``.

        Args:
            columns: of pairs, ascending by sensor, then source: keys (m,) int64, intensity (m,) float64, is_sensed
                (m,) bool, and reported_at_s (m,) float64 (s), which is overwritten.
            number: number of the modality.
            is_seen: whether it is a kind of sight.
            some: indices of pairs, which were missing; None for those from ``first`` to before ``end``.
            now_s: game time (s).
            report_every_s: time between two reports of what stays in view (s).
            first, end: indices of pairs.

        Cost: O(pairs + rows of their sensors).
        """
        at: cython.Py_ssize_t
        index: cython.Py_ssize_t
        turn: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        own: cython.Py_ssize_t
        row: cython.Py_ssize_t
        mine: cython.Py_ssize_t
        source_slot: cython.Py_ssize_t
        key: cython.longlong
        sensor_id: cython.longlong
        last_id: cython.longlong = -1
        target: cython.longlong
        owner: cython.longlong
        x: cython.double
        y: cython.double
        z: cython.double
        if not (0 <= number < self.senses_count):
            raise IndexError(f"there is no modality {number}")
        if columns is not self.pair_columns:
            self.view_pairs(columns)
        if not 0 <= first <= end <= self.pair_keys.shape[0]:
            raise IndexError(f"there are no pairs {first} to {end}")
        slot = -1
        at = self.place_of(self.pair_keys[first]) if 0 < first < end else 0
        for turn in range(first if some is None else 0, end if some is None else len(some)):
            index = turn if some is None else some[turn]
            key = self.pair_keys[index]
            sensor_id, target = key >> ID_BITS, key & ID_MASK
            if not self.pair_sensed[index]:
                continue
            source_slot = target & SLOT_MASK
            if source_slot >= self.ids.shape[0] or self.ids[source_slot] != target:
                continue
            if sensor_id != last_id:
                slot, last_id = self.mind_of(sensor_id), sensor_id
            if slot < 0:
                continue
            row = mine = own = -1
            owner = cython.cast(cython.longlong, self.minds[slot, OWNER_ID])
            if self.minds[slot, HAS_AWARENESS] or (self.minds[slot, HAS_MEMORY] and owner == sensor_id):
                while at < self.count and self.keys[at] < key:
                    at += 1
                own = self.order[at] if at < self.count and self.keys[at] == key else -1
            if self.minds[slot, HAS_AWARENESS]:
                mine = own
                if mine < 0:
                    self.missing.append(index)
                    continue
            if self.minds[slot, HAS_MEMORY]:
                row = own if owner == sensor_id else self.find(owner << ID_BITS | target)
                if row < 0:
                    self.missing.append(index)
                    continue
            x, y, z = self.places[source_slot, 0], self.places[source_slot, 1], self.places[source_slot, 2]
            if row >= 0:
                self.keep_in_view(row, sensor_id, number, self.pair_intensity[index], x, y, z, now_s, is_seen)
            if mine >= 0:
                self.show(mine, number, self.pair_intensity[index], now_s)
            if is_due(now_s, self.pair_reported_s[index], report_every_s, sensor_id):
                self.pair_reported_s[index] = now_s
                self.sensations.append((sensor_id, target, number, self.pair_intensity[index], x, y, z))

    @cython.cfunc
    def view_pairs(self, columns: tuple):
        keys, intensity, is_sensed, reported_at_s = columns
        if not len(keys) == len(intensity) == len(is_sensed) == len(reported_at_s):
            raise ValueError("the columns of pairs must be of one length")
        self.pair_columns = None
        self.pair_keys, self.pair_intensity = memoryview(keys), memoryview(intensity)
        self.pair_sensed, self.pair_reported_s = memoryview(is_sensed.view(np.uint8)), memoryview(reported_at_s)
        self.pair_columns = columns

    def advance(self, now_s: cython.double, first: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
        """Let time pass in some rows, after ``see`` has taken in what is in view.

        Args:
            now_s: game time (s).
            first, end: places in ``keys``, from the first to before the last.

        Cost: O(rows), 10 to 30 ns a row.
        """
        place: cython.Py_ssize_t
        row: cython.Py_ssize_t
        slot: cython.Py_ssize_t = -1
        number: cython.Py_ssize_t
        source_slot: cython.Py_ssize_t
        sensor_id: cython.longlong
        last_id: cython.longlong = -1
        target: cython.longlong
        visibility: cython.double
        if not 0 <= first <= end <= self.count:
            raise IndexError(f"there are no keys {first} to {end}")
        for place in range(first, end):
            row = self.order[place]
            sensor_id = self.keys[place] >> ID_BITS
            if sensor_id != last_id:
                slot, last_id = self.mind_of(sensor_id), sensor_id
            if slot < 0:
                self.has_ended = True
                continue
            if self.rows[row, IS_KNOWN] and self.rows[row, LOOKED] < self.looks:
                self.let_pass(row, slot, sensor_id, now_s)
                if self.minds[slot, FREE_KNOWLEDGE_S] > 0 and self.rows[row, IS_KNOWN] and (
                        now_s <= self.rows[row, LAST_SEEN_S] + self.minds[slot, FREE_KNOWLEDGE_S]):
                    target = self.key_of_row[row] & ID_MASK
                    source_slot = target & SLOT_MASK
                    if source_slot < self.ids.shape[0] and self.ids[source_slot] == target:
                        self.follow_freely(
                            row, self.places[source_slot, 0], self.places[source_slot, 1],
                            self.places[source_slot, 2], now_s)
            if self.rows[row, HAS_METER]:
                self.drift(row, slot, now_s)
                self.cross(row, slot)
                visibility = 0
                if self.rows[row, SHOWN_AT] == self.looks:
                    for number in range(self.senses_count):
                        visibility = max(visibility, self.senses[row, number, SHOWN])
                elif self.rows[row, SHOWN_AT] > -INFINITY:
                    self.hide(row)
                    self.rows[row, SHOWN_AT] = -INFINITY
                self.put_visibility(row, visibility)
                if self.rows[row, VALUE] == 0 and visibility == 0:
                    self.rows[row, HAS_METER] = 0
            if not (self.rows[row, HAS_METER] or self.rows[row, IS_KNOWN]):
                self.has_ended = True

    # -- one row

    @cython.cfunc
    def check(self, row: cython.Py_ssize_t, number: cython.Py_ssize_t = -1):
        """Raise IndexError unless there are such a row, its settings and such a modality, if one is given."""
        if not 0 <= row < self.capacity or self.key_of_row[row] < 0 or self.mind_of_row(row) < 0:
            raise IndexError(f"there is no row {row}")
        if number != -1 and not 0 <= number < self.senses_count:
            raise IndexError(f"there is no modality {number}")

    @cython.cfunc
    @cython.exceptval(check=False)
    def mind_of_row(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        return self.mind_of(self.key_of_row[row] >> ID_BITS)

    @cython.cfunc
    def note(self, row: cython.Py_ssize_t, sensor_id: cython.longlong, kind: str, at_s: cython.double):
        """List a change of a memory."""
        self.changes.append((
            sensor_id, at_s, self.key_of_row[row] & ID_MASK, kind, self.rows[row, PLACE], self.rows[row, PLACE + 1],
            self.rows[row, PLACE + 2]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, row: cython.Py_ssize_t, at_s: cython.double) -> cython.void:
        """Begin the memory of a row, and keep its meter."""
        i: cython.Py_ssize_t
        for i in range(HAS_METER):
            self.rows[row, i] = 0
        self.rows[row, IS_KNOWN] = 1
        self.rows[row, LOOKED] = -INFINITY
        self.rows[row, FIRST_SENSED_S] = self.rows[row, LAST_SENSED_S] = self.rows[row, NOTICED_S] = at_s
        self.rows[row, KNOWN_AT_S] = -INFINITY
        self.rows[row, FIRST_SEEN_S] = self.rows[row, LAST_SEEN_S] = NEVER
        for i in range(self.senses_count):
            self.senses[row, i, STRENGTH], self.senses[row, i, SENSED_AT_S] = 0, -INFINITY

    @cython.cfunc
    def remember(
        self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t, sensor_id: cython.longlong, number: cython.Py_ssize_t,
        intensity: cython.double, x: cython.double, y: cython.double, z: cython.double, sent_s: cython.double,
        now_s: cython.double, is_seen: cython.bint,
    ):
        """Note in the memory of a row that its target is sensed."""
        if self.rows[row, IS_KNOWN] and not (
                self.rows[row, IS_NOTICED] and now_s <= self.rows[row, NOTICED_S] + self.minds[slot, LOSE_AFTER_S]):
            self.let_pass(row, slot, sensor_id, now_s)
        if not self.rows[row, IS_KNOWN]:
            self.begin(row, now_s)
        if is_seen:
            self.sight(row, x, y, z, sent_s)
        if sent_s >= self.rows[row, KNOWN_AT_S]:
            self.rows[row, PLACE], self.rows[row, PLACE + 1], self.rows[row, PLACE + 2] = x, y, z
            self.rows[row, KNOWN_AT_S] = sent_s
        self.rows[row, LAST_SENSED_S] = self.rows[row, NOTICED_S] = now_s
        self.senses[row, number, STRENGTH], self.senses[row, number, SENSED_AT_S] = intensity, now_s
        self.rows[row, IS_EXPIRED] = 0
        if not self.rows[row, IS_NOTICED]:
            self.rows[row, IS_NOTICED] = 1
            self.note(row, sensor_id, "gained", now_s)

    @cython.cfunc
    @cython.exceptval(check=False)
    def sight(
        self, row: cython.Py_ssize_t, x: cython.double, y: cython.double, z: cython.double, seen_s: cython.double,
    ) -> cython.void:
        """Note a sighting; the velocity is that between it and another one of a target that was not lost since."""
        passed_s: cython.double = seen_s - self.rows[row, LAST_SEEN_S]   # NaN at first
        if passed_s > 0:
            if self.rows[row, IS_NOTICED]:
                self.rows[row, VELOCITY] = (x - self.rows[row, SEEN]) / passed_s
                self.rows[row, VELOCITY + 1] = (y - self.rows[row, SEEN + 1]) / passed_s
                self.rows[row, VELOCITY + 2] = (z - self.rows[row, SEEN + 2]) / passed_s
            else:
                self.rows[row, VELOCITY] = self.rows[row, VELOCITY + 1] = self.rows[row, VELOCITY + 2] = 0
        if self.rows[row, FIRST_SEEN_S] != self.rows[row, FIRST_SEEN_S]:
            self.rows[row, FIRST_SEEN_S] = seen_s
        self.rows[row, SEEN], self.rows[row, SEEN + 1], self.rows[row, SEEN + 2] = x, y, z
        self.rows[row, LAST_SEEN_S] = seen_s

    @cython.cfunc
    def keep_in_view(
        self, row: cython.Py_ssize_t, sensor_id: cython.longlong, number: cython.Py_ssize_t,
        intensity: cython.double, x: cython.double, y: cython.double, z: cython.double, now_s: cython.double,
        is_seen: cython.bint,
    ):
        """Note in the memory of a row that its target is in view, and was without a break since the last look."""
        if self.rows[row, LOOKED] >= self.looks - 1 and (
                self.rows[row, IS_KNOWN] and self.rows[row, IS_NOTICED]):
            self.rows[row, NOTICED_S] = max(self.rows[row, NOTICED_S], now_s)
            self.rows[row, LAST_SENSED_S] = max(self.rows[row, LAST_SENSED_S], now_s)
        self.remember(row, self.mind_of_row(row), sensor_id, number, intensity, x, y, z, now_s, now_s, is_seen)
        self.rows[row, LOOKED] = self.looks

    @cython.cfunc
    def show(
        self, row: cython.Py_ssize_t, number: cython.Py_ssize_t, intensity: cython.double, now_s: cython.double,
    ):
        """Note for the meter of a row how strongly its target shows itself."""
        if not self.rows[row, HAS_METER]:
            self.begin_meter(row, now_s)
        if self.rows[row, SHOWN_AT] != self.looks:
            self.hide(row)
            self.rows[row, SHOWN_AT] = self.looks
        self.senses[row, number, SHOWN] = intensity

    @cython.cfunc
    def let_pass(
        self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t, sensor_id: cython.longlong, now_s: cython.double,
    ):
        """Let the target of a row be lost, expire and be forgotten by time passing."""
        at_s: cython.double = self.rows[row, NOTICED_S] + self.minds[slot, LOSE_AFTER_S]
        if not self.rows[row, IS_KNOWN]:
            return
        if self.rows[row, IS_NOTICED] and now_s > at_s:
            self.rows[row, IS_NOTICED] = 0
            self.note(row, sensor_id, "lost", at_s)
        at_s = self.rows[row, LAST_SENSED_S] + self.minds[slot, MAXIMUM_AGE_S]
        if not self.rows[row, IS_EXPIRED] and now_s > at_s:
            self.rows[row, IS_EXPIRED] = 1
            self.note(row, sensor_id, "expired", at_s)
        at_s += self.minds[slot, KEEP_EXPIRED_S]
        if now_s > at_s:
            self.note(row, sensor_id, "forgotten", at_s)
            self.rows[row, IS_KNOWN] = self.rows[row, IS_NOTICED] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def follow_freely(
        self, row: cython.Py_ssize_t, x: cython.double, y: cython.double, z: cython.double, at_s: cython.double,
    ) -> cython.void:
        passed_s: cython.double = at_s - self.rows[row, KNOWN_AT_S]
        if passed_s > 0:
            self.rows[row, VELOCITY] = (x - self.rows[row, PLACE]) / passed_s
            self.rows[row, VELOCITY + 1] = (y - self.rows[row, PLACE + 1]) / passed_s
            self.rows[row, VELOCITY + 2] = (z - self.rows[row, PLACE + 2]) / passed_s
            self.rows[row, PLACE], self.rows[row, PLACE + 1], self.rows[row, PLACE + 2] = x, y, z
            self.rows[row, KNOWN_AT_S] = at_s

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin_meter(self, row: cython.Py_ssize_t, now_s: cython.double) -> cython.void:
        i: cython.Py_ssize_t
        for i in range(HAS_METER, self.rows.shape[1]):
            self.rows[row, i] = 0
        self.rows[row, HAS_METER] = 1
        self.rows[row, SHOWN_AT] = -INFINITY
        self.rows[row, LINE_S] = self.rows[row, METER_S] = now_s
        for i in range(self.senses_count):
            self.senses[row, i, SHOWN] = self.senses[row, i, STIMULUS_GAIN] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def hide(self, row: cython.Py_ssize_t) -> cython.void:
        i: cython.Py_ssize_t
        for i in range(self.senses_count):
            self.senses[row, i, SHOWN] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def slope(self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.double:
        visibility: cython.double = self.rows[row, VISIBILITY]
        return visibility * self.minds[slot, GAIN_PER_S] if visibility > 0 else -self.minds[slot, DECAY_PER_S]

    @cython.cfunc
    @cython.exceptval(check=False)
    def drift(self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t, now_s: cython.double) -> cython.void:
        """Move a meter along its line."""
        i: cython.Py_ssize_t
        if now_s < self.rows[row, METER_S]:
            return
        self.rows[row, METER_S] = now_s
        self.rows[row, VALUE] = min(1.0, max(
            0.0, self.rows[row, LINE_VALUE] + self.slope(row, slot) * (now_s - self.rows[row, LINE_S])))
        if self.rows[row, VALUE] == 0:
            for i in range(self.senses_count):
                self.senses[row, i, STIMULUS_GAIN] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def put_visibility(self, row: cython.Py_ssize_t, visibility: cython.double) -> cython.void:
        if visibility != self.rows[row, VISIBILITY]:
            self.rows[row, VISIBILITY] = visibility
            self.rows[row, LINE_S], self.rows[row, LINE_VALUE] = self.rows[row, METER_S], self.rows[row, VALUE]

    @cython.cfunc
    def startle(
        self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t, number: cython.Py_ssize_t, intensity: cython.double,
        now_s: cython.double,
    ):
        """Raise a meter by a stimulus."""
        if not self.rows[row, HAS_METER]:
            self.begin_meter(row, now_s)
        self.drift(row, slot, now_s)
        self.cross(row, slot)
        raised: cython.double = min(1.0, self.rows[row, VALUE] + intensity * self.minds[slot, GAIN_PER_SIGNAL])
        self.senses[row, number, STIMULUS_GAIN] += raised - self.rows[row, VALUE]
        self.rows[row, VALUE] = self.rows[row, LINE_VALUE] = raised
        self.rows[row, LINE_S] = now_s
        self.cross(row, slot)

    @cython.cfunc
    def cross(self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t):
        """Cross the levels that a meter has reached or left; report those whose reaction time has passed."""
        most: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.minds[slot, LEVELS])
        level: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.rows[row, LEVEL])
        reached: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.rows[row, REACHED])
        value: cython.double = self.rows[row, VALUE]
        at_s: cython.double
        while reached < most and value >= self.levels[slot, reached, RISES_AT]:
            at_s = self.moment_of(row, slot, self.levels[slot, reached, RISES_AT])
            at_s += self.levels[slot, reached, REACTION_S]
            if reached > level:
                at_s = max(at_s, self.reacts[row, reached - 1])
            self.reacts[row, reached] = at_s
            reached += 1
        while reached > 0 and value <= self.levels[slot, reached - 1, FALLS_AT]:
            at_s = self.moment_of(row, slot, self.levels[slot, reached - 1, FALLS_AT])
            level = self.react(row, level, reached, at_s)
            if reached == level:
                level -= 1
                self.levels_crossed.append((
                    self.key_of_row[row] >> ID_BITS, at_s, self.key_of_row[row] & ID_MASK, level))
            reached -= 1
        level = self.react(row, level, reached, self.rows[row, METER_S])
        self.rows[row, LEVEL], self.rows[row, REACHED] = level, reached

    @cython.cfunc
    def react(
        self, row: cython.Py_ssize_t, level: cython.Py_ssize_t, reached: cython.Py_ssize_t, until_s: cython.double,
    ) -> cython.Py_ssize_t:
        """Report the levels above one whose reaction time has passed by then; return the level then."""
        while level < reached and self.reacts[row, level] <= until_s:
            level += 1
            self.levels_crossed.append((
                self.key_of_row[row] >> ID_BITS, self.reacts[row, level - 1], self.key_of_row[row] & ID_MASK, level))
        return level

    @cython.cfunc
    @cython.exceptval(check=False)
    def moment_of(self, row: cython.Py_ssize_t, slot: cython.Py_ssize_t, value: cython.double) -> cython.double:
        """Return when the line of a meter passed a value: now at the latest."""
        slope: cython.double = self.slope(row, slot)
        if self.rows[row, LINE_VALUE] == value or slope == 0:
            return self.rows[row, LINE_S]
        passed_s: cython.double = (value - self.rows[row, LINE_VALUE]) / slope
        if 0 <= passed_s <= self.rows[row, METER_S] - self.rows[row, LINE_S]:
            return self.rows[row, LINE_S] + passed_s
        return self.rows[row, METER_S]


@cython.cfunc
@cython.exceptval(check=False)
def is_due(
    now_s: cython.double, told_s: cython.double, every_s: cython.double, sensor_id: cython.longlong,
) -> cython.bint:
    """Return whether what is in view is reported now: what is new at once, else each sensor in its turn.

    The golden section spreads the turns of any number of sensors evenly.
    """
    phase: cython.double
    if told_s == -INFINITY:
        return True
    if every_s <= 0:
        return True
    if now_s < told_s + every_s / 2:
        return False
    phase = (sensor_id * PHASE_STEP) % 1.0
    return floor(now_s / every_s - phase) > floor(told_s / every_s - phase)
