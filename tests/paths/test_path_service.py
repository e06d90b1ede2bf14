"""Paths by ticket: shared, in turns, and nothing is lost."""
from __future__ import annotations

import itertools
import json
import math
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.maps.grid import Grid
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.trace import Trace
from tests.paths.levels import grids, plain_costs


@pytest.fixture
def clock():
    return ManualClock()


def service_on(cells, clock, **settings):
    grid = Grid(cells)
    return grid, PathService(GridPathProvider(grid.passage()), clock, **settings)


def finished(service, clock, steps=None):
    while not service.is_idle:
        service.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
        clock.advance()


def test_a_ticket_is_given_at_once_and_the_way_later(clock):
    grid, service = service_on(np.ones((9, 9)), clock)
    ticket = service.request_path(grid.cell(0, 0), grid.cell(0, 8))
    assert (ticket.state, service.check_path(ticket)) == ("waiting", None)
    service.advance(Budget.unlimited())
    assert ticket.state == "found"
    assert service.check_path(ticket).cost == 8


def test_a_thousand_tickets_for_ten_ways_cause_ten_searches(clock):
    grid, service = service_on(np.ones((30, 30)), clock)
    tickets = [service.request_path(0, grid.cell(29, number % 10)) for number in range(1000)]
    finished(service, clock, steps=200)
    later = [service.request_path(0, grid.cell(29, number % 10)) for number in range(100)]
    assert service.statistics()["searches"] == 10
    assert service.statistics()["shared"] == 1090
    assert all(ticket.path.end == ticket.goal for ticket in [*tickets, *later])
    assert [ticket.is_shared for ticket in tickets[:11]] == [False] * 10 + [True]


@given(
    grid=grids(), steps=st.integers(1, 50),
    ends=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63), st.sampled_from([0.5, 1, 4])), max_size=12),
)
def test_every_ticket_gets_the_plain_search_result_in_any_slices(grid, steps, ends):
    passage, clock = grid.passage(), ManualClock()
    service = PathService(GridPathProvider(passage), clock, max_running=2)
    tickets = []
    for start, goal, priority in ends:
        size = passage.costs.size
        tickets.append(service.request_path(start % size, goal % size, priority=priority))
        service.advance(Budget.of_steps(steps))
        clock.advance()
    finished(service, clock, steps)
    for ticket in tickets:
        assert ticket.state == ticket.path.state in ("found", "none")
        free = passage.is_free(ticket.start)
        costs = plain_costs(passage, ticket.start) if free else {ticket.start: 0.0}
        expected = costs.get(ticket.goal, math.inf)
        found = ticket.path.cost if ticket.path.is_found else math.inf
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_long_search_does_not_hold_up_short_ones(clock):
    cells = np.ones((120, 120), bool)
    cells[::2, 1:] = False
    cells[2::4, 1:-1], cells[2::4, -1] = False, True  # a snake: hard for a search that looks to the goal
    grid, service = service_on(cells, clock)
    long = service.request_path(grid.cell(1, 60), grid.cell(119, 60))
    service.advance(Budget.of_steps(10))
    short = service.request_path(grid.cell(1, 5), grid.cell(1, 9))
    service.advance(Budget.of_steps(3000))
    assert short.state == "found"
    assert long.state == "running"


