"""Who commands: chosen by a rule that the game may replace."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.capabilities import Capabilities

__all__ = ["ChooseCommander", "SquadMember", "nearest_to_goal", "toughest"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SquadMember:
    """What a squad knows of a member beside where it is.

    Attributes:
        member_id: of the game.
        speed: how fast it can go (m/s).
        radius_m: half its width.
        roles: what it may be asked to do: "healer", "scout".
        capabilities: what it can do to whom; None if that is not known.
        data: whatever the game keeps with it; not saved.
    """

    member_id: int
    speed: float
    radius_m: float
    roles: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    data: Any = field(default=None, compare=False)


ChooseCommander: TypeAlias = Callable[[Mapping[int, SquadMember], Floats, "Floats | None"], int]
"""Told the members by ascending id, where they are (n, d), and the goal if there is one; returns an id."""


def nearest_to_goal(members: Mapping[int, SquadMember], positions: Floats, goal: Floats | None) -> int:
    """Return who is nearest to the goal, without one to the middle; the smallest id of several.

    Source: 003_designing_ai_for_games, movement of groups.
    """
    towards = positions.mean(axis=0) if goal is None else goal
    away = ((positions - towards) ** 2).sum(axis=1)
    return list(members)[int(away.argmin())]


def toughest(members: Mapping[int, SquadMember], positions: Floats, goal: Floats | None) -> int:
    """Return who stands most damage; the smallest id of several."""
    return max(members.values(), key=lambda one: (
        one.capabilities.toughness if one.capabilities else 0.0, -one.member_id)).member_id
