"""What a habit tree notices: what it is told, what changes on its blackboard, and that it wakes from it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_agenda import TreeMessage
from ai_core.decisions.habits.habit_context import AWAKE, HabitContext
from ai_core.decisions.habits.habit_reports import HabitReporting
from ai_core.errors import shown

__all__ = ["HabitMessaging"]


class HabitMessaging(HabitReporting):
    """The part of a ``HabitTree`` that hears."""

    __slots__ = ("_watched", "on_wake")

    _watched: set[str] | None
    on_wake: Callable[[Any], object] | None

    @property
    def blackboard(self) -> dict[str, Any]:
        """What this character knows."""
        if self._blackboard is None:
            self._blackboard = Blackboard(name=self.name)
            self._watch(self.plan.keys)
        return self._blackboard

    def tell(self, name: str, payload: Any = None) -> None:
        """Tell the character's habits that something happened.

        Who ``begins_on`` it, ``wakes_on`` it or waits for it is seen to in the
        next tick; nobody else notices.

        Args:
            name: what happened: "shot at".
            payload: what ``context.told(name)`` returns in that tick.

        Raises:
            TypeError: if the name is no text.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be text, got {shown(name)}")
        self._told = self._told or {}
        self._told[name] = TreeMessage(payload)
        self._notice(name)

    def _notice(self, name: str) -> None:
        """Note that something was told or has changed."""
        if self._noticed is None:
            self._noticed = set()
        self._noticed.add(name)
        self._wake()

    def _watch(self, names: tuple[str, ...]) -> None:
        """Be told when these change on the blackboard; one that nobody has used yet changes nothing."""
        board = self._blackboard
        if names and isinstance(board, Blackboard):
            watched = self._watched = self._watched or set()
            board.tell_tree(self, [name for name in names if name not in watched])
            watched.update(names)

    def _wait(self, run: HabitContext) -> None:
        self._agenda, self._wake_at_s = None, AWAKE
        if run.waits_for:
            self._watch(run.waits_for)

    def _wake(self, *, asks_all: bool = False) -> None:
        """Look at everything in the next tick."""
        self._asks_all = asks_all or self._asks_all
        self._agenda = None
        slept = self._wake_at_s > AWAKE
        self._wake_at_s = AWAKE
        if slept and self._member is not None:
            self._member.woke()
        if slept and self.on_wake is not None:
            self.on_wake(self)

    def _cargo_of(self, name: str) -> Any:
        told = self._told.get(name) if self._told else None
        return None if told is None or not told.tick_number else told.payload
