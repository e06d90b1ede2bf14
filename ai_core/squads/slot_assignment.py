"""Assignment of members to slots at least cost, and of roles by fitness."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import (
    as_array,
    check_kind,
    checked_name,
    finite_number,
    several,
    several_names,
    shown,
    whole_number,
)
from ai_core.scheduling.interruptible import Steps, finished
from ai_core.squads.commander import SquadMember
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import NO_SLOT, MemberTable
from ai_core.squads.matching_loops import Matching

__all__ = [
    "RoleAssignment", "RoleNeed", "SlotAssignment", "assign", "assign_formation_slots", "assign_roles",
    "reassign_slots",
]

COMPARED_PER_STEP = 1 << 13
"""Costs compared between two possible pauses of a matching (count): some 20 µs. A row compares 40,000 at worst if
it is one of 200."""

COSTS_PER_STEP = 1 << 12
"""Distances computed between two possible pauses (count): some 20 µs."""


class SlotAssignment(NamedTuple):
    """Result of an assignment of slots."""

    slots: NDArray[np.int32]
    """Slot of each member, shape (members,); -1 for none."""
    total: float
    """Sum of the costs of all assigned slots."""
    infeasible: tuple[int, ...]
    """Rows of members without a slot although slots are left, or for which no slot is allowed."""


def assign(costs: ArrayLike) -> SlotAssignment:
    """Assign slots to as many members as possible, at the least total cost.

    Args:
        costs: cost of each slot for each member, shape (members, slots); ``inf`` for a forbidden slot.

    Raises:
        TypeError: if ``costs`` does not hold numbers.
        ValueError: if ``costs`` is not two-dimensional, or has a NaN or negative infinity.

    Cost: O(n**2 * m) at worst, n being the smaller number; about 1 ms for 200 by 200.

    >>> assign([[2, 3], [0, float("inf")]]).total
    3.0
    """
    return finished(_assigned(_checked(costs)))


def _assigned(table: NDArray[np.float64]) -> Steps[SlotAssignment]:
    """Assign in steps, as ``assign``, with checked costs."""
    is_turned = table.shape[0] > table.shape[1]
    rows = np.ascontiguousarray(table.T) if is_turned else table
    columns = np.empty(len(rows), np.int32)
    if (yield from _matched(rows, columns)) < len(rows):
        columns = yield from _as_many_as_can(rows)
    yield
    if is_turned:
        slots = np.full(len(table), NO_SLOT, np.int32)
        taken = columns != NO_SLOT
        slots[columns[taken]] = np.flatnonzero(taken)
    else:
        slots = columns
    having = np.flatnonzero(slots != NO_SLOT)
    total = float(sum(table[having, slots[having]].tolist()))
    return SlotAssignment(slots, total, tuple(_infeasible(table, slots)))


def reassign_slots(costs: ArrayLike, before: ArrayLike, change_cost: float | None = None) -> SlotAssignment:
    """Assign slots to members, preferring their present slots.

    Args:
        costs: as for ``assign``.
        before: present slot of each member, shape (members,); -1 or a slot that no longer exists for none.
        change_cost: least gain of a change of slot, in the unit of costs, 0 or more; None makes as few
            changes as possible, whatever the cost.

    Returns:
        As ``assign``; ``total`` does not include ``change_cost``.

    Raises:
        TypeError, ValueError: as ``assign``; or if ``before`` has another length or does not hold integers.
    """
    table = _checked(costs)
    slots = as_array("before", before)
    if slots.size and slots.dtype.kind not in "iu":
        raise TypeError(f"before must hold integers, got {shown(before)}")
    if slots.shape != (len(table),):
        raise ValueError(f"before must have shape {(len(table),)}, got {slots.shape}")
    slots = slots.astype(np.int64)      # an empty array has no integer type
    if change_cost is not None:
        change_cost = finite_number("change_cost", change_cost, minimum=0)
    return finished(_reassigned(table, slots, change_cost))


def _reassigned(
    table: NDArray[np.float64], slots: NDArray[np.int64], change_cost: float | None
) -> Steps[SlotAssignment]:
    """Assign in steps, as ``reassign_slots``, with checked arguments."""
    if change_cost is None:
        finite = table[np.isfinite(table)]
        spread = float(finite.max() - finite.min()) if len(finite) else 0.0
        change_cost = (spread + 1.0) * (min(table.shape) + 1)
    penalized = table + change_cost
    staying = np.flatnonzero((slots >= 0) & (slots < table.shape[1]))
    penalized[staying, slots[staying]] -= change_cost
    found = yield from _assigned(penalized)
    having = np.flatnonzero(found.slots != NO_SLOT)
    return found._replace(total=float(sum(table[having, found.slots[having]].tolist())))


def _matched(rows: NDArray[np.float64], columns: NDArray[np.int32]) -> Steps[int]:
    """Write the column of each row; return the number of matched rows."""
    matching = Matching(rows, columns)  # type: ignore[no-untyped-call]
    yield
    while not matching.advance(COMPARED_PER_STEP):
        yield
    return int(matching.matched)


def _as_many_as_can(rows: NDArray[np.float64]) -> Steps[NDArray[np.int32]]:
    """Match as many rows as possible: a forbidden pair costs more than all allowed pairs together."""
    is_denied = ~np.isfinite(rows)
    allowed = rows[~is_denied]
    columns = np.full(len(rows), NO_SLOT, np.int32)
    if not len(allowed):
        return columns
    lowest = float(allowed.min())
    never = (float(allowed.max()) - lowest + 1.0) * (len(rows) + 1)
    yield
    yield from _matched(np.where(is_denied, never, rows - lowest), columns)
    columns[is_denied[np.arange(len(rows)), columns]] = NO_SLOT
    return columns


def _infeasible(table: NDArray[np.float64], slots: NDArray[np.int32]) -> list[int]:
    without = np.flatnonzero(slots == NO_SLOT)
    if not len(without):
        return []
    is_left = np.ones(table.shape[1], np.bool_)
    is_left[slots[slots != NO_SLOT]] = False
    never = ~np.isfinite(table[without]).any(axis=1)
    found: list[int] = without[never | is_left.any()].tolist()
    return found


def _checked(costs: ArrayLike) -> NDArray[np.float64]:
    table = as_array("costs", costs)
    if table.dtype.kind not in "iuf":
        raise TypeError(f"costs must be numbers, got {table.dtype}")
    if table.ndim != 2:
        raise ValueError(f"costs must have shape (members, slots), got {table.shape}")
    table = np.ascontiguousarray(table, np.float64)
    if np.isnan(table).any() or (table == -np.inf).any():
        member = int(np.flatnonzero((np.isnan(table) | (table == -np.inf)).any(axis=1))[0])
        raise ValueError(
            f"costs must be finite, or inf for a forbidden slot, got {table[member].tolist()[:8]} of member {member}")
    return table


Floats = NDArray[np.float64]
WORTH_CHANGING = 1.5
"""Least saving of a change of slots, in spacings per member; at less two members swap repeatedly."""


def assign_formation_slots(
    marchers: MemberTable, formation: Formation, roles: Sequence[tuple[str, ...]], commander_row: int,
    places: Floats, *, few_changes: bool | None,
) -> Steps[tuple[NDArray[np.int32], tuple[int, ...]]]:
    """Assign the slots of all members in steps; return the slots, and the ids of members without an allowed slot.

    The commander gets the first slot, whatever roles that slot requires. ``few_changes``: True for as few changes
    as possible, None for the least distance, False for changes that save enough distance.

    Cost: O(n**3) at worst, usually about n**2; with few changes O(n) and O(changes**3).
    """
    count = len(marchers)
    of_roles, kinds = formation.role_costs(roles, count)
    kinds[commander_row] = len(of_roles)
    of_roles = np.concatenate([of_roles, np.full((1, count), np.inf)])
    of_roles[:, 0], of_roles[-1, 0] = np.inf, 0.0
    ids, positions, before = marchers.ids.copy(), marchers.positions.copy(), marchers.slots.astype(np.int64)
    yield
    if few_changes:
        slots = before.astype(np.int32)
        rows, free = _changing(slots, of_roles, kinds)
        yield
        costs = yield from _costs(positions[rows], places[free], of_roles[:, free], kinds[rows])
        found = yield from _assigned(costs)
        slots[rows] = free[found.slots]
        if (found.slots != NO_SLOT).all():
            return slots, ()
    costs = yield from _costs(positions, places, of_roles, kinds)
    if few_changes is None:
        found = yield from _assigned(costs)
    else:
        worth = None if few_changes else WORTH_CHANGING * formation.spacing_m
        found = yield from _reassigned(costs, before, worth)
    slots = found.slots
    without = np.flatnonzero(slots == NO_SLOT)
    # Members without an allowed slot march in the slots that are left; their ids are returned.
    slots[without] = np.setdiff1d(np.arange(count), slots)[: len(without)]
    return slots, tuple(ids[without].tolist())


def _changing(
    slots: NDArray[np.int32], of_roles: Floats, kinds: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of members that cannot keep their slot, and the slots that no other member keeps."""
    rows = np.arange(len(slots))
    stays = (slots >= 0) & (slots < len(slots))
    stays[stays] = np.isfinite(of_roles[kinds[stays], slots[stays]])
    owners = np.full(len(slots), NO_SLOT)
    owners[slots[stays][::-1]] = rows[stays][::-1]         # the first of several members with one slot
    stays[stays] = owners[slots[stays]] == rows[stays]
    return np.flatnonzero(~stays), np.flatnonzero(owners == NO_SLOT)


