"""AI that tells its objects, and objects that ask: with the same rules."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from ai_core.events.event_manager import EventManager
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler

RULES = RuleSet(
    [
        Rule("retreat", "outnumbered > courage", lambda mind: "retreat", salience=1.0, repeats=True),
        Rule("charge", "", lambda mind: "charge", repeats=True)],
    facts={"outnumbered": lambda mind: mind.owner.outnumbered()},
    parameters={"courage": 0.5})


class Soldier:
    """Somebody who does what is decided; knows how many enemies are near."""

    def __init__(self, enemies):
        self.enemies, self.does, self.mind = enemies, "", RuleMind(RULES, owner=self)

    def outnumbered(self):
        return min(1.0, self.enemies / 10)

    def obey(self, event):
        self.does = event.arguments[0]

    def ask(self, turn):
        self.does = self.mind.think(most=1)[0].result


class Army:
    """Sees the whole: all soldiers, all enemies."""

    def __init__(self, soldiers):
        self.soldiers = soldiers

    def outnumbered(self):
        return min(1.0, sum(one.enemies for one in self.soldiers) / (10 * len(self.soldiers)))


def run(soldiers, *, broadcast):
    clock = ManualClock()
    scheduler, events = Scheduler(clock, policy=Policy.FREQUENCY), EventManager(clock, codes=("order",))
    if broadcast:
        commander = RuleMind(RULES, owner=Army(soldiers))
        for soldier in soldiers:
            events.listen("order", soldier.obey)
        scheduler.add(lambda turn: events.send("order", commander.think(most=1)[0].result))
    else:
        for soldier in soldiers:
            scheduler.add(soldier.ask, period_frames=2)
    for _ in range(4):
        clock.advance()
        scheduler.advance(Budget.unlimited())
        events.advance(Budget.unlimited())
    return [soldier.does for soldier in soldiers]


def test_told_by_one_mind_all_do_the_same():
    assert run([Soldier(9), Soldier(0), Soldier(0)], broadcast=True) == ["charge"] * 3
    assert run([Soldier(9), Soldier(9), Soldier(0)], broadcast=True) == ["retreat"] * 3


def test_asking_their_own_minds_each_goes_by_what_it_knows():
    assert run([Soldier(9), Soldier(0), Soldier(0)], broadcast=False) == ["retreat", "charge", "charge"]


def test_where_all_know_the_same_both_ways_decide_alike():
    for enemies in (2, 8):
        one, other = ([Soldier(enemies) for _ in range(3)] for _ in range(2))
        assert run(one, broadcast=True) == run(other, broadcast=False)
