"""Going through those who live, one step after the other."""
from __future__ import annotations

import weakref

import pytest

from ai_core.events.living import living


class GoneError(Exception):
    """What these are told to raise."""


class Guard:
    """Whom somebody may keep, or not; is equal to everybody and true to nobody."""

    def __eq__(self, other):
        return True

    def __bool__(self):
        return False

    __hash__ = None


def row_of(living, guards, are_weak):
    held = [weakref.ref(one) if is_weak else one for one, is_weak in zip(guards, are_weak, strict=True)]
    return living(held, are_weak, GoneError)


def names_of(found, guards):
    return [next(place for place, guard in enumerate(guards) if guard is one) for one in found]


def test_all_who_live_come_in_their_order_as_often_as_asked():
    guards = [Guard() for _ in range(5)]
    row = row_of(living, guards, [True, False, True, True, False])
    assert [names_of(row, guards) for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2


def test_one_way_through_inside_another_disturbs_neither():
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True] * 3)
    assert names_of([inner for _ in row for inner in row], guards) == [0, 1, 2] * 3


def test_it_raises_at_the_first_dead_object_and_not_before():
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True] * 3)
    going = iter(row)
    next(going)
    del guards[1]
    with pytest.raises(GoneError):
        next(going)
    assert names_of([next(iter(row))], guards) == [0]


def test_held_object_lives_as_long_as_the_row_and_others_do_not():
    guards = [Guard(), Guard()]
    known = [weakref.ref(one) for one in guards]
    row = row_of(living, guards, [False, True])
    guards.clear()
    assert [one() is None for one in known] == [False, True]
    row.end()
    assert known[0]() is None


def test_after_the_end_every_way_under_way_ends_and_none_begins():
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True, False, True])
    going = iter(row)
    next(going)
    row.end()
    assert [*going, *row] == []


def test_a_row_of_nobody_is_empty():
    assert [*living([], [], GoneError)] == []


def test_number_of_weakness_flags_must_match_the_objects():
    with pytest.raises(ValueError, match="zip"):
        living([Guard()], [], GoneError)
