# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# mypy: ignore-errors
"""Sensors in reach of sources and signals: the hot loops of the senses.

A rough test of squared distances, in single precision over columns of positions, finds candidates; each
of them is tested exactly. The exact tests do the same operations on float64 in the same order as
``sight_cones.cone_towards`` and ``modality.intensity_at``: a product and a sum are never fused.
"""
from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, isfinite, log, pow, sqrt

from ai_core.senses.stimuli.signal import Signal

__all__ = [
    "Reached", "SightLoops", "pairs_in_reach", "plain_signal", "signals_reached",
]

Reached = tuple[list[int], list[int], list[float], list[float]]
"""How many sensors sense each signal; then by signal and slot: slots, distances (m), intensities."""

ID_BITS = cython.declare(cython.int, 31)            # of a source id in a key: pairs_in_view.ID_BITS
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
BLOCK = cython.declare(cython.Py_ssize_t, 4096)     # sensors of one pass (count): their positions stay in the cache
LONG = cython.declare(cython.Py_ssize_t, 4096)      # tests from which on the GIL is released (count): some 5 us
FEW_TARGETS = cython.declare(cython.Py_ssize_t, 16)  # targets up to which the rough test of each costs more (count)
FEW_SENSORS = cython.declare(cython.Py_ssize_t, 16)  # sensors up to which the rough test of all costs more (count)
MANY_TARGETS = cython.declare(cython.Py_ssize_t, 64)  # targets of which some is near any sensor (count)
CELLS = cython.declare(cython.double, 1000)             # that a range is long (count); fewer let more places through
SLACK = cython.declare(cython.double, 4)                # far above what rounding of places and cells loses (cells)
HALF_ROUND = cython.declare(cython.double, 32000)       # half of the cells that 16 bits count (count)
EXACT = cython.declare(cython.double, 1 << 23)          # up to here float32 rounds to a cell (cells)
INFINITY = cython.declare(cython.double, float("inf"))
ROUGHLY = cython.declare(cython.double, 1e-6)           # slack of logarithms, which float64 rounds to 1e-13
BORDER_TOLERANCE = cython.declare(cython.double, 1e-6)  # sight_cones.BORDER_TOLERANCE
NO_RIGHT = cython.declare(cython.double, 1e-6)          # sight_cones.NO_RIGHT
CONE_SLACK = cython.declare(cython.double, 1.0001)      # factor on reaches, far above the tolerance of borders
BEHIND = cython.declare(cython.double, 1e-8)            # squared share of the distance, far above BORDER_TOLERANCE

SINGLE = cython.declare(cython.float[::1], memoryview(np.zeros(3, np.float32)))  # room to round coordinates in

made_of = tuple.__new__


def pairs_in_reach(sensors, sensor_ids, sources, source_ids, sense, out_keys, out_intensity) -> int:
    """Write the pairs of sensor and source that pass every test but the ray; return how many.

    Args:
        sensors: a ``SensorTable``.
        sensor_ids: (n,) int32, in use.
        sources: a ``SourceTable``.
        source_ids: (m,) int32, in use.
        sense: ``ModalityNumbers`` of a continuous modality.
        out_keys: (n * m,) int64 or more, see ``pairs_in_view.keys_of``; in the order of sensors, then of sources.
        out_intensity: (n * m,) float64 or more.

    Raises:
        IndexError: if an id has no row, or there is no such modality.
        TypeError, ValueError: if an array has another type or shape.

    Cost: O(n * m).
    """
    loops: SightLoops = free_loops(sensors)
    try:
        loops.view_arguments(sensor_ids, source_ids, out_keys, out_intensity)
        return loops.find_pairs(sensors, sources, sense)
    finally:
        loops.is_busy = False


def signals_reached(sensors, signals, kinds) -> Reached:
    """Return the sensors that sense some signals, as the sensors stand now.

    Args:
        sensors: a ``SensorTable`` of n rows.
        signals: m ``Signal``.
        kinds: each ``Modality``, or ``ModalityNumbers``, at its number.

    Raises:
        IndexError: if there is no such modality.
        TypeError: if a signal is of another type.

    Cost: O(n) for each signal, below 1 ns for a sensor far away.
    """
    loops: SightLoops = free_loops(sensors)
    try:
        return loops.find_reached(sensors, signals, kinds)
    finally:
        loops.is_busy = False


