"""The memory of one sensor: targets noticed, lost, expired and forgotten."""
from __future__ import annotations

import math
from collections.abc import Callable
from operator import itemgetter
from types import SimpleNamespace
from typing import Literal, NamedTuple

import numpy as np

from ai_core.clock import moment_s
from ai_core.errors import LARGEST, MOST, coordinates, finite_number, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.senses.percepts.percept_loops import KnownTarget, MemoryDurations, PerceptTable
from ai_core.senses.percepts.percept_rows import ROWS, SavedRows, put_rows, saved_rows
from ai_core.senses.sensation import Point
from ai_core.senses.sight.pair_keys import ID_BITS

__all__ = ["LOSE_AFTER_S", "MAXIMUM_AGE_S", "RADIO", "MemoryChange", "SenseMemory", "TargetReport"]

LOSE_AFTER_S = 0.5
"""Time without a sensation after which a target counts as lost (s).

Smaller values lose a target that passes behind a post, and gain it again; larger
values let a character stare at a target that has gone.
"""

MAXIMUM_AGE_S = 30.0
"""Age of the last sensation at which a target expires (s)."""

RADIO = "radio"
"""Stands for reports among the modalities of a target."""


ChangeKind = Literal["gained", "lost", "reported", "expired", "forgotten"]


class MemoryChange(NamedTuple):
    """A change of a target in a memory.

    Attributes:
        kind: ``gained`` (noticed, or noticed again), ``lost`` (no longer
            sensed), ``reported`` (a report brought newer data), ``expired``
            (too old to be trusted), ``forgotten``.
        target: id of the source.
        at_s: game time of the change (s), even if it is reported later.
        last_known_position: last known position at that time (m).
    """

    kind: ChangeKind
    target: int
    at_s: float
    last_known_position: Point


class TargetReport(NamedTuple):
    """A report of a target from one memory to another, by radio or by shouting; plain data for messages.

    Attributes:
        target: id of the source.
        position: last known (m).
        velocity: estimate at that time (m/s).
        strength: intensity of the dominant modality of the reporting sensor.
        at_s: when the target was there (s).
    """

    target: int
    position: Point
    velocity: Point
    strength: float
    at_s: float


