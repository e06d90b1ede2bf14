"""What a strategist makes: what is scarce, the build order, units against the opponent at hand."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ai_core.errors import CycleError, UnknownNameError, finite_number, named, several_names, shown, whole_number
from ai_core.squads.battle_forecast import forecasts
from ai_core.squads.capabilities import Capabilities, Force


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


@dataclass(frozen=True)
class Product:
    """A unit, a building or a technology.

    Attributes:
        name: unlike those of the others.
        cost: of one, above 0.
        requires: names of what must be there first.
        capabilities: of a unit that fights; None for whatever does not.
        gathers: whether it gathers resources.
        defends: whether it is a defense, which stays where it is put; such as a tower.

    Raises:
        TypeError, ValueError: if a value is of another type or out of range, or a defense can do nothing.
    """

    name: str
    cost: float
    requires: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    gathers: bool = False
    defends: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name of a product must be text, got {shown(self.name)}")
        finite_number(f"cost of {self.name!r}", self.cost, above=0)
        object.__setattr__(self, "requires", several_names(f"requires of {self.name!r}", self.requires))
        if self.capabilities is not None and not isinstance(self.capabilities, Capabilities):
            raise TypeError(
                f"capabilities of {self.name!r} must be Capabilities or None, got {shown(self.capabilities)}")
        if self.defends and self.capabilities is None:
            raise ValueError(f"{self.name!r} defends and needs capabilities, got None; say what it can hit")


class TechnologyTree:
    """All that can be made, and what each needs.

    Args:
        products: at least one.

    Raises:
        ValueError: if there is none, or a name comes twice.
        UnknownNameError: if one requires what is not there.
        CycleError: if one requires itself, by way of others.

    >>> tree = TechnologyTree([Product("hall", 100), Product("archer", 50, requires=("hall",))])
    >>> tree.missing("archer", {})
    ('hall',)
    """

    def __init__(self, products: Iterable[Product]) -> None:
        self.products: dict[str, Product] = {}
        for product in products:
            if not isinstance(product, Product):
                raise TypeError(f"products must be Products, got {shown(product)}")
            if product.name in self.products:
                raise ValueError(f"product {product.name!r} is there twice; give each a name of its own")
            self.products[product.name] = product
        if not self.products:
            raise ValueError("a technology tree must have at least one product, got none")
        for product in self.products.values():
            for needed in product.requires:
                if needed not in self.products:
                    raise UnknownNameError(f"product that {product.name!r} requires", needed, self.products)
            self._needed(product.name, ())

    def product(self, name: str) -> Product:
        """Return a product.

        Raises:
            UnknownNameError: if there is none of this name.
        """
        return named("product", name, self.products)

    def missing(self, name: str, owned: Mapping[str, int]) -> tuple[str, ...]:
        """Return what must be made before a product can be, in an order in which that goes.

        Cost: O(what it requires, by way of others).
        """
        self.product(name)
        return tuple(one for one in self._needed(name, ())[:-1] if not owned.get(one, 0))

    @property
    def fighters(self) -> tuple[Product, ...]:
        """Units that fight, in the order of the tree; no defenses, which go nowhere."""
        return tuple(one for one in self.products.values() if one.capabilities is not None and not one.defends)

    @property
    def mean_fighter_cost(self) -> float:
        """What a fighter costs on the average; 0 if there is none."""
        costs = [one.cost for one in self.fighters]
        return sum(costs) / max(1, len(costs))

    def available(self, owned: Mapping[str, int]) -> list[Product]:
        """Return what can be made now, in the order of the tree."""
        return [one for one in self.products.values() if all(owned.get(needed, 0) for needed in one.requires)]

    def _needed(self, name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            raise CycleError(f"product {name!r} requires itself: {' → '.join((*above, name))}")
        found: list[str] = []
        for needed in self.products[name].requires:
            found += [one for one in self._needed(needed, (*above, name)) if one not in found]
        return [*found, name]


class BuildOrder:
    """How a strategist begins: until there are so many of this, then so many of that.

    Args:
        steps: (name, how many there are to be), in order.
        tree: has all of them.

    Raises:
        UnknownNameError: if the tree has no such product.
        TypeError, ValueError: if the tree is none, or a number none of 1 or more.

    >>> tree = TechnologyTree([Product("worker", 50), Product("hall", 100)])
    >>> BuildOrder([("worker", 2), ("hall", 1)], tree).next({"worker": 2})
    'hall'
    """

    def __init__(self, steps: Iterable[tuple[str, int]], tree: TechnologyTree) -> None:
        if not isinstance(tree, TechnologyTree):
            raise TypeError(f"tree must be a TechnologyTree, got {shown(tree)}")
        self.tree = tree
        self.steps = tuple(
            (tree.product(name).name, whole_number(f"how many of {name!r}", count, minimum=1))
            for name, count in steps
        )

    def next(self, owned: Mapping[str, int]) -> str | None:
        """Return what to make next: what the first step that is not reached needs, or itself; None at the end.

        Cost: O(steps).
        """
        for name, count in self.steps:
            if owned.get(name, 0) < count:
                missing = self.tree.missing(name, owned)
                return missing[0] if missing else name
        return None


Wealth = Literal["scarce", "steady", "plentiful"]
"""How much there is to live on."""
WEALTHS: tuple[Wealth, ...] = ("scarce", "steady", "plentiful")
"""From the poorest to the richest."""
HYSTERESIS = 0.2
"""Share of a limit by which it must be passed to leave a judgement; less makes it flicker."""


def judge_wealth(
    stock: float, reachable: float, army_cost: float, before: Wealth = "steady",
    *, scarce_below: float = 0.5, plentiful_above: float = 2.0,
) -> Wealth:
    """Return how much there is to live on.

    Args:
        stock: what is in store, 0 or more.
        reachable: what is known to be left to gather, 0 or more.
        army_cost: of the army it is to have, above 0: wealth is counted in such armies.
        before: what was judged last; it is kept unless a limit is clearly passed.
        scarce_below: armies that can be paid for, below which resources are scarce.
        plentiful_above: from which they are plentiful.

    Raises:
        TypeError, ValueError: if a number is out of range, or the limits are not in order.

    >>> judge_wealth(100, 300, 1000), judge_wealth(500, 5000, 1000)
    ('scarce', 'plentiful')
    """
    if not 0 < scarce_below < plentiful_above:
        raise ValueError(f"0 < scarce_below < plentiful_above must hold, got {scarce_below!r} and {plentiful_above!r}")
    armies = (finite_number("stock", stock, minimum=0) + finite_number("reachable", reachable, minimum=0)) / (
        finite_number("army_cost", army_cost, above=0))
    low = scarce_below * (1 + HYSTERESIS if before == "scarce" else 1)
    high = plentiful_above * (1 - HYSTERESIS if before == "plentiful" else 1)
    return "scarce" if armies < low else "plentiful" if armies >= high else "steady"


__all__ = [
    "WEALTHS",
    "BuildOrder",
    "Product",
    "TechnologyTree",
    "Wealth",
    "army_against",
    "best_unit",
    "expected_force",
    "judge_wealth",
]