def plain_signal(voices, order, source_id, modality, strength, place, sent_at_s, channel) -> Signal | None:
    """Return the signal of a source with a known voice if all arguments are plain and valid; else None.

    Args:
        voices: by source and name of a modality: number of the modality, affiliation and tag of the source.
        order: number of signals emitted before it.
        source_id: its source.
        modality: name of its modality.
        strength: a float, 0 or more.
        place: a tuple of three finite floats (m), which are rounded to float32 as positions of sensors are.
        sent_at_s: game time (s).
        channel: a text.

    Cost: O(1).
    """
    level: cython.double
    if type(source_id) is not int or type(modality) is not str or type(channel) is not str:
        return None
    if type(strength) is not float or type(place) is not tuple or len(place) != 3:
        return None
    level = strength
    x, y, z = place
    if type(x) is not float or type(y) is not float or type(z) is not float or not 0 <= level < INFINITY:
        return None
    voice = voices.get((source_id, modality))
    if voice is None:
        return None
    SINGLE[0], SINGLE[1], SINGLE[2] = x, y, z
    if not (isfinite(SINGLE[0]) and isfinite(SINGLE[1]) and isfinite(SINGLE[2])):
        return None
    at = (SINGLE[0], SINGLE[1], SINGLE[2])
    number, affiliation, tag = voice
    return made_of(Signal, (order, source_id, number, strength, at, sent_at_s, affiliation, tag, channel))


@cython.cfunc
def free_loops(sensors):
    """Return the loops of a table, or others while another thread is in them; they are busy from now on."""
    loops: SightLoops = sensors.loops
    if loops.is_busy:
        loops = SightLoops()
    loops.is_busy = True
    return loops


def shown(name, array, dtype, *least):
    """Return a view of an array that is at least so long in each dimension.

    Raises:
        TypeError, ValueError: if it has another type or shape.
    """
    if array.dtype != dtype or array.ndim != len(least):
        raise TypeError(f"{name} must be an array of {dtype.__name__} of {len(least)} dimensions")
    if any(have < wanted for have, wanted in zip(array.shape, least, strict=True)):
        raise ValueError(f"{name} must have at least shape {least}, got {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} must lie in one run of memory")
    return memoryview(array)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_cells(
    places: cython.float[:, ::1], first: cython.Py_ssize_t, count: cython.Py_ssize_t, cells_per_m: cython.float,
    cells: cython.ushort[:, ::1],
) -> cython.void:
    """Write the cells of places, of columns of x, y and z from ``first`` on: whole numbers, counted round."""
    axis: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for axis in range(3):
        for i in range(count):
            cells[axis, i] = cython.cast(cython.int, places[axis, first + i] * cells_per_m) & 0xFFFF


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark_near(
    cells: cython.ushort[:, ::1], count: cython.Py_ssize_t, x: cython.ushort, y: cython.ushort, z: cython.ushort,
    width: cython.ushort, marks: cython.uchar[::1],
) -> cython.void:
    """Mark the cells that lie in a cube, of its first cell and its width."""
    i: cython.Py_ssize_t
    dx: cython.ushort
    dy: cython.ushort
    dz: cython.ushort
    for i in range(count):
        dx, dy, dz = (cells[0, i] - x) & 0xFFFF, (cells[1, i] - y) & 0xFFFF, (cells[2, i] - z) & 0xFFFF
        marks[i] |= (dx <= width) & (dy <= width) & (dz <= width)


@cython.cfunc
@cython.nogil
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
@cython.nogil
@cython.exceptval(check=False)
def list_near(
    xs: cython.double[::1], ys: cython.double[::1], zs: cython.double[::1], limits: cython.double[::1],
    count: cython.Py_ssize_t, x: cython.double, y: cython.double, z: cython.double, numbers: cython.int[::1],
) -> cython.Py_ssize_t:
    """Write the numbers of points near one; return how many there are."""
    j: cython.Py_ssize_t
    dx: cython.double
    dy: cython.double
    dz: cython.double
    found: cython.Py_ssize_t = 0
    for j in range(count):
        dx, dy, dz = xs[j] - x, ys[j] - y, zs[j] - z
        numbers[found] = j
        found += dx * dx + dy * dy + dz * dz <= limits[j]
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def have_rows(ids: cython.const[cython.int][::1], rows: cython.Py_ssize_t) -> cython.bint:
    """Return whether all ids have a row: loops read memory by them."""
    i: cython.Py_ssize_t
    is_bad: cython.int = 0
    for i in range(ids.shape[0]):
        is_bad |= (ids[i] < 0) | ((ids[i] & SLOT_MASK) >= rows)
    return not is_bad


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_of_run(ids: cython.const[cython.int][::1]) -> cython.Py_ssize_t:
    """Return the first slot of ids whose slots follow each other; -1 if they do not."""
    i: cython.Py_ssize_t
    gaps: cython.int = 0
    for i in range(ids.shape[0]):
        gaps |= (ids[i] - ids[0]) ^ cython.cast(cython.int, i)
    return -1 if gaps else ids[0] & SLOT_MASK


