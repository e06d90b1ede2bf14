"""Ten steps of a smell, when it is everywhere and when it is in few rooms."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ai_core.senses.graph.smell_cloud import ScentCloud, SmellRoom
from ai_core.senses.graph.smell_flow import Cloud
from tests.benchmarks.sense_graph.levels import SMELL, level, plain
from tools.benchmarking.declarations import Case, Contest

STEP_S = 0.25
STEPS = 10
FEW = 100
"""Rooms that smell where little does."""


def everywhere(n: int) -> Contest:
    """Everything smells."""
    return _contest(n, n)


def little(n: int) -> Contest:
    """A hundred rooms smell, of however many."""
    return _contest(n, FEW)


def _contest(n: int, smelling: int) -> Contest:
    rooms = _rooms(n, smelling)
    return Contest(_ours(n, rooms), {"plain loop over all": _plain(n, rooms)}, is_same=_sameness(n, rooms))


def _rooms(n: int, smelling: int) -> list[int]:
    """A square of rooms in the middle."""
    side, wide = math.isqrt(n), math.isqrt(smelling)
    low = (side - wide) // 2
    return [(low + y) * side + low + x for y in range(wide) for x in range(wide)]


def _ours(n: int, rooms: list[int]) -> Case:
    made = _room(n, rooms)
    zeros = np.zeros(len(rooms))
    cloud = Cloud(np.array(rooms, np.int32), np.array([_mass(k, len(rooms) == n) for k in rooms]), zeros, zeros,
                  np.zeros((len(rooms), 3)))

    def steps() -> Cloud:
        scent = ScentCloud(made, 1)
        scent.cloud = cloud
        for step in range(STEPS):
            scent.step(1e6 + step * STEP_S)
        return scent.cloud

    return steps


def _room(n: int, rooms: list[int]) -> SmellRoom:
    """What is faint is high where little smells, so that it stays where it is."""
    return SmellRoom(level(n), SMELL, 1e-3 if len(rooms) == n else 0.5, STEP_S)


def _mass(room: int, everywhere: bool) -> float:
    return 100.0 + room % 7 if everywhere else 80.0


def _plain(n: int, rooms: list[int]) -> Case:
    """The loop over every room and door that comes to mind first."""
    doors = plain(n).doors
    made = _room(n, rooms)
    shares = made.plan.share.tolist()
    faint, stays = made.plan.faint.tolist(), made.plan.stays.tolist()

    def steps() -> list[float]:
        mass = [0.0] * n
        for room in rooms:
            mass[room] = _mass(room, len(rooms) == n)
        for _ in range(STEPS):
            after = list(mass)
            for room in range(n):
                here = mass[room]
                if here >= faint[room]:
                    for door, there in doors[room]:
                        moved = here * shares[door]
                        after[room] -= moved
                        after[there] += moved
            mass = [amount * stay for amount, stay in zip(after, stays, strict=True)]
        return mass

    return steps


def _sameness(n: int, rooms: list[int]) -> Callable[[Any, Any], bool]:
    """Rooms that smell more than faintly must be equal; ours forgets the others as they fade."""
    faint = _room(n, rooms).plan.faint

    def is_same(ours: Any, other: Any) -> bool:
        found = np.zeros(n)
        found[ours.region] = ours.mass
        strong = np.array(other) >= faint
        return bool(strong.sum() >= len(rooms) // 2 and np.allclose(found[strong], np.array(other)[strong], rtol=1e-9))

    return is_same
