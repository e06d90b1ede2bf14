"""The best cover from some threats."""
from __future__ import annotations

import math
from collections import deque
from heapq import merge

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps import CoverBody, CoverMap, CoverObject, CoverQuery, CoverSearch, GridLineOfSight
from ai_core.maps.cover.cover_search import BOUNDS_PER_STEP, ROWS_PER_STEP
from ai_core.maps.cover.cover_spots import CoverSpots
from ai_core.scheduling import BackgroundJob, Scheduler, Suspendable
from ai_core.scheduling.policies import Policy
from tests.maps.cover.cover_levels import CoverLevel, at, best

YARD = """
.............
.............
......#......
.............
.............
..o.......~..
.............
"""
NORTH, SOUTH = (6.0, 1.6, -6.0), (6.0, 1.6, 12.0)


@pytest.fixture(scope="module")
def yard():
    return CoverLevel(YARD)


def test_cover_is_behind_the_wall_and_changes_sides_with_threat(yard):
    cover = yard.cover()
    assert at(best(cover, (6, 0, 4), [NORTH], yard.sight).result.spot) == (6, 3)
    assert at(best(cover, (6, 0, 4), [SOUTH], yard.sight).result.spot) == (6, 1)


def test_a_search_is_work_for_a_background_job(yard):
    scheduler = Scheduler(ManualClock(), policy=Policy.FREQUENCY)
    found = []
    BackgroundJob(scheduler, CoverSearch(yard.cover(), (6, 0, 4), [NORTH], yard.sight), then=found.append)
    scheduler.advance(Budget.unlimited())
    assert [at(evaluation.spot) for evaluation in found] == [(6, 3)]


def test_between_two_threats_the_lack_of_cover_is_reported(yard):
    found = best(yard.cover(), (6, 0, 4), [NORTH, SOUTH], yard.sight)
    assert found.result is None
    assert "too open" in found.why
    half = best(yard.cover(), (6, 0, 4), [NORTH, SOUTH], yard.sight, query=CoverQuery(min_protection=0.5))
    assert half.result.protection == 0.5
    assert len(half.result.seen_by) == 1


def test_the_weightier_threat_decides(yard):
    query = CoverQuery(min_protection=0.5)
    for weights, spot in (((9, 1), (6, 3)), ((1, 9), (6, 1))):
        found = best(yard.cover(), (6, 0, 2), [NORTH, SOUTH], yard.sight, query=query, weights=weights)
        assert at(found.result.spot) == spot


def test_a_crate_will_do_unless_one_must_stand(yard):
    cover = yard.cover()
    low = best(cover, (2, 0, 6), [(2, 1.0, -6)], yard.sight, query=CoverQuery(range_m=3))
    assert (at(low.result.spot), low.result.spot.is_low) == ((2, 6), True)
    stand = best(cover, (2, 0, 6), [(2, 1.0, -6)], yard.sight, query=CoverQuery(range_m=3, posture="stand"))
    assert stand.result is None
    assert "too low" in stand.why


def test_who_aims_from_above_sees_over_a_crate(yard):
    high = best(yard.cover(), (2, 0, 6), [(2, 9.0, 0)], yard.sight, query=CoverQuery(range_m=3))
    assert high.result is None


def test_the_way_there_counts_and_an_unreachable_spot_is_refused(yard):
    cover = yard.cover()
    threat, query = (2.0, 1.0, -6.0), CoverQuery(min_protection=0.7, posture="crouch")
    near = best(cover, (3, 0, 6), [threat], yard.sight, query=query)
    assert at(near.result.spot) == (2, 6)
    blocked = best(
        cover, (3, 0, 6), [threat], yard.sight, query=query,
        travel=lambda places: np.where(places[:, 2] > 5, np.inf, 4.0))
    assert at(blocked.result.spot) == (6, 3)
    assert any(one.why == "no path leads there" for one in blocked.evaluations)


