"""A squad, saved and loaded: it goes on as the one that was saved."""
from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.maps import Grid
from ai_core.paths import GridPathProvider, PathService
from ai_core.saving.fields import StateError
from ai_core.snapshot import restore, take
from ai_core.squads import GridRoutes, Squad
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.routes import StraightRoutes
from ai_core.squads.situation import Sighting
from tests.squads.marching import march, squad_of


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def squad(clock):
    return squad_of(5, clock)


@pytest.mark.parametrize("seconds", [0, 2, 5, 15])
def test_a_squad_loaded_goes_on_as_the_one_that_was_saved(clock, seconds):
    squad = squad_of(6, clock)
    squad.add(40, (3, 3), roles=("healer",), capabilities=Capabilities(attack={"air": 1.0}, heals=2.0))
    slots = [(0, 0), FormationSlot(-2, 1, prefers=("healer",)), (-2, -1)]
    squad.set_formation(Formation.custom(slots, places={"healer": "rear"}))
    squad.move_to((12, 9))
    march(squad, clock, seconds=seconds)
    saved = json.loads(json.dumps(squad.save_state()))
    again = ManualClock()
    again.prepare_state(clock.save_state())()
    other = squad_of(2, again, name="other")
    other.prepare_state(saved)()
    assert other.save_state() == saved
    assert other.members == squad.members
    assert other.velocities().tolist() == squad.velocities().tolist()
    assert other.destinations.tolist() == squad.destinations.tolist()
    for one in (squad, other):
        march(one, one.clock, seconds=3)
    assert other.save_state() == squad.save_state()


def test_a_squad_can_be_saved_in_its_own_events(clock):
    saved = []
    squad = squad_of(5, clock, on_event=lambda kind, one, detail: saved.append((kind, one.save_state())))
    changes = (
        lambda: squad.move_to((12, 9)), lambda: squad.form_up((3, 3), (0, 1)), lambda: squad.follow([(9, 9), (1, 1)]),
        squad.hold, lambda: squad.remove(squad.commander), lambda: squad.use_tactic("flanking"))
    for change in changes:
        squad.appoint(squad.members and max(squad.members))
        squad.appoint(None)
        change()
        march(squad, clock, seconds=0.5)
    assert {kind for kind, _ in saved} >= {"commander_changed", "member_removed"}
    for _, state in saved:
        other = squad_of(2, clock, name="other")
        other.prepare_state(state)()
        assert other.save_state() == state


def test_the_path_of_a_loaded_squad_is_laid_in_steps(clock):
    squad, other = squad_of(20, clock), squad_of(2, clock)
    squad.move_to((50, 0))
    march(squad, clock, seconds=2)
    other.prepare_state(squad.save_state())()
    steps = 0
    while other.needs_update:
        other.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
        steps += 1
    assert steps > 4
    for one in (squad, other):
        one.move_slots(0.1)
    assert other.destinations.tolist() == squad.destinations.tolist()


@pytest.mark.parametrize("change", [
    {"version": 4}, {"dimensions": 3}, {"commander": 77}, {"appointed": "Bob"}, {"march": {"points": [[1]]}},
    {"march": {"anchor_m": -1}}, {"march": {"heading": [5, 0]}}, {"march": {"made_for": [0, 0, 0]}},
    {"slots_wanted": "now"}, {"order": {"kind": "dance"}}, {"order": {"kind": "move", "goal": None}},
    {"members": [{"id": 1}]}, {"rows": {"slots": [0]}}, {"counts": {}}, {"more": 1},
    {"formation": {"pattern": "wegde"}},
])
def test_invalid_squad_state_is_refused_and_changes_nothing(squad, change):
    before = squad.save_state()
    with pytest.raises(StateError):
        squad.prepare_state({**before, **{
            name: {**before[name], **one} if isinstance(one, dict) and one else one for name, one in change.items()}})
    assert squad.save_state() == before


def test_squad_loaded_at_the_end_of_its_path_knows_it_arrived(clock):
    squad, other = squad_of(3, clock), squad_of(3, clock)
    squad.move_to((3, 0))
    while not squad.has_arrived:
        march(squad, clock, seconds=0.1)
    squad.order.state = "marching"      # it has not thought since
    other.prepare_state(json.loads(json.dumps(squad.save_state())))()
    for one in (squad, other):
        one.think()
    assert (squad.order.state, other.order.state) == ("done", "done")


def test_update_of_the_slots_after_a_load_decides_nothing(clock):
    squad, other = squad_of(4, clock), squad_of(4, clock)
    squad.move_to((40, 0))
    march(squad, clock, seconds=2)
    squad.set_sightings([Sighting(7, (30.0, 0.0))])
    squad.use_tactic("flanking")
    other.prepare_state(json.loads(json.dumps(squad.save_state())))()
    assert other.needs_update
    other.update_slots()
    assert not other.needs_update
    assert (other.tasks, other.statistics()) == ({}, squad.statistics())
    other.think()
    assert other.tasks


