from typing import Any

from numpy.typing import NDArray

from ai_core.paths.searches.portal_search import PortalSearch

INTERFACE: int

def portal_search(
    ways: NDArray[Any], partners: NDArray[Any], enter: NDArray[Any], counts: NDArray[Any]
) -> PortalSearch: ...
