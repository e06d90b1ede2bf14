"""Scripts within their share of the budget: time left, jobs, coroutines, threads."""
from __future__ import annotations

import gc
import math
import time

import pytest

SCRIPT = """
    extends Node
    var ai: AIScheduler
    var left: Array[float] = []
    var ups: Array[bool] = []
    var done := []
    var steps := 0
    func think(_elapsed_s: float, time_left_us: float) -> void:
        left.append(time_left_us)
        left.append(ai.get_time_left_usec())
        ups.append(ai.is_time_up())
    func spend(_elapsed_s: float, time_left_us: float) -> void:
        left.append(time_left_us)
        var until := Time.get_ticks_usec() + int(time_left_us) + 50
        while Time.get_ticks_usec() < until: pass
        ups.append(ai.is_time_up())
    func look(_elapsed_s: float) -> void:
        left.append(ai.get_time_left_usec())
    func count_to(most: int, busy_us := 0) -> void:
        for i in most:
            await ai.pause()
            steps += 1
            if busy_us > 0:
                var until := Time.get_ticks_usec() + busy_us
                while Time.get_ticks_usec() < until: pass
        done.append(most)
    func count_when_asked(most: int) -> void:
        for i in most:
            if ai.is_time_up(): await ai.pause()
            steps += 1
        done.append(most)
    func wander(_elapsed_s: float) -> void:
        for i in 3:
            steps += 1
            var until := Time.get_ticks_usec() + 25000
            while Time.get_ticks_usec() < until: pass
            await ai.pause()
    func dig(_elapsed_s: float, _time_left_us: float) -> int:
        var dug := 0
        while dug < 1000 and not ai.is_time_up(): dug += 1
        done.append(dug)
        return dug
    func plan(_time_left_us: float) -> bool:
        left.append(_time_left_us)
        steps += 1
        return steps == 3
    func errand() -> bool:
        steps += 1
        return true
    func broken(_time_left_us: float):
        var nothing: Node = null
        nothing.get_name()
        return true
    func add(job_id: int) -> void: done.append(job_id)
    func square_sum() -> int:
        var sum := 0
        for i in 100000: sum += i
        return sum
    func take(result: int) -> void: done.append(result)
"""


@pytest.fixture
def limited(node):
    return node("AIScheduler", budget=20000.0, budget_margin=False)


def thinker_of(gdscript, scheduler):
    made = gdscript(SCRIPT).new()
    made.set("ai", scheduler)
    scheduler.add_child(made)
    return made


@pytest.fixture
def thinker(gdscript, scheduler):
    return thinker_of(gdscript, scheduler)


def test_a_second_parameter_receives_the_time_left(gdscript, limited, node, physics_frames):
    thinker = thinker_of(gdscript, limited)
    node("AIBehavior", thinker, period=1)
    physics_frames(2)
    first, later, *_ = thinker.get("left")
    assert 0 < later <= first <= 20000
    assert thinker.get("ups") == [False, False]


def test_a_behavior_of_two_parameters_is_told_of_no_limit(thinker, scheduler, physics_frames):
    scheduler.call("add_behavior", thinker.get("think"))
    physics_frames(1)
    assert thinker.get("left") == [math.inf, math.inf]


def test_time_is_up_for_the_behavior_that_used_its_share(gdscript, limited, physics_frames):
    thinker = thinker_of(gdscript, limited)
    for _ in range(2):
        limited.call("add_behavior", thinker.get("spend"))
    physics_frames(1)
    first, *_ = thinker.get("left")
    assert 5000 < first <= 10000
    assert set(thinker.get("ups")) == {True}


def test_a_behavior_of_one_parameter_sees_the_time_of_the_frame(gdscript, limited, physics_frames):
    thinker = thinker_of(gdscript, limited)
    for _ in range(2):
        limited.call("add_behavior", thinker.get("look"))
    physics_frames(1)
    assert len(thinker.get("left")) == 2
    assert all(10000 < left <= 20000 for left in thinker.get("left"))


def test_outside_a_frame_of_ai_there_is_no_time(limited):
    assert limited.get_time_left_usec() == 0.0
    assert limited.is_time_up()


def test_a_coroutine_that_asks_first_also_waits_for_its_frame(gdscript, limited, physics_frames):
    thinker = thinker_of(gdscript, limited)
    thinker.call("count_when_asked", 3)
    assert thinker.get("steps") == 0
    physics_frames(1)
    assert thinker.get("done") == [3]


