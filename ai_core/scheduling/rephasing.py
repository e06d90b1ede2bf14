"""Better phases for all tasks at once: min-max placement, then local search.

Choosing phases one by one cannot know what comes later. This one knows all
tasks, places the most frequent and heaviest first, and then takes small groups
out of the busiest frames and puts them back in other orders.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, shown
from ai_core.saving.fields import LARGEST, Fields, State
from ai_core.scheduling.phase_search import Measure, PhaseSearch
from ai_core.scheduling.phasing import Slot, checked_slot

__all__ = ["Rephasing"]

VERSION = 1

FINEST = 4096
"""Weights are rounded to this part of the greatest: whole numbers add up the same in any order."""

MOST_WEIGHT = 1 << 25
"""Greatest sum of rounded weights: its square, on 5040 frames, fits in 64 bits."""


class Rephasing:
    """Search for phases with the lowest peak; begin, advance, take the best so far.

    Frames are looked at over the common multiple of all periods, or over
    ``LOOK_AHEAD_FRAMES`` if that is longer. By its measure the result is never
    worse than the phases it began with. No chance is involved.

    Args:
        slots: periods and present phases of all tasks.
        weights: cost of one run of each, 0 to 1e100, any unit; None for equal.
            Rounded to 1/4096 of the greatest, and up to that at least.
        movable: which may get another phase; None for all.

    Raises:
        TypeError: if a slot, weight or flag is of another type.
        ValueError: if a number is out of range, or lengths differ.

    Cost: O(tasks) to begin, about 1 µs each; then about 80 ms in all for 10,000
    tasks of periods to 60, up to 30 ms for 30 tasks, 300 ms for 10,000 whose periods differ.
    Source: 000_execution_management, automatic phasing; there one by one only.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        *,
        weights: Sequence[float] | None = None,
        movable: Sequence[bool] | None = None,
    ) -> None:
        self._begin(*_checked(slots, weights, movable))

    def _begin(self, slots: list[Slot], weights: list[float] | None, movable: list[bool]) -> None:
        self._slots, self._weights, self._movable = slots, weights, movable
        self._search = PhaseSearch(slots, _rounded(weights, len(slots)), movable)
        self._steps = self._search.steps()
        self._steps_taken = 0
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """True when the search has ended; ``result`` then stays as it is."""
        return self._is_done

    @property
    def result(self) -> list[int]:
        """The best phases so far, in the order of the slots. Cost: O(tasks)."""
        return self._search.phases()

    @property
    def measure_before(self) -> Measure | None:
        """Measure of the phases it began with; None until that is counted."""
        return self._search.measure_before

    @property
    def measure(self) -> Measure | None:
        """Measure of ``result``; None until the phases it began with are counted."""
        return self._search.measure

    def advance(self, budget: Budget) -> None:
        """Search on until done, or until the budget is spent; each step costs one.

        One step takes about 0.2 ms at most with 10,000 tasks of usual periods;
        the first, and two later ones, up to 1.5 ms if all periods differ.
        """
        check_budget(budget)
        while not (self._is_done or budget.is_spent):
            self._step()
            budget.spend()

    def save_state(self) -> State:
        """Return tasks, weights and how far the search has come."""
        return {
            "version": VERSION,
            "periods_frames": [slot.period_frames for slot in self._slots],
            "phases_frames": [slot.phase_frames for slot in self._slots],
            "weights": None if self._weights is None else list(self._weights),
            "movable": list(self._movable),
            "steps": self._steps_taken,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it, by taking all its steps again.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=VERSION)
        periods, phases = fields.wholes("periods_frames"), fields.wholes("phases_frames")
        weights = None if fields.anything("weights") is None else fields.numbers("weights")
        movable, steps = fields.items("movable"), fields.whole("steps")
        fields.end()
        try:
            slots = [Slot(*pair) for pair in zip(periods, phases, strict=True)]
            arguments = _checked(slots, weights, movable)
        except (TypeError, ValueError) as error:
            fields.refuse("periods_frames", f"does not go with what else is there: {error}")

        def change() -> None:
            self._begin(*arguments)
            while self._steps_taken < steps and not self._is_done:
                self._step()

        return change

    def _step(self) -> None:
        self._steps_taken += 1
        self._is_done = next(self._steps, True) is True


def _checked(
    slots: Sequence[Slot], weights: Sequence[float] | None, movable: Sequence[bool] | None
) -> tuple[list[Slot], list[float] | None, list[bool]]:
    checked = [checked_slot(slot) for slot in slots]
    for name, values in (("weights", weights), ("movable", movable)):
        if values is not None and len(values) != len(checked):
            raise ValueError(f"{name} must be one for each of {len(checked)} slots, got {len(values)}")
    if weights is not None:
        weights = [
            # The full check takes ten times as long; of thousands all pass this one.
            one if type(one) is float and 0 <= one <= LARGEST
            else finite_number("a weight in weights", one, minimum=0, maximum=LARGEST)
            for one in weights
        ]
    flags = [True] * len(checked) if movable is None else list(movable)
    for flag in flags:
        if type(flag) is not bool:
            raise TypeError(f"movable must hold True and False, got {shown(flag)}")
    return checked, weights, flags


def _rounded(weights: list[float] | None, count: int) -> list[int]:
    if weights is None or not any(weights):
        return [1] * count
    greatest = max(weights)
    parts = [weight / greatest for weight in weights]
    scale = min(FINEST, MOST_WEIGHT / sum(parts))
    return [max(1, round(part * scale)) for part in parts]
