from typing import Any

from numpy.typing import NDArray

from ai_core.paths.searches.walking_search import WalkingSearch

INTERFACE: int

def canonical_search(open_moves: NDArray[Any]) -> WalkingSearch: ...
