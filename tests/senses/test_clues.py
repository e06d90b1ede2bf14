"""Clues: things left behind, sensed like anything else, and gone after a while."""
from __future__ import annotations

import json

import pytest

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError
from tests.senses.worlds import World


def blood(world, at, lasts_s=1.0, **more):
    return world.manager.add_source(
        position=at, strengths={"sight": 1.0}, lasts_s=lasts_s, **{"tag": "blood", **more})


def test_clue_is_sensed_like_a_source_and_names_kind_and_owner():
    world = World()
    guard, thief = world.eye((0, 0, 0)), world.thing((0, 0, -500))
    world.tick()
    clue = blood(world, (0, 0, -3), about=thief)
    world.tick()
    assert world.sensed() == [(guard, clue)]
    assert world.manager.tag_of(clue) == "blood"
    told = world.manager.clue_of(clue)
    assert (told.about, told.left_at_s, told.until_s) == (thief, 0.125, 1.125)
    assert world.manager.clue_of(thief) is None


def test_clue_expires_after_its_time_or_is_removed_before():
    world = World()
    guard = world.eye((0, 0, 0))
    first, second = blood(world, (0, 0, -3)), blood(world, (0, 0, -4), lasts_s=9.0)
    world.tick(frames=7)
    assert world.manager.sensed_by(guard) == [first, second]
    world.tick()
    assert world.manager.sensed_by(guard) == [second]
    assert (world.manager.clue_of(first), world.manager.tag_of(first)) == (None, "")
    for never in (12345, 1 << 20, -1):
        with pytest.raises((UnknownNameError, ValueError)):
            world.manager.clue_of(never)
    world.manager.remove_source(second)
    world.tick(frames=80)
    assert world.manager.statistics()["sources"] == 0


def test_over_the_limit_the_first_to_expire_makes_room():
    world = World(max_clues=2)
    short, long = blood(world, (0, 0, -1), 1.0), blood(world, (0, 0, -2), 9.0)
    third = blood(world, (0, 0, -3), 5.0)
    assert world.manager.statistics()["clues"] == 2
    world.manager.clue_of(long)
    world.manager.clue_of(third)
    assert world.manager.clue_of(short) is None


def night(clues=0):
    world = World()
    world.guard = world.eye((0, 0, 0), name="guard")
    for k in range(clues):
        blood(world, (0, 0, -1 - k), lasts_s=1.0 + k)
    world.thief = world.thing((0, 0, -9), name="thief")
    return world


def test_saved_clues_come_back_and_those_left_since_go():
    first, second = night(clues=3), night(clues=1)
    first.tick(frames=9)
    blood(second, (0, 0, -7), lasts_s=99)
    second.tick(frames=3)
    state = json.loads(json.dumps({"clock": first.clock.save_state(), "manager": first.manager.save_state()}))
    for change in [second.clock.prepare_state(state["clock"]), second.manager.prepare_state(state["manager"])]:
        change()
    assert second.manager.save_state() == first.manager.save_state()
    assert dict(second.manager.source_names) == dict(first.manager.source_names)
    for world in (first, second):
        world.seen = []
        for _ in range(20):
            world.tick()
            world.seen.append(world.manager.sensed_by(0))
    assert first.seen == second.seen
    assert len(first.seen[0]) == 3
    assert len(first.seen[-1]) == 1


def test_names_of_sources_are_those_a_loader_must_create():
    world = night(clues=2)
    assert list(world.manager.source_names.values()) == ["thief"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("clue", {"about": -2, "left_at_s": 0, "until_s": 1}, "clue.about' must be at least -1"),
     ("clue", {"about": -1, "left_at_s": 0}, "clue.until_s' is missing"), ("tag", 3, "tag' must be a s"),
     ("light", -1, "light' must be at least 0"), ("size", 0, "size' must be at least"),
     ("pattern", "plaid", "pattern' must be ''"), ("actions", {"run": -1}, "actions.run' must be at least 0")],
)
def test_impossible_sources_are_refused_and_nothing_is_loaded(field, value, message):
    world = night(clues=1)
    state = world.manager.save_state()
    row = state["sources"]["rows"][1]
    (row if field in row else row["details"])[field] = value
    before = world.manager.save_state()
    with pytest.raises(StateError, match=message):
        world.manager.prepare_state(state)
    assert world.manager.save_state() == before


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"lasts_s": 0}, ValueError), ({"lasts_s": float("nan")}, ValueError),
     ({"lasts_s": 1e30}, ValueError), ({"lasts_s": None, "about": 0}, ValueError), ({"tag": None}, TypeError),
     ({"about": 7}, UnknownNameError), ({"strengths": {"taste": 1}}, UnknownNameError),
     ({"position": (0, float("inf"), 0)}, ValueError)],
)
def test_impossible_clues_are_refused_and_none_is_left(wrong, error):
    world = World(max_clues=1)
    clue = blood(world, (0, 0, -1))
    with pytest.raises(error):
        world.manager.add_source(**{"position": (0, 0, 0), "strengths": {}, "lasts_s": 1.0, "tag": "x", **wrong})
    assert world.manager.clue_of(clue) is not None
