"""What one character remembers of what it sensed: targets noticed, lost, forgotten."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

from ai_core.errors import finite_number
from ai_core.saving.fields import State
from ai_core.senses.mind_state import prepared_memory, saved_memory
from ai_core.senses.sensation import Point

__all__ = ["LOSE_AFTER_S", "MAXIMUM_AGE_S", "MemoryChange", "Remembered", "SenseMemory"]

LOSE_AFTER_S = 0.5
"""Time without a sensation after which a target counts as lost (s).

Shorter, and a target that passes behind a post is lost and gained again;
longer, and a character stares at a target that has gone.
"""

MAXIMUM_AGE_S = 30.0
"""Age of the last sensation at which a target is forgotten (s)."""

UNMOVING: Point = (0.0, 0.0, 0.0)


class MemoryChange(NamedTuple):
    """A target was ``gained`` (noticed, or noticed again), ``lost`` or ``forgotten``.

    Attributes:
        kind: which of the three.
        target: id of the source.
        at_s: the moment it happened (s), even if it is told later.
        last_known_position: where it was thought to be then (m).
    """

    kind: Literal["gained", "lost", "forgotten"]
    target: int
    at_s: float
    last_known_position: Point


class Remembered:
    """What is known of one target; read it, the memory writes it.

    Attributes:
        target: id of the source.
        first_sensed_s: when it was first sensed since it was last forgotten (s).
        last_sensed_s: when it was last sensed (s).
        last_known_position: newest known position, by any sense (m).
        known_at_s: when it was there: when the signal left, not when it came (s).
        last_seen_position: newest position by sight (m), or None.
        last_seen_s: when it was last seen (s), or None.
        velocity: estimate from the last two sightings (m/s).
        is_noticed: True until the target is lost.
        strengths: newest intensity by modality name.
        sensed_at_s: time of the newest sensation by modality name (s).
    """

    __slots__ = (
        "first_sensed_s", "is_noticed", "known_at_s", "last_known_position", "last_seen_position",
        "last_seen_s", "last_sensed_s", "sensed_at_s", "strengths", "target", "velocity",
    )

    def __init__(self, target: int, at_s: float, position: Point, known_at_s: float) -> None:
        self.target = target
        self.first_sensed_s = at_s
        self.last_sensed_s = at_s
        self.last_known_position = position
        self.known_at_s = known_at_s
        self.last_seen_position: Point | None = None
        self.last_seen_s: float | None = None
        self.velocity = UNMOVING
        self.is_noticed = False
        self.strengths: dict[str, float] = {}
        self.sensed_at_s: dict[str, float] = {}

    @property
    def dominant_modality(self) -> str:
        """The sense to trust: the newest, then the strongest, then the first by name."""
        return min(
            self.strengths, key=lambda name: (-self.sensed_at_s[name], -self.strengths[name], name)
        )

    @property
    def strength(self) -> float:
        """Newest intensity of the dominant modality."""
        return self.strengths[self.dominant_modality]

    def age_s(self, now_s: float) -> float:
        """Return the time since the last sensation (s)."""
        return now_s - self.last_sensed_s

    def extrapolated_position(self, now_s: float) -> Point:
        """Return where the target is by now if it kept its velocity (m)."""
        x, y, z = self.last_known_position
        passed_s = now_s - self.known_at_s
        vx, vy, vz = self.velocity
        return (x + vx * passed_s, y + vy * passed_s, z + vz * passed_s)


class SenseMemory:
    """What one sensor remembers of every target.

    Each change is returned exactly once, in the order in which things happened,
    with the moment it happened: also when the memory is asked rarely.

    Args:
        lose_after_s: a target not sensed for longer than this is lost (s); 0
            or more. Keep it above the time a sensor may wait for its turn.
        maximum_age_s: a target not sensed for longer than this is forgotten
            (s); at least ``lose_after_s``; ``math.inf`` never forgets.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Cost: a sensation O(1); ``advance`` O(1) while nothing is due, else O(targets).
    """

    def __init__(
        self, *, lose_after_s: float = LOSE_AFTER_S, maximum_age_s: float = MAXIMUM_AGE_S
    ) -> None:
        self.lose_after_s = finite_number("lose_after_s", lose_after_s, minimum=0)
        if maximum_age_s != math.inf:
            maximum_age_s = finite_number(
                "maximum_age_s", maximum_age_s, minimum=self.lose_after_s,
                remedy="a target is lost before it is forgotten; use math.inf to never forget",
            )
        self.maximum_age_s = maximum_age_s
        self._known: dict[int, Remembered] = {}
        self._now_s = -math.inf
        # No target was sensed last before these: what is followed need not be looked through.
        self._oldest_noticed_s = -math.inf
        self._oldest_s = -math.inf

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
        """Take in one sensation, and return what it changed about its target.

        Args:
            target: id of the source.
            modality: name of the sense.
            intensity: how strong it was.
            position: where it came from (m).
            at_s: when it was sensed (s).
            sent_at_s: when it left there (s); None for ``at_s``. Old news does
                not overwrite newer positions.
            is_seen: True if the position was seen, so that it counts for the
                last seen position and the velocity.

        Raises:
            ValueError: if ``at_s`` is before what the memory was told last.
        """
        self._move_to(at_s)
        known_at_s = at_s if sent_at_s is None else sent_at_s
        changes = []
        record = self._known.get(target)
        if record is not None and not self._is_followed(record):
            changes = self._settle(target)
            record = self._known.get(target)
        if record is None:
            record = self._known[target] = Remembered(target, at_s, position, known_at_s)
        if is_seen:
            self._see(record, position, known_at_s)
        if known_at_s >= record.known_at_s:
            record.last_known_position, record.known_at_s = position, known_at_s
        record.last_sensed_s = record.sensed_at_s[modality] = at_s
        record.strengths[modality] = intensity
        if at_s < self._oldest_noticed_s:  # there was none
            self._oldest_noticed_s = at_s
        if at_s < self._oldest_s:
            self._oldest_s = at_s
        if not record.is_noticed:
            record.is_noticed = True
            changes.append(MemoryChange("gained", target, at_s, record.last_known_position))
        return changes

    def advance(self, now_s: float) -> list[MemoryChange]:
        """Return what was lost and forgotten by ``now_s``, by moment, then target.

        Raises:
            ValueError: if ``now_s`` is before what the memory was told last.
        """
        self._move_to(now_s)
        if self._nothing_is_due:
            return []
        changes = [change for target in sorted(self._known) for change in self._settle(target)]
        changes.sort(key=lambda change: (change.at_s, change.target))
        known = self._known.values()
        self._oldest_noticed_s = min(
            (record.last_sensed_s for record in known if record.is_noticed), default=math.inf
        )
        self._oldest_s = min((record.last_sensed_s for record in known), default=math.inf)
        return changes

    def find(self, target: int) -> Remembered | None:
        """Return what is known of ``target``, or None if it is not known."""
        return self._known.get(target)

    def known(self) -> list[Remembered]:
        """Return every target not forgotten, strongest first, then by id."""
        return sorted(self._known.values(), key=lambda one: (-one.strength, one.target))

    def forget(self, target: int) -> None:
        """Drop what is known of ``target``, which is no change to be told of."""
        self._known.pop(target, None)

    def forget_all(self) -> None:
        """Begin anew, at whatever time it is told next."""
        self._known.clear()
        self._now_s = self._oldest_noticed_s = self._oldest_s = -math.inf

    def save_state(self) -> State:
        """Return what is remembered, as plain data."""
        return saved_memory(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved memory; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_memory(self, state)

    def _move_to(self, now_s: float) -> None:
        if not now_s >= self._now_s:
            raise ValueError(
                f"time must not go back, got {now_s} s after {self._now_s} s;"
                " use one clock for everything a memory is told"
            )
        self._now_s = now_s

    @property
    def _nothing_is_due(self) -> bool:
        return (
            self._now_s <= self._oldest_noticed_s + self.lose_after_s
            and self._now_s <= self._oldest_s + self.maximum_age_s
        )

    def _is_followed(self, record: Remembered) -> bool:
        """Return True if a target is neither lost nor forgotten, as most are that are sensed."""
        return record.is_noticed and self._now_s <= record.last_sensed_s + self.lose_after_s

    def _settle(self, target: int) -> list[MemoryChange]:
        """Return what happened to one target merely by time passing."""
        record = self._known.get(target)
        if record is None:
            return []
        changes = []
        lost_at_s = record.last_sensed_s + self.lose_after_s
        if record.is_noticed and self._now_s > lost_at_s:
            record.is_noticed = False
            changes.append(
                MemoryChange("lost", target, lost_at_s, record.last_known_position)
            )
        forgotten_at_s = record.last_sensed_s + self.maximum_age_s
        if self._now_s > forgotten_at_s:
            del self._known[target]
            changes.append(
                MemoryChange("forgotten", target, forgotten_at_s, record.last_known_position)
            )
        return changes

    def _see(self, record: Remembered, position: Point, seen_s: float) -> None:
        """Note a sighting; the velocity is that between it and a recent other one."""
        before, before_s = record.last_seen_position, record.last_seen_s
        if before is not None and before_s is not None and seen_s > before_s:
            passed_s = seen_s - before_s
            if record.is_noticed:
                (x, y, z), (x0, y0, z0) = position, before
                record.velocity = ((x - x0) / passed_s, (y - y0) / passed_s, (z - z0) / passed_s)
            else:
                record.velocity = UNMOVING
        record.last_seen_position, record.last_seen_s = position, seen_s
