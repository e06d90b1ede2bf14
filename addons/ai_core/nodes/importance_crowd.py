"""Characters who share maximum counts: never more than so many in a level, whatever the camera does."""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.saving.fields import Fields, State


class Crowd:
    """The characters of one crowd name.

    Args:
        levels: most detailed first, the fallback last.
        spread_updates: evaluations over which a spawned crowd is let in.
    """

    def __init__(self, levels: Sequence[Level], spread_updates: int) -> None:
        self.levels = tuple(levels)
        self.limits = LevelLimits(self.levels, spread_updates=spread_updates)
        self.members: dict[int, Any] = {}                      # agent id -> BehavioralLOD
        self._forces: dict[int, tuple[int, float]] = {}        # told to the limits at the next evaluation

    def add(self, agent_id: int, member: Any) -> None:
        """Let a character in at the next evaluation; until then it has no level."""
        self.members[agent_id] = member
        member.core.level = self.limits.off

    def remove(self, agent_id: int) -> None:
        self.members.pop(agent_id, None)
        self._forces.pop(agent_id, None)

    def force(self, agent_id: int, level: int, for_s: float) -> None:
        """Put a character first from the next evaluation on."""
        self._forces[agent_id] = level, for_s

    def unforce(self, agent_id: int) -> None:
        self._forces.pop(agent_id, None)
        self.limits.unforce(agent_id)

    def update(self, importances: Mapping[int, float], elapsed_s: float) -> None:
        """Give out levels, and let characters switch: who gives up a place first."""
        ids = [one for one in sorted(self.members) if one in importances]
        values = [importances[one] for one in ids]
        self._update(ids, values, elapsed_s)
        if self._forces:
            forces, self._forces = self._forces, {}
            for one, (level, for_s) in sorted(forces.items()):
                self.limits.force(one, level, for_s=None if math.isinf(for_s) else for_s)
            self._update(ids, values, 0.0)

    def take_ids(self, new_ids: Mapping[int, int]) -> None:
        """Know characters by other ids."""
        self.members = {new_ids[one]: member for one, member in self.members.items()}

    def save_state(self) -> State:
        return {
            "limits": self.limits.save_state(),
            "forces": [
                {"id": one, "level": level, "for_s": None if math.isinf(for_s) else for_s}
                for one, (level, for_s) in sorted(self._forces.items())
            ],
        }

    def prepare_state(self, fields: Fields, ids: Collection[int]) -> Callable[[], None]:
        """Check what was saved; return what loads it. ``ids`` are those there will be."""
        change_limits = self.limits.prepare_state(fields.anything("limits"))
        forces = {}
        for row in fields.groups("forces"):
            one = row.whole("id")
            if one not in ids or one in forces:
                row.refuse("id", f"must be one of agents, each once, got {one}")
            forces[one] = (
                row.whole("level", maximum=self.limits.off - 1), row.number_or("for_s", math.inf, minimum=0))
            row.end()

        def change() -> None:
            change_limits()
            self._forces = forces

        return change

    def _update(self, ids: list[int], values: list[float], elapsed_s: float) -> None:
        self.limits.update(ids, values, elapsed_s)
        self.limits.apply({one: member.core for one, member in self.members.items()})
