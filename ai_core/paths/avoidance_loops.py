# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# mypy: ignore-errors
"""Local avoidance: characters that walk pass each other, by reciprocal velocity obstacles in the plane.

For each near character a line divides the velocities: those on its right side lead to a collision within the time
that is looked ahead. Two characters that walk each take half of the evasion; for one that stands the other takes all.
Of the velocities that no line forbids, the one nearest to the wanted velocity is taken.
"""
from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

from ai_core.errors import finite_number, shown

__all__ = ["AvoidanceGroup", "LocalAvoidance"]

MOST_NEAR = cython.declare(cython.int, 8)         # characters that are avoided at once, the nearest ones (count)
SAME_FLOOR = cython.declare(cython.double, 2.0)   # difference in height beyond which characters do not meet (m)
STANDS = cython.declare(cython.double, 1e-3)      # share of its top speed below which a character stands (no unit)
TOUCHES = cython.declare(cython.double, 1.5)      # distance within which two touch, in sums of radii (no unit):
#                                                   more than walkers keep that avoid, too little for another between
APART_S = cython.declare(cython.double, 0.25)     # time in which characters that overlap move apart (s)
LEAST_S = cython.declare(cython.double, 0.05)     # least time that is looked ahead (s), as it is a divisor
PARALLEL = cython.declare(cython.double, 1e-5)    # sine of the angle below which two lines are parallel
NAN = cython.declare(cython.double, float("nan"))
INFINITE = cython.declare(cython.double, float("inf"))
SMALL = cython.declare(cython.double, 1e-9)       # lengths below this have no direction