def test_spots_near_a_threat_are_left_out(yard):
    threat = (6.0, 1.6, 0.4)
    for least_threat_m, is_there in ((3.5, False), (1, True)):
        query = CoverQuery(range_m=4, least_threat_m=least_threat_m)
        assert (best(yard.cover(), (6, 0, 5), [threat], yard.sight, query=query).result is not None) == is_there


def test_a_taken_spot_is_nobodys_but_the_holders(yard):
    cover = yard.cover()
    spot = best(cover, (6, 0, 4), [NORTH], yard.sight).result.spot
    assert cover.reserve(spot.id, "Bob")
    again = best(cover, (6, 0, 4), [NORTH], yard.sight, holder="Bob").result
    assert again.spot.id == spot.id
    other = best(cover, (6, 0, 4), [NORTH], yard.sight, holder="Ann")
    assert other.result is None or other.result.spot.id != spot.id
    cover.release("Bob")
    assert best(cover, (6, 0, 4), [NORTH], yard.sight, holder="Ann").result.spot.id == spot.id


def test_one_stays_unless_another_spot_is_clearly_better():
    level = CoverLevel("""
.............
..#########..
.............
.............
""")
    cover, threat = level.cover(), (6.0, 1.6, -20.0)
    first, second = (best(cover, (x, 0, 3), [threat], level.sight).result.spot for x in (5, 7))
    assert (at(first), at(second)) == ((5, 2), (7, 2))
    cover.reserve(second.id, "Bob")
    for stay_bonus, expected in ((0.0, first), (0.5, second)):
        query = CoverQuery(stay_bonus=stay_bonus)
        found = best(cover, (5, 0, 3), [threat], level.sight, query=query, holder="Bob").result
        assert found.spot.id == expected.id
    assert "for staying" in found.why


def test_held_spot_is_kept_when_the_threat_moves_a_little():
    cover, sight = crates()
    query = CoverQuery(least_threat_m=0, stay_bonus=0.5)
    spot = best(cover, (-2, 0, 0), [(8, 1.0, 0)], sight, query=query, holder="Bob").result.spot
    cover.reserve(spot.id, "Bob")
    for threat in ((8, 1.0, 0.2), (8, 1.0, -0.2)):
        assert best(cover, spot.place, [threat], sight, query=query, holder="Bob").result.spot.id == spot.id
    assert best(cover, spot.place, [(0, 1.0, 8)], sight, query=query, holder="Bob").result.spot.id != spot.id


def test_no_step_ranks_more_than_some_hundred_spots(monkeypatch):
    rng, cover, looked = np.random.default_rng(2), CoverMap(), []
    count = 4 * ROWS_PER_STEP + 7
    cover.add(CoverSpots(
        rng.uniform(-9, 9, (count, 3)).astype(np.float32), np.tile(np.float32((1, 0, 0)), (count, 1)),
        np.zeros(count, np.bool_), rng.random(count).astype(np.float32), np.zeros(count, np.uint8)))
    read = CoverMap.rows_near
    monkeypatch.setattr(CoverMap, "rows_near", lambda *given: looked.append(range(count)[given[-1]]) or read(*given))
    search = CoverSearch(cover, (0, 0, 0), [(5, 0, 0)], lambda lines: np.ones(len(lines), np.bool_))
    for _ in search._steps:
        looked.append(None)
    pieces = [range(begin, min(count, begin + ROWS_PER_STEP)) for begin in range(0, count, ROWS_PER_STEP)]
    assert looked[:2 * len(pieces)] == [one for piece in pieces for one in (piece, None)]


