"""The last frames of a scheduler, for people."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling import FrameTimeline, Scheduler
from ai_core.scheduling.statistics import MOST_FRAMES, MOST_RUNS
from ai_core.trace import Trace
from tests.scheduling.makers import frequency, load_balancing


class Stopwatch:
    """Time in ns that work itself makes pass."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def takes(self, us):
        def work(turn):
            self.now_ns += us * 1000
        return work


def world(kind=frequency, budget_us=100.0):
    stopwatch, clock, trace = Stopwatch(), ManualClock(), Trace()
    scheduler = kind(clock, trace=trace, stopwatch=stopwatch)
    timeline = FrameTimeline(lambda: budget_us)
    return stopwatch, clock, trace, scheduler, timeline


def run(scheduler, clock, frames):
    for _ in range(frames):
        scheduler.advance(Budget.unlimited())
        clock.advance()


def test_each_frame_names_its_runs_and_what_exceeded_the_budget():
    stopwatch, clock, trace, scheduler, timeline = world()
    trace.listen(timeline)
    scheduler.add(stopwatch.takes(60), name="senses")
    scheduler.add(stopwatch.takes(50), name="paths", period_frames=2, phase_frames=0)
    run(scheduler, clock, 2)
    first, second = timeline.since(-1)
    assert [(one.name, one.depth, one.begins_us, one.used_us) for one in first.runs] == [
        ("senses", 0, 0.0, 60.0), ("paths", 0, 60.0, 50.0)]
    assert (first.frame, first.budget_us, first.used_us, first.overran) == (0, 100.0, 110.0, "paths")
    assert [one.name for one in second.runs] == ["senses"]
    assert second.overran == ""
    assert timeline.since(0) == [second]
    assert timeline.since(1) == []


def test_work_inside_work_lies_below_it():
    stopwatch, clock, trace, scheduler, timeline = world(load_balancing)
    trace.listen(timeline)
    inner = Scheduler(clock, trace=trace, stopwatch=stopwatch)
    inner.add(stopwatch.takes(10), name="see")
    inner.add(stopwatch.takes(20), name="think")
    scheduler.add(inner, name="guards")
    scheduler.add(stopwatch.takes(5), name="radio")
    run(scheduler, clock, 1)
    (frame,) = timeline.since(-1)
    runs = {one.name.rsplit("/")[-1]: (one.depth, one.begins_us, one.used_us) for one in frame.runs}
    assert runs["see"] == (1, 0.0, 10.0)
    assert runs["think"] == (1, 10.0, 20.0)
    assert runs["guards"] == (0, 0.0, 30.0)
    assert runs["radio"] == (0, 30.0, 5.0)
    assert frame.used_us == 35.0


def test_an_unlimited_budget_is_never_overrun():
    stopwatch, clock, trace, scheduler, timeline = world(budget_us=0.0)
    trace.listen(timeline)
    scheduler.add(stopwatch.takes(10_000), name="slow")
    run(scheduler, clock, 1)
    assert timeline.since(-1)[0].overran == ""


def test_only_the_latest_frames_and_the_first_runs_are_kept():
    stopwatch, clock, trace, scheduler, timeline = world()
    trace.listen(timeline)
    for number in range(MOST_RUNS + 3):
        scheduler.add(stopwatch.takes(1), name=str(number))
    run(scheduler, clock, MOST_FRAMES + 7)
    kept = timeline.since(-1)
    assert [one.frame for one in kept] == [*range(7, MOST_FRAMES + 7)]
    assert {(len(one.runs), one.left_out, one.used_us) for one in kept} == {(MOST_RUNS, 3, MOST_RUNS + 3.0)}


def test_observer_added_during_work_sees_what_begins_later():
    stopwatch, clock, trace, scheduler, timeline = world()
    scheduler.add(lambda turn: trace.listen(timeline) if turn.now.frame == 0 else None, name="opens the tab")
    scheduler.add(stopwatch.takes(7), name="late")
    run(scheduler, clock, 1)
    names = [one.name for frame in timeline.since(-1) for one in frame.runs]
    assert names in ([], ["late"])
    run(scheduler, clock, 1)
    assert [one.name for one in timeline.since(0)[0].runs] == ["opens the tab", "late"]


def test_after_loading_an_earlier_save_it_shows_frames_since():
    stopwatch, clock, trace, scheduler, timeline = world()
    trace.listen(timeline)
    scheduler.add(stopwatch.takes(10), name="senses")
    run(scheduler, clock, 5)
    go_back = clock.prepare_state(clock.save_state()), scheduler.prepare_state(scheduler.save_state())
    run(scheduler, clock, 15)
    assert [one.frame for one in timeline.since(-1)] == list(range(20))
    for change in go_back:
        change()
    run(scheduler, clock, 2)
    assert [one.frame for one in timeline.since(19)] == [5, 6]
    assert [one.frame for one in timeline.since(5)] == [6]
    assert timeline.since(6) == []
