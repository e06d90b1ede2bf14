"""A squad: who commands, where it goes, who comes and goes."""
from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.loops import compiled
from ai_core.maps.grid import Grid
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.commander import toughest
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.routes import GridRoutes
from ai_core.squads.squad import Squad
from tests.squads.marching import march, marched, squad_of


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def told():
    return []


@pytest.fixture
def squad(clock, told):
    return squad_of(5, clock, on_event=lambda kind, squad, detail: told.append((kind, detail)))


def test_nearest_to_the_goal_commands_and_ties_go_to_smallest_id(squad, told):
    squad.move_to((100, 0))
    assert squad.commander == 4
    squad.move_to((0, 100))
    assert squad.commander == 0
    squad.move_to((2, 100))
    assert squad.commander == 2
    squad.set_positions([[0, 0]] * 5)
    squad.move_to((50, 0))
    assert squad.commander == 0
    assert [detail for kind, detail in told if kind == "commander_changed"][-4:] == [4, 0, 2, 0]


def test_one_path_is_asked_for_however_many_they_are(clock):
    squad = squad_of(30, clock)
    order = squad.move_to((20, 5))
    marched(squad, clock)
    assert order.state == "done"
    assert squad.statistics()["paths_requested"] == 1


def test_a_lost_commander_is_replaced_and_the_march_goes_on(squad, clock, told):
    order = squad.move_to((40, 0))
    march(squad, clock, seconds=6)
    anchor = squad.slot_positions()[0]
    assert 5 < anchor[0] < 35
    squad.remove(4)
    nearest = squad.member_ids[squad.positions[:, 0].argmax()]
    assert squad.commander == nearest
    assert told[-2:] == [("commander_changed", nearest), ("member_removed", 4)]
    marched(squad, clock)
    assert order.state == "done"
    assert squad.statistics()["paths_requested"] == 1
    assert squad.slot_of(squad.commander) == 0
    assert squad.positions[squad.row_of(squad.commander)].tolist() == pytest.approx([40, 0], abs=0.3)


@pytest.mark.parametrize("lost", range(5))
def test_who_is_lost_between_two_thoughts_stops_nobody(clock, lost):
    faults = FaultIsolation(reraise=True)
    squad = squad_of(5, clock, faults=faults)
    squad.move_to((40, 0))
    march(squad, clock, seconds=2)
    squad.remove(lost)
    squad.move_slots(0.1)
    assert len(np.unique(squad.destinations, axis=0)) == 4      # nobody shares a slot, and none is left out
    assert squad.needs_update
    squad.think()
    assert not squad.needs_update
    assert sorted(squad.marchers.slots.tolist()) == [0, 1, 2, 3]
    squad.hold()
    squad.remove(squad.member_ids.tolist()[0])
    squad.move_slots(0.1)
    assert not squad.velocities().any()


def test_an_appointed_commander_stays_until_lost(squad):
    squad.appoint(1)
    squad.move_to((100, 0))
    assert squad.commander == 1
    squad.remove(1)
    assert squad.commander == 4
    squad.appoint(0)
    squad.appoint(None)
    assert squad.commander == 4


def test_who_commands_may_be_chosen_by_a_rule_of_the_game(clock):
    squad = Squad("alpha", clock, choose_commander=toughest)
    for number in range(3):
        squad.add(number, (number, 0), capabilities=Capabilities(toughness=[5.0, 9.0, 9.0][number]))
    squad.move_to((5, 5))
    assert squad.commander == 1


def test_orders_end_done_failed_or_replaced(squad, clock, told):
    first = squad.move_to((10, 0))
    second = squad.move_to((0, 10))
    assert (first.state, second.state) == ("replaced", "waiting")
    squad.think()
    assert second.state == "marching"
    marched(squad, clock)
    assert second.state == "done"
    assert squad.is_idle
    assert told[-1] == ("order_done", second)
    assert squad.hold().state == "done"
    third = squad.follow([(0, 10), (10, 10), (10, 20)])
    marched(squad, clock)
    assert third.state == "done"
    assert squad.positions[squad.row_of(squad.commander)].tolist() == pytest.approx([10, 20], abs=0.3)


