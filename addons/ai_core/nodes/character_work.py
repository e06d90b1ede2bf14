"""What nodes that decide for a character share: who it is, and one piece of work in the scheduler."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import NodePath, RefusedValue
from addons.ai_core.nodes.scene_values import path_of
from ai_core.scheduling.task import Task, Turn


class OfCharacter:
    """A node that decides for its ``actor``; a part of those classes. It sets ``_actor`` to None when it is made."""

    get_node_or_null: Any
    actor: NodePath
    _actor: Any

    def actor_node(self) -> Any:
        """Return the character; raise RefusedValue if it is not in the scene."""
        if self._actor is None or not self._actor.is_valid():
            self._actor = self.get_node_or_null(self.actor)
            if self._actor is None:
                raise RefusedValue(self._no_actor())
        return self._actor

    def actor_warnings(self) -> list[str]:
        """Return what is wrong with ``actor``, in a list."""
        return [self._no_actor()] if self.get_node_or_null(self.actor) is None else []

    def _no_actor(self) -> str:
        return f"actor '{self.actor}' is not in the scene; choose the character's node"


class CharacterWork(OfCharacter):
    """A node that decides in ``_live``, every ``period_frames``; a part of those classes.

    It sets ``_scheduler`` and ``_task`` to None when it is made.
    """

    period_frames: int
    priority: float
    _scheduler: Any
    _task: Task | None

    def _schedule(self) -> None:
        self._unschedule()
        self._task = self._scheduler.schedule(
            self._live, name=path_of(self._scheduler, self),
            period_frames=self.period_frames, priority=self.priority)

    def _is_scheduled(self) -> bool:
        """Return whether there is work to pause; a scheduler that is freed removes it first."""
        return self._task is not None and not self._task.is_removed

    def _unschedule(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._task = None

    def _live(self, turn: Turn) -> None:
        """Decide, in a frame of AI."""
        raise AssertionError(f"{type(self).__name__} decides nothing")
