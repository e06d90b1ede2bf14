"""What searches have in common that give one path, at their end."""
from __future__ import annotations

from ai_core.paths.path import Path

__all__ = ["PathSearch"]


class PathSearch:
    """Whether a search is over, and what came of it; for those that set ``_result`` when they are done."""

    def __init__(self) -> None:
        self._result: Path | None = None
        self._is_cancelled = False

    @property
    def is_done(self) -> bool:
        """True when ``result`` is there."""
        return self._result is not None

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``."""
        return self._is_cancelled

    @property
    def progress(self) -> float:
        """0 until it is done, then 1: a search cannot tell how far it has come."""
        return float(self.is_done)

    @property
    def result(self) -> Path:
        """The way.

        Raises:
            RuntimeError: if it is not done.
        """
        if self._result is None:
            raise RuntimeError("the search is not done; advance it until is_done")
        return self._result
