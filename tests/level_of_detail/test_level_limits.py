"""Limits: never more than so many per level, no flapping, ties by smallest id."""
from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.saving.fields import StateError
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Turn
from ai_core.snapshot import from_json, restore, take, to_json

TWO = [Level(0.5, 1.0, max_count=2), Level(0.0, 0.6)]
THREE = [Level(0.5, 1.0, max_count=3), Level(0.2, 0.6, max_count=4), Level(0.0, 0.3)]
VALUE = st.integers(0, 40).map(lambda n: n / 40)


def plain_levels(levels, margin, before, values):
    """The same, one after the other: sort all who ask, hand out places."""
    # Of three levels that overlap by 0.1, each border moves by what 0.125 has more than half of that.
    kept = [(0.425, 1.0), (0.125, 0.675), (0.0, 0.375)]
    desired = {}
    for agent, value in values.items():
        mine = before.get(agent, len(levels))
        holds = [n for n, one in enumerate(levels) if one.lowest <= value <= one.highest]
        is_kept = mine < len(levels) and kept[mine][0] <= value <= kept[mine][1]
        desired[agent] = mine if is_kept else holds[0]
    found = dict.fromkeys(values, len(levels))
    left = sorted(values)
    for number, one in enumerate(levels):
        asking = [agent for agent in left if desired[agent] <= number]
        has = {agent: before.get(agent) == number for agent in asking}
        asking.sort(key=lambda agent: (-(values[agent] + margin * has[agent]), not has[agent], agent))
        for agent in asking[: one.max_count]:
            found[agent] = number
            left.remove(agent)
    return found


@settings(max_examples=25)
@given(st.lists(st.dictionaries(st.integers(0, 12), VALUE, max_size=12), min_size=1, max_size=6))
def test_it_assigns_what_the_plain_way_does(frames):
    limits, before = LevelLimits(THREE, margin=0.125), {}
    for values in frames:
        ids = sorted(values)
        got = limits.update(ids, [values[one] for one in ids])
        before = plain_levels(THREE, 0.125, {one: before[one] for one in before if one in values}, values)
        assert dict(zip(ids, got.tolist(), strict=True)) == before
        assert [sum(level == n for level in before.values()) for n in range(4)] == limits.counts


def test_the_limit_holds_in_every_frame_of_a_wild_camera():
    chance = random.Random(1)
    limits = LevelLimits(THREE)
    for _ in range(300):
        ids = sorted(chance.sample(range(60), chance.randrange(60)))
        limits.update(ids, [chance.random() for _ in ids])
        assert limits.counts[0] <= 3
        assert limits.counts[1] <= 4


def test_equals_do_not_flap_and_the_smallest_ids_have_the_places():
    limits = LevelLimits(TWO)
    for _ in range(100):
        assert limits.update(range(5), [0.9] * 5).tolist() == [0, 0, 1, 1, 1]
        assert limits.update(range(5), [0.88, 0.9, 0.92, 0.9, 0.91]).tolist() == [0, 0, 1, 1, 1]


def test_noise_below_the_margin_displaces_nobody():
    chance = random.Random(2)
    limits = LevelLimits(TWO, margin=0.1)
    limits.update(range(9), [0.8] * 9)
    for _ in range(2_000):
        limits.update(range(9), [0.8 + 0.049 * (2 * chance.random() - 1) for _ in range(9)])
        assert not len(limits.demoted)
        assert not len(limits.promoted)


def test_only_one_more_important_by_the_margin_displaces():
    limits = LevelLimits(TWO, margin=0.125)
    limits.update([0, 1, 2], [0.75, 0.75, 0.5])
    assert limits.update([0, 1, 2], [0.75, 0.75, 0.875]).tolist() == [0, 0, 1]
    assert limits.update([0, 1, 2], [0.75, 0.75, 0.876]).tolist() == [0, 1, 0]
    assert (limits.demoted.tolist(), limits.promoted.tolist()) == ([1], [2])


def test_a_free_place_goes_to_who_waited_for_it():
    limits = LevelLimits(TWO)
    limits.update([0, 1, 2], [0.9, 0.9, 0.8])
    assert limits.update([1, 2], [0.9, 0.8]).tolist() == [0, 0]


def test_a_level_is_kept_within_its_range():
    limits = LevelLimits(TWO)
    assert [limits.update([0], [value])[0] for value in (0.55, 0.5, 0.49, 0.55, 0.6, 0.61)] == [0, 0, 1, 1, 1, 0]


def test_levels_that_only_touch_do_not_flap_on_the_border():
    limits = LevelLimits([Level(0.5, 1.0), Level(0.0, 0.5)])
    limits.update([0], [0.5])
    for frame in range(1_000):
        assert limits.update([0], [0.5 + 0.049 * math.sin(frame)])[0] == 0
    assert [limits.update([0], [value])[0] for value in (0.44, 0.5, 0.549, 0.551)] == [1, 1, 1, 0]


