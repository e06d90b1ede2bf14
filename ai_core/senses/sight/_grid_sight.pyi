from typing import Any

from numpy.typing import NDArray

INTERFACE: int

def lines_are_free(
    is_opaque: NDArray[Any], starts: NDArray[Any], ends: NDArray[Any], out_free: NDArray[Any]
) -> None: ...
def cells_seen(
    is_opaque: NDArray[Any], row: int, column: int, radius: int, out_seen: NDArray[Any]
) -> None: ...
