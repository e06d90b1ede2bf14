"""Knowledge of a Strategist: the survey of its Squad nodes, and the reports of scripts; saved with it."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RefusedValue, get_object, refusing, report_error
from addons.ai_core.nodes.saving.node_state import ByNode, is_in_scene
from addons.ai_core.nodes.squads.squad_member import SQUADS, member_of
from ai_core.errors import UnknownNameError, finite_number, whole_number
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import Flag, MapOf, Number, OneOf, Point, Record, Row, Seconds, Whole
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.production import TechnologyTree
from ai_core.squads.strategy.strategic_situation import (
    DefenseReport,
    EnemyReport,
    Mission,
    SquadReport,
    SquadRole,
    StrategicSituation,
)

FIRST_NUMBER = 1000
"""First number of Squad nodes; a game may number its own squads from 0 to below this."""

FIRST_MET = 1_000_000
"""First number of enemies that squads see."""

SAME_PLACE_M = 0.01
"""Distance within which two goals are equal (m); engine vectors have 32 bits."""


@dataclass
class EnemySighting:
    """The last sighting of an enemy by a squad."""

    number: int
    place: tuple[float, float]
    seen_s: float
    cost: float
    is_objective: bool = False
    capabilities: Capabilities | None = None


class SquadSurvey(NamedTuple):
    """Result of a survey of all squads: reports, the number of each product, and losses by cost."""

    squads: tuple[SquadReport, ...]
    enemies: tuple[EnemyReport, ...]
    owned: dict[str, int]
    losses: float
    kills: float


class StrategistSquads(Saveable):
    """Squads by number, and the costs of their members and the enemies they saw, by instance id.

    Args:
        strategist: the Strategist.
    """

    STATE = DeclaredState(
        numbers=ByNode(Whole(FIRST_NUMBER), "Squad", at="_numbers"),
        costs=ByNode(Number(0), "SquadMember", at="_costs"),
        met=ByNode(Record(
            EnemySighting, number=Whole(FIRST_MET), place=Point(2), seen_s=Seconds(), cost=Number(0),
            is_objective=Flag())),
        looked_at_s=Seconds(at="_looked_at_s"))

    def __init__(self, strategist: Any) -> None:
        self._strategist = strategist
        self._numbers: dict[int, int] = {}
        self._next_number, self._next_met = FIRST_NUMBER, FIRST_MET
        self._costs: dict[int, float] = {}
        self.met: dict[int, EnemySighting] = {}        # enemies that its squads have seen
        self._reported: set[int] = set()
        self._looked_at_s = 0.0

    def nodes(self) -> dict[int, Any]:
        """Return its squads by ascending number; a new squad gets the next number.

        Cost: O(squads of the scene).
        """
        strategist, found = self._strategist, {}
        self._numbers = {instance: one for instance, one in self._numbers.items() if get_object(instance) is not None}
        for squad in strategist.get_tree().get_nodes_in_group(SQUADS):
            if squad.strategist_node() == strategist:
                number = self._numbers.setdefault(squad.instance_id, self._next_number)
                self._next_number = max(self._next_number, number + 1)
                found[number] = squad
        return dict(sorted(found.items()))

    @property
    def _scheduler(self) -> Any:
        return self._strategist._scheduler

    def look(self, tree: TechnologyTree, ground: Any, now_s: float) -> SquadSurvey:
        """Survey all squads and the enemies they see.

        Args:
            tree: the products and their costs.
            ground: the DecisionMap, which converts positions.
            now_s: game time (s).

        Cost: O(members + enemies).
        """
        reports, costs, owned = [], {}, Counter[str]()
        for number, squad in self.nodes().items():
            if not squad.is_in_use():
                continue                             # waits for an AIScheduler
            for member in squad.get_members():
                costs[member.instance_id] = _cost(tree, self._product(member, tree))
                owned[member.product] += 1
            report = _report(number, squad, tree, ground)
            if report is not None:
                reports.append(report)
            self._see(squad, tree, ground, now_s)
        losses, kills = self.fallen()
        self._costs, self._looked_at_s = costs, now_s
        self._reported &= costs.keys()
        self._forget(now_s)
        enemies = sorted(EnemyReport(one.number, one.place, one.seen_s, one.capabilities, one.is_objective)
                         for one in self.met.values())
        known = {name: count for name, count in owned.items() if name in tree.products}
        return SquadSurvey(tuple(reports), tuple(enemies), known, losses, kills)

    def _product(self, member: Any, tree: TechnologyTree) -> str:
        """Return the product of a member, "" for none; an unknown product is reported once."""
        name = str(member.product)
        if name in tree.products:
            return name
        if name and member.instance_id not in self._reported:
            self._reported.add(member.instance_id)
            report_error(str(UnknownNameError("product of its Strategist", name, tree.products)), member)
        return ""

    def _see(self, squad: Any, tree: TechnologyTree, ground: Any, now_s: float) -> None:
        """Note the enemies of a squad at their last reported positions."""
        for sighting in squad.core.sightings:
            node = squad.enemy(sighting.enemy_id)
            if node is None or not node.is_inside_tree():
                continue
            known = self.met.get(node.instance_id)
            if known is None:
                member = member_of(node)
                name = "" if member is None else str(member.product)
                number, self._next_met = self._next_met, self._next_met + 1
                cost = _cost(tree, name) if name in tree.products or sighting.capabilities is not None else 0.0
                known = self.met[node.instance_id] = EnemySighting(number, (0.0, 0.0), now_s, cost)
            known.place, known.seen_s = ground.ground_of(squad.point(sighting.position)), now_s
            known.capabilities = sighting.capabilities
            known.is_objective = node.is_in_group(self._strategist.objective_group)

    def fallen(self) -> tuple[float, float]:
        """Return the costs of members, and of enemies in sight of the last survey, that were lost since the last call.
        """
        losses = sum(self._costs.pop(one) for one in list(self._costs) if not is_in_scene(one))
        dead = [self.met.pop(one) for one in list(self.met) if not is_in_scene(one)]
        return losses, sum(one.cost for one in dead if one.seen_s >= self._looked_at_s)

    def _forget(self, now_s: float) -> None:
        """Drop enemies that were not seen for ``forget_after``."""
        for instance, one in list(self.met.items()):
            if not one.is_objective and now_s - one.seen_s > self._strategist.forget_after:
                del self.met[instance]

    @staticmethod
    def carry_out(mission: Mission, squad: Any, ground: Any, *, is_new: bool) -> Any:
        """Order the squad of a mission to its place, unless it moves there; return it, None without a squad.

        A squad that was outside the tree has lost its order and gets it again. A failed order is repeated, except
        for scout and search: their place counts as explored after success and after failure, because without a
        MapWriter the squad would be sent there forever.
        """
        if squad is None or not squad.is_valid() or not squad.is_in_use() or not len(squad.core):
            return None
        order = squad.core.order
        is_there = order.goal is not None and math.dist(
            ground.ground_of(squad.point(order.goal)), mission.place) <= SAME_PLACE_M
        if is_there and order.state in ("done", "failed") and mission.kind in ("scout", "search"):
            ground.core.write_at("exploration", [mission.place], 0.0)
        elif (is_there and order.state == "failed") or ((is_new or not order.number) and not is_there):
            height = 0.0 if squad.has_dimensions == 2 else float(squad.core.centre[1])
            squad.move_to(ground.place_of_ground(mission.place, height))
        return squad

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for instance, one in values.met.items():
            member = member_of(get_object(instance))
            one.capabilities = None if member is None else member.capabilities()
        numbers_met = [one.number for one in values.met.values()]
        for name, numbers in (("numbers", [*values.numbers.values()]), ("met", numbers_met)):
            if len({*numbers}) < len(numbers):
                refuse(name, "must not have a number twice")

    def _finish_load(self) -> None:
        self._next_number = max(self._numbers.values(), default=FIRST_NUMBER - 1) + 1
        self._next_met = max((one.number for one in self.met.values()), default=FIRST_MET - 1) + 1


def _report(number: int, squad: Any, tree: TechnologyTree, ground: Any) -> SquadReport | None:
    """Return the report of a squad, None if it has no members."""
    squad.place_all()
    core, strengths = squad.core, []
    if not len(core):
        return None
    for member in squad.get_members():
        product = tree.products.get(str(member.product))
        can = core.members[member.member_id].capabilities
        can = product.capabilities if can is None and product is not None else can
        if can is not None:
            strengths.append(can)
    place = ground.ground_of(squad.point(core.centre))
    return SquadReport(number, squad.role_name, place, Force.of_members(strengths), core.is_idle)


def _cost(tree: TechnologyTree, product: str) -> float:
    return tree.products[product].cost if product in tree.products else tree.mean_fighter_cost


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
    def is_used(self) -> bool:
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
