"""What to make against whom: the unit that adds most power against the opponent at hand."""
from __future__ import annotations

import math
from collections.abc import Iterable

from ai_core.errors import finite_number, whole_number
from ai_core.squads.battle_forecast import forecasts
from ai_core.squads.build_order import Product
from ai_core.squads.capabilities import Force

__all__ = ["army_against", "best_unit", "expected_force"]


def expected_force(seen: Force, products: Iterable[Product], count: float) -> Force:
    """Return what an opponent of so many fighters has: what was seen, and of the rest a bit of everything.

    Args:
        seen: what is known of it.
        products: what can be made; those without capabilities count for nothing.
        count: how many fighters it is taken to have, 0 or more.
    """
    kinds = [one.capabilities for one in products if one.capabilities is not None]
    unseen = max(0.0, finite_number("count", count, minimum=0) - seen.count)
    if not kinds or not unseen:
        return seen
    if seen.count:
        return Force((one, number * (1 + unseen / seen.count)) for one, number in seen.rows)
    return Force((one, unseen / len(kinds)) for one in kinds)


def best_unit(
    products: Iterable[Product], own: Force, opponent: Force, *, most_cost: float, by_cost: bool = True
) -> Product | None:
    """Return the fighter that adds most power against an opponent; of equal ones the first. None if there is none.

    Args:
        products: to choose from; those without capabilities are left out.
        own: what is there already.
        opponent: whom it is to fight.
        most_cost: dearer ones are left out.
        by_cost: power for its cost, as one chooses who must save; else power alone.

    Cost: O(products × rows of both × kinds).
    """
    choice = [one for one in products if one.capabilities is not None and one.cost <= most_cost]
    # Added to a few of what is there: one archer beside a hundred knights would drown in rounding.
    scale = max(1.0, own.count / 10)
    grown = [own + Force([(one.capabilities, scale)]) for one in choice if one.capabilities is not None]
    now, *after = forecasts([own, *grown], opponent)
    best, best_worth = None, -math.inf
    for product, end in zip(choice, after, strict=True):
        gain = (end.own_left - end.other_left) - (now.own_left - now.other_left)
        worth = gain / product.cost if by_cost else gain
        if worth > best_worth + 1e-12:
            best, best_worth = product, worth
    return best


def army_against(
    products: Iterable[Product], opponent: Force, cost: float, *, most_count: int = 1000
) -> dict[str, int]:
    """Return how many of each to make for a cost, one by one the best against an opponent.

    Args:
        products: to choose from.
        opponent: whom it is to fight.
        cost: that may be spent.
        most_count: units at most.

    Cost: O(units × products × kinds).

    >>> from ai_core.squads.capabilities import Capabilities
    >>> spear = Product("spear", 10, capabilities=Capabilities("ground", attack={"ground": 3.0}))
    >>> bow = Product("bow", 10, capabilities=Capabilities("ground", attack={"air": 3.0, "ground": 0.5}))
    >>> army_against([spear, bow], Force([(Capabilities("air", attack={"ground": 1.0}), 5)]), 50)
    {'bow': 5}
    """
    choice = list(products)
    counts = dict.fromkeys((one.name for one in choice), 0)
    left, own, rows = finite_number("cost", cost, minimum=0), Force(), []
    for _ in range(whole_number("most_count", most_count, minimum=0)):
        one = best_unit(choice, own, opponent, most_cost=left)
        if one is None or one.capabilities is None:
            break
        counts[one.name] += 1
        left -= one.cost
        rows.append((one.capabilities, 1.0))
        own = Force(rows)
    return {name: count for name, count in counts.items() if count}
