# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: show_performance_hints=False
# mypy: ignore-errors
"""Signals at sensors: those under way, and those that wait for a ray or for delivery.

An arrival is one row of columns. Rows under way stand in a heap by due time, then sensor id, then order of
emission. Rows that wait stand in a line; a signal that joins a line in which one of its kind waits for the same
sensor merges with that row, so a line holds one row for each kind of signal and sensor, however many are emitted.
"""
from __future__ import annotations

from collections import deque

import cython
import numpy as np
from cython.cimports.libc.math import fabs, pow, sqrt

__all__ = ["COLUMNS", "LATEST_S", "MOST_ARRIVALS", "MOVED_M", "ArrivalQueue"]

LATEST_S = 2.0
"""How much longer than necessary an arrival may wait (s); then it is dropped.

A longer time reports sounds where nothing is any more, a shorter one loses single sounds of a short overload.
"""

MOST_ARRIVALS = 1 << 17
"""Arrivals at a time (count), 15 MB; further ones are dropped. Reached only if advance is never called."""

MOVED_M = 1e-6
"""Change of its distance below which a sensor stood still while a signal travelled (m): rounding of float32."""

COLUMNS = {
    "line": np.int64, "sensor_id": np.int32, "due_s": np.float64, "leg_m": np.float64, "before": np.float64,
    "intensity": np.float64, "reach_m": np.float64, "x": np.float64, "y": np.float64, "z": np.float64,
    "since_s": np.float64, "is_final": np.uint8,
}
"""Columns of an arrival and their types.

- ``line``: 0 if it is under way, 1 if it waits for delivery, 2 if it waits for the occlusion.
- ``due_s``: when it arrives (s).
- ``leg_m``: length of its last straight part, from ``x, y, z`` (m) to the sensor.
- ``before``: intensity at ``x, y, z``, less the share that obstacles on the last part absorb.
- ``intensity``: at the sensor.
- ``reach_m``: largest length of the last part (m).
- ``since_s``: game time at which it joined a line (s).
- ``is_final``: 1 if it does not depend on where the sensor moves meanwhile.
"""

MOVED = cython.declare(cython.double, MOVED_M)
LATE = cython.declare(cython.double, LATEST_S)
MOST = cython.declare(cython.Py_ssize_t, MOST_ARRIVALS)
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
NOTHING = cython.declare(cython.int, -1)
DELIVERY = cython.declare(cython.int, 1)            # numbers of lines
OCCLUSION = cython.declare(cython.int, 2)
FIRST_ROOM = cython.declare(cython.Py_ssize_t, 64)


