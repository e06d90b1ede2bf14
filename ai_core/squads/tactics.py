"""Tactics: what each member of a squad is to do, planned by the commander for all.

A tactic is asked for a plan at each thought. Members it gives a task leave their slots and go
where the task says; the others march on. It may keep what it has begun, and is saved with it.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import Fields, State
from ai_core.squads.situation import Situation
from ai_core.squads.slot_assignment import assign

__all__ = ["Plan", "Tactic", "Task", "nearest_posts"]

Floats = NDArray[np.float64]


class Task(NamedTuple):
    """What one member is to do."""

    kind: str
    """Such as "heal", "scout", "suppress", "screen", "flank", "overwatch", "attack", "stand_by"."""
    position: tuple[float, ...] | None = None
    """Where (m); None where it is."""
    target: int | None = None
    """Of whom: an enemy's id, for "heal" and "screen" a member's."""


Plan = dict[int, Task]
"""Tasks by member id."""


class Tactic:
    """One way of acting together; subclasses say how.

    Attributes:
        name: by which a squad, rules and saves know it.
    """

    name = ""

    def why_not(self, situation: Situation) -> str:
        """Return why it cannot be used now; empty if it can."""
        return ""

    def begin(self) -> None:
        """Forget what was begun before."""

    def plan(self, situation: Situation) -> Plan:
        """Return who does what now; members left out keep their slots."""
        raise NotImplementedError

    def forget_member(self, member_id: int) -> None:
        """Drop what is known of somebody who left or is lost."""

    def save_state(self) -> State:
        """Return what was begun, as plain data."""
        return {"version": 1}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it back.

        Raises:
            StateError: if it cannot be loaded.
        """
        Fields.versioned(state, version=1).end()
        return lambda: None


def nearest_posts(situation: Situation, member_ids: Sequence[int], posts: Sequence[Floats]) -> list[tuple[int, int]]:
    """Return pairs of member id and post, at the least total way; as many as there are of the fewer."""
    if not member_ids or not posts:
        return []
    places = np.array([situation.place(one) for one in member_ids])
    costs = np.sqrt(((places[:, None] - np.array(posts)[None]) ** 2).sum(axis=2))
    return [
        (member, slot) for member, slot in zip(member_ids, assign(costs).slots.tolist(), strict=True) if slot >= 0]
