# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# mypy: ignore-errors
"""Pairs of sensor and source in reach of each other, and the lines of sight between them.

Whether something stands between costs a ray, so not every pair is asked in every pass: those that have
waited longest come first. A pair that was asked goes to the end of the line, a new pair joins there. So a
pair is asked after ``ceil(pairs / max_rays)`` passes at the latest, however many others come and go;
see ``RayTurns`` for pairs that are more important.
"""
from __future__ import annotations

from typing import NamedTuple

import cython
import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import ArrayOf, MapOf, Number, Record, Row, Whole
from ai_core.senses.sight.pair_keys import NEVER_REPORTED_S, PairKey, PairKeys, key_of
from ai_core.senses.source_table import MOST_PARTS

__all__ = ["PAIRS", "LineQuery", "Lines", "PairsInView"]

ID_BITS = cython.declare(cython.int, 31)            # of a source id in a key: pairs_in_view.ID_BITS
ID_MASK = cython.declare(cython.longlong, (1 << 31) - 1)
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
NEVER_S = cython.declare(cython.double, NEVER_REPORTED_S)

NO_MOMENTS, NO_NUMBERS, NO_FLAGS = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_)


class LineQuery(NamedTuple):
    """Pairs to ask: for each the modality, its row among the pairs of the modality, and its line (m)."""

    modality: NDArray[np.intp]
    row: NDArray[np.int64]
    sensor_ids: NDArray[np.int32]
    source_ids: NDArray[np.int32]
    eyes: NDArray[np.float32]
    targets: NDArray[np.float32]

    def part(self, first: int, end: int) -> LineQuery:
        """Return the pairs from an index to another."""
        if first == 0 and end >= len(self.row):
            return self
        rows = slice(first, end)
        return LineQuery(
            self.modality[rows], self.row[rows], self.sensor_ids[rows], self.source_ids[rows],
            self.eyes[rows], self.targets[rows])


def made_columns(room: int) -> tuple:
    """Return columns with room for pairs: keys, intensities, moments, answers, and times of reports."""
    return np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64), np.empty(room, np.bool_), np.empty(room)


