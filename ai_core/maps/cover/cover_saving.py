"""Saving and loading of cover maps."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ai_core.maps.cover.cover_objects import CoverObject
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, CoverSpots
from ai_core.saving.fields import LARGEST_FLOAT32, MOST, Fields, State, brief

if TYPE_CHECKING:
    from ai_core.maps.cover.cover_map import CoverMap

__all__ = ["fields_of_spots", "map_state", "prepared_map", "spots_of_fields"]

VERSION = 1


def fields_of_spots(spots: CoverSpots) -> State:
    """Return spots as plain lists."""
    return {
        "places": spots.places.reshape(-1).tolist(), "towards": spots.towards.reshape(-1).tolist(),
        "is_low": spots.is_low.astype(int).tolist(), "exposures": spots.exposures.tolist(),
        "peeks": spots.peeks.tolist(),
    }


def spots_of_fields(fields: Fields) -> CoverSpots:
    """Return the spots that ``fields_of_spots`` wrote.

    Raises:
        StateError: if lengths differ, or a number is out of range.
    """
    is_low = fields.wholes("is_low", maximum=1)
    count = len(is_low)
    spots = CoverSpots(
        np.array(fields.numbers("places", count=3 * count), np.float32).reshape(-1, 3),
        np.array(fields.numbers("towards", count=3 * count), np.float32).reshape(-1, 3),
        np.array(is_low, np.bool_),
        np.array(fields.numbers("exposures", count=count, minimum=0, maximum=1), np.float32),
        np.array(fields.wholes("peeks", count=count, maximum=LEFT | RIGHT | OVER), np.uint8))
    fields.end()
    return spots


def map_state(cover: CoverMap) -> State:
    """Return a cover map as plain data."""
    return {
        "version": VERSION, "last_id": cover.last_id, "ids": cover.ids.tolist(), "spots": fields_of_spots(cover.spots),
        "things": [{"number": number, **_thing(one)} for number, one in cover.things.items()],
        "behind": [
            {"id": spot.id, "thing": spot.thing, "place": spot.place.tolist(), "towards": spot.towards.tolist(),
             "is_low": spot.is_low, "exposure": spot.exposure, "peeks": spot.peeks, "before": _thing(before)}
            for spot, before in cover.behind.values()],
        "held": [[spot, who] for who, spot in cover.held.items()],
    }


def prepared_map(cover: CoverMap, state: object) -> Callable[[], None]:
    """Check a saved map; return the function that applies it to ``cover``.

    Raises:
        StateError: if the state is invalid.
    """
    from ai_core.maps.cover.cover_map import CoverSpot

    fields = Fields.versioned(state, version=VERSION)
    last_id = fields.whole("last_id")
    ids = np.array(fields.wholes("ids", minimum=1, maximum=last_id), np.int64)
    if (np.diff(ids) <= 0).any():
        fields.refuse("ids", "must ascend")
    spots = spots_of_fields(fields.group("spots"))
    if len(spots) != len(ids):
        fields.refuse("ids", f"must be as many as spots, {len(spots)}, got {len(ids)}")
    things, behind = {}, {}
    for one in fields.groups("things"):
        things[one.whole("number")] = _read_thing(one)
        one.end()
    for one in fields.groups("behind"):
        spot = CoverSpot(
            one.whole("id", minimum=1, maximum=last_id), np.array(one.point("place"), np.float32),
            np.array(one.point("towards"), np.float32), one.flag("is_low"),
            one.number("exposure", minimum=0, maximum=1), one.whole("peeks", maximum=LEFT | RIGHT | OVER),
            one.whole("thing"))
        before = one.group("before")
        behind[spot.id] = spot, _read_thing(before)
        before.end()
        one.end()
    held = _read_held(fields, {*ids.tolist(), *behind})
    fields.end()

    def change() -> None:
        cover.spots, cover.ids, cover.last_id = spots, ids, last_id
        cover.things, cover.behind = things, behind
        cover.held, cover.holders = held, {spot: who for who, spot in held.items()}
        cover.version += 1

    return change


def _thing(one: CoverObject) -> State:
    return {"middle": list(one.middle), "half_sides": list(one.half_sides), "turn_rad": one.turn_rad}


def _read_thing(fields: Fields) -> CoverObject:
    middle, turn_rad = fields.point("middle"), fields.number("turn_rad")
    half_sides = fields.numbers("half_sides", count=3, minimum=0, maximum=LARGEST_FLOAT32)
    return CoverObject(middle, (half_sides[0], half_sides[1], half_sides[2]), turn_rad)


def _read_held(fields: Fields, known: set[int]) -> dict[int | str, int]:
    held: dict[int | str, int] = {}
    for index, pair in enumerate(fields.items("held")):
        place = f"held[{index}]"
        if not isinstance(pair, list) or len(pair) != 2:
            fields.refuse(place, "must be a list of a spot and its holder")
        row = Fields({"spot": pair[0], "who": pair[1]}, place)
        spot, who = row.whole("spot"), row.anything("who")
        if not isinstance(who, str):
            who = row.whole("who", minimum=-MOST)
        if spot not in known or spot in held.values():
            fields.refuse(place, f"names spot {spot}, which does not exist or is already reserved")
        if who in held:
            fields.refuse(place, f"names holder {brief(who)}, which has reserved another spot")
        held[who] = spot
    return held
