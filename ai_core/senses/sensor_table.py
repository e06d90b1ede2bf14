"""The sensors as arrays: positions, directions, thresholds and sight cones."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import coordinates, finite_number, several, whole_number
from ai_core.senses.id_table import LARGEST_ID, SLOT_MASK, IdTable, grown
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sight.sight_cones import CONE_NUMBERS, SightCone, packed_cones
from ai_core.senses.sight.sight_loops import SightLoops
from ai_core.senses.source_table import affiliation_mask, places_of

__all__ = ["DEAF", "LONGEST_PERIOD", "NO_SOURCE", "SensorTable"]

DEAF = np.inf
"""Threshold of a sensor that lacks a modality: no intensity reaches it."""

NO_SOURCE = -1
"""Stands for a sensor without a source of its own among ids of sources."""

LONGEST_PERIOD = 60
"""Most frames from one look of all sensors to the next (count), a second."""

NO_REACH = (-1.0, 0.0, 0.0, 0.0, 0.0)
"""A row of cones that contains nothing."""

SHORTEST_FORWARD_M = 1e-6
"""Shortest vector that has a direction in float32 (m)."""


FILLS = {
    "position": 0, "forward": 0, "threshold": DEAF, "log_threshold": DEAF, "own_threshold": DEAF, "sensitivity": 1,
    "cones": 0, "detection_mask": 0, "self_source": NO_SOURCE}
"""Columns, and what new rows of them hold."""


class Abilities(NamedTuple):
    """What the sensor that was added last senses; most sensors of a scene sense the same.

    Attributes:
        row: its thresholds, as of ``ModalitySet.row``.
        packed: its cones as ``packed_cones`` returns them.
        numbers: thresholds, their logarithms, and the numbers of the cones, as lists.
    """

    row: NDArray[np.float64]
    cones: tuple[SightCone, ...]
    packed: NDArray[np.float64]
    numbers: tuple[list[float], list[float], list[float]]


class SensorTable:
    """One row per sensor; ``ids`` holds the rows in use.

    Rows not in use are ``DEAF``, so that tests over all rows exclude them.

    Attributes:
        position, forward: (capacity, 3) float32, places (m) and directions of unit length.
        threshold: (capacity, modalities) float64, intensity that is sensed now, or ``DEAF``: the own threshold divided
            by the sensitivity.
        log_threshold: (capacity, modalities) float64, its logarithm, for rough tests.
        own_threshold, sensitivity: (capacity, modalities) float64, as set, and a factor on intensities, 1 by default.
        until_s: when temporary sensitivities end (s), by id and number of the modality.
        keeps_targets: whether any cone ever had a ``lose_range_m``.
        most_acuity, farthest_cone_m: highest acuity and longest range (m) of any cone so far.
        cones: (capacity, k, 5) float64, rows of ``packed_cones``; k is the most cones of any sensor so far.
        detection_mask: (capacity,) int64, affiliations that it senses, as bits.
        self_source: (capacity,) int64, id of its own source, or ``NO_SOURCE``.
        period: frames from one look of all sensors to the next (count), 1 to ``LONGEST_PERIOD``.
        turn: number of the period of the frame under way: sensors look once in each.
        loops: views of these arrays, for the search of sensors in reach.
        layout: another object whenever one of the arrays is replaced.
        new_ids, saved_ids: of the last load: ids since then by those before it, and the ids of the save.
    """

    def __init__(self, modalities: ModalitySet, up: Sequence[float] = (0.0, 1.0, 0.0)) -> None:
        self._modalities = modalities
        self.ids, self.new_ids, self.saved_ids = IdTable("sensor"), dict[int, int](), list[int]()
        self.period, self.turn = 1, 0
        rows = self.ids.capacity
        # Each coordinate in one run of memory: tests over all sensors go along it.
        self.position = np.zeros((rows, 3), np.float32, order="F")
        self.forward = np.zeros((rows, 3), np.float32)
        self.threshold = np.full((rows, len(modalities)), DEAF, order="F")
        self.log_threshold = np.full((rows, len(modalities)), DEAF, order="F")
        self.own_threshold = np.full((rows, len(modalities)), DEAF)
        self.sensitivity = np.ones((rows, len(modalities)))
        self.until_s: dict[tuple[int, int], float] = {}
        self.keeps_targets = False
        self.most_acuity = self.farthest_cone_m = 0.0
        self._alike: Abilities | None = None
        self.loops, self.layout = SightLoops(up), object()
        self.cones = np.zeros((rows, 0, CONE_NUMBERS))
        self.detection_mask = np.zeros(rows, np.int64)
        self.self_source = np.full(rows, NO_SOURCE, np.int64)

    def add(
        self, position: ArrayLike, forward: ArrayLike, thresholds: Mapping[str, float], cones: Sequence[SightCone],
        detection_mask: int, self_source: int | None, name: str = "",
    ) -> int:
        """Add a sensor, and return its id; everything is checked before anything changes."""
        place, direction = coordinates("position", position), coordinates("forward", forward)
        if math.hypot(*direction) < SHORTEST_FORWARD_M:
            raise ValueError(f"forward must not be a zero vector, got {list(direction)}")
        cones, alike = several("sight_cones", cones, SightCone), self._alike
        row = self._modalities.row("thresholds", thresholds, DEAF)
        if alike is None or alike.row is not row or alike.cones != cones:
            levels, packed = row.tolist(), packed_cones(cones)
            self._check_cones(levels, packed)
            alike = Abilities(row, cones, packed, (levels, _logarithms(levels), packed.ravel().tolist()))
        mask = affiliation_mask("detection_mask", detection_mask)
        own = NO_SOURCE if self_source is None else _own_source(self_source)
        new = self.ids.add(name)
        self.fit()
        if alike is not self._alike:
            self._note_cones(alike.packed)
            self._alike = alike
        self.loops.put_sensor(self, new & SLOT_MASK, place, direction, *alike.numbers, mask, own)
        return new

    def remove(self, sensor_id: int) -> None:
        """Remove a sensor."""
        slot = self.ids.remove(sensor_id)
        self.threshold[slot] = self.log_threshold[slot] = DEAF

    def change(
        self, sensor_id: int, thresholds: Mapping[str, float] | None, cones: Sequence[SightCone] | None,
        detection_mask: int | None, self_source: int | None,
    ) -> None:
        """Replace what is not None; everything is checked before anything changes."""
        slot = self.ids.slot(sensor_id)
        mask = self.detection_mask[slot] if detection_mask is None else affiliation_mask(
            "detection_mask", detection_mask)
        own = self.self_source[slot] if self_source is None else _own_source(self_source)
        if thresholds is not None or cones is not None:
            row = self.own_threshold[slot].copy() if thresholds is None else (
                self._modalities.row("thresholds", thresholds, DEAF))
            packed = self.cones[slot] if cones is None else packed_cones(several("sight_cones", cones, SightCone))
            packed = packed[packed[:, 0] >= 0]
            self._check_cones(row.tolist(), packed)
            self.put_thresholds(slot, row)
            self._put_cones(slot, packed)
        self.detection_mask[slot], self.self_source[slot] = mask, own

    def put_thresholds(self, slot: int, row: NDArray[np.float64]) -> None:
        """Set the own thresholds of a row; its sensitivity stays."""
        self.own_threshold[slot] = row
        senses = zip(self.own_threshold[slot].tolist(), self.sensitivity[slot].tolist(), strict=True)
        wanted = [own / sensitivity if sensitivity else DEAF for own, sensitivity in senses]
        self.threshold[slot] = wanted
        self.log_threshold[slot] = _logarithms(wanted)

    def put_sensitivity(self, sensor_id: int, number: int, sensitivity: float, until_s: float | None = None) -> None:
        """Set the sensitivity of one sense until a time (s), or from now on; 1 is the default, 0 senses nothing."""
        slot = self.ids.slot(sensor_id)
        sensitivity = finite_number("sensitivity", sensitivity, minimum=0, remedy="use 0 to sense nothing")
        self.sensitivity[slot, number] = sensitivity
        self.put_thresholds(slot, self.own_threshold[slot].copy())
        self.until_s.pop((int(sensor_id), number), None)
        if until_s is not None:
            self.until_s[int(sensor_id), number] = until_s

    def recover(self, now_s: float) -> None:
        """Reset the sensitivities whose time has passed. Cost: O(temporary sensitivities)."""
        for key in [key for key, until_s in self.until_s.items() if until_s <= now_s]:
            del self.until_s[key]
            if self.ids.knows(key[0]):
                self.put_sensitivity(*key, 1.0)

    def row(self, sensor_id: int) -> SimpleNamespace:
        """Return a sensor, for saving."""
        slot = self.ids.slot(sensor_id)
        (x, y, z), (u, v, w), cones = self.position[slot].tolist(), self.forward[slot].tolist(), self.cones[slot]
        return SimpleNamespace(
            id=sensor_id, name=self.ids.names[sensor_id], position=(x, y, z), forward=(u, v, w),
            thresholds={number: one for number, one in enumerate(self.own_threshold[slot].tolist()) if one < DEAF},
            sensitivity={number: one for number, one in enumerate(self.sensitivity[slot].tolist()) if one != 1},
            until_s={number: self.until_s[sensor_id, number] for number in range(len(self._modalities))
                     if (sensor_id, number) in self.until_s},
            cones=cones[cones[:, 0] >= 0].tolist(),
            detection_mask=int(self.detection_mask[slot]), self_source=int(self.self_source[slot]))

    def put_row(self, row: SimpleNamespace) -> None:
        """Set a row whose id is in use."""
        slot, numbers = self.ids.slot(row.id), range(len(self._modalities))
        self.position[slot], self.forward[slot] = row.position, row.forward
        self.sensitivity[slot] = [row.sensitivity.get(number, 1.0) for number in numbers]
        self.until_s.update({(row.id, number): until_s for number, until_s in row.until_s.items()})
        self.put_thresholds(slot, np.array([row.thresholds.get(number, DEAF) for number in numbers]))
        self._put_cones(slot, np.reshape(row.cones, (-1, CONE_NUMBERS)))
        self.detection_mask[slot], self.self_source[slot] = row.detection_mask, row.self_source

    def move(self, ids: ArrayLike, places: ArrayLike, directions: ArrayLike | None) -> None:
        """Move and turn sensors; everything is checked before one moves."""
        slots = self.ids.slots(ids)
        new = places_of("positions", places, len(slots))
        if directions is not None:
            self.forward[slots] = _unit("forwards", places_of("forwards", directions, len(slots)))
        self.position[slots] = new

    def _check_cones(self, thresholds: list[float], cones: NDArray[np.float64]) -> None:
        """Raise ValueError unless there are cones if, and only if, a modality that is sensed needs them."""
        kinds = [kind for kind, one in zip(self._modalities.all, thresholds, strict=True) if one < DEAF]
        uses_cones = any(kind.needs_cone for kind in kinds)
        if len(cones) and not uses_cones:
            raise ValueError(
                f"sight_cones needs a threshold for a modality with cones,"
                f" got thresholds for {sorted(kind.name for kind in kinds)}; add one for 'sight'")
        if uses_cones and not len(cones):
            raise ValueError(
                "sight_cones must hold at least one cone for a sensor with sight,"
                " got none; to make the sensor blind, remove its threshold instead")

    def _note_cones(self, packed: NDArray[np.float64]) -> None:
        """Make room for the cones of a sensor, and take note of their reach."""
        missing = len(packed) - self.cones.shape[1]
        if missing > 0:
            nothing = np.broadcast_to(NO_REACH, (len(self.cones), missing, CONE_NUMBERS))
            self.cones = np.ascontiguousarray(np.concatenate((self.cones, nothing), axis=1))
            self.layout = object()
        self.keeps_targets = self.keeps_targets or bool((packed[:, 4] > 0).any())
        self.most_acuity = max([self.most_acuity, *packed[:, 3].tolist()])
        self.farthest_cone_m = max([self.farthest_cone_m, *packed[:, 0].tolist()])

    def _put_cones(self, slot: int, packed: NDArray[np.float64]) -> None:
        self._note_cones(packed)
        self.cones[slot] = NO_REACH
        self.cones[slot, : len(packed)] = packed

    def fit(self) -> None:
        """Make room for all rows of ``ids``."""
        rows = self.ids.capacity
        if rows > len(self.position):
            self.layout = object()
            for name, fill in FILLS.items():
                setattr(self, name, grown(getattr(self, name), rows, fill))


def _logarithms(thresholds: list[float]) -> list[float]:
    return [math.log(one) if one > 0 else -math.inf for one in thresholds]


def _own_source(value: int) -> int:
    return whole_number("self_source", value, minimum=NO_SOURCE, maximum=LARGEST_ID, remedy="use -1 for none")


def _unit(name: str, directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return directions of unit length; raise ValueError for a zero vector."""
    length = np.linalg.norm(directions.astype(np.float64), axis=1)
    if (length < SHORTEST_FORWARD_M).any():
        row = int(np.flatnonzero(length < SHORTEST_FORWARD_M)[0])
        raise ValueError(f"{name} must not be a zero vector, got {directions[row].tolist()} in row {row}")
    unit: NDArray[np.float32] = (directions / length[:, np.newaxis]).astype(np.float32)
    return unit
