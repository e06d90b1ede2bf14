from typing import Any

from numpy.typing import NDArray

INTERFACE: int

def fill_lines(open_moves: NDArray[Any], jumps: NDArray[Any], move: int, first: int, last: int) -> None: ...
def repair_jumps(open_moves: NDArray[Any], jumps: NDArray[Any], cells: NDArray[Any]) -> None: ...
