"""Which member stands in which slot of a formation, as they come, go and are far away."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.formation import Formation
from ai_core.squads.marchers import NO_SLOT, Marchers
from ai_core.squads.slot_assignment import assign, with_few_changes

__all__ = ["give_slots"]

Floats = NDArray[np.float64]

WORTH_CHANGING = 1.5
"""What a change of slots must save, in spacings a member: less and two swap again and again."""


def give_slots(
    marchers: Marchers, formation: Formation, roles: Sequence[tuple[str, ...]], commander_row: int,
    places: Floats, *, few_changes: bool | None,
) -> tuple[int, ...]:
    """Write slots of all; return the ids of those for whom there is none they may take.

    The commander has the first slot, whatever that is limited to.

    Args:
        marchers: everybody.
        formation: whose slots.
        roles: of everybody.
        commander_row: the commander's row.
        places: (n, d) where the slots are now (m).
        few_changes: True changes as few as can be, None anew for the least way, False only what
            is worth it.

    Cost: O(n**3) at worst, some n**2 usually.
    """
    count = len(marchers)
    costs = np.sqrt(((marchers.positions[:, None] - places[None]) ** 2).sum(axis=2))
    costs += formation.role_costs(roles, count)
    own = costs[commander_row, 0]
    costs[commander_row], costs[:, 0] = np.inf, np.inf
    costs[commander_row, 0] = own if np.isfinite(own) else 0.0
    if few_changes is None:
        found = assign(costs)
    else:
        worth = None if few_changes else WORTH_CHANGING * formation.spacing_m
        found = with_few_changes(costs, marchers.slots, worth)
    slots = found.slots
    without = np.flatnonzero(slots == NO_SLOT)
    infeasible = tuple(marchers.ids[without].tolist())
    # They come along in what is left, and whoever asks is told that they should not.
    slots[without] = np.setdiff1d(np.arange(count), slots)[: len(without)]
    marchers.slots[:] = slots
    return infeasible