def test_a_coroutine_pauses_until_a_later_frame(gdscript, limited, physics_frames):
    thinker = thinker_of(gdscript, limited)
    thinker.call("count_to", 5, 15000)
    assert thinker.get("steps") == 0
    physics_frames(1)
    assert thinker.get("steps") in (1, 2)           # the second began with at most 5 ms left
    physics_frames(4)
    assert (thinker.get("steps"), thinker.get("done")) == (5, [5])
    assert limited.core.tasks[0].is_paused


def test_a_coroutine_pauses_after_their_task_was_removed(thinker, scheduler, physics_frames):
    thinker.call("count_to", 2)
    physics_frames(2)
    task, = [one["id"] for one in scheduler.get_stats()["behaviors"] if one["name"] == "coroutines"]
    scheduler.call("remove_behavior", task)
    thinker.call("count_to", 1)
    physics_frames(1)
    assert thinker.get("done") == [2, 1]


def test_coroutines_continue_in_the_order_in_which_they_paused(thinker, scheduler, physics_frames):
    for most in (3, 1, 2):
        thinker.call("count_to", most)
    physics_frames(1)
    assert thinker.get("done") == [3, 1, 2]


def test_an_endless_coroutine_leaves_the_frame(thinker, scheduler, physics_frames):
    thinker.call("count_to", 25_000)
    physics_frames(1)
    assert thinker.get("steps") == 10_001
    physics_frames(2)
    assert thinker.get("done") == [25_000]


def test_a_behavior_may_pause_and_continues_later(gdscript, limited, node, physics_frames):
    thinker = thinker_of(gdscript, limited)
    node("AIBehavior", thinker, method_name="wander", period=20)
    physics_frames(1)
    limited.frame_overran.connect(lambda name, over_us: None)
    for _ in range(25):
        physics_frames(1)
    assert thinker.get("steps") >= 3


def test_a_nested_scheduler_shares_the_time_of_the_outer_one(gdscript, limited, node, physics_frames):
    inner = node("AIScheduler", limited, name="Inner")
    thinker = thinker_of(gdscript, inner)
    inner.call("add_behavior", thinker.get("spend"))
    limited.call("add_behavior", thinker.get("spend"))
    thinker.call("count_to", 2)
    physics_frames(4)
    assert 0 < thinker.get("left")[0] <= 10000
    assert thinker.get("done") == [2]


def test_a_coroutine_ends_with_its_node(thinker, scheduler, physics_frames):
    thinker.call("count_to", 3)
    thinker.queue_free()
    physics_frames(2)
    assert scheduler.core.tasks[0].is_paused


def test_a_job_runs_until_it_is_done(thinker, scheduler, physics_frames):
    scheduler.connect("job_finished", thinker.get("add"))
    job = scheduler.add_job(thinker.get("plan"))
    physics_frames(5)
    assert (thinker.get("steps"), thinker.get("done")) == (3, [job])
    assert scheduler.get_stats()["behaviors"] == []


def test_an_errand_without_a_parameter_runs_once(thinker, scheduler, physics_frames):
    scheduler.add_job(thinker.get("errand"))
    physics_frames(3)
    assert thinker.get("steps") == 1


def test_a_job_that_returns_nothing_fails(thinker, scheduler, physics_frames, expect_errors):
    expect_errors("a job must return true when it is done and false until then", times=3)
    expect_errors("null", times=None)
    scheduler.add_job(thinker.get("broken"))
    physics_frames(5)
    [row] = scheduler.get_stats()["behaviors"]
    assert row["is_quarantined"]


def test_a_job_is_granted_the_time_that_was_requested(gdscript, node, physics_frames):
    scheduler = node("AIScheduler", budget=20000.0, policy=3, budget_margin=False)
    thinker = thinker_of(gdscript, scheduler)
    for _ in range(3):
        scheduler.call("add_behavior", thinker.get("look"))
    scheduler.request_time(scheduler.add_job(thinker.get("plan"), 100.0), 9000.0)
    physics_frames(1)
    assert 8000 < thinker.get("left")[0] <= 9000


def test_a_thread_gives_its_result_in_the_frame_stated(thinker, scheduler, physics_frames):
    scheduler.run_in_thread(thinker.get("square_sum"), thinker.get("take"), 3)
    physics_frames(2)
    assert thinker.get("done") == []
    physics_frames(1)
    assert thinker.get("done") == [4999950000]
    assert scheduler.get_stats()["behaviors"] == []


