from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves

INTERFACE: int

def fill_fields(
    open_moves: NDArray[Any],
    costs: NDArray[Any],
    moves: GridMoves,
    top: int,
    left: int,
    targets: NDArray[Any],
    uniform_cost: float,
    out_costs: NDArray[Any],
    out_moves: NDArray[Any],
) -> None: ...
def follow_field(
    field: NDArray[Any], costs: NDArray[Any], moves: GridMoves, top: int, left: int, cell: int
) -> tuple[bytes, float]: ...
def costs_by_fields(
    fields: NDArray[Any], costs: NDArray[Any], moves: GridMoves, top: int, left: int, cell: int
) -> list[float]: ...
def follow_fields(
    fields: Sequence[NDArray[Any]],
    costs: NDArray[Any],
    moves: GridMoves,
    corners: Sequence[tuple[int, int]],
    starts: Sequence[int],
) -> bytes: ...
