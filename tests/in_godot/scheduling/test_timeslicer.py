"""Timeslicer: jobs for many keys from GDScript, a slice in each frame, within its AIScheduler."""
from __future__ import annotations

import pytest

CROWD = """
    extends Node
    var looked := []
    var target := 0
    func begin(slicer: Timeslicer) -> void: slicer.set_job(look)
    func begin_with_inputs(slicer: Timeslicer) -> void: slicer.set_job(look_at, read)
    func look(key) -> String:
        looked.append(str(key))
        return "%s at %d" % [key if key is not Node else key.name, target]
    func look_at(key, input: int) -> String: return "%s at %d" % [key, input]
    func read(_key) -> int: return target
    func no_argument() -> void: pass
    func begin_wrong(slicer: Timeslicer) -> void: slicer.set_job(no_argument)
    func begin_freeing(slicer: Timeslicer) -> void: slicer.set_job(remove_next.bind(slicer))
    func remove_next(key: int, slicer: Timeslicer) -> int:
        if slicer.has_job(key + 1): slicer.remove_job(key + 1)
        return key
"""


@pytest.fixture
def crowd(gdscript, scheduler):
    made = gdscript(CROWD).new()
    scheduler.add_child(made)
    return made


@pytest.fixture
def slicer(node, scheduler, crowd):
    made = node("Timeslicer", scheduler, name="Slicer", jobs_per_update=1)
    crowd.call("begin", made)
    return made


def test_jobs_run_one_after_another_and_results_are_found_by_key(slicer, crowd, physics_frames):
    for key in ("Ann", 7):
        slicer.add_job(key)
    assert slicer.get_result("Ann", "none yet") == "none yet"
    assert slicer.get_age("Ann") == -1
    physics_frames(1)
    assert slicer.get_result("Ann") == "Ann at 0"
    crowd.set("target", 5)
    physics_frames(1)
    assert slicer.get_result(7) == "7 at 5"
    assert (slicer.get_age("Ann"), slicer.get_age(7)) == (1, 0)
    assert slicer.get_age_s("Ann") == pytest.approx(1 / 60)
    assert slicer.get_keys() == ["Ann", 7]


def test_jobs_on_threads_give_the_same_results_one_update_later(node, scheduler, crowd, physics_frames):
    slicer = node("Timeslicer", scheduler, threads=True, jobs_per_update=2)
    crowd.call("begin_with_inputs", slicer)
    crowd.set("target", 3)
    for key in range(4):
        slicer.add_job(key)
    physics_frames(1)
    assert slicer.get_result(0, "none yet") == "none yet"
    physics_frames(2)
    assert [slicer.get_result(key) for key in range(4)] == [f"{key} at 3" for key in range(4)]
    assert slicer.get_age(3) == 1
    slicer.queue_free()
    physics_frames(1)


@pytest.mark.parametrize(("timing", "ages"), [(0, (0, 9)), (1, (0, 18)), (2, (10, 19)), (3, (1, 19))])
def test_the_four_timings_keep_the_ages_they_promise(node, scheduler, crowd, physics_frames, timing, ages):
    slicer = node("Timeslicer", scheduler, jobs_per_update=1, timing=timing)
    crowd.call("begin_with_inputs", slicer)
    for key in range(10):
        slicer.add_job(key)
    physics_frames(40)
    seen = set()
    for _ in range(30):
        physics_frames(1)
        seen |= {slicer.get_age(key) for key in range(10)}
    assert (min(seen), max(seen)) == ages


def test_each_batch_that_ends_is_told_once(slicer, physics_frames, signals):
    finished = signals(slicer, "batch_finished")
    for key in range(3):
        slicer.add_job(key)
    physics_frames(7)
    assert finished == [(1,), (2,)]
    assert slicer.get_stats()["jobs"] == 7


def test_without_keys_nothing_runs_and_no_batch_ends(slicer, physics_frames, signals):
    finished = signals(slicer, "batch_finished")
    physics_frames(3)
    assert finished == []


