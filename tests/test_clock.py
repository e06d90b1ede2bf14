"""The clock: what time is it, and who may move it?"""
from __future__ import annotations

import pytest

from ai_core.clock import ManualClock
from ai_core.saving.fields import StateError


def test_time_starts_at_frame_zero():
    assert ManualClock().now == (0, 0.0)


def test_a_million_frames_of_a_tenth_of_a_second_do_not_drift():
    clock = ManualClock(seconds_per_frame=0.1)
    for _ in range(1000):
        clock.advance(1000)
    assert clock.now == (1_000_000, 100_000.0)


def test_a_frame_may_last_as_long_as_it_did():
    clock = ManualClock(seconds_per_frame=0.5)
    clock.advance(2)
    clock.advance(seconds=0.25)
    assert clock.now == (3, 1.25)
    assert clock.advance(2) == (5, 2.25)


@pytest.mark.parametrize("step", [{"frames": -1}, {"seconds": -0.1}])
def test_time_does_not_go_back(step):
    clock = ManualClock()
    with pytest.raises(ValueError, match="time does not go back"):
        clock.advance(**step)
    assert clock.now == (0, 0.0)


@pytest.mark.parametrize("step", [{"seconds": 1e12}, {"frames": 2**53 - 1, "seconds": 0.0}])
def test_a_clock_does_not_come_to_a_moment_that_no_save_holds(step):
    clock = ManualClock()
    last = clock.advance(**step)
    for beyond in (step, {"frames": 2**53 - 1}):
        with pytest.raises(ValueError, match=r"exceed 9007199254740991 frames or 1e\+12 s"):
            clock.advance(**beyond)
        assert clock.now == last
    ManualClock().prepare_state(clock.save_state())


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_frame_must_last(seconds):
    with pytest.raises(ValueError, match="seconds_per_frame must be"):
        ManualClock(seconds_per_frame=seconds)


def test_a_loaded_clock_goes_on_without_drift():
    clock, other = ManualClock(seconds_per_frame=0.1), ManualClock(seconds_per_frame=0.1)
    clock.advance(seconds=0.03)
    clock.advance(7)
    other.advance(100)
    other.prepare_state(clock.save_state())()
    assert other.advance(1000) == clock.advance(1000)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"now": [1.5, 0.0]}, r"'now\[0\]' must be an integer"), ({"now": [1]}, "'now' must be a list of 2"),
     ({"now": [1, float("nan")]}, r"'now\[1\]' must be a finite number"), ({"version": 2}, "'version' is 2"),
     ({"steady_since": [0, 9.0]}, "'steady_since' must not be after now"),
     ({"steady_since": [9, 0.0]}, "'steady_since' must not be after now")],
)
def test_a_moment_that_cannot_be_is_refused(change, message):
    clock = ManualClock(0.5)
    clock.advance(2)
    with pytest.raises(StateError, match=message):
        clock.prepare_state({**clock.save_state(), **change})
    assert clock.now == (2, 1.0)
