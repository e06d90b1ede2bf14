"""Base classes of nodes that decide for a character: access to the actor, and scheduled updates."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.bridge.gd import GodotCallError, RefusedValue
from addons.ai_core.nodes.characters.update_group import update_group_of


class CharacterComponent:
    """Base of nodes that decide for an ``actor``. A subclass sets ``_actor`` to None in its constructor."""

    def actor_node(self) -> Any:
        """Return the node of the character; raise RefusedValue if it is not in the scene."""
        if self._actor is None or not self._actor.is_valid():
            self._actor = self.get_node_or_null(self.actor)
            if self._actor is None:
                raise RefusedValue(self._no_actor())
        return self._actor

    def _look_for_actor(self) -> None:
        """Look up the actor again at the next access; not called on leaving, where the present actor is needed."""
        self._actor = None

    def actor_method(self, name: str) -> Callable[..., object]:
        """Return a function that calls a method of the actor, or raises RefusedValue if the actor lacks it."""
        return functools.partial(_call, self.actor_node(), name)

    def missing_methods(self, names: Iterable[str]) -> list[str]:
        """Return a warning for each named method that the actor lacks."""
        actor = self.get_node_or_null(self.actor)
        missing = [] if actor is None else [name for name in names if name and not actor.has_method(name)]
        return [_without(actor, name) for name in dict.fromkeys(missing)]

    def actor_warnings(self) -> list[str]:
        """Return the warnings about ``actor``."""
        return [self._no_actor()] if self.get_node_or_null(self.actor) is None else []

    def restore_sleep(self, *, is_asleep: bool) -> None:
        """Note whether the node slept when it was saved; called after all nodes are loaded."""

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
    return f"'{actor.get_name()}' has no method {name}(); add it, or name another method"


class ScheduledCharacter(CharacterComponent):
    """Base of nodes that decide in ``live``, every ``period_frames``.

    A subclass sets ``_scheduler`` and ``_update_group`` to None in its constructor, and defines ``KIND``.
    """

    @property
    def group_member(self) -> Any:
        """The object that the update group updates for this node."""
        return self

    def live(self, elapsed_s: float) -> float:
        """Decide, in a frame of AI; return the time for which no update is needed (s), see ``MindPopulation``."""
        raise AssertionError(f"{type(self).__name__} does not implement live()")

    def _update_schedule(self, *, is_on: bool) -> None:
        """Join the update group with the period of the node; rest while it is off, paused or disabled."""
        if self._update_group is None:
            self._update_group = update_group_of(self._scheduler, self.KIND)
        self._update_group.join(self)
        self._update_group.set_resting(self, not (is_on and self.can_process()))
        self._update_group.wake(self)

    def _leave_update_group(self) -> None:
        if self._update_group is not None:
            self._update_group.leave(self)
            self._update_group = None
