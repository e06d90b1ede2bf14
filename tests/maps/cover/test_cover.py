"""The map of cover: who holds what, and what becomes of it when the level changes."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.maps import CoverMap, CoverObject, CoverQuery, CoverSpots
from ai_core.maps.cover import cover_map
from ai_core.maps.cover.cover_map import TAKEN_TOGETHER
from ai_core.saving.fields import StateError
from ai_core.scheduling.interruptible import finished
from tests.maps.cover.cover_levels import CoverLevel, best

WALL = """
.........
.........
...###...
.........
.........
"""


def spots(*places):
    count = len(places)
    return CoverSpots(
        np.array(places, np.float32).reshape(-1, 3), np.tile(np.float32((0, 0, -1)), (count, 1)),
        np.zeros(count, bool), np.zeros(count, np.float32), np.zeros(count, np.uint8))


def test_one_character_holds_one_spot_and_one_spot_one_character():
    cover = CoverMap()
    first, second = cover.add(spots((0, 0, 0), (5, 0, 0)))
    assert cover.reserve(first, "Bob")
    assert not cover.reserve(first, "Ann")
    assert cover.reserve(first, "Bob")
    assert cover.reserve(second, "Bob")
    assert cover.reserve(first, "Ann")
    assert (cover.held, cover.holders) == ({"Bob": second, "Ann": first}, {second: "Bob", first: "Ann"})
    cover.release("Ann")
    cover.release("Ann")
    assert cover.is_free((0, 0, 0))


def test_spots_too_near_to_a_held_one_are_taken_too():
    cover = CoverMap(apart_m=0.8)
    first, near, far = cover.add(spots((0, 0, 0), (0.5, 0, 0), (1, 0, 0)))
    cover.reserve(first, 1)
    assert not cover.reserve(near, 2)
    assert cover.reserve(far, 2)
    assert not cover.is_free((0.5, 0, 0), 1)      # 2 is near, too


def test_what_is_free_follows_reservations_without_reading_spots(monkeypatch):
    rng, cover = np.random.default_rng(3), CoverMap()
    ids = cover.add(spots(*rng.uniform(0, 12, (200, 3))))
    for turn in range(400):
        if rng.random() < 0.6:
            cover.reserve(ids[rng.integers(200)], int(rng.integers(60)))
        else:
            cover.release(int(rng.integers(60)))
        if turn == 200:
            cover.prepare_state(cover.save_state())()
        place, holder = rng.uniform(0, 12, 3).astype(np.float32), int(rng.integers(60))
        others = [cover.spot(one).place for one, other in cover.holders.items() if other != holder]
        expected = all(np.linalg.norm(place - one) >= cover.apart_m for one in others)
        with monkeypatch.context() as patched:
            patched.setattr(CoverMap, "spot", None)
            assert cover.is_free(place, holder) == expected
    assert len(cover.held) > 20


def test_spots_near_a_place_come_nearest_first():
    cover = CoverMap()
    ids = cover.add(spots((4, 0, 0), (1, 0, 0), (9, 0, 0), (1, 0, 0)))
    assert cover.near((0, 0, 0), 5) == [ids[1], ids[3], ids[0]]


def test_when_a_wall_goes_only_what_hid_behind_it_goes():
    before, after = CoverLevel(WALL), CoverLevel(WALL.replace("###", "##."))
    cover = before.cover()
    kept, lost = (
        next(one for one in cover.ids.tolist() if cover.spot(one).place.tolist() == place)
        for place in ([3, 0, 3], [5, 0, 3]))
    cover.reserve(kept, "Bob")
    cover.reserve(lost, "Ann")
    change = cover.replace(after.baked())
    assert change.lost_by == {"Ann": lost}
    assert cover.held == {"Bob": kept}
    assert change.removed == 3                # both sides of the cell, and the one at its end
    assert change.added == 1                  # at the new end
    with pytest.raises(UnknownNameError, match="spot"):
        cover.spot(lost)
    assert len(cover) == change.kept + change.added


def test_a_change_in_a_box_leaves_the_rest_alone():
    cover = CoverMap()
    ids = cover.add(spots((0, 0, 0), (1, 0, 0), (50, 0, 0)))
    change = cover.replace(spots((1, 0, 0), (2, 0, 0)), (-1, -1, -1), (3, 1, 1))
    assert (change.added, change.kept, change.removed) == (1, 1, 1)
    assert cover.ids.tolist() == [ids[1], ids[2], 4]


def test_who_hides_behind_a_crate_is_told_when_it_is_pushed_away():
    cover = CoverMap()
    crate = CoverObject((0, 0.6, 0), (0.6, 0.6, 0.6))
    cover.put_object(3, crate)
    sight_of_crate = CoverLevel("o").sight
    spot = best(cover, (0, 0, 3), [(8, 1, 0)], sight_of_crate, query=CoverQuery(least_threat_m=0)).result.spot
    assert cover.reserve(spot.id, "Bob")
    assert cover.put_object(3, CoverObject((0.1, 0.6, 0), (0.6, 0.6, 0.6))) == []
    assert cover.put_object(3, CoverObject((0.5, 0.6, 0), (0.6, 0.6, 0.6))) == ["Bob"]
    assert cover.held == {}
    with pytest.raises(UnknownNameError):
        cover.reserve(spot.id, "Bob")


def test_who_hides_behind_a_crate_is_told_when_it_is_gone():
    cover = CoverMap()
    cover.put_object(3, CoverObject((0, 0.6, 0), (0.6, 0.6, 0.6)))
    spot = best(cover, (0, 0, 3), [(8, 1, 0)], CoverLevel("o").sight, query=CoverQuery(least_threat_m=0)).result.spot
    cover.reserve(spot.id, 5)
    assert cover.remove_object(3) == [5]
    assert cover.remove_object(3) == []


def saved(cover):
    return json.loads(json.dumps(cover.save_state()))


def filled():
    cover = CoverLevel(WALL).cover()
    cover.put_object(3, CoverObject((20, 0.6, 20), (0.6, 0.6, 0.6), 0.5))
    cover.reserve(cover.ids.tolist()[2], "Bob")
    cover.reserve(cover.ids.tolist()[-1], 7)
    return cover


def test_a_saved_map_goes_on_as_it_was():
    cover = filled()
    other = CoverMap()
    other.prepare_state(saved(cover))()
    assert saved(other) == saved(cover)
    assert not other.reserve(cover.ids.tolist()[2], "Ann")
    assert other.add(spots((90, 0, 0))) == cover.add(spots((90, 0, 0)))


def test_a_held_spot_behind_a_crate_is_saved():
    cover = CoverMap()
    cover.put_object(3, CoverObject((0, 0.6, 0), (0.6, 0.6, 0.6)))
    spot = best(cover, (0, 0, 3), [(8, 1, 0)], CoverLevel("o").sight, query=CoverQuery(least_threat_m=0)).result.spot
    cover.reserve(spot.id, "Bob")
    other = CoverMap()
    other.prepare_state(saved(cover))()
    assert other.spot(other.held["Bob"]).object_id == 3
    assert other.put_object(3, CoverObject((9, 0.6, 0), (0.6, 0.6, 0.6))) == ["Bob"]


@pytest.mark.parametrize(("field", "value"), [
    ("version", 2), ("ids", [2, 1]), ("ids", [1]), ("held", [[99, "Bob"]]), ("held", [[1, "Bob"], [2, "Bob"]]),
    ("held", [[1, "Bob"], [1, "Ann"]]), ("held", [[1, None]]), ("last_id", 0), ("spots", {}), ("objects", [{}]),
])
def test_a_damaged_save_is_refused_and_changes_nothing(field, value):
    cover = filled()
    before = saved(cover)
    with pytest.raises(StateError):
        cover.prepare_state({**before, field: value})
    assert saved(cover) == before


@pytest.mark.parametrize("wrong", [
    lambda cover: cover.reserve(1, None), lambda cover: cover.reserve(1, True), lambda cover: cover.add([]),
    lambda cover: cover.put_object(1, None), lambda cover: cover.put_object("crate", CoverObject((0, 0, 0), (1, 1, 1))),
])
def test_misuse_is_refused(wrong):
    cover = CoverMap()
    cover.add(spots((0, 0, 0)))
    with pytest.raises(TypeError, match="must be"):
        wrong(cover)


def test_an_object_must_be_a_box():
    with pytest.raises(ValueError, match="half_sides must be 0 or more"):
        CoverObject((0, 0, 0), (1, -1, 1))
    with pytest.raises(ValueError, match="finite"):
        CoverObject((0, 0, 0), (1, 1, 1), float("nan"))


@pytest.mark.parametrize(("change", "message"), [
    ({"places": [(0, 0, np.nan)]}, "places must be finite"), ({"towards": [(1, 0)]}, "towards must have shape"),
    ({"is_low": [True]}, "is_low must be an array"), ({"exposures": np.array([2.0])}, "exposures must be 0 to 1"),
    ({"peeks": np.zeros(2, np.uint8)}, "peeks must be as many as places"),
])
def test_spots_that_cannot_be_are_refused(change, message):
    right = {"places": [(0, 0, 0)], "towards": [(1, 0, 0)], "is_low": np.zeros(1, bool), "exposures": np.zeros(1),
             "peeks": np.zeros(1, np.uint8)}
    assert len(CoverSpots(**right)) == 1
    with pytest.raises((TypeError, ValueError), match=message):
        CoverSpots(**{**right, **change})


def test_what_is_no_spots_replaces_none():
    cover = filled()
    before = saved(cover)
    with pytest.raises(TypeError, match="spots must be CoverSpots, got 5"):
        cover.replace(5)
    assert saved(cover) == before


def test_spots_that_stay_are_matched_wherever_they_are():
    cover = CoverMap()
    # Here the positions a tenth of a metre before and behind round to float32 with more than two tenths between them.
    level = spots(*((x, 0, 0) for x in (444.703, 342.693, 41.915, 1.919, -444.703)))
    first = cover.add(level)[0]
    cover.reserve(first, "Ann")
    change = cover.replace(level)
    assert (change.kept, change.added, change.lost_by) == (5, 0, {})


def crowded(count, seed, moved_m=0.0):
    """Spots close together, half of them facing away, each moved a little."""
    first, moves = np.random.default_rng(5), np.random.default_rng(seed)
    places = first.uniform(-2, 2, (count, 3)) + moves.uniform(-moved_m, moved_m, (count, 3))
    towards = np.where(first.random((count, 1)) < 0.5, (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    return CoverSpots(
        places.astype(np.float32), towards.astype(np.float32), np.zeros(count, bool), moves.random(count),
        np.zeros(count, np.uint8))


def same_by_hand(old, new):
    """Each new spot, in order, is the first old one that is near, faces alike, and is not taken yet."""
    taken = []
    for place, towards in zip(new.places, new.towards, strict=True):
        fits = [row for row in range(len(old)) if row not in taken and math.dist(old.places[row], place) <= 0.1
                and old.towards[row] @ towards >= 0.9]
        taken.append(fits[0] if fits else -1)
    return taken


@pytest.mark.parametrize("seed", range(5))
def test_replaced_spots_are_matched_as_by_hand(seed, monkeypatch):
    monkeypatch.setattr(cover_map, "TAKEN_TOGETHER", 70)
    cover, old, new = CoverMap(), crowded(300, 0), crowded(300, seed, 0.08)
    ids = cover.add(old)
    expected = same_by_hand(old, new)
    change = cover.replace(new)
    kept = [row for row in expected if row >= 0]
    assert 20 < len(kept) < 300
    assert (change.kept, change.added, change.removed) == (len(kept), 300 - len(kept), 300 - len(kept))
    assert set(cover.ids.tolist()) == {ids[row] for row in kept} | set(range(301, 601 - len(kept)))
    for number, row in enumerate(expected):
        if row >= 0:
            assert cover.spot(ids[row]).exposure == new.exposures[number]


def test_replacing_changes_nothing_before_its_last_step():
    cover = CoverMap()
    cover.add(crowded(300, 0))
    cover.reserve(7, "Bob")
    before, steps = saved(cover), 0
    work = cover.replacing(crowded(10, 3))
    for _ in work:
        steps += 1
        assert saved(cover) == before
    assert steps >= 3
    assert len(cover) == 10
    assert len(list(cover.replacing(crowded(300, 4)))) > steps          # matched in parts


@pytest.mark.parametrize("box", [(), ((-3, -3, -3), (-1, 3, 3))])
def test_no_step_of_replacing_is_over_all_spots(box, monkeypatch):
    cover, taken = CoverMap(), []
    cover.add(crowded(3 * TAKEN_TOGETHER, 0))
    cover.reserve(TAKEN_TOGETHER + 7, "Bob")
    new = crowded(3 * TAKEN_TOGETHER, 0)
    if box:
        new = new.taken((new.places >= box[0]).all(axis=1) & (new.places <= box[1]).all(axis=1))
    take = CoverSpots.taken
    monkeypatch.setattr(CoverSpots, "taken", lambda spots, rows: taken.append(len(rows)) or take(spots, rows))
    before = cover.spots
    change = finished(cover.replacing(new, *box))
    assert (change.kept, change.added, change.removed, change.lost_by) == (len(new), 0, 0, {})
    assert cover.spots.places.tolist() == before.places.tolist()
    assert max(taken) <= TAKEN_TOGETHER
    assert sum(taken) == 3 * TAKEN_TOGETHER


def test_replacing_begins_again_when_spots_came_meanwhile():
    cover = CoverMap()
    cover.add(spots((0, 0, 0)))
    work = cover.replacing(spots((0, 0, 0), (5, 0, 0)))
    next(work)
    late = cover.add(spots((5, 0, 0)))
    change = finished(work)
    assert (change.kept, change.added, change.removed) == (2, 0, 0)
    assert cover.ids.tolist() == [1, *late]
