"""The memory of one sensor: targets noticed, lost, expired and forgotten."""
from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from ai_core.described import Described
from ai_core.errors import MOST, finite_number
from ai_core.senses.percepts.percept_loops import KnownTarget, MemoryDurations, PerceptTable
from ai_core.senses.sensation import MemoryChange, Point

__all__ = ["LOSE_AFTER_S", "MAXIMUM_AGE_S", "RADIO", "SenseMemory", "TargetReport"]

LOSE_AFTER_S = 0.5
"""Time without a sensation after which a target counts as lost (s).

Smaller values lose a target that passes behind a post, and gain it again; larger
values let a character stare at a target that has gone.
"""

MAXIMUM_AGE_S = 30.0
"""Age of the last sensation at which a target expires (s)."""

RADIO = "radio"
"""Stands for reports among the modalities of a target."""


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


class SenseMemory(Described):
    """The memory of one sensor for all its targets; empty until ``add_sensor`` of a sense manager gets it.

    The sensor reports each change exactly once, in the order in which changes happened and with
    their times, however rarely the manager advances. The states of a target are gained,
    lost, expired, forgotten; a target that is sensed again before it is forgotten is gained
    again. Sensors of one sense manager may share a memory; it is empty again once they are removed.

    Args:
        lose_after_s: a target not sensed for longer than this is lost (s); 0
            or more. Keep it above the time a sensor may wait for its turn.
        max_age_s: a target not sensed for longer than this expires (s);
            at least ``lose_after_s``; ``math.inf`` for never.
        keep_expired_s: time that an expired target is kept before it is forgotten (s); 0 or more.
        free_knowledge_s: time after the last sighting of a target for which its true position stays known (s); 0 or
            more. A guard that saw a thief run behind a pillar can guess its position; with 0 the guard has to search.

    Attributes:
        durations: these times (s), for a table of percepts.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Cost: each query O(log percepts of the manager + targets).
    """

    SHOWN = ("targets", "durations")

    _sensor_id = -1
    _table: PerceptTable | None = None
    _notify: Callable[[SenseMemory, list[MemoryChange]], None] | None = None

    def __init__(
        self, *, lose_after_s: float = LOSE_AFTER_S, max_age_s: float = MAXIMUM_AGE_S, keep_expired_s: float = 0.0,
        free_knowledge_s: float = 0.0,
    ) -> None:
        lose_after_s = finite_number("lose_after_s", lose_after_s, minimum=0)
        if max_age_s != math.inf:
            max_age_s = finite_number(
                "max_age_s", max_age_s, minimum=lose_after_s,
                remedy="a target is lost before it expires; use math.inf for never")
        self.durations = MemoryDurations(
            lose_after_s, max_age_s, finite_number("keep_expired_s", keep_expired_s, minimum=0),
            finite_number("free_knowledge_s", free_knowledge_s, minimum=0))

    def alike(self) -> SenseMemory:
        """Return another memory with the same times, which is empty. Cost: a third of a new one."""
        other = SenseMemory.__new__(SenseMemory)
        other.durations = self.durations
        return other

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def targets(self) -> list[int]:
        """Ids of all targets not forgotten, ascending. Cost: below 1 µs for a few."""
        return [] if self._table is None else [one.target for one in self._table.known(self._sensor_id)]

    @property
    def revision(self) -> int:
        """A number that changes with each pass in which percepts of its sense manager may have changed."""
        return 0 if self._table is None else int(self._table.revision)

    @property
    def is_owned(self) -> bool:
        """Whether it belongs to a sensor of a sense manager."""
        return self._table is not None

    def report_of(self, target: int) -> TargetReport | None:
        """Return a report of a target for other memories, or None if the target is unknown."""
        record = self.find(target)
        if record is None or record.is_expired:
            return None
        return TargetReport(target, record.last_known_position, record.velocity, record.strength, record.known_at_s)

    def hear_report(self, report: TargetReport, age_s: float = 0.0) -> list[MemoryChange]:
        """Add a report of a target from another memory, notify the sensor, and return the changes.

        The reported data keeps its age; if it is older than the data here, or than the maximum
        age, it changes nothing. A report neither gains nor loses a target.

        Args:
            report: from ``report_of`` of another memory.
            age_s: age of the report (s); 0 or more.

        Raises:
            TypeError: if it is not a report, or the age is not a number.
            ValueError: if the age is out of range.
            RuntimeError: if the memory belongs to no sensor.
        """
        if not isinstance(report, TargetReport):
            raise TypeError(f"report must be a TargetReport, got {type(report).__name__}")
        age_s = finite_number("age_s", age_s, minimum=0)
        table, notify = self._table, self._notify
        if table is None or notify is None:
            raise RuntimeError("the memory belongs to no sensor; pass it to add_sensor of a sense manager")
        now_s = max(table.now_s, report.at_s + age_s)
        table.settle(self._sensor_id, now_s)
        record = self.find(report.target)
        is_news = record is None or report.at_s > record.known_at_s
        if is_news and now_s <= report.at_s + self.durations.max_age_s:
            table.learn(self._sensor_id, table.number(RADIO), report, now_s)
        changes, table.changes = sorted(table.changes, key=attrgetter("at_s", "target")), []
        table.drop_ended(self._sensor_id)
        notify(self, changes)
        return changes

    def find(self, target: int) -> KnownTarget | None:
        """Return what is known of ``target``, or None if it is unknown."""
        if type(target) is not int or not 0 <= target <= MOST or self._table is None:
            return None
        found: KnownTarget | None = self._table.find(self._sensor_id, target)
        return found if found is not None and found.is_known else None

    def known(self) -> list[KnownTarget]:
        """Return all targets that are not forgotten, strongest first, then by id."""
        known: list[KnownTarget] = [] if self._table is None else self._table.known(self._sensor_id)
        return known if len(known) < 2 else sorted(known, key=lambda one: (-one.strength, one.target))

    def forget(self, target: int) -> None:
        """Remove ``target`` from the memory, without a change."""
        record = self.find(target)
        if record is not None and self._table is not None:
            self._table.forget(self._sensor_id, [record])

    def forget_all(self) -> None:
        """Clear the memory."""
        if self._table is not None:
            self._table.forget(self._sensor_id, self._table.known(self._sensor_id))

    def belong_to(
        self, table: PerceptTable | None, sensor_id: int = -1,
        notify: Callable[[SenseMemory, list[MemoryChange]], None] | None = None,
    ) -> None:
        """Be kept in a table from now on, under the id of a sensor; for sense managers.

        Args:
            table: of a sense manager; None for no sensor. Within one table all that is known moves.
            sensor_id: the sensor; its settings are in the table.
            notify: called with this memory and the changes by reports.
        """
        if table is not None and table is self._table:
            table.move_memory(self._sensor_id, sensor_id)
        self._table, self._sensor_id, self._notify = table, sensor_id, notify
