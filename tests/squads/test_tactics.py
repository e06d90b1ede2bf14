"""What members are told to do, by tactic."""
from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from ai_core.saving.fields import StateError
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.commander import SquadMember
from ai_core.squads.situation import Sighting, TacticalSituation
from ai_core.squads.tactics import BoundingOverwatch, Flanking, HealingSupport, Sacrifice, Scouting, SuppressingFire

ALL = [BoundingOverwatch, Flanking, HealingSupport, Sacrifice, Scouting, SuppressingFire]


def situation(places, enemies=(), roles=None, capabilities=None, **more):
    members = {
        number: SquadMember(number, 3.0, 0.4, (roles or {}).get(number, ()), (capabilities or {}).get(number))
        for number in range(len(places))}
    sighted = [Sighting(100 + number, place) for number, place in enumerate(enemies)]
    return TacticalSituation(members, np.array(places, float), sighted, **more)


def test_risk_is_larger_near_a_larger_threat():
    one = situation([(0, 0), (10, 0), (50, 0)], [(0, 0)])
    assert one.risks.tolist() == pytest.approx([1, 0.5, 1 / 26])


def test_a_healer_stands_behind_the_one_most_at_risk():
    plan = HealingSupport(2.0).plan(situation(
        [(0, 0), (10, 0), (0, 5)], [(20, 0)], roles={2: ("healer",)}))
    assert plan == {2: ("heal", pytest.approx((8, 0)), 1)}


def test_two_healers_have_a_patient_each_by_the_shorter_ways():
    plan = HealingSupport().plan(situation(
        [(10, 0), (10, 10), (0, 0), (0, 10)], [(20, 5)],
        capabilities={2: Capabilities(heals=1.0), 3: Capabilities(heals=1.0)}))
    assert {number: task.target for number, task in plan.items()} == {2: 0, 3: 1}


def test_healer_does_not_alternate_between_two_equal_patients():
    tactic, patients = HealingSupport(), set()
    for step in range(20):
        places = [(10, 0), (10 + (-1) ** step * 0.5, 8), (0, 4)]
        patients.add(tactic.plan(situation(places, [(20, 4)], roles={2: ("healer",)}))[2].target)
    assert len(patients) == 1


def test_scouts_fan_out_up_to_the_goal_and_return_from_contacts():
    tactic, roles = Scouting(ahead_m=20, apart_m=8, fall_back_m=12), {1: ("scout",), 2: ("scout",)}
    places = [(0, 0), (0, 1), (0, -1)]
    plan = tactic.plan(situation(places, roles=roles, goal=np.array([100.0, 0.0])))
    assert plan == {1: ("scout", pytest.approx((20, 4)), None), 2: ("scout", pytest.approx((20, -4)), None)}
    near = tactic.plan(situation(places, roles=roles, goal=np.array([6.0, 0.0])))
    assert near[1].position == pytest.approx((6, 4))
    met = tactic.plan(situation([(0, 0), (20, 4), (20, -30)], [(25, 4)], roles=roles, goal=np.array([100.0, 0.0])))
    assert list(met) == [2]
    assert tactic.why_not(situation(places)) == "no member has the role 'scout'"


def test_who_reaches_farthest_fires_and_each_at_another():
    can = {number: Capabilities(attack={"ground": 1.0}, range_m=reach) for number, reach in enumerate((5, 30, 5, 30))}
    plan = SuppressingFire(0.5).plan(situation([(0, 0), (0, 1), (0, 2), (0, 3)], [(20, 0), (20, 9)], capabilities=can))
    assert plan == {1: ("suppress", None, 100), 3: ("suppress", None, 101)}


@pytest.mark.parametrize("tactic", [Flanking(0.25), SuppressingFire()])
def test_members_out_of_range_come_near_to_suppress(tactic):
    can = dict.fromkeys(range(4), Capabilities(attack={"ground": 1.0}, range_m=12.0))
    places = np.array([(0.0, 0.0), (0.0, 4.0), (0.0, 8.0), (0.0, 12.0)])
    for _ in range(40):
        plan = tactic.plan(situation(places.tolist(), [(45, 4)], capabilities=can))
        firing = [one for one, task in plan.items() if task.kind == "suppress"]
        for one in firing:
            if plan[one].position is not None:
                way = np.array(plan[one].position) - places[one]
                places[one] += way / max(1.0, float(np.linalg.norm(way)))
    assert len(firing) >= 2
    assert all(math.dist(places[one], (45, 4)) <= 12.0 for one in firing)
    assert all(plan[one].position is None for one in firing)


