# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# mypy: ignore-errors
"""Sensors in reach of sources and signals: the hot loops of the senses.

A rough test of squared distances, in single precision over columns of positions, finds candidates; each
of them is tested exactly, by float64 in a fixed order: a product and a sum are never fused.
"""
from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, isfinite, log, pow, sqrt

from ai_core.senses.sensation import Signal
from ai_core.senses.sight.sight_cones import aside_of

__all__ = ["BORDER_TOLERANCE", "NO_CONE", "NO_RIGHT", "Reached", "SightLoops"]

Reached = tuple[list[int], list[float], list[float]]
"""The sensors that sense a signal, by slot: slots, distances (m), intensities."""

NO_CONE = -1
"""Index that means "in none of the cones"."""

BORDER_TOLERANCE = 1e-6
"""Slack by which a target on a cone's border counts as inside (as a share).

Positions are float32, exact to about 1e-7 of their size. Smaller, and targets placed on the border by hand fall outside
by rounding; larger moves the border of a narrow cone by visible amounts.
"""

NO_RIGHT = 1e-6
"""Length of ``forward x up`` below which a sensor faces straight up or down (no unit).

float32 does not distinguish smaller lengths from straight up: the right is noise then.
"""

ID_BITS = cython.declare(cython.int, 31)            # of a source id in a key: pairs_in_view.ID_BITS
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
FEW_TARGETS = cython.declare(cython.Py_ssize_t, 16)  # targets up to which the rough test of each costs more (count)
MANY_TARGETS = cython.declare(cython.Py_ssize_t, 64)  # targets of which some is near any sensor (count)
INFINITY = cython.declare(cython.double, float("inf"))
ROUGHLY = cython.declare(cython.double, 1e-6)           # slack of logarithms, which float64 rounds to 1e-13
TOLERANCE = cython.declare(cython.double, BORDER_TOLERANCE)
VERTICAL = cython.declare(cython.double, NO_RIGHT)
SLACK = cython.declare(cython.double, 1.0001)           # factor on reaches, above rounding and the tolerance of borders
LEAST_M2 = cython.declare(cython.double, 1e-37)         # what float32 counts as 0 (m²)
BEHIND = cython.declare(cython.double, 1e-8)            # squared share of the distance, far above BORDER_TOLERANCE
# Numbers of a target: its position (m), strength, its logarithm, size (as if it were so many times nearer), limit of
# the squared distance (m², above rounding), id.
X = cython.declare(cython.Py_ssize_t, 0)
Y = cython.declare(cython.Py_ssize_t, 1)
Z = cython.declare(cython.Py_ssize_t, 2)
STRENGTH = cython.declare(cython.Py_ssize_t, 3)
LOG_STRENGTH = cython.declare(cython.Py_ssize_t, 4)
SIZE = cython.declare(cython.Py_ssize_t, 5)
LIMIT = cython.declare(cython.Py_ssize_t, 6)
ID = cython.declare(cython.Py_ssize_t, 7)


def shown(name, array, dtype, *least):
    """Return a view of an array that is at least so long in each dimension."""
    if array.dtype != dtype or array.ndim != len(least) or not array.flags.c_contiguous or any(
            have < wanted for have, wanted in zip(array.shape, least, strict=True)):
        raise ValueError(f"{name} must be {dtype.__name__} of at least shape {least} in one run of memory")
    return memoryview(array)


@cython.cfunc
@cython.exceptval(check=False)
def mark_near(
    places: cython.float[:, ::1], count: cython.Py_ssize_t, x: cython.float, y: cython.float, z: cython.float,
    reach_m: cython.double, marks: cython.uchar[::1],
) -> cython.void:
    """Mark the first ``count`` places that may be in reach of a point."""
    i: cython.Py_ssize_t
    dx: cython.float
    dy: cython.float
    dz: cython.float
    limit: cython.float = reach_m * reach_m * SLACK + LEAST_M2
    for i in range(count):
        dx, dy, dz = places[0, i] - x, places[1, i] - y, places[2, i] - z
        marks[i] |= dx * dx + dy * dy + dz * dz <= limit


