"""What nodes that decide for a character share: who it is, and how they have their turns."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import NodePath, RefusedValue
from addons.ai_core.nodes.character_crowd import CharacterCrowd, crowd_of


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
    """A node that decides in ``live``, every ``period_frames``; a part of those classes.

    It sets ``_scheduler`` and ``_crowd`` to None when it is made, and says which ``KIND`` it is of.
    """

    KIND: str
    can_process: Any
    _scheduler: Any
    _crowd: CharacterCrowd | None

    @property
    def in_crowd(self) -> Any:
        """What lives for it among others."""
        return self

    def live(self, elapsed_s: float) -> float:
        """Decide, in a frame of AI; return for how long nothing happens by itself (s), as ``MindPopulation`` says."""
        raise AssertionError(f"{type(self).__name__} decides nothing")

    def _take_turns(self, *, is_on: bool) -> None:
        """Have turns as often as it says, or none: if it is off, paused or disabled."""
        if self._crowd is None:
            self._crowd = crowd_of(self._scheduler, self.KIND)
        self._crowd.join(self)
        self._crowd.set_resting(self, not (is_on and self.can_process()))
        self._crowd.wake(self)

    def _leave_crowd(self) -> None:
        if self._crowd is not None:
            self._crowd.leave(self)
            self._crowd = None
