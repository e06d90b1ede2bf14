"""What nodes that decide for a character share: who it is, and how they have their turns."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.bridge.gd import GodotCallError, NodePath, RefusedValue
from addons.ai_core.nodes.characters.character_crowd import CharacterCrowd, crowd_of


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

    def _look_for_actor(self) -> None:
        """Another is its actor, perhaps. Not as it leaves: who is taken out by what it does ends with its character."""
        self._actor = None

    def actor_method(self, name: str) -> Callable[..., object]:
        """Return what calls a method of the character; it raises RefusedValue if there is no such method."""
        return functools.partial(_call, self.actor_node(), name)

    def missing_methods(self, names: Iterable[str]) -> list[str]:
        """Return what is to be said of methods that settings name and the character lacks."""
        actor = self.get_node_or_null(self.actor)
        missing = [] if actor is None else [name for name in names if name and not actor.has_method(name)]
        return [_without(actor, name) for name in dict.fromkeys(missing)]

    def actor_warnings(self) -> list[str]:
        """Return what is wrong with ``actor``, in a list."""
        return [self._no_actor()] if self.get_node_or_null(self.actor) is None else []

    def has_settled(self, *, is_asleep: bool) -> None:
        """It was loaded with all others, and sleeps or not as it did when it was saved."""

    def _no_actor(self) -> str:
        return f"actor '{self.actor}' is not in the scene; choose the character's node"


def _call(actor: Any, name: str, *arguments: object) -> object:
    try:
        return actor.call(name, *arguments)
    except GodotCallError:
        if not actor.is_valid() or actor.has_method(name):
            raise
        raise RefusedValue(_without(actor, name)) from None


def _without(actor: Any, name: str) -> str:
    return f"'{actor.get_name()}' has no method {name}(); write it, or name another"


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
