"""BehavioralLOD: another behavior for another importance, in a scene."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import GodotCallError, Vector3, construct
from tests.in_godot.level_of_detail.level_of_detail_world import WatchedWorld

THINKER = """
    extends Node3D
    var plans := 0
    var idles := 0
    func plan(_elapsed_s: float) -> void: plans += 1
    func idle(_elapsed_s: float) -> void: idles += 1
"""


@pytest.fixture
def world(node, scheduler, physics_frames, gdscript):
    return WatchedWorld(node, scheduler, physics_frames, gdscript)


def level(lod, name):
    return lod.get_node(name)


def test_near_is_the_detailed_level_and_far_the_cheap_one(world):
    near, far = world.character(10.0), world.character(90.0)
    world.step(3)
    assert (near.get_level(), far.get_level()) == ("Plan", "Idle")
    assert near.importance == pytest.approx(0.9)
    assert far.importance == pytest.approx(0.1)


def test_crossing_an_overlap_switches_once_and_does_not_flap(world, signals):
    lod = world.character(10.0)
    changed = signals(lod, "level_changed")
    world.step(2)
    assert changed == [("", "Plan")]
    for x in (45.0, 49.0, 41.0, 49.0):        # the overlap is 0.5 to 0.6, from 40 m to 50 m
        world.put(lod.body, x)
        world.step(2)
    assert len(changed) == 1
    world.put(lod.body, 51.0)
    world.step(2)
    assert changed[1:] == [("Plan", "Idle")]
    for x in (41.0, 49.0):
        world.put(lod.body, x)
        world.step(2)
    assert len(changed) == 2


def test_exit_comes_first_and_what_it_returns_is_what_enter_gets(world):
    lod = world.character(10.0)
    world.step(2)
    world.put(lod.body, 90.0)
    world.step(2)
    assert level(lod, "Plan").get("told") == [["enter", "", None], ["exit", "Idle"]]
    assert level(lod, "Idle").get("told") == [["enter", "Plan", "Plan's goal"]]
    assert level(lod, "Idle").is_current()
    assert not level(lod, "Plan").is_current()


def test_a_pair_of_levels_may_have_a_compression_of_its_own(world):
    lod = world.character(10.0)
    lod.set_compression("Plan", "Idle", lambda data: data.upper())
    world.step(2)
    world.put(lod.body, 90.0)
    world.step(2)
    assert level(lod, "Idle").get("told") == [["enter", "Plan", "PLAN'S GOAL"]]


def test_the_level_ticks_with_the_true_time(world):
    lod = world.character(10.0, period=3)
    world.step(12)
    elapsed = level(lod, "Plan").get("elapsed")
    assert elapsed[1:] == pytest.approx([3 / 60] * (len(elapsed) - 1))
    assert len(elapsed) >= 3
    assert level(lod, "Idle").get("elapsed") == []


def test_behaviors_and_habits_below_a_level_run_with_it_alone(world, node, gdscript):
    body = gdscript(THINKER).new()
    lod = node("BehavioralLOD", body, period=1)
    for name, low, high in (("Plan", 0.5, 1.0), ("Idle", 0.0, 0.6)):
        one = node("LODBehavior", lod, name=name, lowest=low, highest=high)
        node("AIBehavior", one, target="../../..", method_name=name.lower(), period=1)
    world.scheduler.add_child(body)
    world.step(5)
    assert body.get("plans") >= 3
    assert body.get("idles") == 0
    world.put(body, 95.0)
    world.step(2)
    plans = body.get("plans")
    world.step(3)
    assert body.get("plans") == plans
    assert body.get("idles") >= 3


def test_a_forced_level_runs_for_its_time(world):
    lod = world.character(90.0)
    world.step(2)
    lod.force_level("Plan", 0.1)
    world.step(3)
    assert lod.get_level() == "Plan"
    world.step(10)
    assert lod.get_level() == "Idle"
    lod.force_level("Plan")
    world.step(60)
    assert lod.get_level() == "Plan"
    lod.unforce_level()
    world.step(2)
    assert lod.get_level() == "Idle"


def test_a_crowd_never_has_more_than_so_many_in_a_level(world):
    crowd = [world.character(10.0 + number, levels={"Plan": {"max_count": 3}}, crowd="guards") for number in range(8)]
    for frame in range(20):
        for number, lod in enumerate(crowd):
            world.put(lod.body, 10.0 + (number * 7 + frame * 5) % 40)
        world.step(1)
        assert sum(lod.get_level() == "Plan" for lod in crowd) <= 3
    assert [lod.get_level() for lod in crowd].count("Idle") == 5
    assert world.manager.get_stats()["crowds"] == {"guards": [3, 5, 0]}


def test_who_is_forced_in_a_crowd_displaces_and_the_limit_holds(world):
    crowd = [world.character(10.0 * (1 + number), levels={"Plan": {"max_count": 1}},
        crowd="guards") for number in range(3)]
    world.step(2)
    assert [lod.get_level() for lod in crowd] == ["Plan", "Idle", "Idle"]
    crowd[2].force_level("Plan")
    world.step(2)
    assert [lod.get_level() for lod in crowd] == ["Idle", "Idle", "Plan"]
    crowd[2].unforce_level()
    world.step(2)
    assert [lod.get_level() for lod in crowd] == ["Plan", "Idle", "Idle"]


def test_the_limit_holds_while_a_level_of_a_crowd_is_broken(world, expect_errors):
    crowd = [world.character(10.0 * (1 + number), levels={"Plan": {"max_count": 1}},
        crowd="guards") for number in range(3)]
    world.step(2)
    expect_errors("level 'Plan' was freed; call rebuild() of its BehavioralLOD afterwards", times=3)
    level(crowd[0], "Plan").free()
    for _ in range(6):
        world.step(1)
        assert [lod.get_level() for lod in crowd].count("Plan") <= 1
    assert [lod.get_level() for lod in crowd] == ["Idle", "Plan", "Idle"]


def test_levels_that_only_touch_do_not_flap(world, signals):
    lod = world.character(40.0, (("Plan", 0.5, 1.0), ("Idle", 0.0, 0.5)))
    changed = signals(lod, "level_changed")
    world.step(2)
    for frame in range(20):
        world.put(lod.body, 50.0 + (4.0 if frame % 2 else -4.0))
        world.step(2)
    assert changed == [("", "Plan")]


def test_no_level_can_be_forced_on_a_disabled_character(world):
    lod = world.character(40.0)
    world.step(2)
    lod.set("enabled", False)
    lod.force_level("Plan")
    world.step(3)
    assert lod.get_level() == ""


def test_who_leaves_makes_room(world):
    crowd = [world.character(10.0 * (1 + number), levels={"Plan": {"max_count": 1}},
        crowd="guards") for number in range(3)]
    world.step(2)
    crowd[0].body.free()
    world.step(2)
    assert [lod.get_level() for lod in crowd[1:]] == ["Plan", "Idle"]
    crowd[1].set("enabled", False)
    world.step(2)
    assert [lod.get_level() for lod in crowd[1:]] == ["", "Plan"]
    crowd[1].set("enabled", True)
    world.step(2)
    assert [lod.get_level() for lod in crowd[1:]] == ["Plan", "Idle"]


def test_a_crowd_with_other_levels_is_one_clear_error(world, expect_errors):
    world.character(10.0, levels={"Plan": {"max_count": 1}}, crowd="guards")
    expect_errors("has other levels than others of its crowd 'guards'", times=1)
    world.character(20.0, levels={"Plan": {"max_count": 2}}, crowd="guards")
    world.step(5)


def test_a_crowd_that_is_rebuilt_one_by_one_keeps_limits(world, expect_errors):
    crowd = [world.character(x, levels={"Plan": {"max_count": 3}}, crowd="guards") for x in (10.0, 20.0, 30.0, 40.0)]

    def planning():
        world.step(3)
        return [lod.get_level() for lod in crowd].count("Plan")

    def rebuild(members, most):
        for lod in members:
            lod.get_node("Plan").set("max_count", most)
            lod.rebuild()

    assert planning() == 3
    rebuild(crowd, 2)
    assert planning() == 2
    expect_errors("has other levels than others of its crowd 'guards'", times=1)
    rebuild(crowd[:2], 1)
    assert planning() == 3
    assert world.scheduler.load_state(world.scheduler.save_state())
    rebuild(crowd[2:], 1)
    assert planning() == 1


def test_a_fallback_runs_where_no_range_holds(world):
    ranges = (("Plan", 0.8, 1.0), ("Sleep", 0.0, 0.2), ("Idle", 0.0, 1.0))
    lod = world.character(50.0, ranges, {"Idle": {"fallback": True}})
    world.step(2)
    assert lod.get_level() == "Idle"
    world.put(lod.body, 95.0)
    world.step(2)
    assert lod.get_level() == "Sleep"


def test_a_script_source_needs_no_importance_manager(scheduler, physics_frames):
    lod = construct("BehavioralLOD")
    for name, value in {"importance_source": 1, "period": 1, "importance": 0.9}.items():
        lod.set(name, value)
    for name, settings in {"Plan": {"lowest": 0.5}, "Idle": {"highest": 0.6}}.items():
        level = construct("LODBehavior")
        for key, value in {"name": name, **settings}.items():
            level.set(key, value)
        lod.add_child(level)
    scheduler.add_child(lod)
    physics_frames(2)
    assert lod.get_level() == "Plan"
    assert lod.get_importance_parts() == {"value": pytest.approx(0.9)}
    lod.get_node("Plan").set("lowest", 0.95)
    lod.get_node("Idle").set("highest", 0.96)
    lod.rebuild()
    physics_frames(2)
    assert lod.get_level() == "Idle"


def test_a_switch_that_fails_is_named_and_happens_all_the_same(world, expect_errors):
    lod = world.character(10.0)
    lod.body.set("name", "Bob")
    lod.rebuild()

    def broken(data):
        raise ValueError("no idea")

    lod.set_compression("Plan", "Idle", broken)
    world.step(2)
    expect_errors("/Idle (compression)' raised ValueError: no idea", times=1)
    expect_errors("Bob/", times=1)
    world.put(lod.body, 90.0)
    world.step(2)
    assert level(lod, "Idle").get("told") == [["enter", "Plan", None]]
    lod.release_level("Idle")


@pytest.mark.parametrize(
    ("ranges", "message"),
    [((("Plan", 0.9, 0.5),), "range of 'Plan' is reversed"),
     ((("Plan", 0.5, 0.5),), "range of 'Plan' is empty"),
     ((("Plan", 0.6, 1.0), ("Idle", 0.0, 0.5)), "no range contains importance 0.5 to 0.6"),
     ((), "has no LODBehavior below it and does nothing")],
)
def test_wrong_ranges_are_one_clear_error(world, expect_errors, ranges, message):
    expect_errors(message, times=1)
    lod = world.character(10.0, ranges)
    world.step(2)
    assert lod.get_level() == ""


def test_a_level_below_no_lod_node_is_one_clear_error(node, scheduler, expect_errors, physics_frames):
    expect_errors("is not a child of a BehavioralLOD, so it is not a level; make it one", times=1)
    node("LODBehavior", scheduler)
    physics_frames(2)


def test_wrong_use_is_refused_with_what_to_do(world, expect_errors):
    lod = world.character(10.0)
    expect_errors("unknown level 'Fly'; use one of: Plan, Idle", times=1)
    lod.call("force_level", "Fly")
    expect_errors("for_s must be above 0", times=1)
    lod.call("force_level", "Plan", -1.0)
    expect_errors("cannot change while the levels run", times=1)
    lod.call("set_arbitration", 1)
    expect_errors("has no importance in this ImportanceManager; put a BehavioralLOD or GroupLOD below it", times=1)
    world.manager.call("notice", world.camera)
    expect_errors("amount", times=1)
    world.manager.call("notice", lod, math.nan)
    with pytest.raises(GodotCallError):
        world.manager.call("notice", 3)


def test_a_freed_level_is_reported_and_replaced(world, expect_errors):
    lod = world.character(20.0, (("Plan", 0.5, 1.0), ("Walk", 0.4, 1.0), ("Idle", 0.0, 0.6)))
    world.step(2)
    expect_errors("level 'Plan' was freed; call rebuild() of its BehavioralLOD afterwards", times=3)
    level(lod, "Plan").free()
    world.step(6)
    assert lod.get_level() == "Walk"
    lod.rebuild()
    world.step(2)
    assert lod.get_level() == "Walk"


def test_outside_the_tree_it_says_what_to_do(expect_errors):
    lod = construct("BehavioralLOD")
    lod.add_child(construct("LODBehavior"))
    expect_errors("its levels do not run outside the tree; add it to a scene first", times=1)
    lod.call("force_level", "Plan")
    lod.rebuild()
    assert (lod.get_level(), lod.get_importance_parts()) == ("", {"value": 0.0})
    lod.free()


@pytest.mark.parametrize("crowd", ["", "guards"])
def test_a_character_may_be_freed_while_it_switches(world, crowd):
    going, staying = world.character(10.0, crowd=crowd), world.character(20.0, crowd=crowd)
    going.connect("level_changed", lambda previous, following: following == "Idle" and going.body.free())
    world.step(3)
    world.put(going.body, 90.0)
    world.step(3)
    assert not going.is_valid()
    assert staying.get_level() == "Plan"
    assert world.manager.get_stats()["agents"] == 1


@pytest.mark.parametrize("decider", ["HabitTree", "StateMachine", "RuleMind"])
def test_what_decides_below_a_level_acts_for_the_character(world, decider):
    place = world.place(90.0)
    lod, level, mind = construct("BehavioralLOD"), construct("LODBehavior"), construct(decider)
    if decider == "HabitTree":
        walk = construct("HabitMoveTo")
        walk.set("target_key", "there")
        mind.set("values", {"there": Vector3(80.0, 0.0, 0.0)})
        mind.add_child(walk)
    elif decider == "StateMachine":
        mind.add_child(construct("AIState"))
    else:
        mind.set("rule_set", construct("RuleSet"))
    level.add_child(mind)
    lod.add_child(level)
    place.add_child(lod)
    world.step(20)
    assert mind.actor_node() == place
    assert mind._get_configuration_warnings() == []
    if decider == "HabitTree":
        assert place.position.x < 89.5
        mind.set("enabled", False)      # a level has no position to walk from
    mind.set("actor", f"../../{level.get_name()}")      # not the default: its script may have the methods
    world.step(2)
    assert mind.found_actor() == level


@pytest.mark.parametrize("call", ["disable", "rebuild", "remove"])
def test_a_level_that_ends_may_stop_the_change(node, scheduler, physics_frames, gdscript, call):
    world = WatchedWorld(node, scheduler, physics_frames, gdscript)
    lod = world.character(90.0)
    plan, idle = lod.get_node("Plan"), lod.get_node("Idle")
    behavior = node("AIBehavior", plan, period=1, method_name="_lod_tick")
    lod.rebuild()
    world.step(4)
    assert lod.get_level() == "Idle"
    plan.set("told", [])
    parent, called = lod.body.get_parent(), []

    def stop(*_):
        called.append(call)
        if len(called) == 1:
            {"disable": lambda: lod.set("enabled", False), "rebuild": lod.rebuild,
             "remove": lambda: lod.get_parent().remove_child(lod)}[call]()

    idle.connect("exited", stop)
    world.put(lod.body, 5.0)
    world.step(6)
    told = [one[0] for one in plan.get("told")]
    assert told == (["enter"] if call == "rebuild" else [])
    assert behavior.enabled == (call == "rebuild")
    if call == "remove":
        lod.free()
    assert parent.is_valid()
