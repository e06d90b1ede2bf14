"""One sound in the middle of a level that reaches a hundred rooms, and others who search the same."""
from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from ai_core.senses.graph.sense_graph_waves import SpreadingWave
from ai_core.senses.sensation import Signal
from tests.benchmarks.sense_graph.levels import FAINTEST, HEARING, level, plain
from tools.benchmarking.declarations import Case, Contest

ROOMS_REACHED = 100


def sound(n: int) -> Contest:
    """A sound that comes into ``ROOMS_REACHED`` rooms."""
    start = _start(n)
    range_m = _range_m(n, start)
    return Contest(
        _ours(n, start, range_m), {
            "plain heap search": _plain_search(n, start, range_m),
            "heap search, hops computed before": _heap_search(n, start, range_m),
        },
        {"scipy": lambda: _scipy(n, start, range_m)}, is_same=_is_same,
        complaint=lambda: _complaint(n, start, range_m),
    )


def _start(n: int) -> int:
    """The first door of the room in the middle."""
    side = math.isqrt(n)
    return level(n).table(HEARING).out_of(side // 2 * side + side // 2)[0]


def _range_m(n: int, start: int) -> float:
    """How far it must carry to come into so many rooms."""
    table = level(n).table(HEARING)
    rooms: set[int] = set()
    for door, metres, _ in _heap_search(n, start, math.inf)():
        rooms.add(int(table.to_region[door]))
        if len(rooms) == ROOMS_REACHED:
            return float(metres)
    return math.inf


def _ours(n: int, start: int, range_m: float) -> Case:
    table = level(n).table(HEARING)
    signal = Signal(0, 0, 0, 1.0, (0.0, 0.0, 0.0), 0.0)

    def search() -> list[tuple[float, float, int]]:
        wave = SpreadingWave(
            signal, 0, waiting=[(metres, -kept, row) for row, metres, kept in table.legs(start)],
            passed=[(0.0, -1.0, start)])
        while not wave.spread(table, lambda wave: [], range_m, FAINTEST, math.inf, len(table))[1]:
            pass
        return wave.passed

    return search


def _plain_search(n: int, start: int, range_m: float) -> Case:
    """Dijkstra as everybody writes it, with rooms and doors as objects."""
    graph, table = level(n), level(n).table(HEARING)
    doors = [graph.portals[number].passages["hearing"] for number in table.portal.tolist()]
    behind = table.to_region.tolist()
    leaving = [list(table.out_of(room)) for room in range(n)]
    kept_per_m = HEARING.kept_per_m

    def search() -> list[tuple[int, float, float]]:
        heap = [(0.0, -1.0, start)]
        done: set[int] = set()
        order = []
        while heap:
            metres, negative, door = heapq.heappop(heap)
            if door in done:
                continue
            done.add(door)
            order.append((door, metres, -negative))
            for other in leaving[behind[door]]:
                if other not in done:
                    passage = doors[other]
                    leg = math.dist(doors[door].end, passage.start)
                    further = metres + leg + passage.distance_m
                    left = negative * kept_per_m**leg * passage.kept_per_m**passage.distance_m
                    if further <= range_m * (1 + 1e-12) and -left >= FAINTEST:
                        heapq.heappush(heap, (further, left, other))
        return order

    return search


def _heap_search(n: int, start: int, range_m: float) -> Any:
    """The same with everything about the way worked out before, as ours has it."""
    following = plain(n).following

    def search() -> list[tuple[int, float, float]]:
        heap = [(0.0, -1.0, start)]
        done: set[int] = set()
        order = []
        while heap:
            metres, negative, door = heapq.heappop(heap)
            if door in done:
                continue
            done.add(door)
            order.append((door, metres, -negative))
            for other, further, share in following[door]:
                if other not in done and metres + further <= range_m and -negative * share >= FAINTEST:
                    heapq.heappush(heap, (metres + further, negative * share, other))
        return order

    return search


def _scipy(n: int, start: int, range_m: float) -> Case:
    """The same search by distance alone: it knows no intensity, and no order of arrival."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    following = plain(n).following
    rows = [door for door, out in enumerate(following) for _ in out]
    columns = [other for out in following for other, *_ in out]
    metres = [further for out in following for _, further, _ in out]
    graph = csr_matrix((metres, (rows, columns)), shape=(len(following), len(following)))

    def search() -> list[float]:
        found = dijkstra(graph, indices=start, limit=range_m * (1 + 1e-12))
        return sorted(found[np.isfinite(found)].tolist())

    return search


def _is_same(ours: Any, other: Any) -> bool:
    distance_m, negative, rows = (list(column) for column in zip(*ours, strict=True))
    if other and isinstance(other[0], float):
        return np.allclose(sorted(distance_m), other, rtol=1e-9)
    doors, metres, shares = (list(column) for column in zip(*other, strict=True))
    close = np.allclose(distance_m, metres, rtol=1e-9) and np.allclose(negative, np.negative(shares), rtol=1e-9)
    return sorted(rows) == sorted(doors) and close


def _complaint(n: int, start: int, range_m: float) -> str:
    table = level(n).table(HEARING)
    rows = [row for _, _, row in _ours(n, start, range_m)()]
    rooms = len(np.unique(table.to_region[rows]))
    return "" if abs(rooms - ROOMS_REACHED) <= 1 else f"the sound came into {rooms} rooms, not {ROOMS_REACHED}"
