"""A level of rooms in a square, joined by doors, once as ours and once as plain lists."""
from __future__ import annotations

import math
import random
from functools import cache
from typing import NamedTuple

from ai_core.senses.graph.parts import Box, Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.modality import Modality

ROOM_M = 5.0
HEARING = Modality("hearing", 1e6, kept_per_m=0.98, speed_m_per_s=340)
SMELL = Modality("smell", 1e6, speed_m_per_s=1.0)
FAINTEST = 1e-9


class Plain(NamedTuple):
    """The same as a programmer would write it down for a loop: doors of rooms, all worked out.

    Attributes:
        following: by door, the doors one comes to: door, metres on, share kept on the way.
        doors: by room, the doors that leave it: door, room behind it.
    """

    following: list[list[tuple[int, float, float]]]
    doors: list[list[tuple[int, int]]]


@cache
def level(regions: int) -> SenseGraph:
    """Rooms of a square number, each joined to its four neighbours, doors anywhere in a wall."""
    side = math.isqrt(regions)
    chance = random.Random(regions)
    rooms = [
        SenseRegion(f"{x} {y}", Box((x * ROOM_M, 0, y * ROOM_M), ((x + 1) * ROOM_M, 3, (y + 1) * ROOM_M)),
                    dissipation={"smell": 0.01})
        for y in range(side) for x in range(side)
    ]
    portals = []
    for y in range(side):
        for x in range(side):
            for dx, dy in ((1, 0), (0, 1)):
                if x + dx < side and y + dy < side:
                    along = chance.uniform(1, ROOM_M - 1)
                    place = ((x + dx) * ROOM_M + dy * along, 1.0, (y + dy) * ROOM_M + dx * along)
                    passage = Passage(place, kept_per_m=0.9, distance_m=0.25)
                    door = SensePortal(f"{x} {y}", f"{x + dx} {y + dy}", {"hearing": passage, "smell": passage})
                    portals += [door, door.back()]
    return SenseGraph(rooms, portals)


@cache
def plain(regions: int) -> Plain:
    """The same level as lists; doors are numbered as the rows of our table, so that ties are too."""
    table = level(regions).table(HEARING)
    following = []
    for row, there in enumerate(table.to_region.tolist()):
        out = []
        for leg, other in enumerate(table.out_of(there), int(table.leg_first[row])):
            metres = float(table.leg_distance_m[leg]) + float(table.distance_m[other])
            out.append((other, metres, float(table.leg_kept[leg]) * float(table.kept[other])))
        following.append(out)
    doors = [[(row, int(table.to_region[row])) for row in table.out_of(region)] for region in range(regions)]
    return Plain(following, doors)
