"""How a squad of a scene moves its members' characters: all in one crossing a frame; a part of the Squad node."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import WalkRow


class SquadMoving:
    """Characters that walk, and navigation agents that are told where to."""

    core: Any
    _members: dict[int, Any]

    def begin_moving(self: Any) -> None:
        self._walkers: WalkRow | None = None
        self._unit = 1.0
        self._led: list[tuple[int, Any]] = []        # rows of those whose navigation agents lead them

    def move_otherwise(self: Any) -> None:
        """Members are others, or move in another way."""
        self._walkers = None

    def move_all(self: Any, elapsed_s: float, *, stops: bool) -> None:
        """Move characters by a frame as the library's squad says.

        Args:
            elapsed_s: game time since the last frame (s).
            stops: nobody is to go any further.
        """
        if self._walkers is None:
            members = list(self._members.values())
            self._walkers = WalkRow([one.walker() if _is_there(one) else None for one in members])
            self._led = [(row, one) for row, one in enumerate(members) if one.is_valid() and one.is_led()]
            self._unit = float(self.unit)
        marchers = self.core.marchers
        self._walkers.walk(marchers.velocities, marchers.rises, 0.0 if stops else self._unit, elapsed_s)
        for row, member in self._led:
            agent = member.agent() if _is_there(member) else None
            if agent is not None:
                agent.set_target_position(self.point(self.core.destinations[row]))


def _is_there(member: Any) -> bool:
    return bool(member.is_valid() and member.body is not None and member.body.is_valid())