def test_priority_gives_more_turns_and_nobody_waits_for_ever(clock):
    grid, service = service_on(np.ones((60, 60)), clock, max_running=1)
    service.provider.prepare = lambda budget: None
    patient = service.request_path(0, grid.cell(59, 59), priority=0.01)
    for frame in range(2000):
        service.request_path(grid.cell(0, frame % 60), grid.cell(59, frame // 60), priority=1)
        service.advance(Budget.of_steps(80))
        clock.advance()
        if patient.is_done:
            break
    assert patient.state == "found"


def test_a_way_nearby_will_do_if_the_caller_says_so(clock):
    grid, service = service_on(np.ones((20, 20)), clock)
    first = service.request_path(grid.cell(0, 0), grid.cell(10, 10))
    near = service.request_path(grid.cell(1, 0), grid.cell(10, 11), tolerance=1.5)
    exact = service.request_path(grid.cell(1, 0), grid.cell(10, 11))
    finished(service, clock)
    assert (near.is_near, near.path) == (True, first.path)
    assert (exact.is_near, exact.path.cells[0]) == (False, grid.cell(1, 0))
    assert service.statistics()["searches"] == 2


def test_known_hopeless_requests_are_answered_without_a_search(clock):
    grid, service = service_on([[True, False, True]], clock)
    first = service.request_path(0, 2)
    finished(service, clock)
    assert first.path.state == "none"
    grid.set_cells([2], 5.0)
    service.advance(Budget.unlimited())
    searches = service.statistics()["searches"]
    again = service.request_path(0, 2)
    assert (again.state, again.path.state) == ("none", "none")
    assert service.statistics()["searches"] == searches


def test_ground_change_repeats_searches_but_not_for_old_tickets(clock):
    grid, service = service_on(np.ones((1, 5)), clock)
    before = service.request_path(0, 4)
    finished(service, clock)
    grid.set_cells([2], math.inf)
    after = service.request_path(0, 4)
    finished(service, clock)
    assert before.path.is_found
    assert not after.path.is_found


def test_ticket_keeps_its_path_and_unrequested_paths_are_dropped(clock):
    _, service = service_on(np.ones((3, 3)), clock, keep_frames=10)
    ticket = service.request_path(0, 8)
    finished(service, clock)
    for _ in range(20):
        clock.advance()
        service.advance(Budget.unlimited())
    assert service.check_path(ticket).is_found
    assert service.statistics()["kept"] == 0


def test_cancelled_request_ends_its_search_unless_others_wait(clock):
    grid, service = service_on(np.ones((50, 50)), clock)
    mine, theirs = (service.request_path(0, grid.cell(49, 49)) for _ in range(2))
    service.advance(Budget.of_steps(1))
    service.cancel(mine)
    assert mine.state == "cancelled"
    assert not service.is_idle
    service.cancel(theirs)
    assert service.is_idle
    service.cancel(theirs)
    last = service.request_path(0, grid.cell(49, 49))
    finished(service, clock)
    assert last.state == "found"
    assert mine.path is None


def test_above_the_limit_a_ticket_says_that_it_was_refused(clock):
    _, service = service_on(np.ones((3, 3)), clock, max_waiting=2)
    tickets = [service.request_path(0, goal) for goal in (1, 2, 3)]
    assert [ticket.state for ticket in tickets] == ["waiting", "waiting", "refused"]
    assert "2 other paths wait" in tickets[2].why
    finished(service, clock)
    assert service.request_path(0, 3).state == "waiting"


def test_a_search_that_raises_fails_its_tickets_and_no_other(clock):
    grid = Grid(np.ones((3, 3)))
    provider = GridPathProvider(grid.passage())
    begin = provider.begin
    provider.begin = lambda start, goal: begin(start, goal) if goal != 1 else 1 / 0
    faults = FaultIsolation()
    service = PathService(provider, clock, faults=faults)
    bad, good = service.request_path(0, 1), service.request_path(0, 2)
    finished(service, clock)
    assert (bad.state, bad.why) == ("failed", "ZeroDivisionError: division by zero")
    assert good.state == "found"


def test_who_listens_to_the_trace_is_told_of_each_ticket(clock):
    class Listener:
        def __init__(self):
            self.told = []

        def path_done(self, ticket, now):
            self.told.append((ticket.number, now.frame))

    trace, listener = Trace(), Listener()
    trace.listen(listener)
    _, service = service_on(np.ones((3, 3)), clock, trace=trace)
    for _ in range(2):
        service.request_path(0, 8)
    service.advance(Budget.unlimited())
    service.request_path(0, 8)
    assert listener.told == [(0, 0), (1, 0), (2, 0)]


def test_jumps_and_reachability_are_made_with_the_spare_budget(clock):
    cells = np.ones((64, 64), bool)
    cells[::8, 4:] = False
    grid, service = service_on(cells, clock)
    provider = service.provider
    frames = 0
    while not provider.is_prepared:
        service.advance(Budget.of_steps(40))
        frames += 1
    assert frames > 5
    walked = service.request_path(grid.cell(1, 60), grid.cell(63, 60))
    finished(service, clock)
    assert provider.jumps.is_worthwhile
    assert walked.path.expanded < 60
    grid.set_cells([grid.cell(1, 1)], False)
    assert not provider.is_prepared


def test_misuse_is_told(clock):
    grid, service = service_on(np.ones((3, 3)), clock)
    for arguments, error, says in (
        ({"start": 9, "goal": 0}, ValueError, "start must be at most 8, got 9"),
        ({"start": 0, "goal": 0.5}, TypeError, "goal must be an integer"),
        ({"start": 0, "goal": 1, "priority": 0}, ValueError, "priority must be"),
        ({"start": 0, "goal": 1, "priority": math.nan}, ValueError, "priority must be"),
        ({"start": 0, "goal": 1, "tolerance": -1}, ValueError, "tolerance must be"),
    ):
        with pytest.raises(error, match=says):
            service.request_path(**arguments)
    assert service.statistics()["requests"] == 0
    with pytest.raises(TypeError, match="ticket must be a PathTicket"):
        service.check_path(3)
    with pytest.raises(TypeError, match=r"provider must be a path provider, got .* without answer, begin"):
        PathService(grid.passage(), clock)
    with pytest.raises(TypeError, match="clock must have a 'now'"):
        PathService(GridPathProvider(grid.passage()), None)
    with pytest.raises(ValueError, match="max_running must be at least 1"):
        PathService(GridPathProvider(grid.passage()), clock, max_running=0)
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        GridPathProvider(grid)


def test_next_search_is_the_longest_waiting_by_its_priority(clock):
    done = []
    service = service_on(
        np.ones((3, 60)), clock, max_running=1, on_over=lambda ticket: done.append(ticket.number))[1]
    first = service.request_path(0, 10, priority=1.0)
    urgent = service.request_path(0, 11, priority=3.0)
    raised = service.request_path(0, 12, priority=0.5)
    dropped = service.request_path(0, 13, priority=8.0)
    lowered = service.request_path(0, 13, priority=0.25)
    also = service.request_path(0, 12, priority=5.0)
    service.cancel(dropped)
    service.advance(Budget.unlimited())
    assert done == [ticket.number for ticket in (raised, also, urgent, first, lowered)]


def test_waiting_for_a_turn_that_may_not_be_begun_ends_the_frame(clock):
    grid = Grid(np.ones((4, 4)))
    provider = GridPathProvider(grid.passage())
    service = PathService(provider, clock)
    ticket = service.request_path(0, 3)
    provider.fits = lambda budget: False
    service.advance(Budget.unlimited())
    assert ticket.state == "running"
    provider.fits = lambda budget: True
    service.advance(Budget.unlimited())
    assert ticket.state == "found"


@pytest.mark.parametrize("is_reraised", [False, True])
def test_raising_path_listener_withholds_the_path_from_nobody(clock, is_reraised):
    reports, told = [], []

    def hear(ticket):
        told.append(ticket.number)
        if ticket.number == 0:
            raise ValueError("on purpose")

    faults = FaultIsolation(report=reports.append, reraise=is_reraised)
    service = PathService(GridPathProvider(Grid(np.ones((3, 3))).passage()), clock, on_over=hear, faults=faults)
    tickets = [service.request_path(0, 5) for _ in range(3)]
    with pytest.raises(ValueError, match="on purpose") if is_reraised else nullcontext():
        service.advance(Budget.unlimited())
    assert [one.state for one in tickets] == ["found"] * 3
    assert is_reraised or (told == [0, 1, 2] and [one.name for one in reports] == ["callback for ticket 0"])


def test_each_finished_ticket_notifies_once_and_cancelled_do_not(clock):
    grid = Grid(np.ones((4, 4)))
    over = []
    service = PathService(GridPathProvider(grid.passage()), clock, max_waiting=2,
        on_over=lambda one: over.append(one.state))
    service.request_path(0, 3)
    service.cancel(service.request_path(0, 4))
    service.request_path(0, 5)
    service.request_path(0, 6)
    assert over == ["refused"]
    service.advance(Budget.unlimited())
    service.request_path(0, 3)
    assert over == ["refused", "found", "found", "found"]


def test_long_paths_over_mixed_ground_use_regions_once_made(clock):
    cells = np.ones((128, 128))
    cells[60:64, :120] = math.inf
    cells[::9, ::7] = 3.0
    grid = Grid(cells)
    provider = GridPathProvider(grid.passage(), regions=True)
    service = PathService(provider, clock)
    before = service.request_path(grid.cell(1, 1), grid.cell(126, 1))
    finished(service, clock)
    while not provider.is_prepared:
        service.advance(Budget.of_steps(50))
    after, short = (service.request_path(grid.cell(2, 1), grid.cell(*goal)) for goal in ((126, 1), (8, 8)))
    finished(service, clock)
    assert before.path.bound == short.path.bound == 1
    assert before.path.cost - 1 <= after.path.cost <= 1.1 * before.path.cost
    assert after.path.cost <= after.path.bound * before.path.cost
    assert 5 * after.path.expanded < before.path.expanded
    grid.set_cells([grid.cell(5, 5)], False)
    assert not provider.is_prepared


@given(grid=grids(), ends=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63)), min_size=1, max_size=6),
       change=st.integers(0, 63), steps=st.integers(1, 40))
