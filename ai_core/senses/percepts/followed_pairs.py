"""Who goes on seeing what, in arrays: memory and awareness of all of them at once.

As long as the same targets stay in view, nothing happens in a mind but that
positions, moments and meters move on. That needs no visit of each sensor: only
where a meter crosses a level, or what is in view changes, there is something
to decide and to tell.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ai_core.senses.percepts.following as following
from ai_core.senses.sight.pairs_in_view import ID_BITS

if TYPE_CHECKING:
    from ai_core.senses.modality import ModalitySet
    from ai_core.senses.percepts.awareness import Awareness
    from ai_core.senses.percepts.in_view import VisibleTarget
    from ai_core.senses.percepts.perceiver import SensorMind
    from ai_core.senses.percepts.remembered import KnownTarget

__all__ = ["PerceptTable", "Rows", "row_of"]

COLUMNS: dict[str, Any] = {
    "key": np.int64, "at_s": np.float64, "before_s": np.float64,
    "intensity": np.float64,
    "begun_s": np.float64, "begun": np.float64, "slope": np.float64,
    "gain": np.float64, "rise": np.float64, "fall": np.float64,
    "position": np.dtype((np.float32, 3)), "before": np.dtype((np.float32, 3)), "number": np.int32,
    "is_alive": np.bool_, "is_seen": np.bool_,
}
"""What is known of each pair: when and where a target is and was the last time, how strongly it
shows, and the line along which its meter moves between two levels. Each by itself in one run of
memory: every look goes along half of them."""

Rows = dict[str, NDArray[Any]]
"""Columns by their names."""

LINE = ("begun_s", "begun", "slope", "gain", "rise", "fall")
NO_METER = (0.0, 0.0, 0.0, 0.0, np.inf, -np.inf)


def row_of(rows: Rows, sensor_id: int, target: int) -> int:
    """Return which of some rows follows a target of a sensor; -1 if none does."""
    keys, key = rows["key"], sensor_id << ID_BITS | target
    row = int(keys.searchsorted(key))
    return row if row < len(keys) and keys[row] == key and rows["is_alive"][row] else -1


class PerceptTable:
    """A row for each target that stays in view of a sensor, by sensor, then target.

    Attributes:
        rows: by name of ``COLUMNS``, (n,) or (n, 3).
        sensor_ids: sensors of which something is followed.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Follow nothing."""
        self.sensor_ids: set[int] = set()
        self.rows: Rows = {name: np.zeros(0, kind) for name, kind in COLUMNS.items()}
        self.keys = np.zeros(0, np.int64)
        # By key, and in no array: what NumPy holds Python's collector does not see, and a world that was
        # dropped while somebody was in view stayed for ever.
        self._minds: dict[int, tuple[KnownTarget | None, Awareness | None]] = {}
        self._added: list[tuple[Any, ...]] = []
        self._has_dead = False

    def add(
        self,
        sensor_id: int,
        shown: VisibleTarget,
        now_s: float,
        record: KnownTarget | None,
        meter: Awareness | None,
    ) -> None:
        """Follow a pair from the next ``tidy`` on; it was looked at now."""
        self.sensor_ids.add(sensor_id)
        line = NO_METER if meter is None else _line_of(meter)
        key = sensor_id << ID_BITS | shown.target
        self._minds[key] = record, meter
        self._added.append((
            key, now_s, now_s, shown.intensity, *line,
            shown.position, shown.position, shown.number, True, shown.is_seen,
        ))

    def drop(self, sensor_id: int) -> None:
        """Follow nothing of a sensor any more."""
        if sensor_id not in self.sensor_ids:
            return
        self.sensor_ids.discard(sensor_id)
        first, end = self.span(sensor_id, sensor_id)
        gone = self.keys[first:end].tolist()
        if gone:
            self.rows["is_alive"][first:end] = False
            self._has_dead = True
        if self._added:
            gone += [one[0] for one in self._added if one[0] >> ID_BITS == sensor_id]
            self._added = [one for one in self._added if one[0] >> ID_BITS != sensor_id]
        for key in gone:
            self._minds.pop(key, None)

    def put_line(self, sensor_id: int, meter: Awareness) -> None:
        """Let a meter that was changed go on from where it is now."""
        self.tidy()
        key = sensor_id << ID_BITS | meter.target
        if key in self._minds and self._minds[key][1] is meter:
            row = int(self.keys.searchsorted(key))
            for name, value in zip(LINE, _line_of(meter), strict=True):
                self.rows[name][row] = value

    def tidy(self) -> None:
        """Take up what was added and let go what was dropped."""
        if not self._added and not self._has_dead:
            return
        rows = self.rows
        if self._has_dead:
            alive = rows["is_alive"]
            rows = {name: column[alive] for name, column in rows.items()}
        if self._added:
            added = zip(COLUMNS.items(), zip(*self._added, strict=True), strict=True)
            rows = {name: np.concatenate([rows[name], _column(values, kind)]) for (name, kind), values in added}
            order = np.argsort(rows["key"], kind="stable")
            rows = {name: column[order] for name, column in rows.items()}
        self.rows, self.keys = rows, rows["key"]
        self._added, self._has_dead = [], False

    def mind_of(self, sensor_id: int, target: int) -> tuple[KnownTarget | None, Awareness | None] | None:
        """Return what is remembered of a target that is followed, and how aware the sensor is of it; else None."""
        return self._minds.get(sensor_id << ID_BITS | target)

    def was_rediscovered(self, perceiver: SensorMind, target: int) -> bool:
        """Return whether a target that is followed was forgotten since the last look, and is remembered anew."""
        followed, memory = self.mind_of(perceiver.sensor_id, target), perceiver.memory
        return followed is not None and memory is not None and followed[0] is not memory.find(target)

    @property
    def is_tidy(self) -> bool:
        """Whether ``rows`` are all there is, and no more."""
        return not (self._added or self._has_dead)

    def span(self, first_sensor: int, last_sensor: int) -> tuple[int, int]:
        """Return which rows are of sensors from one id to another."""
        ends = (first_sensor << ID_BITS, (last_sensor + 1) << ID_BITS)
        first, end = self.keys.searchsorted(ends).tolist()
        return first, end

    def dirty_sensors(
        self, first: int, end: int, keys: NDArray[np.int64], intensity: NDArray[np.float64],
        number: NDArray[np.intp], now_s: float,
    ) -> set[int]:
        """Return sensors to which something happens now, so that each must be looked at.

        Args:
            first: first row.
            end: after the last row.
            keys: (n,) of what shows itself to the same sensors, ascending.
            intensity: (n,) how strongly.
            number: (n,) by what modality.
            now_s: game time (s).
        """
        return set(following.dirty_sensors(self.rows, first, end, keys, intensity, number, now_s))

    def move_on(
        self, first: int, end: int, intensity: NDArray[np.float64],
        position: NDArray[np.float32], now_s: float,
    ) -> None:
        """Take in how these rows show themselves now; nothing happens in their minds."""
        following.move_on(self.rows, first, end, intensity, position, now_s)

    def put_into_records(self, first: int, end: int, modalities: ModalitySet) -> None:
        """Bring the records and meters of these rows up to date."""
        for place in range(first, end):
            row = {name: column[place] for name, column in self.rows.items()}
            at_s, intensity = float(row["at_s"]), float(row["intensity"])
            name = modalities[int(row["number"])].name
            record, meter = self._minds[int(row["key"])]
            if record is not None:
                before = (row["before"].tolist(), float(row["before_s"]))
                record.move_on(row["position"].tolist(), at_s, before, is_seen=bool(row["is_seen"]))
                record.sense(name, intensity, at_s)
            if meter is not None:
                meter.move_on(intensity, (float(row["begun_s"]), float(row["begun"])), name)


def _column(values: tuple[object, ...], kind: Any) -> NDArray[Any]:
    column = np.zeros(len(values), kind)
    column[:] = values
    return column


def _line_of(meter: Awareness) -> tuple[float, ...]:
    return (*meter.line, meter.settings.gain_per_s, *meter.thresholds)
