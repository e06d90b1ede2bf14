"""A sensor writes what it knows to habit trees, state machines and rule minds, without a script."""
from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import NodePath, PackedStringArray, Vector2, Vector3, construct
from addons.ai_core.nodes.characters.sensor_feed import FEEDS_AT_ONCE
from addons.ai_core.nodes.scheduling import ai_scheduler

BEHIND = Vector3(0, 0, 8)
EYE = {"name": "Eye", "lose_after": 0.2, "max_age": 2.0, "hearing_threshold": 0.1, "near_range": 0.0}


@pytest.fixture
def manager(node, scheduler):
    return node("SenseManager", scheduler)


@pytest.fixture
def guard(manager, node, scheduler):
    """A Node3D with a Sensor3D, to which deciding nodes are added."""
    one = node("Node3D", scheduler, name="Guard")
    node("Sensor3D", one, **EYE)
    return one


@pytest.fixture
def thieves(manager, node, scheduler):
    """``thieves(name, place)``: a character whose source is a metre above its origin."""
    def another(name, place):
        one = node("Node3D", scheduler, name=name, position=place)
        node("SenseSource3D", one, name="Body", position=Vector3(0, 1, 0))
        return one

    return another


@pytest.fixture
def thief(thieves):
    return thieves("Thief", Vector3(0, -1, -5))


@pytest.fixture
def brain(guard):
    def made(*habits, **settings):
        tree = construct("HabitTree")
        for key, value in {"sensor": NodePath("../Eye"), **settings}.items():
            tree.set(key, value)
        for name, of_habit in habits or [("Idle", {})]:
            one = construct("Habit")
            one.set("name", name)
            for key, value in of_habit.items():
                one.set(key, value)
            tree.add_child(one)
        guard.add_child(tree)
        return tree

    return made


def test_values_are_there_before_a_target_is(brain, physics_frames):
    tree = brain()
    for key in ("target", "target_position", "last_known_position", "last_heard_position"):
        assert tree.get_value(key, "absent") is None
    assert [tree.get_value(key) for key in ("awareness", "awareness_level", "is_in_view")] == [0, 0, False]


def test_values_follow_a_target_in_view_and_after_its_loss(brain, thief, physics_frames):
    tree = brain()
    physics_frames(3)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (thief, True)
    assert tree.get_value("target_position") == Vector3(0, -1, -5)
    for step in range(3):
        thief.position = Vector3(step, -1, -5)
        physics_frames(1)
        assert tree.get_value("target_position") == tree.get_value("last_seen_position") == Vector3(step, -1, -5)
    assert 0 < tree.get_value("awareness") < 1
    thief.position = BEHIND
    physics_frames(2)
    assert (tree.get_value("is_in_view"), tree.get_value("target")) == (False, thief)
    assert tree.get_value("target_position") == Vector3(2, -1, -5)
    physics_frames(15)
    assert (tree.get_value("target"), tree.get_value("target_position")) == (None, None)
    assert tree.get_value("last_known_position") == Vector3(2, -1, -5)
    tree.set_value("last_known_position", None)
    physics_frames(30)
    assert tree.get_value("last_known_position") is None, "a habit may clear it"
    physics_frames(120)
    assert (tree.get_value("last_seen_position"), tree.get_value("awareness")) == (None, 0)


def test_events_begin_habits_in_the_order_of_the_senses(brain, thief, physics_frames, signals):
    names = ["target_gained", "target_lost", "target_forgotten", "awareness_changed", "heard"]
    short = {"timeout": 0.02, "remember_for": 1.0}
    tree = brain(*[(name, {"begins_on": PackedStringArray([name]), **short}) for name in names])
    entered = signals(tree, "habit_entered")
    physics_frames(60)
    thief.position = BEHIND
    physics_frames(30)
    thief.get_node("Body").emit("hearing", 2.0)
    physics_frames(200)
    began = [path.split("/")[1] for path, _ in entered]
    assert began[:2] == ["target_gained", "awareness_changed"]
    assert began.index("target_lost") < began.index("heard") < began.index("target_forgotten")


def test_payload_has_the_place_of_a_noise(brain, thief, physics_frames, gdscript):
    tree = brain()
    habit = tree.get_child(0)
    habit.set_script(gdscript("""
        extends Habit
        var heard = []
        func _tick(_elapsed_s):
            if get_payload("heard"): heard.append(get_payload("heard"))
            return 0
    """))
    tree.rebuild()
    thief.position = BEHIND
    physics_frames(2)
    thief.get_node("Body").emit("hearing", 2.0)
    physics_frames(3)
    heard = habit.get("heard")
    assert [(one["character"], one["position"]) for one in heard] == [(thief, BEHIND)]
    assert tree.get_value("last_heard_position") == BEHIND
    assert (tree.get_value("is_in_view"), tree.get_value("target")) == (False, thief)


