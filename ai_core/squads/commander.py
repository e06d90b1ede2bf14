"""Members of a squad, and rules that choose its commander."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.declared_state import ListOf, Number, Record, Text, Whole
from ai_core.squads.capabilities import CAPABILITIES_STATE, Capabilities

__all__ = ["MEMBER_STATE", "ChooseCommander", "SquadMember", "nearest_to_goal", "toughest"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SquadMember:
    """Properties of a member other than its position.

    Attributes:
        member_id: id given by the game.
        speed: highest speed (m/s).
        radius_m: half the width (m).
        roles: roles it can fill, such as "healer" or "scout".
        capabilities: kind, attack, toughness and healing; None if unknown.
        data: any value of the game; not saved.
    """

    member_id: int
    speed: float
    radius_m: float
    roles: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    data: Any = field(default=None, compare=False)


MEMBER_STATE = Record(
    SquadMember, member_id=Whole(), speed=Number(1e-9, 1e6), radius_m=Number(1e-9, 1e6),
    roles=ListOf(Text(), make=tuple), capabilities=CAPABILITIES_STATE)
"""How a member is saved."""

ChooseCommander: TypeAlias = Callable[[Mapping[int, SquadMember], Floats, "Floats | None"], int]
"""Callable that receives the members by ascending id, their positions (n, d) and the goal or None; returns an id."""


def nearest_to_goal(members: Mapping[int, SquadMember], positions: Floats, goal: Floats | None) -> int:
    """Return the id of the member nearest to the goal, or to the mean position without a goal; ties: smallest id.

    Source: 003_designing_ai_for_games, movement of groups.
    """
    towards = positions.mean(axis=0) if goal is None else goal
    away = ((positions - towards) ** 2).sum(axis=1)
    return list(members)[int(away.argmin())]


def toughest(members: Mapping[int, SquadMember], positions: Floats, goal: Floats | None) -> int:
    """Return the id of the member with the most toughness; on a tie the smallest id."""
    return max(members.values(), key=lambda one: (
        one.capabilities.toughness if one.capabilities else 0.0, -one.member_id)).member_id
