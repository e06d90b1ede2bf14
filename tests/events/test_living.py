"""Going through those who live, in both forms."""
from __future__ import annotations

import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events.living_forms import FORMS

each_form = pytest.mark.parametrize("living", FORMS.values(), ids=list(FORMS))


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


@each_form
def test_all_who_live_come_in_their_order_as_often_as_asked(living):
    guards = [Guard() for _ in range(5)]
    row = row_of(living, guards, [True, False, True, True, False])
    assert [names_of(row, guards) for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2


@each_form
def test_one_way_through_inside_another_disturbs_neither(living):
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True] * 3)
    assert names_of([inner for _ in row for inner in row], guards) == [0, 1, 2] * 3


@each_form
def test_it_raises_at_the_first_dead_object_and_not_before(living):
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True] * 3)
    going = iter(row)
    next(going)
    del guards[1]
    with pytest.raises(GoneError):
        next(going)
    assert names_of([next(iter(row))], guards) == [0]


@each_form
def test_held_object_lives_as_long_as_the_row_and_others_do_not(living):
    guards = [Guard(), Guard()]
    known = [weakref.ref(one) for one in guards]
    row = row_of(living, guards, [False, True])
    guards.clear()
    assert [one() is None for one in known] == [False, True]
    row.end()
    assert known[0]() is None


@each_form
def test_after_the_end_every_way_under_way_ends_and_none_begins(living):
    guards = [Guard() for _ in range(3)]
    row = row_of(living, guards, [True, False, True])
    going = iter(row)
    next(going)
    row.end()
    assert [*going, *row] == []


@each_form
def test_a_row_of_nobody_is_empty(living):
    assert [*living([], [], GoneError)] == []


@each_form
def test_number_of_weakness_flags_must_match_the_objects(living):
    with pytest.raises(ValueError, match="zip"):
        living([Guard()], [], GoneError)


@pytest.mark.skipif(len(FORMS) < 2, reason="the kernel is not built")
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12), st.integers(0, 12))
def test_both_forms_find_the_same_whoever_goes_when(crowd, steps):
    """Who is weak, who is freed after so many steps."""
    found = []
    for living in FORMS.values():
        guards = {place: Guard() for place in range(len(crowd))}
        number = {id(one): place for place, one in guards.items()}
        row = row_of(living, guards.values(), [is_weak for is_weak, _ in crowd])
        going, diary = iter(row), []
        for step in range(len(crowd) + 1):
            if step == steps:
                for place, (_, is_freed) in enumerate(crowd):
                    if is_freed:
                        del guards[place]
            try:
                diary.append(number[id(next(going))])
            except (GoneError, StopIteration) as end:
                diary.append(type(end).__name__)
                break
        found.append(diary)
    assert found[0] == found[1]
