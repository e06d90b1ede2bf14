"""Searches on threads: at once, within a frame, and with the ways they find without."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.maps.grid import Grid
from ai_core.paths import GridPathProvider, Path, PathService
from tests.paths.levels import grids


@pytest.fixture
def clock():
    return ManualClock()


def finished(service, clock, steps=None):
    while not service.is_idle:
        service.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
        clock.advance()


@given(grid=grids(), steps=st.integers(1, 5000), helpers=st.integers(1, 3),
       ends=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63)), max_size=8))
def test_on_threads_every_ticket_gets_the_way_it_gets_without(grid, steps, helpers, ends):
    passage, told = grid.passage(), []
    with ThreadPoolExecutor(2) as executor:
        for threads in (None, executor):
            clock = ManualClock()
            service = PathService(GridPathProvider(passage), clock, executor=threads, helpers=helpers)
            size = passage.costs.size
            tickets = [service.request_path(start % size, goal % size) for start, goal in ends]
            finished(service, clock, steps)
            told.append([(one.state, one.path.state, one.path.cost, one.path.cells.tolist()) for one in tickets])
            assert service.statistics()["searches"] == len({(one.start, one.goal) for one in tickets})
    assert told[0] == told[1]


class Thought:
    """A search that notes on which threads it ran."""

    threads: ClassVar = set()

    def __init__(self, turns, barrier=None):
        self.left, self.barrier, self.is_done = turns, barrier, False
        self.result = Path("found", np.zeros(1, np.int32), 0.0, 0)

    def advance(self, budget):
        Thought.threads.add(threading.get_ident())
        if self.left < 2 and self.barrier is not None:
            self.barrier.wait(timeout=10)
        self.left -= 1
        self.is_done = self.left <= 0
        budget.spend()

    def cancel(self):
        pass


class Thoughts(GridPathProvider):
    def __init__(self, passage, turns, barrier=None):
        super().__init__(passage)
        self.turns, self.barrier = turns, barrier

    def begin(self, start, goal):
        if goal == 7:
            return Broken(3)
        return Thought(self.turns, self.barrier)


class Broken(Thought):
    def advance(self, budget):
        super().advance(budget)
        if self.left < 2:
            raise OSError("lost")


def test_searches_that_outlast_their_first_turn_run_at_once(clock):
    passage, Thought.threads = Grid(np.ones((3, 3), bool)).passage(), set()
    with ThreadPoolExecutor(1) as executor:
        # Each waits in its second turn until the other is there, too: one after the other they never would.
        service = PathService(Thoughts(passage, 2, threading.Barrier(2)), clock, executor=executor)
        tickets = [service.request_path(0, goal) for goal in (1, 2)]
        finished(service, clock)
    assert [one.state for one in tickets] == ["found", "found"]
    assert len(Thought.threads) == 2


def test_after_the_shutdown_searches_run_on_the_calling_thread(clock):
    passage, Thought.threads = Grid(np.ones((3, 3), bool)).passage(), set()
    executor = ThreadPoolExecutor(1)
    service = PathService(Thoughts(passage, 20), clock, executor=executor)
    tickets = [service.request_path(0, goal) for goal in (1, 2)]
    executor.shutdown()
    finished(service, clock)
    assert [one.state for one in tickets] == ["found", "found"]
    assert Thought.threads == {threading.get_ident()}


def test_searches_that_end_in_their_first_turn_stay_off_threads(clock):
    passage, Thought.threads = Grid(np.ones((3, 3), bool)).passage(), set()
    with ThreadPoolExecutor(2) as executor:
        service = PathService(Thoughts(passage, 1), clock, executor=executor)
        for goal in range(9):
            service.request_path(0, goal)
        finished(service, clock)
    assert Thought.threads == {threading.get_ident()}


def test_between_two_frames_no_thread_runs_and_nothing_is_done(clock):
    cells = np.ones((200, 200), bool)
    cells[180, :-1] = False
    grid = Grid(cells)
    with ThreadPoolExecutor(1) as executor:
        service = PathService(GridPathProvider(grid.passage()), clock, executor=executor)
        tickets = [service.request_path(0, grid.cell(199, column)) for column in (0, 9)]
        service.advance(Budget.of_steps(3000))
        states = [one.state for one in tickets]
        executor.submit(int).result()  # whatever was handed over before is over
        assert [one.state for one in tickets] == states == ["running", "running"]
        grid.set_cells([grid.cell(180, 199)], False)
        finished(service, clock, 5000)
    assert [one.state for one in tickets] == ["none", "none"]


def test_raising_search_on_a_thread_fails_only_its_own_tickets(clock):
    passage, faults = Grid(np.ones((3, 3), bool)).passage(), FaultIsolation()
    with ThreadPoolExecutor(1) as executor:
        service = PathService(Thoughts(passage, 3), clock, executor=executor, faults=faults)
        good, broken = service.request_path(0, 1), service.request_path(0, 7)
        finished(service, clock)
    assert (good.state, broken.state, broken.why) == ("found", "failed", "OSError: lost")


def test_executor_is_refused_for_paths_not_allowed_on_threads(clock):
    class Elsewhere(GridPathProvider):
        run_on_threads = False

    passage = Grid(np.ones((3, 3), bool)).passage()
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="leave out executor"):
            PathService(Elsewhere(passage), clock, executor=executor)
        with pytest.raises(ValueError, match="helpers"):
            PathService(GridPathProvider(passage), clock, executor=executor, helpers=0)
    with pytest.raises(TypeError, match="executor"):
        PathService(GridPathProvider(passage), clock, executor=object())
