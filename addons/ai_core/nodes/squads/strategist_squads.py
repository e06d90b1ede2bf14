"""The Squad nodes of a Strategist: surveyed at each thought, and ordered to their missions."""
from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import get_object, report_error
from addons.ai_core.nodes.saving.node_state import ByNode, is_in_scene
from addons.ai_core.nodes.squads.squad_member import SQUADS, member_of
from ai_core.errors import UnknownNameError
from ai_core.saving.declared_state import (
    DeclaredState,
    Flag,
    Number,
    Point,
    Record,
    Refuse,
    Saveable,
    Seconds,
    Whole,
)
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.strategy.production import TechnologyTree
from ai_core.squads.strategy.strategic_situation import EnemyReport, Mission, SquadReport

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
            is_objective=Flag()), at="_met"))

    def __init__(self, strategist: Any) -> None:
        self._strategist = strategist
        self._numbers: dict[int, int] = {}
        self._next_number, self._next_met = FIRST_NUMBER, FIRST_MET
        self._costs: dict[int, float] = {}
        self._met: dict[int, EnemySighting] = {}
        self._reported: set[int] = set()

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

    @property
    def met_count(self) -> int:
        """Number of enemies that its squads have seen."""
        return len(self._met)

    def look(self, tree: TechnologyTree, ground: Any, now_s: float, before_s: float) -> SquadSurvey:
        """Survey all squads and the enemies they see.

        Args:
            tree: the products and their costs.
            ground: the DecisionMap, which converts positions.
            now_s: game time (s).
            before_s: game time of the last survey (s).

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
        losses, kills = self.fallen(before_s)
        self._costs = costs
        self._reported &= costs.keys()
        self._forget(now_s)
        enemies = sorted(EnemyReport(one.number, one.place, one.seen_s, one.capabilities, one.is_objective)
                         for one in self._met.values())
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
            known = self._met.get(node.instance_id)
            if known is None:
                member = member_of(node)
                name = "" if member is None else str(member.product)
                number, self._next_met = self._next_met, self._next_met + 1
                cost = _cost(tree, name) if name in tree.products or sighting.capabilities is not None else 0.0
                known = self._met[node.instance_id] = EnemySighting(number, (0.0, 0.0), now_s, cost)
            known.place, known.seen_s = ground.ground_of(squad.point(sighting.position)), now_s
            known.capabilities = sighting.capabilities
            known.is_objective = node.is_in_group(self._strategist.objective_group)

    def fallen(self, before_s: float) -> tuple[float, float]:
        """Return the costs of members, and of enemies in sight, that were lost since the last call.

        Args:
            before_s: game time of the last survey (s).
        """
        losses = sum(self._costs.pop(one) for one in list(self._costs) if not is_in_scene(one))
        dead = [self._met.pop(one) for one in list(self._met) if not is_in_scene(one)]
        return losses, sum(one.cost for one in dead if one.seen_s >= before_s)

    def _forget(self, now_s: float) -> None:
        """Drop enemies that were not seen for ``forget_after``."""
        for instance, one in list(self._met.items()):
            if not one.is_objective and now_s - one.seen_s > self._strategist.forget_after:
                del self._met[instance]

    @staticmethod
    def carry_out(mission: Mission, squad: Any, ground: Any, *, is_new: bool) -> Any:
        """Order the squad of a mission to its place, unless it is on its way there; return it, None without a squad.

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
        self._next_met = max((one.number for one in self._met.values()), default=FIRST_MET - 1) + 1


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