def test_a_squad_without_members_says_so(clock, told):
    squad = Squad("nobody", clock, on_event=lambda kind, squad, detail: told.append((kind, detail)))
    order = squad.move_to((1, 1))
    squad.think()
    squad.move_slots(0.1)
    assert (order.state, order.why) == ("failed", "the squad has no members")
    assert told == [("order_failed", order)]
    assert squad.centre is None
    assert squad.velocities().shape == (0, 2)


def test_it_forms_up_where_it_is_told_looking_there(squad, clock):
    squad.set_formation(Formation.line(2.0))
    squad.form_up((20, 20), heading=(0, -1))
    marched(squad, clock)
    assert squad.positions[:, 1] == pytest.approx(20, abs=0.3)
    assert sorted(np.round(squad.positions[:, 0]).tolist()) == [16, 18, 20, 22, 24]
    assert squad.heading.tolist() == [0, -1]


def test_hold_stops_everybody_where_he_is(squad, clock):
    squad.move_to((100, 0))
    march(squad, clock, seconds=3)
    before = squad.positions
    squad.hold()
    march(squad, clock, seconds=1)
    assert (squad.positions == before).all()


@pytest.mark.parametrize("steps", range(1, 12))
@pytest.mark.parametrize("order", ["hold", "dismiss"])
def test_a_paused_thought_does_not_outlive_its_path(clock, steps, order):
    squad = Squad("a", clock, faults=FaultIsolation(reraise=True))
    for number in range(5):
        squad.add(number, (number, 0))
    squad.move_to((20, 0))
    squad.think()
    squad.add(9, (3, 3))
    for _ in range(steps):
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    getattr(squad, order)()
    squad.think()
    squad.move_slots(0.1)
    assert not squad.velocities().any()


@pytest.mark.parametrize("seconds", [0, 3])
def test_dismissed_members_stop_and_are_bound_by_no_order(squad, clock, seconds):
    assert not squad.order.keeps_places
    order = squad.move_to((100, 0))
    march(squad, clock, seconds=seconds)
    before = squad.positions
    squad.dismiss()
    assert (order.state, squad.is_idle) == ("replaced", True)
    march(squad, clock, seconds=1)
    assert (order.state, squad.positions.tolist()) == ("replaced", before.tolist())
    squad.hold()
    assert squad.order.keeps_places
    squad.dismiss()
    assert not squad.order.keeps_places


def test_splitting_and_merging_keep_everybody_once(squad, clock, told):
    other = squad.split([1, 3], "beta")
    assert squad.member_ids.tolist() == [0, 2, 4]
    assert other.member_ids.tolist() == [1, 3]
    assert other.positions.tolist() == [[1, 0], [3, 0]]
    assert other.commander in (1, 3)
    other.move_to((3, 9))
    squad.move_to((0, -9))
    for _ in range(2):
        marched(squad, clock)
        marched(other, clock)
    assert other.order.state == squad.order.state == "done"
    squad.merge(other)
    assert squad.member_ids.tolist() == [0, 1, 2, 3, 4]
    assert len(other) == 0
    assert other.commander is None
    squad.move_to((0, 0))
    marched(squad, clock)
    assert squad.order.state == "done"


def test_of_members_that_move_only_one_commands_in_between(squad, told):
    squad.appoint(1)
    del told[:]
    other = squad.split([1, 2, 3], "beta")
    assert [one for one in told if one[0] == "commander_changed"] == [
        ("commander_changed", other.commander), ("commander_changed", squad.commander)]
    assert squad.commander in (0, 4)


@pytest.mark.parametrize(("ids", "error", "complaint"), [
    ([7], UnknownNameError, "unknown member of squad 'alpha' 7"), ([], ValueError, "at least one id"),
    ([1, 1], ValueError, "must not repeat an id"), ([1, 99], UnknownNameError, "99"),
])
def test_who_is_no_member_cannot_be_moved_and_nobody_leaves(squad, ids, error, complaint):
    with pytest.raises(error, match=complaint):
        squad.split(ids, "beta")
    assert len(squad) == 5


