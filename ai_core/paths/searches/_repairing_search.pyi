from typing import Any

from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves
from ai_core.paths.searches.repairing_search import RepairingSearch

INTERFACE: int

def repairing_search(open_moves: NDArray[Any], costs: NDArray[Any], moves: GridMoves) -> RepairingSearch: ...