class SenseMemory(Saveable):
    """The memory of one sensor for all its targets.

    Each change is returned exactly once, in the order in which changes happened and with
    their times, even if the memory is queried rarely. The states of a target are gained,
    lost, expired, forgotten; a target that is sensed again before it is forgotten is gained
    again. Sensors of one sense manager may share a memory.

    Args:
        lose_after_s: a target not sensed for longer than this is lost (s); 0
            or more. Keep it above the time a sensor may wait for its turn.
        max_age_s: a target not sensed for longer than this expires (s);
            at least ``lose_after_s``; ``math.inf`` for never.
        keep_expired_s: time that an expired target is kept before it is forgotten
            (s); 0 or more.
        free_knowledge_s: time after the last sighting of a target for which its
            true position stays known (s); 0 or more. A guard that saw a thief run behind
            a pillar can guess its position; with 0 the guard has to search.

    Attributes:
        durations: these times (s), for a table of percepts.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Cost: a sensation O(log targets); ``advance`` O(targets).
    """

    SHOWN = ("targets", "durations")

    STATE = DeclaredState(rows=ROWS)    # durations belong to the program

    def __init__(
        self,
        *,
        lose_after_s: float = LOSE_AFTER_S,
        max_age_s: float = MAXIMUM_AGE_S,
        keep_expired_s: float = 0.0,
        free_knowledge_s: float = 0.0,
    ) -> None:
        lose_after_s = finite_number("lose_after_s", lose_after_s, minimum=0)
        if max_age_s != math.inf:
            max_age_s = finite_number(
                "max_age_s", max_age_s, minimum=lose_after_s,
                remedy="a target is lost before it expires; use math.inf for never",
            )
        self.durations = MemoryDurations(
            lose_after_s, max_age_s, finite_number("keep_expired_s", keep_expired_s, minimum=0),
            finite_number("free_knowledge_s", free_knowledge_s, minimum=0))
        self._sensor_id = 0
        self._now_s = -math.inf
        self._own_table: PerceptTable | None = None
        self._notify: Callable[[list[MemoryChange]], None] | None = None

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def targets(self) -> list[int]:
        """Ids of all targets not forgotten, ascending. Cost: below 1 µs for a few."""
        found: list[int] = self._table.known_targets(self._sensor_id)
        return found

    @property
    def revision(self) -> int:
        """A number that changes with each pass in which percepts of its sense manager may have changed."""
        found: int = self._table.revision
        return found

    @property
    def is_owned(self) -> bool:
        """Whether it belongs to a sensor of a sense manager."""
        return self._notify is not None

    def sense(
        self,
        target: int,
        modality: str,
        intensity: float,
        position: Point,
        at_s: float,
        *,
        sent_at_s: float | None = None,
        is_seen: bool = False,
    ) -> list[MemoryChange]:
        """Add a sensation, and return the changes of its target.

        Args:
            target: id of the source.
            modality: name of the modality.
            intensity: strength of the sensation.
            position: its origin (m).
            at_s: game time of the sensation (s).
            sent_at_s: game time of its emission (s); None for ``at_s``. An older position
                does not overwrite a newer one.
            is_seen: True if the position was seen, so that it updates the
                last seen position and the velocity.

        Raises:
            TypeError: if an argument is of another type; then nothing is changed.
            ValueError: if ``at_s`` is before the time of the last call, or a number is out of
                range; then nothing is changed.
        """
        if type(target) is not int or not 0 <= target <= MOST:
            target = whole_number("target", target, minimum=0)
        if not isinstance(modality, str):
            raise TypeError(f"modality must be a string, got {shown(modality)}")
        if type(intensity) is not float or not 0 <= intensity <= LARGEST:
            intensity = finite_number("intensity", intensity, minimum=0)
        x, y, z = coordinates("position", position)
        known_at_s = None if sent_at_s is None else moment_s("sent_at_s", sent_at_s)
        at_s = self._move_to("at_s", at_s)
        table, number = self._table, self._table.number(modality)
        table.sense(
            self._sensor_id, target, number, intensity, x, y, z,
            at_s if known_at_s is None else known_at_s, at_s, is_seen)
        return self._changes()

    def report_of(self, target: int) -> TargetReport | None:
        """Return a report of a target for other memories, or None if the target is unknown."""
        record = self.find(target)
        if record is None or record.is_expired:
            return None
        return TargetReport(
            target, record.last_known_position, record.velocity, record.strength, record.known_at_s)

    def hear_report(self, report: TargetReport, age_s: float = 0.0) -> list[MemoryChange]:
        """Add a report of a target from another memory, and return the changes.

        The reported data keeps its age; if it is older than the data here, or than the maximum
        age, it changes nothing. A report neither gains nor loses a target.

        Args:
            report: from ``report_of`` of another memory.
            age_s: age of the report (s); 0 or more.

        Raises:
            TypeError: if it is not a report, or the age is not a number.
            ValueError: if the age is out of range.
        """
        if not isinstance(report, TargetReport):
            raise TypeError(f"report must be a TargetReport, got {type(report).__name__}")
        age_s = finite_number("age_s", age_s, minimum=0)
        now_s = max(self._passed_s, report.at_s + age_s)
        changes = self.advance(now_s)
        record = self.find(report.target)
        is_news = record is None or report.at_s > record.known_at_s
        if is_news and now_s <= report.at_s + self.durations.max_age_s:
            self._table.learn(self._sensor_id, self._table.number(RADIO), report, now_s)
            changes += self._changes()
        if self._notify is not None:
            self._notify(changes)
        return changes

    def advance(self, now_s: float) -> list[MemoryChange]:
        """Return the targets lost, expired and forgotten by ``now_s``, by time, then target.

        Raises:
            TypeError: if ``now_s`` is not a number.
            ValueError: if it is before the time of the last call, or out of range.
        """
        now_s = self._move_to("now_s", now_s)
        self._table.settle(self._sensor_id, now_s)
        return self._changes()

    def find(self, target: int) -> KnownTarget | None:
        """Return what is known of ``target``, or None if it is unknown."""
        if type(target) is not int or not 0 <= target <= MOST:
            return None
        found: KnownTarget | None = self._table.find(self._sensor_id, target)
        return found if found is not None and found.is_known else None

    def known(self) -> list[KnownTarget]:
        """Return all targets that are not forgotten, strongest first, then by id."""
        known = [found for one in self.targets if (found := self.find(one)) is not None]
        return known if len(known) < 2 else sorted(known, key=lambda one: (-one.strength, one.target))

    def forget(self, target: int) -> None:
        """Remove ``target`` from the memory, without a change."""
        record = self.find(target)
        if record is not None:
            self._table.forget([record])

    def forget_all(self) -> None:
        """Clear the memory; the next call may have any time."""
        self._table.forget(self._table.known(self._sensor_id))
        self._now_s = -math.inf

    @property
    def _saved_rows(self) -> SavedRows:
        return saved_rows(self._table.known(self._sensor_id), self._table.looks, meters=False)

    @_saved_rows.setter
    def _saved_rows(self, saved: SavedRows) -> None:
        self.forget_all()  # and what time it was: a loaded game may go back
        put_rows(self._table, saved.targets | self._sensor_id << ID_BITS, saved)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(np.unique(values.rows.targets)) < len(values.rows.targets):
            refuse("rows.targets", "must hold each target once")
        if values.rows.meters["has_meter"].any():
            refuse("rows.meters", "were saved, but a memory has none")

    def belong_to(
        self, table: PerceptTable, sensor_id: int, notify: Callable[[list[MemoryChange]], None]
    ) -> None:
        """Keep all that it knows in a table from now on, under the id of a sensor; for sense managers.

        Args:
            table: of a sense manager.
            sensor_id: the sensor; its settings are in the table.
            notify: called with changes by reports.
        """
        if self._own_table is not None:
            self._own_table.move_memory(self._sensor_id, table, sensor_id)
        self._own_table, self._sensor_id, self._notify = table, sensor_id, notify

    def belong_to_nobody(self) -> None:
        """Keep all that it knows in a table of its own again."""
        table, sensor_id = self._table, self._sensor_id
        self._own_table, self._sensor_id, self._notify = None, 0, None
        if table.known(sensor_id):
            table.move_memory(sensor_id, self._table, 0)

    def begin_anew(self) -> None:
        """Know nothing, in no table, at any time; before loading."""
        self._own_table, self._now_s = None, -math.inf

    @property
    def _table(self) -> PerceptTable:
        table = self._own_table
        if table is None:
            table = self._own_table = PerceptTable()
            table.put_mind(0, 0, self.durations, None)
        return table

    @property
    def _passed_s(self) -> float:
        """Game time up to which it is current (s)."""
        passed_s: float = self._table.now_s
        return max(self._now_s, passed_s)

    def _changes(self) -> list[MemoryChange]:
        """Return what the loops have listed, by time, then target."""
        table, listed = self._table, self._table.changes
        if not listed:
            return []
        table.changes = []
        table.drop_ended()
        return [
            MemoryChange(kind, target, at_s, (x, y, z))
            for _, at_s, target, kind, x, y, z in sorted(listed, key=itemgetter(1, 2))]

    def _move_to(self, name: str, now_s: float) -> float:
        now_s = moment_s(name, now_s)
        if now_s < self._passed_s:
            raise ValueError(
                f"now_s must not decrease, got {now_s} s after {self._passed_s} s;"
                " use one clock for all calls of a memory"
            )
        self._now_s = now_s
        return now_s
