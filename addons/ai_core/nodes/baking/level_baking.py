"""What bakes a level for a node: a baking of the library, which asks the scene."""
from __future__ import annotations


class LevelBaking:
    """A base that says how far the baking in ``_core`` has come, for ``BakingNode``; whoever extends it advances it."""

    @property
    def is_done(self) -> bool:
        """True when there is something to keep."""
        done: bool = self._core.is_done
        return done

    @property
    def progress(self) -> float:
        """How far it has come, 0 to 1."""
        share: float = self._core.progress
        return share
