"""Crowds of characters that share maximum counts of levels."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.agent_rows import contains_sorted
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.saving.declared_state import DeclaredState, Part, Saveable


class LODCrowd(Saveable):
    """The characters of one crowd name.

    Args:
        levels: most detailed first, the fallback last.
        spread_updates: evaluations over which a spawned crowd gets its levels.

    Cost: one evaluation in NumPy for all; only new, forced and changing characters are visited.
    """

    STATE = DeclaredState(limits=Part())

    def __init__(self, levels: Sequence[Level], spread_updates: int) -> None:
        self.levels = tuple(levels)
        self.limits = LevelLimits(self.levels, spread_updates=spread_updates)
        self.members: dict[int, BehavioralLOD] = {}            # by agent id
        self._ids = np.zeros(0, np.int32)                      # of members, ascending
        self._has_changed = False                              # whether members changed
        self._pending: set[int] = set()                           # characters to visit: new, forced, of another level
        self._faults: set[FaultIsolation] = set()

    def add(self, agent_id: int, member: Any) -> None:
        """Add a character, which gets a level at the next evaluation; until then it has none."""
        self._know(agent_id, member.core)
        member.core.level = self.limits.off

    def remove(self, agent_id: int) -> None:
        core = self.members.pop(agent_id, None)
        if core is not None:
            core.on_change = None
            self._has_changed = True

    def update(self, ids: NDArray[np.int32], values: NDArray[np.float64], elapsed_s: float) -> None:
        """Assign levels, and let characters switch, demotions first.

        Args:
            ids: ids of all evaluated agents, ascending.
            values: their importances.
            elapsed_s: game time since the last evaluation (s).
        """
        if self._has_changed:
            self._has_changed = False
            self._ids = np.array(sorted(self.members), np.int32)
        own = self._ids
        are_here = contains_sorted(own, ids)
        if not are_here.all():                       # a script has just added members that were not evaluated
            own = own[are_here]
        pending, self._pending = self._pending, set()
        if any(one.has_quarantined for one in self._faults):
            pending.update(self.members)                # any member may need the next level
        evaluated = set(own.tolist()) if pending else pending
        self._pending = (pending & self.members.keys()) - evaluated
        characters = {one: self.members[one] for one in pending if one in evaluated}
        self.limits.update(own, values[ids.searchsorted(own)], elapsed_s, characters=characters)
        self._pending.update(one for one, core in characters.items() if core.forced is not None)
        changed = (*self.limits.demoted.tolist(), *self.limits.promoted.tolist())
        characters.update((one, self.members[one]) for one in changed)
        try:
            self.limits.apply(characters)
        except BaseException:
            self._pending.update(characters)            # those that have not switched yet
            raise

    def _know(self, agent_id: int, core: BehavioralLOD) -> None:
        self.members[agent_id] = core
        self._has_changed = True
        core.on_change = partial(self._mark_pending, agent_id)
        self._faults.add(core.faults)
        self._pending.add(agent_id)

    def _mark_pending(self, agent_id: int) -> None:
        self._pending.add(agent_id)

    def take_ids(self, new_ids: Mapping[int, int]) -> None:
        """Give characters new ids."""
        members, self.members = self.members, {}
        for one, core in members.items():
            self._know(new_ids[one], core)
        self._pending = set(self.members)

    def _finish_load(self) -> None:
        self._pending.update(self.members)