@pytest.mark.parametrize("ended", ["other tree", "sensor", "senses"])
def test_a_noise_may_end_what_hears_it_too(brain, guard, thief, manager, physics_frames, ended):
    tree, other = brain(), brain()
    physics_frames(30)
    thief.position = BEHIND
    physics_frames(3)
    thing = {"other tree": other, "sensor": guard.get_node("Eye"), "senses": manager}[ended]
    heard = []
    tree.fed_blackboard.watch("last_heard_position", lambda _, place: heard.append(place) or (place and thing.free()))
    thief.get_node("Body").emit("hearing", 2.0)
    physics_frames(3)
    assert (thing.is_valid(), heard[0]) == (False, BEHIND)


@pytest.mark.parametrize(("choice", "chosen"), [("NEAREST", "Near"), ("NEWEST", "Near"), ("MOST_AWARE", "Thief")])
def test_the_target_is_chosen_as_set(brain, thief, thieves, physics_frames, choice, chosen):
    tree = brain()
    tree.target_choice = getattr(tree.TargetChoice, choice)
    physics_frames(30)
    thieves("Near", Vector3(0, -1, -2))
    physics_frames(3)
    assert tree.get_value("target").get_name() == chosen


def test_a_callable_chooses_the_target(brain, thief, thieves, physics_frames, expect_errors):
    tree = brain()
    thieves("Near", Vector3(0, -1, -2))
    tree.choose_target_with(lambda known: next(one for one in known if one["character"].get_name() == "Near"))
    physics_frames(3)
    assert tree.get_value("target").get_name() == "Near"
    tree.choose_target_with(lambda known: 7)
    expect_errors("custom target choice returned 7")
    thieves("Third", Vector3(1, -1, -3))
    physics_frames(3)


def test_a_choice_may_free_the_scheduler(brain, thief, scheduler, physics_frames):
    tree = brain()
    tree.choose_target_with(lambda known: scheduler.free() or known[0])
    physics_frames(5)
    assert not scheduler.is_valid()


def test_a_freed_target_and_a_freed_sensor_leave_no_target(brain, guard, thief, physics_frames):
    tree = brain()
    physics_frames(3)
    assert tree.get_value("target") == thief
    thief.free()
    physics_frames(2)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (None, False)
    assert tree.get_value("last_known_position") is not None
    guard.get_node("Eye").free()
    physics_frames(2)
    assert tree.get_value("last_known_position") is None


def test_a_manager_that_leaves_takes_the_target_along(
    brain, manager, scheduler, thief, physics_frames,
):
    tree = brain()
    physics_frames(3)
    assert tree.get_value("target") == thief
    scheduler.remove_child(manager)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (None, False)
    physics_frames(2)
    scheduler.add_child(manager)
    physics_frames(3)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (thief, True)
    thief.position = Vector3(1, -1, -5)
    physics_frames(2)
    assert tree.get_value("target_position") == Vector3(1, -1, -5), "the feed is updated again"


def test_a_choice_set_later_counts_from_its_next_turn(brain, thieves, physics_frames):
    tree = brain()
    far = thieves("Far", Vector3(0, -1, -6))
    physics_frames(3)
    near = thieves("Near", Vector3(1, -1, -2))
    physics_frames(2)
    assert tree.get_value("target") == far
    tree.target_choice = 1      # nearest
    physics_frames(9)
    assert tree.get_value("target") == near


def test_a_tree_added_later_gets_the_known_target(brain, guard, thief, physics_frames):
    physics_frames(5)
    tree = brain()
    physics_frames(2)
    assert tree.get_value("target") == thief
    guard.remove_child(tree)
    guard.add_child(tree)
    physics_frames(2)
    assert tree.get_value("is_in_view")


def test_a_pooled_character_comes_back_without_a_target(brain, guard, scheduler, thief, physics_frames):
    tree = brain()
    physics_frames(60)
    assert tree.get_value("awareness_level") > 0
    scheduler.remove_child(guard)
    physics_frames(5)
    guard.position = Vector3(0, 0, -40)      # its back to the thief
    scheduler.add_child(guard)
    for _ in range(2):
        assert (tree.get_value("target"), tree.get_value("target_position")) == (None, None)
        assert (tree.get_value("is_in_view"), tree.get_value("awareness_level")) == (False, 0)
        physics_frames(5)
    guard.position = Vector3(0, 0, 0)
    physics_frames(5)
    assert tree.get_value("target") == thief


