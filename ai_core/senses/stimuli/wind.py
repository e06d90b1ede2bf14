"""Wind: how far the air has drifted, for what it carries."""
from __future__ import annotations

from ai_core.errors import point
from ai_core.saving.fields import Fields, State
from ai_core.senses.sensation import Point

__all__ = ["Wind"]


class Wind:
    """One wind for the whole world, which may turn.

    What a smell drifts is the difference between two moments, so it does not
    depend on how often anybody looks.
    """

    def __init__(self) -> None:
        self.velocity: Point = (0.0, 0.0, 0.0)
        self._drifted: Point = (0.0, 0.0, 0.0)
        self._since_s = 0.0

    def set(self, velocity: object, now_s: float) -> None:
        """Let it blow another way from now on (m/s)."""
        x, y, z = point("velocity", velocity).tolist()
        self._drifted, self._since_s = self.drift_m(now_s), now_s
        self.velocity = (x, y, z)

    def drift_m(self, now_s: float) -> Point:
        """Return how far the air has drifted since the beginning (m)."""
        (dx, dy, dz), (vx, vy, vz), lasted_s = self._drifted, self.velocity, now_s - self._since_s
        return (dx + vx * lasted_s, dy + vy * lasted_s, dz + vz * lasted_s)

    def save_state(self) -> State:
        """Return the wind as plain data."""
        return {"velocity": list(self.velocity), "drifted": list(self._drifted), "since_s": self._since_s}

    def loaded(self, fields: Fields, latest_s: float) -> Wind:
        """Return the wind that was saved; raises StateError if it cannot be."""
        found = Wind()
        found.velocity, found._drifted = fields.point("velocity"), fields.point("drifted")
        found._since_s = fields.seconds("since_s", latest_s=latest_s)
        fields.end()
        return found
