"""`Strategist`: decides posture, missions and production for a whole side."""
from __future__ import annotations

import math
from collections.abc import Generator

from ai_core.decisions.adaptation import AdaptiveChoice, SuccessMemory
from ai_core.decisions.habits.habit_status import RandomSource
from ai_core.decisions.rules import RuleMind
from ai_core.errors import check_kind, check_type, finite_number
from ai_core.saving.declared_state import DeclaredState, Part, Saveable
from ai_core.saving.kinds import Flag, ListOf, MapOf, Number, OneOf, Optional, Point, Seconds, Whole
from ai_core.scheduling.interruptible import finished
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Force, power_ratio
from ai_core.squads.strategy.posture import POSTURE_RULES, Personality, posture_machine, share_of
from ai_core.squads.strategy.production import (
    WEALTHS,
    BuildOrder,
    TechnologyTree,
    Wealth,
    best_unit,
    expected_force,
    judge_wealth,
)
from ai_core.squads.strategy.strategic_missions import (
    Objective,
    choose_scout_goals,
    defending_mission,
    gathering_missions,
    middle_of,
    on_open_ground,
    point_towards,
    rally_place,
    search_missions,
)
from ai_core.squads.strategy.strategic_situation import (
    EnemyReport,
    Mission,
    Place,
    Purchase,
    SquadReport,
    StrategicPlan,
    StrategicSituation,
)
from ai_core.squads.strategy.territory import (
    Defenses,
    ResourceSite,
    analyze_defenses,
    best_narrow_place,
    find_resource_sites,
    force_of_sightings,
)

__all__ = ["TACTICS", "Strategist"]

TACTICS = ("frontal", "flank", "raid")
"""Kinds of attack: straight at the objective, from its weakest side, or at a weaker objective instead."""

WEALTH_FACTOR = {"scarce": 1.25, "steady": 1.0, "plentiful": 0.85}
"""Factor of the power ratio needed for an attack: a side that cannot replace units spares them."""

NEWS_S = 6.0
"""Age up to which a sighting counts as present (s)."""

STAGING_SHARE, STAGED_SHARE = 1.3, 0.75
"""Distance from the objective at which the army gathers before an attack, as a share of the home radius, and the
share of the army that must be there; squads that arrive one by one are beaten one by one."""
REACHED_SHARE = 0.3
"""Distance at which a squad has reached the flank, as a share of the home radius."""
AT_PLACE_SHARE = 0.4
"""Distance within which a defense holds a narrow place, as a share of the home radius."""
FARTHEST_SHARE = 4.0
"""Largest distance of a narrow place from home while the enemy's base is unknown, as a share of the home radius."""


