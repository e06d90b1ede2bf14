"""The record of one target in a memory."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ai_core.senses.percepts.live import PerceptOwner, SyncedField
from ai_core.senses.sensation import Point

__all__ = ["UNMOVING", "KnownTarget"]

UNMOVING: Point = (0.0, 0.0, 0.0)
"""Velocity of what was seen once, or not for a while (m/s)."""


def velocity_between(before: Point, after: Point, passed_s: float) -> Point:
    """Return the velocity from one point to another (m/s)."""
    (x0, y0, z0), (x, y, z) = before, after
    return ((x - x0) / passed_s, (y - y0) / passed_s, (z - z0) / passed_s)


class KnownTarget:
    """The record of one target; for reading, only the memory writes it.

    Attributes:
        target: id of the source.
        first_sensed_s: when it was first sensed since it was last forgotten (s).
        last_sensed_s: when it was last sensed, by this sensor or by a reporting one (s).
        last_known_position: newest known position, by any sense (m).
        known_at_s: when it was there: time of emission, not of arrival (s).
        last_seen_position: newest position by sight (m), or None.
        last_seen_s: when it was last seen (s), or None.
        first_seen_s: when it was first seen (s), or None.
        velocity: estimate from the last two sightings (m/s).
        is_noticed: True until the target is lost; False if only reported.
        is_expired: True once it is older than its maximum age.
        strengths: newest intensity by modality name; ``RADIO`` for reports.
        sensed_at_s: time of the newest sensation by modality name (s).
    """

    __slots__ = (
        "_known_at_s", "_last_known_position", "_last_seen_position", "_last_seen_s",
        "_last_sensed_s", "_mind", "_noticed_s", "_sensed_at_s", "_strengths", "_velocity",
        "first_seen_s", "first_sensed_s", "is_expired", "is_noticed", "target",
    )

    last_sensed_s = SyncedField[float]("_last_sensed_s")
    last_known_position = SyncedField[Point]("_last_known_position")
    known_at_s = SyncedField[float]("_known_at_s")
    last_seen_position = SyncedField["Point | None"]("_last_seen_position")
    last_seen_s = SyncedField["float | None"]("_last_seen_s")
    velocity = SyncedField[Point]("_velocity")
    strengths = SyncedField[dict[str, float]]("_strengths")
    sensed_at_s = SyncedField[dict[str, float]]("_sensed_at_s")

    def __init__(self, target: int, at_s: float, position: Point, known_at_s: float) -> None:
        self.target = target
        self.first_sensed_s = self._last_sensed_s = self._noticed_s = at_s
        self._last_known_position = position
        self._known_at_s = known_at_s
        self._last_seen_position: Point | None = None
        self._last_seen_s: float | None = None
        self.first_seen_s: float | None = None
        self._velocity = UNMOVING
        self.is_noticed = False
        self.is_expired = False
        self._strengths: dict[str, float] = {}
        self._sensed_at_s: dict[str, float] = {}
        self._mind: PerceptOwner | None = None

    @property
    def dominant_modality(self) -> str:
        """The most reliable modality: the newest, then the strongest, then the first by name."""
        strengths, times = self.strengths, self._sensed_at_s
        return min(strengths, key=lambda name: (-times[name], -strengths[name], name))

    @property
    def strength(self) -> float:
        """The newest intensity of the dominant modality."""
        return self._strengths[self.dominant_modality]

    @property
    def as_noted(self) -> tuple[Point, float]:
        """The newest known position (m), and when it was there (s), as far as it was told; for its memory alone."""
        return self._last_known_position, self._known_at_s

    @property
    def sensed_until_s(self) -> float:
        """Until when oneself has sensed it (s), as far as it was told; for its memory alone."""
        return self._noticed_s

    def know(self, position: Point, known_at_s: float) -> None:
        """Note the newest known position (m), and when it was there (s); for its memory alone."""
        self._last_known_position, self._known_at_s = position, known_at_s

    def sense(self, modality: str, intensity: float, at_s: float) -> None:
        """Note that oneself has sensed it; for its memory alone."""
        self._last_sensed_s = self._noticed_s = self._sensed_at_s[modality] = at_s
        self._strengths[modality] = intensity
        self.is_expired = False

    def see(self, position: Point, seen_s: float) -> None:
        """Note a sighting; the velocity is that between it and a recent other one."""
        before, before_s = self._last_seen_position, self._last_seen_s
        if before is not None and before_s is not None and seen_s > before_s:
            self._velocity = (
                velocity_between(before, position, seen_s - before_s) if self.is_noticed else UNMOVING
            )
        if before is None:
            self.first_seen_s = seen_s
        self._last_seen_position, self._last_seen_s = position, seen_s

    def move_on(
        self, position: Sequence[float], at_s: float, before: tuple[Sequence[float], float],
        *, is_seen: bool,
    ) -> None:
        """Note where it is after it has been in view for a while; for its memory alone.

        Args:
            position: where it is (m).
            at_s: since when that is known (s).
            before: where it was in the last look before, and when (m, s).
            is_seen: whether it was seen.
        """
        x, y, z = position
        place = (x, y, z)
        if is_seen:
            (x0, y0, z0), before_s = before
            self._last_seen_position, self._last_seen_s = (x0, y0, z0), before_s
            self.see(place, at_s)
        self._last_known_position, self._known_at_s = place, at_s

    def age_s(self, now_s: float, modality: str | None = None) -> float:
        """Return the time since the last sensation (s); ``inf`` if there was none.

        Args:
            now_s: game time (s).
            modality: name of the modality; None for any.
        """
        if modality is None:
            return now_s - self.last_sensed_s
        return now_s - self.sensed_at_s.get(modality, -math.inf)

    def extrapolated_position(self, now_s: float) -> Point:
        """Return the position of the target now if it kept its velocity (m)."""
        x, y, z = self.last_known_position
        passed_s = now_s - self._known_at_s
        vx, vy, vz = self._velocity
        return (x + vx * passed_s, y + vy * passed_s, z + vz * passed_s)
