"""What the character of a HabitTree knows: values with types, read, written and watched."""
from __future__ import annotations

import copy
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    RefusedValue,
    StringName,
    Variant,
    method,
    report_error,
)
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.habits.habit_scopes import refusing_values, watched
from addons.ai_core.nodes.scheduling.scheduled import check_callable
from ai_core.decisions.blackboard import Blackboard, Watch

TEXTS = (str, StringName)


class HabitKnowledge:
    """The blackboard of a HabitTree; a part of that class."""

    values: Any
    core: Any

    def begin_to_know(self) -> None:
        self._blackboard = Blackboard(name="character")
        self._watching: dict[tuple[str, Any], Watch] = {}

    def end_to_know(self) -> None:
        """Let go of what may hold scripts, and tell nobody."""
        for watch in self._watching.values():
            watch.cancel()
        self._watching.clear()
        self._blackboard.clear()

    @method
    def set_value(self, key: str, value: Variant, scope: str = "") -> None:
        """Write to the character's blackboard, or to the scope "squad" or "world" that it shares."""
        with refusing_values():
            (self._blackboard.scope(scope) if scope else self._blackboard)[key] = value

    @method
    def get_value(self, key: str, default_value: Variant = None) -> Variant:
        """Read from the character's blackboard; what is not there is looked for in its squad, then in the world."""
        value = self._blackboard.get(key, default_value)
        return None if isinstance(value, GDObject) and not value.is_valid() else value

    @method
    def watch_value(self, key: str, callback: GDCallable) -> None:
        """Call ``callback(key, value)`` whenever a value of this character, its squad or the world changes.

        Once for each key, however often it is asked for; until unwatch_value(), or its object is freed.
        """
        check_callable(callback, "watch_value()")
        self.unwatch_value(key, callback)
        self._watching[key, callback] = watched(self, self._blackboard, key, callback)

    @method
    def unwatch_value(self, key: str, callback: GDCallable) -> None:
        """Call it no more; harmless if it was not called."""
        watch = self._watching.pop((key, callback), None)
        if watch is not None:
            watch.cancel()

    def known(self, name: str) -> Any:
        """Return a value of the blackboard for an expression, ABSENT for what is not known."""
        return self.get_value(name, ABSENT)

    def know_values(self) -> None:
        """Know what the inspector says, unless a script has said something that fits; the types hold from now on."""
        board = self._blackboard
        for key, value in self.values.items():
            kinds = _kinds_of(value)
            try:
                if kinds is not None:
                    board.declare({key: kinds})
            except TypeError as problem:
                report_error(f"{problem}; it begins as {value!r}", self)
                del board[key]
                board.declare({key: kinds})
            if not dict.__contains__(board, key):
                board[key] = copy.deepcopy(value) if isinstance(value, (list, dict)) else value

    def _values_set(self) -> None:
        for key in self.values:
            if not isinstance(key, TEXTS):
                raise RefusedValue(f"keys of values must be texts, got {key!r}")
        if self.core is not None:
            self.know_values()


def _kinds_of(value: Any) -> Any:
    """Return what a value that begins so may be later; None for anything."""
    if value is None or isinstance(value, GDObject):
        return None
    return TEXTS if isinstance(value, TEXTS) else type(value)