def test_a_thread_gives_its_result_when_it_is_there(thinker, scheduler, physics_frames):
    scheduler.run_in_thread(thinker.get("square_sum"), thinker.get("take"))
    for _ in range(1000):
        physics_frames(1)
        time.sleep(0.001)
        if thinker.get("done"):
            break
    assert thinker.get("done") == [4999950000]


def test_a_result_for_who_is_freed_is_dropped(thinker, scheduler, physics_frames):
    scheduler.run_in_thread(thinker.get("square_sum"), thinker.get("take"), 3)
    physics_frames(2)
    time.sleep(0.3)         # the function has ended
    thinker.free()
    physics_frames(3)
    assert scheduler.get_stats()["behaviors"] == []


def test_a_result_arrives_after_an_earlier_save_was_loaded(thinker, scheduler, physics_frames):
    state = scheduler.save_state()
    physics_frames(20)
    scheduler.run_in_thread(thinker.get("square_sum"), thinker.get("take"), 5)
    physics_frames(1)
    assert scheduler.load_state(state)
    physics_frames(4)
    assert thinker.get("done") == [4999950000]


def test_a_scheduler_waits_for_its_threads_when_it_is_freed(thinker, scheduler, physics_frames):
    scheduler.run_in_thread(thinker.get("square_sum"), thinker.get("take"), 50)
    physics_frames(1)


def test_jobs_and_coroutines_are_not_saved(thinker, scheduler, physics_frames):
    scheduler.add_job(thinker.get("plan"))
    thinker.call("count_to", 3)
    state = scheduler.save_state()
    physics_frames(1)
    assert scheduler.load_state(state)
    physics_frames(3)
    assert thinker.get("done") == [3]


def test_a_job_ends_after_a_save_was_loaded(thinker, scheduler, physics_frames):
    scheduler.connect("job_finished", thinker.get("add"))
    thinker.set("steps", 2)
    job = scheduler.add_job(thinker.get("plan"))
    scheduler.call("add_behavior", thinker.get("look"))
    assert scheduler.load_state(scheduler.save_state())
    new = scheduler.get_stats()["behaviors"][1]["id"]
    physics_frames(2)
    assert new != job
    assert thinker.get("done") == [new]
    [row] = scheduler.get_stats()["behaviors"]
    assert row["runs"] == 2


def test_a_replay_repeats_where_scripts_saw_their_time_end(gdscript, node, physics_frames, tmp_path):
    def world():
        scheduler = node("AIScheduler", budget=300.0, update=2)
        thinker = thinker_of(gdscript, scheduler)
        scheduler.call("add_behavior", thinker.get("dig"), 1, 0, 1.0, "dig")
        thinker.call("count_to", 100)
        return scheduler, thinker

    recorded, digger = world()
    recorded.start_recording(str(tmp_path / "run.jsonl"))
    for _ in range(10):
        recorded.step(1 / 60)
    recorded.stop_recording()
    replayed, other = world()
    ended = []
    replayed.replay_ended.connect(lambda *difference: ended.append(difference))
    replayed.start_replay(str(tmp_path / "run.jsonl"))
    for _ in range(10):
        replayed.step(1 / 60)
    assert (other.get("done"), other.get("steps")) == (digger.get("done"), digger.get("steps"))
    assert ended in ([], [(-1, "", "")])


HOLDERS = """
    extends Node
    func job(ai: AIScheduler) -> WeakRef:
        var held := RefCounted.new()
        ai.add_job(func(_left): return held != null)
        return weakref(held)
    func removed_job(ai: AIScheduler) -> WeakRef:
        var held := RefCounted.new()
        ai.remove_behavior(ai.add_job(func(_left): return held == null))
        return weakref(held)
    func thread(ai: AIScheduler) -> WeakRef:
        var held := RefCounted.new()
        ai.run_in_thread(func(): return held != null, func(_result): pass)
        return weakref(held)
    func holder_of_result(ai: AIScheduler) -> WeakRef:
        var held := RefCounted.new()
        ai.run_in_thread(func(): return held, func(_result): pass, 2)
        return weakref(held)
"""


@pytest.mark.parametrize("name", ["job", "removed_job", "thread", "holder_of_result"])
def test_what_a_lambda_captures_is_freed_when_its_work_is_done(gdscript, node, scheduler, physics_frames, name):
    holder = gdscript(HOLDERS).new()
    scheduler.add_child(holder)
    held = holder.call(name, scheduler)
    gc.disable()        # at once, not by a collection
    try:
        for _ in range(2000):
            physics_frames(1)
            if held.get_ref() is None:
                break
        assert held.get_ref() is None
    finally:
        gc.enable()
