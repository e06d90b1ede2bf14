"""Quality of service: the budget of a frame, frames kept, and overruns by name."""
from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.scheduling import statistics
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import UNNAMED, Overrun, QualityOfService


@pytest.fixture
def service():
    return QualityOfService(target_hz=100, ai_share=0.1)  # 1,000 µs a frame


def frame(service, stopwatch, used_us, *overruns):
    """A frame of so many µs, in which names were told with what they used."""
    budget = Budget.of_time(service.budget_us, stopwatch)
    for name, task_us in overruns:
        service.on_overrun(Overrun(name, 0, TimeIndex(0, 0.0), 1.0, task_us, 1.0))
    stopwatch.passes(used_us)
    service.note(budget.used, budget.over)


def test_the_budget_is_ais_share_of_a_frame_at_the_target_rate():
    budgets = [round(QualityOfService(target_hz=hz, ai_share=0.15).budget_us) for hz in (30, 60, 90)]
    assert budgets == [5000, 2500, 1667]


def test_frames_are_kept_or_over_and_the_costs_are_seen_rolling(service, stopwatch):
    for used_us in [*range(10, 1000, 10), 1500]:
        frame(service, stopwatch, used_us)
    report = service.report()
    assert [report[name] for name in ("frames", "frames_kept", "frames_over")] == [100, 99, 1]
    assert [report[f"recent_used_us_{name}"] for name in ("p50", "p95", "max")] == [500, 950, 1500]
    assert (report["recent_over_us_p95"], report["recent_over_us_max"]) == (0, 500)


def test_exactly_used_budget_is_kept_and_slightly_more_is_not(service, stopwatch):
    frame(service, stopwatch, 1000)
    assert service.report()["frames_over"] == 0
    frame(service, stopwatch, 1000.5)
    report = service.report()
    assert (report["frames_over"], report["recent_frames_over"], report["recent_over_us_p95"]) == (1, 1, 0.5)
    assert [(row["frames_over"], row["over_us_max"]) for row in service.offenders()] == [(1, 0.5)]


def test_overruns_are_counted_by_name_the_worst_first(service, stopwatch):
    frame(service, stopwatch, 1100, ("paths", 400.0))
    frame(service, stopwatch, 1200, ("paths", 900.0))
    frame(service, stopwatch, 1500, ("senses", 700.0))
    frame(service, stopwatch, 1010)
    assert service.offenders() == [
        {"name": "senses", "frames_over": 1, "over_us_sum": 500, "over_us_max": 500, "used_us_max": 700},
        {"name": "paths", "frames_over": 2, "over_us_sum": 300, "over_us_max": 200, "used_us_max": 900},
        {"name": UNNAMED, "frames_over": 1, "over_us_sum": 10, "over_us_max": 10, "used_us_max": 0},
    ]
    assert service.report()["offenders"] == service.offenders()


def test_a_frame_is_counted_once_for_who_was_named_first(service, stopwatch):
    frame(service, stopwatch, 1100, ("inner", 400.0), ("outer", 500.0))
    assert [(row["name"], row["frames_over"]) for row in service.offenders()] == [("inner", 1)]


def test_old_frames_leave_the_rolling_view_and_stay_counted(stopwatch, monkeypatch):
    monkeypatch.setattr(statistics, "WINDOW_FRAMES", 3)
    service = QualityOfService(target_hz=100, ai_share=0.1)
    for used_us, name in ((5000, "loading"), (10, None), (20, None), (30, None)):
        frame(service, stopwatch, used_us, *([(name, 4000.0)] if name else []))
    report = service.report()
    assert (report["frames"], report["frames_over"], report["recent_frames"]) == (4, 1, 3)
    assert (report["recent_frames_over"], report["recent_used_us_max"], report["offenders"]) == (0, 30, [])


def test_before_the_first_frame_everything_is_nothing(service):
    report = service.report()
    assert {report[name] for name in report if name.startswith(("recent", "frames"))} == {0}
    assert report["offenders"] == []


def test_new_target_holds_from_the_next_frame_and_keeps_counts(service, stopwatch):
    frame(service, stopwatch, 1500)
    service.target_hz = 50
    frame(service, stopwatch, 1500)
    service.ai_share = 0.05
    assert service.report()["budget_us"] == service.budget_us == 1000
    assert (service.report()["frames"], service.report()["frames_over"]) == (2, 1)


def test_with_a_scheduler_the_work_that_overran_is_named(service, stopwatch, clock):
    scheduler = Scheduler(clock, on_overrun=service.on_overrun)
    scheduler.add(lambda turn: stopwatch.passes(300), name="senses")
    scheduler.add(lambda turn: stopwatch.passes(300 if clock.now.frame % 4 else 1500), name="paths")
    for _ in range(8):
        budget = Budget.of_time(service.budget_us, stopwatch)
        scheduler.advance(budget)
        service.note(budget.used, budget.over)
        clock.advance()
    assert [(row["name"], row["frames_over"], row["over_us_sum"]) for row in service.offenders()] == [
        ("paths", 2, 1600)
    ]
    assert service.report()["frames_kept"] == 6


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=40), st.integers(1, 20))
def test_the_view_agrees_with_counting_the_last_frames_by_hand(costs, window):
    class Watch:
        ns = 0

        def __call__(self):
            return self.ns

        def passes(self, us):
            self.ns += us * 1000

    with mock.patch.object(statistics, "WINDOW_FRAMES", window):
        service, watch = QualityOfService(target_hz=100, ai_share=0.1), Watch()
    for cost in costs:
        frame(service, watch, cost)
    recent, report = sorted(costs[-window:]), service.report()
    p95 = report["recent_used_us_p95"]
    within = sum(cost <= p95 for cost in recent)
    assert p95 in recent
    assert within * 100 >= 95 * len(recent)
    assert sum(cost < p95 for cost in recent) * 100 < 95 * len(recent)
    assert report["recent_frames_over"] == sum(cost > 1000 for cost in recent)
    assert report["frames_over"] == sum(cost > 1000 for cost in costs)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"target_hz": 0}, ValueError, "target_hz must be above 0, got 0"),
        ({"target_hz": -60}, ValueError, "target_hz must be above 0"),
        ({"target_hz": 1e9}, ValueError, "target_hz must be at most 1000"),
        ({"target_hz": float("nan")}, ValueError, "target_hz must be a finite number"),
        ({"target_hz": "60"}, TypeError, "target_hz must be a number, got '60'"),
        ({"ai_share": 0}, ValueError, "ai_share must be above 0"),
        ({"ai_share": 15}, ValueError, "ai_share must be at most 1, got 15; use 0.15 for 15 % of a frame"),
        ({"ai_share": True}, TypeError, "ai_share must be a number, got True"),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        QualityOfService(**{"target_hz": 60, "ai_share": 0.15, **settings})


@pytest.mark.parametrize(("name", "value", "text"), [
    ("target_hz", 0, "target_hz must be above 0"), ("target_hz", -5, "target_hz must be above 0"),
    ("ai_share", 7, "ai_share must be at most 1"), ("ai_share", 0, "ai_share must be above 0")])
def test_what_is_set_is_checked_and_refused_whole(name, value, text):
    service = QualityOfService(target_hz=60, ai_share=0.1)
    with pytest.raises(ValueError, match=text):
        setattr(service, name, value)
    assert service.budget_us == pytest.approx(1_000_000 / 60 * 0.1)