def troop(count=3, **names):
    """Characters with a plan for two at most and a stroll for one at most; ``names`` have other plans."""
    faults = FaultIsolation(report=lambda fault: None)

    def character(one):
        plan = LODBehavior(name="plan", work=names.get(f"plan_{one}", lambda turn: None), lowest=0.5)
        stroll = LODBehavior(name="stroll", work=lambda turn: None, highest=0.6)
        return BehavioralLOD([plan, stroll], faults=faults)

    return {one: character(one) for one in range(count)}


def runs_of(characters, limits, values, frames, elapsed_s=0.1):
    """Update, apply and run for some frames; return what each ran, by frame."""
    clock, seen = ManualClock(), []
    for _ in range(frames):
        limits.update(sorted(characters), values, elapsed_s, characters=characters)
        limits.apply(characters)
        turn = Turn(clock.advance(), elapsed_s, Budget.unlimited())
        seen.append([characters[one](turn) for one in sorted(characters)])
    return seen


NARROW = [Level(0.5, 1.0, max_count=1), Level(0.0, 0.6, max_count=1)]


def test_quarantined_behavior_frees_its_place_within_the_limits():
    def fail(turn):
        raise OSError("no map")

    characters, limits = troop(3, plan_0=fail), LevelLimits(NARROW)
    seen = runs_of(characters, limits, [0.9, 0.8, 0.1], 8)
    assert seen[0] == ["plan", "stroll", None], "0 plans, 1 has the next place, there is none for 2"
    assert seen[2:4] == [["plan", "stroll", None], ["stroll", "plan", None]], "0 is more important than 2"
    for frame in seen:
        assert frame.count("plan") <= 1
        assert frame.count("stroll") <= 1
    characters[0].release("plan")
    assert runs_of(characters, limits, [0.9, 0.8, 0.1], 1)[0][0] == "plan"


def test_without_characters_a_quarantined_one_runs_nothing():
    def fail(turn):
        raise OSError("no map")

    [lod] = troop(1, plan_0=fail).values()
    lod.level = 0
    turn = Turn(ManualClock().now, 0.1, Budget.unlimited())
    assert [lod(turn) for _ in range(4)] == ["plan", "plan", "plan", None]


def test_forced_character_takes_the_place_of_the_least_important():
    characters, limits = troop(3), LevelLimits([Level(0.5, 1.0, max_count=1), Level(0.0, 0.6)])
    assert runs_of(characters, limits, [0.9, 0.8, 0.1], 1) == [["plan", "stroll", "stroll"]]
    characters[2].force("plan", for_s=0.15)
    turn = Turn(ManualClock().now, 0.0, Budget.unlimited())
    assert [characters[one](turn) for one in range(3)].count("plan") == 1, "the limit holds in between, too"
    seen = runs_of(characters, limits, [0.9, 0.8, 0.1], 4)
    assert seen == [["stroll", "stroll", "plan"]] * 2 + [["plan", "stroll", "stroll"]] * 2
    characters[1].force("plan")
    characters[2].force("plan")
    assert runs_of(characters, limits, [0.9, 0.8, 0.1], 1) == [["stroll", "plan", "stroll"]]


def test_who_is_forced_does_not_wait_for_the_spread_of_a_crowd():
    characters, limits = troop(10), LevelLimits([Level(0.5, 1.0), Level(0.0, 0.6)], spread_updates=10)
    characters[9].force("plan")
    assert runs_of(characters, limits, [0.9] * 10, 1)[0] == ["plan", *[None] * 8, "plan"]


def test_first_levels_of_a_spawned_crowd_are_spread_over_updates():
    limits = LevelLimits([Level(0, 1)], spread_updates=5)
    counts = []
    for _ in range(6):
        limits.update(range(100), [0.5] * 100)
        counts.append(limits.counts[0])
    assert counts == [20, 40, 60, 80, 100, 100]


def test_a_time_too_long_to_be_saved_is_refused():
    limits, importance = LevelLimits(TWO), Importance()
    importance.add(1)
    limits.update([0], [0.5])
    lod = BehavioralLOD([LODBehavior(name="plan", work=lambda turn: None)])
    for force in (lambda: limits.force(0, 0, for_s=1e13), lambda: importance.force(0, 0.5, for_s=1e13),
                  lambda: lod.force("plan", for_s=1e13)):
        with pytest.raises(ValueError, match="for_s must be at most 1e\\+12"):
            force()


def test_forced_agents_come_first_until_their_time_is_over():
    limits = LevelLimits(TWO)
    limits.update(range(4), [0.9, 0.9, 0.1, 0.9])
    limits.force(2, 0, for_s=0.25)
    got = [limits.update(range(4), [0.9, 0.9, 0.1, 0.9], 0.1).tolist() for _ in range(4)]
    assert got == [[0, 1, 0, 1]] * 3 + [[0, 0, 1, 1]]
    for one in range(4):
        limits.force(one, 0)
    assert limits.update(range(4), [0.1] * 4).tolist() == [0, 0, 1, 1]
    limits.unforce(0)
    assert limits.update(range(4), [0.1] * 4).tolist() == [1, 0, 0, 1]


