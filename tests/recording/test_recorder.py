"""A recorder is told apart from what it cannot use, and from one that is closed."""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.recording import Recorder, read_recording
from ai_core.trace import Trace


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"write": []}, "write must be a callable"), ({"clock": 7}, "clock must have a 'now'"),
     ({"trace": print}, "trace must be a Trace"), ({"parts": ["bob"]}, "parts must be a mapping")],
)
def test_a_recorder_names_the_argument_that_is_wrong(wrong, why):
    arguments = {"write": [].append, "clock": ManualClock(), "trace": Trace(), "parts": {}, **wrong}
    with pytest.raises(TypeError, match=why):
        Recorder(arguments.pop("write"), **arguments)


def test_a_frame_cannot_end_after_the_recorder_was_closed():
    recorder = Recorder([].append, clock=ManualClock(), trace=Trace(), parts={})
    recorder.begin_frame(Budget.of_steps(1))
    recorder.close()
    with pytest.raises(RuntimeError, match="the recorder is closed"):
        recorder.end_frame()


@pytest.mark.parametrize("seed", [-(2**63), 2**64 - 1, 2**128 - 1])
def test_whatever_worlds_are_seeded_with_is_recorded(seed):
    lines = []
    Recorder(lines.append, clock=ManualClock(), trace=Trace(), parts={}, seed=seed).close()
    assert read_recording(lines).header.seed == seed


@pytest.mark.parametrize(("budget", "is_timed"), [
    (Budget.of_time(500, lambda: 0), False), (Budget.of_steps(5), True), (Budget.unlimited(), True)])
def test_a_budget_of_the_other_kind_is_refused_with_the_remedy(budget, is_timed):
    recorder = Recorder([].append, clock=ManualClock(), trace=Trace(), parts={}, is_timed=is_timed)
    with pytest.raises(ValueError, match=f"budget must match is_timed={is_timed}, .*; pass is_timed={not is_timed} to"):
        recorder.begin_frame(budget)
