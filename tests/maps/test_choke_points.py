"""Choke points: doors and passes, and no nooks."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.maps.choke_points import choke_points


def ground(text):
    return np.array([[letter == "." for letter in line.strip()] for line in text.strip().splitlines()])


def test_a_door_between_two_rooms_is_a_choke_point():
    rooms = ground("""
        ....#....
        ....#....
        .........
        ....#....
        ....#....
    """)
    (door,) = choke_points(rooms, 1)
    assert (door.cell, door.width_cells, door.cells.tolist()) == (22, 1, [22])


def test_corridor_is_one_choke_point_centered_where_narrowest():
    corridor = ground("""
        ....#####....
        ....#####....
        .............
        ....#####....
        ....#####....
    """)
    (pass_,) = choke_points(corridor, 1)
    assert divmod(pass_.cell, 13) == (2, 6)
    assert len(pass_.cells) == 5


def test_a_nook_leads_nowhere_and_open_ground_is_none():
    nook = ground("""
        ....####
        ........
        ....####
        ....####
        ....####
    """)
    assert choke_points(nook, 1) == []
    assert choke_points(np.ones((6, 6), bool), 3) == []


def test_width_decides_what_counts_as_narrow():
    gap = ground("""
        .....##.....
        .....##.....
        ............
        ............
        .....##.....
        .....##.....
    """)
    assert choke_points(gap, 1) == []
    assert [point.width_cells for point in choke_points(gap, 2)] == [2]


def test_bad_ground_is_refused():
    with pytest.raises(TypeError, match="bool"):
        choke_points(np.ones((2, 2)))
    with pytest.raises(ValueError, match="shape"):
        choke_points(np.ones(4, bool))