def test_interrupted_thought_begins_again_after_a_load(clock):
    squad, other = squad_of(20, clock), squad_of(20, clock)
    squad.move_to((40, 0))
    squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    assert squad.is_thinking
    other.prepare_state(json.loads(json.dumps(squad.save_state())))()
    other.update_slots()
    assert other.order.state == "marching"


def test_end_of_a_column_is_reported_after_a_load(clock):
    events = []
    squad = squad_of(4, clock)
    other = squad_of(4, clock, on_event=lambda kind, *_: events.append(kind))
    squad._march.is_in_column = True
    squad.move_slots(0.1)
    squad.hold()
    other.prepare_state(squad.save_state())()
    events.clear()
    other.move_slots(0.1)
    assert events == ["widened"]


def test_members_saved_twice_or_out_of_order_are_refused(squad):
    state = squad.save_state()
    for rows in ([0, 0], [1, 0]):
        with pytest.raises(StateError, match="id"):
            squad.prepare_state({**state, "members": [state["members"][row] for row in rows]})


class World:
    """A squad that thinks in every fifth frame and waits for paths over a grid, on which a door opens and closes."""

    def __init__(self, cells=None):
        self.clock, self.cells = ManualClock(0.1), np.ones((30, 30), bool) if cells is None else cells.copy()
        self.grid = Grid(self.cells)
        self.paths = PathService(GridPathProvider(self.grid.passage()), self.clock)
        self.paths.advance(Budget.unlimited())
        self.squad = Squad("A", self.clock, routes=GridRoutes(self.paths, (30, 30)))
        for number in range(3):
            self.squad.add(number, (3.5 + number, 3.5))

    def parts(self, order):
        return {name: getattr(self, name) for name in order}

    def set_door(self, is_open):
        self.cells[10, 10] = is_open
        self.grid.set_cells([self.grid.cell(10, 10)], is_open)
        self.squad.ground_changed()

    def frame(self):
        number = self.clock.now.frame
        if number == 2:
            self.squad.move_to((25.5, 25.5))
        if number in (7, 12):
            self.set_door(number == 12)
        self.paths.advance(Budget.of_steps(50))
        if number % 5 == 0:
            self.squad.think()
        self.squad.move_slots(elapsed_s=0.1)
        self.squad.set_positions(self.squad.positions + self.squad.velocities() * 0.1)
        self.clock.advance()
        searched = self.paths.statistics()
        searched.pop("kept")    # also counts paths over a ground that has changed
        return self.squad.order.state, self.squad.positions.tolist(), searched, self.squad.statistics()


@pytest.mark.parametrize("order", [("clock", "paths", "squad"), ("clock", "squad", "paths")])
@pytest.mark.parametrize("lived", [0, 9])
@pytest.mark.parametrize("saved_after", [5, 6, 7, 8, 10, 11, 13, 16])
def test_squad_saved_while_it_waits_takes_up_its_request(saved_after, lived, order):
    first = World()
    for _ in range(saved_after):
        first.frame()
    other = World(first.cells)
    for _ in range(lived):
        other.frame()
    if lived:
        other.set_door(first.cells[10, 10])
    as_godot_reads = json.loads(json.dumps(take(first.parts(order))), parse_int=float)
    restore(as_godot_reads, other.parts(order))
    for _ in range(20):
        assert first.frame() == other.frame()


class LateRoutes(StraightRoutes):
    """Straight paths that are never found once the routes are late."""

    is_late = False

    def points(self, ticket):
        return None if self.is_late else ticket


@pytest.mark.parametrize("kind", ["move_to", "form_up"])
def test_order_that_ends_before_its_new_path_came_can_be_saved(kind):
    def made():
        squad = Squad("A", ManualClock(0.1), routes=LateRoutes())
        for number in range(3):
            squad.add(number, (0.0, float(number)))
        return squad

    squad = made()
    order = getattr(squad, kind)((10, 0))
    for number in range(200):
        if number == 5:
            squad.routes.is_late = True
            squad.ground_changed()
        squad.think()
        squad.move_slots(0.1)
        squad.set_positions(squad.positions + squad.velocities() * 0.1)
    assert order.state in ("done", "marching")
    made().prepare_state(squad.save_state())()


def test_order_that_replaces_a_loaded_one_cancels_its_request():
    worlds = first, other = World(), World()
    for _ in range(6):
        first.frame()
    restore(take(first.parts(("clock", "paths", "squad"))), other.parts(("clock", "paths", "squad")))
    for one in worlds:
        one.squad.move_to((3.5, 25.5))
    assert first.paths.statistics() == other.paths.statistics()
    assert take({"paths": other.paths}) == take({"paths": first.paths})


@pytest.mark.parametrize("saved_at", [1, 6, 20])
def test_a_squad_loaded_alone_ends_its_own_search(saved_at):
    world = World()
    states = {}
    for frame in range(30):
        world.frame()
        if frame == saved_at:
            states = take({"squad": world.squad})
    world.squad.move_to((3.5, 25.5))
    world.squad.think()
    assert not world.paths.is_idle
    restore(states, {"squad": world.squad})
    if world.squad.order.state == "waiting":
        world.squad.think()
        assert world.paths.statistics()["waiting"] + world.paths.statistics()["running"] == 1
    else:
        assert world.paths.is_idle


