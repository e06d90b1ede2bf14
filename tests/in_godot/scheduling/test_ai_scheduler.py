"""AIScheduler: work runs in its frames, within the budget, and faults stay where they happen."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import GodotCallError, StringName, construct

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


def test_a_gdscript_behavior_runs_per_period_with_true_time(recorder, scheduler, physics_frames):
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


def test_step_called_by_a_behavior_is_refused(scheduler, physics_frames, expect_errors):
    expect_errors("step() runs this work at present, and cannot be called by it", times=2)
    left = []

    def think(elapsed_s):
        scheduler.call("step", 0.5)
        left.append(scheduler.get_time_left_usec())

    scheduler.add_behavior(think)
    physics_frames(2)
    assert scheduler.clock.now == (2, pytest.approx(2 / 60))
    assert left == [math.inf, math.inf]


def test_pausing_and_resuming(scheduler, physics_frames):
    heard = []
    number = scheduler.add_behavior(heard.append)
    scheduler.pause_behavior(number)
    physics_frames(3)
    assert heard == []
    scheduler.resume_behavior(number)
    physics_frames(1)
    assert heard == [pytest.approx(4 / 60)]


def test_a_failing_behavior_is_quarantined_and_stops_no_other(
    scheduler, physics_frames, signals, expect_errors
):
    failed, quarantined, heard = signals(scheduler, "behavior_failed"), signals(scheduler, "behavior_quarantined"), []

    def broken(elapsed):
        raise ValueError("no idea")

    number = scheduler.add_behavior(broken, 1, -1, 1.0, "broken")
    scheduler.add_behavior(heard.append)
    expect_errors("behavior 'broken' raised ValueError: no idea", times=4)
    expect_errors(f"failed 3 times in a row and is quarantined: fix it, then call release_behavior({number})", times=1)
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
    expect_errors("the object of behavior 'Bob.think' was freed", times=3)
    physics_frames(5)


def test_an_overrun_names_who_overran(node, physics_frames, signals):
    scheduler = node("AIScheduler", budget=1000.0)
    overran = signals(scheduler, "frame_overran")

    def slow(elapsed):
        for _ in range(400_000):
            pass

    scheduler.add_behavior(slow, 1, -1, 1.0, "slow")
    physics_frames(6)
    assert {name for name, _ in overran} == {"slow"}
    assert len(overran) >= 3
    assert scheduler.get_stats()["overruns"] - len(overran) in (0, 1)      # of the last frame in the next one


def test_frame_overran_is_emitted_in_the_next_frame(node, signals):
    outer = node("AIScheduler", update=2, budget=5000.0)
    inner = node("AIScheduler", outer, name="Inner")
    outer.step(0.1)         # the first frame prepares; on a busy machine that alone takes a budget
    outer.step(0.1)
    overran = [signals(outer, "frame_overran"), signals(inner, "frame_overran")]
    inner.add_behavior(lambda elapsed: sum(range(3_000_000)), 1, -1, 1.0, "slow")
    outer.step(0.1)
    assert overran == [[], []]
    outer.step(0.1)
    assert [[name for name, _ in heard] for heard in overran] == [["Inner/slow"], ["slow"]]


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
    expect_errors("unknown behavior id 99", times=1)
    scheduler.call("remove_behavior", 99)


def test_the_policy_stays_once_work_was_added(scheduler, gdscript, expect_errors):
    scheduler.add_behavior(lambda elapsed: None)
    expect_errors("policy: cannot change after behaviors were added", times=1)
    script = gdscript("extends RefCounted\nstatic func run(s: AIScheduler): s.policy = AIScheduler.POLICY_FREQUENCY")
    script.run(scheduler)



def test_how_many_tries_there_are_is_settled_when_work_comes(scheduler, expect_errors):
    scheduler.add_behavior(lambda elapsed_s: None, 1)
    expect_errors("quarantine_after: cannot change after behaviors were added; set it before the scene runs", times=1)
    scheduler.set("quarantine_after", 9)
    assert scheduler.quarantine_after == 3

def test_a_wrong_type_of_behavior_is_refused_by_the_engine(scheduler):
    with pytest.raises(GodotCallError, match="argument 1 needs Callable"):
        scheduler.call("add_behavior", 3)


@pytest.mark.parametrize("add", ["add_behavior", "add_job"])
def test_id_of_a_refused_call_is_that_of_no_behavior(scheduler, gdscript, expect_errors, add):
    first = scheduler.call("add_behavior", lambda elapsed_s: None)
    expect_errors(f"{add} needs a valid Callable, got an empty Callable", times=1)
    refused = gdscript(f"static func it(s: AIScheduler) -> int: return s.{add}(Callable())").it(scheduler)
    expect_errors("unknown behavior id 0", times=1)
    scheduler.call("remove_behavior", refused)
    assert refused == 0
    assert [one["id"] for one in scheduler.get_stats()["behaviors"]] == [first]


def test_a_lambda_with_wrong_arguments_is_a_fault(scheduler, gdscript, physics_frames, expect_errors):
    wrong = gdscript("extends RefCounted\nstatic func it() -> Callable: return func(_a, _b, _c): pass").it()
    expect_errors("too few arguments", times=3)
    scheduler.add_behavior(wrong)
    physics_frames(4)
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 3


def test_a_behavior_may_remove_itself_and_free_its_scheduler(node, physics_frames):
    scheduler, ran = node("AIScheduler", budget=1.0), []

    def last(elapsed):
        ran.append("last")
        scheduler.free()

    scheduler.add_behavior(last)
    scheduler.add_behavior(lambda elapsed: ran.append("after"))
    physics_frames(2)
    assert ran[0] == "last"
    assert not scheduler.is_valid()


def test_every_policy_runs_what_it_is_told(node, physics_frames):
    for policy in range(4):
        scheduler, heard = node("AIScheduler", budget=0.0, policy=policy), []
        scheduler.add_behavior(heard.append, 2)
        physics_frames(4)
        assert len(heard) == 2, scheduler.get_stats()["policy"]
        scheduler.free()


def test_a_target_rate_makes_the_budget_a_share_of_its_frames(node):
    scheduler = node("AIScheduler", target_rate=60)
    assert scheduler.budget == pytest.approx(2500)
    scheduler.ai_share = 0.3
    assert scheduler.budget == pytest.approx(5000)
    scheduler.target_rate = 1
    scheduler.custom_rate = 120.0
    assert scheduler.get_stats()["budget_us"] == pytest.approx(2500)
    scheduler.target_rate = 0
    scheduler.budget = 700.0
    assert scheduler.budget == 700


def test_a_target_rate_survives_a_budget_set_later(node):
    scheduler = node("AIScheduler", target_rate=90, budget=1.0)
    assert scheduler.budget == pytest.approx(1e6 / 90 * 0.15)


def test_changed_settings_keep_the_record_of_a_behavior(recorder, scheduler, physics_frames):
    number = recorder.call("add_to", scheduler, 1)
    physics_frames(3)
    scheduler.set_behavior_period(number, 4)
    scheduler.set_behavior_phase(number, 2)
    scheduler.set_behavior_priority(number, 7.0)
    physics_frames(8)
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["period_frames"], row["phase_frames"], row["priority"], row["runs"]) == (4, 2, 7.0, 5)
    scheduler.set_behavior_phase(number)
    scheduler.set_behavior_period(number, 3)
    physics_frames(6)
    assert scheduler.get_stats()["behaviors"][0]["runs"] == 7


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [("set_behavior_period", (1, 0), "period_frames must be at least 1, got 0"),
     ("set_behavior_phase", (1, -2), "phase_frames must be at least 0, got -2"),
     ("set_behavior_priority", (1, math.nan), "priority must be"),
     ("set_behavior_period", (5, 2), "unknown behavior id 5"),
     ("request_time", (1, 10.0), "needs the policy requested time")],
)
def test_a_wrong_change_is_one_clear_error_and_changes_nothing(scheduler, expect_errors, name, arguments, message):
    scheduler.add_behavior(lambda elapsed: None, 5)
    before = scheduler.get_stats()["behaviors"]
    expect_errors(message, times=1)
    scheduler.call(name, *arguments)
    assert scheduler.get_stats()["behaviors"] == before


def test_rephasing_lowers_the_busiest_frame_deterministically(node, physics_frames):
    phases = []
    for _ in range(2):
        scheduler = node("AIScheduler", budget=0.0)
        for period in (12, 4, 12, 3, 6, 8, 2):
            scheduler.add_behavior(lambda elapsed: sum(range(2000)), period)
        physics_frames(5)
        before = scheduler.get_phase_quality()["runs"]["maximum"]
        scheduler.rephase()
        after = scheduler.get_phase_quality()["runs"]["maximum"]
        assert after <= before
        phases.append([row["phase_frames"] for row in scheduler.get_stats()["behaviors"]])
        scheduler.free()
    assert phases[0] == phases[1]


def test_rephasing_by_cost_moves_apart_what_takes_long(node, physics_frames):
    scheduler = node("AIScheduler", budget=0.0, automatic_phasing=True)
    for period in (2, 2, 2, 4):
        scheduler.add_behavior(lambda elapsed: None, period)
    physics_frames(8)
    assert scheduler.rephase(True) >= 0
    assert scheduler.get_phase_quality()["cost_us"]["mean"] > 0


def test_phase_quality_says_when_phasing_cannot_help(scheduler):
    for period in (2, 3, 5, 7, 11):
        scheduler.add_behavior(lambda elapsed: None, period)
    quality = scheduler.get_phase_quality()
    assert (quality["is_exact"], quality["frames"], quality["frames_with"][5]) == (True, 2310, 1)
    assert not quality["can_phasing_help"]
    assert "Phasing cannot help" in quality["advice"]
    assert quality["advice"] in quality["text"]


def test_phase_quality_of_a_long_cycle_is_of_a_sample(scheduler):
    for period in (7, 11, 13, 17, 19, 23):
        scheduler.add_behavior(lambda elapsed: None, period)
    quality = scheduler.get_phase_quality()
    assert not quality["is_exact"]
    assert quality["text"].startswith("100000 frames from 0, a sample")


def test_without_automatic_phasing_all_stand_on_phase_0(node):
    scheduler = node("AIScheduler", automatic_phasing=False)
    for _ in range(3):
        scheduler.add_behavior(lambda elapsed: None, 10)
    assert [row["phase_frames"] for row in scheduler.get_stats()["behaviors"]] == [0, 0, 0]


def test_a_look_ahead_chooses_the_textbooks_dry_run(node, expect_errors):
    scheduler = node("AIScheduler", look_ahead=10)
    for _ in range(3):
        scheduler.add_behavior(lambda elapsed: None, 10)
    assert [row["phase_frames"] for row in scheduler.get_stats()["behaviors"]] == [0, 9, 8]
    expect_errors("look_ahead: cannot change after behaviors were added", times=1)
    scheduler.call("set_look_ahead", 20)
    assert scheduler.look_ahead == 10


def test_work_that_asks_for_time_waits_until_it_is_there(node, physics_frames):
    scheduler = node("AIScheduler", policy=3, budget=1000.0)
    first = scheduler.add_behavior(lambda elapsed: None)
    second = scheduler.add_behavior(lambda elapsed: None)
    scheduler.request_time(first, 900.0)
    scheduler.request_time(second, 900.0)
    assert scheduler.get_longest_wait(second) == 2
    physics_frames(6)
    assert {row["runs"] for row in scheduler.get_stats()["behaviors"]} <= {2, 3, 4, 5, 6}
    scheduler.request_time(first, -1.0)
    assert scheduler._task(first)._request == -1


def test_stats_report_overruns_and_who_caused_them(node, physics_frames):
    scheduler = node("AIScheduler", budget=50.0)

    def slow(elapsed):
        for _ in range(20_000):
            pass

    scheduler.add_behavior(slow, 1, -1, 1.0, "slow")
    physics_frames(4)
    stats = scheduler.get_stats()
    assert stats["frames_over"] >= 3
    offenders = {row["name"]: row for row in stats["offenders"]}        # a frame the machine interrupts has another
    assert offenders["slow"]["frames_over"] >= 2
    assert offenders["slow"]["used_us_max"] > 50
    assert stats["recent_used_us_max"] > 50
    heading, _, line = scheduler.get_stats_table().splitlines()
    assert heading.split()[0] == "path"
    assert line.split()[0] == "slow"


def test_a_phase_that_is_none_is_told_what_gdscript_may_write(recorder, scheduler, gdscript, expect_errors):
    caller = gdscript("""
        extends Node
        func add(scheduler: AIScheduler) -> void: scheduler.add_behavior(think, 2, -7)
        func change(scheduler: AIScheduler, id: int) -> void: scheduler.set_behavior_phase(id, -7)
        func think(_elapsed_s: float) -> void: pass
    """).new()
    scheduler.add_child(caller)
    expect_errors("phase_frames must be at least 0, got -7; use -1 for an automatic phase", times=2)
    caller.call("add", scheduler)
    caller.call("change", scheduler, recorder.call("add_to", scheduler, 3))
    assert len(scheduler.get_stats()["behaviors"]) == 1


def test_what_a_nodes_work_refuses_names_whose_work_it_was(node, scheduler, gdscript, physics_frames, expect_errors):
    actor = gdscript("extends Node\nfunc go(_elapsed_s: float) -> int: return 0").new()
    node("Node").add_child(actor)
    tree, habit = construct("HabitTree"), construct("Habit")
    tree.set("name", "Brain")
    habit.set("name", "go")
    habit.set("tick_method", StringName("go"))
    tree.set("actor", actor.get_path())
    tree.add_child(habit)
    scheduler.add_child(tree)
    physics_frames(2)
    actor.free()
    expect_errors("Brain: tick of Brain/go': actor '", times=3)
    physics_frames(5)


def test_budget_too_large_for_the_clock_is_refused(scheduler, physics_frames, expect_errors):
    scheduler.add_behavior(lambda elapsed_s: None)
    expect_errors("budget must be between 0 and 1e+09", times=1)
    scheduler.set("budget", 1e300)
    physics_frames(2)
    assert scheduler.budget < 1e300
