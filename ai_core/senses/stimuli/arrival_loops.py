# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: show_performance_hints=False
# mypy: ignore-errors
"""Signals at sensors: those under way, and those that wait for a ray or for delivery.

Arrivals under way stand in a heap by due time, then sensor id, then order of emission. Those that wait stand in a
line; a signal that joins a line in which one of its kind waits for the same sensor merges with that arrival, so a
line holds one for each kind of signal and sensor, however many are emitted.
"""
from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from math import inf

import cython
import numpy as np
from cython.cimports.libc.math import fabs, pow, sqrt

from ai_core.senses.sensation import Sensation

__all__ = ["LATEST_S", "MOST_ARRIVALS", "MOVED_M", "Arrival", "ArrivalQueue"]

LATEST_S = 2.0
"""How much longer than necessary an arrival may wait (s); then it is dropped.

A longer time reports sounds where nothing is any more, a shorter one loses single sounds of a short overload.
"""

MOST_ARRIVALS = 1 << 17
"""Arrivals at a time (count), 25 MB; further ones are dropped. Reached only if advance is never called."""

MOVED_M = 1e-6
"""Change of its distance below which a sensor stood still while a signal travelled (m): rounding of float32."""

FARTHEST = cython.declare(cython.double, 3.4e38)        # what single precision can hold: sensation.FARTHEST_M
MOVED = cython.declare(cython.double, MOVED_M)
LATE = cython.declare(cython.double, LATEST_S)
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
DELIVERY = cython.declare(cython.int, 1)            # numbers of lines
OCCLUSION = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class Arrival:
    """A signal at a sensor.

    Attributes:
        signal: the ``Signal``, as it is reported.
        line: 0 if it is under way, 1 if it waits for delivery, 2 if it waits for the occlusion.
        due_s: when it arrives (s).
        x, y, z, leg_m: where its last straight part begins (m), and the length of that.
        before: intensity there, less the share that obstacles on the last part absorb.
        intensity: at the sensor.
        reach_m: largest length of the last part (m).
        since_s: game time at which it joined a line (s).
        is_final: it does not depend on where the sensor moves meanwhile.
    """

    signal = cython.declare(object, visibility="public")
    sensor_id = cython.declare(cython.int, visibility="public")
    line = cython.declare(cython.int, visibility="public")
    due_s = cython.declare(cython.double, visibility="public")
    leg_m = cython.declare(cython.double, visibility="public")
    before = cython.declare(cython.double, visibility="public")
    intensity = cython.declare(cython.double, visibility="public")
    reach_m = cython.declare(cython.double, visibility="public")
    x = cython.declare(cython.double, visibility="public")
    y = cython.declare(cython.double, visibility="public")
    z = cython.declare(cython.double, visibility="public")
    since_s = cython.declare(cython.double, visibility="public")
    is_final = cython.declare(cython.bint, visibility="public")
    order: cython.longlong          # of the signal
    has_waited: cython.bint         # it joined a line in an earlier advance
    is_found: cython.bint           # later arrivals merge with it

    def __init__(self, signal, sensor_id: cython.int) -> None:
        self.signal, self.sensor_id, self.order = signal, sensor_id, signal[0]
        self.line, self.since_s, self.has_waited, self.is_found = 0, 0.0, False, False

    def __lt__(self, other: Arrival) -> bool:
        if self.due_s != other.due_s:
            return self.due_s < other.due_s
        if self.sensor_id != other.sensor_id:
            return self.sensor_id < other.sensor_id
        return self.order < other.order

    @cython.cfunc
    def kind(self):
        """Return the kind of its signal, and its sensor: source, modality, and channel or tag."""
        signal: tuple = cython.cast(tuple, self.signal)
        return (signal[1], signal[2], signal[8], None if signal[8] else signal[7], self.sensor_id)

    @cython.cfunc
    def become(self, other: Arrival):
        """Take over another signal at the same sensor; the place in the line stays."""
        self.signal, self.order, self.is_final = other.signal, other.order, other.is_final
        self.due_s, self.leg_m, self.reach_m = other.due_s, other.leg_m, other.reach_m
        self.before, self.intensity = other.before, other.intensity
        self.x, self.y, self.z = other.x, other.y, other.z