def _costs(positions: Floats, places: Floats, of_roles: Floats, kinds: NDArray[np.intp]) -> Steps[Floats]:
    """Return the distance of each member from each place plus the cost of its roles, shape (members, places) (m)."""
    costs = np.zeros((len(positions), len(places)))
    block = max(1, COSTS_PER_STEP // max(1, len(places)))
    for first in range(0, len(positions), block):
        rows = slice(first, first + block)
        for axis in range(places.shape[1]):                # a sum over an axis of two takes ten times as long
            costs[rows] += (positions[rows, axis, None] - places[:, axis]) ** 2
        np.sqrt(costs[rows], out=costs[rows])
        costs[rows] += of_roles[kinds[rows]]
        yield
    return costs


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
        checked_name("role", self.role)
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
        before: present roles by member id; a new role must save more than ``change_cost``.
        change_cost: cost of a change, in the unit of costs, 0 or more.

    Raises:
        TypeError: if ``members`` or ``before`` is no mapping, or ``needs`` no sequence of RoleNeed.
        ValueError: if a cost is negative or NaN.

    Cost: O(n**2 * m) at worst, n members and m wanted.
    """
    if not isinstance(members, Mapping):
        raise TypeError(f"members must map ids to members, got {shown(members)}; use the members of a squad")
    check_kind("before", before, Mapping)
    needs, change_cost = several("needs", needs, RoleNeed), finite_number("change_cost", change_cost, minimum=0)
    wanted = [(rank, need) for rank, need in enumerate(needs) for _ in range(need.count)]
    held = dict(before or {})
    costs = np.array([
        [_cost(one, need) for _, need in wanted] for one in members.values()]).reshape(len(members), len(wanted))
    finite = costs[np.isfinite(costs)]
    step = (float(finite.max()) if len(finite) else 0.0) * len(members) + change_cost * len(members) + 1.0
    # A later need costs more than all earlier ones together, so later needs are left out first.
    costs += np.array([
        [step * rank + change_cost * (need.role != held.get(number)) for rank, need in wanted] for number in members
    ]).reshape(costs.shape)
    found = assign(costs) if len(wanted) else None
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