def test_a_squad_loaded_alone_while_it_waits_keeps_its_ticket():
    world = World()
    world.squad.move_to((25.5, 25.5))
    world.squad.think()
    for _ in range(2):
        restore(take({"squad": world.squad}), {"squad": world.squad})
    world.paths.advance(Budget.unlimited())
    world.squad.think()
    assert world.squad.order.state == "marching"
    assert world.paths.statistics()["requests"] == 1


@pytest.mark.parametrize("order", [("clock", "paths", "a", "b"), ("clock", "a", "b", "paths")])
def test_a_load_cancels_no_ticket_that_it_gives_to_another(order):
    def made():
        world = World()
        world.b = Squad("B", world.clock, routes=GridRoutes(world.paths, world.cells.shape))
        world.b.add(0, (3.0, 3.0))
        return world, {"clock": world.clock, "paths": world.paths, "a": world.squad, "b": world.b}

    (world, parts), (other, others) = made(), made()
    world.b.move_to((25.5, 20.5))
    world.b.think()
    other.squad.move_to((25.5, 25.5))
    other.squad.think()         # the same number as the ticket of the other squad
    restore(take({name: parts[name] for name in order}), {name: others[name] for name in order})
    for _ in range(2):
        other.squad.think()
        other.b.think()
        other.paths.advance(Budget.unlimited())
    assert (other.b.order.state, other.squad.order.state) == ("marching", world.squad.order.state)
    assert other.paths.statistics()["requests"] == 1


class BrokenRoutes(GridRoutes):
    """Routes over a grid whose paths cannot be read."""

    def points(self, ticket):
        raise RuntimeError("no points")


def test_an_order_whose_path_always_raises_fails():
    world, faults = World(), []
    squad = Squad("B", world.clock, routes=BrokenRoutes(world.paths, world.cells.shape),
                  faults=FaultIsolation(report=faults.append))
    squad.add(0, (3.0, 3.0))
    squad.move_to((25.5, 25.5))
    for _ in range(3):
        squad.think()
    assert (len(faults), squad.order.state, world.paths.is_idle) == (3, "failed", True)
    assert "quarantined after repeated errors" in squad.order.why
    squad.release()
    squad.move_to((25.5, 25.5))
    squad.think()
    assert (len(faults), squad.order.state) == (4, "waiting")


def test_a_request_whose_ticket_is_unknown_is_made_again():
    first, other = World(), World()
    for _ in range(6):
        first.frame()
    restore(take(first.parts(("clock", "squad"))), other.parts(("clock", "squad")))
    other.paths.advance(Budget.unlimited())
    for _ in range(2):
        other.squad.think()
        other.paths.advance(Budget.unlimited())
    assert other.squad.order.state == "marching"
    assert other.paths.statistics()["requests"] == 1


def test_thought_saved_in_its_middle_asks_for_no_second_path():
    first, other = World(), World()
    first.squad.move_to((25.5, 25.5))
    first.squad.think()
    first.paths.advance(Budget.unlimited())
    first.squad.think(SimpleNamespace(budget=Budget.of_steps(1), elapsed_s=9.0))
    assert first.squad.is_thinking
    restore(take(first.parts(("clock", "paths", "squad"))), other.parts(("clock", "paths", "squad")))
    for one in (first, other):
        one.squad.think()
        assert one.squad.order.state == "marching"
    assert first.paths.statistics() == other.paths.statistics()
    assert first.squad.path_points.tolist() == other.squad.path_points.tolist()


def test_a_request_of_an_order_that_does_not_wait_is_refused(squad):
    request = {"start": [0, 0], "goal": [1, 1], "key": None}
    with pytest.raises(StateError, match=r"request.*must be None, as the order is done"):
        squad.prepare_state({**squad.save_state(), "request": request})


@pytest.mark.parametrize("saved_after", [1, 4, 10, 13])
def test_a_squad_saved_while_its_path_is_ready_marches_at_once(saved_after):
    def world():
        clock = ManualClock()
        paths = PathService(GridPathProvider(Grid(np.ones((40, 60), bool)).passage()), clock)
        paths.advance(Budget.unlimited())
        squad = Squad("A", clock, routes=GridRoutes(paths, (40, 60)))
        squad.add(0, position=(5, 18))
        return {"clock": clock, "paths": paths, "squad": squad}

    def frame(clock, paths, squad):
        if clock.now.frame % 10 == 0:
            squad.think()
        paths.advance(Budget.unlimited())
        squad.move_slots(1 / 60)
        squad.set_positions(squad.positions + squad.velocities() / 60)
        clock.advance()

    first, other = world(), world()
    first["squad"].move_to((50, 20))
    for _ in range(saved_after):
        frame(**first)
    restore(take(first), other)
    for _ in range(29):
        frame(**first)
        frame(**other)
    assert first["squad"].positions.tolist() == other["squad"].positions.tolist()
    assert first["squad"].positions[0, 0] > 5.2