def test_who_has_no_room_anywhere_is_off():
    limits = LevelLimits([Level(0, 1, max_count=1)])
    assert limits.update([4, 7], [0.1, 0.9]).tolist() == [1, 0]
    assert limits.off == 1


def test_characters_switch_at_once_and_freed_places_come_first():
    active, peak = set(), []

    def character(one):
        return BehavioralLOD([
            LODBehavior(
                name="plan", work=print, lowest=0.5, exit=lambda after: active.discard(one),
                enter=lambda before, data: (active.add(one), peak.append(len(active))),
            ),
            LODBehavior(name="stroll", work=print, highest=0.6),
        ])

    characters = {one: character(one) for one in range(8)}
    limits = LevelLimits(TWO)
    chance = random.Random(3)
    for _ in range(200):
        limits.update(range(8), [chance.random() for _ in range(8)])
        limits.apply(characters)
        assert sorted(active) == [one for one in range(8) if characters[one].current == "plan"]
    assert max(peak) == 2
    assert len(peak) > 50


@pytest.mark.parametrize("spread_updates", [1, 3])
def test_who_has_no_room_runs_nothing_from_the_first_frame_on(spread_updates):
    clock, ran = ManualClock(), []
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    limits = LevelLimits([Level(0.0, 1.0, max_count=2)], spread_updates=spread_updates)
    characters = {}
    for one in range(6):
        plan = LODBehavior(name="plan", work=lambda turn, one=one: ran.append(one))
        characters[one] = BehavioralLOD([plan], importance=lambda: 0.9)
        scheduler.add(characters[one])
    for _ in range(5):
        ran.clear()
        limits.update(range(6), [0.9] * 6)
        limits.apply(characters)
        scheduler.advance(Budget.unlimited())
        clock.advance()
        assert ran == [one for one in range(6) if characters[one].level == 0]
        assert len(ran) <= 2
    assert len(ran) == 2  # who came first keeps the place


def test_mismatched_level_counts_are_refused_before_any_switch():
    characters, limits = troop(2), LevelLimits([Level(0.0, 1.0)])
    limits.update([0, 1], [0.9, 0.9])
    with pytest.raises(ValueError, match="character 0 has 2 behaviors for 1 levels; give one for each"):
        limits.apply(characters)
    assert [one.current for one in characters.values()] == [None, None]


def test_misuse_is_told_at_the_call():
    limits = LevelLimits(TWO)
    with pytest.raises(ValueError, match="importance must be 0 to 1, got nan for agent 4"):
        limits.update([3, 4], [0.5, math.nan])
    with pytest.raises(ValueError, match="ids must be ascending"):
        limits.update([4, 3], [0.5, 0.5])
    with pytest.raises(ValueError, match="ids must be at most 2147483647, got 4294967296"):
        limits.update([3, 1 << 32], [0.5, 0.5])
    with pytest.raises(ValueError, match="values must be numbers of shape"):
        limits.update([3, 4], [0.5])
    with pytest.raises(TypeError, match="ids must be integers"):
        limits.update([0.5], [0.5])
    with pytest.raises(UnknownNameError, match="unknown agent id 3"):
        limits.force(3, 0)
    with pytest.raises(ValueError, match="level must be at most 1"):
        limits.force(3, 2)
    with pytest.raises(ValueError, match="no range contains importance"):
        LevelLimits([Level(0.5, 1, 1)])
    with pytest.raises(TypeError, match=r"levels must be Level\(lowest, highest, max_count\), got 3"):
        LevelLimits([3])
    with pytest.raises(ValueError, match="max_count must be at least 0"):
        LevelLimits([Level(0, 1, -1)])
    with pytest.raises(TypeError, match="max_count must be an integer"):
        LevelLimits([Level(0, 1, True)])


def test_loaded_it_goes_on_as_if_nothing_had_happened():
    def lived():
        limits = LevelLimits(THREE, spread_updates=3)
        limits.update(range(10), np.linspace(0, 1, 10))
        limits.update(range(10), np.linspace(0, 1, 10))
        limits.force(2, 0, for_s=1.0)
        return limits

    first, second = lived(), LevelLimits(THREE, spread_updates=3)
    restore(from_json(to_json(take({"it": first}))), {"it": second})
    for value in (0.9, 0.5, 0.1):
        assert first.update(range(10), [value] * 10, 0.4).tolist() == second.update(
            range(10), [value] * 10, 0.4).tolist()
    assert first.save_state() == second.save_state()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": [0, 0, 0]}, "'level' has more than 2 at level 0"),
        ({"level": [0, 1, 9]}, "at most 2"),
        ({"ids": [0, 0, 1]}, "must be ascending"),
        ({"forced": [[7, [0, None]]]}, "must be agents of ids"),
    ],
)
def test_a_damaged_save_is_refused(change, message):
    limits = LevelLimits(TWO)
    limits.update(range(3), [0.9] * 3)
    with pytest.raises(StateError, match=message):
        limits.prepare_state({**limits.save_state(), **change})
