"""What searches have in common that give one path, at their end."""
from __future__ import annotations

from ai_core.paths.path import Path
from ai_core.scheduling.interruptible import Cancellable

__all__ = ["PathSearch"]


class PathSearch(Cancellable):
    """Whether a search is over, and what came of it; for those that ``_settle`` it when they are done.

    Attributes:
        is_done: True when ``result`` is there. Not a property: it is asked after every slice.
    """

    is_done: bool

    def __init__(self) -> None:
        self._result: Path | None = None
        self.is_done = False

    def _settle(self, path: Path) -> None:
        self._result, self.is_done = path, True

    @property
    def result(self) -> Path:
        """The way.

        Raises:
            RuntimeError: if it is not done.
        """
        if self._result is None:
            raise RuntimeError("the search is not done; advance it until is_done")
        return self._result
