"""Reports to a Strategist: squads, enemies, resources and losses; saved with it."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RefusedValue, refusing
from addons.ai_core.nodes.squads.strategist_squads import SquadSurvey
from ai_core.errors import finite_number, whole_number
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.saving.declared_state import (
    DeclaredState,
    Flag,
    MapOf,
    Number,
    OneOf,
    Point,
    Refuse,
    Row,
    Saveable,
    Seconds,
    Whole,
)
from ai_core.squads.capabilities import Force
from ai_core.squads.strategy.production import TechnologyTree
from ai_core.squads.strategy.strategic_situation import (
    DefenseReport,
    EnemyReport,
    SquadReport,
    SquadRole,
    StrategicSituation,
)

Place = tuple[float, float]


def _tuple(*values: Any) -> tuple[Any, ...]:
    return values


class StrategistReports(Saveable):
    """Squads, enemies and defenses by id, as plain values; methods raise RefusedValue for invalid ones.

    Args:
        tree: returns the products of the Strategist.
    """

    STATE = DeclaredState(
        stock=Number(0), owned=MapOf(Whole()), losses=Number(0), kills=Number(0),
        squads=MapOf(Row(_tuple, OneOf(get_args(SquadRole)), Point(2), MapOf(Whole()), Flag()), key=Whole()),
        enemies=MapOf(
            Row(_tuple, Point(2), Seconds(), OneOf(lambda self: ("", *self.tree().products)), Flag()), key=Whole()),
        defenses=MapOf(Row(_tuple, OneOf(lambda self: self.defending), Point(2)), key=Whole()))

    def __init__(self, tree: Callable[[], TechnologyTree]) -> None:
        self.tree = tree
        self.squads: dict[int, tuple[str, Place, dict[str, int], bool]] = {}
        self.enemies: dict[int, tuple[Place, float, str, bool]] = {}
        self.defenses: dict[int, tuple[str, Place]] = {}
        self.stock, self.owned = 0.0, dict[str, int]()
        self.losses = self.kills = 0.0

    @property
    def is_told(self) -> bool:
        """Whether any report names products."""
        return bool(self.squads or self.enemies or self.defenses or self.owned)

    @property
    def defending(self) -> list[str]:
        """Names of the products that are defenses."""
        return [name for name, one in self.tree().products.items() if one.defends]

    def report_squad(self, squad_id: int, role: str, place: Place, units: Mapping[Any, Any], is_idle: bool) -> None:
        """Note a squad."""
        if role not in get_args(SquadRole):
            raise RefusedValue(f"role must be one of {', '.join(get_args(SquadRole))}, got {role!r}")
        with refusing():
            self.squads[whole_number("squad_id", squad_id, minimum=0)] = (role, place, self._counted(units), is_idle)

    def report_enemy(self, enemy_id: int, place: Place, now_s: float, product: str, is_objective: bool) -> None:
        """Note an enemy in sight."""
        with refusing():
            if product:
                self.tree().product(product)
            self.enemies[whole_number("enemy_id", enemy_id, minimum=0)] = (place, now_s, product, is_objective)

    def report_defense(self, defense_id: int, product: str, place: Place) -> None:
        """Note an existing defense."""
        with refusing():
            if not self.tree().product(product).defends:
                raise ValueError(f"{product!r} is not a defense; turn on defends of that StrategicProduct")
            self.defenses[whole_number("defense_id", defense_id, minimum=0)] = (product, place)

    def set_purse(self, stock: float, owned: Mapping[Any, Any]) -> None:
        """Note the stock of resources and the owned products."""
        with refusing():
            self.stock, self.owned = finite_number("stock", stock, minimum=0), self._counted(owned)

    def add_losses(self, own_cost: float, enemy_cost: float) -> None:
        """Add losses by cost."""
        with refusing():
            own = finite_number("own_cost", own_cost, minimum=0)
            self.kills += finite_number("enemy_cost", enemy_cost, minimum=0)
            self.losses += own

    def situation(
        self, now_s: float, picture: MapSnapshot, base: Place, is_open: NDArray[np.bool_] | None, look: SquadSurvey,
        narrow_places: tuple[Place, ...],
    ) -> StrategicSituation:
        """Return the situation for a thought, from the reports and the survey of Squad nodes."""
        tree = self.tree()
        squads = [
            SquadReport(number, role, place, _force(tree, units), is_idle)
            for number, (role, place, units, is_idle) in sorted(self.squads.items())]
        enemies = [
            EnemyReport(number, place, seen_s, tree.product(name).capabilities if name else None, is_objective)
            for number, (place, seen_s, name, is_objective) in sorted(self.enemies.items())]
        owned = {name: self.owned.get(name, 0) + look.owned.get(name, 0) for name in {**self.owned, **look.owned}}
        return StrategicSituation(
            now_s, picture, base, (*squads, *look.squads), (*enemies, *look.enemies), self.stock, owned, is_open,
            self.losses, self.kills, narrow_places,
            tuple(DefenseReport(*one) for _, one in sorted(self.defenses.items())))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        self._check_products("owned", values.owned, refuse)
        for number, (_, _, units, _) in values.squads.items():
            self._check_products(f"squads[{number}]", units, refuse)

    def _check_products(self, name: str, products: Iterable[str], refuse: Refuse) -> None:
        for one in products:
            if one not in self.tree().products:
                refuse(name, f"has {one!r}, which is not a product of this Strategist")

    def _counted(self, counts: Mapping[Any, Any]) -> dict[str, int]:
        return {
            self.tree().product(str(name)).name: whole_number(f"the number of {str(name)!r}", count, minimum=0)
            for name, count in counts.items()}


def _force(tree: TechnologyTree, units: Mapping[str, int]) -> Force:
    return Force(
        (capabilities, count) for name, count in units.items()
        if (capabilities := tree.product(name).capabilities) is not None)
