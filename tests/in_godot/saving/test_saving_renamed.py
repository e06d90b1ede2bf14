"""Nodes that got their names, or other ones, after they were added: saves know them by the names they have."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, construct

THINKER = """
    extends Node3D
    var thoughts := 0
    func think(_elapsed_s: float) -> void: thoughts += 1
    func heard(_code: String, _arguments: Array) -> void: thoughts += 100
"""


class Camp:
    """A scene that is built by code, which names nodes only after it has added them."""

    def __init__(self, root, gdscript, kinds, others):
        self.script, self.root = gdscript(THINKER), root
        for _ in range(others):                     # so that the engine's own names are others each time
            construct("Node").queue_free()
            spare = construct("Node")
            root.add_child(spare)
            spare.queue_free()
        self.camp = self.added("Node3D", root)
        self.ai = self.added("AIScheduler", self.camp, budget=0.0)
        self.made = {}
        for kind in kinds:
            self.made[kind] = getattr(self, kind)()
        self.camp.set("name", "Camp")
        self.ai.set("name", "AI")
        for kind, nodes in self.made.items():
            for number, one in enumerate(nodes):
                one.set("name", f"{kind}{number}")

    def added(self, class_name, parent, **settings):
        made = construct(class_name)
        for key, value in settings.items():
            made.set(key, value)
        parent.add_child(made)
        return made

    def thinker(self):
        who = self.script.new()
        self.camp.add_child(who)
        return who

    def behavior(self):
        who = self.thinker()
        return who, self.added("AIBehavior", who, target=NodePath(".."), method_name="think", period=3)

    def by_callable(self):
        who = self.thinker()
        self.ai.call("add_behavior", who.get("think"), 2)
        return (who,)

    def slicer(self):
        slicer = self.added("Timeslicer", self.ai)
        return (slicer,)

    def levels(self):
        who = self.thinker()
        lod = construct("BehavioralLOD")
        for number in range(2):
            level = construct("LODBehavior")
            level.set("name", f"L{number}")
            level.method_name = "think"
            level.target = NodePath("../..")
            level.fallback = number == 1
            lod.add_child(level)
        lod.importance_source = 1
        who.add_child(lod)
        return who, lod

    def group(self):
        return (self.added("GroupLOD", self.camp, importance_source=1),)

    def squad(self):
        squad = self.added("Squad", self.ai, keep_clear=1)
        who = self.added("Node3D", self.camp)
        return squad, who, self.added("SquadMember", who)

    def strategist(self):
        ground, product = self.added("DecisionMap", self.ai), construct("StrategicProduct")
        product.product_name = "worker"
        return ground, self.added("Strategist", self.ai, products=[product], base=NodePath("../.."))

    def senses(self):
        senses = self.added("SenseManager", self.ai)
        guard, thief = self.added("Node3D", self.camp), self.added("Node3D", self.camp, position=Vector3(0, 0, -3))
        return senses, guard, thief, self.added("Sensor3D", guard), self.added("SenseSource3D", thief)

    def events(self):
        events = self.added("AIEventManager", self.ai)
        who = self.thinker()
        events.call("listen", "alarm", who.get("heard"))
        return events, who

    def importance(self):
        return self.added("ImportanceManager", self.ai), self.added("ImportanceViewer", self.camp)

    def ways(self):
        return (self.added("PathService", self.ai),)

    def station(self):
        return (self.added("PollingStation", self.ai),)

    def ground(self):
        return (self.added("DecisionMap", self.ai),)

    def cover(self):
        return (self.added("CoverMap", self.ai, bakes_at_start=False),)

    def habits(self):
        who, tree = self.thinker(), construct("HabitTree")
        habit = construct("Habit")
        tree.add_child(habit)
        who.add_child(tree)
        return who, tree, habit

    def machine(self):
        who, machine, state = self.thinker(), construct("StateMachine"), construct("AIState")
        state.set("name", "idle")
        machine.add_child(state)
        who.add_child(machine)
        return who, machine

    def mind(self):
        rules = construct("RuleSet")
        rules.rules = "hide: danger | do rest"
        rules.facts = {"danger": 0.0}
        who = self.thinker()
        return who, self.added("RuleMind", who, rule_set=rules)


KINDS = (
    "behavior", "by_callable", "slicer", "levels", "group", "squad", "strategist", "senses", "events", "importance",
    "ways", "station", "ground", "cover", "habits", "machine", "mind")


@pytest.mark.parametrize("kind", KINDS)
def test_a_scene_named_late_loads_into_a_rebuilt_one(root, gdscript, physics_frames, kind):
    first = Camp(root, gdscript, (kind,), 1)
    physics_frames(20)
    saved = first.ai.save_state()
    first.camp.free()
    second = Camp(root, gdscript, (kind,), 7)
    try:
        assert second.ai.load_state(saved)
        assert "@" not in str(saved)
        physics_frames(5)
    finally:
        second.camp.free()


def test_renamed_nodes_are_saved_by_their_new_names(root, gdscript, physics_frames):
    camp = Camp(root, gdscript, ("behavior", "by_callable", "events", "senses", "levels", "group"), 0)
    physics_frames(5)
    for nodes in camp.made.values():
        nodes[0].set("name", f"New{nodes[0].get_name()}")
    physics_frames(5)
    saved = camp.ai.save_state()
    names = {task["name"] for task in saved["parts"]["scheduler"]["tasks"]}
    assert {"../Newbehavior0.think", "../Newby_callable0.think", "events dispatch", "Newsenses0 senses"} <= names
    try:
        assert camp.ai.load_state(saved)
    finally:
        camp.camp.free()