@cython.final
@cython.cclass
class ArrivalQueue:
    """All arrivals of a world.

    Attributes:
        arrived: rows that wait for delivery, in the order in which they joined.
        awaiting_occlusion: rows that wait for the occlusion between the signal and the sensor, likewise.
        merged: rows that merged with one that had waited (count).
        dropped, given_up: rows that waited for delivery, or for the occlusion, for too long (count).
        used: rows that are not free.
    """

    arrived = cython.declare(object, visibility="readonly")
    awaiting_occlusion = cython.declare(object, visibility="readonly")
    merged = cython.declare(cython.longlong, visibility="public")
    dropped = cython.declare(cython.longlong, visibility="public")
    given_up = cython.declare(cython.longlong, visibility="public")
    used = cython.declare(cython.Py_ssize_t, visibility="readonly")
    lines: tuple                    # deques of rows, by ``line``
    by_kind: tuple                  # of each line the rows that later ones merge with, by kind of signal and sensor
    columns: dict
    signals: list                   # of each row its Signal
    due_s: cython.double[::1]
    leg_m: cython.double[::1]
    before: cython.double[::1]
    intensity: cython.double[::1]
    reach_m: cython.double[::1]
    x: cython.double[::1]
    y: cython.double[::1]
    z: cython.double[::1]
    since_s: cython.double[::1]
    has_waited: cython.uchar[::1]   # 1 if it joined a line in an earlier advance
    is_found: cython.uchar[::1]     # 1 if it stands in ``by_kind``
    line: cython.longlong[::1]
    sensor_id: cython.int[::1]
    is_final: cython.uchar[::1]
    order: cython.longlong[::1]
    following: cython.int[::1]      # the next free row
    heap: cython.int[::1]
    room: cython.Py_ssize_t
    free: cython.int
    under_way: cython.Py_ssize_t
    # Sensors, by slot, as they were viewed last.
    sensor_arrays: tuple
    position: cython.float[:, ::1]
    threshold: cython.double[:, ::1]
    ids: cython.int[::1]

    def __init__(self) -> None:
        self.arrived, self.awaiting_occlusion = deque(), deque()
        self.lines, self.by_kind = (None, self.arrived, self.awaiting_occlusion), (None, {}, {})
        self.merged = self.dropped = self.given_up = 0
        self.columns, self.signals = {}, []
        self.room = self.used = self.under_way = 0
        self.free = NOTHING
        self.sensor_arrays = (None, None, None)

    @property
    def first_since_s(self) -> float:
        """When the first of those that wait for delivery began to wait (s)."""
        return self.since_s[self.arrived[0]]

    # Rows.

    @cython.cfunc
    def grow(self):
        row: cython.Py_ssize_t
        before: cython.Py_ssize_t = self.room
        room: cython.Py_ssize_t = max(FIRST_ROOM, 2 * before)
        columns = {}
        for name, dtype in (*COLUMNS.items(), ("has_waited", np.uint8), ("is_found", np.uint8), ("order", np.int64),
                            ("following", np.int32), ("heap", np.int32)):
            columns[name] = np.zeros(room, dtype)
            if before:
                columns[name][:before] = self.columns[name]
        self.columns = columns
        self.due_s, self.leg_m = memoryview(columns["due_s"]), memoryview(columns["leg_m"])
        self.before, self.intensity = memoryview(columns["before"]), memoryview(columns["intensity"])
        self.reach_m, self.x = memoryview(columns["reach_m"]), memoryview(columns["x"])
        self.y, self.z = memoryview(columns["y"]), memoryview(columns["z"])
        self.since_s, self.line = memoryview(columns["since_s"]), memoryview(columns["line"])
        self.has_waited, self.is_found = memoryview(columns["has_waited"]), memoryview(columns["is_found"])
        self.sensor_id, self.is_final = memoryview(columns["sensor_id"]), memoryview(columns["is_final"])
        self.order, self.heap = memoryview(columns["order"]), memoryview(columns["heap"])
        self.following = memoryview(columns["following"])
        self.signals.extend([None] * (room - before))
        for row in range(room - 1, before - 1, -1):
            self.following[row], self.free = self.free, row
        self.room = room

    @cython.cfunc
    @cython.exceptval(-2)
    def new_row(self, signal, sensor_id: cython.int) -> cython.int:
        """Return a row for a signal at a sensor; ``NOTHING`` if there are too many."""
        if self.used >= MOST:
            self.dropped += 1
            return NOTHING
        if self.free == NOTHING:
            self.grow()
        row: cython.int = self.free
        self.free = self.following[row]
        self.used += 1
        parts: tuple = cython.cast(tuple, signal)
        self.signals[row] = signal
        self.order[row], self.sensor_id[row] = parts[0], sensor_id
        return row

    @cython.cfunc
    def release(self, row: cython.int):
        self.signals[row] = None
        self.following[row], self.free = self.free, row
        self.used -= 1

    # The heap of rows under way.

    @cython.cfunc
    @cython.exceptval(check=False)
    def comes_before(self, row: cython.int, other: cython.int) -> cython.bint:
        """Return whether one row is due before another."""
        if self.due_s[row] != self.due_s[other]:
            return self.due_s[row] < self.due_s[other]
        if self.sensor_id[row] != self.sensor_id[other]:
            return self.sensor_id[row] < self.sensor_id[other]
        return self.order[row] < self.order[other]

    @cython.cfunc
    @cython.exceptval(check=False)
    def push(self, row: cython.int) -> cython.void:
        self.line[row], self.since_s[row] = 0, 0.0
        place: cython.Py_ssize_t = self.under_way
        parent: cython.Py_ssize_t
        self.under_way += 1
        while place > 0:
            parent = (place - 1) // 2
            if not self.comes_before(row, self.heap[parent]):
                break
            self.heap[place] = self.heap[parent]
            place = parent
        self.heap[place] = row

    @cython.cfunc
    @cython.exceptval(check=False)
    def pop(self) -> cython.int:
        first: cython.int = self.heap[0]
        self.under_way -= 1
        row: cython.int = self.heap[self.under_way]
        place: cython.Py_ssize_t = 0
        child: cython.Py_ssize_t = 1
        while child < self.under_way:
            if child + 1 < self.under_way and self.comes_before(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.comes_before(self.heap[child], row):
                break
            self.heap[place] = self.heap[child]
            place, child = child, 2 * child + 1
        if self.under_way:
            self.heap[place] = row
        return first

    # Lines.

    @cython.cfunc
    def kind_of(self, row: cython.int):
        """Return the kind of a row's signal, and its sensor: source, modality, and channel or tag."""
        signal: tuple = cython.cast(tuple, self.signals[row])
        return (signal[1], signal[2], signal[8], None if signal[8] else signal[7], self.sensor_id[row])

    @cython.cfunc
    def join(self, line: cython.int, row: cython.int, now_s: cython.double):
        """Append a row to a line, or merge it with a waiting row of its kind.

        A row of an earlier advance becomes the newer signal and keeps the larger intensity. Of one advance,
        a signal replaces those before it on its channel.
        """
        signal: tuple = cython.cast(tuple, self.signals[row])
        has_channel: cython.bint = line == DELIVERY and signal[8] != ""
        by_kind: dict = self.by_kind[line]
        other: cython.int
        louder: cython.double
        if has_channel or by_kind:
            kind = self.kind_of(row)
            found = by_kind.get(kind)
            if found is not None:
                other = found
                louder = max(self.intensity[other], self.intensity[row])
                if self.order[row] > self.order[other]:
                    self.copy_to(row, other)
                if self.has_waited[other]:
                    self.merged += 1
                    if self.intensity[other] > 0:
                        self.before[other] *= louder / self.intensity[other]
                    self.intensity[other] = louder
                self.release(row)
                return
            if has_channel:
                by_kind[kind] = row
                self.is_found[row] = 1
        self.since_s[row], self.has_waited[row] = now_s, 0
        self.put_last(line, row)

    @cython.cfunc
    def put_last(self, line: cython.int, row: cython.int):
        self.line[row] = line
        self.lines[line].append(row)

    @cython.cfunc
    def copy_to(self, row: cython.int, other: cython.int):
        self.signals[other] = self.signals[row]
        self.order[other], self.due_s[other], self.leg_m[other] = self.order[row], self.due_s[row], self.leg_m[row]
        self.before[other], self.intensity[other] = self.before[row], self.intensity[row]
        self.reach_m[other], self.is_final[other] = self.reach_m[row], self.is_final[row]
        self.x[other], self.y[other], self.z[other] = self.x[row], self.y[row], self.z[row]

    @cython.cfunc
    @cython.exceptval(-2)
    def leave(self, line: cython.int) -> cython.int:
        row: cython.int = self.lines[line].popleft()
        self.stop_merging(line, row)
        return row

    @cython.cfunc
    def stop_merging(self, line: cython.int, row: cython.int):
        """Exclude a row from merging with later rows."""
        if self.is_found[row]:
            self.is_found[row] = 0
            del self.by_kind[line][self.kind_of(row)]

    @cython.cfunc
    def begin_line(self, line: cython.int, now_s: cython.double):
        """Drop rows that have waited for too long; later rows may merge with the rest."""
        row: cython.int
        rows, by_kind = self.lines[line], self.by_kind[line]
        for _ in range(len(rows)):
            row = rows.popleft()
            if now_s - max(self.due_s[row], self.since_s[row]) > LATE:
                self.stop_merging(line, row)
                self.release(row)
                if line == DELIVERY:
                    self.dropped += 1
                else:
                    self.given_up += 1
                continue
            rows.append(row)
            self.has_waited[row] = 1
            if not self.is_found[row]:
                kind = self.kind_of(row)
                if kind not in by_kind:
                    by_kind[kind] = row
                    self.is_found[row] = 1

    # Steps of an advance.

    def add(
        self, sensors, signal, kind, columns: tuple, x: float, y: float, z: float, latest_s: float, is_final: bool,
        needs_occlusion: bool,
    ) -> None:
        """Add the arrivals of a signal at sensors to those under way.

        Args:
            sensors: a ``SensorTable``.
            signal: the ``Signal``, as it is reported.
            kind: its modality.
            columns: of each sensor its slot, the distance of the signal in all (m), the length of the last straight
                part of it (m), the intensity at the beginning of that part and at the sensor: lists.
            x: where the last straight part begins (m), as ``y`` and ``z``.
            y: see ``x``.
            z: see ``x``.
            latest_s: when it arrives at the latest (s).
            is_final: whether it does not depend on where sensors move meanwhile.
            needs_occlusion: whether it waits for the occlusion; then the nearest sensor comes first.

        Cost: O(log n) for each sensor, n arrivals under way.
        """
        row: cython.int
        slot: cython.int
        place: cython.Py_ssize_t
        slots: list = columns[0]
        distances: list = columns[1]
        legs: list = columns[2]
        before: list = columns[3]
        intensities: list = columns[4]
        s_per_m: cython.double = kind.delay_s_per_m
        range_m: cython.double = kind.range_m
        sent_at_s: cython.double = signal[5]
        latest: cython.double = latest_s
        distance: cython.double
        leg: cython.double
        self.view_sensors(sensors)
        order: list = sorted(
            range(len(slots)), key=lambda one: (distances[one], self.ids[slots[one]])) if needs_occlusion else []
        index: cython.Py_ssize_t
        for index in range(len(slots)):
            place = order[index] if needs_occlusion else index
            slot = slots[place]
            row = self.new_row(signal, self.ids[slot])
            if row == NOTHING:
                continue
            distance, leg = distances[place], legs[place]
            self.due_s[row], self.leg_m[row] = min(sent_at_s + distance * s_per_m, latest), leg
            self.before[row], self.intensity[row] = before[place], intensities[place]
            self.reach_m[row], self.is_final[row] = range_m - (distance - leg), is_final
            self.x[row], self.y[row], self.z[row] = x, y, z
            if needs_occlusion:
                self.join(OCCLUSION, row, sent_at_s)
            else:
                self.push(row)

    def begin_advance(self, now_s: float) -> None:
        """Drop rows that have waited for too long; later rows may merge with the rest."""
        self.begin_line(DELIVERY, now_s)
        self.begin_line(OCCLUSION, now_s)

    def arrive(self, now_s: float, before: int) -> int:
        """Move due rows to the line for delivery, except signals from the order ``before`` on; return its length."""
        now: cython.double = now_s
        row: cython.int
        later: list = []
        while self.under_way and self.due_s[self.heap[0]] <= now:
            row = self.pop()
            if self.order[row] < before:
                self.join(DELIVERY, row, now)
            else:
                later.append(row)
        for row in later:
            self.push(row)
        return len(self.arrived)

    def take_for_occlusion(self, most: int) -> list:
        """Take out the first rows that wait for the occlusion, at most ``most``.

        Returns:
            Of each the row, the number of its modality, where it comes from (m), and the sensor's id.
        """
        taken: list = []
        row: cython.int
        while self.awaiting_occlusion and len(taken) < most:
            row = self.leave(OCCLUSION)
            taken.append((
                row, self.signals[row].modality, (self.x[row], self.y[row], self.z[row]), self.sensor_id[row]))
        return taken

    def put_occluded(self, rows: list, shares: list) -> None:
        """Add rows of ``take_for_occlusion`` to those under way, with the share of each that passes; None drops it."""
        row: cython.int
        for row, share in zip(rows, shares):  # noqa: B905  both lists come from the caller
            if share is None:
                self.release(row)
                continue
            self.intensity[row] *= cython.cast(cython.double, share)
            self.before[row] *= cython.cast(cython.double, share)
            self.push(row)

    def take_arrived(self, most: int, sensors, kinds: tuple, noise, kept_at, now_s: float) -> tuple:
        """Take out the first rows that wait for delivery, and measure each where its sensor is now.

        Args:
            most: how many at most.
            sensors: a ``SensorTable``.
            kinds: each modality at its number.
            noise: ``BackgroundNoise``, or None.
            kept_at: called with a modality's number and a slot: share kept per metre where a sensor is, below 0
                where no signal is heard; None for the share of the modality.
            now_s: game time (s).

        Returns:
            How many were taken; then of those that are heard: sensor ids, index of the signal, intensities;
            then each signal as ``StimulusBatch`` has it.
        """
        self.view_sensors(sensors)
        taken: cython.Py_ssize_t = 0
        row: cython.int
        slot: cython.int
        number: cython.int
        now: cython.double = now_s
        sensor_ids: list = []
        which: list = []
        intensities: list = []
        what: list = []
        places: dict = {}
        held: list = []         # an identity holds as long as its object
        while self.arrived and taken < most:
            row = self.leave(DELIVERY)
            taken += 1
            signal: tuple = cython.cast(tuple, self.signals[row])
            slot, number = self.sensor_id[row] & SLOT_MASK, signal[2]
            if slot >= self.ids.shape[0] or self.ids[slot] != self.sensor_id[row]:
                self.release(row)
                continue
            kind = kinds[number]
            if not self.is_heard(row, slot, number, kind, noise, kept_at):
                self.release(row)
            elif self.due_s[row] > now:
                self.push(row)
            else:
                place = places.get(id(signal))
                if place is None:
                    place = places[id(signal)] = len(what)
                    held.append(signal)
                    what.append((signal[1], number, signal[4], signal[5], signal[7]))
                sensor_ids.append(self.sensor_id[row])
                which.append(place)
                intensities.append(self.intensity[row])
                self.release(row)
        return taken, sensor_ids, which, intensities, what

    @cython.cfunc
    @cython.exceptval(-1)
    def is_heard(
        self, row: cython.int, slot: cython.int, number: cython.int, kind, noise, kept_at,
    ) -> cython.int:
        """Measure an arrival where its sensor is now; return 0 if it is not heard there."""
        x: cython.double = self.position[0, slot]
        y: cython.double = self.position[1, slot]
        z: cython.double = self.position[2, slot]
        dx: cython.double = x - self.x[row]
        dy: cython.double = y - self.y[row]
        dz: cython.double = z - self.z[row]
        leg_m: cython.double = sqrt(dx * dx + dy * dy + dz * dz)
        kept_per_m: cython.double
        s_per_m: cython.double
        if not self.is_final[row] and fabs(leg_m - self.leg_m[row]) >= MOVED:
            if leg_m > self.reach_m[row]:
                return 0
            kept_per_m = kind.kept_per_m if kept_at is None else kept_at(number, slot)
            if kept_per_m < 0:
                return 0
            s_per_m = kind.delay_s_per_m
            self.intensity[row] = self.before[row] * pow(kept_per_m, leg_m)
            self.due_s[row] += (leg_m - self.leg_m[row]) * s_per_m
            self.leg_m[row] = leg_m
        if not self.intensity[row] >= self.threshold[number, slot]:
            return 0
        if noise is not None:
            return self.intensity[row] >= cython.cast(cython.double, noise.level_at(number, (x, y, z)))
        return 1

    @cython.cfunc
    def view_sensors(self, sensors):
        before = self.sensor_arrays
        if sensors.position is before[0] and sensors.threshold is before[1] and sensors.ids.by_slot is before[2]:
            return
        arrays = (sensors.position, sensors.threshold, sensors.ids.by_slot)
        self.position, self.threshold = memoryview(arrays[0].T), memoryview(arrays[1].T)
        self.ids, self.sensor_arrays = memoryview(arrays[2]), arrays

    # Saving.

    def saved(self) -> tuple:
        """Return the columns of all rows by name, and the signal of each row.

        Those that wait come first, in the order of their lines, then those under way in the order of arrival.
        """
        rows: list = [*self.arrived, *self.awaiting_occlusion]
        travelling = [self.heap[place] for place in range(self.under_way)]
        travelling.sort(key=lambda row: (self.due_s[row], self.sensor_id[row], self.order[row]))
        rows += travelling
        columns = {name: self.columns[name][rows] if rows else np.zeros(0, dtype) for name, dtype in COLUMNS.items()}
        return columns, [self.signals[row] for row in rows]

    def load(self, columns: dict, signals: list) -> None:
        """Replace all rows by those that ``saved`` returned."""
        place: cython.Py_ssize_t
        row: cython.int
        self.__init__()
        for place, signal in enumerate(signals):
            row = self.new_row(signal, columns["sensor_id"][place])
            for name in COLUMNS:
                self.columns[name][row] = columns[name][place]
            if self.line[row] == 0:
                self.push(row)
            else:
                self.put_last(self.line[row], row)