def test_another_sensor_takes_the_values_of_the_first_away(brain, guard, node, thief, physics_frames):
    node("Sensor3D", guard, name="Blind", sight_range=0.5)
    tree = brain()
    physics_frames(5)
    assert tree.get_value("target") == thief
    tree.sensor = NodePath("../Blind")
    physics_frames(2)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (None, False)


def test_a_target_forgotten_right_after_a_load_is_no_target(brain, guard, scheduler, thief, physics_frames):
    tree = brain()
    physics_frames(5)
    saved = scheduler.save_state()
    scheduler.load_state(saved)
    assert tree.get_value("target") == thief
    guard.get_node("Eye").free()
    physics_frames(2)
    assert (tree.get_value("target"), tree.get_value("is_in_view")) == (None, False)


def test_feeds_beyond_the_budget_are_updated_in_later_frames(brain, scheduler, thief, physics_frames, monkeypatch):
    trees = [brain() for _ in range(24)]
    physics_frames(3)
    monkeypatch.setattr(ai_scheduler, "time", SimpleNamespace(perf_counter_ns=count(0, 100_000).__next__))
    scheduler.set("budget", 300.0)      # three queries of the budget
    thief.set("position", Vector3(0, -1, -4))
    updated = []
    for _ in range(30):
        physics_frames(1)
        updated.append(sum(tree.get_value("target_position").z == -4 for tree in trees))
    assert updated == sorted(updated)
    assert {*updated} == {*range(0, 25, FEEDS_AT_ONCE)}     # no feed is left out, and none beyond the budget


def test_a_wrong_path_is_an_error_with_the_remedy(brain, physics_frames, expect_errors):
    expect_errors("sensor '../Nose' is not in the scene; choose a node of class Sensor3D or Sensor2D, or leave it")
    brain(sensor=NodePath("../Nose"))
    physics_frames(2)


@pytest.fixture
def minds(brain, guard):
    """What each kind of deciding node of the guard has of the values of its sensor."""
    tree, machine, mind, rules = brain(), construct("StateMachine"), construct("RuleMind"), construct("RuleSet")
    machine.sensor = mind.sensor = NodePath("../Eye")
    machine.add_child(construct("AIState"))
    rules.set("rules", "see: target -> seen")
    rules.set("facts", dict.fromkeys(("target", "is_in_view", "awareness"), 0.0))
    mind.set("rule_set", rules)
    for one in (machine, mind):
        guard.add_child(one)

    def known():
        keys = ("target", "is_in_view", "awareness", "awareness_level", "target_position", "last_known_position")
        return [[one.get_value(key) for key in keys] for one in (tree, machine)] + [
            [round(mind.get_grade(key), 5) for key in (*keys[:3], "seen")]]

    return known


@pytest.mark.parametrize("seen_from", [30, 50])
@pytest.mark.parametrize("loads", [(70,), (45, 70), (70, 60), (60, 60, 60)])
def test_a_quick_load_goes_on_as_from_the_save(minds, scheduler, thief, physics_frames, loads, seen_from):
    """The save is at frame 40; each load is at a frame after it."""

    def frame_of(number):
        thief.position = Vector3(0.02 * number, -1, -5 if number >= seen_from else 60)
        physics_frames(1)
        return minds()

    for number in range(40):
        frame_of(number)
    state = scheduler.save_state()
    first = [frame_of(number) for number in range(40, 90)]
    for last in loads:
        assert scheduler.load_state(state)
        again = [frame_of(number) for number in range(40, last)]
        assert again == first[:last - 40]


@pytest.mark.parametrize("budget", [0.0, 15.0, 60.0, 200.0])
def test_nobody_knows_where_a_target_went_that_teleports(node, world, physics_frames, budget):
    scheduler = node("AIScheduler", world, budget=budget, budget_margin=False)
    node("SenseManager", scheduler)
    trees, thieves = [], []
    for number in range(12):
        guard = node("Node3D", scheduler, position=Vector3(50 * number, 0, 0))
        node("Sensor3D", guard, **{**EYE, "lose_after": 30.0})
        tree = construct("HabitTree")
        tree.sensor = NodePath("../Eye")
        tree.add_child(construct("Habit"))
        guard.add_child(tree)
        thief = node("Node3D", scheduler, position=Vector3(50 * number, 0, -5))
        node("SenseSource3D", thief)
        trees.append(tree)
        thieves.append(thief)
    for _ in range(2000):
        physics_frames(1)
        if all(tree.get_value("is_in_view") for tree in trees):
            break
    for thief in thieves:
        thief.position = Vector3(0, 0, 4000)
    for _ in range(60):
        physics_frames(1)
        for tree in trees:
            for key in ("target_position", "last_known_position", "last_seen_position"):
                assert tree.get_value(key).z == -5


