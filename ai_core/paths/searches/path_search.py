"""Base class of searches with a single path as result."""
from __future__ import annotations

from ai_core.paths.path import Path
from ai_core.scheduling.interruptible import Cancellable

__all__ = ["PathSearch"]


class PathSearch(Cancellable):
    """Search with a single path as result; subclasses call ``_settle`` when they are done.

    Attributes:
        is_done: True when ``result`` is available. A plain attribute, as it is read after every slice.
    """

    is_done: bool

    def __init__(self) -> None:
        self._result: Path | None = None
        self.is_done = False

    def _settle(self, path: Path) -> None:
        self._result, self.is_done = path, True

    @property
    def result(self) -> Path:
        """The path found.

        Raises:
            RuntimeError: if the search is not done.
        """
        if self._result is None:
            raise RuntimeError("the search is not done; call advance until is_done is True")
        return self._result
