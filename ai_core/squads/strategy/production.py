"""Production of a strategist: wealth, the build order, and units against a given opponent."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ai_core.described import Described
from ai_core.errors import (
    CycleError,
    UnknownNameError,
    check_kind,
    check_type,
    checked_name,
    finite_number,
    named,
    several,
    several_names,
    shown,
    whole_number,
)
from ai_core.squads.battle_forecast import forecast_each
from ai_core.squads.capabilities import Capabilities, Force


def expected_force(seen: Force, products: Iterable[Product], count: float) -> Force:
    """Return the expected force of an opponent with ``count`` fighters, extrapolated from what was seen.

    Unseen fighters are added in the proportions of the seen ones; with none seen, in equal numbers of
    each product that has capabilities.
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
    """Return the fighter that adds most power against an opponent, on a tie the first; None if there is none.

    Cost: O(products × rows of both × kinds).
    """
    choice = [one for one in products if one.capabilities is not None and one.cost <= most_cost]
    # Added in proportion to the present force: one archer beside a hundred knights would be lost in rounding.
    scale = max(1.0, own.count / 10)
    grown = [own + Force([(one.capabilities, scale)]) for one in choice if one.capabilities is not None]
    now, *after = forecast_each([own, *grown], opponent)
    best, best_worth = None, -math.inf
    for product, end in zip(choice, after, strict=True):
        gain = (end.own_left - end.other_left) - (now.own_left - now.other_left)
        worth = gain / product.cost if by_cost else gain
        if worth > best_worth + 1e-12:
            best, best_worth = product, worth
    return best


@dataclass(frozen=True)
class Product:
    """A unit, a building or a technology.

    Attributes:
        name: unique name, a non-empty string.
        cost: cost of one (resources), above 0.
        requires: names of the products that must exist first.
        capabilities: capabilities of a unit or defense that fights; None for all others.
        gathers: whether it gathers resources.
        defends: whether it is a stationary defense, such as a tower.

    Raises:
        TypeError, ValueError: if a value has a wrong type or is out of range, or a defense has no capabilities.
    """

    name: str
    cost: float
    requires: tuple[str, ...] = ()
    capabilities: Capabilities | None = None
    gathers: bool = False
    defends: bool = False

    def __post_init__(self) -> None:
        checked_name("name of a product", self.name)
        finite_number(f"cost of {self.name!r}", self.cost, above=0)
        object.__setattr__(self, "requires", several_names(f"requires of {self.name!r}", self.requires))
        check_kind(f"capabilities of {self.name!r}", self.capabilities, Capabilities)
        check_type(f"gathers of {self.name!r}", self.gathers, bool)
        check_type(f"defends of {self.name!r}", self.defends, bool)
        if self.defends and self.capabilities is None:
            raise ValueError(f"defense {self.name!r} must have capabilities, got None; give its attack")