@cython.final
@cython.cclass
class PairsInView:
    """All pairs of one continuous modality that passed every test but the ray.

    Attributes:
        count, found_count: number of pairs, and of those that the pass under way has found.
        keys: (n,) int64, ascending: sensor id, then source id.
        intensity: (n,) float64, what the sensor would sense.
        waiting_since: (n,) int64, moments of the queue for rays.
        is_sensed: (n,) bool, the last answer; False until the first.
        reported_at_s: (n,) float64, when the target was reported to the sensor last (s).
        columns: keys, intensity, is_sensed and reported_at_s; another tuple when they are other arrays.
        views: by key, of pairs whose targets have parts, a background or ranges for losing them: what share of the
            target was clear at the last line of sight, and which parts were seen, as bits.
    """

    count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    found_count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    keys = cython.declare(object, visibility="readonly")
    intensity = cython.declare(object, visibility="readonly")
    waiting_since = cython.declare(object, visibility="readonly")
    is_sensed = cython.declare(object, visibility="readonly")
    reported_at_s = cython.declare(object, visibility="readonly")
    columns = cython.declare(tuple, visibility="readonly")
    views = cython.declare(dict, visibility="public")
    whole: tuple            # the five columns with room behind the pairs
    spare: tuple            # as many for the next pass; both change places, as new memory is slow at the first touch
    key: cython.longlong[::1]
    strength: cython.double[::1]
    since: cython.longlong[::1]
    sensed: cython.uchar[::1]
    reported_s: cython.double[::1]
    spare_key: cython.longlong[::1]
    spare_strength: cython.double[::1]
    spare_since: cython.longlong[::1]
    spare_sensed: cython.uchar[::1]
    spare_reported_s: cython.double[::1]
    arrays: list            # those of the last calls, and their views
    found: cython.const[cython.longlong][::1]
    found_strength: cython.const[cython.double][::1]
    free: cython.const[cython.uchar][::1]

    def __init__(
        self, keys=NO_MOMENTS, intensity=NO_NUMBERS, waiting_since=NO_MOMENTS, is_sensed=NO_FLAGS,
        reported_at_s=NO_NUMBERS, views=None,
    ) -> None:
        self.arrays, self.views = [None, None, None], {} if views is None else views
        self.found_count = 0
        if not len(keys) == len(intensity) == len(waiting_since) == len(is_sensed) == len(reported_at_s):
            raise ValueError("columns of pairs must be of one length")
        self.put((keys, intensity, waiting_since, is_sensed, reported_at_s), len(keys))
        self.put_spare(made_columns(0))

    def __len__(self) -> int:
        return self.count

    @cython.cfunc
    def put(self, whole: tuple, count: cython.Py_ssize_t):
        keys, intensity, waiting_since, is_sensed, reported_at_s = whole
        self.key, self.strength, self.since = memoryview(keys), memoryview(intensity), memoryview(waiting_since)
        self.sensed, self.reported_s = memoryview(is_sensed.view(np.uint8)), memoryview(reported_at_s)
        self.whole = whole
        self.show(count)

    @cython.cfunc
    def show(self, count: cython.Py_ssize_t):
        """Let the first rows be the pairs."""
        keys, intensity, waiting_since, is_sensed, reported_at_s = self.whole
        self.count = count
        self.keys, self.intensity, self.waiting_since = keys[:count], intensity[:count], waiting_since[:count]
        self.is_sensed, self.reported_at_s = is_sensed[:count], reported_at_s[:count]
        self.columns = (self.keys, self.intensity, self.is_sensed, self.reported_at_s)

    @cython.cfunc
    def put_spare(self, spare: tuple):
        keys, intensity, waiting_since, is_sensed, reported_at_s = self.spare = spare
        self.spare_key, self.spare_strength = memoryview(keys), memoryview(intensity)
        self.spare_since, self.spare_reported_s = memoryview(waiting_since), memoryview(reported_at_s)
        self.spare_sensed = memoryview(is_sensed.view(np.uint8))

    def begin_pass(self) -> None:
        """Forget what a pass that did not end has found."""
        self.found_count = 0

    def add(self, keys, intensity, count: cython.Py_ssize_t) -> None:
        """Add copies of ``count`` keys and intensities that the pass under way has found, behind those before.

        Raises:
            ValueError: if keys do not ascend.

        Cost: O(count).
        """
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = self.found_count
        if keys is not self.arrays[0] or intensity is not self.arrays[1]:
            self.arrays[0] = self.arrays[1] = None
            self.found, self.found_strength = memoryview(keys), memoryview(intensity)
            self.arrays[0], self.arrays[1] = keys, intensity
        if not 0 <= count <= min(self.found.shape[0], self.found_strength.shape[0]):
            raise ValueError(f"keys and intensity must have {count} items")
        if at + count > self.spare_key.shape[0]:
            spare, before = made_columns(2 * (at + count)), self.spare
            spare[0][:at], spare[1][:at] = before[0][:at], before[1][:at]
            self.put_spare(spare)
        for i in range(count):
            if self.found[i] <= (self.found[i - 1] if i > 0 else self.spare_key[at - 1] if at > 0 else -1):
                raise ValueError("pairs must ascend")
        self.spare_key[at:at + count], self.spare_strength[at:at + count] = (
            self.found[:count], self.found_strength[:count])
        self.found_count = at + count

    def found_so_far(self) -> dict:
        """Return keys and intensities that the pass under way has found."""
        return {"keys": self.spare[0][:self.found_count], "intensity": self.spare[1][:self.found_count]}

    def end_pass(self, moment: cython.longlong, needs_ray: cython.bint) -> None:
        """Take over the pairs found by a pass; those that stay in reach keep their answers and places in the queue.

        Args:
            moment: place in the queue for pairs that are new.
            needs_ray: False if being in reach is enough to be sensed.

        Cost: O(n + pairs before), 2 ns each; no allocation.
        """
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = self.found_count
        before: cython.Py_ssize_t = self.count
        is_free: cython.uchar = not needs_ray
        one: cython.longlong
        key: cython.longlong[::1] = self.key        # local: else each is read again after each write
        since: cython.longlong[::1] = self.since
        sensed: cython.uchar[::1] = self.sensed
        reported_s: cython.double[::1] = self.reported_s
        new_key: cython.longlong[::1] = self.spare_key
        new_since: cython.longlong[::1] = self.spare_since
        new_sensed: cython.uchar[::1] = self.spare_sensed
        new_reported_s: cython.double[::1] = self.spare_reported_s
        self.found_count = 0
        if count == before:
            while at < count and new_key[at] == key[at]:
                at += 1
            if at == count:
                self.strength[:count] = self.spare_strength[:count]
                return
        at = 0
        for i in range(count):
            one = new_key[i]
            while at < before and key[at] < one:
                at += 1
            if at < before and key[at] == one:
                new_since[i], new_reported_s[i], new_sensed[i] = since[at], reported_s[at], sensed[at] | is_free
            else:
                new_since[i], new_reported_s[i], new_sensed[i] = moment, NEVER_S, is_free
        self.key, self.spare_key = self.spare_key, self.key
        self.strength, self.spare_strength = self.spare_strength, self.strength
        self.since, self.spare_since = self.spare_since, self.since
        self.sensed, self.spare_sensed = self.spare_sensed, self.sensed
        self.reported_s, self.spare_reported_s = self.spare_reported_s, self.reported_s
        self.whole, self.spare = self.spare, self.whole
        self.show(count)

    def note(self, rows, is_free, moment: cython.longlong) -> int:
        """Note what rays answered, and send these pairs to the end of the line; return since when the first waited.

        A hidden target is reported at once when it shows itself again.

        Args:
            rows: (n,) int64, which pairs, n above 0; None for all.
            is_free: (n,) bool.
            moment: since when they wait from now on.
        """
        i: cython.Py_ssize_t
        row: cython.longlong
        oldest: cython.longlong = 0
        count: cython.Py_ssize_t = self.count if rows is None else len(rows)
        some: cython.const[cython.longlong][::1]
        if rows is not None:
            some = memoryview(rows)
        if is_free is not self.arrays[2]:
            self.arrays[2] = None
            self.free = memoryview(is_free.view(np.uint8))
            self.arrays[2] = is_free
        if self.free.shape[0] != count:
            raise ValueError("is_free must have an answer for each row")
        for i in range(count):
            row = i if rows is None else some[i]
            if not 0 <= row < self.count:
                raise IndexError(f"there is no row {row}")
            oldest = self.since[row] if i == 0 else min(oldest, self.since[row])
        for i in range(count):
            row = i if rows is None else some[i]
            self.sensed[row] = self.free[i]
            if not self.free[i]:
                self.reported_s[row] = NEVER_S
            self.since[row] = moment
        return oldest

    def row_of(self, sensor_id: int, source_id: int) -> int | None:
        """Return the row of a pair, None if it is not in view."""
        key = key_of(sensor_id, source_id)
        row: cython.Py_ssize_t = int(np.searchsorted(self.keys, key))
        return row if row < self.count and self.key[row] == key else None

    def sensed_by(self, sensor_id: int) -> np.ndarray:
        """Return the rows of what a sensor senses, by ascending source id."""
        first, end = np.searchsorted(self.keys, (key_of(sensor_id, 0), key_of(sensor_id + 1, 0)))
        return first + np.flatnonzero(self.is_sensed[first:end])