class Strategist(Saveable):
    """Decides for a whole side: posture, missions of squads, and production.

    The strategist turns a ``StrategicSituation`` into a ``StrategicPlan``. It has no clock and changes nothing
    in the game, so it can think at its own period, under a scheduler, or on another thread with ``ThreadedWork``.

    - Scouts go first, and later wherever knowledge of the map is stale.
    - Gatherers go to resources that are near home and safe. The same map yields where the enemy will
      expand, and where both sides will clash.
    - Production follows the build order, then adds the unit with most power against the known opponent:
      relative to its cost unless resources are plentiful, else regardless of cost.
    - Defenses go to narrow places between home and the enemy, as many as the personality allows.
    - Before an attack the strategist compares its force with the defenders of each objective. It attacks if
      it is strong enough, with the tactic that succeeded before, breaks off a losing attack, and defends home.

    Args:
        tree: technology tree of all products.
        random: random source for trying other tactics; draws one number for each attack.
        build_order: first products to make; None makes what is needed from the beginning.
        personality: traits of the strategist; None for 0.5 each.
        army_cost: cost of the wanted army (resources), above 0.
        home_radius_m: enemies within this distance of the base or a gatherer threaten home (m), above 0.
        search_after_s: game time after which the army searches for an enemy not yet seen (s).
        overdue_after_s: time without an attack after which it attacks even without an advantage (s).

    Raises:
        TypeError, ValueError: if an argument has a wrong type or is out of range.

    Attributes:
        machine: state machine of the posture.
        mind: rules that change the posture; ``to_text`` shows their grades.
        adaptive: success of the tactics so far.

    Cost: a thought is O(cells × scouts + sightings × objectives); 1 to 3 ms for 64 × 64 cells.
    Source: 003_designing_ai_for_games, strategic AI.
    """

    SHOWN = ("posture",)

    STATE = DeclaredState(
        machine=Part(), mind=Part(), adaptive=Part(), wealth=OneOf(WEALTHS),
        tactic=OneOf(lambda strategist: ("", *strategist.adaptive.memory.choices)), target=Optional(Point(2)),
        began_attack_at=Point(2), last_attack_s=Seconds(), thought_at_s=Seconds(), has_thought=Flag(), thoughts=Whole(),
        is_staging=Flag(), staging=Optional(Point(2)), first_count=Number(0), flanked=ListOf(Whole(), make=set),
        scouting=MapOf(Point(2), key=Whole()))

    def __init__(
        self, tree: TechnologyTree, random: RandomSource, *, build_order: BuildOrder | None = None,
        personality: Personality | None = None, army_cost: float = 1000.0, home_radius_m: float = 25.0,
        search_after_s: float = 60.0, overdue_after_s: float = 240.0,
    ) -> None:
        check_type("tree", tree, TechnologyTree)
        check_kind("build_order", build_order, BuildOrder)
        check_kind("personality", personality, Personality)
        if build_order is not None and build_order.tree is not tree:
            raise ValueError("build_order must use the same tree; create it with the tree given to the strategist")
        self.tree, self.build_order = tree, build_order
        self.personality = personality or Personality()
        self.army_cost = finite_number("army_cost", army_cost, above=0)
        self.home_radius_m = finite_number("home_radius_m", home_radius_m, above=0)
        self.search_after_s = finite_number("search_after_s", search_after_s, minimum=0)
        self.overdue_after_s = finite_number("overdue_after_s", overdue_after_s, minimum=0)
        memory = SuccessMemory(TACTICS, {"strength": _strength_band}, defaults={"frontal": 0.1}, half_life=10.0)
        self.adaptive = AdaptiveChoice(memory, random, exploration=0.15)
        self.machine = posture_machine(self)
        self.mind = RuleMind(POSTURE_RULES, owner=self, name="strategist")
        self.wealth: Wealth = "steady"
        self.tactic = ""
        self.target: tuple[float, float] | None = None
        self.began_attack_at: tuple[float, float] = (0.0, 0.0)
        self.last_attack_s = self.thought_at_s = 0.0
        self.has_thought = False
        self.scouting: dict[int, tuple[float, float]] = {}
        self.flanked: set[int] = set()
        self.is_staging = False
        self.staging: tuple[float, float] | None = None
        self.first_count = 0.0
        self.thoughts = 0

    @property
    def posture(self) -> str:
        """Present posture of the army as a whole."""
        return self.machine.state

    def defends_home(self) -> bool:
        """Return whether a threat at home breaks off an attack."""
        return self.mind.grade("threatened") > self.personality.defend_threshold + 0.5 * self.personality.aggression

    def estimated_enemy_count(self, own: Force, seen: Force, kills: float) -> float:
        """Return the assumed number of the opponent's fighters.

        It equals the own number at the first thought less the opponent's losses, and at least the number
        seen, so that an unseen opponent does not count as weak.
        """
        self.first_count = max(self.first_count, own.count if not self.thoughts else 0.0)
        return max(seen.count, self.first_count - kills / max(self.tree.mean_fighter_cost, 1e-9))

    def think(self, situation: StrategicSituation) -> StrategicPlan:
        """Return the plan for a situation.

        Args:
            situation: present knowledge; its time must not be before that of the last call.

        Raises:
            TypeError: if ``situation`` is not a StrategicSituation.
            ValueError: if its time is before that of the last call.
            UnknownNameError: if the picture lacks "resources", "threat", "conflict" or "exploration".
        """
        return finished(self.think_in_steps(situation))

    def think_in_steps(self, situation: StrategicSituation) -> Generator[None, object, StrategicPlan]:
        """Decide as ``think`` does, in steps of some tenths of a millisecond; the generator returns the plan.

        Use it in a generator given to a scheduler: ``plan = yield from strategist.think_in_steps(situation)``. A
        thought that is dropped half way, as by a load, leaves its time to the next one.
        """
        check_type("situation", situation, StrategicSituation)
        elapsed_s = self._elapsed(situation.now_s)
        view = _Assessment(self, situation)
        for look in (view.assess_forces, view.assess_home, view.assess_resources, view.assess_objectives,
                     view.assess_fight):
            look()
            yield
        before = self.posture
        fired = self._weigh(view)
        self.machine.update(elapsed_s)
        self.thought_at_s, self.has_thought = situation.now_s, True
        if before != self.posture:
            self._posture_changed(before, view)
        yield
        missions = self._missions(situation, view.sites, view.objective, view.intruders)
        yield
        purchases = yield from self._purchases(situation, view.own, view.opponent, view.sites)
        self.thoughts += 1
        return StrategicPlan(self.posture, tuple(missions), tuple(purchases), view.enemy_expands_at, view.clash_at,
                    (*view.reasons, f"{self.posture}: {fired}" if fired else f"{self.posture} continues"))

    def to_text(self) -> str:
        """Return posture, wealth and tactic, the grades of facts and the values of tactics, as a string."""
        return "\n".join((
            f"{self.posture}, {self.wealth}" + (f", {self.tactic} attack" if self.tactic else ""),
            self.mind.to_text(), self.adaptive.to_text(self.mind.grade("strength"))))

    def _elapsed(self, now_s: float) -> float:
        now_s = finite_number("now_s", now_s)
        elapsed_s = now_s - self.thought_at_s if self.has_thought else 0.0
        if elapsed_s < 0:
            raise ValueError(f"now_s must not be before the last call at {self.thought_at_s:g} s, got {now_s:g}")
        if not self.has_thought:
            self.last_attack_s = now_s
        return elapsed_s

    def _weigh(self, view: _Assessment) -> str:
        """Set the facts, send the events of fired rules to the state machine, and return the rule that applied."""
        now_s, mind, personality = view.situation.now_s, self.mind, self.personality
        mind.set("threatened", view.threatened)
        mind.set("strength", share_of(view.ratio))
        mind.set("local_strength", share_of(view.local_ratio))
        mind.set("knows_target", view.objective is not None)
        mind.set("gathered", view.gathered)
        mind.set("attacking", self.posture == "attacking")
        mind.set("overdue", now_s - self.last_attack_s >= self.overdue_after_s)
        mind.set_parameter("nerve", personality.defend_threshold)
        mind.set_parameter("attack_share", share_of(personality.attack_ratio * WEALTH_FACTOR[self.wealth]))
        mind.set_parameter("retreat_share", share_of(personality.retreat_ratio * WEALTH_FACTOR[self.wealth]))
        for fired in mind.think():
            if self.machine.send(str(fired.result)):
                return fired.rule
        return ""

    def _posture_changed(self, before: str, view: _Assessment) -> None:
        losses, kills = view.situation.losses, view.situation.kills
        if before == "attacking":
            lost, killed = losses - self.began_attack_at[0], kills - self.began_attack_at[1]
            if lost + killed > 0:
                self.adaptive.note(max(-1.0, min(1.0, (killed - lost) / (killed + lost))))
            self.tactic, self.target = "", None
        if self.posture == "attacking":
            self.tactic = self.adaptive.choose(share_of(view.ratio)).tactic
            self.began_attack_at, self.last_attack_s = (losses, kills), view.situation.now_s
            self.flanked.clear()
            self.staging = None
            self.is_staging = True
        elif before == "attacking":
            self.last_attack_s = view.situation.now_s

    def _missions(
        self, situation: StrategicSituation, sites: list[ResourceSite],
        objective: Objective | None, intruders: list[EnemyReport],
    ) -> list[Mission]:
        """Return the missions, sorted by squad id; idle squads have none.

        Cost: O(cells × scouts + squads × sites).
        """
        missions = [*self._scout_missions(situation), *gathering_missions(situation, sites)]
        army = sorted(one for one in situation.squads if one.role == "army" and one.force.count)
        if army:
            missions += self._army_missions(situation, army, sites, objective, intruders)
        return sorted(missions)

    def _scout_missions(self, situation: StrategicSituation) -> list[Mission]:
        """Send scouts that are idle, or whose goal has been seen in the meantime."""
        personality, picture = self.personality, situation.picture
        scouts = sorted(one for one in situation.squads if one.role == "scouts")[:personality.max_scouts]
        ages = picture["exploration"]
        kept: dict[int, Place] = {}
        for one in scouts:
            goal = self.scouting.get(one.id)
            if goal is not None and not one.is_idle and (
                float(ages.flat[picture.area.cell_at(goal)]) >= personality.stale_after_s / 2):
                kept[one.id] = goal
        free = {one.id: one.place for one in scouts if one.id not in kept}
        found = choose_scout_goals(picture.area, ages, picture["threat"], free, stale_after_s=personality.stale_after_s,
                                   is_open=situation.is_open) if free else {}
        self.scouting = {**kept, **found}
        return [
            Mission(number, "scout", place, f"not seen for {ages.flat[picture.area.cell_at(place)]:.0f} s")
            for number, place in self.scouting.items()]

    def _army_missions(
        self, situation: StrategicSituation, army: list[SquadReport], sites: list[ResourceSite],
        objective: Objective | None, intruders: list[EnemyReport],
    ) -> list[Mission]:
        posture = self.posture
        if posture == "defending" and intruders:
            return [defending_mission(situation, one, intruders) for one in army]
        if posture == "retreating":
            return [Mission(one.id, "retreat", situation.base, "the attack failed") for one in army]
        if posture == "attacking" and objective is not None:
            return self._attack_missions(situation, army, objective)
        if objective is None and situation.now_s >= self.search_after_s and posture == "building":
            return search_missions(situation, army)
        place = rally_place(situation, sites, objective)
        return [Mission(one.id, "regroup", place, "gathers for the next attack") for one in army]

    def _attack_missions(
        self, situation: StrategicSituation, army: list[SquadReport], objective: Objective,
    ) -> list[Mission]:
        target, defenses = objective
        stay = round(0.25 * self.personality.caution * len(army)) if len(army) > 2 else 0
        guards = sorted(army, key=lambda one: (math.dist(one.place, situation.base), one.id))[:stay]
        missions = [Mission(one.id, "defend", situation.base, "guards home") for one in guards]
        army = [one for one in army if one not in guards]
        if self.is_staging:
            if self.staging is None:
                away_m = STAGING_SHARE * self.home_radius_m
                self.staging = on_open_ground(situation, point_towards(target.place, middle_of(army), away_m))
            staging = self.staging
            there = sum(one.force.count for one in army if math.dist(one.place, staging) <= self.home_radius_m / 2)
            self.is_staging = there < STAGED_SHARE * sum(one.force.count for one in army)
            if self.is_staging:
                return missions + [Mission(one.id, "regroup", staging, "gathers before the attack") for one in army]
        approach = on_open_ground(situation, defenses.approach)
        for one in army:
            if self.tactic == "flank" and one.id not in self.flanked:
                if math.dist(one.place, approach) > REACHED_SHARE * self.home_radius_m:
                    missions.append(Mission(one.id, "attack", approach, "approaches from the weakest side"))
                    continue
                self.flanked.add(one.id)
            missions.append(Mission(
                one.id, "attack", target.place, f"{self.tactic} attack, ratio {defenses.ratio:.2f}"))
        return missions

    def _purchases(
        self, situation: StrategicSituation, own: Force, opponent: Force, sites: list[ResourceSite]
    ) -> Generator[None, object, list[Purchase]]:
        """Choose purchases, most urgent first; a generator of two steps that returns the list.

        Cost: O(products × kinds).
        """
        owned, tree = situation.owned, self.tree
        found = []
        if self.build_order is not None and self.posture != "defending":
            step = self.build_order.next(owned)
            if step is not None:
                found.append(Purchase(step, "build order"))
        gatherer = next((one for one in tree.available(owned) if one.gathers), None)
        if gatherer is not None and self._wants_gatherers(situation, own, gatherer.name, sites):
            found.append(Purchase(gatherer.name, f"{sum(site.amount for site in sites):.0f} left to gather"))
        saves = self.wealth != "plentiful"
        defense = self._next_defense(situation, opponent)
        if defense is not None:
            found.append(defense)
        fighters = [one for one in tree.available(owned) if one in tree.fighters]
        best = best_unit(fighters, own, opponent, most_cost=float("inf"), by_cost=saves)
        if best is not None:
            how = "most power for its cost" if saves else "most power"
            found.append(Purchase(best.name, f"{how} against {_named(opponent)}"))
            yield
            better = self._locked(situation, own, opponent, best.name)
            if better is not None and self.wealth != "scarce":
                found.insert(0, better)
        return found

    def _wants_gatherers(self, situation: StrategicSituation, own: Force, name: str, sites: list[ResourceSite]) -> bool:
        if self.posture in ("defending", "retreating") or not sites:
            return False
        there = situation.owned.get(name, 0)
        # Each gatherer earns its cost several times before a site of this size is empty.
        return there < self.personality.gatherers_share * (own.count + there) and self.wealth != "scarce"

    def _locked(self, situation: StrategicSituation, own: Force, opponent: Force, best: str) -> Purchase | None:
        """Return the first missing requirement of a unit better than the best available one, None if there is none."""
        tree, owned = self.tree, situation.owned
        wanted = best_unit(tree.fighters, own, opponent, most_cost=float("inf"), by_cost=True)
        if wanted is None or wanted.name == best:
            return None
        missing = tree.missing(wanted.name, owned)
        return Purchase(missing[0], f"unlocks {wanted.name}, best against {_named(opponent)}") if missing else None

    def _next_defense(self, situation: StrategicSituation, opponent: Force) -> Purchase | None:
        """Return the next defense to make and its position; None if none is wanted or available.

        Spending on defenses is limited to ``Personality.defenses_share`` of ``army_cost``; scarce resources allow none.

        Cost: O(narrow places × defenses + products × kinds).
        """
        tree, limit = self.tree, self.personality.defenses_share * self.army_cost
        spent = sum(tree.product(one.name).cost for one in situation.defenses)
        choice = [
            one for one in tree.available(situation.owned)
            if one.defends and one.capabilities is not None and spent + one.cost <= limit]
        if not choice or self.wealth == "scarce":
            return None
        enemy_base = next((one.place for one in situation.sightings if one.is_objective), None)
        reach_m = AT_PLACE_SHARE * self.home_radius_m
        place = best_narrow_place(
            situation.narrow_places, situation.defenses, situation.base, enemy_base, reach_m,
            FARTHEST_SHARE * self.home_radius_m)
        if place is None:
            return None
        there = [tree.product(one.name) for one in situation.defenses if math.dist(one.place, place) <= reach_m]
        own = Force.of_members(one.capabilities for one in there if one.capabilities is not None)
        best = best_unit(choice, own, opponent, most_cost=math.inf)
        if best is None:
            return None
        why = f"holds a narrow place {math.dist(place, situation.base):.0f} m from home with {len(there)} defenses"
        return Purchase(best.name, why, place)


