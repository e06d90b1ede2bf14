"""What a habit's callbacks are told: the one run of one habit by one character."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits import Status
from ai_core.errors import finite_number

if TYPE_CHECKING:
    from ai_core.decisions.habit_plan import Place
    from ai_core.decisions.habit_tree import HabitTree

__all__ = ["HabitContext"]


class HabitContext:
    """One run of one habit, from its beginning to its end.

    A habit that is pending has no run; its ``can_activate`` is told a context
    with the times at 0 that is good for that call only.

    Attributes:
        elapsed_s: game time since this habit's last tick (s); 0 in the tick
            in which it began.
        time_in_habit_s: game time since it began (s).
        status: RUNNING while it is active; from ``exit`` on how it ended, None
            if it was interrupted or its parent ended; None while pending.
        reason: why it began: "can activate", "interrupted patrol".
    """

    __slots__ = (
        "_memory", "_tree", "beside", "child", "elapsed_s", "has_ticked", "is_faulty", "parent",
        "place", "reason", "status", "time_in_habit_s",
    )

    def __init__(
        self, tree: HabitTree, place: Place, parent: HabitContext | None, reason: str
    ) -> None:
        self._tree = tree
        self._memory: dict[str, Any] | None = None
        self.place = place
        self.parent = parent
        self.child: HabitContext | None = None
        self.beside: list[HabitContext] | None = None
        self.has_ticked = False
        self.is_faulty = False
        self.elapsed_s = 0.0
        self.time_in_habit_s = 0.0
        self.status: Status | None = Status.RUNNING
        self.reason = reason

    @property
    def owner(self) -> Any:
        """The character, as handed to its HabitTree."""
        return self._tree.owner

    @property
    def path(self) -> str:
        """Where the habit stands: "root/fight/attack"."""
        return self.place.path

    @property
    def blackboard(self) -> dict[str, Any]:
        """What this character knows, for all of its habits to read and write."""
        return self._tree.blackboard

    @property
    def memory(self) -> dict[str, Any]:
        """What this run wants to remember; empty at its beginning, gone after it."""
        if self._memory is None:
            self._memory = {}
        return self._memory

    def forget(self) -> None:
        """Empty the memory."""
        self._memory = None

    def hold(self, priority: float | None = None) -> None:
        """Let no more urgent habit interrupt this one, or one above it, from now on.

        Lasts until ``release`` or until the habit ends. It protects from
        siblings only: a parent's own end and ``HabitTree.stop`` are stronger.

        Args:
            priority: a habit whose urgency is above this breaks the hold;
                None: nothing does.

        Raises:
            ValueError: if the priority is NaN or infinite.
            RuntimeError: if the habit is not active.
        """
        if self.status is not Status.RUNNING:
            raise RuntimeError(f"{self.path!r} is not active, so there is nothing to hold")
        held = math.inf if priority is None else finite_number("priority", priority)
        self._tree.holds[self.place.index] = held

    def release(self) -> None:
        """End a ``hold``; whoever waited for it may interrupt at the next tick."""
        self._tree.holds.pop(self.place.index, None)

    def __repr__(self) -> str:
        return f"<HabitContext {self.path}>"
