"""Messages and blackboard changes of a habit tree, which wake it."""
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
    """Base class of ``HabitTree`` for messages and blackboard changes."""

    __slots__ = ("_watched", "on_wake")

    _watched: set[str] | None
    on_wake: Callable[[Any], object] | None

    @property
    def blackboard(self) -> dict[str, Any]:
        """The blackboard of the character."""
        if self._blackboard is None:
            self._blackboard = Blackboard(name=self.name)
            self._watch(self.plan.keys)
        return self._blackboard

    def notify(self, name: str, payload: Any = None) -> None:
        """Notify the character's habits of an event.

        Habits with this name in ``begins_on`` or ``wakes_on``, and habits that wait for
        it, are processed in the next tick; other habits are not affected.

        Args:
            name: name of the event: "shot at".
            payload: the result of ``context.told(name)`` in that tick.

        Raises:
            TypeError: if ``name`` is not a string.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {shown(name)}")
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
            board.notify_tree(self, [name for name in names if name not in watched])
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
