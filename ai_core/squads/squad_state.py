"""Saving and loading of a squad: members, order, path and slots as plain data."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ai_core.saving.fields import Fields, State
from ai_core.squads.commander import SquadMember
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.formation_march import FormationMarch
from ai_core.squads.marchers import LARGEST_ID, MemberTable
from ai_core.squads.orders import KINDS, STATES, Order, OrderKind, OrderState
from ai_core.squads.tactical_state import prepared_tactics, read_capabilities, saved_capabilities, saved_tactics

if TYPE_CHECKING:
    from ai_core.squads.squad import Squad

__all__ = ["prepared_squad", "saved_squad"]

VERSION = 1

Made = TypeVar("Made")

WANTED = ("worthwhile", "few_changes", "anew")

NUMBERS = {"slots": -1, "arcs": math.nan, "away": math.inf, "late_s": 0.0, "nearest_m": math.inf}
"""Saved columns of a member's row besides its positions, and the value that None stands for."""

PLACES = ("position", "destination")


def saved_squad(squad: Squad) -> State:
    """Return the state of a squad."""
    march, order = squad._march, squad.order
    return {
        "version": VERSION, "dimensions": squad.dimensions,
        "members": [_saved_member(squad, row, one) for row, one in enumerate(squad.members.values())],
        "commander": squad.commander, "appointed": squad.appointed,
        "formation": _saved_formation(squad.formation),
        "order": [order.number, order.kind, None if order.goal is None else list(order.goal), order.state, order.why],
        "points": march.points.tolist(), "anchor_m": march.anchor_m, "is_at_end": march.is_at_end,
        "heading": march.heading.tolist(), "is_in_column": march.passage.is_in_column,
        "made_for": None if march.made_for is None else list(march.made_for),
        "slots_wanted": squad._slots_wanted, "slots_given_s": squad._slots_given_s,
        "infeasible": list(squad.infeasible),
        "stance": squad.judgement.save_state(), "counts": dict(squad._counts),
        "tactical": saved_tactics(squad),
    }


def prepared_squad(squad: Squad, state: object) -> Callable[[], None]:
    """Check a saved state and return the function that restores it in the squad."""
    fields = Fields.versioned(state, version=VERSION)
    if fields.whole("dimensions") != squad.dimensions:
        fields.refuse("dimensions", f"must be {squad.dimensions}, the dimensions of this squad")
    members, marchers = _read_members(squad, fields)
    commander, appointed = (_read_member_id(fields, name, members) for name in ("commander", "appointed"))
    formation = _read_formation(fields.group("formation"))
    order = _read_order(fields, squad.dimensions)
    change_march = _prepared_march(squad._march, fields, squad.dimensions)
    wanted = None if fields.anything("slots_wanted") is None else fields.one_of("slots_wanted", WANTED)
    infeasible, slots_given_s = tuple(fields.wholes("infeasible")), fields.seconds("slots_given_s")
    change_stance = squad.judgement.prepare_state(fields.anything("stance"))
    counted = fields.group("counts")
    counts = {name: counted.whole(name) for name in squad._counts}
    counted.end()
    change_tactics = prepared_tactics(squad, fields.group("tactical"), members)
    fields.end()

    def change() -> None:
        if squad._ticket is not None:
            ticket, squad._ticket = squad._ticket, None
            squad._safely("path", lambda: squad.routes.cancel(ticket))
        squad._members, squad.marchers = members, marchers
        squad.commander, squad.appointed, squad.formation = commander, appointed, formation
        squad.order, squad._slots_wanted, squad.infeasible = order, wanted, infeasible
        squad._slots_given_s = slots_given_s
        change_march()
        squad._counts.update(counts)
        change_stance()
        change_tactics()

    return change


def _prepared_march(march: FormationMarch, fields: Fields, dimensions: int) -> Callable[[], None]:
    points = _read_points(fields, dimensions)
    anchor_m, is_at_end = fields.number("anchor_m", minimum=0), fields.flag("is_at_end")
    heading = np.array(fields.numbers("heading", count=2, minimum=-1.001, maximum=1.001))
    is_in_column = fields.flag("is_in_column")
    made_for = None
    if fields.anything("made_for") is not None:
        body, aside, reach = fields.numbers("made_for", count=3, minimum=1e-9)
        made_for = body, aside, reach

    def change() -> None:
        march.resume(points, made_for, is_at_end=is_at_end)
        march.anchor_m, march.heading = anchor_m, heading
        march.passage.is_in_column = is_in_column

    return change


