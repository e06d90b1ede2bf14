"""Progress along a way."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.paths import PathProgress
from ai_core.paths.path_progress import WINDOW_M
from ai_core.saving import StateError

CORNER = [(0, 0), (10, 0), (10, 10)]
PLACES = st.tuples(*[st.floats(-20, 20).map(lambda number: round(number, 3))] * 2)


def test_who_walks_along_the_way_gets_to_its_end():
    progress = PathProgress(CORNER, arrival_m=0.5)
    here, steps = np.zeros(2), 0
    while not progress.has_arrived:
        target = progress.ahead(1.0)
        here = here + (target - here) / max(1.0, math.dist(target, here)) * 0.5
        progress.note(here)
        steps += 1
        assert steps < 100
    assert progress.remaining_m <= 1
    assert progress.offset_m <= 0.6  # it cuts the corner a little


@given(points=st.lists(PLACES, min_size=1, max_size=6), walk=st.lists(PLACES, max_size=10))
def test_progress_never_falls_and_never_leaps_beyond_its_window(points, walk):
    progress = PathProgress(points)
    for place in walk:
        before = progress.walked_m
        progress.note(place)
        assert before <= progress.walked_m <= before + WINDOW_M + 1e-9
        assert progress.walked_m <= progress.length_m + 1e-9
        assert np.isfinite(progress.ahead(2.0)).all()
        assert progress.offset_m >= 0


def test_on_a_way_that_comes_by_again_the_part_it_is_on_counts():
    hairpin = PathProgress([(0, 0), (20, 0), (20, 0.2), (0, 0.2)])
    hairpin.note((1, 0.2))
    assert hairpin.walked_m == 1
    assert not hairpin.has_arrived


def test_a_way_of_one_point_is_walked_when_one_is_near():
    progress = PathProgress([(3, 4, 0)], arrival_m=1.0)
    progress.note((0, 0, 0))
    assert (progress.offset_m, progress.has_arrived) == (5, False)
    progress.note((3, 4, 0.5))
    assert progress.has_arrived
    assert progress.ahead(9.0).tolist() == [3, 4, 0]


def test_states_go_through_json_and_back():
    progress = PathProgress(CORNER)
    progress.note((4, 1))
    other = PathProgress([(0, 0)])
    other.prepare_state(json.loads(json.dumps(progress.save_state())))()
    assert other.save_state() == progress.save_state()
    assert other.ahead(3).tolist() == progress.ahead(3).tolist()
    for spoilt in ({**progress.save_state(), "walked_m": 99.0}, {**progress.save_state(), "points": [["a"]]}, {}):
        with pytest.raises(StateError):
            other.prepare_state(spoilt)


def test_bad_input_is_refused_at_the_call():
    for points in ([], [(1, 2, 3, 4)], [(1, math.nan)]):
        with pytest.raises(ValueError, match="points must be"):
            PathProgress(points)
    with pytest.raises(ValueError, match="position"):
        PathProgress(CORNER).note((1, 2, 3))
    with pytest.raises(ValueError, match="distance_m"):
        PathProgress(CORNER).ahead(-1)
