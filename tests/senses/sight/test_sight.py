"""Sight cones: full angles, borders inside, the first that contains the target counts."""
import math

import pytest

from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.sight.sight_loops import NO_CONE
from tests.senses.sight.plain_cones import cones_of

UP_IN_3D, UP_IN_2D = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AHEAD = (0.0, 0.0, -1.0)


def cone_of(target, *cones, forward=AHEAD, up=UP_IN_3D):
    """The index of the cone that contains a target, for a sensor at the origin."""
    return cones_of([target], cones, forward, up)[0]


def at(azimuth_deg, elevation_deg=0.0, distance_m=5.0):
    """A point seen from the origin, facing -z: degrees to the right, degrees up."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    flat = distance_m * math.cos(elevation)
    return (flat * math.sin(azimuth), distance_m * math.sin(elevation), -flat * math.cos(azimuth))


def cone(horizontal_deg=90.0, vertical_deg=60.0, range_m=10.0):
    return SightCone(range_m, math.radians(horizontal_deg), math.radians(vertical_deg))


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("full_deg", [2, 60, 90, 180, 270, 350])
def test_horizontal_border_is_at_half_the_full_angle_inclusive(full_deg, side):
    half = side * full_deg / 2
    assert cone_of(at(half), cone(full_deg)) == 0
    assert cone_of(at(half - 0.1 * side), cone(full_deg)) == 0
    assert cone_of(at(half + 0.1 * side), cone(full_deg)) == NO_CONE


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("azimuth_deg", [0, 40])
def test_vertical_border_is_at_half_the_full_angle_everywhere(side, azimuth_deg):
    assert cone_of(at(azimuth_deg, 30 * side), cone(vertical_deg=60)) == 0
    assert cone_of(at(azimuth_deg, 30.1 * side), cone(vertical_deg=60)) == NO_CONE


def test_the_range_is_inside_and_beyond_it_is_not():
    assert cone_of(at(0, distance_m=10.0), cone(range_m=10)) == 0
    assert cone_of(at(0, distance_m=10.001), cone(range_m=10)) == NO_CONE


def test_full_circle_sees_behind_and_full_vertical_sees_up():
    assert cone_of(at(180), cone(360)) == 0
    assert cone_of((0.0, 5.0, 0.0), cone(90, 180)) == 0
    assert cone_of((0.0, 5.0, 0.0), cone(90, 170)) == NO_CONE


def test_first_of_several_cones_counts_even_if_a_later_one_fits():
    wide, narrow = cone(120, range_m=5), cone(30, range_m=20)
    assert cone_of(at(0, distance_m=4), wide, narrow) == 0
    assert cone_of(at(0, distance_m=6), wide, narrow) == 1
    assert cone_of(at(50, distance_m=6), wide, narrow) == NO_CONE


def test_a_target_where_the_sensor_is_lies_in_the_first_cone():
    assert cone_of((0.0, 0.0, 0.0), cone(10), cone(20)) == 0


def test_turning_sensor_and_target_together_changes_nothing():
    for turned_deg in range(0, 360, 15):
        forward = at(turned_deg, distance_m=1)
        assert cone_of(at(turned_deg + 45), cone(90), forward=forward) == 0
        assert cone_of(at(turned_deg + 46), cone(90), forward=forward) == NO_CONE


def test_a_sensor_that_looks_up_a_slope_tilts_its_cone_with_it():
    assert cone_of(at(0, 70), cone(vertical_deg=60), forward=at(0, 45, 1)) == 0
    assert cone_of(at(0, 76), cone(vertical_deg=60), forward=at(0, 45, 1)) == NO_CONE


def test_sensor_looking_straight_up_still_sees_what_is_above():
    assert cone_of((0.0, 3.0, 0.0), cone(40, 40), forward=(0.0, 1.0, 0.0)) == 0
    assert cone_of((3.0, 0.0, 0.0), cone(40, 40), forward=(0.0, 1.0, 0.0)) == NO_CONE


def test_in_two_dimensions_horizontal_angle_is_that_of_the_plane():
    looks_right = (1.0, 0.0, 0.0)
    assert cone_of((4.0, 3.9, 0.0), cone(90, 10), forward=looks_right, up=UP_IN_2D) == 0
    assert cone_of((4.0, 4.1, 0.0), cone(90, 10), forward=looks_right, up=UP_IN_2D) == NO_CONE


@pytest.mark.parametrize(
    "wrong", [{"range_m": 0}, {"horizontal_rad": 7}, {"vertical_rad": 4}, {"acuity": -1}]
)
def test_impossible_cones_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SightCone(**{"range_m": 1.0, "horizontal_rad": 1.0, "vertical_rad": 1.0, **wrong})
