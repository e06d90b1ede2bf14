"""What a squad was told to do, and what became of it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["KINDS", "STATES", "Order", "OrderKind", "OrderState"]

OrderKind = Literal["move", "follow", "form_up", "hold"]
"""Go somewhere; go along a way that is given; stand somewhere; stay."""

OrderState = Literal["waiting", "marching", "done", "failed", "replaced"]
"""The path is searched for; under way; there; impossible; another order came. The last three are for good."""

KINDS: tuple[OrderKind, ...] = ("move", "follow", "form_up", "hold")
"""All kinds there are, for saves."""

STATES: tuple[OrderState, ...] = ("waiting", "marching", "done", "failed", "replaced")
"""All states there are, for saves."""


@dataclass(eq=False, slots=True)
class Order:
    """One order of one squad.

    Attributes:
        number: rises by one with each order of the squad.
        kind: what is to be done.
        goal: where to, as many coordinates as the squad has dimensions (m); None for "hold".
        state: what became of it.
        why: why it failed.
    """

    number: int
    kind: OrderKind
    goal: tuple[float, ...] | None = None
    state: OrderState = "waiting"
    why: str = ""

    @property
    def is_over(self) -> bool:
        """True if nothing more will come of it."""
        return self.state in ("done", "failed", "replaced")