@cython.final
@cython.cclass
class LocalAvoidance:
    """Corrects the velocities of characters that walk, so that they do not block each other.

    ``set_bodies`` names the arrays of all characters. ``find_near`` is called once per frame, after positions have
    changed; then, for each of the rows that it returns and that walks, ``steer``.

    Args:
        look_ahead_s: time within which collisions are avoided (s), above 0; longer evades earlier, and less.

    Raises:
        TypeError, ValueError: if ``look_ahead_s`` is no finite number above 0.
    """

    arrays: tuple
    positions: cython.float[::1]
    velocities: cython.double[::1]
    speeds: cython.double[::1]
    radii: cython.double[::1]
    order: cython.longlong[::1]        # rows by their first coordinate
    rank: cython.longlong[::1]         # of each row its place in that order
    is_near: cython.uchar[::1]
    count: cython.Py_ssize_t
    dimensions: cython.Py_ssize_t
    last: cython.Py_ssize_t            # the second axis of the plane: y, in space z
    look_ahead_s: cython.double
    widest: cython.double              # largest reach of a row
    thickest: cython.double            # largest radius
    near: cython.longlong[::1]         # rows that were selected, nearest first
    away: cython.double[::1]           # their squared distances
    near_count: cython.Py_ssize_t
    lines: cython.double[::1]          # of each: a point and a direction; velocities to its left are allowed
    is_dropped: cython.uchar[::1]
    wanted_x: cython.double
    wanted_y: cython.double
    found_x: cython.double
    found_y: cython.double
    speed: cython.double
    turns: cython.bint                 # lines of characters that are met allow no velocity towards them

    def __init__(self, look_ahead_s: object = 1.0) -> None:     # as float, Cython would convert a bool
        self.look_ahead_s = finite_number("look_ahead_s", look_ahead_s, above=0)
        self.near_count, self.count = 0, 0
        self.near = memoryview(np.zeros(MOST_NEAR, np.int64))
        self.away = memoryview(np.zeros(MOST_NEAR, np.float64))
        self.lines = memoryview(np.zeros(4 * MOST_NEAR, np.float64))
        self.is_dropped = memoryview(np.zeros(MOST_NEAR, np.uint8))
        self.arrays = ()

    def __repr__(self) -> str:
        return f"<LocalAvoidance bodies={self.count} look_ahead_s={self.look_ahead_s:g}>"

    def set_bodies(self, positions, velocities, speeds, radii) -> None:
        """Set the arrays of all characters; they are referenced, not copied, in any unit of length.

        Args:
            positions: float32, shape (n, 2) or (n, 3); in 3D y is up, and characters on other floors do not meet.
            velocities: float64, shape (n, 2), present velocities in the plane (per s).
            speeds: float64, shape (n,), highest speeds (per s).
            radii: float64, shape (n,), half the widths.

        Raises:
            TypeError: if an argument is no array of this type.
            ValueError: if an array has another shape, or is not contiguous.
        """
        for name, one, dtype in (("positions", positions, np.float32), ("velocities", velocities, np.float64),
                                 ("speeds", speeds, np.float64), ("radii", radii, np.float64)):
            wanted = np.dtype(dtype).name
            if not isinstance(one, np.ndarray) or one.dtype != dtype:
                raise TypeError(
                    f"{name} must be an array of {wanted}, got {shown(one)}; use np.array({name}, np.{wanted})")
            if not one.flags.c_contiguous:
                raise ValueError(f"{name} must be contiguous; use np.ascontiguousarray({name})")
        if positions.ndim != 2 or positions.shape[1] not in (2, 3):
            raise ValueError(f"positions must be rows of 2 or 3, got shape {positions.shape}")
        count = len(positions)
        for name, one, shape in (
                ("velocities", velocities, (count, 2)), ("speeds", speeds, (count,)), ("radii", radii, (count,))):
            if one.shape != shape:
                raise ValueError(f"{name} must have shape {shape} for {count} positions, got {one.shape}")
        self.count, self.dimensions = 0, positions.shape[1]
        self.positions = memoryview(positions.reshape(-1))
        self.velocities, self.speeds, self.radii = (
            memoryview(velocities.reshape(-1)), memoryview(speeds), memoryview(radii))
        self.order, self.rank = memoryview(np.arange(count)), memoryview(np.arange(count))
        is_near = np.zeros(count, np.uint8)
        self.is_near = memoryview(is_near)
        self.arrays = (positions, velocities, speeds, radii, is_near)
        self.count, self.last = count, self.dimensions - 1

    def find_near(self):
        """Return the rows of characters that could meet another within the time that is looked ahead, int64.

        Cost: O(n log n), and the number of pairs at nearly equal first coordinates.
        """
        if self.count < 2:
            return np.zeros(0, np.int64)
        self.order = memoryview(np.argsort(self.arrays[0][:, 0], kind="stable").astype(np.int64, copy=False))
        self.mark_near()
        return np.flatnonzero(self.arrays[4])

    def steer(
        self, row: int, wanted_x: float, wanted_y: float, speed: float, goal_x: float = NAN, goal_y: float = NAN,
    ) -> tuple:
        """Return the allowed velocity nearest to a wanted one, as (x, y) in the plane.

        At most ``MOST_NEAR`` characters are avoided, the nearest ones. A character that stands at the goal is not, as
        it is the target or is in its place; nor is what would be met only after the goal.

        Args:
            row: the character that walks; ``find_near`` returned it in this frame.
            wanted_x, wanted_y: wanted velocity (per s).
            speed: its highest speed (per s), 0 or more.
            goal_x, goal_y: its goal, in the plane; NaN for none.

        Raises:
            IndexError: if there is no such row.
            ValueError: if a number is not finite, or the speed is negative.

        Cost: O(characters within reach).
        """
        if not 0 <= row < self.count:
            raise IndexError(f"row must be from 0 to {self.count - 1}, got {row}")
        if not (wanted_x - wanted_x == 0 and wanted_y - wanted_y == 0 and 0 <= speed < INFINITE):
            raise ValueError(
                "wanted velocity and speed must be finite, the speed 0 or more,"
                f" got {wanted_x}, {wanted_y} and {speed}")
        self.select_near(row, goal_x, goal_y)
        self.wanted_x, self.wanted_y, self.speed = wanted_x, wanted_y, speed
        ahead_s: cython.double = self.look_ahead_s
        at: cython.Py_ssize_t = row * self.dimensions
        x: cython.double = goal_x - self.coordinate(at)
        y: cython.double = goal_y - self.coordinate(at + self.last)
        length: cython.double = sqrt(x * x + y * y)
        if length < ahead_s * self.speed:       # never for a goal of NaN
            ahead_s = max(LEAST_S, length / self.speed)
        self.solve(row, ahead_s)
        return self.found_x, self.found_y

    def standing_at(self, row: int, goal_x: float, goal_y: float, within: float = 0.0) -> int:
        """Return how many characters stand at a goal, if they leave no room for one that comes to them; otherwise 0.

        They leave none if it touches one that stands at the goal, or one that stands in a row of others before the
        goal, each nearer to it and touched by the one behind.

        Args:
            row: the character that comes; ``find_near`` returned it in this frame.
            goal_x, goal_y: the goal, in the plane.
            within: distance of the goal within which a character stands at it, 0 or more; its radius, if that is more.

        Raises:
            IndexError: if there is no such row.

        Cost: O(characters within reach).
        """
        if not 0 <= row < self.count:
            raise IndexError(f"row must be from 0 to {self.count - 1}, got {row}")
        return self.count_at(row, goal_x, goal_y, within)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_at(
        self, row: cython.Py_ssize_t, goal_x: cython.double, goal_y: cython.double, within: cython.double,
    ) -> cython.Py_ssize_t:
        """Follow the row of standing characters to the goal, and count those at it; 0 if it does not lead there."""
        last: cython.Py_ssize_t = row
        while not self.is_at(last, goal_x, goal_y, within) or last == row:
            ahead: cython.Py_ssize_t = self.touched_before(last, goal_x, goal_y)
            if ahead < 0:
                return 0
            last = ahead
        most: cython.double = max(within, self.thickest)
        found: cython.Py_ssize_t = 0
        for second in range(self.first_from(last, goal_x - most), self.count):
            other = cython.cast(cython.Py_ssize_t, self.order[second])
            if self.coordinate(other * self.dimensions) - goal_x > most:
                break
            found += self.is_at(other, goal_x, goal_y, within) and self.squared_distance(last, other) >= 0
        return found

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def first_from(self, row: cython.Py_ssize_t, x: cython.double) -> cython.Py_ssize_t:
        """Return the place in the order, up to that of a character, of the first whose coordinate is at least x."""
        first: cython.Py_ssize_t = self.rank[row]
        while first > 0 and self.coordinate(
                cython.cast(cython.Py_ssize_t, self.order[first - 1]) * self.dimensions) >= x:
            first -= 1
        return first

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def squared_to(self, row: cython.Py_ssize_t, x: cython.double, y: cython.double) -> cython.double:
        """Return the squared distance of a character to a position in the plane."""
        at: cython.Py_ssize_t = row * self.dimensions
        to_x: cython.double = self.coordinate(at) - x
        to_y: cython.double = self.coordinate(at + self.last) - y
        return to_x * to_x + to_y * to_y

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def stands(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether a character stands."""
        x: cython.double = self.velocities[2 * row]
        y: cython.double = self.velocities[2 * row + 1]
        slow: cython.double = STANDS * self.speeds[row]
        return x * x + y * y <= slow * slow

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_at(
        self, row: cython.Py_ssize_t, x: cython.double, y: cython.double, within: cython.double,
    ) -> cython.bint:
        """Return whether a character stands at a goal."""
        most: cython.double = max(within, self.radii[row])
        return self.stands(row) and self.squared_to(row, x, y) <= most * most

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def touched_before(self, row: cython.Py_ssize_t, x: cython.double, y: cython.double) -> cython.Py_ssize_t:
        """Return the standing character nearest to a goal that a character nearly touches; -1 if none is nearer."""
        best: cython.Py_ssize_t = -1
        least: cython.double = self.squared_to(row, x, y)
        here: cython.double = self.coordinate(row * self.dimensions)
        most: cython.double = TOUCHES * (self.radii[row] + self.thickest)
        for second in range(self.first_from(row, here - most), self.count):
            other = cython.cast(cython.Py_ssize_t, self.order[second])
            if self.coordinate(other * self.dimensions) - here > most:
                break
            if self.touches(row, other) and self.squared_to(other, x, y) < least:     # not the character itself
                best, least = other, self.squared_to(other, x, y)
        return best

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def touches(self, row: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether another character stands so near that nothing fits between."""
        both: cython.double = TOUCHES * (self.radii[row] + self.radii[other])
        squared: cython.double = self.squared_distance(row, other)
        return 0 <= squared <= both * both and self.stands(other)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def coordinate(self, at: cython.Py_ssize_t) -> cython.double:
        """Return a coordinate with 64 bits, so that interpreted and compiled loops compute the same."""
        return cython.cast(cython.double, self.positions[at])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def reach(self, row: cython.Py_ssize_t) -> cython.double:
        """Return the distance that a character covers within the time that is looked ahead, and half its width."""
        return self.speeds[row] * self.look_ahead_s + self.radii[row]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def squared_distance(self, row: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.double:
        """Return the squared distance of two characters in the plane; -1 if they are on different floors."""
        one: cython.Py_ssize_t = row * self.dimensions
        two: cython.Py_ssize_t = other * self.dimensions
        if self.dimensions == 3 and fabs(self.coordinate(one + 1) - self.coordinate(two + 1)) > SAME_FLOOR:
            return -1.0
        x: cython.double = self.coordinate(two) - self.coordinate(one)
        y: cython.double = self.coordinate(two + self.last) - self.coordinate(one + self.last)
        return x * x + y * y

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark_near(self) -> cython.void:
        """Mark each pair of characters within reach of each other."""
        self.widest = self.thickest = 0
        for row in range(self.count):
            self.is_near[row] = 0
            self.thickest = max(self.thickest, self.radii[row])
            self.widest = max(self.widest, self.reach(row))
        for first in range(self.count):
            row = cython.cast(cython.Py_ssize_t, self.order[first])
            self.rank[row] = first
            x: cython.double = self.coordinate(row * self.dimensions)
            own: cython.double = self.reach(row)
            for second in range(first + 1, self.count):
                other = cython.cast(cython.Py_ssize_t, self.order[second])
                if self.coordinate(other * self.dimensions) - x > own + self.widest:
                    break
                both: cython.double = own + self.reach(other)
                squared: cython.double = self.squared_distance(row, other)
                if 0 <= squared < both * both:
                    self.is_near[row] = self.is_near[other] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def select_near(self, row: cython.Py_ssize_t, goal_x: cython.double, goal_y: cython.double) -> cython.void:
        """Find the nearest characters within reach, among those with nearly the same first coordinate."""
        most: cython.double = self.reach(row) + self.widest
        x: cython.double = self.coordinate(row * self.dimensions)
        first: cython.Py_ssize_t = self.rank[row]
        self.near_count = 0
        for second in range(first + 1, self.count):
            other = cython.cast(cython.Py_ssize_t, self.order[second])
            if self.coordinate(other * self.dimensions) - x > most:
                break
            self.consider(row, other, goal_x, goal_y)
        second = first - 1
        while second >= 0:
            other = cython.cast(cython.Py_ssize_t, self.order[second])
            if x - self.coordinate(other * self.dimensions) > most:
                break
            self.consider(row, other, goal_x, goal_y)
            second -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def consider(
        self, row: cython.Py_ssize_t, other: cython.Py_ssize_t, goal_x: cython.double, goal_y: cython.double,
    ) -> cython.void:
        """Insert a character into the selection by its distance, of equal ones the smaller row first."""
        squared: cython.double = self.squared_distance(row, other)
        both: cython.double = self.reach(row) + self.reach(other)
        if squared < 0 or squared >= both * both:
            return
        if self.squared_to(other, goal_x, goal_y) < self.radii[other] * self.radii[other]:     # never for one of NaN
            return
        place: cython.Py_ssize_t = self.near_count
        while place > 0 and (self.away[place - 1] > squared or (
                self.away[place - 1] == squared and self.near[place - 1] > other)):
            place -= 1
        if place == MOST_NEAR:
            return
        if self.near_count < MOST_NEAR:
            self.near_count += 1
        number: cython.Py_ssize_t = self.near_count - 1
        while number > place:
            self.near[number], self.away[number] = self.near[number - 1], self.away[number - 1]
            number -= 1
        self.near[place], self.away[place] = other, squared

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self, row: cython.Py_ssize_t, ahead_s: cython.double) -> cython.void:
        """Find the allowed velocity: by turning, or in a crowd, where lines contradict each other, by slowing."""
        self.turns = True
        if not self.obey_lines(row, ahead_s):
            self.turns = False
            self.obey_lines(row, ahead_s)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def obey_lines(self, row: cython.Py_ssize_t, ahead_s: cython.double) -> cython.bint:
        """Find the allowed velocity nearest to the wanted one; return whether no line was dropped.

        A line is dropped where it contradicts those of nearer characters.
        """
        obeyed: cython.bint = True
        length: cython.double = sqrt(self.wanted_x * self.wanted_x + self.wanted_y * self.wanted_y)
        share: cython.double = min(1.0, self.speed / max(SMALL, length))
        self.found_x, self.found_y = self.wanted_x * share, self.wanted_y * share
        for number in range(self.near_count):
            self.is_dropped[number] = 0
            self.draw_line(row, cython.cast(cython.Py_ssize_t, self.near[number]), number, ahead_s)
            at: cython.Py_ssize_t = 4 * number
            off: cython.double = (
                self.lines[at + 2] * (self.lines[at + 1] - self.found_y)
                - self.lines[at + 3] * (self.lines[at] - self.found_x))
            if off > 0:
                self.move_to_line(number)
                obeyed = obeyed and not self.is_dropped[number]
        return obeyed

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_line(
        self, row: cython.Py_ssize_t, other: cython.Py_ssize_t, number: cython.Py_ssize_t, ahead_s: cython.double,
    ) -> cython.void:
        """Write the line of a near character: through the own velocity and its share of the least evasion."""
        one: cython.Py_ssize_t = row * self.dimensions
        two: cython.Py_ssize_t = other * self.dimensions
        px: cython.double = self.coordinate(two) - self.coordinate(one)
        py: cython.double = self.coordinate(two + self.last) - self.coordinate(one + self.last)
        other_x: cython.double = self.velocities[2 * other]
        other_y: cython.double = self.velocities[2 * other + 1]
        vx: cython.double = self.velocities[2 * row] - other_x
        vy: cython.double = self.velocities[2 * row + 1] - other_y
        wide: cython.double = self.radii[row] + self.radii[other]
        squared: cython.double = px * px + py * py
        share: cython.double = 1.0 if self.stands(other) else 0.5
        overlap: cython.bint = squared <= wide * wide
        if overlap:
            ahead_s = APART_S
        wx: cython.double = vx - px / ahead_s       # from the position that the other comes to
        wy: cython.double = vy - py / ahead_s
        length: cython.double = sqrt(wx * wx + wy * wy)
        along: cython.double = wx * px + wy * py
        if overlap or (
                along < 0 and along * along > wide * wide * length * length
                and not (self.turns and self.meets(px, py, other_x, other_y, wide, ahead_s))):
            if length < SMALL:
                wx, wy, length = (1.0 if row < other else -1.0), 0.0, 1.0
                out: cython.double = wide / ahead_s
            else:
                out = wide / ahead_s - length
            wx, wy = wx / length, wy / length
            ux: cython.double = out * wx
            uy: cython.double = out * wy
            dx: cython.double = wy
            dy: cython.double = -wx
        else:
            leg: cython.double = sqrt(squared - wide * wide)
            if px * wy - py * wx > 0:
                dx, dy = (px * leg - py * wide) / squared, (px * wide + py * leg) / squared
            else:
                dx, dy = -(px * leg + py * wide) / squared, (px * wide - py * leg) / squared
            ahead: cython.double = vx * dx + vy * dy
            ux, uy = ahead * dx - vx, ahead * dy - vy
        at: cython.Py_ssize_t = 4 * number
        self.lines[at] = self.velocities[2 * row] + share * ux
        self.lines[at + 1] = self.velocities[2 * row + 1] + share * uy
        self.lines[at + 2], self.lines[at + 3] = dx, dy

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def meets(
        self, px: cython.double, py: cython.double, other_x: cython.double, other_y: cython.double,
        wide: cython.double, ahead_s: cython.double,
    ) -> cython.bint:
        """Return whether the wanted velocity leads to a collision in time: then it turns, as slowing would not help."""
        vx: cython.double = self.wanted_x - other_x
        vy: cython.double = self.wanted_y - other_y
        squared: cython.double = vx * vx + vy * vy
        nearing: cython.double = px * vx + py * vy
        room: cython.double = nearing * nearing - squared * (px * px + py * py - wide * wide)
        return nearing > 0 and room > 0 and nearing - sqrt(room) < ahead_s * squared

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move_to_line(self, number: cython.Py_ssize_t) -> cython.void:
        """Take the velocity of a line that is nearest to the wanted one and allowed by the lines before it."""
        at: cython.Py_ssize_t = 4 * number
        x, y, dx, dy = self.lines[at], self.lines[at + 1], self.lines[at + 2], self.lines[at + 3]
        along: cython.double = x * dx + y * dy
        room: cython.double = along * along + self.speed * self.speed - (x * x + y * y)
        if room < 0:                        # too fast: at full speed away from the line
            self.is_dropped[number] = 1
            if number == 0:
                self.found_x, self.found_y = -dy * self.speed, dx * self.speed
            return
        low: cython.double = -along - sqrt(room)
        high: cython.double = -along + sqrt(room)
        for before in range(number):
            if self.is_dropped[before]:
                continue
            to: cython.Py_ssize_t = 4 * before
            sine: cython.double = dx * self.lines[to + 3] - dy * self.lines[to + 2]
            off: cython.double = (
                self.lines[to + 2] * (y - self.lines[to + 1]) - self.lines[to + 3] * (x - self.lines[to]))
            if fabs(sine) <= PARALLEL:
                if off < 0:
                    low = high + 1
            elif sine > 0:
                high = min(high, off / sine)
            else:
                low = max(low, off / sine)
            if low > high:
                self.is_dropped[number] = 1
                return
        best: cython.double = min(high, max(low, dx * (self.wanted_x - x) + dy * (self.wanted_y - y)))
        self.found_x, self.found_y = x + best * dx, y + best * dy


@cython.final
@cython.cclass
class AvoidanceGroup:
    """Characters of a ``LocalAvoidance`` that move at once, such as a squad; valid until ``set_bodies``.

    It keeps views of the arrays: creating them takes longer than steering a small group.

    Args:
        avoidance: the avoidance.
        rows: int64, shape (k,), the rows of the characters; -1 for one that has none.
        wanted: float64, shape (k, 2) or (k, 3), wanted velocities; in 3D a vertical part is kept.
        speeds: float64, shape (k,), highest speeds.
        out: float64, of the shape of ``wanted``, overwritten by each ``steer``.

    Raises:
        ValueError: if an array has another shape or type, or is not contiguous.
        IndexError: if there is no such row.
    """

    avoidance: LocalAvoidance
    arrays: tuple
    bodies: tuple
    rows: cython.longlong[::1]
    wanted: cython.double[::1]
    speeds: cython.double[::1]
    out: cython.double[::1]
    count: cython.Py_ssize_t

    def __init__(self, avoidance: LocalAvoidance, rows, wanted, speeds, out) -> None:
        count = len(rows)
        if wanted.shape != (count, avoidance.dimensions) or out.shape != wanted.shape or speeds.shape != (count,):
            raise ValueError(
                f"{count} rows need velocities of shape {(count, avoidance.dimensions)}, got {wanted.shape},"
                f" {out.shape} and speeds {speeds.shape}")
        if count and not -1 <= rows.min() <= rows.max() < avoidance.count:
            raise IndexError(f"rows must be from -1 to {avoidance.count - 1}, got {rows.min()} to {rows.max()}")
        if not (wanted.flags.c_contiguous and out.flags.c_contiguous):
            raise ValueError("wanted and out must be contiguous")
        self.avoidance, self.arrays, self.bodies, self.count = avoidance, (wanted, speeds, out), avoidance.arrays, count
        self.rows, self.speeds = memoryview(rows), memoryview(speeds)
        self.wanted, self.out = memoryview(wanted.reshape(-1)), memoryview(out.reshape(-1))

    def __repr__(self) -> str:
        return f"<AvoidanceGroup rows={self.count} avoidance={self.avoidance!r}>"

    def is_of(self, wanted, speeds) -> bool:
        """Return whether the group was created with these arrays."""
        return self.arrays[0] is wanted and self.arrays[1] is speeds

    def steer(self, unit: float):
        """Return ``out`` with the allowed velocities; the wanted ones become the present ones of the characters.

        Args:
            unit: length of the unit of ``wanted`` and ``speeds`` in that of the positions.

        Raises:
            RuntimeError: if ``set_bodies`` was called since.

        Cost: O(k times characters within reach).
        """
        if self.bodies is not self.avoidance.arrays:
            raise RuntimeError("the bodies were set again; create the group again")
        self.steer_rows(unit)
        return self.arrays[2]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def steer_rows(self, unit: cython.double) -> cython.void:
        """Write the allowed velocities."""
        nowhere: cython.double = NAN
        dimensions: cython.Py_ssize_t = self.avoidance.dimensions
        last: cython.Py_ssize_t = self.avoidance.last
        for number in range(self.count):
            row = cython.cast(cython.Py_ssize_t, self.rows[number])
            at: cython.Py_ssize_t = number * dimensions
            if row >= 0:
                self.avoidance.velocities[2 * row] = self.wanted[at] * unit
                self.avoidance.velocities[2 * row + 1] = self.wanted[at + last] * unit
        for number in range(self.count):
            row = cython.cast(cython.Py_ssize_t, self.rows[number])
            at = number * dimensions
            for axis in range(at, at + dimensions):
                self.out[axis] = self.wanted[axis]
            if row < 0 or not self.avoidance.is_near[row] or (self.wanted[at] == 0 and self.wanted[at + last] == 0):
                continue
            self.avoidance.select_near(row, nowhere, nowhere)
            self.avoidance.wanted_x = self.avoidance.velocities[2 * row]
            self.avoidance.wanted_y = self.avoidance.velocities[2 * row + 1]
            self.avoidance.speed = self.speeds[number] * unit
            self.avoidance.solve(row, self.avoidance.look_ahead_s)
            self.out[at], self.out[at + last] = self.avoidance.found_x / unit, self.avoidance.found_y / unit
