"""AIBehavior: one method of one node, as the inspector says, within its AIScheduler."""
from __future__ import annotations

import random

import pytest

LOAD_BALANCING, FREQUENCY, PRIORITY = range(3)

RECORDER = """
    extends Node
    var elapsed: Array[float] = []
    func think(seconds: float) -> void: elapsed.append(seconds)
    func look(_seconds: float) -> String: return "seen"
    func nothing() -> void: pass
    func many(_elapsed: float, _time_left: float, _one_more: int) -> void: pass
    func leave(_seconds: float) -> void: queue_free()
"""


@pytest.fixture
def recorder(gdscript, scheduler):
    made = gdscript(RECORDER).new()
    scheduler.add_child(made)
    return made


def test_a_behavior_node_calls_its_parent_as_the_inspector_says(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period=2)
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2
    behavior.enabled = False
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2


def test_a_behavior_without_its_method_says_what_to_write(scheduler, node, expect_errors, physics_frames):
    expect_errors("has no method think(); write one that takes the elapsed seconds", times=1)
    node("AIBehavior", node("Node", scheduler, name="Bob"))
    physics_frames(2)


def test_a_method_without_parameters_is_refused(scheduler, node, recorder, expect_errors, physics_frames):
    expect_errors("takes no arguments; let it take the elapsed seconds", times=2)
    node("AIBehavior", recorder, method_name="nothing")
    scheduler.call("add_behavior", recorder.get("nothing"))
    physics_frames(2)


def test_a_method_of_any_number_of_parameters_is_called(scheduler, gdscript, node, physics_frames):
    recorder = gdscript("""
        extends Node
        var given: Array = []
        func rest(...all: Array) -> void: given.append(all)
    """).new()
    scheduler.add_child(recorder)
    node("AIBehavior", recorder, method_name="rest", period=1)
    scheduler.call("add_behavior", recorder.get("rest"))
    physics_frames(1)
    assert len(recorder.get("given")) >= 2


def test_a_behavior_node_without_scheduler_says_where_to_put_one(node, frames, expect_errors):
    expect_errors("found no AIScheduler and will not run; put an AIScheduler above it", times=1)
    node("AIBehavior", node("Node"))
    frames(2)


def test_a_node_added_before_its_scheduler_reports_nothing(node, gdscript, physics_frames, frames):
    level, recorder = node("Node"), gdscript(RECORDER).new()
    level.add_child(recorder)
    node("AIBehavior", recorder, period=1)
    node("AIScheduler", level)
    frames(2)
    physics_frames(2)
    assert len(recorder.get("elapsed")) >= 2


def test_leaving_and_coming_back_keeps_one_behavior(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period=1)
    recorder.remove_child(behavior)
    physics_frames(2)
    assert recorder.get("elapsed") == []
    recorder.add_child(behavior)
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2


def test_any_quarantined_work_is_released_by_its_id(scheduler, node, physics_frames, expect_errors):
    broken = node("Node", scheduler, name="Bob")
    behavior = node("AIBehavior", broken, method_name="connect", period=1)
    assert behavior.is_inside_tree()
    expect_errors("connect: too few arguments", times=4)
    physics_frames(6)
    [row] = scheduler.get_stats()["behaviors"]
    assert row["is_quarantined"]
    scheduler.release_behavior(row["id"])
    physics_frames(1)
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 4


def test_gdscript_errors_are_the_engines_and_quarantine_nothing(
    scheduler, gdscript, node, physics_frames, signals, expect_errors,
):
    failed = signals(scheduler, "behavior_failed")
    hasty = gdscript("""
        extends Node
        var runs := 0
        var nobody: Variant = null
        func think(_seconds: float) -> void:
            runs += 1
            nobody.greet()
            runs += 100
    """).new()
    scheduler.add_child(hasty)
    node("AIBehavior", hasty, period=1)
    expect_errors("Nonexistent function 'greet' in base 'Nil'", times=5)
    physics_frames(5)
    assert hasty.get("runs") == 5
    assert failed == []
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["faults"], row["is_quarantined"]) == (0, False)


def test_a_disabled_character_does_not_think(recorder, node, physics_frames):
    node("AIBehavior", recorder, period=1)
    recorder.process_mode = 4
    physics_frames(3)
    assert recorder.get("elapsed") == []
    recorder.process_mode = 0
    physics_frames(1)
    assert len(recorder.get("elapsed")) == 1