@cython.cfunc
@cython.exceptval(check=False)
def list_marked(
    marks: cython.uchar[::1], eights: cython.ulonglong[::1], groups: cython.int[::1], numbers: cython.int[::1],
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write the numbers of marked places, and clear the marks; return how many there are.

    Without branches, which the processor would guess wrong.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    some: cython.Py_ssize_t = 0
    found: cython.Py_ssize_t = 0
    for k in range((count + 7) // 8):
        groups[some] = k
        some += eights[k] != 0
    for k in range(some):
        for i in range(8 * groups[k], 8 * groups[k] + 8):
            numbers[found] = i
            found += marks[i]
        eights[groups[k]] = 0
    return found


@cython.cfunc
@cython.exceptval(check=False)
def have_rows(ids: cython.const[cython.int][::1], rows: cython.Py_ssize_t) -> cython.bint:
    """Return whether all ids have a row: loops read memory by them."""
    i: cython.Py_ssize_t
    is_bad: cython.int = 0
    for i in range(ids.shape[0]):
        is_bad |= (ids[i] < 0) | ((ids[i] & SLOT_MASK) >= rows)
    return not is_bad


@cython.final
@cython.cclass
class RoughTest:
    """Marks of places that may be near a point, and their numbers."""

    room: cython.Py_ssize_t
    marks: cython.uchar[::1]
    eights: cython.ulonglong[::1]   # the same, eight at a time
    groups: cython.int[::1]         # of eight marks, those with any
    numbers: cython.int[::1]        # of marked places, ascending

    def __init__(self) -> None:
        self.room = 0

    @cython.cfunc
    def fit(self, count: cython.Py_ssize_t):
        if count > self.room:
            self.room = max(64, 2 * count)
            eights = np.zeros((self.room + 7) // 8, np.uint64)
            self.marks, self.eights = memoryview(eights.view(np.uint8)), memoryview(eights)
            self.groups = memoryview(np.zeros(self.room + 8, np.int32))
            self.numbers = memoryview(np.zeros(self.room + 8, np.int32))

    @cython.cfunc
    @cython.exceptval(check=False)
    def list_all(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        return list_marked(self.marks, self.eights, self.groups, self.numbers, count)


@cython.final
@cython.cclass
class SightLoops:
    """Views of the columns of one table of sensors and of what it was asked for last, and room for one question.

    ``up`` is the up direction of all sensors, of unit length.

    Views are made when an array is another than in the question before: they cost more than a short question.
    """

    # What is viewed: the arrays of sensors, of sources, and of the last call.
    sensor_layout: object
    source_layout: object
    arguments: tuple
    # Sensors, by slot; columns of axes and modalities first.
    position: cython.float[:, ::1]
    threshold: cython.double[:, ::1]
    log_threshold: cython.double[:, ::1]
    own_threshold: cython.double[:, ::1]
    sensitivity: cython.double[:, ::1]
    forward: cython.float[:, ::1]
    cones: cython.double[:, :, ::1]
    detection_mask: cython.longlong[::1]
    self_source: cython.longlong[::1]
    rows: cython.Py_ssize_t
    # Sources, by slot.
    source_position: cython.float[:, ::1]
    source_strength: cython.double[:, ::1]
    source_affiliation: cython.longlong[::1]
    source_size: cython.double[::1]
    source_rows: cython.Py_ssize_t
    # Arguments.
    sensor_ids: cython.const[cython.int][::1]
    source_ids: cython.const[cython.int][::1]
    # Pairs that are found.
    found: tuple
    keys: cython.longlong[::1]
    intensities: cython.double[::1]
    # Sources that show themselves: a cache line for each, with the numbers X to ID.
    target_room: cython.Py_ssize_t
    target: cython.double[:, ::1]
    target_places: cython.float[:, ::1]         # (3, targets), for the rough test of many
    targets: cython.Py_ssize_t
    largest: cython.double
    # Rough test.
    near: RoughTest                             # of sensors
    near_targets: RoughTest
    # The modality in question.
    kind: object
    number: cython.Py_ssize_t
    range_m: cython.double
    kept_per_m: cython.double
    log_kept_per_m: cython.double
    needs_cone: cython.bint
    log_acuity: cython.double                   # of the cone that makes targets strongest
    farthest_m: cython.double                   # from which anything of size 1 may be sensed
    up_x: cython.double
    up_y: cython.double
    up_z: cython.double
    aside_x: cython.double
    aside_y: cython.double
    aside_z: cython.double
    # The sensor in question: position, directions, squared reach of its cones, and of those that reach behind it.
    eye_x: cython.double
    eye_y: cython.double
    eye_z: cython.double
    right_x: cython.double
    right_y: cython.double
    right_z: cython.double
    above_x: cython.double
    above_y: cython.double
    above_z: cython.double
    ahead_x: cython.double
    ahead_y: cython.double
    ahead_z: cython.double
    eye_log_threshold: cython.double
    is_prepared: cython.bint
    farthest: cython.double
    behind: cython.double

    def __init__(self, up=(0.0, 1.0, 0.0)) -> None:
        self.up_x, self.up_y, self.up_z = up
        self.aside_x, self.aside_y, self.aside_z = aside_of(np.array(up)).tolist()
        self.sensor_layout = self.source_layout = None
        self.arguments, self.found = (None, None), (np.zeros(0, np.int64), np.zeros(0))
        self.target_room = 0
        self.near, self.near_targets, self.kind = RoughTest(), RoughTest(), None

    # Views and room.

    @cython.cfunc
    def view_sensors(self, sensors):
        layout = sensors.layout
        if layout is self.sensor_layout:
            return
        self.sensor_layout = None
        rows: cython.Py_ssize_t = len(sensors.position)
        senses: cython.Py_ssize_t = sensors.threshold.shape[1]
        self.position = shown("position", sensors.position.T, np.float32, 3, rows)
        self.threshold = shown("threshold", sensors.threshold.T, np.float64, senses, rows)
        self.log_threshold = shown("log_threshold", sensors.log_threshold.T, np.float64, senses, rows)
        self.own_threshold = shown("own_threshold", sensors.own_threshold, np.float64, rows, senses)
        self.sensitivity = shown("sensitivity", sensors.sensitivity, np.float64, rows, senses)
        self.forward = shown("forward", sensors.forward, np.float32, rows, 3)
        self.cones = shown("cones", sensors.cones, np.float64, rows, 0, 4)
        self.detection_mask = shown("detection_mask", sensors.detection_mask, np.int64, rows)
        self.self_source = shown("self_source", sensors.self_source, np.int64, rows)
        self.rows, self.sensor_layout = rows, layout

    def put_sensor(
        self, sensors, slot: cython.Py_ssize_t, place: tuple, forward: tuple, levels: list, log_levels: list,
        cones: list, mask: cython.longlong, own: cython.longlong,
    ):
        """Write a row of a table of sensors.

        Args:
            forward: not all 0.
            levels, log_levels: threshold in each modality, and its logarithm.
            cones: numbers of its cones, one cone after the other; at most as many as the table has room for.
            mask: affiliations that it senses, as bits.
            own: id of its own source, or ``NO_SOURCE``.
        """
        self.view_sensors(sensors)
        number: cython.Py_ssize_t
        x: cython.float = forward[0]
        y: cython.float = forward[1]
        z: cython.float = forward[2]
        length: cython.double = sqrt(
            cython.cast(cython.double, x) * x + cython.cast(cython.double, y) * y + cython.cast(cython.double, z) * z)
        self.forward[slot, 0], self.forward[slot, 1], self.forward[slot, 2] = x / length, y / length, z / length
        for number in range(3):
            self.position[number, slot] = place[number]
        for number in range(self.threshold.shape[0]):
            self.own_threshold[slot, number] = self.threshold[number, slot] = levels[number]
            self.log_threshold[number, slot] = log_levels[number]
            self.sensitivity[slot, number] = 1.0
        for number in range(self.cones.shape[1] * 5):
            self.cones[slot, number // 5, number % 5] = (
                cones[number] if number < len(cones) else -1.0 if number % 5 == 0 else 0.0)
        self.detection_mask[slot], self.self_source[slot] = mask, own

    @cython.cfunc
    def view_sources(self, sources):
        layout = sources.layout
        if layout is self.source_layout:
            return
        self.source_layout = None
        rows: cython.Py_ssize_t = len(sources.position)
        self.source_position = shown("position", sources.position.T, np.float32, 3, rows)
        self.source_strength = shown("strength", sources.strength, np.float64, rows, 0)
        self.source_affiliation = shown("affiliation", sources.affiliation, np.int64, rows)
        self.source_size = shown("size", sources.size, np.float64, rows)
        self.source_rows, self.source_layout = rows, layout

    @cython.cfunc
    def view_arguments(self, sensor_ids, source_ids):
        before = self.arguments
        self.arguments = (None, None)
        if sensor_ids is not before[0]:
            self.sensor_ids = memoryview(sensor_ids)
        if source_ids is not before[1]:
            self.source_ids = memoryview(source_ids)
        self.arguments = (sensor_ids, source_ids)

    @cython.cfunc
    def fit(self, sensors: cython.Py_ssize_t, targets: cython.Py_ssize_t):
        """Make room for so many sensors and targets, and all pairs of them."""
        if sensors * targets > len(self.found[0]):
            self.found = np.zeros(sensors * targets, np.int64), np.zeros(sensors * targets)
            self.keys, self.intensities = memoryview(self.found[0]), memoryview(self.found[1])
        if targets > self.target_room:
            self.target_room = max(16, 2 * targets)
            self.target = memoryview(np.zeros((self.target_room, ID + 1)))
            self.target_places = memoryview(np.zeros((3, self.target_room), np.float32))
        self.near.fit(self.rows)
        self.near_targets.fit(targets)

    @cython.cfunc
    def set_way(self, range_m: cython.double, kept_per_m: cython.double):
        """Set how signals travel that are tested from now on."""
        self.range_m, self.kept_per_m = range_m, kept_per_m
        self.log_kept_per_m = log(kept_per_m) if kept_per_m > 0 else -INFINITY

    @cython.cfunc
    def set_sense(self, number: cython.Py_ssize_t, kind, most_acuity: cython.double):
        self.number = number
        if kind is not self.kind:
            self.kind = None
            self.needs_cone = kind.needs_cone
            self.set_way(kind.range_m, kind.kept_per_m)
            self.kind = kind
        if not 0 <= self.number < self.threshold.shape[0]:
            raise IndexError(f"there is no modality {self.number}")
        self.log_acuity = log(most_acuity) if self.needs_cone and most_acuity > 1 else 0

    # Pairs of sensor and source.

    def pairs_in_reach(self, sensors, sensor_ids, sources, source_ids, number: cython.Py_ssize_t, kind) -> tuple:
        """Return the pairs of sensor and source that pass every test but the ray, valid until the next call.

        Args:
            sensor_ids, source_ids: (n,) and (m,) int32, in use.
            number: of a continuous modality, its column in the tables.

        Returns:
            Keys (int64), see ``pair_keys.keys_of``, in the order of sensors, then of sources; intensities (float64);
            and how many pairs there are: both arrays may be longer.

        Raises:
            IndexError: if an id has no row, or there is no such modality.
            ValueError: if an array has another type or shape.

        Cost: O(n * m).
        """
        count: cython.Py_ssize_t = 0
        self.view_arguments(sensor_ids, source_ids)
        self.view_sensors(sensors)
        self.view_sources(sources)
        self.set_sense(number, kind, sensors.most_acuity)
        if not have_rows(self.sensor_ids, self.rows) or not have_rows(self.source_ids, self.source_rows) or (
                self.number >= self.source_strength.shape[1]):
            raise IndexError("a sensor or source id has no row, or sources lack the modality")
        if self.sensor_ids.shape[0] and self.source_ids.shape[0]:
            self.fit(self.sensor_ids.shape[0], self.source_ids.shape[0])
            self.gather_targets()
            self.farthest_m = self.range_m
            if self.needs_cone:
                self.farthest_m = min(self.range_m, sensors.farthest_cone_m * SLACK)
            count = self.find_all()
        return self.found[0], self.found[1], count

    @cython.cfunc
    @cython.exceptval(check=False)
    def gather_targets(self) -> cython.void:
        """Copy the sources that show themselves into one run of memory."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t = 0
        axis: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        strength: cython.double
        reach_m: cython.double
        self.largest = 0
        for i in range(self.source_ids.shape[0]):
            slot = self.source_ids[i] & SLOT_MASK
            strength, reach_m = self.source_strength[slot, self.number], self.range_m * self.source_size[slot]
            if strength >= 0:
                for axis in range(3):
                    self.target[j, axis] = self.source_position[axis, slot]
                    if self.source_ids.shape[0] > FEW_TARGETS:
                        self.target_places[axis, j] = self.source_position[axis, slot]
                self.target[j, STRENGTH] = strength
                self.target[j, LOG_STRENGTH] = log(strength) if strength > 0 else -INFINITY
                self.target[j, SIZE], self.target[j, LIMIT] = self.source_size[slot], reach_m * reach_m * SLACK
                self.target[j, ID] = self.source_ids[i]
                self.largest = max(self.largest, self.source_size[slot])
                j += 1
        self.targets = j

    @cython.cfunc
    @cython.exceptval(check=False)
    def find_all(self) -> cython.Py_ssize_t:
        """Find the sensors near any target by the rough test; test the targets of those."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        is_rough: cython.bint = self.targets < MANY_TARGETS and self.sensor_ids.shape[0] > FEW_TARGETS
        if is_rough:
            for j in range(self.targets):
                mark_near(
                    self.position, self.rows, self.target[j, X], self.target[j, Y], self.target[j, Z],
                    self.farthest_m * self.target[j, SIZE], self.near.marks)
        for k in range(self.sensor_ids.shape[0]):
            if not is_rough or self.near.marks[self.sensor_ids[k] & SLOT_MASK]:
                count = self.add_pairs(self.sensor_ids[k], count)
        if is_rough:
            for k in range((self.rows + 7) // 8):
                self.near.eights[k] = 0
        return count

    @cython.cfunc
    @cython.exceptval(check=False)
    def add_pairs(self, sensor_id: cython.int, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the pairs of one sensor after the first ``count``; return how many there are then."""
        slot: cython.Py_ssize_t = sensor_id & SLOT_MASK
        found: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.is_prepared = False
        self.eye_x, self.eye_y, self.eye_z = self.position[0, slot], self.position[1, slot], self.position[2, slot]
        self.eye_log_threshold = self.log_threshold[self.number, slot] - self.log_acuity - ROUGHLY
        if self.targets <= FEW_TARGETS:
            for k in range(self.targets):
                count += self.add_pair(sensor_id, slot, k, count)
            return count
        mark_near(self.target_places, self.targets, self.eye_x, self.eye_y, self.eye_z, self.farthest_m * self.largest,
                  self.near_targets.marks)
        found = self.near_targets.list_all(self.targets)
        for k in range(found):
            count += self.add_pair(sensor_id, slot, self.near_targets.numbers[k], count)
        return count

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, slot: cython.Py_ssize_t) -> cython.bint:
        """Read the directions of a sensor, and how far its cones reach; return False if it lacks the sense."""
        k: cython.Py_ssize_t
        reach: cython.double
        if not isfinite(self.threshold[self.number, slot]):
            return False
        self.is_prepared = True
        self.farthest = self.behind = INFINITY
        if not self.needs_cone:
            return True
        self.farthest = self.behind = 0
        for k in range(self.cones.shape[1]):
            reach = max(0.0, self.cones[slot, k, 0]) * SLACK
            self.farthest = max(self.farthest, reach * reach)
            if self.cones[slot, k, 1] < 0:
                self.behind = max(self.behind, reach * reach)
        self.face(slot)
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def face(self, slot: cython.Py_ssize_t) -> cython.void:
        length: cython.double
        x: cython.double
        y: cython.double
        z: cython.double
        x, y, z = self.forward[slot, 0], self.forward[slot, 1], self.forward[slot, 2]
        self.ahead_x, self.ahead_y, self.ahead_z = x, y, z
        self.right_x = y * self.up_z - z * self.up_y
        self.right_y = z * self.up_x - x * self.up_z
        self.right_z = x * self.up_y - y * self.up_x
        length = sqrt(self.right_x * self.right_x + self.right_y * self.right_y + self.right_z * self.right_z)
        if length < VERTICAL:
            self.right_x, self.right_y, self.right_z = self.aside_x, self.aside_y, self.aside_z
        else:
            self.right_x, self.right_y = self.right_x / length, self.right_y / length
            self.right_z = self.right_z / length
        self.above_x = self.right_y * z - self.right_z * y
        self.above_y = self.right_z * x - self.right_x * z
        self.above_z = self.right_x * y - self.right_y * x

    @cython.cfunc
    @cython.exceptval(check=False)
    def add_pair(
        self, sensor_id: cython.int, slot: cython.Py_ssize_t, j: cython.Py_ssize_t, count: cython.Py_ssize_t,
    ) -> cython.int:
        """Write a pair and return 1 if it passes every test, else return 0."""
        dx: cython.double = self.target[j, X] - self.eye_x
        dy: cython.double = self.target[j, Y] - self.eye_y
        dz: cython.double = self.target[j, Z] - self.eye_z
        squared: cython.double = dx * dx + dy * dy + dz * dz
        size: cython.double = self.target[j, SIZE]
        sensed: cython.double = self.target[j, STRENGTH]
        source_id: cython.longlong = cython.cast(cython.longlong, self.target[j, ID])
        cone: cython.Py_ssize_t
        distance: cython.double
        # What leaves out most for least comes first.
        if squared > self.target[j, LIMIT]:
            return 0
        if size != 1:
            dx, dy, dz = dx / size, dy / size, dz / size
            squared = dx * dx + dy * dy + dz * dz
        if self.is_prepared and self.is_outside(dx, dy, dz, squared):
            return 0
        distance = sqrt(squared)
        if distance > self.range_m:
            return 0
        # Roughly, because a power costs most; not ">=", which is false for NaN.
        if self.kept_per_m != 1 and (
                self.target[j, LOG_STRENGTH] + distance * self.log_kept_per_m < self.eye_log_threshold):
            return 0
        if not self.is_prepared and (not self.prepare(slot) or self.is_outside(dx, dy, dz, squared)):
            return 0
        cone = self.cone_towards(slot, dx, dy, dz) if self.needs_cone else 0
        if cone < 0:
            return 0
        if self.self_source[slot] == source_id or not (
                self.detection_mask[slot] & self.source_affiliation[source_id & SLOT_MASK]):
            return 0
        if self.kept_per_m != 1:
            sensed = sensed * pow(self.kept_per_m, distance)
        if self.needs_cone:
            sensed = sensed * self.cones[slot, cone, 3]
        if not sensed >= self.threshold[self.number, slot]:
            return 0
        self.keys[count] = (cython.cast(cython.longlong, sensor_id) << ID_BITS) | source_id
        self.intensities[count] = sensed
        return 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_outside(
        self, dx: cython.double, dy: cython.double, dz: cython.double, squared: cython.double,
    ) -> cython.bint:
        """Return whether a target is surely in no cone, by the distance and whether it is behind the sensor."""
        ahead: cython.double
        if squared > self.farthest:
            return True
        if squared <= self.behind:
            return False
        ahead = self.ahead_x * dx + self.ahead_y * dy + self.ahead_z * dz
        return ahead < 0 and ahead * ahead > BEHIND * squared

    @cython.cfunc
    @cython.exceptval(check=False)
    def cone_towards(
        self, slot: cython.Py_ssize_t, dx: cython.double, dy: cython.double, dz: cython.double,
    ) -> cython.Py_ssize_t:
        """Return the first cone that contains a target; -1 if none does."""
        right: cython.double = self.right_x * dx + self.right_y * dy + self.right_z * dz
        above: cython.double = self.above_x * dx + self.above_y * dy + self.above_z * dz
        ahead: cython.double = self.ahead_x * dx + self.ahead_y * dy + self.ahead_z * dz
        across: cython.double = right * right + ahead * ahead
        distance: cython.double = sqrt(across + above * above)
        slack: cython.double = TOLERANCE * distance
        k: cython.Py_ssize_t
        across = sqrt(across)
        for k in range(self.cones.shape[1]):
            if (distance - slack <= self.cones[slot, k, 0]
                    and ahead + slack >= self.cones[slot, k, 1] * across
                    and fabs(above) - slack <= self.cones[slot, k, 2] * distance):
                return k
        return -1

    def cones_towards(self, sensors, slots, offsets) -> np.ndarray:
        """Return for each target the first of its sensor's cones that contains it, or ``NO_CONE``: (n,) int64.

        A target exactly where the sensor is lies in every cone. ``slots`` are (n,) int64; ``offsets`` (n, 3) float64,
        from each sensor to its target (m).

        Cost: O(n * cones).
        """
        i: cython.Py_ssize_t
        self.view_sensors(sensors)
        found = np.empty(len(slots), np.int64)
        cone: cython.longlong[::1] = memoryview(found)
        slot: cython.const[cython.longlong][::1] = memoryview(slots)
        offset: cython.const[cython.double][:, :] = memoryview(offsets)
        if offset.shape[0] != slot.shape[0] or offset.shape[1] != 3:
            raise ValueError("offsets must have a row of three coordinates for each slot")
        for i in range(slot.shape[0]):
            if not 0 <= slot[i] < self.rows:
                raise IndexError(f"there is no sensor in row {slot[i]}")
            self.face(slot[i])
            cone[i] = self.cone_towards(slot[i], offset[i, 0], offset[i, 1], offset[i, 2])
        return found

    # Signals at sensors.

    def sensors_reached(self, sensors, signal, kind) -> Reached:
        """Return the sensors that sense a ``Signal`` of a ``Modality``, as they stand now.

        Raises:
            IndexError: if there is no such modality.
            TypeError: if the signal is of another type.

        Cost: O(sensors), below 1 ns for a sensor far away.
        """
        n: cython.Py_ssize_t = sensors.ids.rows
        k: cython.Py_ssize_t
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        x: cython.double
        y: cython.double
        z: cython.double
        strength: cython.double
        log_strength: cython.double
        log_kept_per_m: cython.double
        distance: cython.double
        threshold: cython.double
        dx: cython.double
        dy: cython.double
        dz: cython.double
        self.view_sensors(sensors)
        if type(signal) is not Signal:
            raise TypeError(f"signal must be a Signal, got {signal!r}")
        _, source_id, number, strength, (x, y, z), _, affiliation, _, _ = signal
        if n > self.rows or not 0 <= number < self.threshold.shape[0]:
            raise IndexError(f"there is no modality {number}, or no row {n}")
        self.kind, source, mask = None, cython.cast(cython.longlong, source_id), cython.cast(
            cython.longlong, affiliation)
        self.set_way(kind.range_m, kind.kept_per_m)
        log_strength, log_kept_per_m = log(strength) if strength > 0 else -INFINITY, self.log_kept_per_m
        slots: list = []
        distances: list = []
        intensities: list = []
        self.near.fit(n)
        mark_near(self.position, n, x, y, z, self.range_m, self.near.marks)
        for k in range(self.near.list_all(n)):
            slot = self.near.numbers[k]
            dx, dy, dz = self.position[0, slot] - x, self.position[1, slot] - y, self.position[2, slot] - z
            distance, threshold = sqrt(dx * dx + dy * dy + dz * dz), self.threshold[number, slot]
            # Roughly first, because a power costs most; not ">=", which is false for NaN.
            if distance > self.range_m or (
                    log_strength + distance * log_kept_per_m < self.log_threshold[number, slot] - ROUGHLY):
                continue
            if not isfinite(threshold) or self.self_source[slot] == source or not self.detection_mask[slot] & mask:
                continue
            sensed: cython.double = strength if self.kept_per_m == 1 else strength * pow(self.kept_per_m, distance)
            if sensed >= threshold:
                slots.append(slot)
                distances.append(distance)
                intensities.append(sensed)
        return slots, distances, intensities