def test_no_step_ranks_all_spots_behind_objects(monkeypatch):
    cover, bounds = CoverMap(), []
    for number in range(2 * BOUNDS_PER_STEP + 7):
        cover.put_object(number, CoverObject((number % 9, 0.5, number // 9), (0.2, 0.5, 0.2)))
    bound = CoverSearch._bound
    monkeypatch.setattr(CoverSearch, "_bound", lambda *given: bounds.append(1) or bound(*given))
    search = CoverSearch(cover, (4, 0, 4), [(20, 1, 4)], lambda lines: np.ones(len(lines), np.bool_))
    for _ in search._steps:
        bounds.append(None)
    runs = "".join("." if one is None else "#" for one in bounds).split(".")
    assert [len(one) for one in runs if one] == [BOUNDS_PER_STEP, BOUNDS_PER_STEP, 7]


def by_hand(cover, agent, threats, blocked):
    """The best score, of all spots, without any short cut."""
    everything = CoverSearch(cover, agent, threats, blocked)
    deque(everything._rank(), maxlen=0)
    ranked = merge(*everything._runs)
    everything._ahead = next(ranked, None)
    judging = Suspendable(everything._judged, [everything._next(ranked) for _ in range(everything._left)])
    judging.advance(Budget.unlimited())
    return max((one.score for one in judging.result if one.score is not None), default=None)


@given(
    st.lists(st.sampled_from("....#o"), min_size=36, max_size=36),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.lists(st.tuples(st.integers(-9, 15), st.integers(-9, 15)), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_short_cuts_and_slices_never_cost_the_best_spot(letters, agent, threats, steps):
    level = CoverLevel("\n".join("".join(letters[row * 6:row * 6 + 6]) for row in range(6)))
    cover = level.cover()
    eyes = [(x + 0.01, 1.6, z + 0.02) for x, z in threats]
    search = CoverSearch(cover, (agent[0], 0, agent[1]), eyes, level.sight)
    while not search.is_done:
        search.advance(Budget.of_steps(steps))
    score = search.result.score if search.result else None
    assert score == by_hand(cover, (agent[0], 0, agent[1]), eyes, level.sight)


def crates(**sides):
    """A map with a crate at the origin and nothing else, and rays against it."""
    half = {"half_sides": (0.6, 0.6, 0.6), **sides}
    cover = CoverMap()
    cover.put_object(7, CoverObject((0, half["half_sides"][1], 0), **half))
    return cover, GridLineOfSight([[half["half_sides"][1] * 2]])


def test_cover_behind_a_crate_is_crouched_on_the_far_side():
    cover, sight = crates()
    for threat, place in (((8, 1.0, 0), (-1.1, 0)), ((0, 1.0, 8), (0, -1.1))):
        found = best(cover, (0, 0, 4), [threat], sight, query=CoverQuery(least_threat_m=0)).result
        assert (found.spot.object_id, found.spot.is_low, found.protection) == (7, True, 1.0)
        assert (found.spot.place[0], found.spot.place[2]) == pytest.approx(place, abs=1e-5)
        assert found.spot.place[1] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("half_sides", "why"), [((0.2, 0.6, 0.2), "too narrow"), ((0.6, 0.4, 0.6), "too low")])
def test_a_crate_smaller_than_the_body_hides_nobody(half_sides, why):
    cover, sight = crates(half_sides=half_sides)
    found = best(cover, (0, 0, 4), [(8, 1.0, 0)], sight)
    assert found.result is None
    assert why in found.why


def test_a_crate_against_a_wall_has_no_room_behind_it():
    cover, _ = crates()
    walled = GridLineOfSight([[0, np.inf, 1.2]], origin=(-2, 0, 0))
    found = best(cover, (0, 0, 4), [(8, 1.0, 0)], walled)
    assert found.result is None
    assert "no room behind it" in found.why


def test_a_turned_plank_hides_from_its_broad_side_only():
    cover = CoverMap()
    cover.put_object(1, CoverObject((0, 1, 0), (1.0, 1.0, 0.1), math.pi / 2))      # turned: long along z
    query = CoverQuery(least_threat_m=0)
    broad = CoverSearch(cover, (0, 0, 2), [(9, 1, 0)], lambda lines: np.ones(len(lines), bool), query=query)
    narrow = CoverSearch(cover, (0, 0, 2), [(0, 1, 9)], lambda lines: np.ones(len(lines), bool), query=query)
    for search in (broad, narrow):
        search.advance(Budget.unlimited())
    assert "no room" in broad.why              # all rays are blocked: wide enough, the room is asked for
    assert "too narrow" in narrow.why


def test_where_nobody_can_stand_behind_a_crate_it_is_refused():
    cover, sight = crates()
    found = best(cover, (0, 0, 4), [(8, 1.0, 0)], sight, ground=lambda places: places * np.nan)
    assert "nowhere to stand" in found.why
    lifted = best(cover, (0, 0, 4), [(8, 1.0, 0)], sight, ground=lambda places: places + np.float32(0.01))
    assert lifted.result.spot.place[1] == pytest.approx(0.01, abs=1e-5)


def test_in_a_flat_world_nobody_crouches():
    body = CoverBody(0.3, 0, 0, up="-z")
    cover = CoverMap()
    cover.put_object(1, CoverObject((0, 0, 0), (0.5, 0.5, 0)))
    sight = GridLineOfSight([[np.inf]], steps=((1, 0, 0), (0, 1, 0)), up="-z")
    found = best(cover, (0, 3, 0), [(6, 0, 0)], sight, body=body, query=CoverQuery(least_threat_m=0)).result
    assert found.spot.place.tolist() == pytest.approx([-0.9, 0, 0], abs=1e-6)
    assert found.spot.is_low is False


def test_when_spots_go_while_it_searches_it_begins_anew(yard):
    cover = yard.cover()
    search = CoverSearch(cover, (6, 0, 4), [NORTH], yard.sight)
    search.advance(Budget.of_steps(1))
    cover.replace(CoverLevel(YARD.replace("#", ".")).baked())
    search.advance(Budget.unlimited())
    assert search.result is None or cover.spot(search.result.spot.id)
    assert all(at(one.spot) != (6, 3) for one in search.evaluations)


def test_place_behind_a_crate_that_moved_is_left_out():
    cover, sight = crates()
    cover.put_object(8, CoverObject((0, 0.6, 3), (0.6, 0.6, 0.6)))
    search = CoverSearch(
        cover, (-2, 0, 0), [(8, 1.0, 0)], lambda lines: sight(lines) | (lines[:, 2] > 2) & (lines[:, 3] > 7),
        query=CoverQuery(least_threat_m=0, min_protection=0))
    search.advance(Budget.of_steps(3))      # the spots behind both crates are found
    cover.put_object(7, CoverObject((0, 0.6, -5), (0.6, 0.6, 0.6)))
    search.advance(Budget.unlimited())
    assert search.result.spot.object_id == 8
    assert any(one.why == "its object has moved" and one.spot.object_id == 7 for one in search.evaluations)


def test_it_says_what_it_found_and_why(yard):
    found = best(yard.cover(), (6, 0, 4), [NORTH], yard.sight)
    assert found.why.startswith("spot 4: score ")
    assert "1.00 hidden" in found.why
    assert "hidden from all 1" in found.why
    assert best(yard.cover(), (6, 0, 400), [NORTH], yard.sight).why == "no spot within 25 m"


@pytest.mark.parametrize(("wrong", "error"), [
    ({"threats": []}, ValueError), ({"threats": [(0, np.nan, 0)]}, ValueError), ({"agent": (0, 0, np.inf)}, ValueError),
    ({"blocked": None}, TypeError), ({"cover": None}, TypeError), ({"weights": [0.0]}, ValueError),
    ({"weights": [1.0, 1.0]}, ValueError),
])
def test_what_cannot_be_asked_is_refused(yard, wrong, error):
    arguments = {"cover": yard.cover(), "agent": (0, 0, 0), "threats": [NORTH], "blocked": yard.sight, **wrong}
    with pytest.raises(error):
        CoverSearch(**arguments)


@pytest.mark.parametrize("query", [
    {"range_m": 0}, {"min_protection": 1.5}, {"posture": "lie"}, {"distance": -1}, {"exposure": math.nan}])
def test_a_wish_that_makes_no_sense_is_refused(query):
    with pytest.raises(ValueError, match="must be"):
        CoverQuery(**query)


def test_travel_that_answers_nonsense_is_refused(yard):
    for answer in ([1.0], [math.nan] * 4):
        with pytest.raises(ValueError, match="travel must return"):
            best(yard.cover(), (6, 0, 4), [NORTH], yard.sight, travel=lambda places, told=answer: told)