def test_changes_at_run_time_keep_the_record_of_its_runs(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period=1)
    physics_frames(4)
    behavior.period = 2
    behavior.priority = 3.0
    behavior.automatic_phase = False
    behavior.phase = 1
    physics_frames(4)
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["runs"], row["period_frames"], row["phase_frames"], row["priority"]) == (6, 2, 1, 3.0)
    behavior.automatic_phase = True
    physics_frames(4)
    assert scheduler.get_stats()["behaviors"][0]["runs"] == 8


def test_automatic_phases_move_on_rephasing_and_fixed_ones_stay(scheduler, recorder, node):
    given = [node("AIBehavior", recorder, period=4, automatic_phase=False, phase=0) for _ in range(2)]
    node("AIBehavior", recorder, period=4)
    given[1].automatic_phase = True
    scheduler.rephase()
    phases = [row["phase_frames"] for row in scheduler.get_stats()["behaviors"]]
    assert phases[0] == 0
    assert len(set(phases)) == 3


def test_another_method_is_called_from_the_next_run_on(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period=1)
    physics_frames(2)
    behavior.method_name = "look"
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2
    assert scheduler.get_stats()["behaviors"][0]["name"].endswith(".look")


def test_a_target_outside_the_tree_is_not_called(
    scheduler, recorder, node, physics_frames
):
    node("AIBehavior", scheduler, target=f"../{recorder.get_name()}", period=1)
    physics_frames(1)
    scheduler.remove_child(recorder)
    physics_frames(3)
    assert len(recorder.get("elapsed")) == 1
    recorder.free()


def test_a_freed_target_is_reported_and_says_what_to_do(scheduler, recorder, node, physics_frames, expect_errors):
    behavior = node("AIBehavior", scheduler, name="Mind", target="../" + recorder.get_name(), period=1)
    assert behavior.is_in_use()
    recorder.free()
    expect_errors("its target was freed; free Mind with it, or set another target", times=3)
    physics_frames(5)


def test_a_method_of_other_arguments_is_a_fault_of_this_behavior(recorder, node, physics_frames, expect_errors):
    node("AIBehavior", recorder, method_name="many", period=1)
    expect_errors("many: too few arguments, it needs 3", times=3)
    physics_frames(4)


def test_a_target_may_free_itself_and_its_behavior(scheduler, recorder, node, physics_frames):
    node("AIBehavior", recorder, method_name="leave", period=1)
    physics_frames(3)
    assert not recorder.is_valid()
    assert scheduler.get_stats()["behaviors"] == []


def test_return_values_are_dropped_unless_a_recording_compares(scheduler, recorder, node, physics_frames):
    node("AIBehavior", recorder, method_name="look", period=1)
    told = []

    class Ear:
        def task_ran(self, name, now, granted, steps, used_us, result):
            told.append(result)

    scheduler.trace.listen(Ear())
    physics_frames(1)
    scheduler.results.take = scheduler.result_of
    physics_frames(1)
    assert told == [None, "seen"]


ACTOR = """
    extends Node
    var world: Node
    var deed := Callable()
    func think(_seconds: float) -> void:
        world.told.append(String(name))
        var todo := deed
        deed = Callable()
        if todo.is_valid(): todo.call()
"""

WORLD = """
    extends Node
    var told: Array[String] = []
    func others(actor: Node, deed: String) -> Callable: return Callable(self, deed).bind(actor)
    func free_it(actor: Node) -> void: actor.free()
    func take_out(actor: Node) -> void:
        if actor.is_inside_tree(): remove_child(actor)
    func disable(actor: Node) -> void: actor.process_mode = Node.PROCESS_MODE_DISABLED
    func enable(actor: Node) -> void: actor.process_mode = Node.PROCESS_MODE_INHERIT
    func pause(_actor: Node) -> void:
        get_tree().paused = true
        get_tree().set_deferred("paused", false)
    func switch_off(actor: Node) -> void:
        if actor.get_child_count() > 0: actor.get_child(0).enabled = false
    func slow_down(actor: Node) -> void:
        if actor.get_child_count() > 0: actor.get_child(0).period = 2
    func free_mind(actor: Node) -> void:
        if actor.get_child_count() > 0: actor.get_child(0).free()
    func copy(actor: Node) -> void:
        var twin: Node = actor.duplicate()
        twin.world = self
        twin.name = "Twin"
        add_child(twin)
"""