def test_squads_that_cannot_merge_say_why(squad, clock):
    with pytest.raises(ValueError, match="cannot move to the same squad"):
        squad.merge(squad)
    with pytest.raises(ValueError, match="squad 'alpha' has 2 dimensions and 'space' 3"):
        squad.merge(squad_of(2, clock, name="space", dimensions=3))
    with pytest.raises(ValueError, match="already has a member 0"):
        squad.merge(squad_of(1, clock, name="beta"))
    with pytest.raises(TypeError, match="other must be a Squad"):
        squad.merge("beta")
    assert len(squad) == 5


def test_losing_one_of_fifty_moves_only_who_must(clock):
    squad = squad_of(50, clock, formation=Formation.phalanx(1.5, files=7))
    squad.move_to((60, 0))
    march(squad, clock, seconds=1)
    before = {number: squad.slot_of(number) for number in squad.members}
    lost = next(number for number, slot in before.items() if slot == 20)
    squad.remove(lost)
    squad.think()
    changed = [number for number in squad.members if squad.slot_of(number) != before[number]]
    assert [before[number] for number in changed] == [49]
    assert squad.slot_of(changed[0]) == 20


def test_slots_of_many_are_not_given_anew_at_every_thought(clock):
    squad = squad_of(100, clock, formation=Formation.line(2.0))
    squad.move_to((60, 0))
    march(squad, clock, seconds=3)
    assert squad.marchers.away.max() > 10          # they are still forming up
    assert squad.statistics()["slot_assignments"] == 1


def test_slots_nobody_may_take_are_told_once(clock, told):
    squad = squad_of(3, clock, formation=Formation.custom([(0, 0), FormationSlot(-1, 1, only=("archer",)), (-1, -1)]),
                     on_event=lambda kind, squad, detail: told.append((kind, detail)))
    squad.move_to((20, 0))
    marched(squad, clock)
    assert [detail for kind, detail in told if kind == "slots_infeasible"] == [squad.infeasible]
    assert len(squad.infeasible) == 1
    assert sorted(squad.slot_of(number) for number in range(3)) == [0, 1, 2]


def test_a_path_over_a_grid_is_found_by_ticket_within_a_budget(clock):
    free = np.ones((20, 40), bool)
    free[:, 20] = False
    free[15, 20] = True
    grid = Grid(free)
    service = PathService(GridPathProvider(grid.passage()), clock)
    squad = squad_of(4, clock, routes=GridRoutes(service, grid.shape), at=(2, 2))
    order = squad.move_to((35.5, 2.5))
    squad.think()
    assert order.state == "waiting"
    service.advance(Budget.unlimited())
    squad.think()
    assert order.state == "marching"
    assert [20.5, 15.5] in squad.path_points.tolist()
    nowhere = squad.move_to((20.5, 2.5))
    squad.think()
    service.advance(Budget.unlimited())
    squad.think()
    assert (nowhere.state, nowhere.why) == ("failed", "no path leads there")
    near = GridRoutes(PathService(GridPathProvider(grid.passage(), partial=True), clock), grid.shape, partial=True)
    ticket = near.request(np.array([2.5, 2.5]), np.array([20.5, 2.5]))
    near._service.advance(Budget.unlimited())
    assert near.why(ticket) == "no path leads to (20.5, 2.5), only as near as (19.5, 2.5)"
    off = squad.move_to((99, 2))
    squad.think()
    assert off.state == "failed"
    assert "must be on the grid" in off.why


def test_a_new_order_gives_up_the_search_of_the_last(clock):
    grid = Grid(np.ones((20, 40), bool))
    service = PathService(GridPathProvider(grid.passage()), clock)
    squad = squad_of(4, clock, routes=GridRoutes(service, grid.shape), at=(2, 2))
    squad.move_to((30, 10))
    squad.think()
    squad.move_to((30, 12))
    assert service.is_idle