def test_somebody_is_always_left_to_go():
    assert len(SuppressingFire(1.0).plan(situation([(0, 0), (0, 1), (0, 2)], [(20, 0)]))) == 2
    assert SuppressingFire().plan(situation([(0, 0)], [(20, 0)])) == {}


def test_the_weakest_stand_before_the_most_valuable():
    can = {number: Capabilities(toughness=tough) for number, tough in enumerate((9.0, 1.0, 5.0, 2.0))}
    plan = Sacrifice(distance_m=2.0).plan(situation(
        [(0, 0), (0, 3), (0, -3), (0, 6)], [(10, 0)], roles={0: ("vip",)}, capabilities=can))
    assert plan == {1: ("screen", pytest.approx((2, 0)), 0)}
    two = Sacrifice(screens=2, distance_m=2.0).plan(situation(
        [(0, 0), (0, 3), (0, -3), (0, 6)], [(10, 0)], roles={0: ("vip",)}, capabilities=can))
    assert sorted(two) == [1, 3]


def test_commander_is_worth_screening_and_nobody_screens_itself():
    tactic = Sacrifice()
    assert "no member has one of the roles" in tactic.why_not(situation([(0, 0)], [(9, 0)]))
    everybody = situation([(0, 0), (1, 0)], [(9, 0)], roles={0: ("vip",), 1: ("healer",)})
    assert tactic.why_not(everybody) == "no member is left to screen the valuable ones"
    assert tactic.plan(everybody) == {}


def follow(tactic, places, enemies, steps, speed=3.0, **more):
    """Let members go where their tasks say, a second a step; return the kinds each had."""
    places, kinds = np.array(places, float), []
    for step in range(steps):
        plan = tactic.plan(situation(places, enemies, now_s=float(step), **more))
        kinds.append({number: task.kind for number, task in plan.items()})
        for number, task in plan.items():
            if task.position is not None:
                way = np.array(task.position) - places[number]
                length = max(1e-9, float(np.sqrt((way ** 2).sum())))
                places[number] += way * min(1.0, speed / length)
    return kinds, places


def test_flankers_go_around_the_nearer_side_and_then_all_attack():
    tactic = Flanking(flank_m=10.0)
    kinds, _ = follow(tactic, [(0, 0), (0, 4), (0, 8), (0, 12)], [(30, 4)], 12)
    assert kinds[0] == {0: "flank", 1: "flank", 2: "suppress", 3: "suppress"}
    assert set(kinds[-1].values()) == {"attack"}
    assert tactic.is_attacking
    changes = [one for one, other in pairwise(kinds) if one != other]
    assert len(changes) == 1


def test_detour_is_replanned_only_when_the_enemies_have_moved():
    tactic, places = Flanking(flank_m=10.0), [(0, 0), (0, 4), (0, 8)]
    first = tactic.plan(situation(places, [(30, 4)]))
    assert tactic.plan(situation(places, [(33, 4)])) == first
    assert tactic.plan(situation(places, [(60, 4)])) != first


def stuck(tactic, seconds, since_s=0, enemy=(30, 4), stands=(0,)):
    """Plans of a flank, of which some members never come; others are there at once."""
    plans = []
    for second in range(since_s, since_s + seconds):
        places = [(0.0, 0.0), (0.0, 4.0), (0.0, 8.0), (0.0, 12.0)]
        for number in (1, 2, 3):
            if number in tactic._around and number not in stands:
                places[number] = tactic._around[number]
        plans.append(tactic.plan(situation(places, [enemy] if enemy else [], now_s=float(second))))
    return plans


def test_a_flank_is_given_up_by_who_never_comes_there():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    plans = stuck(tactic, 8)
    assert [one[0].kind for one in plans] == ["flank"] * 6 + ["attack"] * 2
    assert (tactic.given_up, tactic.is_attacking) == ((0,), True)
    tactic.begin()
    assert tactic.given_up == ()


