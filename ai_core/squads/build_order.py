"""What can be made, what each needs first, and in which order a strategist begins."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_core.errors import CycleError, UnknownNameError, finite_number, named, several_names, shown, whole_number
from ai_core.squads.capabilities import Capabilities

__all__ = ["BuildOrder", "Product", "TechnologyTree"]


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
