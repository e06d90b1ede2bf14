"""Random lives of two squads: from a save they continue as without it."""
from __future__ import annotations

import json
import random
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.maps import Grid
from ai_core.paths import GridPathProvider, PathService
from ai_core.snapshot import restore, take
from ai_core.squads import (
    AttackTokens,
    Capabilities,
    Formation,
    GridClearance,
    GridRoutes,
    NearestFreeCell,
    Sighting,
    Squad,
)

SIZE = 30
PERIODS = {"A": 5, "B": 3}
FORMATIONS = [
    Formation.wedge(1.5), Formation.line(2.0), Formation.column(1.5),
    Formation.custom([(0, 0), (-2, 1), (-2, -1)])]
TACTICS = [None, "flanking", "bounding_overwatch", "scouting", "sacrifice", "suppressing_fire", "healing_support"]
ROLES = [(), ("scout",), ("healer",), ("vip", "scout")]
DOOR = 15 * SIZE + 15


class World:
    """Two squads on a grid with a wall and a door, whose thoughts have a budget of steps."""

    def __init__(self, steps=None):
        self.clock, self.steps, self.next_id = ManualClock(0.1), steps, 0
        cells = np.ones((SIZE, SIZE), bool)
        cells[15, 2:28] = False
        cells[15, 15] = True
        self.grid = Grid(cells)
        self.paths = PathService(GridPathProvider(self.grid.passage()), self.clock)
        self.paths.advance(Budget.unlimited())
        self.events = []
        self.squads = {
            name: Squad(
                name, self.clock, routes=GridRoutes(self.paths, (SIZE, SIZE)), clearance=GridClearance(cells),
                standing=NearestFreeCell(cells), tokens=AttackTokens(1), faults=FaultIsolation(reraise=True),
                on_event=lambda kind, one, detail: self.events.append((kind, one.name, repr(detail))))
            for name in PERIODS}

    def fill(self, counts):
        for name, count in zip(PERIODS, counts, strict=True):
            for _ in range(count):
                self.join(name, random.Random(self.next_id))

    def parts(self):
        return {"clock": self.clock, "paths": self.paths, **self.squads}

    def join(self, name, chance):
        self.squads[name].add(
            self.next_id, (chance.uniform(1, 29), chance.uniform(1, 14)), speed=chance.choice([2.0, 4.0]),
            radius_m=chance.choice([0.3, 0.6]), roles=chance.choice(ROLES),
            capabilities=chance.choice([None, Capabilities(attack={"ground": 1.0}, range_m=6.0)]))
        self.next_id += 1

    def happen(self, what, number):
        chance = random.Random(number)
        name = chance.choice([*PERIODS])
        squad, other = self.squads[name], self.squads["B" if name == "A" else "A"]
        place = chance.uniform(1, 29), chance.choice([chance.uniform(1, 14), chance.uniform(17, 29)])
        ids = squad.member_ids.tolist()
        match what:
            case "move":
                squad.move_to(place)
            case "form_up":
                squad.form_up(place, chance.choice([None, (0.0, 1.0)]))
            case "follow":
                squad.follow([place, (place[0] + 3, place[1])])
            case "hold":
                squad.hold()
            case "dismiss":
                squad.dismiss()
            case "formation":
                squad.set_formation(chance.choice(FORMATIONS))
            case "tactic":
                squad.use_tactic(chance.choice(TACTICS))
            case "sight":
                squad.set_sightings([
                    Sighting(one, (place[0] + one, place[1]), chance.choice([None, Capabilities()]))
                    for one in range(chance.randint(0, 3))])
            case "die" if ids:
                squad.remove(chance.choice(ids))
            case "join":
                self.join(name, chance)
            case "transfer" if ids:
                squad.move_members(chance.sample(ids, chance.randint(1, len(ids))), other)
            case "appoint" if ids:
                squad.appoint(chance.choice([None, *ids]))
            case "change" if ids:
                squad.change_member(chance.choice(ids), speed=3.0, radius_m=0.5, roles=chance.choice(ROLES))
            case "door":
                self.grid.set_cells([DOOR], bool(number % 2))
                for one in self.squads.values():
                    one.ground_changed()
            case "judge":
                squad.judge()

    def think(self, work):
        budget = Budget.unlimited() if self.steps is None else Budget.of_steps(self.steps)
        work(SimpleNamespace(budget=budget, elapsed_s=9.0))

    def frame(self, stuck=()):
        self.events.clear()
        self.paths.advance(Budget.of_steps(40))
        number = self.clock.now.frame
        for name, squad in self.squads.items():
            if number % PERIODS[name] == 0:
                self.think(squad.think)
            if squad.needs_update:
                self.think(squad.update_slots)
            squad.move_slots(0.1)
            moved = squad.positions + squad.velocities() * np.float32(0.1)
            moved[np.isin(squad.member_ids, stuck)] = squad.positions[np.isin(squad.member_ids, stuck)]
            squad.set_positions(moved)
        self.clock.advance()
        return [self.seen(squad) for squad in self.squads.values()], list(self.events)

    def seen(self, squad):
        counts = squad.statistics()
        return (
            squad.order, squad.order.state, squad.commander, squad.positions.tolist(), dict(squad.tasks), squad.tactic,
            squad.tokens.holders, squad.stragglers, squad.stance, squad.is_in_column, counts)


