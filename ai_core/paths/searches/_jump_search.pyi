from typing import Any

from numpy.typing import NDArray

from ai_core.paths.searches.jump_search import JumpSearch

INTERFACE: int

def jump_search(open_moves: NDArray[Any], jumps: NDArray[Any]) -> JumpSearch: ...
