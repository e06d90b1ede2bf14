from typing import Any

from numpy.typing import NDArray

from ai_core.paths.searches.canonical_field import CanonicalField

INTERFACE: int

def canonical_field(open_moves: NDArray[Any]) -> CanonicalField: ...