WHAT = [
    "move", "form_up", "follow", "hold", "dismiss", "formation", "tactic", "tactic", "sight", "sight", "die", "join",
    "transfer", "appoint", "change", "door", "judge"]
EVENTS = st.lists(
    st.tuples(st.sampled_from([0, 1, 3, 8, 30]), st.sampled_from(WHAT), st.integers(0, 9999)), max_size=20)
COUNTS = st.tuples(st.integers(0, 6), st.integers(0, 4))
STUCK = st.sampled_from([(), (0,), (1, 2)])


def check(squad):
    """What holds of a squad in every frame."""
    ids = [*squad.members]
    assert squad.commander in ids if ids else squad.commander is None
    assert {*squad.tasks, *squad.tokens.holders} <= {*ids}
    assert squad.marchers.is_detached.tolist() == [one in squad.tasks for one in ids]
    assert np.isfinite(squad.positions).all()
    assert (np.linalg.norm(squad.velocities(), axis=1) <= 4.001).all()      # the highest speed of any member
    if not squad.needs_update and len(squad.path_points):
        assert sorted(squad.marchers.slots.tolist()) == [*range(len(ids))]


def lived(world, events, stuck, rest=0):
    """Return what is seen in each frame of a life."""
    seen = []
    for wait, what, number in [*events, (rest, "nothing", 0)]:
        world.happen(what, number)
        for _ in range(wait):
            seen.append(repr(world.frame(stuck)))
            for squad in world.squads.values():
                check(squad)
    return seen


@settings(max_examples=80, deadline=None)
@given(counts=COUNTS, before=EVENTS, after=EVENTS, stuck=STUCK)
def test_squads_continue_from_a_save_as_without_it(counts, before, after, stuck):
    first, other = World(), World()
    first.fill(counts)
    lived(first, before, stuck)
    saved = json.loads(json.dumps(take(first.parts())))
    other.grid.set_cells([DOOR], first.grid.passage().is_free(DOOR))
    restore(saved, other.parts())
    other.next_id = first.next_id
    assert json.loads(json.dumps(take(other.parts()))) == saved
    for one, another in zip(lived(first, after, stuck, 25), lived(other, after, stuck, 25), strict=True):
        assert one == another


@settings(max_examples=40, deadline=None)
@given(counts=COUNTS, events=EVENTS, stuck=STUCK, steps=st.sampled_from([None, 1, 3, 10]))
def test_orders_end_whatever_happens_to_the_squads(counts, events, stuck, steps):
    world = World(steps)
    world.fill(counts)
    lived(world, events, stuck)
    for squad in world.squads.values():
        squad.use_tactic(None)          # with tasks for all members, orders wait
    for _ in range(3000):
        if all(squad.is_idle for squad in world.squads.values()):
            return
        world.frame(stuck)
    assert [squad.order for squad in world.squads.values() if not squad.is_idle] == []
