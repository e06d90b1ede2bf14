"""AIScheduler and AIBehavior: work runs in its frames, within the budget, and faults stay where they happen."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import GodotCallError

RECORDER = """
    extends Node
    var elapsed: Array[float] = []
    func think(seconds: float) -> void: elapsed.append(seconds)
    func add_to(scheduler: AIScheduler, period: int) -> int:
        return scheduler.add_behavior(think, period)
"""


@pytest.fixture
def recorder(gdscript, scheduler):
    made = gdscript(RECORDER).new()
    scheduler.add_child(made)
    return made


def test_a_gdscript_behavior_runs_in_its_period_and_hears_the_true_time(recorder, scheduler, physics_frames):
    recorder.call("add_to", scheduler, 3)
    physics_frames(9)
    elapsed = recorder.get("elapsed")
    assert len(elapsed) == 3
    assert elapsed[1:] == pytest.approx([3 / 60, 3 / 60])


def test_a_python_function_is_a_behavior_too(scheduler, physics_frames):
    heard = []
    number = scheduler.add_behavior(heard.append, 2)
    physics_frames(4)
    assert len(heard) == 2
    scheduler.remove_behavior(number)
    physics_frames(4)
    assert len(heard) == 2


def test_thirty_behaviors_of_period_ten_make_a_flat_load(scheduler, physics_frames):
    ran = []
    for number in range(30):
        scheduler.add_behavior(lambda elapsed, number=number: ran.append(number), 10)
    loads = []
    for _ in range(10):
        before = len(ran)
        physics_frames(1)
        loads.append(len(ran) - before)
    assert loads == [3] * 10


def test_pausing_and_resuming(scheduler, physics_frames):
    heard = []
    number = scheduler.add_behavior(heard.append)
    scheduler.pause_behavior(number)
    physics_frames(3)
    assert heard == []
    scheduler.resume_behavior(number)
    physics_frames(1)
    assert heard == [pytest.approx(4 / 60)]


def test_a_failing_behavior_is_reported_quarantined_and_does_not_stop_others(
    scheduler, physics_frames, signals, expect_errors
):
    failed, quarantined, heard = signals(scheduler, "behavior_failed"), signals(scheduler, "behavior_quarantined"), []

    def broken(elapsed):
        raise ValueError("no idea")

    number = scheduler.add_behavior(broken, 1, -1, 1.0, "broken")
    scheduler.add_behavior(heard.append)
    expect_errors("behavior 'broken' raised ValueError: no idea", times=4)
    physics_frames(5)
    assert failed == [("broken", "ValueError: no idea")] * 3
    assert quarantined == [("broken",)]
    assert len(heard) == 5
    assert scheduler.get_stats()["behaviors"][0]["is_quarantined"]
    scheduler.release_behavior(number)
    physics_frames(1)
    assert len(failed) == 4


def test_a_behavior_of_a_freed_node_is_reported_by_name(recorder, scheduler, physics_frames, expect_errors):
    recorder.set("name", "Bob")
    recorder.call("add_to", scheduler, 1)
    recorder.free()
    expect_errors("the object of behavior 'Bob.think' has been freed", times=3)
    physics_frames(5)


def test_an_overrun_names_who_overran(node, physics_frames, signals):
    scheduler = node("AIScheduler", budget_us=50.0)
    overran = signals(scheduler, "frame_overran")

    def slow(elapsed):
        for _ in range(20_000):
            pass

    scheduler.add_behavior(slow, 1, -1, 1.0, "slow")
    physics_frames(4)
    assert {name for name, _ in overran} == {"slow"}
    assert scheduler.get_stats()["overruns"] == len(overran) >= 3


def test_a_manual_scheduler_runs_on_step_alone(node, physics_frames):
    scheduler, heard = node("AIScheduler", update=2), []
    scheduler.add_behavior(heard.append)
    physics_frames(3)
    assert heard == []
    scheduler.step(0.25)
    assert heard == [0.25]


def test_an_idle_scheduler_runs_in_process_frames(node, frames):
    scheduler, heard = node("AIScheduler", update=0), []
    scheduler.add_behavior(heard.append)
    frames(2)
    assert heard == pytest.approx([1 / 60, 1 / 60])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "period_frames must be at least 1, got 0"), ((-3,), "period_frames must be at least 1, got -3"),
     ((1, -5), "phase_frames must be at least 0, got -5"), ((1, -1, 0.0), "priority"),
     ((1, -1, float("nan")), "priority")],
)
def test_bad_numbers_are_one_clear_error_and_nothing_is_added(scheduler, expect_errors, arguments, message):
    expect_errors(message, times=1)
    scheduler.call("add_behavior", lambda elapsed: None, *arguments)
    assert scheduler.get_stats()["behaviors"] == []


def test_an_unknown_behavior_id_says_so(scheduler, expect_errors):
    expect_errors("there is no behavior 99", times=1)
    scheduler.call("remove_behavior", 99)


def test_the_policy_stays_once_work_was_added(scheduler, gdscript, expect_errors):
    scheduler.add_behavior(lambda elapsed: None)
    expect_errors("policy cannot change once behaviors were added", times=1)
    script = gdscript("extends RefCounted\nstatic func run(s: AIScheduler): s.policy = AIScheduler.POLICY_FREQUENCY")
    script.run(scheduler)


def test_a_behavior_node_calls_its_parent_as_the_inspector_says(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=2)
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2
    behavior.enabled = False
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2


def test_a_behavior_node_without_such_a_method_says_what_to_write(scheduler, node, expect_errors):
    expect_errors("has no method think(); write one that takes the elapsed seconds", times=1)
    node("AIBehavior", node("Node", scheduler, name="Bob"))


def test_a_behavior_node_without_scheduler_says_where_to_put_one(node, expect_errors):
    expect_errors("found no AIScheduler and will not run; put an AIScheduler above it", times=1)
    node("AIBehavior", node("Node"))


def test_leaving_and_coming_back_keeps_one_behavior(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=1)
    recorder.remove_child(behavior)
    physics_frames(2)
    assert recorder.get("elapsed") == []
    recorder.add_child(behavior)
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2


def test_a_wrong_type_of_behavior_is_refused_by_the_engine(scheduler):
    with pytest.raises(GodotCallError, match="argument 1 needs Callable"):
        scheduler.call("add_behavior", 3)


def test_any_quarantined_work_is_released_by_its_id(scheduler, node, physics_frames, expect_errors):
    broken = node("Node", scheduler, name="Bob")
    behavior = node("AIBehavior", broken, method_name="get_name", period_frames=1)
    assert behavior.is_inside_tree()
    expect_errors("get_name: too many arguments", times=4)
    physics_frames(6)
    [row] = scheduler.get_stats()["behaviors"]
    assert row["is_quarantined"]
    scheduler.release_behavior(row["id"])
    physics_frames(1)
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 4


def test_a_callable_to_nothing_is_refused_at_the_call(scheduler, gdscript, expect_errors):
    empty = gdscript("extends RefCounted\nstatic func it() -> Callable: return Callable()").it()
    expect_errors("add_behavior needs a Callable that can be called", times=1)
    scheduler.call("add_behavior", empty)
    assert scheduler.get_stats()["behaviors"] == []


def test_a_lambda_with_the_wrong_arguments_is_a_fault_not_a_silence(scheduler, gdscript, physics_frames, expect_errors):
    wrong = gdscript("extends RefCounted\nstatic func it() -> Callable: return func(): pass").it()
    expect_errors("too many arguments", times=3)
    scheduler.add_behavior(wrong)
    physics_frames(4)
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 3


def test_a_disabled_character_does_not_think(recorder, node, physics_frames):
    node("AIBehavior", recorder, period_frames=1)
    recorder.process_mode = 4
    physics_frames(3)
    assert recorder.get("elapsed") == []
    recorder.process_mode = 0
    physics_frames(1)
    assert len(recorder.get("elapsed")) == 1


def test_a_behavior_may_remove_itself_and_free_its_scheduler(node, physics_frames):
    scheduler, ran = node("AIScheduler", budget_us=1.0), []

    def last(elapsed):
        ran.append("last")
        scheduler.free()

    scheduler.add_behavior(last)
    scheduler.add_behavior(lambda elapsed: ran.append("after"))
    physics_frames(2)
    assert ran[0] == "last"
    assert not scheduler.is_valid()
