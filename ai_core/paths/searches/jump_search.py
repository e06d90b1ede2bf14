"""JPS+ search: from jump point to jump point, with a heap, to one goal.

Python twin of the kernel ``_jump_search``, with identical results.
Source: Rabin, Silva, JPS+: An Extreme A* Speed Optimization for Static Uniform Cost Grids, 2015.
"""
from __future__ import annotations

from array import array
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.paths.searches.jump_distances import MOVE_OF
from ai_core.paths.searches.walking_search import NOWHERE
from ai_core.twins import twin

__all__ = ["INTERFACE", "JumpSearch", "jump_search"]

INTERFACE = 1
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

MOVES = 8
SQRT_2 = 2 ** 0.5


@twin
def jump_search(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16]) -> JumpSearch:
    """Return memory for searches with jumps to one goal each, with the interface of a ``WalkingSearch``.

    Args:
        open_moves: (height, width) uint8, open moves as bits; referenced, not copied.
        jumps: (height, width, 8) int16, jump distances; referenced, not copied.

    Cost: compiled 24 bytes per cell.
    """
    return JumpSearch(open_moves, jumps)


class JumpSearch:
    """Memory for consecutive searches; see ``WalkingSearch``. Costs assume a cost of 1 per cell."""

    def __init__(self, open_moves: NDArray[np.uint8], jumps: NDArray[np.int16]) -> None:
        self.height, self.width = open_moves.shape
        self.open_moves = open_moves.reshape(-1).data
        self.jumps = jumps.reshape(-1).data
        self.plans = _plans(self.width)
        self.begin(0, 0)

    def begin(self, start: int, goal: int) -> None:
        """Discard the last search and start one between two cells."""
        self.start, self.goal = start, goal
        self.reached = start if start == goal else NOWHERE
        self.is_done = start == goal
        # By cell: path length, its straight and diagonal moves, previous cell, moves to try and tried moves as bits.
        self.stops: dict[int, list[Any]] = {start: [0.0, 0, 0, start, 255, 0]}
        self.waiting = [(0.0, start)]

    def advance(self, most: int) -> int:
        """Expand up to ``most`` cells; return their number, 0 when the search is done."""
        expanded, waiting, stops, jumps, width = 0, self.waiting, self.stops, self.jumps, self.width
        goal_row, goal_column = divmod(self.goal, width)
        while expanded < most and not self.is_done:
            if not waiting:
                self.is_done = True
                break
            cell = heappop(waiting)[1]
            stop = stops[cell]
            bits = stop[TO_TRY]
            if not bits:
                continue
            if cell == self.goal:
                self.reached, self.is_done = cell, True
                break
            expanded += 1
            stop[TO_TRY] = 0
            stop[TRIED] |= bits
            rows, columns, first = goal_row - cell // width, goal_column - cell % width, cell * MOVES
            for plan in self.plans[bits]:
                jump = jumps[first + plan[0]]
                if not jump:
                    continue
                down, right = plan[2] * rows, plan[3] * columns
                free = jump if jump > 0 else -jump
                if plan[4]:  # diagonal: also stop at the row or column of the goal
                    turn = right if right < down else down
                    if 0 < turn <= free and turn != jump:
                        self._stop_at(cell, stop, plan, turn)
                elif (not columns if plan[2] else not rows) and 0 < down + right <= free:
                    jump = down + right  # the goal itself
                if jump > 0:
                    self._stop_at(cell, stop, plan, jump)
        return expanded

    def cost_to(self, cell: int) -> float:
        """Return the cost of the path found to a cell, ``inf`` without a path."""
        return float(self.stops[cell][0]) if cell in self.stops else float("inf")

    def path_to(self, cell: int) -> bytes:
        """Return the cells of the path from the start to a cell, as int32 bytes."""
        cells = array("i", [cell])
        while cell != self.start:
            before: int = self.stops[cell][CAME]
            down, right = cell // self.width - before // self.width, cell % self.width - before % self.width
            step = ((down > 0) - (down < 0)) * self.width + (right > 0) - (right < 0)
            cells.extend(range(cell - step, before - step, -step))
            cell = before
        cells.reverse()
        return cells.tobytes()

    def _stop_at(self, cell: int, stop: list[Any], plan: tuple[int, ...], count: int) -> None:
        move, step, _, _, diagonal, tries = plan
        other = cell + count * step
        straight, slanted = stop[1], stop[2]
        if diagonal:
            slanted += count
        else:
            straight += count
            tries = TRIES[move][self.open_moves[other - step]]
        # Counts first, one product after: paths of equal length have equal values, whatever their order of moves.
        way = straight + SQRT_2 * slanted
        known = self.stops.get(other)
        if known is None or way < known[0]:
            self.stops[other] = [way, straight, slanted, cell, tries, 0]
        elif way > known[0]:
            return
        else:  # keep the moves that only this path would try
            tries &= ~(known[TRIED] | known[TO_TRY])
            if not tries:
                return
            known[TO_TRY] |= tries
        rows = abs(self.goal // self.width - other // self.width)
        columns = abs(self.goal % self.width - other % self.width)
        if rows < columns:
            heappush(self.waiting, ((straight + columns - rows) + SQRT_2 * (slanted + rows), other))
        else:
            heappush(self.waiting, ((straight + rows - columns) + SQRT_2 * (slanted + columns), other))


CAME, TO_TRY, TRIED = 3, 4, 5


def _tries(move: int, open_moves: int) -> int:
    """Return the moves to try after a move from a cell with some open moves, as bits."""
    down, right = SQUARE_8[move]
    if down and right:
        return 1 << move | 1 << MOVE_OF[down, 0] | 1 << MOVE_OF[0, right]
    bits = 1 << move
    for side in ((right, down), (-right, -down)):
        if not open_moves >> MOVE_OF[side] & 1:  # the wall beside may end here
            bits |= 1 << MOVE_OF[side] | 1 << MOVE_OF[down + side[0], right + side[1]]
    return bits


TRIES = tuple(tuple(_tries(move, bits) for bits in range(256)) for move in range(MOVES))
"""Moves to try next as bits, by move and by open moves of the cell that it leaves last."""


def _plans(width: int) -> list[tuple[tuple[int, int, int, int, int, int], ...]]:
    """Return for each set of move bits: number, cell difference, rows, columns, is diagonal and next moves of each."""
    plans = [
        (move, down * width + right, down, right, int(bool(down and right)), TRIES[move][0])
        for move, (down, right) in enumerate(SQUARE_8)
    ]
    return [tuple(plan for plan in plans if bits >> plan[0] & 1) for bits in range(256)]