PAIRS = Record(
    PairsInView, keys=PairKeys(is_ascending=True), intensity=ArrayOf(minimum=0),
    waiting_since=ArrayOf(np.int64, minimum=0), is_sensed=ArrayOf(np.bool_),
    reported_at_s=ArrayOf(minimum=-LATEST_S, maximum=LATEST_S, absent=NEVER_REPORTED_S),
    views=MapOf(Row(lambda *view: view, Number(0), Whole(maximum=(1 << MOST_PARTS) - 1)), key=PairKey()))
"""How pairs are saved."""


@cython.final
@cython.cclass
class Lines:
    """The lines of sight of some pairs, which are written again and again while the pairs stay the same.

    Args:
        modality, rows: (n,) intp and int64, modality of each pair and its row among the pairs of that.
        keys: (m,) int64, of pairs, in use.
        some: (n,) int64, which of the keys each pair has.

    Attributes:
        query: the pairs and their lines, as ``write`` found them last.
    """

    query = cython.declare(object, visibility="readonly")
    key: cython.const[cython.longlong][::1]
    some: cython.const[cython.longlong][::1]
    sensor_id: cython.int[::1]
    source_id: cython.int[::1]
    start: cython.float[:, ::1]
    end: cython.float[:, ::1]
    sensor_places: object       # whose views follow
    source_places: object
    eye: cython.const[cython.float][:, :]
    target: cython.const[cython.float][:, :]

    def __init__(self, modality, rows, keys, some) -> None:
        i: cython.Py_ssize_t
        count = len(some)
        sensor_ids, source_ids = np.empty(count, np.int32), np.empty(count, np.int32)
        eyes, targets = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
        self.key, self.some = memoryview(keys), memoryview(some)
        self.sensor_id, self.source_id = memoryview(sensor_ids), memoryview(source_ids)
        self.start, self.end = memoryview(eyes), memoryview(targets)
        for i in range(count):
            if not 0 <= self.some[i] < self.key.shape[0] or self.key[self.some[i]] < 0:
                raise IndexError(f"there is no pair {self.some[i]}")
            self.sensor_id[i] = self.key[self.some[i]] >> ID_BITS
            self.source_id[i] = self.key[self.some[i]] & ID_MASK
        self.sensor_places = self.source_places = None
        self.query = LineQuery(modality, rows, sensor_ids, source_ids, eyes, targets)

    def write(self, sensor_places, source_places) -> None:
        """Write where the lines are now. Cost: O(n)."""
        i: cython.Py_ssize_t
        axis: cython.Py_ssize_t
        eye: cython.Py_ssize_t
        target: cython.Py_ssize_t
        if sensor_places is not self.sensor_places or source_places is not self.source_places:
            self.sensor_places = self.source_places = None
            self.eye, self.target = memoryview(sensor_places), memoryview(source_places)
            if not self.eye.shape[1] == self.target.shape[1] == 3:
                raise ValueError("positions must have three coordinates")
            for i in range(self.some.shape[0]):
                if ((self.sensor_id[i] & SLOT_MASK) >= self.eye.shape[0]
                        or (self.source_id[i] & SLOT_MASK) >= self.target.shape[0]):
                    raise IndexError("an id has no row")
            self.sensor_places, self.source_places = sensor_places, source_places
        for i in range(self.some.shape[0]):
            eye, target = self.sensor_id[i] & SLOT_MASK, self.source_id[i] & SLOT_MASK
            for axis in range(3):
                self.start[i, axis], self.end[i, axis] = self.eye[eye, axis], self.target[target, axis]
