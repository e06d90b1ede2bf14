"""A running game is stopped, and let go on for one frame of AI at a time."""
from __future__ import annotations

from typing import Any


class FrameStepping:
    """Pauses the tree, in which nodes that are processed always go on.

    Args:
        tree: asked for the SceneTree.
    """

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._scheduler: Any = None
        self._stands_at = 0

    def pause(self, is_paused: bool) -> None:
        """Stop the game, or let it go on."""
        self.close()
        self._tree().paused = is_paused

    def step(self, scheduler: Any) -> None:
        """Let the game go on until an AIScheduler has run one frame, in process or physics, then stop it again."""
        self.close()
        self._scheduler, self._stands_at = scheduler, scheduler.clock.now.frame
        for signal in ("process_frame", "physics_frame"):
            self._tree().connect(signal, self._frame_begins)
        self._tree().paused = False

    def close(self) -> None:
        """Let no more frame pass than did."""
        if self._scheduler is not None:
            self._scheduler = None
            for signal in ("process_frame", "physics_frame"):
                self._tree().disconnect(signal, self._frame_begins)

    def _frame_begins(self) -> None:
        scheduler = self._scheduler
        if not scheduler.is_valid() or scheduler.clock.now.frame != self._stands_at:
            self.close()
            self._tree().paused = True
