"""The verdict of the soak on the reports of its scene."""
from __future__ import annotations

import pytest

from tools.soak import failures, progress, verdict

FRAMES = 8000


def reports(**changes):
    """Reports of a run in which everything held, with values of the last changed."""
    made = [
        {"frame": frame, "failures": [], "noticed": frame // 10, "longest_s": 0.3, "most_waiting": 1700,
         "merged": 2 * frame, "dropped": 0, "p50_us": 1900.0, "p99_us": 2100.0, "resident_kb": 200_000,
         "objects": 1800, "empty_call_ns": 20.0}
        for frame in range(1000, FRAMES + 1, 1000)]
    made[-1].update(changes)
    return made


def test_run_in_which_everything_held_has_no_failures():
    assert failures(reports(), FRAMES) == []
    assert "p99 2100 us, limit 2200 us met; 800 noticed" in verdict(reports())
    assert progress(reports()[0]).startswith("frame   1,000  p50  1900 us")


def test_limit_is_scaled_by_the_speed_of_the_machine():
    slow = [{**one, "empty_call_ns": 66.0, "p99_us": 4500.0} for one in reports()]
    assert "limit 4400 us MISSED" in verdict(slow)


@pytest.mark.parametrize(("changes", "failure"), [
    ({"failures": ["frame 7: sensor 3 has not noticed the visitor"]}, "sensor 3"),
    ({"resident_kb": 203_000}, "memory grew by 3000 kB"),
    ({"objects": 1801}, "objects grew from 1800 to 1801"),
    ({"noticed": 0}, "no sensor noticed"),
    ({"most_waiting": 9000}, "the queue grew from 1700 to 9000"),
    ({"merged": 100}, "no sound was merged"),
    ({"frame": 6000}, "the last report is of frame 6000 of 8000"),
])
def test_what_did_not_hold_is_named(changes, failure):
    found = failures(reports(**changes), FRAMES)
    assert len(found) == 1
    assert failure in found[0]


def test_memory_of_more_waiting_signals_is_no_leak():
    assert failures(reports(resident_kb=203_000, most_waiting=3300), FRAMES) == []
    assert "more than 3168" in failures(reports(resident_kb=203_300, most_waiting=3300), FRAMES)[0]


def test_run_without_a_report_has_failed():
    assert failures([], FRAMES) == ["the last report is of frame 0 of 8000"]