def test_a_node_is_a_key_and_leaves_when_it_is_freed(slicer, node, scheduler, crowd, physics_frames):
    nodes = [node("Node", scheduler, name=name) for name in ("Ann", "Bob", "Cleo")]
    for one in nodes:
        slicer.add_job(one)
    physics_frames(3)
    assert slicer.get_result(nodes[1]) == "Bob at 0"
    nodes[1].free()
    physics_frames(6)
    assert slicer.get_keys() == [nodes[0], nodes[2]]
    assert "<Freed Object>" not in crowd.get("looked")


def test_a_key_that_leaves_in_the_middle_of_a_batch_is_left_out(node, scheduler, crowd, physics_frames):
    slicer = node("Timeslicer", scheduler)
    crowd.call("begin_freeing", slicer)
    for key in range(4):
        slicer.add_job(key)
    physics_frames(1)
    assert slicer.get_keys() == [0, 2]
    assert slicer.get_result(2) == 2


def test_a_budget_of_its_own_limits_what_runs_in_a_frame(node, scheduler, physics_frames):
    slicer = node("Timeslicer", scheduler, budget=1.0)
    slicer.set_job(lambda key: sum(range(5000)))
    for key in range(10):
        slicer.add_job(key)
    physics_frames(3)
    assert slicer.get_stats()["jobs"] == 3


def test_it_pauses_and_changes_its_rate_at_run_time(slicer, physics_frames):
    for key in range(5):
        slicer.add_job(key)
    slicer.enabled = False
    physics_frames(3)
    assert slicer.get_stats()["jobs"] == 0
    slicer.enabled = True
    slicer.period = 2
    slicer.jobs_per_update = 2
    physics_frames(4)
    assert slicer.get_stats()["jobs"] == 4


def test_a_job_with_other_arguments_is_reported_by_key(
    node, scheduler, crowd, physics_frames, signals, expect_errors
):
    slicer = node("Timeslicer", scheduler, name="Eyes")
    failed = signals(slicer, "job_failed")
    crowd.call("begin_wrong", slicer)
    slicer.add_job("Ann")
    expect_errors("too many arguments", times=4)
    physics_frames(6)
    assert len(failed) == 3
    assert failed[0][0] == "Eyes('Ann')"
    assert slicer.is_failing("Ann")
    slicer.release_job("Ann")
    physics_frames(1)
    assert len(failed) == 4


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [("add_job", ("Ann",), "key 'Ann' already has a job; remove it first"),
     ("add_job", ([1, 2],), "key must be hashable"),
     ("add_job", (float("nan"),), "key must be equal to itself"),
     ("remove_job", ("Bob",), "'Bob'"), ("get_result", ("Bob",), "'Bob'"), ("get_age", ("Bob",), "'Bob'"),
     ("set_timing", (2,), "timing cannot change after jobs were added"),
     ("set_jobs_per_update", (-1,), "jobs_per_update must be at least 0, got -1"),
     ("set_job", (None,), "needs Callable")],
)
def test_wrong_use_is_one_clear_error(slicer, expect_errors, name, arguments, message):
    slicer.add_job("Ann")
    if name == "set_job":
        with pytest.raises(RuntimeError, match=message):
            slicer.call(name, *arguments)
        return
    expect_errors(message, times=1)
    slicer.call(name, *arguments)
    assert slicer.get_keys() == ["Ann"]


def test_keys_need_a_job_and_shared_inputs_need_inputs(node, scheduler, crowd, expect_errors):
    slicer = node("Timeslicer", scheduler, timing=2)
    expect_errors("call set_job(job) first", times=1)
    slicer.call("add_job", 1)
    expect_errors("set_job needs a second Callable", times=1)
    crowd.call("begin", slicer)


def test_without_a_scheduler_it_says_where_to_put_one(node, frames, expect_errors):
    expect_errors("found no AIScheduler and will not run; put an AIScheduler above it", times=1)
    node("Timeslicer", node("Node"))
    frames(2)


