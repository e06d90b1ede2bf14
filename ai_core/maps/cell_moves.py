"""Moves from a cell to its neighbors, and the open moves of every cell.

Moves are numbered in the order of the cells they lead to, so that the smallest move leads to
the smallest cell number. The open moves of a cell are the bits of one byte. On hexagonal grids
odd rows are shifted half a cell to the right and have the bit ``ODD_ROW`` set.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown

__all__ = ["CORNER_RULES", "ODD_ROW", "SQUARE_8", "Corners", "GridMoves", "moves_for"]

Corners = Literal["closed", "half_open", "open"]
"""When a diagonal is open: if both cells beside it are free, if at least one is, or always."""

CORNER_RULES: tuple[Corners, ...] = ("closed", "half_open", "open")
"""All corner rules, the strictest first."""

ODD_ROW = 128
"""Bit of the moves byte that is set in odd rows of hexagonal grids."""

SQRT_2 = 2 ** 0.5

SQUARE_8 = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""Row and column offset of each move to 8 neighbors."""

_SQUARE_4 = ((-1, 0), (0, -1), (0, 1), (1, 0))
_HEX_EVEN = ((-1, -1), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 0))
_HEX_ODD = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True, slots=True)
class GridMoves:
    """The moves of a kind of grid.

    Attributes:
        even: (rows, columns) offset of each move from a cell in an even row.
        odd: the same for odd rows; equal to ``even`` on square grids.
        lengths: length of each move (cells): 1, or the square root of 2 for a diagonal.
    """

    even: tuple[tuple[int, int], ...]
    odd: tuple[tuple[int, int], ...]
    lengths: tuple[float, ...]

    @property
    def is_hexagonal(self) -> bool:
        """True if even and odd rows differ."""
        return self.even != self.odd

    def open_from(self, is_free: NDArray[np.bool_], corners: Corners, first_row: int = 0) -> NDArray[np.uint8]:
        """Return the open moves of every cell as bits.

        Args:
            is_free: (height, width) bool, True for cells that can be entered.
            corners: when a diagonal is open; used with 8 neighbors only.
            first_row: number of the first row, which decides which rows are odd.

        Returns:
            (height, width) uint8; a cell that is not free has no open move.

        Cost: O(cells), about 20 passes over them.
        """
        height, width = is_free.shape
        # A border of two more rows and columns, none of them free, avoids checks at the edges.
        around = np.zeros((height + 2, width + 2), np.bool_)
        around[1:-1, 1:-1] = is_free
        opened = np.zeros((height, width), np.uint8)
        is_odd = ((np.arange(height) + first_row) % 2 == 1)[:, None]

        def free_at(down: int, right: int) -> NDArray[np.bool_]:
            return around[1 + down:height + 1 + down, 1 + right:width + 1 + right]

        for move, (even, odd) in enumerate(zip(self.even, self.odd, strict=True)):
            is_open = free_at(*even) if even == odd else np.where(is_odd, free_at(*odd), free_at(*even))
            down, right = even
            if down and right and not self.is_hexagonal and corners != "open":
                beside, across = free_at(down, 0), free_at(0, right)
                is_open = is_open & ((beside & across) if corners == "closed" else (beside | across))
            opened |= (is_open & is_free).astype(np.uint8) << np.uint8(move)
        if self.is_hexagonal:
            opened |= np.where(is_odd & is_free, np.uint8(ODD_ROW), np.uint8(0))
        return opened


_MOVES = {
    4: GridMoves(_SQUARE_4, _SQUARE_4, (1.0,) * 4),
    6: GridMoves(_HEX_EVEN, _HEX_ODD, (1.0,) * 6),
    8: GridMoves(SQUARE_8, SQUARE_8, tuple(SQRT_2 if down and right else 1.0 for down, right in SQUARE_8)),
}


def moves_for(neighbors: int) -> GridMoves:
    """Return the moves of a grid with 4, 6 (hexagonal) or 8 neighbors."""
    if isinstance(neighbors, bool) or neighbors not in tuple(_MOVES):      # also of a list, which has no hash
        raise ValueError(f"neighbors must be 4, 6 (hexagonal) or 8, got {shown(neighbors)}")
    return _MOVES[neighbors]
