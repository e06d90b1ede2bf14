# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# mypy: ignore-errors
"""A step of a march: slots move along their lanes, late members are found, destinations and velocities computed.

A lane is the line of a slot beside the path; lanes move together where the path is narrow.
"""
from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt
from numpy.typing import NDArray

__all__ = ["MarchStep", "PathLanes"]

INFINITY = cython.declare(cython.double, float("inf"))
PROBE_M = cython.declare(cython.double, 0.25)   # distance along the path over which slots' speeds are measured (m)
LOOK_M = cython.declare(cython.double, 1.0)     # least distance ahead of a destination (m); more cuts corners of doors
STILL = cython.declare(cython.double, 0.05)     # share of their pace at which slots count as standing; the member that
# holds them up is late. At 0 none would ever be: slots slow down for a member, and never leave it that far behind.
FLOOR_M = cython.declare(cython.double, 2.0)    # farther above or below its lane a member is on another floor (m)
TOWARDS = cython.declare(cython.double, 0.05)   # how much nearer than the wanted arc another must be (m per m of arc)
ARRAYS = cython.declare(cython.int, 13)         # that a step needs, with the lanes


@cython.final
@cython.cclass
class PathLanes:
    """The samples of a path, as lanes beside it.

    Args:
        samples: float64, shape (m, 2 d + 2), C-contiguous, m at least 2, d 2 or 3: positions, directions to the right,
            free distances left and right (m); referenced, not copied.
        length_m: length of the path without extensions (m).
        first_m: arc of the first sample (m).
        last_m: arc of the last sample (m).
        step_m: distance between samples (m), above 0.
        search_from_m: first arc of a member's search, relative to its last arc (m).
        search_gap_m: distance between the arcs that are tried (m).
        search_count: number of arcs that are tried.
    """

    samples: cython.double[::1]
    count: cython.Py_ssize_t
    width: cython.Py_ssize_t
    dimensions: cython.Py_ssize_t
    length_m: cython.double
    first_m: cython.double
    last_m: cython.double
    step_m: cython.double
    search_from_m: cython.double
    search_gap_m: cython.double
    search_count: cython.int
    low_m: cython.double            # lanes farthest to the left and to the right
    high_m: cython.double
    at: cython.Py_ssize_t           # of the place found last: where its sample begins,
    share: cython.double            # how far it is to the next one,
    aside_m: cython.double          # and how far it is to the right of the path

    def __init__(
        self, samples: NDArray[np.float64], length_m: float, first_m: float, last_m: float, step_m: float,
        search_from_m: float, search_gap_m: float, search_count: int,
    ) -> None:
        if samples.ndim != 2 or len(samples) < 2 or samples.shape[1] not in (6, 8):
            raise ValueError(f"samples must be at least 2 rows of 6 or 8, got shape {samples.shape}")
        self.samples = memoryview(samples.reshape(-1))
        self.count, self.width = samples.shape
        self.dimensions = self.width // 2 - 1
        self.length_m, self.first_m, self.last_m, self.step_m = length_m, first_m, last_m, step_m
        self.search_from_m, self.search_gap_m, self.search_count = search_from_m, search_gap_m, search_count

    def begin(self, places: NDArray[np.float64], arcs: NDArray[np.float64]) -> None:
        """Replace each NaN of ``arcs``, shape (n,), by the arc of the sample nearest to a place, shape (n, d) (m).

        Cost: O(samples) for each NaN, some 2 ns each.
        """
        place: cython.double[:, ::1] = memoryview(places)
        arc: cython.double[::1] = memoryview(arcs)
        row: cython.Py_ssize_t
        sample: cython.Py_ssize_t
        at: cython.Py_ssize_t
        nearest: cython.Py_ssize_t
        last: cython.Py_ssize_t = self.dimensions - 1     # the second axis of the plane: y, in space z
        aside: cython.double
        ahead: cython.double
        away: cython.double
        least: cython.double
        for row in range(len(arcs)):
            if arc[row] == arc[row]:
                continue
            nearest, least = 0, INFINITY
            for sample in range(self.count):
                at = sample * self.width
                aside, ahead = self.samples[at] - place[row, 0], self.samples[at + last] - place[row, last]
                away = aside * aside + ahead * ahead
                if away < least:
                    nearest, least = sample, away
            arc[row] = self.first_m + nearest * self.step_m

    def places(self, arcs: NDArray[np.float64], right_m: NDArray[np.float64], low_m: float, high_m: float):
        """Return places on lanes, shape (n, d) (m).

        Args:
            arcs: distances along the path, shape (n,) (m).
            right_m: distances to the right where the path is wide, shape (n,) (m).
            low_m: least ``right_m`` of all lanes.
            high_m: greatest ``right_m`` of all lanes.

        Cost: O(n).
        """
        found = np.empty((len(arcs), self.dimensions))
        out: cython.double[:, ::1] = memoryview(found)
        self.low_m, self.high_m = low_m, high_m
        row: cython.Py_ssize_t
        axis: cython.Py_ssize_t
        for row in range(len(found)):
            self.find(arcs[row], right_m[row])
            for axis in range(self.dimensions):
                out[row, axis] = self.coordinate(axis)
        return found

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, arc_m: cython.double, right_m: cython.double) -> cython.void:
        """Find the place of a lane at an arc; ``coordinate`` returns it."""
        last: cython.double = self.count - 1
        place: cython.double = min(last, max(0.0, (arc_m - self.first_m) / self.step_m))
        row: cython.Py_ssize_t = min(cython.cast(cython.Py_ssize_t, place), self.count - 2)
        free: cython.Py_ssize_t = row * self.width + 2 * self.dimensions
        beyond: cython.Py_ssize_t = free + self.width
        self.at, self.share = row * self.width, place - row
        left: cython.double = self.samples[free] + (self.samples[beyond] - self.samples[free]) * self.share
        right: cython.double = self.samples[free + 1] + (self.samples[beyond + 1] - self.samples[free + 1]) * self.share
        wide: cython.double = self.high_m - self.low_m
        room: cython.double = left + right
        if wide == 0:
            self.aside_m = min(right, max(-left, right_m))
        elif room >= wide:      # moved aside if need be
            self.aside_m = min(right - wide, max(-left, self.low_m)) + (right_m - self.low_m)
        else:
            self.aside_m = -left + (right_m - self.low_m) * (room / wide)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def coordinate(self, axis: cython.Py_ssize_t) -> cython.double:
        """Return a coordinate of the place found last."""
        at: cython.Py_ssize_t = self.at + axis
        to: cython.Py_ssize_t = at + self.width
        beside: cython.Py_ssize_t = at + self.dimensions
        beside_to: cython.Py_ssize_t = to + self.dimensions
        return (self.samples[at] + (self.samples[to] - self.samples[at]) * self.share) + (
            self.samples[beside] + (self.samples[beside_to] - self.samples[beside]) * self.share) * self.aside_m