def test_a_loaded_tree_keeps_its_target_and_cleared_values(brain, scheduler, thief, physics_frames):
    tree = brain()
    physics_frames(5)
    thief.position = BEHIND
    physics_frames(2)
    tree.set_value("last_known_position", None)
    saved = scheduler.save_state()
    physics_frames(20)
    assert tree.get_value("target") is None
    scheduler.load_state(saved)
    physics_frames(2)
    assert (tree.get_value("target"), tree.get_value("last_known_position")) == (thief, None)


def test_a_state_machine_takes_values_and_events(guard, thief, node, physics_frames):
    machine = construct("StateMachine")
    machine.set("sensor", NodePath("../Eye"))
    for name in ("calm", "chasing"):
        state = construct("AIState")
        state.set("name", name)
        machine.add_child(state)
    for event, source, to in (("target_gained", "calm", "../../chasing"), ("target_lost", "chasing", "../../calm")):
        transition = construct("StateTransition")
        transition.set("event", event)
        transition.set("to", NodePath(to))
        machine.get_node(source).add_child(transition)
    guard.add_child(machine)
    physics_frames(3)
    assert (machine.get_state(), machine.get_value("target")) == ("chasing", thief)
    thief.position = BEHIND
    physics_frames(20)
    assert (machine.get_state(), machine.get_value("target")) == ("calm", None)


def test_a_rule_mind_takes_declared_facts(guard, thief, physics_frames, signals):
    rules = construct("RuleSet")
    rules.set("rules", "chase: target and is_in_view | repeats")
    rules.set("facts", {"target": 0.0, "is_in_view": 0.0})
    mind = construct("RuleMind")
    mind.set("rule_set", rules)
    mind.set("sensor", NodePath("../Eye"))
    guard.add_child(mind)
    fired = signals(mind, "rule_fired")
    physics_frames(4)
    assert fired
    thief.position = BEHIND
    physics_frames(2)
    assert (mind.get_grade("target"), mind.get_grade("is_in_view")) == (1, 0)


def test_a_report_by_radio_begins_a_habit_at_its_place(brain, thief, node, scheduler, physics_frames):
    other = node("Sensor3D", scheduler, position=Vector3(0, 0, -1))
    tree = brain(("Help", {"begins_on": PackedStringArray(["target_reported"])}), ("Idle", {}))
    tree.get_parent().position = Vector3(0, 0, 200)
    physics_frames(3)
    assert tree.get_active_paths()[0].endswith("Idle")
    other.report_to(tree.get_parent().get_node("Eye"))
    physics_frames(2)
    assert tree.get_active_paths()[0].endswith("Help")
    event = tree.get_node("Help").get_event()
    assert event["character"] == thief
    assert tuple(event["position"]) == pytest.approx(tuple(thief.get_global_position()), abs=0.01)
    assert tree.get_value("last_known_position") == event["position"]
    assert tree.get_value("target") is None


def test_the_awareness_of_a_new_target_is_written_with_it(brain, guard, thief, thieves, physics_frames):
    tree = brain()
    tree.target_choice = tree.TargetChoice.NEAREST
    physics_frames(20)
    near = thieves("Near", Vector3(0, -1, -4.6))
    physics_frames(10)
    near.position = Vector3(0, -1, -1)
    sensor = guard.get_node("Eye")
    for _ in range(20):
        physics_frames(1)
        target = tree.get_value("target")
        known = [one for one in sensor.get_known_targets() if one["character"] == target]
        assert tree.get_value("awareness") == pytest.approx(known[0]["awareness"], abs=1e-6)
    assert target == near


def test_a_sensor_replaces_values_of_other_types(brain, thief, physics_frames):
    wrong, right = brain(values={"awareness": "high", "target_position": Vector2(1, 1)}), brain()
    physics_frames(10)
    for step in range(20):
        thief.position = Vector3(0.1 * step, -1, -5)
        physics_frames(1)
        assert wrong.get_value("target_position") == right.get_value("target_position") == thief.position
    assert wrong.get_value("awareness") == right.get_value("awareness") > 0
