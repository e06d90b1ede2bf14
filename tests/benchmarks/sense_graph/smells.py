"""Ten steps of a smell, when it is everywhere and when it is in few rooms."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ai_core.senses.graph.smell import Scent, SmellModel
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
    model = _model(n, rooms)
    masses = [_mass(k, len(rooms) == n) for k in rooms]

    def steps() -> Scent:
        scent = Scent(model, 1)
        scent.mass[rooms] = masses
        for step in range(STEPS):
            scent.step(1e6 + step * STEP_S)
        return scent

    return steps


def _model(n: int, rooms: list[int]) -> SmellModel:
    """What is faint is high where little smells, so that it stays where it is."""
    return SmellModel(level(n), SMELL, 1e-3 if len(rooms) == n else 0.5, STEP_S)


def _mass(room: int, everywhere: bool) -> float:
    return 100.0 + room % 7 if everywhere else 80.0


def _plain(n: int, rooms: list[int]) -> Case:
    """The loop over every room and door that comes to mind first."""
    doors = plain(n).doors
    model = _model(n, rooms)
    shares = model.flow()[0].tolist()
    faint, stays = model.faint.tolist(), model.stays.tolist()

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
    faint = _model(n, rooms).faint

    def is_same(ours: Any, other: Any) -> bool:
        expected = np.array(other)
        strong = expected >= faint
        is_close = np.allclose(ours.mass[strong], expected[strong], rtol=1e-9)
        return bool(strong.sum() >= len(rooms) // 2 and is_close)

    return is_same