@cython.final
@cython.cclass
class MarchStep:
    """Steps of the march of one squad.

    It keeps views of the arrays of the last step: creating them takes longer than a step of a small squad.
    """

    arrays: tuple                       # that are viewed
    lanes: PathLanes
    offsets: cython.double[::1]
    positions: cython.double[::1]
    destinations: cython.double[::1]
    velocities: cython.double[::1]      # while a step is made: how slots move for each metre
    speeds: cython.double[::1]
    rises: cython.double[::1]
    arcs: cython.double[::1]
    away: cython.double[::1]
    late_s: cython.double[::1]
    nearest_m: cython.double[::1]
    is_straggler: cython.uchar[::1]
    is_detached: cython.uchar[::1]
    count: cython.Py_ssize_t
    dimensions: cython.Py_ssize_t
    last: cython.Py_ssize_t             # the last axis; it and the first one make the plane
    pace: cython.double
    wait_from: cython.double
    wait_at: cython.double
    patience_s: cython.double
    response_s: cython.double
    tolerance_m: cython.double
    anchor_m: cython.double
    elapsed_s: cython.double
    spacing_m: cython.double
    aside_m: cython.double
    is_at_end: cython.bint

    def __init__(self, settings) -> None:
        self.arrays = (None,) * ARRAYS
        self.pace, self.wait_from, self.wait_at = settings.pace, settings.wait_from, settings.wait_at
        self.patience_s, self.response_s, self.tolerance_m = (
            settings.patience_s, settings.response_s, settings.tolerance_m)

    def advance(
        self, lanes: PathLanes, offsets: NDArray[np.float64], marchers, anchor_m: float, elapsed_s: float,
        spacing_m: float, aside_m: float,
    ) -> float:
        """Advance the slots; write destinations, velocities and distances from the slots of all members.

        Args:
            lanes: the path.
            offsets: float64, shape (n, 2), n at least 1: each member's slot, ahead and to the right (m).
            marchers: a ``MemberTable`` of n members; no ``arcs`` is NaN.
            anchor_m: arc of the commander's slot (m).
            elapsed_s: game time since the last step (s), 0 or more.
            spacing_m: distance between neighbors in the formation (m), above 0.
            aside_m: distance from its lane within which a member stands until its slot comes (m), 0 or more.

        Returns:
            The new arc of the commander's slot (m).

        Cost: O(n).
        """
        arrays: tuple = (
            lanes, offsets, marchers.positions, marchers.destinations, marchers.velocities, marchers.speeds,
            marchers.rises, marchers.arcs, marchers.away, marchers.late_s, marchers.nearest_m, marchers.is_straggler,
            marchers.is_detached)
        number: cython.Py_ssize_t
        for number in range(ARRAYS):
            if arrays[number] is not self.arrays[number]:
                self.view(lanes, arrays)
                break
        self.anchor_m, self.elapsed_s, self.spacing_m, self.aside_m = anchor_m, elapsed_s, spacing_m, aside_m
        self.make_step()
        return self.anchor_m

    def view(self, lanes: PathLanes, arrays: tuple) -> None:
        """View other arrays, after a check of their shapes."""
        self.arrays = (None,) * ARRAYS      # until all are viewed
        offsets = arrays[1]
        count: cython.Py_ssize_t = len(offsets)
        if not count or offsets.shape != (count, 2):
            raise ValueError(f"offsets must be rows of 2, at least one, got shape {offsets.shape}")
        for number, one in enumerate(arrays[2:]):
            shape = (count, lanes.dimensions)[:2 if number < 3 else 1]
            if one.shape != shape:
                raise ValueError(f"columns of members must have shape {shape}, as offsets have, got {one.shape}")
        if not all(one.flags.c_contiguous for one in arrays[1:]):
            raise ValueError("columns of members and offsets must be contiguous")
        self.lanes, self.count, self.dimensions, self.last = lanes, count, lanes.dimensions, lanes.dimensions - 1
        views = [memoryview(one.reshape(-1)) for one in arrays[1:11]]
        self.offsets, self.positions, self.destinations, self.velocities, self.speeds = views[:5]
        self.rises, self.arcs, self.away, self.late_s, self.nearest_m = views[5:]
        self.is_straggler = memoryview(arrays[11].view(np.uint8))
        self.is_detached = memoryview(arrays[12].view(np.uint8))
        self.arrays = arrays

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make_step(self) -> cython.void:
        begun_m: cython.double = self.anchor_m
        probe: cython.double = min(self.lanes.length_m, begun_m + PROBE_M)
        came: cython.double = 0
        speed: cython.double = 0
        fastest: cython.double = 0
        are_all_detached: cython.bint = True
        self.is_at_end = begun_m >= self.lanes.length_m
        self.lanes.low_m = self.lanes.high_m = self.offsets[1]
        for i in range(1, self.count):
            self.lanes.low_m = min(self.offsets[2 * i + 1], self.lanes.low_m)
            self.lanes.high_m = max(self.offsets[2 * i + 1], self.lanes.high_m)
        for i in range(self.count):
            flow = i * self.dimensions
            self.lanes.find(probe + self.offsets[2 * i], self.offsets[2 * i + 1])
            for axis in range(self.dimensions):
                self.velocities[flow + axis] = self.lanes.coordinate(axis)
            self.lanes.find(begun_m + self.offsets[2 * i], self.offsets[2 * i + 1])
            squared = 0
            for axis in range(self.dimensions):
                moved = (self.velocities[flow + axis] - self.lanes.coordinate(axis)) / PROBE_M
                self.velocities[flow + axis] = moved
                squared += moved * moved
            fastest = max(squared, fastest)
            x, z = self.lanes.coordinate(0), self.lanes.coordinate(self.last)
            wanted = max(self.lanes.first_m, begun_m + self.offsets[2 * i])
            self.arcs[i] = self.arc_reached(i, wanted)
            came += self.arcs[i]
            are_all_detached = are_all_detached and self.is_detached[i]
            self.away[i] = 0 if self.waits(i, begun_m, wanted - self.arcs[i]) else self.distance(i, x, z)
        if are_all_detached:        # the slots follow the members
            self.anchor_m = max(min(self.lanes.length_m, came / self.count), begun_m)
        else:
            moved = min(self.lanes.length_m - begun_m, self.pace_of_slots(fastest) * self.elapsed_s)
            self.anchor_m += moved
            speed = moved / self.elapsed_s if self.elapsed_s > 0 else 0
        for i in range(self.count):
            # Relative to where the slots were: where they come to, members are led to by their destinations.
            lag = max(self.lanes.first_m, begun_m + self.offsets[2 * i]) - self.arcs[i]
            self.steer(i, lag, speed, self.waits(i, begun_m, lag))

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def waits(self, i: cython.Py_ssize_t, anchor_m: cython.double, lag: cython.double) -> cython.bint:
        """Return whether a member has a task, its slot is not on the path yet, or comes to the member."""
        return (self.is_detached[i] or anchor_m + self.offsets[2 * i] < self.lanes.first_m
                or (not self.is_at_end and lag < -self.spacing_m))

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def distance(self, i: cython.Py_ssize_t, x: cython.double, z: cython.double) -> cython.double:
        """Return the distance of a member from a place, in the plane."""
        x -= self.positions[i * self.dimensions]
        z -= self.positions[i * self.dimensions + self.last]
        return sqrt(x * x + z * z)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def arc_reached(self, i: cython.Py_ssize_t, wanted: cython.double) -> cython.double:
        """Return the arc that a member has reached on its lane.

        Inside a turn many arcs share a position; the one nearest to the wanted arc counts, or else a member there
        would never get around the turn.
        """
        from_m: cython.double = self.arcs[i]
        right_m: cython.double = self.offsets[2 * i + 1]
        first: cython.double = 0
        last: cython.double = 0
        nearest: cython.double = INFINITY
        found: cython.double = 0
        for number in range(self.lanes.search_count + 1):
            if number < self.lanes.search_count:
                tried = last = from_m + (self.lanes.search_from_m + number * self.lanes.search_gap_m)
                if number == 0:
                    first = tried
            else:
                tried = min(last, max(first, wanted))
            tried = min(self.lanes.last_m, max(self.lanes.first_m, tried))
            self.lanes.find(tried, right_m)
            away = self.distance(i, self.lanes.coordinate(0), self.lanes.coordinate(self.last))
            away += TOWARDS * fabs(tried - wanted)
            if away < nearest:
                nearest, found = away, tried
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pace_of_slots(self, fastest: cython.double) -> cython.double:
        """Return the speed of the commander's slot (m/s) that all members can follow; note late members.

        A member farther away than a limit that comes no nearer for some time becomes a straggler, until it is within
        half of the limit again.
        """
        still: cython.double = self.wait_at - STILL * (self.wait_at - self.wait_from)
        limit_m: cython.double = self.tolerance_m if self.is_at_end else still * self.spacing_m
        worst: cython.double = 0
        slowest: cython.double = INFINITY
        slowest_of_all: cython.double = INFINITY
        is_late: cython.bint
        comes_nearer: cython.bint
        for i in range(self.count):
            away = self.away[i]
            is_late, comes_nearer = away > limit_m, away < self.nearest_m[i] - 0.05 * limit_m
            if not is_late:
                self.nearest_m[i] = INFINITY
            elif comes_nearer:
                self.nearest_m[i] = away
            self.late_s[i] = self.late_s[i] + self.elapsed_s if is_late and not comes_nearer else 0
            self.is_straggler[i] = (
                (self.is_straggler[i] or self.late_s[i] > self.patience_s) and away > 0.5 * limit_m)
            slowest_of_all = min(self.speeds[i], slowest_of_all)
            if not self.is_straggler[i]:
                worst, slowest = max(away, worst), min(self.speeds[i], slowest)
        if slowest == INFINITY:
            slowest = slowest_of_all
        share: cython.double = (self.wait_at - worst / self.spacing_m) / (self.wait_at - self.wait_from)
        return self.pace * slowest / max(sqrt(fastest), 1.0) * min(max(share, 0.0), 1.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def steer(self, i: cython.Py_ssize_t, lag: cython.double, speed: cython.double, stays: cython.bint) -> cython.void:
        """Write a member's destination, and its velocity: with its slot, and towards it; at most its own speed.

        A member that waits for its slot stands; far beside its lane it comes nearer to it.
        """
        look: cython.double = max(1.2 * self.response_s * self.speeds[i], LOOK_M)
        response_s: cython.double = max(self.elapsed_s, self.response_s)
        row: cython.Py_ssize_t = i * self.dimensions
        follows: cython.bint = fabs(lag) <= look and not stays
        if stays and not self.is_detached[i]:
            self.lanes.find(self.arcs[i], self.offsets[2 * i + 1])
            if self.distance(i, self.lanes.coordinate(0), self.lanes.coordinate(self.last)) > self.aside_m:
                lag, stays = 0, False       # or else the slots would wait for it once they have come
        self.lanes.find(self.arcs[i] + min(look, max(-look, lag)), self.offsets[2 * i + 1])
        for axis in range(self.dimensions):
            self.destinations[row + axis] = self.lanes.coordinate(axis)
        if self.dimensions == 3:
            self.lanes.find(self.arcs[i], self.offsets[2 * i + 1])
            own_height = self.lanes.coordinate(1)
            self.rises[i] = 0
            if not stays and fabs(self.positions[row + 1] - own_height) <= FLOOR_M:
                self.rises[i] = (self.velocities[row + 1] * speed if follows else 0.0) + (
                    self.destinations[row + 1] - own_height) / response_s
        for axis in range(row, row + self.dimensions):
            if stays:
                self.destinations[axis] = self.positions[axis]
            self.velocities[axis] = (self.velocities[axis] * speed if follows else 0.0) + (
                self.destinations[axis] - self.positions[axis]) / response_s
        x, z = self.velocities[row], self.velocities[row + self.last]
        share = min(self.speeds[i] / max(1e-9, sqrt(x * x + z * z)), 1.0)
        for axis in range(row, row + self.dimensions):
            self.velocities[axis] *= share
        self.rises[i] *= share