def test_flankers_that_all_stay_away_attack_with_the_others():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    plans = stuck(tactic, 8, stands=(0, 1, 2, 3))
    assert {one.kind for one in plans[5].values()} == {"flank", "suppress"}
    assert {one.kind for one in plans[-1].values()} == {"attack"}


def test_patience_of_a_flank_begins_again_with_the_enemy():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    stuck(tactic, 4)
    assert stuck(tactic, 1, 4, None) == [{}]
    assert stuck(tactic, 1, 60)[0][0].kind == "flank"


def test_patience_of_a_flank_outlasts_moving_enemies():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    given_up = []
    for second in range(8):
        stuck(tactic, 1, second, (30 + 9 * second, 4), stands=(0, 1))
        given_up.append(0 in tactic.given_up)
    assert given_up[5:7] == [False, True]


def test_flank_takes_members_back_when_the_enemies_have_moved():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    for second in range(12):
        places = [(0.0, 0.0), (2.0 * second, 4.0), (0.0, 8.0), (0.0, 12.0)]     # 0 stands, 1 is on its way
        plan = tactic.plan(situation(places, [(30, 4)], now_s=float(second)))
    assert (tactic.given_up, plan[0].kind, plan[1].kind) == ((0,), "suppress", "flank")
    assert tactic.plan(situation(places, [(37, 4)], now_s=12.0))[0].kind == "suppress"
    assert tactic.plan(situation(places, [(39, 4)], now_s=13.0))[0].kind == "flank"
    assert tactic.given_up == ()


def test_two_teams_bound_in_turns_until_both_are_there():
    tactic = BoundingOverwatch(bound_m=8.0)
    goal = np.array([40.0, 0.0])
    kinds, places = follow(tactic, [(0, 0), (0, 2), (0, 4), (0, 6)], [], 60, goal=goal)
    bounds = [one for one in kinds if one]
    for one in bounds:
        assert sorted(set(one.values())) == ["bound", "overwatch"]
        assert one[0] == one[2] != one[1] == one[3]
    turns = [one[0] for one in bounds]
    assert sum(one != other for one, other in pairwise(turns)) >= 4
    assert 20 < len(bounds) < 60                   # then they are there, and keep to the formation again
    assert np.abs(places[:, 0] - 40).max() < 4


def test_a_flanker_on_a_detour_around_a_wall_is_not_given_up():
    tactic, places = Flanking(flank_m=10.0, patience_s=5.0), [(0.0, 0.0), (0.0, 4.0), (0.0, 8.0), (0.0, 12.0)]
    for second in range(24):
        plan = tactic.plan(situation(places, [(30, 4)], now_s=float(second)))
        if second < 12:
            places[0] = places[0][0] - 2.0, 0.0         # away from its place, along the wall
            assert plan[0].kind == "flank"
        else:
            places[0] = plan[0].position
        places[1] = plan[1].position or places[1]
    assert tactic.given_up == ()
    assert tactic.is_attacking


def test_a_flanker_that_walks_in_a_circle_is_given_up():
    tactic = Flanking(flank_m=10.0, patience_s=5.0)
    for second in range(40):
        places = [(3 * math.cos(second), 3 * math.sin(second)), (0.0, 4.0), (0.0, 8.0), (0.0, 12.0)]
        if 1 in tactic._around:
            places[1] = tactic._around[1]
        tactic.plan(situation(places, [(30, 4)], now_s=float(second)))
        assert (0 in tactic.given_up) == (second > 30), second
    assert tactic.is_attacking


def test_bounds_continue_without_a_member_that_is_stuck():
    tactic, goal = BoundingOverwatch(bound_m=8.0, patience_s=5.0), np.array([40.0, 0.0])
    places, plans, given_up = [(0.0, 0.0), (0.0, 2.0), (0.0, 4.0), (0.0, 6.0), (0.0, 8.0)], [], ()
    for second in range(80):
        plans.append(tactic.plan(situation(places, goal=goal, now_s=float(second))))
        given_up = given_up or tactic.given_up
        for number, task in plans[-1].items():
            if task.position is not None and number != 2:
                places[number] = task.position
    assert given_up == (2,)
    assert plans[0][2].kind == "bound"
    assert plans[-1] == {}                          # the others are there
    assert [math.dist(places[number], goal) < 8 for number in range(5)] == [True, True, False, True, True]
    near, elsewhere = np.array([46.0, 0.0]), np.array([-40.0, 0.0])
    assert 2 not in tactic.plan(situation(places, goal=near, now_s=80.0))
    assert 2 in tactic.plan(situation(places, goal=elsewhere, now_s=81.0)), "with another goal it may try again"
    assert tactic.given_up == ()


