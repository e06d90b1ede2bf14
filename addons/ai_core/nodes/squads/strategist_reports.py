"""Reports to a Strategist: squads, enemies, resources and losses; saved with it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RefusedValue
from addons.ai_core.nodes.squads.strategist_squads import SquadSurvey
from ai_core.errors import finite_number, whole_number
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.saving.fields import LATEST_S, Fields, State
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
MISTAKES = (TypeError, ValueError, LookupError)


class StrategistReports:
    """Squads and enemies by id, as plain values."""

    def __init__(self) -> None:
        self.squads: dict[int, tuple[str, Place, dict[str, int], bool]] = {}
        self.enemies: dict[int, tuple[Place, float, str, bool]] = {}
        self.defenses: dict[int, tuple[str, Place]] = {}
        self.stock, self.owned = 0.0, dict[str, int]()
        self.losses = self.kills = 0.0

    @property
    def is_told(self) -> bool:
        """Whether any report names products."""
        return bool(self.squads or self.enemies or self.defenses or self.owned)

    def report_squad(
        self, tree: TechnologyTree, squad_id: int, role: str, place: Place, units: Mapping[Any, Any], is_idle: bool
    ) -> None:
        """Note a squad."""
        if role not in get_args(SquadRole):
            raise RefusedValue(f"role must be one of {', '.join(get_args(SquadRole))}, got {role!r}")
        try:
            whole_number("squad_id", squad_id, minimum=0)
            self.squads[squad_id] = (role, place, _counted(tree, units), is_idle)
        except MISTAKES as mistake:
            raise RefusedValue(str(mistake)) from None

    def report_enemy(
        self, tree: TechnologyTree, enemy_id: int, place: Place, now_s: float, product: str, is_objective: bool
    ) -> None:
        """Note an enemy in sight."""
        try:
            whole_number("enemy_id", enemy_id, minimum=0)
            if product:
                tree.product(product)
        except MISTAKES as mistake:
            raise RefusedValue(str(mistake)) from None
        self.enemies[enemy_id] = (place, now_s, product, is_objective)

    def report_defense(self, tree: TechnologyTree, defense_id: int, product: str, place: Place) -> None:
        """Note an existing defense."""
        try:
            whole_number("defense_id", defense_id, minimum=0)
            if not tree.product(product).defends:
                raise ValueError(f"{product!r} is not a defense; turn on defends of that StrategicProduct")
        except MISTAKES as mistake:
            raise RefusedValue(str(mistake)) from None
        self.defenses[defense_id] = (product, place)

    def set_purse(self, tree: TechnologyTree, stock: float, owned: Mapping[Any, Any]) -> None:
        """Note the stock of resources and the owned products."""
        try:
            checked = finite_number("stock", stock, minimum=0), _counted(tree, owned)
        except MISTAKES as mistake:
            raise RefusedValue(str(mistake)) from None
        self.stock, self.owned = checked

    def add_losses(self, own_cost: float, enemy_cost: float) -> None:
        """Add losses by cost."""
        try:
            added = [finite_number(name, one, minimum=0) for name, one in
                     (("own_cost", own_cost), ("enemy_cost", enemy_cost))]
        except MISTAKES as mistake:
            raise RefusedValue(str(mistake)) from None
        self.losses, self.kills = self.losses + added[0], self.kills + added[1]

    def situation(
        self, tree: TechnologyTree, now_s: float, picture: MapSnapshot, base: Place, is_open: NDArray[np.bool_] | None,
        look: SquadSurvey, narrow_places: tuple[Place, ...],
    ) -> StrategicSituation:
        """Return the situation for a thought, from the reports and the survey of Squad nodes."""
        squads = [
            SquadReport(number, role, place, _force(tree, units), is_idle)  # type: ignore[arg-type]
            for number, (role, place, units, is_idle) in sorted(self.squads.items())]
        enemies = [
            EnemyReport(number, place, seen_s, tree.product(name).capabilities if name else None, is_objective)
            for number, (place, seen_s, name, is_objective) in sorted(self.enemies.items())]
        owned = {name: self.owned.get(name, 0) + look.owned.get(name, 0) for name in {**self.owned, **look.owned}}
        return StrategicSituation(
            now_s, picture, base, (*squads, *look.squads), (*enemies, *look.enemies), self.stock, owned, is_open,
            self.losses, self.kills, narrow_places,
            tuple(DefenseReport(*one) for _, one in sorted(self.defenses.items())))

    def save_state(self) -> State:
        """Return all reports as plain data."""
        return {
            "version": 1, "stock": self.stock, "owned": dict(self.owned), "losses": self.losses, "kills": self.kills,
            "squads": [
                {"id": number, "role": role, "place": list(place), "units": dict(units), "is_idle": is_idle}
                for number, (role, place, units, is_idle) in sorted(self.squads.items())
            ],
            "enemies": [
                {"id": number, "place": list(place), "seen_s": seen_s, "product": name, "is_objective": is_objective}
                for number, (place, seen_s, name, is_objective) in sorted(self.enemies.items())
            ],
            "defenses": [
                {"id": number, "product": name, "place": list(place)}
                for number, (name, place) in sorted(self.defenses.items())
            ],
        }

    def prepare_state(self, state: object, tree: TechnologyTree) -> Callable[[], None]:
        """Check saved reports; return a function that applies them.

        Raises:
            StateError: if they are invalid; names the field and the reason.
        """
        fields = Fields.versioned(state, version=1)
        read = StrategistReports()
        read.stock, read.owned = fields.number("stock", minimum=0), _read_counts(fields, "owned", tree)
        read.losses, read.kills = fields.number("losses", minimum=0), fields.number("kills", minimum=0)
        for one in fields.groups("squads"):
            role = one.one_of("role", get_args(SquadRole))
            read.squads[one.whole("id")] = (role, _pair(one), _read_counts(one, "units", tree), one.flag("is_idle"))
            one.end()
        for one in fields.groups("enemies"):
            name = one.one_of("product", ("", *tree.products))
            seen_s = one.seconds("seen_s", latest_s=LATEST_S)
            read.enemies[one.whole("id")] = (_pair(one), seen_s, name, one.flag("is_objective"))
            one.end()
        defending = tuple(name for name, one in tree.products.items() if one.defends)
        for one in fields.groups("defenses"):
            read.defenses[one.whole("id")] = (one.one_of("product", defending), _pair(one))
            one.end()
        fields.end()

        def change() -> None:
            self.__dict__.update(read.__dict__)

        return change


def _counted(tree: TechnologyTree, counts: Mapping[Any, Any]) -> dict[str, int]:
    return {
        tree.product(str(name)).name: whole_number(f"the number of {str(name)!r}", count, minimum=0)
        for name, count in counts.items()
    }


def _force(tree: TechnologyTree, units: Mapping[str, int]) -> Force:
    return Force(
        (capabilities, count) for name, count in units.items()
        if (capabilities := tree.product(name).capabilities) is not None)


def _read_counts(fields: Fields, name: str, tree: TechnologyTree) -> dict[str, int]:
    group = fields.group(name)
    names = group.names()
    for one in names:
        if one not in tree.products:
            fields.refuse(name, f"has {one!r}, which is not a product of this Strategist")
    return {one: group.whole(one) for one in names}


def _pair(fields: Fields) -> Place:
    x, y = fields.numbers("place", count=2)
    return (x, y)