class TechnologyTree(Described):
    """All products of a side and their requirements.

    Args:
        products: products, at least one.

    Raises:
        TypeError: if an item is not a Product.
        ValueError: if there are no products, or a name occurs twice.
        UnknownNameError: if a required product is not in the tree.
        CycleError: if a product requires itself, directly or through others.

    >>> tree = TechnologyTree([Product("hall", 100), Product("archer", 50, requires=("hall",))])
    >>> tree.missing("archer", {})
    ('hall',)
    """

    SHOWN = ("products",)

    def __init__(self, products: Iterable[Product]) -> None:
        self.products: dict[str, Product] = {}
        for product in several("products", products, Product):
            if product.name in self.products:
                raise ValueError(f"product {product.name!r} occurs twice; names must differ")
            self.products[product.name] = product
        if not self.products:
            raise ValueError("a technology tree must have at least one product, got none")
        for product in self.products.values():
            for needed in product.requires:
                if needed not in self.products:
                    raise UnknownNameError(f"product that {product.name!r} requires", needed, self.products)
            self._needed(product.name, ())

    def product(self, name: str) -> Product:
        """Return a product by its name.

        Raises:
            UnknownNameError: if the tree has no product of this name.
        """
        return named("product", name, self.products)

    def missing(self, name: str, owned: Mapping[str, int]) -> tuple[str, ...]:
        """Return the names of missing requirements of a product, in an order in which they can be made.

        Raises:
            UnknownNameError: if the tree has no product of this name.

        Cost: O(requirements, direct and indirect).
        """
        self.product(name)
        return tuple(one for one in self._needed(name, ())[:-1] if not owned.get(one, 0))

    @property
    def fighters(self) -> tuple[Product, ...]:
        """Units that fight, in the order of the tree, without defenses."""
        return tuple(one for one in self.products.values() if one.capabilities is not None and not one.defends)

    @property
    def mean_fighter_cost(self) -> float:
        """Mean cost of the fighters; 0 if there are none."""
        costs = [one.cost for one in self.fighters]
        return sum(costs) / max(1, len(costs))

    def available(self, owned: Mapping[str, int]) -> list[Product]:
        """Return the products that can be made now, in the order of the tree.

        Args:
            owned: numbers of products, by name.

        Raises:
            TypeError: if ``owned`` is no mapping.
        """
        check_type("owned", owned, Mapping, "give the numbers of products by name")
        return [one for one in self.products.values() if all(owned.get(needed, 0) for needed in one.requires)]

    def _needed(self, name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            raise CycleError(
                f"product {name!r} must not require itself: {' → '.join((*above, name))}; remove one requirement")
        found: list[str] = []
        for needed in self.products[name].requires:
            found += [one for one in self._needed(needed, (*above, name)) if one not in found]
        return [*found, name]


class BuildOrder(Described):
    """Sequence of products with target numbers, with which a strategist begins.

    Args:
        steps: pairs (name, target number), in order.
        tree: technology tree that contains all products of the steps.

    Raises:
        UnknownNameError: if the tree has no product of a name.
        TypeError, ValueError: if ``tree`` is not a TechnologyTree, or a number is not an integer, 1 or more.

    >>> tree = TechnologyTree([Product("worker", 50), Product("hall", 100)])
    >>> BuildOrder([("worker", 2), ("hall", 1)], tree).next({"worker": 2})
    'hall'
    """

    SHOWN = ("steps",)

    def __init__(self, steps: Iterable[tuple[str, int]], tree: TechnologyTree) -> None:
        check_type("tree", tree, TechnologyTree)
        self.tree = tree
        self.steps = tuple(self._checked_step(one) for one in several("steps", steps, object))

    def _checked_step(self, step: Any) -> tuple[str, int]:
        try:
            name, count = step
        except (TypeError, ValueError):
            raise TypeError(f"steps must hold pairs (name, target number), got {shown(step)}") from None
        return self.tree.product(name).name, whole_number(f"target number of {name!r}", count, minimum=1)

    def next(self, owned: Mapping[str, int]) -> str | None:
        """Return the product to make next: the first unfinished step or its first missing requirement; None at the end.

        Cost: O(steps).
        """
        for name, count in self.steps:
            if owned.get(name, 0) < count:
                missing = self.tree.missing(name, owned)
                return missing[0] if missing else name
        return None


Wealth = Literal["scarce", "steady", "plentiful"]
"""Judgement of a side's resources."""
WEALTHS: tuple[Wealth, ...] = ("scarce", "steady", "plentiful")
"""All judgements, from the poorest to the richest."""
SCARCE_BELOW, PLENTIFUL_FROM = 0.5, 2.0
"""Numbers of armies below which resources are scarce, and from which on they are plentiful (count)."""
HYSTERESIS = 0.2
"""Share of a limit by which the limit must be passed to change a judgement; less makes the judgement flicker."""


def judge_wealth(
    stock: float, reachable: float, army_cost: float, before: Wealth = "steady",
) -> Wealth:
    """Return the wealth of a side, measured in armies that its resources can pay for.

    >>> judge_wealth(100, 300, 1000), judge_wealth(500, 5000, 1000)
    ('scarce', 'plentiful')
    """
    armies = (finite_number("stock", stock, minimum=0) + finite_number("reachable", reachable, minimum=0)) / (
        finite_number("army_cost", army_cost, above=0))
    low = SCARCE_BELOW * (1 + HYSTERESIS if before == "scarce" else 1)
    high = PLENTIFUL_FROM * (1 - HYSTERESIS if before == "plentiful" else 1)
    return "scarce" if armies < low else "plentiful" if armies >= high else "steady"


__all__ = [
    "WEALTHS", "BuildOrder", "Product", "TechnologyTree", "Wealth", "best_unit", "expected_force", "judge_wealth",
]