def test_it_is_saved_with_its_scheduler_in_the_midst_of_a_batch(
    slicer, scheduler, crowd, node, physics_frames, signals
):
    bob = node("Node", scheduler, name="Bob")
    for key in ("Ann", bob, 3):
        slicer.add_job(key)
    physics_frames(2)
    state = scheduler.save_state()
    crowd.set("target", 9)
    physics_frames(5)
    finished = signals(slicer, "batch_finished")
    assert scheduler.load_state(state)
    assert (slicer.get_result(bob), slicer.get_age("Ann"), slicer.get_age(3)) == ("Bob at 0", 1, -1)
    physics_frames(1)
    assert slicer.get_result(3) == "3 at 9"
    assert finished == [(1,)]


def test_a_save_with_another_key_is_refused_whole(slicer, scheduler, physics_frames, expect_errors):
    slicer.add_job("Ann")
    physics_frames(2)
    state = scheduler.save_state()
    slicer.remove_job("Ann")
    slicer.add_job("Bob")
    expect_errors("add the saved keys before loading", times=1)
    assert not scheduler.call("load_state", state)
    assert slicer.get_keys() == ["Bob"]


def test_only_jobs_of_missing_keys_are_left_out(slicer, crowd, scheduler, node, physics_frames, expect_errors):
    bob = node("Node", scheduler, name="Bob")
    for key in ("Ann", "Eve", bob):
        slicer.add_job(key)
    physics_frames(4)
    state, result = scheduler.save_state(), slicer.get_result("Ann")
    crowd.set("target", 9)
    slicer.remove_job("Eve")
    bob.free()
    physics_frames(9)
    assert slicer.get_result("Ann") != result
    expect_errors("load_state() left out 2 parts", times=1)
    assert scheduler.call("load_state", state, True)
    assert scheduler.get_left_out() == {
        "Bob": "is not in the scene",
        str(scheduler.get_path_to(slicer)):
            "has no jobs for keys of the save: 'Eve'; those of the others are loaded"}
    assert (slicer.get_keys(), slicer.get_result("Ann")) == (["Ann"], result)
    assert scheduler.load_state(scheduler.save_state())


def test_a_paused_timeslicer_runs_no_job(slicer, crowd, scheduler, tree, physics_frames):
    scheduler.process_mode, slicer.process_mode = 3, 1      # always, pausable
    slicer.add_job("Ann")
    physics_frames(2)
    tree.paused = True
    try:
        physics_frames(3)
    finally:
        tree.paused = False
    assert len(crowd.get("looked")) == 2
    physics_frames(2)
    assert len(crowd.get("looked")) == 4
    slicer.enabled, slicer.process_mode = False, 4
    slicer.process_mode = 0
    physics_frames(2)
    assert len(crowd.get("looked")) == 4


def test_settings_changed_in_play_are_saved(slicer, crowd, scheduler, node, physics_frames):
    slicer.add_job("Ann")
    slicer.enabled, slicer.period, slicer.jobs_per_update = False, 3, 5
    physics_frames(2)
    state = scheduler.save_state()
    slicer.enabled, slicer.period, slicer.jobs_per_update = True, 1, 1
    physics_frames(2)
    assert scheduler.load_state(state)
    assert (slicer.enabled, slicer.period, slicer.jobs_per_update) == (False, 3, 5)
    looked = len(crowd.get("looked"))
    physics_frames(6)
    assert len(crowd.get("looked")) == looked
    slicer.enabled = True
    physics_frames(6)
    assert len(crowd.get("looked")) == looked + 2


def test_null_is_no_key(node, scheduler, expect_errors):
    slicer = node("Timeslicer", scheduler)
    slicer.set_job(lambda key: 1)
    expect_errors("add_job() needs a node, a name or a number, got null; a node that was freed becomes null", times=1)
    slicer.call("add_job", None)
    assert list(slicer.get_keys()) == []
