"""The saved state of a habit tree: its fields and their kinds.

Loading calls no callback. A habit that was active continues with its next tick, a
pending habit stays pending. A habit written as a generator begins its function
again; see ``habits``.
"""
from __future__ import annotations

from math import inf, nan
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from ai_core.decisions.callback_faults import failing_state
from ai_core.decisions.habits.habit_runner_loops import TreeMessage
from ai_core.decisions.habits.habit_status import Status
from ai_core.errors import UnknownNameError
from ai_core.saving.declared_state import (
    DeclaredState,
    Flag,
    GameValue,
    Hook,
    Kind,
    ListOf,
    MapOf,
    Named,
    Number,
    Optional,
    Record,
    Seconds,
    Text,
    Whole,
    refuse,
)
from ai_core.saving.fields import LATEST_S, brief, place_in
from ai_core.saving.values import SavedValues

__all__ = ["HABIT_STATE", "PLAIN_VALUES", "RUN_FIELDS"]

PLAIN_VALUES = SavedValues()
"""For blackboards and memories with plain data; shared by all trees."""


class ByPath(Kind):
    """Values by place of a tree, saved by path; None if there are none.

    Args:
        kind: kind of each value.
    """

    def __init__(self, kind: Kind, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.kind = kind

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values by path."""
        places = owner.plan.places
        return {places[index].path: self.kind.save(one, owner) for index, one in sorted((value or {}).items())}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the values by place."""
        found, by_path = {}, owner.plan.by_path
        for path, one in _dict_of(plain, place).items():
            where = place_in(place, path)
            if path not in by_path:
                refuse(where, f"is not valid: {UnknownNameError('habit', path, by_path)}")
            found[by_path[path].index] = self.kind.read(one, where, owner)
        return found


class Memory(GameValue):
    """A dict of values of the game."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the dict."""
        return _dict_of(super().read(plain, place, owner), place)


class Result(Kind):
    """A final status."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return its name."""
        return value.value

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the status."""
        if plain not in ("succeeded", "failed"):
            refuse(place, f"must be 'succeeded' or 'failed', got {brief(plain)}")
        return Status(plain)


def _dict_of(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(place, f"must be a dict, got {brief(value)}")
    return value


RUN_FIELDS: dict[str, Any] = {
    "began_s": Seconds(), "ticked_s": Seconds(), "elapsed_s": Seconds(0, LATEST_S),
    "waits_for": ListOf(Text(), make=tuple), "woken_by": Text(), "number": Whole(), "successes": Whole(),
    "failures": Whole(), "begins_next": Flag(), "is_faulty": Flag(), "batch_status": Optional(Result()),
    "restart_point": Text(), "memory": Optional(Memory(at="_memory"))}
"""Fields of a run that are saved and loaded as they are."""

HABIT_STATE = DeclaredState(
    seconds=Seconds(at="_now_s"), frame=Whole(at="_frame"), tick_number=Whole(at="_tick_number"),
    behind_s=Seconds(absent=nan, at="_behind_s"), sleeps=Flag(at="_sleeps"), asks_all=Flag(at="_asks_all"),
    noticed=Optional(ListOf(Text(), make=set), at="_noticed"),
    messages=Optional(
        MapOf(Record(TreeMessage, payload=GameValue(), tick_number=Whole(), at_s=Seconds())), at="_messages"),
    active=ListOf(Record(
        SimpleNamespace, path=Named(lambda tree: tree.plan.by_path, "habit", name=attrgetter("path"), at="place"),
        reason=Text(), is_waiting=Flag(), wake_s=Number(absent=inf), is_in_batch=Flag(), **RUN_FIELDS,
    ), at="_saved_runs"),
    holds=ByPath(Number(absent=inf)), endings=ByPath(Text(), at="_saved_endings"),
    cooldowns=ByPath(Seconds(), at="_cooldowns"), asks_at_s=ByPath(Seconds(), at="_asks_at_s"),
    answered=ByPath(Whole(), at="_answered"), kept=ByPath(Memory(), at="_kept"),
    failing=failing_state(
        lambda tree: [key for path in tree.plan.by_path for key in (path, f"can_activate of {path}")],
        at="_failing"),
    random=Hook(), blackboard=Hook())
"""The state of a ``HabitTree``. The blackboard is last: its watchers see the loaded tree."""
