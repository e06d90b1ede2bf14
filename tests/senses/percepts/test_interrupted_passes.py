"""A pass over percepts, and the notices of it, end with a budget of time and continue in the next advance."""
from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import ai_core.senses.percepts.perception as perception
import ai_core.senses.turns as turns
from ai_core.budget import Budget
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.sensation import Sensation
from ai_core.senses.source_table import VisiblePart
from tests.senses.worlds import World, hearing

EYES, THINGS = 6, 4


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(perception, "PERCEPTS_PER_BLOCK", 2)
    monkeypatch.setattr(perception, "SIGHTINGS_AT_ONCE", (2, 2))
    monkeypatch.setattr(turns, "LEAST_US", 0.0)


class Hall:
    """Eyes that see all things, and a list of what their listeners received."""

    def __init__(self):
        self.world, self.received, self.reads = World(), [], 0
        for number in range(EYES):
            self.world.eye(
                (float(number), 0, 0), memory=SenseMemory(lose_after_s=0.5),
                awareness=AwarenessSettings(2.0, 0.5), **{
                    name: lambda one, name=name, eye=number: self.received.append((eye, name, one.target))
                    for name in ("on_gained", "on_lost", "on_awareness_changed")})
        self.things = [self.world.thing((float(number), 0, -5)) for number in range(THINGS)]

    def watch(self):
        self.reads += 1
        return self.reads * 1000      # each reading takes a microsecond

    def tick(self, us, grants=None):
        budget = Budget.of_time(us, self.watch)
        self.world.clock.advance()
        self.world.manager.advance(budget if grants is None else RecordingBudget(budget, grants))

    def gained(self):
        return [one for one in self.received if one[1] == "on_gained"]


def test_listeners_beyond_the_budget_are_called_next_time():
    hall = Hall()
    per_advance = []
    for _ in range(60):
        before = len(hall.received)
        hall.tick(20)
        per_advance.append(len(hall.received) - before)
    assert sorted(hall.gained()) == [(eye, "on_gained", thing) for eye in range(EYES) for thing in hall.things]
    assert max(per_advance) <= 20


def test_targets_in_view_are_not_lost_while_passes_take_long():
    hall = Hall()
    for _ in range(300):
        hall.tick(9)
    assert len(hall.gained()) == EYES * THINGS
    assert not [one for one in hall.received if one[1] == "on_lost"]


def test_a_budget_of_steps_ends_no_pass():
    hall = Hall()
    hall.world.tick(budget=Budget.of_steps(EYES * (THINGS + 1)))
    assert len(hall.gained()) == EYES * THINGS


def test_a_block_looks_up_the_clarity_of_its_own_pairs():
    class Views(dict):
        def get(self, key, other):
            asked.append(key)
            return super().get(key, other)

    hall, asked = Hall(), []
    hall.world.manager.change_source(hall.things[0], parts=[VisiblePart("head", (0, 0, 0), 0.5)])
    hall.tick(10_000)
    pairs, count = hall.world.manager._continuous.pairs[0], EYES * THINGS
    some = SimpleNamespace(columns=pairs.columns, views=Views(pairs.views))
    hall.world.manager._perception._see(0, some, 1.0, count - 2, count)
    assert asked == pairs.keys[-2:].tolist()


def test_a_block_with_parts_looks_at_no_rows_before_its_own():
    hall = Hall()
    hall.world.manager.change_source(hall.things[0], parts=[VisiblePart("head", (0, 0, 0), 0.5)])
    hall.tick(10_000)
    perception, count = hall.world.manager._perception, EYES * THINGS
    rows, first = perception.table.rows, perception.table.rows[0]
    rows[0] = "no row"      # raises if it is looked at
    perception._see(0, hall.world.manager._continuous.pairs[0], 1.0, count - 2, count)
    rows[0] = first
    assert [one.source_id for one in perception.table.sensations] == hall.things[-2:]


def test_interrupted_passes_are_saved_with_their_notices():
    one = Hall()
    seen_stages = set()
    for frame in range(8):
        one.tick(11)
        state = json.loads(json.dumps(one.world.manager.save_state()))
        seen_stages.add((state["percepts"]["stage"] >= 0, bool(state["percepts"]["notices"])))
        other = Hall()
        for _ in range(frame + 1):
            other.world.clock.advance()
        other.world.manager.prepare_state(state)()
        assert other.world.manager.save_state() == state
    other.reads, before = one.reads, len(one.received)
    for hall in (one, other):
        for _ in range(30):
            hall.tick(11)
    assert other.received == one.received[before:] != []
    assert (True, True) in seen_stages


def test_interrupted_passes_are_replayed():
    recorded, noted = Hall(), [[] for _ in range(40)]
    for grants in noted:
        recorded.tick(13, grants)
    replayed = Hall()
    for grants in noted:
        replayed.world.clock.advance()
        replayed.world.manager.advance(ReplayBudget(grants))
    assert recorded.received == replayed.received != []


def test_what_is_heard_later_is_told_later():
    world, told = World(modalities=[hearing()]), []
    ear = world.ear((0, 0, 0), memory=SenseMemory(), on_sensed=lambda one: told.append(("sensed", one.source_id)),
                    on_gained=lambda one: told.append(("gained", one.target)))
    spent = Budget.of_time(0.0, lambda: 0)
    for source in [world.manager.add_source(position=(0, 0, z), strengths={}) for z in (1, 2)]:
        world.manager._perception.hear([Sensation(ear, source, "hearing", 1.0, (0.0, 0.0, 1.0), 0.0, 0.0)], spent)
    assert told == []
    assert world.manager._perception.notify_heard(Budget.unlimited())
    assert told == [("gained", 0), ("sensed", 0), ("gained", 1), ("sensed", 1)]
