"""Choosing a behavior by importance: four ways, compared with the plainest one."""
from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.level_of_detail.behavior_ranges import ARBITRATIONS, BehaviorRanges

SHARE = st.one_of(st.integers(0, 16).map(lambda n: n / 16), st.floats(0, 1))
RANGE = st.tuples(SHARE, SHARE).map(sorted).filter(lambda one: one[0] < one[1])


def holding(ranges, importance):
    return [n for n, (lowest, highest) in enumerate(ranges) if lowest <= importance <= highest]


@settings(max_examples=40)
@given(st.lists(RANGE, max_size=8), SHARE)
def test_binary_search_finds_a_behavior_where_linear_scan_does(ranges, importance):
    found = BehaviorRanges(ranges, arbitration="any", allow_gaps=True).choose(importance)
    available = holding(ranges, importance)
    assert found in available if available else found is None


@settings(max_examples=25)
@given(st.lists(RANGE, max_size=6), SHARE)
def test_the_other_ways_choose_what_they_promise(ranges, importance):
    available = holding(ranges, importance)

    def choice(arbitration):
        return BehaviorRanges(ranges, arbitration=arbitration, allow_gaps=True).choose(importance)

    if not available:
        assert [choice(one) for one in ARBITRATIONS] == [None] * 4
        return
    assert choice("first") == available[0]
    off = {n: abs(importance - (ranges[n][0] + ranges[n][1]) / 2) for n in available}
    assert choice("most_central") == min(off, key=lambda n: (off[n], n))
    size = {n: ranges[n][1] - ranges[n][0] for n in available}
    assert choice("smallest_range") == min(size, key=lambda n: (size[n], n))


def test_a_long_range_far_from_its_centre_is_found():
    ranges = [(0.0, 1.0), (0.86, 0.9), (0.8, 0.84)]
    assert BehaviorRanges(ranges, arbitration="any").choose(0.95) == 0
    ranges = [(0.0, 1.0), (0.1, 0.14), (0.16, 0.2)]
    assert BehaviorRanges(ranges, arbitration="any").choose(0.05) == 0


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([(0.6, 0.2), (0, 1)], "range of '0' is reversed: 0.6 to 0.2"),
        ([(0, 1), (0.5, 0.5)], "range of '1' is empty: 0.5 to 0.5"),
        ([(0, 0.4), (0.6, 1)], "no range contains importance 0.4 to 0.6; widen a range, or add a fallback"),
        ([(0.1, 1)], "no range contains importance 0 to 0.1"),
        ([(0, 0.9), (0.2, 0.3)], "no range contains importance 0.9 to 1"),
        ([], "no range contains importance 0 to 1"),
        ([(0.1, 0.3), (0.5, 0.9)], "no range contains importance 0 to 0.1 and 0.3 to 0.5 and 0.9 to 1; widen"),
        ([(0, math.nan)], "highest of '0' must be a finite number"),
        ([(-0.1, 1)], "lowest of '0' must be at least 0"),
        ([(0, 1.5)], "highest of '0' must be at most 1"),
    ],
)
def test_wrong_ranges_are_named(ranges, message):
    with pytest.raises(ValueError, match=message):
        BehaviorRanges(ranges)


@pytest.mark.parametrize(
    ("ranges", "kept"),
    [
        ([(0.5, 1), (0, 0.5)], [(0.45, 1), (0, 0.55)]),                     # they touch
        ([(0.48, 1), (0, 0.52)], [(0.45, 1), (0, 0.55)]),                   # they overlap too little
        ([(0.4, 1), (0, 0.6)], [(0.4, 1), (0, 0.6)]),                       # enough
        ([(0.02, 1), (0, 0.02)], [(0.01, 1), (0, 0.07)]),                   # no more than half way into a neighbor
        ([(0.5, 1), (0, 0.4)], [(0.5, 1), (0, 0.4)]),                       # a gap
        ([(0, 1), (0.4, 0.6)], [(0, 1), (0.4, 0.6)]),                       # one around the other
    ],
)
def test_behavior_is_kept_past_a_border_with_a_small_overlap(ranges, kept):
    found = BehaviorRanges(ranges, allow_gaps=True).with_hysteresis(0.05)
    assert [tuple(one) for one in found] == [pytest.approx(one) for one in kept]


def test_an_unknown_way_to_choose_is_named():
    with pytest.raises(UnknownNameError, match="unknown arbitration 'frist'; did you mean 'first'"):
        BehaviorRanges([(0, 1)], arbitration="frist")
    with pytest.raises(TypeError, match="must be \\(lowest, highest\\), got 3"):
        BehaviorRanges([3])