class _Assessment:
    """Assessment of a situation, computed in steps."""

    def __init__(self, strategist: Strategist, situation: StrategicSituation) -> None:
        self.situation, self._strategist = situation, strategist
        self.reasons: list[str] = []
        self.army = [one for one in situation.squads if one.role == "army"]
        self.place = _middle([one.place for one in self.army]) or situation.base
        self.sites: list[ResourceSite] = []
        self.objective: tuple[EnemyReport, Defenses] | None = None

    def assess_forces(self) -> None:
        strategist, situation = self._strategist, self.situation
        self.own = sum((one.force for one in self.army), Force())
        seen = force_of_sightings(situation.sightings)
        self.opponent = expected_force(
            seen, strategist.tree.fighters, strategist.estimated_enemy_count(self.own, seen, situation.kills))
        self.ratio = forecast(self.own, self.opponent).ratio if self.opponent.count else math.inf

    def assess_fight(self) -> None:
        situation, radius_m = self.situation, self._strategist.home_radius_m
        met = force_of_sightings(
            one for one in situation.sightings
            if situation.now_s - one.seen_s <= NEWS_S and math.dist(one.place, self.place) <= radius_m)
        self.local_ratio = forecast(self.own, met).ratio if met.count else math.inf
        there = sum(one.force.count for one in self.army if math.dist(one.place, self.place) <= radius_m)
        self.gathered = there / max(1.0, self.own.count)

    def assess_home(self) -> None:
        situation, radius_m = self.situation, self._strategist.home_radius_m
        homes = [situation.base, *(one.place for one in situation.squads if one.role == "gatherers")]
        self.intruders = [
            one for one in situation.sightings
            if one.capabilities is not None and situation.now_s - one.seen_s <= NEWS_S
            and any(math.dist(one.place, home) <= radius_m for home in homes)]
        force = force_of_sightings(self.intruders)
        self.threatened = 1 - share_of(power_ratio(self.own, force)) if force.count else 0.0
        if self.intruders:
            self.reasons.append(f"{len(self.intruders)} enemies near home, threat {self.threatened:.2f}")

    def assess_resources(self) -> None:
        situation, picture = self.situation, self.situation.picture
        bases = [one for one in situation.sightings if one.is_objective]
        self.enemy_base = bases[0].place if bases else None
        self.sites = find_resource_sites(
            picture.area, picture["resources"], picture["threat"], situation.base, self.enemy_base)
        by_claim = {site.claim: site.place for site in reversed(self.sites)}      # the richest of each
        self.enemy_expands_at, self.clash_at = by_claim.get("theirs"), by_claim.get("contested")
        reachable = sum(site.amount for site in self.sites if site.claim != "theirs")
        strategist = self._strategist
        strategist.wealth = judge_wealth(situation.stock, reachable, strategist.army_cost, strategist.wealth)
        self.reasons.append(f"resources are {strategist.wealth}")

    def assess_objectives(self) -> None:
        self.objective = self._chosen_objective()

    def _chosen_objective(self) -> tuple[EnemyReport, Defenses] | None:
        """Return the objective to attack and its defenses; the present objective while it stands."""
        strategist, situation, place = self._strategist, self.situation, self.place
        found = [
            (one, analyze_defenses(one.place, strategist.home_radius_m, situation.sightings, self.own,
                                    situation.picture, attack_from=place))
            for one in sorted(situation.sightings) if one.is_objective]
        if not found:
            return None
        kept = [pair for pair in found if pair[0].place == strategist.target]
        if kept:
            return kept[0]
        raids = strategist.tactic == "raid"
        best = max(found, key=lambda pair: (
            min(pair[1].ratio, 5.0) * (2.0 if raids else 1.0) - math.dist(pair[0].place, place) / 50.0))
        target, defenses = best
        self.reasons.append(f"objective {target.id}: {defenses.force.count:g} defend it, ratio {defenses.ratio:.2f}")
        if strategist.posture == "attacking":
            strategist.target = best[0].place
        return best


def _middle(places: list[tuple[float, float]]) -> tuple[float, float] | None:
    if not places:
        return None
    return (sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places))


def _named(force: Force) -> str:
    kinds = force.counts_by_kind()
    return ", ".join(f"{count:.0f} {kind}" for kind, count in kinds.items()) or "an unknown enemy"


def _strength_band(share: float) -> str:
    return "weak" if share < 0.45 else "even" if share < 0.6 else "strong"
