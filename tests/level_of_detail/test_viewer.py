"""What viewers make of agents."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.level_of_detail.importance_settings import ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer, ViewerContributions

HUGE = st.sampled_from([0.0, -0.0, 1e-30, 1e18, 3e38, -3e38])
COORDINATE = st.one_of(st.floats(-120, 120, width=32), HUGE)
SETTINGS = st.builds(
    ImportanceSettings, distance=st.sampled_from([0.0, 0.5]), view=st.sampled_from([0.0, 0.2]),
    approach=st.sampled_from([0.0, 0.1]), size=st.sampled_from([0.0, 0.1, 3.0]),
)


@st.composite
def scenes(draw):
    """Viewers, and (n, d) places, (n, d) or no speeds, and sizes of agents."""
    dimensions = draw(st.sampled_from([2, 3]))
    place = st.tuples(*[COORDINATE] * dimensions)
    viewer = st.builds(
        Viewer, place, velocity=st.one_of(st.none(), place), weight=st.sampled_from([0.0, 0.3, 1.0]),
        forward=st.one_of(st.none(), place.filter(lambda one: 1e-3 < math.hypot(*one) < 1e30)),
        field_of_view_rad=st.sampled_from([0.5, math.pi / 2, math.tau]), far_m=st.sampled_from([None, 20.0, 300.0]),
    )
    rows = draw(st.lists(st.tuples(place, place, st.floats(0.125, 50, width=32)), max_size=9))
    where, speeds = (np.array([row[n] for row in rows], np.float32).reshape(-1, dimensions) for n in (0, 1))
    sizes = np.array([row[2] for row in rows], np.float32)
    return draw(st.lists(viewer, max_size=3)), where, draw(st.sampled_from([None, speeds])), sizes


def results(scene, settings):
    viewers, where, speeds, sizes = scene
    total, parts = np.full(len(where), 7, np.float32), np.full((4, len(where)), 7, np.float32)
    alone = total.copy()
    opinions = ViewerContributions(settings)
    assert opinions.write(viewers, where, speeds, sizes, total, parts) == -1
    assert opinions.write(viewers, where, speeds, sizes, alone) == -1
    assert (alone == total).all(), "parts change nothing"
    return total, parts


@given(scenes(), SETTINGS)
def test_all_is_finite_and_parts_change_nothing(scene, settings):
    total, parts = results(scene, settings)
    assert np.isfinite(total).all()
    assert np.isfinite(parts).all()


@pytest.mark.parametrize("row", [0, 300, 16_384, 20_000])
def test_the_first_row_that_is_not_finite_is_found(row):
    where, speeds = (np.zeros((20_003, 3), np.float32) for _ in range(2))
    sizes = np.ones(20_003, np.float32)
    where[row + 1, 0], speeds[row, 2], where[row + 2, 1] = math.nan, math.inf, -math.inf
    assert ViewerContributions(ImportanceSettings()).write([Viewer((0, 0, 0))], where, speeds, sizes,
        sizes.copy()) == row
