"""FrameStepper: pauses a running game and steps it by single frames of AI."""
from __future__ import annotations

from typing import Any


class FrameStepper:
    """Pauses the scene tree; nodes with the process mode "always" still run.

    Args:
        tree: function that returns the SceneTree.
    """

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._scheduler: Any = None
        self._stands_at = 0

    def pause(self, is_paused: bool) -> None:
        """Pause or resume the game."""
        self.close()
        self._tree().paused = is_paused

    def step(self, scheduler: Any) -> None:
        """Run the game until an AIScheduler has run one frame, in process or physics, then pause it again."""
        self.close()
        self._scheduler, self._stands_at = scheduler, scheduler.clock.now.frame
        for signal in ("process_frame", "physics_frame"):
            self._tree().connect(signal, self._frame_begins)
        self._tree().paused = False

    def close(self) -> None:
        """Cancel a step that has not finished."""
        if self._scheduler is not None:
            self._scheduler = None
            for signal in ("process_frame", "physics_frame"):
                self._tree().disconnect(signal, self._frame_begins)

    def _frame_begins(self) -> None:
        scheduler = self._scheduler
        if not scheduler.is_valid() or scheduler.clock.now.frame != self._stands_at:
            self.close()
            self._tree().paused = True
