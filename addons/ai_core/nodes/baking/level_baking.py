"""Base class of bakings of a level, which run a baking of the library."""
from __future__ import annotations


class LevelBaking:
    """The progress of the library's baking in ``_core``, for ``BakingNode``; subclasses add ``advance``."""

    @property
    def is_done(self) -> bool:
        """True when there is a result."""
        done: bool = self._core.is_done
        return done

    @property
    def progress(self) -> float:
        """Progress from 0 to 1."""
        share: float = self._core.progress
        return share
