"""Characters who share maximum counts: never more than so many in a level, whatever the camera does."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

    def add(self, agent_id: int, member: Any) -> None:
        """Let a character in at the next evaluation; until then it has no level."""
        self.members[agent_id] = member
        member.core.level = self.limits.off

    def remove(self, agent_id: int) -> None:
        self.members.pop(agent_id, None)

    def update(self, importances: Mapping[int, float], elapsed_s: float) -> None:
        """Give out levels, and let characters switch: who gives up a place first."""
        ids = [one for one in sorted(self.members) if one in importances]
        characters = {one: self.members[one].core for one in ids}
        self.limits.update(ids, [importances[one] for one in ids], elapsed_s, characters=characters)
        self.limits.apply(characters)

    def take_ids(self, new_ids: Mapping[int, int]) -> None:
        """Know characters by other ids."""
        self.members = {new_ids[one]: member for one, member in self.members.items()}

    def save_state(self) -> State:
        return {"limits": self.limits.save_state()}

    def prepare_state(self, fields: Fields) -> Callable[[], None]:
        """Check what was saved; return what loads it."""
        return self.limits.prepare_state(fields.anything("limits"))
