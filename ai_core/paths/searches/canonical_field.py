"""The heart of flow fields where every cell costs the same: lengths and moves back from the goals, to every cell.

From a cell that is taken from its bucket, straight moves go on as far as nothing but the same move is worth a
look: most cells are written by such a run, and never wait. What a run wrote too long is written again.

This is the twin in Python of ``_canonical_field``, with the same results.
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
"""Changes with any change of names, arguments or results, here and in the kernel."""

FAR = 2 ** 32 - 1
"""In place of the length of a way, where there is none."""

LONGEST_RUN = 512
"""Cells (count) after which a run waits for its turn: the ring has no room for more."""

LONGEST_WAY = FAR - (LONGEST_RUN + 2) * DIAGONAL
"""A way that is longer, 300,000 cells, does not fit the numbers: then another search must do."""


NEVER = 256
"""No moves are these bits."""


class CanonicalField(Protocol):
    """Makes one field after the other."""

    def begin(self, goals: NDArray[np.int32], out_lengths: NDArray[np.uint32], out_moves: NDArray[np.uint8]) -> None:
        """Begin a field.

        Args:
            goals: (n,), at least one, ascending.
            out_lengths: (height, width), overwritten until it is done: of the way from each cell to a goal, ``FAR``
                without one; as ``canonical_moves`` counts them.
            out_moves: (height, width), overwritten until it is done: the move that leads to each cell from the
                next one on its way, ``AT_ONCE`` for goals; without meaning where there is no way.
        """

    def advance(self, most: int, /) -> int:
        """Write ``most`` cells and those of the runs begun by then; return how many, fewer when it is done."""

    @property
    def is_done(self) -> bool:
        """True when all is written."""

    @property
    def is_too_far(self) -> bool:
        """True if it ended because a way got too long for its numbers."""


@twin
def canonical_field(open_moves: NDArray[np.uint8]) -> CanonicalField:
    """Return memory for fields on a passage that ``canonical_moves`` suit.

    Args:
        open_moves: (height, width), of each cell, as bits. Kept, not copied.

    Cost: what waits.
    """
    return _CanonicalField(open_moves)


class _CanonicalField:
    def __init__(self, open_moves: NDArray[np.uint8]) -> None:
        width = open_moves.shape[1]
        self.open_moves = open_moves.reshape(-1).data
        self.ring: list[list[int]] = [[] for _ in range(FIELD_RING)]
        self.steps = steps = [down * width + right for down, right in SQUARE_8]
        # Of a straight move, its bit alone: then the run goes on; after a diagonal never.
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
                continue        # it got nearer since, and had its turn
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