DEEDS = (
    "free_it", "take_out", "disable", "enable", "pause", "switch_off", "slow_down", "free_mind", "copy",
)


class Listener:
    def before_task(self, name, now):
        """Who is told of each run has them made one by one."""


def lived(node, gdscript, live, periods, *, policy, has_listeners):
    """Let actors that think so often live as told; return who thought, in order, and what is known of each."""
    scheduler = node("AIScheduler", policy=policy, budget=100_000_000.0)     # no pause of the machine spends it
    if has_listeners:
        scheduler.trace.listen(Listener())
    world, script, actors = gdscript(WORLD).new(), gdscript(ACTOR), []
    world.name = "World"
    scheduler.add_child(world)
    for number, period in enumerate(periods):
        actor = script.new()
        actor.name, actor.world = f"Actor{number}", world
        world.add_child(actor)
        actors.append(actor)
        node("AIBehavior", actor, period=period, automatic_phase=False)
    live(world, actors)
    told, rows = list(world.told), scheduler.get_stats()["behaviors"]
    for actor in actors:
        if actor.is_valid():
            actor.free()
    scheduler.free()
    return told, [(row["name"], row["runs"], row["staleness_frames"]) for row in rows]


@pytest.mark.parametrize("policy", [LOAD_BALANCING, FREQUENCY, PRIORITY])
@pytest.mark.parametrize("victim", [0, 1, 2])
@pytest.mark.parametrize("deed", DEEDS)
def test_calls_in_batches_do_what_calls_one_by_one_do(node, gdscript, physics_frames, deed, victim, policy):
    if deed == "free_it" and victim == 1:
        pytest.skip("a node cannot be freed while its own method runs")

    def live(world, actors):
        physics_frames(4)
        actors[1].deed = world.others(actors[victim], deed)
        physics_frames(5)

    found, expected = (
        lived(node, gdscript, live, [1] * 4, policy=policy, has_listeners=has_listeners)
        for has_listeners in (False, True))
    assert found == expected
    assert len(found[0]) >= 4 * 4


LASTING = ("take_out", "disable", "enable", "switch_off", "slow_down", "free_mind")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", [LOAD_BALANCING, FREQUENCY, PRIORITY])
def test_a_meddling_crowd_behaves_the_same_in_batches(node, gdscript, physics_frames, policy, seed):
    def live(world, actors):
        chance = random.Random(seed)
        for _ in range(20):
            physics_frames(1)
            for actor in chance.sample(actors, 3):
                other, deed = chance.choice(actors), chance.choice(LASTING)
                if other.get_child_count() and other.is_inside_tree():
                    actor.deed = world.others(other, deed)

    found, expected = (
        lived(node, gdscript, live, [1, 2] * 15, policy=policy, has_listeners=has_listeners)
        for has_listeners in (False, True))
    assert found == expected
    assert len(found[0]) > 100


def test_process_mode_decides_whether_the_parent_is_called(recorder, node, tree, physics_frames):
    behavior = node("AIBehavior", recorder, period=1)
    behavior.process_mode = 4
    physics_frames(3)
    assert recorder.get("elapsed") == []
    behavior.process_mode = 3                     # always
    recorder.process_mode = 4
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2


def test_a_node_disabled_before_entering_waits_until_enabled(
    gdscript, scheduler, node, physics_frames
):
    recorder = gdscript(RECORDER).new()
    recorder.process_mode = 4
    node("AIBehavior", recorder, period=1)
    scheduler.add_child(recorder)
    physics_frames(3)
    assert recorder.get("elapsed") == []
    recorder.process_mode = 0
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2


@pytest.mark.parametrize("count", [1, 2])
def test_a_python_method_that_raises_is_quarantined(node, scheduler, physics_frames, monkeypatch, expect_errors, count):
    def one(self, elapsed_s):
        called.append(elapsed_s)
        raise KeyError("guard")

    def two(self, elapsed_s, time_left_us):
        one(self, elapsed_s)

    expect_errors("Planner.", times=3)
    called, planner = [], node("BridgeProbe", scheduler, name="Planner")
    monkeypatch.setattr(type(planner), "half" if count == 1 else "add", one if count == 1 else two)
    monkeypatch.setattr(type(planner), "get_method_argument_count", lambda self, name: count)
    node("AIBehavior", planner, method_name="half" if count == 1 else "add", name="Plans")
    physics_frames(30)
    assert len(called) == 3
