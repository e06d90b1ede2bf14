"""The memory of one sensor: targets noticed, lost, expired and forgotten."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

from ai_core.clock import moment_s
from ai_core.errors import LARGEST, MOST, UnknownNameError, finite_number, shown, whole_number
from ai_core.saving.fields import State
from ai_core.senses.percepts.live import PerceptOwner
from ai_core.senses.percepts.mind_state import prepared_memory, saved_memory
from ai_core.senses.percepts.remembered import KnownTarget, velocity_between
from ai_core.senses.percepts.target_report import RADIO, TargetReport
from ai_core.senses.sensation import Point, checked_place

__all__ = ["LOSE_AFTER_S", "MAXIMUM_AGE_S", "KnownTarget", "MemoryChange", "SenseMemory"]

LOSE_AFTER_S = 0.5
"""Time without a sensation after which a target counts as lost (s).

Smaller values lose a target that passes behind a post, and gain it again; larger
values let a character stare at a target that has gone.
"""

MAXIMUM_AGE_S = 30.0
"""Age of the last sensation at which a target expires (s)."""

class MemoryChange(NamedTuple):
    """A change of a target in a memory.

    Attributes:
        kind: ``gained`` (noticed, or noticed again), ``lost`` (no longer
            sensed), ``told`` (a report brought newer data), ``expired``
            (too old to be trusted), ``forgotten``.
        target: id of the source.
        at_s: game time of the change (s), even if it is reported later.
        last_known_position: last known position at that time (m).
    """

    kind: Literal["gained", "lost", "reported", "expired", "forgotten"]
    target: int
    at_s: float
    last_known_position: Point


class SenseMemory:
    """The memory of one sensor for all its targets.

    Each change is returned exactly once, in the order in which changes happened and with
    their times, even if the memory is queried rarely. The states of a target are gained,
    lost, expired, forgotten; a target that is sensed again before it is forgotten is gained
    again.

    Args:
        lose_after_s: a target not sensed for longer than this is lost (s); 0
            or more. Keep it above the time a sensor may wait for its turn.
        maximum_age_s: a target not sensed for longer than this expires (s);
            at least ``lose_after_s``; ``math.inf`` for never.
        keep_expired_s: time that an expired target is kept before it is forgotten
            (s); 0 or more.
        free_knowledge_s: time after the last sighting of a target for which its
            true position stays known (s); 0 or more. A guard that saw a thief run behind
            a pillar can guess its position; with 0 the guard has to search.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Cost: a sensation O(1); ``advance`` O(1) while nothing is due, else O(targets).
    """

    def __init__(
        self,
        *,
        lose_after_s: float = LOSE_AFTER_S,
        maximum_age_s: float = MAXIMUM_AGE_S,
        keep_expired_s: float = 0.0,
        free_knowledge_s: float = 0.0,
    ) -> None:
        self.lose_after_s = finite_number("lose_after_s", lose_after_s, minimum=0)
        if maximum_age_s != math.inf:
            maximum_age_s = finite_number(
                "maximum_age_s", maximum_age_s, minimum=self.lose_after_s,
                remedy="a target is lost before it expires; use math.inf for never",
            )
        self.maximum_age_s = maximum_age_s
        self.keep_expired_s = finite_number("keep_expired_s", keep_expired_s, minimum=0)
        self.free_knowledge_s = finite_number("free_knowledge_s", free_knowledge_s, minimum=0)
        self._known: dict[int, KnownTarget] = {}
        self._now_s = -math.inf
        # Nothing happens by time passing until then; too early is allowed, too late is not.
        self._next_s = math.inf
        self._mind: PerceptOwner | None = None

    def __len__(self) -> int:
        """Number of targets not forgotten."""
        return len(self._known)

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
        position = checked_place("position", position)
        known_at_s = None if sent_at_s is None else moment_s("sent_at_s", sent_at_s)
        self._catch_up()
        at_s = self._move_to("at_s", at_s)
        known_at_s = at_s if known_at_s is None else known_at_s
        changes = []
        record = self._known.get(target)
        if record is not None and not self._is_followed(record):
            changes = self._settle(target)
            record = self._known.get(target)
        if record is None:
            record = self._add(KnownTarget(target, at_s, position, known_at_s))
        if is_seen:
            record.see(position, known_at_s)
        if known_at_s >= record._known_at_s:
            record._last_known_position, record._known_at_s = position, known_at_s
        record.sense(modality, intensity, at_s)
        self._next_s = min(self._next_s, at_s + self.lose_after_s)
        if not record.is_noticed:
            record.is_noticed = True
            changes.append(MemoryChange("gained", target, at_s, record._last_known_position))
        self._was_changed()
        return changes

    def hold(self, target: int, until_s: float) -> None:
        """Treat a target that is not lost yet as sensed without a break until a time, before the next ``sense``.

        So a target that is in view at two looks, however far apart, is not lost in between.

        Raises:
            TypeError, ValueError: if ``until_s`` is not a valid time.
        """
        until_s = moment_s("until_s", until_s)
        self._catch_up()
        self.note_moment(until_s)
        record = self._known.get(target)
        if record is not None and record.is_noticed:
            record._noticed_s = max(record._noticed_s, until_s)
            record._last_sensed_s = max(record._last_sensed_s, until_s)

    def note_moment(self, at_s: float) -> None:
        """Set the time up to which a record is current, without another change."""
        self._now_s = max(self._now_s, at_s)

    def follow(self, target: int, position: Point, at_s: float) -> None:
        """Update the position of a target that is not sensed; see ``free_knowledge_s``.

        Raises:
            TypeError, ValueError: if an argument is of another type, or out of range.
            UnknownNameError: if the target is unknown.
        """
        record = self._known.get(target)
        if record is None:
            raise UnknownNameError("target", target, self._known)
        position, at_s = checked_place("position", position), moment_s("at_s", at_s)
        passed_s = at_s - record._known_at_s
        if passed_s > 0:
            record._velocity = velocity_between(record._last_known_position, position, passed_s)
            record._last_known_position, record._known_at_s = position, at_s

    def followed_freely(self, now_s: float) -> list[int]:
        """Return the targets seen lately whose true position stays known, by id."""
        free_s = self.free_knowledge_s
        if not free_s:
            return []
        return sorted(
            target for target, one in self._known.items()
            if one._last_seen_s is not None and now_s <= one._last_seen_s + free_s
        )

    def report_of(self, target: int) -> TargetReport | None:
        """Return a report of a target for other memories, or None if the target is unknown."""
        record = self.find(target)
        if record is None or record.is_expired:
            return None
        return TargetReport(
            target, record.last_known_position, record._velocity, record.strength,
            record._known_at_s,
        )

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
        self._catch_up()
        now_s = max(self._now_s, report.at_s + age_s)
        changes = self.advance(now_s)
        record = self._known.get(report.target)
        is_news = record is None or report.at_s > record._known_at_s
        if is_news and now_s <= report.at_s + self.maximum_age_s:
            changes.append(self._learn(report, record, now_s))
        self._was_changed()
        if self._mind is not None:
            self._mind.tell(changes)
        return changes

    def advance(self, now_s: float) -> list[MemoryChange]:
        """Return the targets lost, expired and forgotten by ``now_s``, by time, then target.

        Raises:
            TypeError: if ``now_s`` is not a number.
            ValueError: if it is before the time of the last call, or out of range.
        """
        self._catch_up()
        now_s = self._move_to("now_s", now_s)
        if now_s <= self._next_s:
            return []
        changes = [change for target in sorted(self._known) for change in self._settle(target)]
        changes.sort(key=lambda change: (change.at_s, change.target))
        self._next_s = self.next_change_s()
        self._was_changed()
        return changes

    def next_change_s(self, except_of: frozenset[int] = frozenset()) -> float:
        """Return when the next target is lost, expires or is forgotten (s); ``inf`` if none.

        Args:
            except_of: targets that are sensed at present.
        """
        known = self._known
        return min(
            (self._next_of(one) for target, one in known.items() if target not in except_of),
            default=math.inf,
        )

    def find(self, target: int) -> KnownTarget | None:
        """Return the record of ``target``, or None if it is unknown."""
        return self._known.get(target)

    def known(self) -> list[KnownTarget]:
        """Return all targets that are not forgotten, strongest first, then by id."""
        return sorted(self._known.values(), key=lambda one: (-one.strength, one.target))

    def forget(self, target: int) -> None:
        """Remove ``target`` from the memory, without a change."""
        self._catch_up()
        if target in self._known:
            self._known.pop(target)._mind = None
            self._was_changed()

    def forget_all(self) -> None:
        """Clear the memory; the next call may have any time."""
        self.replace({})

    def save_state(self) -> State:
        """Return the memory as plain data."""
        self._catch_up()
        return saved_memory(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved memory, and return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        return prepared_memory(self, state)

    def replace(self, known: dict[int, KnownTarget]) -> None:
        """Replace the whole content; the next call may have any time."""
        self._catch_up()
        for one in self._known.values():
            one._mind = None
        for one in known.values():
            one._mind = self._mind
        self._known = known
        self._now_s, self._next_s = -math.inf, -math.inf
        self._was_changed()

    def belong_to(self, mind: PerceptOwner) -> bool:
        """Set the owner that updates this memory from now on; False if it already has another."""
        if self._mind is not None:
            return False
        self._mind = mind
        for one in self._known.values():
            one._mind = mind
        return True

    def belong_to_nobody(self) -> None:
        """Remove the owner set by ``belong_to``."""
        self._catch_up()
        self._mind = None
        for one in self._known.values():
            one._mind = None

    def _catch_up(self) -> None:
        if self._mind is not None:
            self._mind.catch_up()

    def _was_changed(self) -> None:
        if self._mind is not None:
            self._mind.was_changed()

    def _move_to(self, name: str, now_s: float) -> float:
        now_s = moment_s(name, now_s)
        if now_s < self._now_s:
            raise ValueError(
                f"now_s must not decrease, got {now_s} s after {self._now_s} s;"
                " use one clock for all calls of a memory"
            )
        self._now_s = now_s
        return now_s

    def _add(self, record: KnownTarget) -> KnownTarget:
        record._mind = self._mind
        self._known[record.target] = record
        return record

    def _is_followed(self, record: KnownTarget) -> bool:
        """Return True if a target is neither lost nor expired, as most are that are sensed."""
        return record.is_noticed and self._now_s <= record._noticed_s + self.lose_after_s

    def _next_of(self, record: KnownTarget) -> float:
        if record.is_noticed:
            return record._noticed_s + self.lose_after_s
        expires_s = record._last_sensed_s + self.maximum_age_s
        return expires_s + self.keep_expired_s if record.is_expired else expires_s

    def _settle(self, target: int) -> list[MemoryChange]:
        """Return what happened to one target merely by time passing."""
        record = self._known[target]
        changes = []
        lost_s = record._noticed_s + self.lose_after_s
        if record.is_noticed and self._now_s > lost_s:
            record.is_noticed = False
            changes.append(MemoryChange("lost", target, lost_s, record._last_known_position))
        expired_s = record._last_sensed_s + self.maximum_age_s
        if not record.is_expired and self._now_s > expired_s:
            record.is_expired = True
            changes.append(MemoryChange("expired", target, expired_s, record._last_known_position))
        forgotten_s = expired_s + self.keep_expired_s
        if self._now_s > forgotten_s:
            del self._known[target]
            record._mind = None
            changes.append(
                MemoryChange("forgotten", target, forgotten_s, record._last_known_position)
            )
        return changes

    def _learn(
        self, report: TargetReport, record: KnownTarget | None, now_s: float
    ) -> MemoryChange:
        """Note what somebody else knows."""
        if record is None:
            record = self._add(KnownTarget(report.target, report.at_s, report.position, report.at_s))
        record._last_known_position, record._known_at_s = report.position, report.at_s
        record._velocity = report.velocity
        record._strengths[RADIO], record._sensed_at_s[RADIO] = report.strength, report.at_s
        record._last_sensed_s = max(record._last_sensed_s, report.at_s)
        record.is_expired = False
        self._next_s = min(self._next_s, self._next_of(record))
        return MemoryChange("reported", report.target, now_s, report.position)
