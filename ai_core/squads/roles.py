"""Assignment of roles to members when a squad needs a number of each role."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ai_core.errors import finite_number, several_names, shown, whole_number
from ai_core.squads.commander import SquadMember
from ai_core.squads.slot_assignment import reassign_slots

__all__ = ["RoleAssignment", "RoleNeed", "assign_roles"]


@dataclass(frozen=True)
class RoleNeed:
    """Demand for a number of members with a role.

    Attributes:
        role: name of the role.
        count: number of members wanted, 0 or more.
        only: a member needs one of these roles to qualify, such as "medic"; empty for all members.
        cost: returns the cost of giving the role to a member, 0 or more, ``inf`` for never; None for
            the same cost for all members.

    Raises:
        TypeError, ValueError: if the role is not a name or the count is negative.
    """

    role: str
    count: int = 1
    only: tuple[str, ...] = ()
    cost: Callable[[SquadMember], float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.role, str) or not self.role:
            raise TypeError(f"role must be a non-empty string, got {shown(self.role)}")
        whole_number("count", self.count, minimum=0)
        object.__setattr__(self, "only", several_names("only", self.only))
        if self.cost is not None and not callable(self.cost):
            raise TypeError(f"cost must be a callable, got {shown(self.cost)}")


class RoleAssignment(NamedTuple):
    """Result of an assignment of roles."""

    roles: dict[int, str]
    """Roles by member id."""
    missing: dict[str, int]
    """Number of unfilled places by role."""


def assign_roles(
    members: Mapping[int, SquadMember], needs: Sequence[RoleNeed], before: Mapping[int, str] | None = None,
    change_cost: float = 1.0,
) -> RoleAssignment:
    """Assign roles at the least total cost; with too few members, earlier needs are met first.

    Args:
        members: members by id.
        needs: roles wanted, most important first.
        before: present roles by member id; a change must save more than ``change_cost``.
        change_cost: cost of a change, in the unit of costs, 0 or more.

    Raises:
        ValueError: if a cost is negative or NaN.

    Cost: O(n**2 * m) at worst, n members and m wanted.
    """
    wanted = [(rank, need) for rank, need in enumerate(needs) for _ in range(need.count)]
    held = dict(before or {})
    costs = np.array([
        [_cost(one, need) for _, need in wanted] for one in members.values()]).reshape(len(members), len(wanted))
    finite = costs[np.isfinite(costs)]
    step = (float(finite.max()) if len(finite) else 0.0) * len(members) + change_cost * len(members) + 1.0
    # A later need costs more than all earlier ones together, so later needs are left out first.
    costs = costs + np.array([step * rank for rank, _ in wanted])
    slots = np.full(len(members), -1, np.int32)
    taken: set[int] = set()
    for row, number in enumerate(members):
        fitting = (one for one, (_, need) in enumerate(wanted) if need.role == held.get(number) and one not in taken)
        slots[row] = next(fitting, -1)
        taken.add(int(slots[row]))
    found = reassign_slots(costs, slots, change_cost) if len(wanted) else None
    roles, missing = {}, {need.role: need.count for need in needs}
    if found is not None:
        for number, slot in zip(members, found.slots.tolist(), strict=True):
            if slot >= 0:
                roles[number] = wanted[slot][1].role
                missing[wanted[slot][1].role] -= 1
    return RoleAssignment(roles, {role: count for role, count in missing.items() if count})


def _cost(member: SquadMember, need: RoleNeed) -> float:
    if need.only and not set(need.only).intersection(member.roles):
        return float("inf")
    cost = 0.0 if need.cost is None else need.cost(member)
    if cost == float("inf"):
        return cost
    return finite_number(f"cost of role {need.role!r}", cost, minimum=0)
