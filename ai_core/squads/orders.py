"""Orders of a squad and their states."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ai_core.saving.declared_state import OneOf, Optional, Point, Record, Text, Whole

__all__ = ["KINDS", "ORDER_STATE", "STATES", "Order", "OrderKind", "OrderState"]

OrderKind = Literal["move", "follow", "form_up", "hold"]
"""Kinds of orders: go to a goal; follow a given path; form up at a position; stay."""

OrderState = Literal["waiting", "marching", "done", "failed", "replaced"]
"""States of an order: path requested; marching; arrived; impossible; superseded. The last three are final."""

KINDS: tuple[OrderKind, ...] = ("move", "follow", "form_up", "hold")
"""All kinds of orders, for saves."""

STATES: tuple[OrderState, ...] = ("waiting", "marching", "done", "failed", "replaced")
"""All states of an order, for saves."""


@dataclass(eq=False, slots=True)
class Order:
    """One order of one squad.

    Attributes:
        number: number of the order, one more than that of the squad's previous order.
        kind: kind of the order.
        goal: goal with as many coordinates as the squad has dimensions (m); None for "hold".
        state: present state.
        why: reason of the failure; empty otherwise.
    """

    number: int
    kind: OrderKind
    goal: tuple[float, ...] | None = None
    state: OrderState = "waiting"
    why: str = ""

    @property
    def is_over(self) -> bool:
        """True if the order is done, failed or replaced."""
        return self.state in ("done", "failed", "replaced")


ORDER_STATE = Record(
    Order, number=Whole(), kind=OneOf(KINDS), goal=Optional(Point(lambda squad: squad.dimensions)), state=OneOf(STATES),
    why=Text())
"""How an order of a squad is saved."""
