"""A sequence of interruptible work that acts as one piece of work."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.errors import shown
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.values import SavedValues
from ai_core.scheduling.interruptible import (
    Interruptible,
    check_done,
    check_interruptible,
    check_not_cancelled,
)

__all__ = ["WorkSequence"]


class WorkSequence:
    """A sequence of interruptible work that acts as one piece of work.

    Args:
        stages: each takes the result of the previous stage (None for the first)
            and returns the next work. The result of the last is the result of the sequence.
        values: how results between stages are saved that are not plain data.

    After loading, the stage that was running is created from the result before it
    and, if it is saveable, continues; else it restarts.

    Raises:
        TypeError: if a stage cannot be called.
        ValueError: if there is none.
    """

    def __init__(
        self, *stages: Callable[[Any], Interruptible[Any]], values: SavedValues | None = None
    ) -> None:
        if not stages:
            raise ValueError("stages must hold at least one stage, got none")
        for number, stage in enumerate(stages):
            if not callable(stage):
                raise TypeError(
                    f"stage {number} must be a function of the previous result, got {shown(stage)};"
                    " use lambda result: work"
                )
        self._stages = stages
        self._values = values if values is not None else SavedValues()
        self._number = 0
        self._current: Interruptible[Any] | None = None
        self._result: Any = None
        self._is_cancelled = False

    @property
    def is_done(self) -> bool:
        """True when the last stage is done."""
        return self._number == len(self._stages)

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``, and if the current stage was cancelled from outside."""
        return self._is_cancelled or (self._current is not None and self._current.is_cancelled)

    @property
    def stage(self) -> int:
        """Index of the next or current stage; the count of stages when done."""
        return self._number

    @property
    def progress(self) -> float:
        """Share of the stages that are done; all count as equally long."""
        part = 0.0 if self._current is None else self._current.progress
        return (self._number + part) / len(self._stages)

    @property
    def result(self) -> Any:
        """The result of the last stage.

        Raises:
            RuntimeError: if it is not done.
        """
        check_done(self)
        return self._result

    def advance(self, budget: Budget, /) -> None:
        """Continue the current stage, and the next ones while budget is left.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is not a Budget, or a stage returned no interruptible work.
        """
        check_budget(budget)
        check_not_cancelled(self)
        while not self.is_done and not self.is_cancelled:
            current = self._current = self._current or self._begun(self._number, self._result)
            if not current.is_cancelled:
                current.advance(budget)
            if not current.is_done:
                return  # paused, or waiting for something: not ours to ask again at once
            self._number, self._result, self._current = self._number + 1, current.result, None
            if budget.is_spent:
                return

    def cancel(self) -> None:
        """Cancel the current stage and all later ones; does nothing when done."""
        if self.is_done:
            return
        self._is_cancelled = True
        current, self._current = self._current, None
        if current is not None:
            current.cancel()

    def save_state(self) -> State:
        """Return the stage, the result before it, and the state of the stage if it has one.

        Raises:
            StateError: if that result is neither plain data nor named in ``values``.
        """
        return {
            "version": 1,
            "stage": self._number,
            "is_cancelled": self.is_cancelled,
            "result": self._values.plain(self._result, "result"),
            "work": inner_state(self._current),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that loads it.

        The saved stage is already created here, to check its state.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=1)
        number = fields.whole("stage", maximum=len(self._stages))
        is_cancelled = fields.flag("is_cancelled")
        result = self._values.value(fields.anything("result"), fields.place_of("result"))
        current = None
        if fields.anything("work") is not None:
            if number == len(self._stages):
                fields.refuse("work", "must be None, as all stages are done")
            current = self._begun(number, result)
        load = prepared_inner(current, fields.anything("work"), "'work'")
        fields.end()

        def change() -> None:
            replaced, self._current = self._current, current
            self._number, self._result, self._is_cancelled = number, result, is_cancelled
            load()
            if replaced is not None:
                replaced.cancel()

        return change

    def _begun(self, number: int, result: Any) -> Interruptible[Any]:
        work = self._stages[number](result)
        return check_interruptible(f"what stage {number} returns", work)
