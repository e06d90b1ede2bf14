"""Batches of pairs that are asked and kept as one array: nothing tells them from tuples but speed."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events import IdPairs, PollingLog, PollingStation

ids = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)
events = st.one_of(
    st.tuples(st.just("many"), ids), st.tuples(st.just("many"), ids), st.tuples(st.just("again"), st.none()),
    st.tuples(st.just("frame"), st.sampled_from([None, 0, 3])),
    st.tuples(st.just("one"), st.tuples(st.integers(0, 3), st.integers(0, 3))),
    st.tuples(st.just("forget"), st.one_of(st.just(()), st.tuples(st.integers(0, 3), st.integers(0, 3)))),
    st.tuples(st.just("save"), st.none()), st.tuples(st.just("log"), st.booleans()),
)


def as_pairs(keys):
    return IdPairs(np.array(keys, np.int64).reshape(-1, 2))


class World:
    """A station that answers how often it was asked for a pair, and when."""

    def __init__(self, *, is_together, **terms):
        self.clock, self.is_together, self.asked, self.last = ManualClock(), is_together, [], []
        self.station = PollingStation(self.clock)
        self.station.add_topic("sees", None, compute_many=self.compute, **terms)

    def compute(self, keys):
        self.asked += keys
        return [(self.clock.now.frame, *key) for key in keys]

    def do(self, what, value):
        station = self.station
        if what in ("many", "again"):
            self.last = value if what == "many" else self.last
            found = station.poll_many("sees", as_pairs(self.last) if self.is_together else [*self.last])
            assert isinstance(found, list)
        elif what == "one":
            found = station.poll_with_age("sees", *value)
        elif what == "frame":
            self.clock.advance()
            found = None if value is None else station.begin_frame(Budget.of_steps(value))
        elif what == "save":
            found = station.save_state()
            station.prepare_state(found)()
        elif what == "log":
            station.log = found = PollingLog() if value else None
            found = None
        else:
            found = station.invalidate("sees", *value)
        return found, len(self.asked), station.statistics()


@pytest.mark.parametrize("terms", [
    {}, {"lifetime_frames": 3}, {"lifetime_frames": None}, {"lifetime_frames": 0}, {"is_symmetric": True},
    {"lifetime_s": 0.03}, {"may_ask": lambda asker, a, b: a != 0}, {"fallback": "?"},
], ids=lambda terms: ", ".join(terms) or "no terms")
@settings(max_examples=60)
@given(events=st.lists(events, max_size=12))
def test_pairs_are_answered_counted_and_saved_as_tuples_are(terms, events):
    together, by_key = World(is_together=True, **terms), World(is_together=False, **terms)
    for event in events:
        assert together.do(*event) == by_key.do(*event), event
    assert together.asked == by_key.asked


@settings(max_examples=60)
@given(batches=st.lists(st.tuples(ids, st.booleans()), max_size=6), maximum=st.integers(1, 12))
def test_memory_is_bounded_and_no_pair_repeats_in_a_frame(batches, maximum):
    world = World(is_together=True, lifetime_frames=None, maximum_keys=maximum)
    seen = set()
    for keys, is_new_frame in batches:
        if is_new_frame:
            world.do("frame", None)
            seen.clear()
            world.asked.clear()
        world.do("many", keys)
        assert len(world.asked) == len(set(world.asked))
        seen |= set(keys)
        assert world.station.statistics()[0].keys <= maximum + len(seen)
    world.do("frame", None)
    world.do("many", [])
    world.station.poll_many("sees", [])
    assert world.station.statistics()[0].keys <= maximum


def test_the_same_batch_is_one_look_while_its_answers_are_fresh():
    world = World(is_together=True)
    pairs = as_pairs([(1, 2), (2, 1)])
    assert world.station.poll_many("sees", pairs) == [(0, 1, 2), (0, 2, 1)]
    assert world.station.poll_many("sees", as_pairs([(1, 2), (2, 1)])) == [(0, 1, 2), (0, 2, 1)]
    assert len(world.asked) == 2
    assert world.station.statistics()[0].hits == 2


def test_who_changes_what_was_returned_changes_no_answer():
    world = World(is_together=True)
    for _ in range(3):
        world.station.poll_many("sees", as_pairs([(1, 2)])).clear()
    assert world.station.poll("sees", 1, 2) == (0, 1, 2)


def test_the_parts_of_a_key_have_names_if_somebody_gives_them():
    world = World(is_together=True)
    pairs = IdPairs(np.array([[1, 2]]), {1: "Ann", 2: "Bob"}.get)
    assert world.station.poll_many("sees", pairs) == [(0, "Ann", "Bob")]
    assert world.station.poll("sees", "Ann", "Bob") == (0, "Ann", "Bob")
    assert world.asked == [("Ann", "Bob")]


def test_pairs_that_come_twice_are_found_among_many():
    chance = np.random.default_rng(1)
    pairs = IdPairs(np.unique(chance.integers(0, 1 << 40, (5000, 2)), axis=0))
    assert pairs.are_sure_to_differ()
    assert not IdPairs(np.concatenate([pairs.ids, pairs.ids[77:78]])).are_sure_to_differ()


@pytest.mark.parametrize(("wrong", "error", "message"), [
    ([(1, 2)], TypeError, "ids must be an int64 array"), (np.zeros((2, 2)), TypeError, "ids must be an int64 array"),
    (np.zeros((2, 3), np.int64), ValueError, "ids must have shape"), (np.zeros(2, np.int64), ValueError, "shape"),
], ids=str)
def test_ids_are_pairs_of_whole_numbers(wrong, error, message):
    with pytest.raises(error, match=message):
        IdPairs(wrong)


def columns(keys):
    return [np.array(column, np.int64).tobytes() for column in zip(*keys, strict=True)]


def test_pairs_may_come_as_two_columns_of_bytes():
    keys = [(1, -2), (3, 1 << 40), (1, 4)]
    pairs = IdPairs.of_columns(*columns(keys))
    assert [*pairs] == keys
    assert pairs.ids.tolist() == [*map(list, keys)]
    assert pairs.are(as_pairs(keys))
    assert not pairs.are(as_pairs(keys[::-1]))
    assert [*pairs.latest(2)] == keys[1:]


@pytest.mark.parametrize("wrong", [(b"12345678", b""), (b"1234", b"1234")], ids=str)
def test_columns_are_as_many_ids(wrong):
    with pytest.raises(ValueError, match="columns must hold equally many int64"):
        IdPairs.of_columns(*wrong)


class Flags(bytes):
    """Bytes that are truth values one by one."""

    def __iter__(self):
        return map(bool, super().__iter__())


def test_bytes_answers_are_returned_whole_and_singly_by_value():
    clock = ManualClock()
    station, keys = PollingStation(clock), [(1, 2), (2, 1)]
    station.add_topic("sees", None, compute_many=lambda keys: Flags([a < b for a, b in keys]))
    pairs = IdPairs.of_columns(*columns(keys))
    for _ in range(2):
        first = station.poll_many("sees", pairs)
        assert (type(first), station.poll_many("sees", pairs) is first) == (Flags, True)
        clock.advance()
    clock.advance()
    station.poll_many("sees", pairs)
    assert [station.poll("sees", *key) for key in keys] == [True, False]
    assert station.poll_many("sees", keys) == [True, False]


def test_bytes_of_another_length_are_refused():
    station = PollingStation(ManualClock())
    station.add_topic("sees", None, compute_many=lambda keys: b"\1")
    with pytest.raises(ValueError, match="an answer for each of 2 keys, got 1"):
        station.poll_many("sees", as_pairs([(1, 2), (2, 1)]))


class Name(str):
    """What a number is called."""

    __slots__ = ()


NAMES = [Name(f"guard {number}") for number in range(64)]


MADE = []
"""Numbers of which somebody wanted the name."""


def name_of(number):
    MADE.append(number)
    return NAMES[number]


def number_of(name):
    return NAMES.index(name) if name in NAMES else None


def named(keys):
    MADE.clear()
    return IdPairs.of_columns(*columns(keys), name_of, number_of)


def test_single_pair_poll_makes_no_keys_of_its_batch():
    clock, computed = ManualClock(), []
    station = PollingStation(clock)

    def see(pairs):
        computed.append(len(pairs))
        return [f"answer {sum(computed)}"] * len(pairs)

    station.add_topic("sees", None, compute_many=see)
    keys = [(a, b) for a in range(30) for b in range(a)]
    for frame in range(3):
        clock.advance()
        together = station.poll_many("sees", named(keys))
        assert station.poll("sees", NAMES[7], NAMES[3]) == station.poll("sees", NAMES[8], NAMES[2]) == together[0]
        alone = station.poll("sees", NAMES[3], NAMES[7])
        assert alone != together[0]
        assert station.poll("sees", NAMES[3], NAMES[7]) == alone
        assert station.poll("sees", "nobody", NAMES[7]) != alone if frame == 2 else True
        assert computed[2 * frame:2 * frame + 2] == [len(keys), 1]
        assert (MADE == []) == (frame < 2)  # "nobody" has no number: only the keys can tell


def test_many_polls_one_by_one_after_a_batch_make_its_keys_once():
    station = PollingStation(ManualClock())
    station.add_topic("sees", None, compute_many=lambda pairs: [*range(len(pairs))])
    keys = [(a, b) for a in range(30) for b in range(30)]
    station.poll_many("sees", named(keys))
    assert [station.poll("sees", NAMES[a], NAMES[b]) for a, b in keys] == [*range(len(keys))]
    assert len(MADE) == 30


@pytest.mark.parametrize(("key", "place"), [
    ((1, 2), 0), ((2, 1), 1), ((1, 1), -1), ((1 << 80, 1), -1), ((1,), -1), ((1, 2, 3), -1), ((1.0, 2), None),
    (("1", 2), None),
], ids=str)
def test_place_of_a_pair_needs_no_keys_where_numbers_suffice(key, place):
    assert as_pairs([(1, 2), (2, 1)]).place_of(key) == place
