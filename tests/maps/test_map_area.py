"""Areas: where cells lie."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.map_area import OUTSIDE, MapArea


@given(st.integers(1, 20), st.integers(1, 20), st.sampled_from([0.5, 1.0, 3.0]), st.data())
def test_the_middle_of_a_cell_is_in_it(height, width, cell_m, data):
    area = MapArea(height, width, cell_m=cell_m, origin=(-7.5, 4.0))
    cell = data.draw(st.integers(0, area.size - 1))
    assert area.cell_at(area.center_of(cell)) == cell


def test_in_three_dimensions_the_height_is_not_asked_for():
    area = MapArea(4, 4)
    assert area.cells_of([[1.5, 99.0, 2.5], [1.5, 0.0, -0.1]]).tolist() == [9, OUTSIDE]
    assert area.cells_of(np.zeros((0, 3))).tolist() == []


def test_cells_within_a_radius_are_those_whose_middles_are():
    area = MapArea(5, 5)
    assert area.cells_within((2.5, 2.5), 1.0).tolist() == [7, 11, 12, 13, 17]
    assert area.cells_within((-9.0, 2.5), 2.0).tolist() == []
    assert area.cells_within((3e38, 2.5), 2.0).tolist() == []
    assert area.cells_within((2.5, -3e38), 1e99).tolist() == list(range(25))


def test_bad_areas_and_cells_are_refused():
    with pytest.raises(ValueError, match="cell_m must be above 0"):
        MapArea(2, 2, cell_m=0)
    with pytest.raises(ValueError, match="at most"):
        MapArea(100_000, 100_000)
    with pytest.raises(ValueError, match="0 to 3"):
        MapArea(2, 2).centers_of([4])
