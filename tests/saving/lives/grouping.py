"""Lives of squads and strategists."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.decisions.rules import Rule, RuleSet
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import standard_layers
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import FormationMarch
from ai_core.squads.post_routes import PostRoutes
from ai_core.squads.situation import Sighting
from ai_core.squads.squad import BUILT_IN, Squad
from ai_core.squads.stance import StanceJudge
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategy.strategic_situation import EnemyReport, SquadReport, StrategicSituation
from ai_core.squads.strategy.strategist import Strategist
from ai_core.squads.tactics import SITUATION_FACTS, TacticByRules
from tests.saving.lives.life import Life

RIFLE = Capabilities("ground", attack={"ground": 2.0, "air": 1.0}, toughness=10.0)
MEDIC = Capabilities("ground", toughness=5.0, heals=1.0)


class TokensLife(Life):
    classes = (AttackTokens,)

    def build(self):
        self.tokens = AttackTokens(2, max_hold_s=0.5, cooldown_s=0.3)

    def subjects(self):
        return {"tokens": self.tokens}

    def do_request(self, chance):
        return self.tokens.request(chance.randrange(5), self.clock.now.seconds, chance.random())

    def do_grant(self, chance):
        return self.tokens.grant(self.clock.now.seconds)

    def do_release(self, chance):
        self.tokens.release(chance.randrange(5), self.clock.now.seconds)

    def do_forget(self, chance):
        self.tokens.forget(chance.randrange(5))


class StanceLife(Life):
    classes = (StanceJudge,)

    def build(self):
        self.judge = StanceJudge()

    def subjects(self):
        return {"judge": self.judge}

    def do_judge(self, chance):
        own, met = (Force([(RIFLE, chance.randint(1, 9)), (MEDIC, chance.randint(0, 1))]) for _ in range(2))
        return self.judge.judge(own, met, self.clock.now.seconds)

    def do_forget(self, chance):
        self.judge.forget()


class SquadLife(Life):
    classes = (Squad, FormationMarch, PostRoutes, TacticByRules, *BUILT_IN)

    def build(self):
        rules = RuleSet(
            [Rule(f"rule {one.name}", "seen and mood > 0.5" if index else "seen", lambda mind, one=one: one.name,
                  salience=-float(index), repeats=index % 2 == 0) for index, one in enumerate(BUILT_IN)],
            facts={**SITUATION_FACTS, "mood": lambda mind: self.chance.random(),
                   "seen": lambda mind: float(bool(mind.owner.enemies))})
        self.tactics = [kind() for kind in BUILT_IN]
        self.squad = Squad(
            "alpha", self.clock, formation=Formation.line(2.0), tactics=self.tactics, faults=self.faults,
            choose_tactic=TacticByRules(rules, faults=self.faults),
            on_event=lambda kind, squad, detail: self.told.append((kind, repr(detail))))
        for number in range(5):
            self.squad.add(
                number, (2.0 * number, 0.0), speed=2.0 + number, capabilities=MEDIC if number == 4 else RIFLE,
                roles=("healer",) if number == 4 else ("scout",) if number == 1 else ())

    def subjects(self):
        return {"squad": self.squad, **{one.name: one for one in self.tactics}}

    def do_order(self, chance):
        place = (chance.uniform(-20, 20), chance.uniform(-20, 20))
        return chance.choice([
            lambda: self.squad.move_to(place), lambda: self.squad.follow([(0, 0), (9, 0), place]),
            lambda: self.squad.form_up(place), self.squad.hold])().state

    def do_march(self, chance):
        for _ in range(3):
            self.squad.move_slots(0.125)
            self.squad.set_positions(self.squad.positions + self.squad.velocities() * 0.125)
            self.clock.advance()
        return self.squad.positions.tolist(), self.squad.destinations.tolist(), self.squad.stragglers

    def do_think(self, chance):
        self.squad.think()
        return self.squad.order.state, self.squad.commander, self.squad.tactic, self.squad.stance

    def do_meet(self, chance):
        self.squad.set_sightings([
            Sighting(number, (chance.uniform(-20, 20), chance.uniform(-20, 20)), RIFLE)
            for number in range(chance.randint(0, 3))])

    def do_use_tactic(self, chance):
        name = chance.choice([None, *self.squad.tactics])
        return self.squad.use_tactic(name) if name is None or not self.squad.why_not(name) else self.squad.why_not(name)

    def do_appoint(self, chance):
        self.squad.appoint(chance.choice([None, *self.squad.members]))

    def do_change_members(self, chance):
        number = chance.randrange(7)
        if number not in self.squad:
            self.squad.add(number, (chance.uniform(-5, 5), 0.0), capabilities=RIFLE)
        elif len(self.squad) > 3:
            self.squad.remove(number)

    def do_form(self, chance):
        self.squad.set_formation(chance.choice([Formation.wedge(2.0), Formation.line(1.5), Formation.circle(2.0)]))
        return self.squad.slot_positions().tolist()


AREA, HOME = MapArea(12, 12, cell_m=8.0), (10.0, 10.0)
TREE = TechnologyTree([
    Product("worker", 50, gathers=True), Product("rifle", 60, capabilities=RIFLE), Product("hall", 200)])


class StrategistLife(Life):
    classes = (Strategist,)

    def build(self):
        order = BuildOrder([("worker", 1), ("rifle", 2)], TREE)
        self.strategist = Strategist(TREE, self.chance, build_order=order, army_cost=300.0)

    def subjects(self):
        return {"strategist": self.strategist}

    def do_think(self, chance):
        seen = tuple(EnemyReport(number, (chance.uniform(0, 95), chance.uniform(0, 95)), 0.0, RIFLE)
                     for number in range(chance.randint(0, 4)))
        maps = DecisionMap(AREA, standard_layers(), self.clock)
        maps.write_at("resources", [(20.0, 10.0)], 2000.0)
        for one in seen:
            maps.write_at("threat", [one.place], 1.0)
        maps.advance(Budget.unlimited())
        army = chance.randint(0, 12)
        squads = (SquadReport(0, "army", HOME, Force([(RIFLE, army)])), SquadReport(1, "gatherers", HOME, Force()),
                  SquadReport(2, "scouts", (12.0, 10.0), Force()))
        self.clock.advance(seconds=chance.choice([1.0, 30.0, 200.0]))
        plan = self.strategist.think(StrategicSituation(
            self.clock.now.seconds, maps.result, HOME, squads, seen, stock=500.0, owned={"rifle": army, "worker": 2},
            losses=chance.uniform(0, 500), kills=chance.uniform(0, 500)))
        return plan.posture, plan.missions, self.strategist.to_text()


LIVES = (TokensLife, StanceLife, SquadLife, StrategistLife)
