"""Layers against plain loops: blur keeps the total, spread finds its way, decay counts seconds."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.influence_map import blur_rows_within_walls
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer
from tests.maps import plain_maps

shapes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@st.composite
def worlds(draw):
    """Strengths, walls."""
    shape = draw(shapes)
    strengths = draw(arrays.arrays(np.float32, shape, elements=st.floats(0, 100, width=32)))
    return strengths, draw(arrays.arrays(np.bool_, shape))


def picture_of(layer, strengths, *, is_open=None, seconds=0.0, cell_m=1.0):
    """The layer's picture after strengths were written, and a second update some time later."""
    clock = ManualClock()
    whole = DecisionMap(MapArea(*strengths.shape, cell_m=cell_m), [layer], clock, is_open=is_open, period_s=0)
    whole.write(layer.name, np.arange(strengths.size), strengths.reshape(-1))
    whole.advance(Budget.unlimited())
    if seconds:
        clock.advance(seconds=seconds)
        whole.advance(Budget.unlimited())
    return whole.result[layer.name]


@settings(max_examples=60, deadline=None)
@given(worlds(), st.integers(1, 4))
def test_blur_is_that_of_a_plain_loop_and_keeps_the_total(world, passes):
    strengths, _ = world
    expected = strengths.tolist()
    for _ in range(passes):
        expected = plain_maps.blurred(expected)
    found = picture_of(MapLayer("heat", blur_passes=passes), strengths)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert found.sum(dtype=np.float64) == pytest.approx(strengths.sum(dtype=np.float64), rel=1e-6, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(worlds(), st.integers(1, 4))
def test_blur_at_walls_equals_a_plain_loop_and_keeps_the_total(world, passes):
    strengths, is_open = world
    expected = strengths.tolist()
    for _ in range(passes):
        expected = plain_maps.blurred_within_walls(expected, is_open.tolist())
    layer = MapLayer("heat", blur_passes=passes, blur_stops_at_walls=True)
    found = picture_of(layer, strengths, is_open=is_open)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    assert found.sum(dtype=np.float64) == pytest.approx(strengths.sum(dtype=np.float64), rel=1e-5, abs=1e-5)
    assert (found[~is_open] == strengths[~is_open]).all(), "what is in a wall stays there"
    without = picture_of(layer, strengths)
    assert (without == picture_of(MapLayer("heat", blur_passes=passes), strengths)).all(), "no walls, no difference"


@settings(max_examples=40, deadline=None)
@given(worlds(), st.integers(1, 8))
def test_rows_blurred_a_few_at_a_time_are_those_blurred_at_once(world, rows):
    strengths, is_open = world
    at_once, in_slices, scratch = (np.empty_like(strengths) for _ in range(3))
    blur_rows_within_walls(strengths, 0, len(strengths), is_open, scratch, at_once)
    for first in range(0, len(strengths), rows):
        blur_rows_within_walls(strengths, first, min(first + rows, len(strengths)), is_open, scratch, in_slices)
    assert (in_slices == at_once).all()


@settings(max_examples=60, deadline=None)
@given(worlds(), st.sampled_from([0.3, 0.9]), st.sampled_from([0.5, 2.0]))
def test_spread_is_that_of_a_plain_loop_also_round_walls(world, kept_per_m, cell_m):
    strengths, is_open = world
    expected = plain_maps.spread(strengths.tolist(), kept_per_m**cell_m, is_open.tolist())
    found = picture_of(MapLayer("threat", kept_per_m=kept_per_m), strengths, is_open=is_open, cell_m=cell_m)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(worlds(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 2.0]), st.sampled_from([0.25, 3.0]))
def test_values_fade_and_grow_by_the_seconds_that_passed(world, kept_per_s, grows_per_s, passed_s):
    strengths, _ = world
    expected = plain_maps.decayed(strengths.tolist(), kept_per_s, grows_per_s, passed_s, 50.0)
    first = MapLayer("age", kept_per_s=kept_per_s, grows_per_s=grows_per_s, max_value=50.0)
    found = picture_of(first, np.minimum(strengths, 50), seconds=passed_s)
    expected = plain_maps.decayed(np.minimum(strengths, 50).tolist(), kept_per_s, grows_per_s, passed_s, 50.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(worlds(), min_size=1, max_size=1), st.lists(st.floats(-3, 3), min_size=2, max_size=2))
def test_combination_is_the_sum_of_layers_times_weights(world, weights):
    strengths, walls = world[0]
    second = walls.astype(np.float32)
    whole = DecisionMap(MapArea(*strengths.shape), [MapLayer("a"), MapLayer("b")], ManualClock())
    for name, layer in (("a", strengths), ("b", second)):
        whole.write(name, np.arange(layer.size), layer.reshape(-1))
    whole.advance(Budget.unlimited())
    found = whole.result.combined({"a": weights[0], "b": weights[1]})
    np.testing.assert_allclose(found, plain_maps.combined([strengths.tolist(), second.tolist()], weights),
                               rtol=1e-5, atol=1e-4)


def test_written_strengths_add_in_a_sum_and_replace_in_a_latest():
    whole = DecisionMap(MapArea(1, 3), [MapLayer("sum"), MapLayer("latest", writes="latest")], ManualClock())
    for name in ("sum", "latest"):
        whole.write(name, [0, 0, 2], [5, 7, 1])
        whole.write(name, [2], [4])
    whole.advance(Budget.unlimited())
    assert whole.picture["sum"].tolist() == [[12.0, 0.0, 5.0]]
    assert whole.picture["latest"].tolist() == [[7.0, 0.0, 4.0]]


def test_what_is_drawn_is_not_blurred_again_by_the_next_update():
    strengths = np.zeros((5, 5), np.float32)
    strengths[2, 2] = 16
    once = picture_of(MapLayer("heat", blur_passes=1), strengths)
    later = picture_of(MapLayer("heat", blur_passes=1), strengths, seconds=9.0)
    assert later.tolist() == once.tolist()


def test_a_layer_that_keeps_nothing_is_cleared_without_time():
    clock = ManualClock()
    ground = DecisionMap(MapArea(3, 4), [MapLayer("threat", kept_per_s=0.0)], clock, period_s=0)
    for _ in range(3):
        clock.advance(seconds=0.0)
        ground.write("threat", [0], 1.0)
        ground.advance(Budget.unlimited())
        assert ground.layer("threat").values[0, 0] == 1.0


@pytest.mark.parametrize(("settings", "words"), [
    ({"writes": "add"}, "writes must be 'sum' or 'latest'"),
    ({"initial": -1.0}, "initial must be at least 0"),
    ({"kept_per_s": 1.5}, "kept_per_s must be at most 1"),
    ({"kept_per_m": 1.0}, "kept_per_m must be below 1"),
    ({"blur_passes": -1}, "blur_passes must be at least 0"),
    ({"max_value": 0}, "max_value must be above 0"),
])
def test_a_layer_out_of_range_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        MapLayer("heat", **settings)
