"""Anytime work made from an algorithm that needs its budget in advance."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.values import SavedValues
from ai_core.scheduling.interruptible import Interruptible, check_interruptible

__all__ = ["MAX_CONTRACT_STEPS", "Contracts"]

R = TypeVar("R")

VERSION = 1

MAX_CONTRACT_STEPS = 1 << 40
"""Longest contract (steps): days of work. Doubling ends here at the latest."""


class Contracts(Generic[R]):
    """Anytime work made from a contract algorithm, by contracts each twice as long as the last.

    Whenever it is stopped, the longest completed contract had more
    than a quarter of all steps so far: not knowing the time in advance
    costs a factor of four at most. There is no answer before the end of
    the first.

    A contract that raises is restarted on the next ``advance``. After loading,
    an unfinished one continues if it is saveable, else it restarts.

    Args:
        begin: takes the steps of a contract, and returns interruptible work
            that keeps to them, and whose result is the answer.
        quality_of: returns the quality of an answer, 0 to 1; at 1 no further contract begins.
        first_steps: steps of the first contract, 1 or more.
        most_steps: steps of the longest contract, ``first_steps`` or more.
        values: how the best answer is saved if it is not plain data.

    Raises:
        TypeError: if ``begin`` or ``quality_of`` cannot be called.
        ValueError: if a number of steps is out of range.

    Source: S. Russell and S. Zilberstein, Composing real-time systems (1991).
    """

    def __init__(
        self,
        begin: Callable[[int], Interruptible[R]],
        quality_of: Callable[[R], float],
        *,
        first_steps: int,
        most_steps: int = MAX_CONTRACT_STEPS,
        values: SavedValues | None = None,
    ) -> None:
        for name, function in (("begin", begin), ("quality_of", quality_of)):
            if not callable(function):
                raise TypeError(f"{name} must be a callable, got {shown(function)}")
        self._begin = begin
        self._quality_of = quality_of
        self._steps = whole_number("first_steps", first_steps, minimum=1, maximum=MAX_CONTRACT_STEPS)
        self._most_steps = whole_number(
            "most_steps", most_steps, minimum=self._steps, maximum=MAX_CONTRACT_STEPS
        )
        self._values = values if values is not None else SavedValues()
        self._contract: Interruptible[R] | None = None
        self._best: R | None = None
        self._quality = 0.0

    @property
    def best(self) -> R | None:
        """The best answer of all contracts so far; None before the end of the first."""
        return self._best

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1."""
        return self._quality

    @property
    def is_done(self) -> bool:
        """True when the answer cannot be better, or the longest contract is completed."""
        return self._quality >= 1 or self._steps > self._most_steps

    @property
    def contract_steps(self) -> int:
        """Steps of the next or current contract."""
        return self._steps

    def advance(self, budget: Budget, /) -> None:
        """Continue the current contract until it is completed or the budget is spent.

        Raises:
            TypeError: if ``budget`` is not a Budget, ``begin`` returned no interruptible work, or a
                quality is not a number.
            ValueError: if a quality is outside 0 to 1.
        """
        check_budget(budget)
        if self.is_done:
            return
        contract, self._contract = self._contract, None  # if it raises it is not kept
        if contract is None:
            contract = self._begun(self._steps)
        contract.advance(budget)
        if not contract.is_done:
            self._contract = contract
            return
        answer = contract.result
        quality = finite_number("quality", self._quality_of(answer), minimum=0, maximum=1)
        if self._best is None or quality > self._quality:
            self._best, self._quality = answer, quality
        self._steps *= 2

    def save_state(self) -> State:
        """Return the best answer, its quality, and the current contract if it is saveable.

        Raises:
            StateError: if the answer is neither plain data nor named in ``values``.
        """
        return {
            "version": VERSION,
            "steps": self._steps,
            "best": self._values.plain(self._best, "best"),
            "quality": self._quality,
            "contract": inner_state(self._contract),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that loads it.

        The saved contract is already created here, to check its state.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=VERSION)
        steps = fields.whole("steps", minimum=1, maximum=2 * MAX_CONTRACT_STEPS)
        best: Any = self._values.value(fields.anything("best"), fields.place_of("best"))
        quality = fields.number("quality", minimum=0, maximum=1)
        saved, contract = fields.anything("contract"), None
        if saved is not None:
            if steps > MAX_CONTRACT_STEPS:
                fields.refuse("contract", "must be None, as the longest contract is completed")
            contract = self._begun(steps)
        load = prepared_inner(contract, saved, "'contract'")
        fields.end()

        def change() -> None:
            replaced, self._contract = self._contract, contract
            self._steps, self._best, self._quality = steps, best, quality
            load()
            if replaced is not None:
                replaced.cancel()

        return change

    def _begun(self, steps: int) -> Interruptible[R]:
        return check_interruptible("what begin returns", self._begin(steps))