def _saved_member(squad: Squad, row: int, member: SquadMember) -> State:
    marchers = squad.marchers
    numbers = {name: getattr(marchers, name)[row].item() for name in NUMBERS}
    return {
        "id": member.member_id, "position": marchers.positions[row].tolist(), "speed": member.speed,
        "radius_m": member.radius_m, "roles": list(member.roles),
        "capabilities": saved_capabilities(member.capabilities),
        "is_straggler": bool(marchers.is_straggler[row]),
        "destination": marchers.destinations[row].tolist(), "velocity": marchers.velocities[row].tolist(),
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
    }


def _read_members(squad: Squad, fields: Fields) -> tuple[dict[int, SquadMember], MemberTable]:
    members: dict[int, SquadMember] = {}
    rows: list[dict[str, Any]] = []
    last = -1
    for one in fields.groups("members"):
        number = one.whole("id", maximum=LARGEST_ID)
        if number <= last:
            one.refuse("id", f"must be ascending, got {number} after {last}")
        last, here = number, squad.members.get(number)
        members[number] = member = SquadMember(
            number, one.number("speed", minimum=1e-9, maximum=1e6), one.number("radius_m", minimum=1e-9, maximum=1e6),
            _texts(one, "roles"), read_capabilities(one), here.data if here else None)
        row: dict[str, Any] = {
            name: one.number_or(name, absent) for name, absent in NUMBERS.items() if name != "slots"}
        row |= {f"{name}s": one.numbers(name, count=squad.dimensions) for name in PLACES}
        row["velocities"] = one.numbers("velocity", count=squad.dimensions)
        rows.append({**row, "ids": number, "speeds": member.speed, "radii": member.radius_m,
                     "slots": one.whole("slots", minimum=-1, maximum=LARGEST_ID),
                     "is_straggler": one.flag("is_straggler")})
        one.end()
    marchers = MemberTable(squad.dimensions)
    marchers.replace_rows(rows)
    return members, marchers


def _saved_formation(formation: Formation) -> State:
    return {
        "pattern": formation.pattern, "spacing_m": formation.spacing_m, "files": formation.files,
        "slots": [[one.forward_m, one.right_m, list(one.only), list(one.prefers)] for one in formation.custom_slots],
        "places": dict(formation.places), "mismatch_m": formation.mismatch_m,
    }


def _read_formation(fields: Fields) -> Formation:
    slots = []
    for index, row in enumerate(fields.items("slots")):
        parts = Fields({"slot": row}, fields.place_of(f"slots[{index}]")).items("slot", count=4)
        one = Fields(dict(zip(("forward_m", "right_m", "only", "prefers"), parts, strict=True)), f"slots[{index}]")
        slots.append(FormationSlot(one.number("forward_m"), one.number("right_m"), _texts(one, "only"),
            _texts(one, "prefers")))
    named = fields.group("places")
    places = {name: named.text(name) for name in named.names()}
    terms = fields.text("pattern"), fields.number("spacing_m"), fields.whole("files")
    mismatch_m = fields.number("mismatch_m")
    fields.end()
    return _made(fields, "pattern", lambda: Formation(*terms, tuple(slots), places, mismatch_m))


def _read_order(fields: Fields, dimensions: int) -> Order:
    number, kind, goal, state, why = fields.items("order", count=5)
    one = Fields({"number": number, "kind": kind, "goal": goal, "state": state, "why": why}, fields.place_of("order"))
    place = None if goal is None else tuple(one.numbers("goal", count=dimensions))
    if one.one_of("kind", KINDS) == "move" and place is None:
        one.refuse("goal", "must be a position for an order of kind 'move', got None")
    state = cast("OrderState", one.one_of("state", STATES))
    return Order(one.whole("number"), cast("OrderKind", kind), place, state, one.text("why"))


def _read_points(fields: Fields, dimensions: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    points = [
        Fields({"point": row}, f"points[{index}]").numbers("point", count=dimensions)
        for index, row in enumerate(fields.items("points"))
    ]
    return np.array(points, np.float64).reshape(-1, dimensions)


def _read_member_id(fields: Fields, name: str, members: dict[int, SquadMember]) -> int | None:
    if fields.anything(name) is None:
        return None
    number = fields.whole(name)
    if number not in members:
        fields.refuse(name, f"must be one of the members, got {number}")
    return number


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(Fields({name: one}, fields.place_of(name)).text(name) for one in fields.items(name))


def _made(fields: Fields, name: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except (LookupError, TypeError, ValueError) as error:
        fields.refuse(name, str(error))
