"""What all tests of the core share: a clock and a stopwatch moved by hand."""
from __future__ import annotations

import gc

import pytest
from hypothesis import settings

from ai_core.clock import ManualClock

# The same examples on every run, few enough for a test to end in a quarter of
# a second; no deadline for a single one, as machines are shared.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Exempt what was collected from garbage collection: each collection would visit ten thousand tests."""
    gc.collect()
    gc.freeze()


class HandStopwatch:
    """A stopwatch on which time passes only when a test says so."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns

    def passes(self, us: float) -> None:
        self.ns += round(us * 1000)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(seconds_per_frame=0.1)


@pytest.fixture
def stopwatch() -> HandStopwatch:
    return HandStopwatch()
