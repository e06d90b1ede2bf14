"""Flow fields on grids with a single cost: path lengths and moves from the goals to all cells.

From a cell taken from its bucket, straight moves continue as a run while only the same move is to be tried:
most cells are written by a run and never wait. Lengths that a run wrote too high are overwritten later.

Python twin of the kernel ``_canonical_field``, with identical results.
"""
from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.paths.searches.canonical_moves import (
    AT_ONCE,
    BUCKET_BITS,
    DIAGONAL,
    FIELD_RING,
    LENGTHS,
    STRAIGHT,
    SUCCESSORS,
)
from ai_core.twins import twin

__all__ = ["FAR", "INTERFACE", "CanonicalField", "canonical_field"]

INTERFACE = 1
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

FAR = 2 ** 32 - 1
"""Marker instead of a length: no path leads to a goal."""

LONGEST_RUN = 512
"""Length of a run (cells) after which it waits in a bucket: the ring has no room for longer ones."""

LONGEST_WAY = FAR - (LONGEST_RUN + 2) * DIAGONAL
"""Longest path (300,000 cells) that fits the integers; for longer ones another search is used."""


NEVER = 256
"""Value that no set of move bits equals."""


class CanonicalField(Protocol):
    """Memory for consecutive fields."""

    def begin(self, goals: NDArray[np.int32], out_lengths: NDArray[np.uint32], out_moves: NDArray[np.uint8]) -> None:
        """Start a field.

        Args:
            goals: (n,) int32, at least one goal cell, ascending.
            out_lengths: (height, width) uint32, overwritten until the field is done: length of the path from each
                cell to a goal, in the unit of ``canonical_moves``; ``FAR`` without a path.
            out_moves: (height, width) uint8, overwritten until the field is done: move that leads to each cell
                from the next cell of its path, ``AT_ONCE`` for goals; arbitrary without a path.
        """

    def advance(self, most: int, /) -> int:
        """Write ``most`` cells and the rest of started runs; return their number, less than ``most`` when done."""

    @property
    def is_done(self) -> bool:
        """True when all cells are written."""

    @property
    def is_too_far(self) -> bool:
        """True if the field ended because a path became too long for the integers."""


@twin
def canonical_field(open_moves: NDArray[np.uint8]) -> CanonicalField:
    """Return memory for fields on a passage that ``canonical_moves`` suit.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.

    Cost: memory for the waiting cells.
    """
    return _CanonicalField(open_moves)


class _CanonicalField:
    def __init__(self, open_moves: NDArray[np.uint8]) -> None:
        width = open_moves.shape[1]
        self.open_moves = open_moves.reshape(-1).data
        self.ring: list[list[int]] = [[] for _ in range(FIELD_RING)]
        self.steps = steps = [down * width + right for down, right in SQUARE_8]
        # Bit of a straight move: a run continues while it is the only one; NEVER for diagonals, which have no runs.
        self.tries = tuple(
            tuple((move, steps[move], LENGTHS[move], NEVER if LENGTHS[move] == DIAGONAL else 1 << move)
                  for move in range(8) if bits >> move & 1)
            for bits in SUCCESSORS
        )
        self.is_done, self.is_too_far, self.waiting = True, False, 0

    def begin(self, goals: NDArray[np.int32], out_lengths: NDArray[np.uint32], out_moves: NDArray[np.uint8]) -> None:
        self.lengths, self.moves = out_lengths.reshape(-1).data, out_moves.reshape(-1).data
        out_lengths.fill(FAR)
        for bucket in self.ring:
            bucket.clear()
        self.bucket, self.is_done, self.is_too_far = 0, False, False
        for goal in goals.tolist():
            self.lengths[goal], self.moves[goal] = 0, AT_ONCE
            self._wait(goal, 0)
        self.waiting = len(goals)

    def advance(self, most: int) -> int:
        lengths, moves, open_moves, tries = self.lengths, self.moves, self.open_moves, self.tries
        ring, bucket, waiting, written = self.ring, self.bucket, self.waiting, 0
        current = ring[bucket % FIELD_RING]
        while written < most and not self.is_done:
            while not current and waiting:
                bucket += 1
                current = ring[bucket % FIELD_RING]
            if not waiting:
                self.is_done = True
                break
            cell, waiting = current.pop(), waiting - 1
            here = lengths[cell]
            if here >> BUCKET_BITS != bucket:
                continue        # the cell became nearer since, and was expanded then
            if here > LONGEST_WAY:
                self.is_done = self.is_too_far = True
                break
            written += 1
            for move, step, length, alone in tries[moves[cell] << 8 | open_moves[cell]]:
                other, way, first = cell + step, here + length, move << 8
                last = way + LONGEST_RUN * STRAIGHT
                while way < lengths[other]:
                    lengths[other], moves[other] = way, move
                    bits = SUCCESSORS[first | open_moves[other]]
                    if bits != alone or way == last:
                        if bits:
                            ring[(way >> BUCKET_BITS) % FIELD_RING].append(other)
                            waiting += 1
                        break
                    written += 1
                    other, way = other + step, way + STRAIGHT
        self.bucket, self.waiting = bucket, waiting
        return written

    def _wait(self, cell: int, way: int) -> None:
        self.ring[(way >> BUCKET_BITS) % FIELD_RING].append(cell)