@cython.final
@cython.cclass
class ArrivalQueue:
    """All arrivals of a world.

    Attributes:
        arrived: those that wait for delivery, in the order in which they joined.
        awaiting_occlusion: those that wait for the occlusion between the signal and the sensor, likewise.
        under_way: a heap of the others.
        has_more: whether arrivals are due that have not joined the line for delivery yet.
        merged: arrivals that merged with one that had waited (count).
        dropped, given_up: arrivals that waited for delivery, or for the occlusion, for too long (count).
    """

    arrived = cython.declare(object, visibility="readonly")
    awaiting_occlusion = cython.declare(object, visibility="readonly")
    under_way = cython.declare(list, visibility="readonly")
    has_more = cython.declare(cython.bint, visibility="readonly")
    merged = cython.declare(cython.longlong, visibility="public")
    dropped = cython.declare(cython.longlong, visibility="public")
    given_up = cython.declare(cython.longlong, visibility="public")
    lines: tuple                    # deques, by ``line``
    by_kind: tuple                  # of each line the arrivals that later ones merge with, by kind
    # Sensors, by slot, as they were viewed last.
    sensor_arrays: tuple
    position: cython.float[:, ::1]
    threshold: cython.double[:, ::1]
    ids: cython.int[::1]

    # Three numbers in single precision.
    place: cython.float[::1]

    def __init__(self) -> None:
        self.place = memoryview(np.zeros(3, np.float32))
        self.arrived, self.awaiting_occlusion, self.under_way = deque(), deque(), []
        self.lines, self.by_kind = (None, self.arrived, self.awaiting_occlusion), (None, {}, {})
        self.has_more = False
        self.merged = self.dropped = self.given_up = 0
        self.sensor_arrays = (None, None, None)

    def __len__(self) -> int:
        return len(self.under_way) + len(self.arrived) + len(self.awaiting_occlusion)

    @property
    def first_since_s(self) -> float:
        """When the first of those that wait for delivery began to wait (s)."""
        return self.arrived[0].since_s

    def rounded(self, place: object) -> tuple | None:
        """Return a tuple of three finite numbers as positions of sensors are rounded; None for anything else."""
        axis: cython.Py_ssize_t
        one: cython.double
        if type(place) is not tuple or len(place) != 3:
            return None
        for axis in range(3):
            if type(place[axis]) is not float:
                return None
            one = place[axis]
            if not -FARTHEST <= one <= FARTHEST:
                return None
            self.place[axis] = one
        return self.place[0], self.place[1], self.place[2]

    # Lines.

    @cython.cfunc
    def push(self, one: Arrival):
        one.line, one.since_s = 0, 0.0
        heappush(self.under_way, one)

    @cython.cfunc
    def join(self, line: cython.int, one: Arrival, now_s: cython.double):
        """Append an arrival to a line, or merge it with a waiting one of its kind.

        One of an earlier advance becomes the newer signal and keeps the larger intensity. Of one advance,
        a signal replaces those before it on its channel.
        """
        has_channel: cython.bint = line == DELIVERY and one.signal[8] != ""
        by_kind: dict = self.by_kind[line]
        other: Arrival
        louder: cython.double
        if has_channel or by_kind:
            kind = one.kind()
            found = by_kind.get(kind)
            if found is not None:
                other = found
                louder = max(other.intensity, one.intensity)
                if one.order > other.order:
                    other.become(one)
                if other.has_waited:
                    self.merged += 1
                    if other.intensity > 0:
                        other.before *= louder / other.intensity
                    other.intensity = louder
                return
            if has_channel:
                by_kind[kind] = one
                one.is_found = True
        one.line, one.since_s, one.has_waited = line, now_s, False
        self.lines[line].append(one)

    @cython.cfunc
    def stop_merging(self, one: Arrival):
        """Exclude an arrival from merging with later ones."""
        if one.is_found:
            one.is_found = False
            del self.by_kind[one.line][one.kind()]

    @cython.cfunc
    def begin_line(self, line: cython.int):
        """Let later arrivals merge with those that joined a line since the last call."""
        one: Arrival
        by_kind: dict = self.by_kind[line]
        for one in reversed(self.lines[line]):
            if one.has_waited:
                break
            one.has_waited = True
            kind = one.kind()
            if not one.is_found and kind not in by_kind:
                by_kind[kind] = one
                one.is_found = True

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_late(self, one: Arrival, now_s: cython.double) -> cython.bint:
        return now_s - max(one.due_s, one.since_s) > LATE

    # Steps of an advance.

    def add(
        self, sensors, signal, kind, columns: tuple, place: tuple, latest_s: float = inf, is_final: bool = False,
        needs_occlusion: bool = False,
    ) -> None:
        """Add the arrivals of a signal, as it is reported, at sensors to those under way.

        Args:
            columns: of each sensor its slot, the distance of the signal in all (m), the length of the last straight
                part of it (m), the intensity at the beginning of that part and at the sensor: lists.
            place: where the last straight part begins (m).
            latest_s: when it arrives at the latest (s).
            is_final: whether it does not depend on where sensors move meanwhile.
            needs_occlusion: whether it waits for the occlusion; then the nearest sensor comes first.

        Cost: O(log n) for each sensor, n arrivals under way.
        """
        one: Arrival
        at: cython.Py_ssize_t
        slots, distances, legs, before, intensities = columns
        s_per_m: cython.double = kind.delay_s_per_m
        range_m: cython.double = kind.range_m
        sent_at_s: cython.double = signal[5]
        latest: cython.double = latest_s
        distance: cython.double
        leg: cython.double
        x, y, z = place
        self.view_sensors(sensors)
        order = range(len(slots))
        if needs_occlusion:
            order = sorted(order, key=lambda place: (distances[place], self.ids[slots[place]]))
        for at in order:
            if len(self) >= MOST_ARRIVALS:
                self.dropped += 1
                continue
            one, distance, leg = Arrival(signal, self.ids[slots[at]]), distances[at], legs[at]
            one.due_s, one.leg_m = min(sent_at_s + distance * s_per_m, latest), leg
            one.before, one.intensity = before[at], intensities[at]
            one.reach_m, one.is_final = range_m - (distance - leg), is_final
            one.x, one.y, one.z = x, y, z
            if needs_occlusion:
                self.join(OCCLUSION, one, sent_at_s)
            else:
                self.push(one)

    def begin_advance(self) -> None:
        """Let later arrivals merge with those that wait. Cost: O(arrivals that joined a line since the last call)."""
        self.begin_line(DELIVERY)
        self.begin_line(OCCLUSION)

    @cython.cfunc
    def arrive(self, now: cython.double, before: cython.longlong, most: cython.Py_ssize_t):
        """Move due arrivals to the line for delivery, at most so many, but not signals from the order ``before`` on."""
        one: Arrival
        later: list = []
        self.has_more = False
        while self.under_way:
            one = self.under_way[0]
            if one.due_s > now:
                break
            if most == 0:
                self.has_more = True
                break
            most -= 1
            heappop(self.under_way)
            if one.order < before:
                self.join(DELIVERY, one, now)
            else:
                later.append(one)
        for one in later:
            self.push(one)

    def take_for_occlusion(self, most: int, now_s: float) -> list:
        """Take out the first ``Arrival`` objects that wait for the occlusion, at most ``most``; drop late ones."""
        one: Arrival
        taken: list = []
        while self.awaiting_occlusion and len(taken) < most:
            one = self.awaiting_occlusion.popleft()
            self.stop_merging(one)
            if self.is_late(one, now_s):
                self.given_up += 1
            else:
                taken.append(one)
        return taken

    def put_occluded(self, taken: list, shares: list) -> None:
        """Add some of ``take_for_occlusion`` to those under way, with the share of each that passes; None drops it."""
        one: Arrival
        for one, share in zip(taken, shares):  # noqa: B905  both lists come from the caller
            if share is not None:
                one.intensity *= cython.cast(cython.double, share)
                one.before *= cython.cast(cython.double, share)
                self.push(one)

    def take_arrived(
        self, most: int, seen: int, before: int, sensors, kinds: tuple, noise, kept_at, now_s: float,
    ) -> tuple:
        """Take out the first arrivals that are due, and measure each where its sensor is now.

        Args:
            most: how many at most.
            seen: how many at most join the line before, and are dropped as too late.
            before: signals of this order and later ones wait for the next advance.
            kinds: each modality at its number.
            kept_at: called with a modality's number and a slot: share kept per metre where a sensor is, below 0
                where no signal is heard; None for the share of the modality.

        Returns:
            How many were taken, and a ``Sensation`` of each that is heard.
        """
        self.view_sensors(sensors)
        one: Arrival
        taken: cython.Py_ssize_t = 0
        slot: cython.int
        now: cython.double = now_s
        heard: list = []
        last: cython.longlong = self.dropped + seen
        self.arrive(now, before, seen)
        while self.arrived and taken < most and self.dropped < last:
            one = self.arrived.popleft()
            self.stop_merging(one)
            if self.is_late(one, now):
                self.dropped += 1
                continue
            taken += 1
            slot = one.sensor_id & SLOT_MASK
            signal: tuple = cython.cast(tuple, one.signal)
            kind = kinds[signal[2]]
            if slot >= self.ids.shape[0] or self.ids[slot] != one.sensor_id or (
                    not self.is_heard(one, slot, kind, noise, kept_at)):
                continue
            if one.due_s > now:
                self.push(one)
                continue
            heard.append(tuple.__new__(Sensation, (
                one.sensor_id, signal[1], kind.name, one.intensity, signal[4], signal[5], now, signal[7])))
        return taken, heard

    @cython.cfunc
    @cython.exceptval(-1)
    def is_heard(self, one: Arrival, slot: cython.int, kind, noise, kept_at) -> cython.int:
        """Measure an arrival where its sensor is now; return 0 if it is not heard there."""
        number: cython.int = one.signal[2]
        x: cython.double = self.position[0, slot]
        y: cython.double = self.position[1, slot]
        z: cython.double = self.position[2, slot]
        dx: cython.double = x - one.x
        dy: cython.double = y - one.y
        dz: cython.double = z - one.z
        leg_m: cython.double = sqrt(dx * dx + dy * dy + dz * dz)
        kept_per_m: cython.double
        s_per_m: cython.double
        if not one.is_final and fabs(leg_m - one.leg_m) >= MOVED:
            if leg_m > one.reach_m:
                return 0
            kept_per_m = kind.kept_per_m if kept_at is None else kept_at(number, slot)
            if kept_per_m < 0:
                return 0
            s_per_m = kind.delay_s_per_m
            one.intensity = one.before * pow(kept_per_m, leg_m)
            one.due_s += (leg_m - one.leg_m) * s_per_m
            one.leg_m = leg_m
        if not one.intensity >= self.threshold[number, slot]:
            return 0
        if noise is not None:
            return one.intensity >= cython.cast(cython.double, noise.level_at(number, (x, y, z)))
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

    @property
    def all(self) -> list:
        """All arrivals: those that wait, in the order of their lines, then those under way in the order of arrival."""
        return [*self.arrived, *self.awaiting_occlusion, *sorted(self.under_way)]

    @all.setter
    def all(self, arrivals: list) -> None:
        one: Arrival
        self.__init__()
        for one in arrivals:
            if one.line == 0:
                heappush(self.under_way, one)
            else:
                self.lines[one.line].append(one)