def test_region_paths_stay_within_their_bound_after_a_change(grid, ends, change, steps):
    passage, clock = grid.passage(), ManualClock()
    if not RegionGraph.suits(passage):
        return
    provider, size = GridPathProvider(passage, partial=True), passage.costs.size
    provider.regions = RegionGraph(passage, side=4, stretch=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ai_core.paths.grid_path_provider.LONG_PATH", 0)
        service = PathService(provider, clock)
        for _ in range(2):
            while not provider.is_prepared:
                service.advance(Budget.of_steps(steps))
            tickets = [service.request_path(start % size, goal % size) for start, goal in ends]
            finished(service, clock, steps)
            for ticket in tickets:
                least = plain_costs(passage, ticket.start).get(ticket.goal, math.inf)
                assert ticket.path.is_found == (least < math.inf)
                if ticket.path.is_found:
                    assert least * (1 - 1e-9) <= ticket.path.cost <= ticket.path.bound * least * (1 + 1e-9)
            grid.set_cells([change % size], not passage.is_free(change % size))


def test_with_a_hundred_requests_the_jumps_are_made_meanwhile(clock):
    grid = Grid(np.ones((64, 64), np.bool_), neighbors=8)
    provider = GridPathProvider(grid.passage())
    service = PathService(provider, clock)
    tickets = [service.request_path(grid.cell(0, row % 64), grid.cell(63, row * 7 % 64)) for row in range(100)]
    frames = 0
    while not provider.is_prepared:
        service.advance(Budget.of_steps(64))
        clock.advance()
        frames += 1
    assert frames < 40                          # 576 lines and 64 rows, 16 of them in a frame at least
    assert any(one.is_done for one in tickets)
    assert not service.is_idle


def test_searches_and_preparation_take_turns_without_time_left(clock):
    grid = Grid(np.ones((64, 64), np.bool_), neighbors=8)
    provider = GridPathProvider(grid.passage())
    service, worked, prepare = PathService(provider, clock), [], provider.prepare
    provider.prepare = lambda budget: (worked.append("prepared"), prepare(budget))
    tickets = [service.request_path(grid.cell(0, row), grid.cell(63, 63 - row)) for row in range(64)]
    reads = itertools.count(0, 10_000)          # each look finds 10 µs gone
    for _ in range(20):
        before, number = sum(one.is_done for one in tickets), len(worked)
        service.advance(Budget.of_time(0, lambda: next(reads)))
        assert (sum(one.is_done for one in tickets) > before) + (len(worked) > number) <= 1
        clock.advance()
    assert worked == ["prepared"] * 10
    assert any(one.state != "waiting" for one in tickets)
    loaded = PathService(GridPathProvider(grid.passage()), clock)
    loaded.prepare_state(json.loads(json.dumps(service.save_state())))()
    assert loaded.save_state()["prepares_first"] == service.save_state()["prepares_first"]


def test_any_number_of_priorities_starts_in_few_comparisons(clock):
    _, service = service_on(np.ones((40, 40)), clock, max_running=1)
    for number in range(1000):
        service.request_path(number, 1599, priority=1 + number / 1000)
    assert len(service._jobs._queues) == 4
    service.request_path(1001, 1599, priority=3.0)
    first = service._jobs.next_waiting(clock.now.frame)
    assert (first.start, first.priority) == (1001, 3.0)
    finished(service, clock, steps=5000)
    assert service.statistics()["found"] == 1001


def test_requests_that_are_cancelled_leave_nothing_behind(clock):
    _, service = service_on(np.ones((9, 9)), clock)
    kept = service.request_path(0, 80)
    for number in range(2000):
        service.cancel(service.request_path(number % 80, 80, priority=1 + number % 7))
    assert service._jobs._queued == sum(map(len, service._jobs._queues.values())) < 200
    finished(service, clock)
    assert kept.state == "found"


def test_a_ticket_of_another_service_is_refused(clock):
    (_, one), (_, other) = (service_on(np.ones((9, 9)), clock) for _ in range(2))
    tickets = [service.request_improving_path(0, 80) for service in (one, other)]
    for use in (one.cancel, lambda ticket: one.move_start(ticket, 1)):
        with pytest.raises(ValueError, match="ticket must be one of this service"):
            use(tickets[1])
    finished(one, clock)
    finished(other, clock)
    assert [ticket.state for ticket in tickets] == ["found", "found"]
    one.cancel(tickets[1])


def test_requests_end_although_the_ground_changes_all_the_time():
    clock, cells, n = ManualClock(), np.ones((40, 40)), 40
    for row in range(3, n, 4):
        cells[row] = np.inf
        cells[row, 1 if row // 4 % 2 else n - 2] = 1
    grid = Grid(cells, neighbors=4)
    service = PathService(GridPathProvider(grid.passage()), clock)
    long = [service.request_path(cell, (n - 2) * n + 5 + cell) for cell in range(4)]
    short = [service.request_path(50 + cell, 60 + cell) for cell in range(3)]
    for frame in range(300):
        clock.advance()
        grid.set_cells([(n - 1) * n + n // 2], frame % 2 == 0)
        service.advance(Budget.of_steps(100))
        if frame == 20:
            assert [ticket.state for ticket in short] == ["found"] * 3
    assert [ticket.state for ticket in long] == ["found"] * 4
    assert all(ticket.path.bound == 1 for ticket in long)


def test_loading_inside_a_callback_is_refused():
    raised = []

    def load(_ticket):
        for change in (lambda: service.prepare_state(state), service.save_state):
            with pytest.raises(RuntimeError, match="save and load outside of it"):
                change()
            raised.append(change)

    service = PathService(GridPathProvider(Grid(np.ones((3, 3))).passage()), ManualClock(), on_over=load)
    state = service.save_state()
    service.request_path(0, 8)
    service.advance(Budget.unlimited())
    assert len(raised) == 2
    service.prepare_state(state)()