def test_bounds_end_before_a_goal_where_no_member_can_stand():
    kinds, places = follow(
        BoundingOverwatch(), [(0, 0), (0, 2), (0, 4), (0, 6)], [], 40, goal=np.array([40.0, 0.0]),
        standing=lambda wanted: np.minimum(wanted, [20.0, math.inf]))
    assert kinds[-1] == {}
    assert np.abs(places[:, 0] - 20).max() < 4


def test_bounds_end_when_all_members_are_stuck():
    tactic = BoundingOverwatch(patience_s=5.0)
    kinds, _ = follow(tactic, [(0, 0), (0, 2), (0, 4)], [], 30, speed=0.0, goal=np.array([40.0, 0.0]))
    assert set(kinds[0].values()) == {"bound", "overwatch"}
    assert kinds[-1] == {}


def test_tactics_work_in_three_dimensions():
    places = [(0, 1, 0), (0, 1, 2), (0, 1, 4)]
    for kind in ALL:
        one = situation(places, [(20, 3, 0)], roles={0: ("healer",), 1: ("scout",)}, goal=np.array([9.0, 0, 0]))
        for task in kind().plan(one).values():
            assert task.position is None or (len(task.position) == 3 and np.isfinite(task.position).all())


@pytest.mark.parametrize("kind", ALL)
def test_a_tactic_goes_on_where_it_was_saved(kind):
    roles = {0: ("healer",), 1: ("scout",), 2: ("vip",)}
    places, goal = [(0, 0), (0, 2), (0, 4), (0, 6)], np.array([40.0, 0.0])
    tactic, other = kind(), kind()
    _, places = follow(tactic, places, [(30, 4)], 5, roles=roles, goal=goal)
    other.prepare_state(json.loads(json.dumps(tactic.save_state())))()
    assert follow(tactic, places, [(30, 4)], 9, roles=roles, goal=goal)[0] == follow(
        other, places, [(30, 4)], 9, roles=roles, goal=goal)[0]
    with pytest.raises(StateError):
        tactic.prepare_state({**tactic.save_state(), "version": 7})


@pytest.mark.parametrize("kind", ALL)
def test_tactic_without_performers_plans_nothing_and_says_why(kind):
    alone = situation([(0, 0)])
    assert kind().why_not(alone)
    assert kind().plan(alone) == {}


@pytest.mark.parametrize("make", [
    lambda: Flanking(share=0), lambda: Flanking(flank_m=-1), lambda: SuppressingFire(2), lambda: Scouting(ahead_m=0),
    lambda: Sacrifice(screens=0), lambda: HealingSupport(math.nan), lambda: BoundingOverwatch(bound_m=0),
    lambda: Sighting(-1, (0, 0)), lambda: Sighting(1, (0, math.nan)), lambda: Sighting(1, (0, 0), threat=-1),
])
def test_numbers_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()


@pytest.mark.parametrize(("tactic", "change"), [
    (Flanking, {"around": [[1, 0.0]]}), (Flanking, {"around": [[1, 0.0, 0.0], [2, 0.0, 0.0, 0.0]]}),
    (Flanking, {"around": [[]]}), (Flanking, {"around": [[0.5, 0.0, 0.0]]}), (Flanking, {"goal": []}),
    (Flanking, {"around": [[1, 0.0, 0.0]], "goal": [0.0, 0.0, 0.0]}), (Flanking, {"progress": [[1, -1.0, 0.0]]}),
    (BoundingOverwatch, {"posts": [[1, 0.0]]}),
    (BoundingOverwatch, {"posts": [[]]}), (BoundingOverwatch, {"posts": [[1, 0.0, 0.0], [1, 0.0, 0.0]]}),
])
def test_posts_that_are_no_places_are_not_loaded(tactic, change):
    one = tactic()
    before = one.save_state()
    with pytest.raises(StateError, match=next(iter(change))):
        one.prepare_state({**before, **change})
    assert one.save_state() == before