@cython.final
@cython.cclass
class RoughTest:
    """Cells of places, and which of them may be near a point.

    The range in question is ``CELLS`` cells long, and cells are counted round, so a far place may share
    the cell of a near one, and is left to the exact test.
    """

    room: cython.Py_ssize_t
    cells: cython.ushort[:, ::1]
    cells_per_m: cython.float
    marks: cython.uchar[::1]
    eights: cython.ulonglong[::1]   # the same, eight at a time
    groups: cython.int[::1]         # of eight marks, those with any
    numbers: cython.int[::1]        # of marked places, ascending
    distances: cython.double[::1]   # of those, where they were measured (m)

    def __init__(self) -> None:
        self.room = 0

    @cython.cfunc
    def fit(self, count: cython.Py_ssize_t):
        """Make room for so many places."""
        if count > self.room:
            self.room = max(64, 2 * count)
            eights = np.zeros((self.room + 7) // 8, np.uint64)
            self.marks, self.eights = memoryview(eights.view(np.uint8)), memoryview(eights)
            self.groups = memoryview(np.zeros(self.room + 8, np.int32))
            self.numbers = memoryview(np.zeros(self.room + 8, np.int32))
            self.distances = memoryview(np.zeros(self.room + 8))
            self.cells = memoryview(np.zeros((3, self.room), np.uint16))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark(
        self, count: cython.Py_ssize_t, x: cython.float, y: cython.float, z: cython.float, reach_m: cython.double,
    ) -> cython.void:
        """Mark the places that may be in reach of a point."""
        i: cython.Py_ssize_t
        farthest: cython.double = max(fabs(x), max(fabs(y), fabs(z))) * self.cells_per_m
        half: cython.double = reach_m * self.cells_per_m + SLACK
        if half < HALF_ROUND and farthest < EXACT:
            half_width: cython.int = cython.cast(cython.int, half)
            mark_near(
                self.cells, count, (cython.cast(cython.int, x * self.cells_per_m) - half_width) & 0xFFFF,
                (cython.cast(cython.int, y * self.cells_per_m) - half_width) & 0xFFFF,
                (cython.cast(cython.int, z * self.cells_per_m) - half_width) & 0xFFFF, 2 * half_width, self.marks)
        else:
            for i in range(count):
                self.marks[i] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_all(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the numbers of marked places, and clear the marks; return how many there are."""
        return list_marked(self.marks, self.eights, self.groups, self.numbers, count)


@cython.final
@cython.cclass
class SightLoops:
    """Views of the columns of one table of sensors and of what it was asked for last, and room for one question.

    Views are made when an array is another than in the question before: they cost more than a short question.
    """

    is_busy: cython.bint
    # What is viewed: the arrays of sensors, of sources, and of the last call.
    sensor_layout: object
    source_layout: object
    arguments: tuple
    # Sensors, by slot; columns of axes and modalities first.
    position: cython.float[:, ::1]
    threshold: cython.double[:, ::1]
    log_threshold: cython.double[:, ::1]
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
    keys: cython.longlong[::1]
    intensities: cython.double[::1]
    # Sources or signals that are asked for.
    target_room: cython.Py_ssize_t
    target_places: cython.float[:, ::1]         # (3, targets), for the rough test
    target_x: cython.double[::1]
    target_y: cython.double[::1]
    target_z: cython.double[::1]
    target_strength: cython.double[::1]
    target_log_strength: cython.double[::1]
    target_size: cython.double[::1]             # as if it were so many times nearer
    target_limit: cython.double[::1]            # of the squared distance, above rounding
    target_affiliation: cython.longlong[::1]
    target_id: cython.longlong[::1]
    targets: cython.Py_ssize_t
    largest: cython.double
    # Of each signal: its modality, and the number of sensors that sense it.
    wave_number: cython.int[::1]
    wave_range_m: cython.double[::1]
    wave_kept_per_m: cython.double[::1]
    wave_log_kept_per_m: cython.double[::1]
    wave_hits: cython.int[::1]
    # Rough test.
    near: RoughTest                                 # of sensors
    near_targets: RoughTest
    gathered: cython.float[:, ::1]              # (3, block), places of sensors whose slots are no run
    # Sensors that sense a signal.
    hit_room: cython.Py_ssize_t
    hit_arrays: list
    hit_slot: cython.int[::1]
    hit_distance: cython.double[::1]
    hit_intensity: cython.double[::1]
    hits: cython.Py_ssize_t
    # The modality in question.
    sense: object
    number: cython.Py_ssize_t
    range_m: cython.double
    kept_per_m: cython.double
    log_kept_per_m: cython.double
    needs_cone: cython.bint
    log_acuity: cython.double                   # of the cone that makes targets strongest
    farthest_m: cython.double                   # from which anything of size 1 may be sensed
    cells_per_m: cython.float
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

    def __init__(self) -> None:
        self.is_busy = False
        self.sensor_layout = self.source_layout = None
        self.arguments = (None,) * 4
        self.target_room = self.hit_room = self.hits = 0
        self.near, self.near_targets, self.sense = RoughTest(), RoughTest(), None
        self.gathered = memoryview(np.zeros((3, BLOCK), np.float32))

    # Views and room.

    @cython.cfunc
    def view_sensors(self, sensors):
        """View the arrays of a table of sensors."""
        layout = sensors.layout
        if layout is self.sensor_layout:
            return
        self.sensor_layout = None
        position, threshold, log_threshold = sensors.position, sensors.threshold, sensors.log_threshold
        forward, cones, detection_mask = sensors.forward, sensors.cones, sensors.detection_mask
        rows: cython.Py_ssize_t = len(position)
        senses: cython.Py_ssize_t = threshold.shape[1]
        self.position = shown("position", position.T, np.float32, 3, rows)
        self.threshold = shown("threshold", threshold.T, np.float64, senses, rows)
        self.log_threshold = shown("log_threshold", log_threshold.T, np.float64, senses, rows)
        self.forward = shown("forward", forward, np.float32, rows, 3)
        self.cones = shown("cones", cones, np.float64, rows, 0, 4)
        self.detection_mask = shown("detection_mask", detection_mask, np.int64, rows)
        self.self_source = shown("self_source", sensors.self_source, np.int64, rows)
        self.rows, self.sensor_layout = rows, layout

    @cython.cfunc
    def view_sources(self, sources):
        """View the arrays of a table of sources."""
        layout = sources.layout
        if layout is self.source_layout:
            return
        self.source_layout = None
        position, strength, affiliation, size = sources.position, sources.strength, sources.affiliation, sources.size
        rows: cython.Py_ssize_t = len(position)
        self.source_position = shown("position", position.T, np.float32, 3, rows)
        self.source_strength = shown("strength", strength, np.float64, rows, 0)
        self.source_affiliation = shown("affiliation", affiliation, np.int64, rows)
        self.source_size = shown("size", size, np.float64, rows)
        self.source_rows, self.source_layout = rows, layout

    @cython.cfunc
    def view_arguments(self, sensor_ids, source_ids, out_keys, out_intensity):
        """View the arrays of a call."""
        before = self.arguments
        self.arguments = (None,) * 4
        if sensor_ids is not before[0]:
            self.sensor_ids = shown("sensor_ids", sensor_ids, np.int32, 0)
        if source_ids is not before[1]:
            self.source_ids = shown("source_ids", source_ids, np.int32, 0)
        if out_keys is not before[2]:
            self.keys = shown("out_keys", out_keys, np.int64, 0)
        if out_intensity is not before[3]:
            self.intensities = shown("out_intensity", out_intensity, np.float64, 0)
        self.arguments = (sensor_ids, source_ids, out_keys, out_intensity)

    @cython.cfunc
    def fit_targets(self, count: cython.Py_ssize_t):
        """Make room for so many sources or signals."""
        if count <= self.target_room:
            return
        room = max(16, 2 * count)
        numbers, ids, waves = np.zeros((10, room)), np.zeros((2, room), np.int64), np.zeros((2, room), np.int32)
        self.target_places = memoryview(np.zeros((3, room), np.float32))
        self.target_x, self.target_y = memoryview(numbers[0]), memoryview(numbers[1])
        self.target_z, self.target_limit = memoryview(numbers[2]), memoryview(numbers[3])
        self.target_strength, self.target_log_strength = memoryview(numbers[4]), memoryview(numbers[5])
        self.target_size, self.wave_range_m = memoryview(numbers[6]), memoryview(numbers[7])
        self.wave_kept_per_m, self.wave_log_kept_per_m = memoryview(numbers[8]), memoryview(numbers[9])
        self.target_affiliation, self.target_id = memoryview(ids[0]), memoryview(ids[1])
        self.wave_number, self.wave_hits = memoryview(waves[0]), memoryview(waves[1])
        self.target_room = room

    @cython.cfunc
    def fit_hits(self, count: cython.Py_ssize_t):
        """Make room for so many more hits."""
        if self.hits + count <= self.hit_room:
            return
        room = max(256, 2 * (self.hits + count))
        arrays = [np.empty(room, np.int32), np.empty(room), np.empty(room)]
        if self.hits:
            for mine, before in zip(arrays, self.hit_arrays, strict=True):
                mine[: self.hits] = before[: self.hits]
        self.hit_arrays = arrays
        self.hit_slot, self.hit_distance, self.hit_intensity = map(memoryview, arrays)
        self.hit_room = room

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_target(
        self, j: cython.Py_ssize_t, x: cython.double, y: cython.double, z: cython.double, strength: cython.double,
        size: cython.double, affiliation: cython.longlong, source_id: cython.longlong,
    ) -> cython.void:
        """Write a source or a signal of the modality in question."""
        self.target_x[j], self.target_y[j], self.target_z[j] = x, y, z
        self.target_places[0, j], self.target_places[1, j], self.target_places[2, j] = x, y, z
        self.target_strength[j] = strength
        self.target_log_strength[j] = log(strength) if strength > 0 else -INFINITY
        self.target_size[j] = size
        self.target_limit[j] = self.range_m * size * (self.range_m * size) * CONE_SLACK
        self.target_affiliation[j] = affiliation
        self.target_id[j] = source_id

    @cython.cfunc
    def set_way(self, range_m: cython.double, kept_per_m: cython.double):
        """Set how signals travel that are tested from now on."""
        self.range_m, self.kept_per_m = range_m, kept_per_m
        self.log_kept_per_m = log(kept_per_m) if kept_per_m > 0 else -INFINITY

    # Pairs of sensor and source.

    @cython.cfunc
    def find_pairs(self, sensors, sources, sense):
        """Write the pairs in reach, of the arguments that are viewed; return how many there are."""
        n: cython.Py_ssize_t = self.sensor_ids.shape[0]
        m: cython.Py_ssize_t = self.source_ids.shape[0]
        count: cython.Py_ssize_t
        if self.keys.shape[0] < n * m or self.intensities.shape[0] < n * m:
            raise ValueError(f"out_keys and out_intensity must have room for {n * m} pairs")
        self.view_sensors(sensors)
        self.view_sources(sources)
        self.set_sense(sense, sensors.most_acuity)
        if not have_rows(self.sensor_ids, self.rows):
            raise IndexError("a sensor id has no row")
        if not have_rows(self.source_ids, self.source_rows):
            raise IndexError("a source id has no row")
        if not n or not m:
            return 0
        self.fit_targets(m)
        self.near.fit(min(n, BLOCK))
        self.near_targets.fit(m)
        self.gather_targets()
        self.farthest_m = self.range_m
        if self.needs_cone:
            self.farthest_m = min(self.range_m, sensors.farthest_cone_m * CONE_SLACK)
        if n * self.targets >= LONG:
            with cython.nogil:
                count = self.find_all()
        else:
            count = self.find_all()
        return count

    @cython.cfunc
    def set_sense(self, sense, most_acuity: cython.double):
        """Read a continuous modality."""
        if sense is not self.sense:
            self.sense = None
            number, range_m, kept_per_m, needs_cone, up, aside = sense
            self.number, self.needs_cone = number, needs_cone
            self.set_way(range_m, kept_per_m)
            self.up_x, self.up_y, self.up_z = up
            self.aside_x, self.aside_y, self.aside_z = aside
            self.sense = sense
        if not 0 <= self.number < min(self.threshold.shape[0], self.source_strength.shape[1]):
            raise IndexError(f"there is no modality {self.number}")
        self.log_acuity = log(most_acuity) if self.needs_cone and most_acuity > 1 else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gather_targets(self) -> cython.void:
        """Copy the sources that show themselves into one run of memory."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        strength: cython.double
        self.targets, self.largest = 0, 0
        for i in range(self.source_ids.shape[0]):
            slot = self.source_ids[i] & SLOT_MASK
            strength = self.source_strength[slot, self.number]
            if strength >= 0:
                self.put_target(
                    self.targets, self.source_position[0, slot], self.source_position[1, slot],
                    self.source_position[2, slot], strength, self.source_size[slot], self.source_affiliation[slot],
                    self.source_ids[i])
                self.largest = max(self.largest, self.source_size[slot])
                self.targets += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_all(self) -> cython.Py_ssize_t:
        """Find the sensors near any target by the rough test; test the targets of those."""
        n: cython.Py_ssize_t = self.sensor_ids.shape[0]
        run: cython.Py_ssize_t = first_of_run(self.sensor_ids)
        first: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        found: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.cells_per_m = self.near_targets.cells_per_m = CELLS / max(self.farthest_m, 1e-30)
        if self.targets > FEW_TARGETS:
            write_cells(self.target_places, 0, self.targets, self.cells_per_m, self.near_targets.cells)
        while first < n:
            size = min(BLOCK, n - first)
            if self.targets < MANY_TARGETS and n > FEW_SENSORS:
                self.mark_block(first, size, run)
                found = self.near.list_all(size)
                for k in range(found):
                    count = self.add_pairs(self.sensor_ids[first + self.near.numbers[k]], count)
            else:
                for k in range(first, first + size):
                    count = self.add_pairs(self.sensor_ids[k], count)
            first += size
        return count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark_block(
        self, first: cython.Py_ssize_t, size: cython.Py_ssize_t, run: cython.Py_ssize_t,
    ) -> cython.void:
        """Mark which of ``size`` sensors, from one on, may be near any target."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        self.near.cells_per_m = self.cells_per_m
        if run < 0:
            for i in range(size):
                slot = self.sensor_ids[first + i] & SLOT_MASK
                self.gathered[0, i], self.gathered[1, i] = self.position[0, slot], self.position[1, slot]
                self.gathered[2, i] = self.position[2, slot]
            write_cells(self.gathered, 0, size, self.cells_per_m, self.near.cells)
        else:
            write_cells(self.position, run + first, size, self.cells_per_m, self.near.cells)
        for j in range(self.targets):
            self.near.mark(
                size, self.target_places[0, j], self.target_places[1, j], self.target_places[2, j],
                self.farthest_m * self.target_size[j])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_pairs(self, sensor_id: cython.int, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the pairs of one sensor after the first ``count``; return how many there are then."""
        slot: cython.Py_ssize_t = sensor_id & SLOT_MASK
        found: cython.Py_ssize_t = self.targets
        k: cython.Py_ssize_t
        self.is_prepared = False
        self.eye_x, self.eye_y, self.eye_z = self.position[0, slot], self.position[1, slot], self.position[2, slot]
        self.eye_log_threshold = self.log_threshold[self.number, slot] - self.log_acuity - ROUGHLY
        if found > FEW_TARGETS:
            self.near_targets.mark(found, self.eye_x, self.eye_y, self.eye_z, self.farthest_m * self.largest)
            found = self.near_targets.list_all(found)
        else:
            found = list_near(
                self.target_x, self.target_y, self.target_z, self.target_limit, found, self.eye_x, self.eye_y,
                self.eye_z, self.near_targets.numbers)
        for k in range(found):
            count += self.add_pair(sensor_id, slot, self.near_targets.numbers[k], count)
        return count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prepare(self, slot: cython.Py_ssize_t) -> cython.bint:
        """Read the directions of a sensor, and how far its cones reach; return False if it lacks the sense."""
        k: cython.Py_ssize_t
        reach: cython.double
        x: cython.double
        y: cython.double
        z: cython.double
        length: cython.double
        if not isfinite(self.threshold[self.number, slot]):
            return False
        self.is_prepared = True
        self.farthest = self.behind = INFINITY
        if not self.needs_cone:
            return True
        self.farthest = self.behind = 0
        for k in range(self.cones.shape[1]):
            reach = max(0.0, self.cones[slot, k, 0]) * CONE_SLACK
            self.farthest = max(self.farthest, reach * reach)
            if self.cones[slot, k, 1] < 0:
                self.behind = max(self.behind, reach * reach)
        x, y, z = self.forward[slot, 0], self.forward[slot, 1], self.forward[slot, 2]
        self.ahead_x, self.ahead_y, self.ahead_z = x, y, z
        self.right_x = y * self.up_z - z * self.up_y
        self.right_y = z * self.up_x - x * self.up_z
        self.right_z = x * self.up_y - y * self.up_x
        length = sqrt(self.right_x * self.right_x + self.right_y * self.right_y + self.right_z * self.right_z)
        if length < NO_RIGHT:
            self.right_x, self.right_y, self.right_z = self.aside_x, self.aside_y, self.aside_z
        else:
            self.right_x, self.right_y = self.right_x / length, self.right_y / length
            self.right_z = self.right_z / length
        self.above_x = self.right_y * z - self.right_z * y
        self.above_y = self.right_z * x - self.right_x * z
        self.above_z = self.right_x * y - self.right_y * x
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_pair(
        self, sensor_id: cython.int, slot: cython.Py_ssize_t, j: cython.Py_ssize_t, count: cython.Py_ssize_t,
    ) -> cython.int:
        """Write a pair and return 1 if it passes every test, else return 0."""
        dx: cython.double = self.target_x[j] - self.eye_x
        dy: cython.double = self.target_y[j] - self.eye_y
        dz: cython.double = self.target_z[j] - self.eye_z
        squared: cython.double = dx * dx + dy * dy + dz * dz
        size: cython.double = self.target_size[j]
        sensed: cython.double = self.target_strength[j]
        acuity: cython.double = 1
        distance: cython.double
        # What leaves out most for least comes first.
        if squared > self.target_limit[j]:
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
                self.target_log_strength[j] + distance * self.log_kept_per_m < self.eye_log_threshold):
            return 0
        if not self.is_prepared and (not self.prepare(slot) or self.is_outside(dx, dy, dz, squared)):
            return 0
        if self.needs_cone:
            acuity = self.acuity_towards(slot, dx, dy, dz)
            if acuity < 0:
                return 0
        if self.self_source[slot] == self.target_id[j] or not self.detection_mask[slot] & self.target_affiliation[j]:
            return 0
        if self.kept_per_m != 1:
            sensed = sensed * pow(self.kept_per_m, distance)
        sensed = sensed * acuity
        if not sensed >= self.threshold[self.number, slot]:
            return 0
        self.keys[count] = (cython.cast(cython.longlong, sensor_id) << ID_BITS) | self.target_id[j]
        self.intensities[count] = sensed
        return 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
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
    @cython.nogil
    @cython.exceptval(check=False)
    def acuity_towards(
        self, slot: cython.Py_ssize_t, dx: cython.double, dy: cython.double, dz: cython.double,
    ) -> cython.double:
        """Return the acuity of the first cone that contains a target; -1 if none does."""
        right: cython.double = self.right_x * dx + self.right_y * dy + self.right_z * dz
        above: cython.double = self.above_x * dx + self.above_y * dy + self.above_z * dz
        ahead: cython.double = self.ahead_x * dx + self.ahead_y * dy + self.ahead_z * dz
        across: cython.double = right * right + ahead * ahead
        distance: cython.double = sqrt(across + above * above)
        slack: cython.double = BORDER_TOLERANCE * distance
        k: cython.Py_ssize_t
        across = sqrt(across)
        for k in range(self.cones.shape[1]):
            if (distance - slack <= self.cones[slot, k, 0]
                    and ahead + slack >= self.cones[slot, k, 1] * across
                    and fabs(above) - slack <= self.cones[slot, k, 2] * distance):
                return self.cones[slot, k, 3]
        return -1

    # Signals at sensors.

    @cython.cfunc
    def find_reached(self, sensors, signals, kinds):
        """Return the result of ``signals_reached``."""
        n: cython.Py_ssize_t = sensors.ids.rows
        m: cython.Py_ssize_t = len(signals)
        wave: cython.Py_ssize_t = 0
        self.view_sensors(sensors)
        if n > self.rows:
            raise IndexError(f"{n} rows asked of {self.rows}")
        if not n or not m:
            return [0] * m, [], [], []
        self.fit_targets(m)
        self.near.fit(n)
        self.hits, self.targets, self.sense = 0, m, None
        self.take_all(signals, kinds)
        while wave < m:
            self.fit_hits(n)
            if n * m >= LONG:
                with cython.nogil:
                    wave = self.find_waves(wave, n)
            else:
                wave = self.find_waves(wave, n)
        return [self.wave_hits[wave] for wave in range(m)], *self.hit_lists()

    @cython.cfunc
    def take_all(self, signals, kinds):
        """Read signals; a modality that one has in common with the signal before is not read again."""
        wave: cython.Py_ssize_t = 0
        number: cython.Py_ssize_t = -1
        for signal in signals:
            if type(signal) is not Signal:
                raise TypeError(f"signals must be Signal, got {signal!r}")
            parts: tuple = cython.cast(tuple, signal)
            if parts[2] != number:
                number = self.checked_number(parts[2])
                self.set_way(kinds[number].range_m, kinds[number].kept_per_m)
            x, y, z = parts[4]
            self.put_target(wave, x, y, z, parts[3], 1, parts[6], parts[1])
            self.wave_number[wave], self.wave_range_m[wave] = number, self.range_m
            self.wave_kept_per_m[wave], self.wave_log_kept_per_m[wave] = self.kept_per_m, self.log_kept_per_m
            wave += 1  # noqa: SIM113  a number of C

    @cython.cfunc
    def checked_number(self, number: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number of a modality that there is."""
        if not 0 <= number < self.threshold.shape[0]:
            raise IndexError(f"there is no modality {number}")
        return number

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_waves(self, wave: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Test signals, from one on, while there is room for as many hits as sensors; return the next signal."""
        reach_m: cython.double = -1
        while wave < self.targets and self.hits + n <= self.hit_room:
            if self.wave_range_m[wave] != reach_m:
                reach_m = self.wave_range_m[wave]
                self.near.cells_per_m = CELLS / max(reach_m, 1e-30)
                write_cells(self.position, 0, n, self.near.cells_per_m, self.near.cells)
            self.near.mark(
                n, self.target_places[0, wave], self.target_places[1, wave], self.target_places[2, wave], reach_m)
            self.test_marked(wave, self.near.list_all(n))
            wave += 1
        return wave

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def test_marked(self, wave: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.void:
        """Add the sensors among ``count`` marked ones that sense a signal."""
        k: cython.Py_ssize_t
        before: cython.Py_ssize_t = self.hits
        self.number, self.range_m = self.wave_number[wave], self.wave_range_m[wave]
        self.kept_per_m, self.log_kept_per_m = self.wave_kept_per_m[wave], self.wave_log_kept_per_m[wave]
        count = self.list_in_range(wave, count)
        for k in range(count):
            self.hits += self.add_hit(self.near.numbers[k], wave, self.near.distances[k], self.hits)
        self.wave_hits[wave] = self.hits - before

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_in_range(self, wave: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Measure the distance of marked sensors; keep those in range, if the signal has surely not faded there.

        Without branches, and apart from what follows: so the processor waits for many rows of memory at once.
        """
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        dx: cython.double
        dy: cython.double
        dz: cython.double
        distance: cython.double
        log_sensed: cython.double
        log_strength: cython.double = self.target_log_strength[wave]
        kept: cython.Py_ssize_t = 0
        x: cython.double = self.target_x[wave]
        y: cython.double = self.target_y[wave]
        z: cython.double = self.target_z[wave]
        for k in range(count):
            slot = self.near.numbers[k]
            dx, dy, dz = self.position[0, slot] - x, self.position[1, slot] - y, self.position[2, slot] - z
            distance = sqrt(dx * dx + dy * dy + dz * dz)
            self.near.numbers[kept] = slot
            self.near.distances[kept] = distance
            log_sensed = log_strength + distance * self.log_kept_per_m
            kept += (distance <= self.range_m) & (not log_sensed < self.log_threshold[self.number, slot] - ROUGHLY)
        return kept

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_hit(
        self, slot: cython.Py_ssize_t, wave: cython.Py_ssize_t, distance: cython.double, count: cython.Py_ssize_t,
    ) -> cython.int:
        """Write a hit and return 1 if the sensor senses the signal, else return 0."""
        sensed: cython.double = self.target_strength[wave]
        threshold: cython.double = self.threshold[self.number, slot]
        if not isfinite(threshold) or self.self_source[slot] == self.target_id[wave]:
            return 0
        if not self.detection_mask[slot] & self.target_affiliation[wave]:
            return 0
        if self.kept_per_m != 1:
            sensed = sensed * pow(self.kept_per_m, distance)
        if not sensed >= threshold:
            return 0
        self.hit_slot[count], self.hit_distance[count], self.hit_intensity[count] = slot, distance, sensed
        return 1

    @cython.cfunc
    def hit_lists(self):
        """Return slots, distances and intensities of hits."""
        if self.hits > 16:
            slots, distances, intensities = self.hit_arrays
            return slots[: self.hits].tolist(), distances[: self.hits].tolist(), intensities[: self.hits].tolist()
        return ([self.hit_slot[k] for k in range(self.hits)], [self.hit_distance[k] for k in range(self.hits)],
                [self.hit_intensity[k] for k in range(self.hits)])
