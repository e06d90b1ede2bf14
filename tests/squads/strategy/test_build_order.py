"""Technology trees and build orders: what comes first, and what cannot be."""
from __future__ import annotations

import pytest

from ai_core.errors import CycleError, UnknownNameError
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree

TREE = TechnologyTree([
    Product("worker", 50, gathers=True), Product("hall", 200), Product("forge", 150, requires=("hall",)),
    Product("knight", 100, requires=("hall", "forge"), capabilities=Capabilities()),
])


def test_requirements_of_a_product_come_in_a_feasible_order():
    assert TREE.missing("knight", {}) == ("hall", "forge")
    assert TREE.missing("knight", {"hall": 1}) == ("forge",)
    assert TREE.missing("worker", {}) == ()


def test_available_is_what_needs_nothing_more():
    assert [one.name for one in TREE.available({})] == ["worker", "hall"]
    assert [one.name for one in TREE.available({"hall": 1, "forge": 1})] == ["worker", "hall", "forge", "knight"]


def test_build_order_resumes_where_unmet_and_restarts_on_losses():
    order = BuildOrder([("worker", 2), ("knight", 1), ("worker", 4)], TREE)
    owned: dict[str, int] = {}
    made = []
    while (name := order.next(owned)) is not None:
        owned[name] = owned.get(name, 0) + 1
        made.append(name)
    assert made == ["worker", "worker", "hall", "forge", "knight", "worker", "worker"]
    assert order.next({**owned, "worker": 1}) == "worker"


def test_bad_trees_and_orders_are_refused():
    with pytest.raises(UnknownNameError, match="'knight' requires"):
        TechnologyTree([Product("knight", 1, requires=("stable",))])
    with pytest.raises(CycleError, match="a → b → a"):
        TechnologyTree([Product("a", 1, requires=("b",)), Product("b", 1, requires=("a",))])
    with pytest.raises(ValueError, match="occurs twice"):
        TechnologyTree([Product("a", 1), Product("a", 2)])
    with pytest.raises(ValueError, match="at least one product"):
        TechnologyTree([])
    with pytest.raises(ValueError, match="cost of 'a' must be above 0"):
        Product("a", 0)
    with pytest.raises(TypeError, match="must be a sequence of names"):
        Product("a", 1, requires="hall")
    with pytest.raises(UnknownNameError, match="product"):
        BuildOrder([("dragon", 1)], TREE)
    with pytest.raises(TypeError, match="owned must be a mapping, got 3"):
        TREE.available(3)
    with pytest.raises(ValueError, match="at least 1"):
        BuildOrder([("worker", 0)], TREE)
