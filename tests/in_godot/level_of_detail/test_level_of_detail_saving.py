"""Importance, levels and groups of a scene are saved with the AI."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.level_of_detail.level_of_detail_world import GROUP, LEVEL, WatchedWorld

TOWN = """
    extends Node3D
    static func made(level: GDScript, group: GDScript) -> Node3D:
        var top := Node3D.new()
        top.name = "Top"
        var ai := named(AIScheduler.new(), "AI", top) as AIScheduler
        ai.update = AIScheduler.UPDATE_MANUAL
        ai.budget = 0.0
        var importance := named(ImportanceManager.new(), "Importance", ai) as ImportanceManager
        importance.period = 2
        importance.far_distance = 100.0
        var player := named(Node3D.new(), "Player", top) as Node3D
        named(ImportanceViewer.new(), "Eyes", player)
        for i in 6:
            var guard := named(Node3D.new(), "Guard%d" % i, top) as Node3D
            guard.position = Vector3(7.0 * i, 0.0, -5.0)
            var lod := BehavioralLOD.new()
            for range in [["Plan", 0.4, 1.0], ["Idle", 0.0, 0.5]]:
                var one := named(level.new(), range[0], lod) as LODBehavior
                one.lowest = range[1]
                one.highest = range[2]
                one.max_count = 2 if range[0] == "Plan" else 0
            lod.crowd = &"guards"
            lod.period = 3
            named(lod, "Levels", guard)
        var town := named(Node3D.new(), "Town", top) as Node3D
        town.position = Vector3(60.0, 0.0, 0.0)
        named(group.new(), "People", town)
        return top
    static func named(node: Node, its_name: String, parent: Node) -> Node:
        node.name = its_name
        parent.add_child(node)
        return node
"""


class Saved:
    """A scene of guards and a town that is stepped by hand; the player walks by."""

    def __init__(self, gdscript, nodes, few=()):
        level, group = gdscript(LEVEL), gdscript(GROUP)
        self.top = gdscript(TOWN).made(level, group)
        nodes.keep(self.top, None)
        self.scheduler, self.manager = self.top.get_node("AI"), self.top.get_node("AI/Importance")
        for number in few:
            self.levels(number).get_node("Plan").set("max_count", 1)
            self.levels(number).rebuild()

    def live(self, begin, end):
        rows = []
        for frame in range(begin, end):
            self.top.get_node("Player").set("position", Vector3(0.4 * frame, 0.0, 0.0))
            if frame == 40:
                self.manager.damage(self.top.get_node("Guard5"))
            if frame == 49:
                self.levels(4).force_level("Plan", 0.4)
            self.scheduler.step(1 / 60)
            rows.append(self.seen())
        return rows

    def levels(self, number):
        return self.top.get_node(f"Guard{number}/Levels")

    def seen(self):
        lods = [self.levels(number) for number in range(6)]
        town = self.top.get_node("Town/People")
        return [(one.get_level(), one.importance) for one in lods], town.is_open(), town.importance


def test_saved_at_any_frame_a_new_scene_continues_the_same(gdscript, nodes_of_test):
    world, saves = Saved(gdscript, nodes_of_test), {}
    expected = []
    for frame in range(200):
        expected += world.live(frame, frame + 1)
        if frame in (0, 3, 40, 49, 50, 77, 120):
            saves[frame] = world.scheduler.save_state()
    assert len({str(levels) for levels, _, _ in expected}) > 20
    assert {is_open for _, is_open, _ in expected} == {True, False}
    for frame, state in saves.items():
        world.top.free()
        world = Saved(gdscript, nodes_of_test)
        assert world.scheduler.load_state(state)
        assert world.seen() == expected[frame]
        assert world.live(frame + 1, 200) == expected[frame + 1:], f"saved at {frame}"


@pytest.mark.parametrize("frame", [3, 50, 77])
def test_crowds_of_one_name_and_other_levels_are_all_saved(gdscript, nodes_of_test, expect_errors, frame):
    expect_errors("has other levels than others of its crowd 'guards'", times=2)
    first = Saved(gdscript, nodes_of_test, few=(0, 1, 4))
    first.live(0, frame)
    state = first.scheduler.save_state()
    expected = first.live(frame, 120)
    first.top.free()
    second = Saved(gdscript, nodes_of_test, few=(4, 0, 1))
    assert second.scheduler.load_state(state)
    assert second.live(frame, 120) == expected


def test_a_saved_crowd_is_loaded_into_the_one_of_its_levels(gdscript, nodes_of_test):
    first = Saved(gdscript, nodes_of_test)
    first.live(0, 60)
    state = first.scheduler.save_state()
    [(*_, crowd)] = state["parts"]["ImportanceManager/Importance"]["state"]["crowds"]
    first.top.free()
    second = Saved(gdscript, nodes_of_test, few=(3, 4, 5))
    assert second.scheduler.load_state(state)
    few, many = (second.manager.crowds[key] for key in sorted(second.manager.crowds))
    assert (many.save_state(), len(few.limits.save_state()["ids"])) == (crowd, 0)


def first_of(state):
    return next(iter(state["agents"].values()))


@pytest.mark.parametrize(
    ("change", "message"),
    [(lambda state: state["agents"].update({"../Nobody": first_of(state)}), "is of the node '../Nobody', which"),
     (lambda state: first_of(state).update(id=99), "must have the ids of importance"),
     (lambda state: first_of(state).update(seen=[1.0, 2.0]), "seen"),
     (lambda state: state["crowds"].append(["thieves", [], {}]), "has the crowd 'thieves'"),
     (lambda state: state["crowds"].append(state["crowds"][0]), "occurs twice"),
     (lambda state: state.update(more=1), "more"),
     (lambda state: state["importance"]["columns"]["value"].__setitem__(0, 7.0), "value")],
)
def test_a_damaged_save_is_refused_and_nothing_changes(gdscript, nodes_of_test, expect_errors, change, message):
    world = Saved(gdscript, nodes_of_test)
    world.live(0, 30)
    state = world.scheduler.save_state()
    before = world.seen()
    world.live(30, 31)
    after = world.seen()
    change(state["parts"]["ImportanceManager/Importance"]["state"])
    expect_errors(message, times=1)
    assert not world.scheduler.call("load_state", state)
    assert world.seen() == after != before


def test_an_agent_that_is_new_since_the_save_is_kept(gdscript, nodes_of_test):
    saved = Saved(gdscript, nodes_of_test)
    saved.live(0, 20)
    state = saved.scheduler.save_state()
    saved.top.free()
    anew = Saved(gdscript, nodes_of_test)
    late = construct("Node3D")
    late.set("name", "Late")
    anew.top.add_child(late)
    levels = anew.levels(0).duplicate()
    late.add_child(levels)
    assert anew.scheduler.load_state(state)
    anew.live(20, 40)
    assert levels.get_level() in ("Plan", "Idle")


@pytest.mark.parametrize("how", ["free", "queue_free"])
def test_levels_read_again_as_they_leave_hinder_no_save(node, scheduler, physics_frames, gdscript, how):
    world = WatchedWorld(node, scheduler, physics_frames, gdscript)
    lod = world.character(90.0)
    world.step(4)
    for level in lod.get_children():
        level.connect("exited", lambda *_: lod.rebuild())
    lod.body.call(how)
    world.step(2)
    assert scheduler.save_state()
