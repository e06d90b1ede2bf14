"""Passes over all that is in view: kernels and twins give the same to the last bit."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.id_table import SLOT_BITS
from ai_core.senses.percepts.followed_pairs import COLUMNS
from ai_core.senses.percepts.following import VisiblePairs
from ai_core.senses.sight.pairs_in_view import ID_BITS
from ai_core.twins import kernel_of
from tests.senses.conftest import FOLLOWING

KERNELS = {name: kernel_of(one) for name, one in FOLLOWING.items()}
needs_kernels = pytest.mark.skipif(None in KERNELS.values(), reason="kernels are not built")

SECONDS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 7.3])
STRENGTH = st.sampled_from([0.0, 0.2, 1.0])
KEY = st.builds(lambda sensor, source: sensor << ID_BITS | source, st.integers(0, 5), st.integers(0, 5))
KEYS = st.lists(KEY, max_size=20, unique=True).map(sorted)


def both(name, call):
    """What a kernel and its twin leave behind and return."""
    return [call(form[name]) for form in (FOLLOWING, KERNELS)]


def column(draw, values, count, kind=np.float64):
    return np.array(draw(st.lists(values, min_size=count, max_size=count)), kind)


@st.composite
def followed(draw):
    """Rows that are followed, and how pairs of the same sensors show themselves."""
    mine, theirs = draw(KEYS), sorted(draw(st.lists(KEY, max_size=20)))
    if draw(st.booleans()):
        theirs = mine
    kinds = {"number": st.integers(0, 1), "rise": st.sampled_from([0.3, 1.0, np.inf]),
             "fall": st.sampled_from([-1.0, 0.1, 0.5]), "slope": st.sampled_from([-0.2, 0.0, 1.0])}
    rows = {
        name: column(draw, kinds.get(name, SECONDS), len(mine), kind)
        for name, kind in COLUMNS.items() if isinstance(kind, type) and name != "key"}
    rows["key"] = np.array(mine, np.int64)
    for name in ("position", "before"):
        rows[name] = column(draw, SECONDS, 3 * len(mine), np.float32).reshape(-1, 3)
    return (rows, np.array(theirs, np.int64), column(draw, STRENGTH, len(theirs)),
            column(draw, st.integers(0, 1), len(theirs), np.int64))


@needs_kernels
@settings(max_examples=60)
@given(followed(), SECONDS)
def test_both_find_the_same_sensors_to_look_at(some, now_s):
    rows, keys, intensity, number = some
    ours, theirs = both("dirty_sensors", lambda form: set(form(
        rows, 0, len(rows["key"]), keys, intensity, number, now_s)))
    assert ours == theirs


@needs_kernels
@settings(max_examples=40)
@given(followed(), SECONDS, st.data())
def test_both_let_the_same_rows_move_on_to_the_same_place(some, now_s, data):
    rows = some[0]
    count = len(rows["key"])
    first = data.draw(st.integers(0, count))
    intensity = column(data.draw, STRENGTH, count - first)
    position = column(data.draw, SECONDS, 3 * (count - first), np.float32).reshape(-1, 3)

    def moved(form):
        mine = {name: one.copy() for name, one in rows.items()}
        form(mine, first, count, intensity, position, now_s)
        return {name: one.tobytes() for name, one in mine.items()}

    ours, theirs = both("move_on", moved)
    assert ours == theirs


@needs_kernels
@settings(max_examples=60)
@given(KEYS, SECONDS, SECONDS, st.data())
def test_both_show_and_tell_the_same(keys, now_s, tell_every_s, data):
    count = len(keys)
    first = data.draw(st.integers(0, count))
    is_sensed = column(data.draw, st.booleans(), count, np.bool_)
    told_at_s = column(data.draw, st.one_of(SECONDS, st.just(-np.inf)), count)
    intensity, places = column(data.draw, STRENGTH, count), np.arange(18, dtype=np.float32).reshape(6, 3)
    ids = np.where(column(data.draw, st.booleans(), 6, np.bool_), np.arange(6), 1 << SLOT_BITS).astype(np.int32)

    def found(form):
        out = VisiblePairs.of(count - first)
        many = form(np.array(keys, np.int64), is_sensed, told_at_s, intensity, first, count, ids, places, now_s,
                    tell_every_s, out)
        return [one.tolist() for one in out.first(many)]

    ours, theirs = both("shown", found)
    assert ours == theirs
    ours, theirs = both("sensing", lambda form: form(np.array(keys, np.int64), is_sensed))
    senses = column(data.draw, st.integers(0, 5), data.draw(st.integers(0, 6)), np.int64)
    for ids in (np.array(ours, np.int64), senses):
        assert both("are_sensing", lambda form: form(np.array(keys, np.int64), is_sensed, ids)) == [  # noqa: B023
            ids.tolist() == ours] * 2
    assert ours == theirs == sorted({key >> ID_BITS for key, one in zip(keys, is_sensed.tolist(), strict=True) if one})


@needs_kernels
@settings(max_examples=60)
@given(st.lists(st.one_of(st.integers(0, 9), st.sampled_from([-(1 << 40), 1 << 40])), max_size=40), st.integers(0, 50))
def test_both_put_the_same_first_in_line(since, most):
    def first(form):
        rows = np.zeros(min(len(since), most), np.int64)
        assert form(np.array(since, np.int64), most, rows) == len(rows)
        return rows.tolist()

    ours, theirs = both("first_in_line", first)
    assert ours == theirs == sorted(range(len(since)), key=since.__getitem__)[:most]


@needs_kernels
def test_both_note_answers_and_read_places_alike():
    rows, is_free = np.array([4, 1, 2], np.int64), np.array([True, False, True])
    positions = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(8, 3))
    ids = np.array([7, 1 << SLOT_BITS | 2], np.int32)

    def left(form):
        columns = np.zeros(5, np.bool_), np.ones(5), np.arange(5, dtype=np.int64)
        return form(rows, is_free, 9, *columns), [one.tolist() for one in columns]

    def read(form):
        out = np.zeros((2, 3), np.float32)
        form(positions, ids, out)
        return out.tolist()

    ours, theirs = both("note_answers", left)
    assert ours == theirs
    assert ours[0] == 1
    ours, theirs = both("places_of", read)
    assert ours == theirs == [[21, 22, 23], [6, 7, 8]]


@needs_kernels
@pytest.mark.parametrize("ids", [[8], [-1]])
def test_a_kernel_reads_no_row_that_is_not_there(ids):
    with pytest.raises(IndexError):
        KERNELS["places_of"](np.zeros((8, 3), np.float32), np.array(ids, np.int32), np.zeros((1, 3), np.float32))
    with pytest.raises(IndexError):
        KERNELS["note_answers"](
            np.array(ids, np.int64), np.array([True]), 1, np.zeros(8, np.bool_), np.zeros(8), np.zeros(8, np.int64))
