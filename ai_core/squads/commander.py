"""Members of a squad, rules that choose its commander, and orders to it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_kind, finite_number, several_names, whole_number
from ai_core.saving.kinds import ListOf, Number, OneOf, Optional, Point, Record, Text, Whole
from ai_core.squads.capabilities import CAPABILITIES_STATE, Capabilities

__all__ = [
    "LARGEST_ID", "MEMBER_STATE", "ORDER_STATE", "ChooseCommander", "Order", "OrderKind", "OrderState",
    "SquadMember", "nearest_to_goal", "toughest"
]

Floats = NDArray[np.float64]
LARGEST_ID = (1 << 31) - 1
"""Largest member id; ids are stored in 32 bits."""


@dataclass(frozen=True)
class SquadMember:
    """Properties of a member other than its position.

    Attributes:
        member_id: id given by the game, 0 to ``LARGEST_ID``.
        speed: highest speed (m/s), above 0.
        radius_m: half the width (m), above 0.
        roles: roles it can fill, such as "healer" or "scout".
        capabilities: kind, attack, toughness and healing; None if unknown.
        data: any value of the game; not saved.

    Raises:
        TypeError, ValueError: if a value has a wrong type or is out of range.
    """

    member_id: int
    speed: float
    radius_m: float
    roles: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    data: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "member_id", whole_number("member_id", self.member_id, minimum=0, maximum=LARGEST_ID))
        set_(self, "speed", finite_number("speed", self.speed, above=0, maximum=1e6))
        set_(self, "radius_m", finite_number("radius_m", self.radius_m, above=0, maximum=1e6))
        set_(self, "roles", several_names("roles", self.roles))
        check_kind("capabilities", self.capabilities, Capabilities)


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


OrderKind = Literal["move", "follow", "form_up", "hold"]
"""Kinds of orders: go to a goal; follow a given path; form up at a position; stay."""

OrderState = Literal["waiting", "marching", "done", "failed", "replaced"]
"""States of an order: path requested; marching; arrived; impossible; superseded. The last three are final."""


@dataclass(eq=False, slots=True)
class Order:
    """One order of one squad.

    Attributes:
        number: number of the order, one more than that of the squad's previous order.
        kind: kind of the order.
        goal: goal with as many coordinates as the squad has dimensions (m); None for "hold".
        heading: direction to face in the plane, of length 1, of "form_up"; else None.
        state: present state.
        why: reason of the failure; while "marching", why the order will fail at the end of the path, which does
            not lead to the goal. Empty otherwise.
    """

    number: int
    kind: OrderKind
    goal: tuple[float, ...] | None = None
    state: OrderState = "waiting"
    why: str = ""
    heading: tuple[float, ...] | None = None

    @property
    def is_done(self) -> bool:
        """True if the order is done, failed or replaced."""
        return self.state in ("done", "failed", "replaced")

    @property
    def keeps_places(self) -> bool:
        """True if it is done, and the members stay at their places until the next order: "form_up" and "hold"."""
        return self.state == "done" and self.kind in ("form_up", "hold") and self.number > 0


ORDER_STATE = Record(
    Order, number=Whole(), kind=OneOf(get_args(OrderKind)), goal=Optional(Point(lambda squad: squad.dimensions)),
    state=OneOf(get_args(OrderState)), why=Text(), heading=Optional(Point(2)))
"""How an order of a squad is saved."""
