from typing import Any

from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves
from ai_core.paths.searches.bucket_search import BucketSearch

INTERFACE: int

def bucket_search(open_moves: NDArray[Any], costs: NDArray[Any], moves: GridMoves) -> BucketSearch: ...