def test_the_commanders_ai_is_work_for_a_scheduler(squad, clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(squad.think, period_frames=10)
    squad.move_to((10, 0))
    for _ in range(600):
        scheduler.advance(Budget.unlimited())
        squad.move_slots(1 / 60)
        squad.set_positions(squad.positions + squad.velocities() / 60)
        clock.advance()
    assert squad.order.state == "done"
    assert squad.statistics()["thoughts"] == 60


def test_what_raises_is_reported_and_the_squad_goes_on(clock):
    faults = []
    squad = squad_of(3, clock, faults=FaultIsolation(report=faults.append), clearance=lambda *_: 1 / 0,
                     choose_commander=lambda *_: 99)
    squad.move_to((10, 0))
    march(squad, clock, seconds=1)
    assert squad.commander == 0
    assert (squad.velocities() == 0).all()
    names = {one.name for one in faults}
    assert names == {"squad 'alpha': choose_commander", "squad 'alpha': path"}
    assert all(one.is_quarantined for one in faults if one.failures_in_a_row == 3)


def test_a_listener_that_raises_harms_nobody(clock):
    faults = []
    squad = squad_of(2, clock, faults=FaultIsolation(report=faults.append), on_event=lambda *_: 1 / 0)
    squad.move_to((5, 0))
    marched(squad, clock)
    assert squad.order.state == "done"
    assert faults


def test_a_squad_judges_by_what_its_members_can_do(clock, told):
    squad = Squad("alpha", clock, on_event=lambda kind, squad, detail: told.append((kind, detail)))
    for number in range(3):
        squad.add(number, (0, number), capabilities=Capabilities(attack={"ground": 1.0}))
    plane = Capabilities("air", attack={"ground": 1.0})
    assert squad.judge(Force([(plane, 1)])).kind == "retreat"
    assert told[-1] == ("stance_changed", squad.stance)
    with pytest.raises(TypeError, match="met must be a Force"):
        squad.judge([plane])


@pytest.mark.parametrize("kind", [int, np.int32, np.uint8, np.int64])
def test_ids_of_any_integer_kind_are_accepted(squad, kind):
    squad.change_member(kind(1), speed=2.0)
    squad.appoint(kind(2))
    assert (type(squad.members[1].member_id), type(squad.appointed)) == (int, int)
    assert squad.slot_of(kind(2)) == -1
    other = squad.split([kind(3), kind(4)], "rear")
    assert list(other.members) == [3, 4]
    removed = []
    squad.on_event = lambda kind, squad, detail: removed.append(detail) if kind == "member_removed" else None
    squad.remove(kind(2))
    assert [(one, type(one)) for one in removed] == [(2, int)]
    assert squad.appointed is None
    assert [squad.remove(one).member_id for one in squad.member_ids] == [0, 1]


@pytest.mark.parametrize(("use", "error", "complaint"), [
    (lambda one: one.add(0, (0, 0)), ValueError, "already has a member 0; ids must differ"),
    (lambda one: one.add(-1, (0, 0)), ValueError, "member_id must be at least 0"),
    (lambda one: one.add(9, (0, np.nan)), ValueError, "position must be finite"),
    (lambda one: one.add(9, (0, 0, 0)), ValueError, "position must have 2 coordinates"),
    (lambda one: one.add(9, (0, 0), speed=0), ValueError, "speed must be above 0"),
    (lambda one: one.add(9, (0, 0), radius_m=-1), ValueError, "radius_m must be above 0"),
    (lambda one: one.add(9, (0, 0), roles="healer"), TypeError, "roles must be a sequence of names"),
    (lambda one: one.add(9, (0, 0), capabilities=3), TypeError, "capabilities must be Capabilities"),
    (lambda one: one.remove(9), UnknownNameError, "unknown member of squad 'alpha' 9"),
    (lambda one: one.appoint(9), UnknownNameError, "unknown member"),
    (lambda one: one.move_to((0, np.inf)), ValueError, "goal must be finite"),
    (lambda one: one.move_to("there"), TypeError, "goal must hold numbers"),
    (lambda one: one.follow([]), ValueError, "points must have at least one row"),
    (lambda one: one.form_up((0, 0), (0, 0)), ValueError, "heading must have a length"),
    (lambda one: one.set_positions([[0, 0]]), ValueError, "places must have 5 rows"),
    (lambda one: one.set_positions([[0, np.nan]] * 5), ValueError, "places must be finite"),
    (lambda one: one.move_slots(-1), ValueError, "elapsed_s must be at least 0"),
    (lambda one: one.set_formation("wedge"), TypeError, "formation must be a Formation"),
])
def test_mistakes_are_clear_errors_at_the_call(squad, use, error, complaint):
    before = squad.save_state()
    with pytest.raises(error, match=complaint):
        use(squad)
    assert squad.save_state() == before


@pytest.mark.parametrize(("arguments", "complaint"), [
    ({"dimensions": 4}, "dimensions must be at most 3"), ({"formation": 3}, "formation must be a Formation"),
    ({"clearance": 3}, "clearance must be a callable"), ({"settings": 3}, "settings must be MarchSettings"),
    ({"routes": 5}, "routes must be Routes, got 5 without request, points"),
    ({"stance_policy": 3}, "policy must be a StancePolicy"),
])
def test_what_a_squad_is_made_of_is_checked(clock, arguments, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        Squad("alpha", clock, **arguments)
    with pytest.raises(TypeError, match="name must be a non-empty string"):
        Squad("", clock)
    with pytest.raises(TypeError, match="clock must have a 'now'"):
        Squad("alpha", None)


def think_in_steps(squad, then=lambda step: None):
    """Think until the order has begun, one step at a time; return the number of steps."""
    steps = 0
    while squad.is_thinking or squad.order.state == "waiting":
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
        steps += 1
        then(steps)
    return steps


def test_a_thought_in_steps_ends_as_a_whole_one(clock):
    whole, sliced = (squad_of(60, clock, formation=Formation.circle(2.0)) for _ in range(2))
    for goal in ((50, 0), (50, 40)):
        for squad in (whole, sliced):
            squad.move_to(goal)
        whole.think()
        assert think_in_steps(sliced) > 10
        for squad in (whole, sliced):
            squad.move_slots(1.0)
        assert sliced.slot_positions().tolist() == whole.slot_positions().tolist()
        assert sliced.destinations.tolist() == whole.destinations.tolist()


def test_a_member_lost_during_a_thought_starts_its_slots_again(clock):
    whole, sliced = (squad_of(60, clock, formation=Formation.circle(2.0)) for _ in range(2))
    for squad in (whole, sliced):
        squad.move_to((50, 0))
        squad.think()
        squad.move_to((50, 40))

    def lose(step):
        if step == 9:
            assert sliced.is_thinking
            sliced.remove(30)
            sliced.move_slots(0.0)      # the others march in slots of the smaller formation at once
            assert len(np.unique(sliced.destinations, axis=0)) == 59

    think_in_steps(sliced, lose)
    whole.remove(30)
    whole.think()
    assert [sliced.slot_of(one) for one in sliced.members] == [whole.slot_of(one) for one in whole.members]


needs_compiled = pytest.mark.skipif(
    "ai_core.squads.marching_loops" not in compiled(), reason="interpreted loops call functions, too")


def calls_of(work):
    """Call ``work``, and return how many functions it calls: its size, whatever the machine."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def think_one_step(squad):
    squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))


@needs_compiled
@pytest.mark.parametrize("count", [20, 200])
@pytest.mark.parametrize("lost", ["commander", "member"])
def test_a_lost_member_is_replaced_in_small_pieces(clock, count, lost):
    squad = squad_of(count, clock, formation=Formation.wedge(2.0, places={"healer": "rear"}))
    squad.move_to((50, 0))
    squad.think()
    squad.move_slots(0.1)
    squad.remove(squad.commander if lost == "commander" else count // 2)
    pieces = [calls_of(lambda: squad.move_slots(0.1))]
    while squad.needs_update:
        pieces.append(calls_of(lambda: think_one_step(squad)))
    assert sorted(squad.slot_of(one) for one in squad.members) == [*range(count - 1)]
    assert 6 < len(pieces) < 12
    assert max(pieces) < 130            # 50 to 100 us; in one piece it is 500


@needs_compiled
@pytest.mark.parametrize("change", ["joins", "grows"])
def test_path_of_a_wider_formation_is_laid_in_steps_on_the_march(clock, change):
    squad = squad_of(20, clock, formation=Formation.line(2.0))
    squad.move_to((50, 0))
    squad.think()
    squad.move_slots(0.1)
    path = squad.path_points
    if change == "joins":
        squad.add(20, (0, -20))
    else:
        squad.change_member(3, radius_m=0.9)
    steps = 0
    while squad.needs_update:
        assert calls_of(lambda: squad.move_slots(0.1)) < 130
        assert squad.velocities().any()       # the members march meanwhile
        think_one_step(squad)
        steps += 1
    assert steps > 10
    assert squad.path_points.tolist() == path.tolist()
    places = squad.slot_positions()
    squad.set_formation(Formation.line(2.0))    # lays the path again, in one piece
    squad.move_slots(0.0)
    assert squad.slot_positions().tolist() == places.tolist()


@pytest.mark.parametrize("at", range(1, 16))
@pytest.mark.parametrize("change", ["add", "remove", "commander", "all"])
def test_members_may_change_at_any_pause_of_a_thought(clock, at, change):
    squad = squad_of(6, clock)
    squad.faults = FaultIsolation(reraise=True)
    squad.move_to((50, 0))
    for step in range(60):
        if step == at:
            if change == "add":
                squad.add(100, (0, 0))
            else:
                gone = {"remove": [3], "commander": [squad.commander or 0], "all": list(squad.members)}[change]
                for one in gone:
                    squad.remove(one)
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
        if not step % 3:
            squad.move_slots(0.1)
    while squad.is_thinking:
        squad.think()
    if change == "all":
        squad.think()
        assert squad.order.state == "failed"
    else:
        assert squad.order.state == "marching"
        assert sorted(squad.slot_of(one) for one in squad.members) == [*range(len(squad))]


def test_a_squad_that_ends_during_a_thought_has_not_arrived(clock):
    squad = squad_of(4, clock)
    squad.form_up((0, 0), (1, 0))
    while not squad.is_thinking:
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    order = squad.order
    for one in list(squad.members):
        squad.remove(one)
    squad.think()
    squad.think()
    assert order.state == "failed"


@pytest.mark.parametrize("pauses", range(1, 42))
def test_ground_that_changes_while_a_path_is_laid_counts(clock, pauses):
    width = [6.0]
    squad = squad_of(4, clock, clearance=lambda points, towards, most_m: np.full(len(points), min(width[0], most_m)))
    squad.move_to((50, 0))
    while not squad.is_thinking:
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    for _ in range(pauses):
        squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    width[0] = 0.5
    squad.ground_changed()
    squad.think()
    squad.move_slots(0.1)
    assert squad.is_in_column


@pytest.mark.parametrize("how", ["follow", "form_up", "formation"])
def test_path_of_a_new_shape_is_laid_in_steps(clock, how):
    whole, sliced = (squad_of(60, clock, formation=Formation.circle(2.0)) for _ in range(2))
    turn = SimpleNamespace(elapsed_s=9.0)
    for squad in (whole, sliced):
        squad.move_to((50, 0))
        squad.think()
        squad.move_slots(1.0)
        if how == "follow":
            squad.follow([(0, 0), (20, 30), (50, 0)])
        elif how == "form_up":
            squad.form_up((30, 30), (0, 1))
        else:
            squad.set_formation(Formation.line(1.5))
    whole.think()
    for step in range(100):
        turn.budget = Budget.of_steps(1)
        sliced.think(turn)
        if step == 1:
            sliced.move_slots(0.0)
            assert not sliced.velocities().any()      # it waits for the path
        if not sliced.is_thinking:
            break
    assert 10 < step < 99
    for squad in (whole, sliced):
        squad.move_slots(1.0)
    assert sliced.destinations.tolist() == whole.destinations.tolist()


def test_an_order_replaces_the_one_of_an_interrupted_thought(clock):
    squad = squad_of(20, clock)
    squad.move_to((50, 0))
    while not squad.is_thinking:
        squad.think(SimpleNamespace(budget=Budget.of_steps(3), elapsed_s=9.0))
    order = squad.hold()
    squad.think()
    assert squad.order is order
    assert order.is_done
    assert not len(squad.path_points)
