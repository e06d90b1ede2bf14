"""Rows of agents are kept as they are while others come and go."""
import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3
from addons.ai_core.nodes.characters.agent_places import Places


@pytest.fixture
def walkers(node):
    """Five nodes along x, each a metre from the next."""
    return [node("Node3D", position=Vector3(x, 0, 0)) for x in range(5)]


@pytest.fixture
def places(walkers):
    """All of them were seen twice, and walk 1 m/s along z."""
    made = Places(3)
    made.keep(walkers)
    made.look(1.0)
    for one in walkers:
        move(one, 1)
    made.look(1.0)
    return made


def move(one, way_m):
    x, y, z = one.position
    one.position = Vector3(x, y, z + way_m)


def rows(places):
    return [(float(position[0]), float(velocity[2]))
            for position, velocity in zip(places.positions, places.velocities, strict=True)]


def test_who_stays_moves_up_and_who_comes_is_last(places, walkers, node):
    places.renew(_all_but(1, 3), [node("Node3D", position=Vector3(9, 0, 0))])
    assert rows(places) == [(0, 1), (2, 1), (4, 1), (0, 0)]
    for one in walkers:
        move(one, 2)
    places.look(1.0)
    assert rows(places) == [(0, 2), (2, 2), (4, 2), (9, 0)]


def test_who_leaves_and_is_back_has_been_seen(places, walkers):
    places.renew(_all_but(1, 3), [walkers[3]])
    assert rows(places) == [(0, 1), (2, 1), (4, 1), (3, 1)]


def test_all_may_leave_and_others_come(places, walkers):
    places.renew(_all_but(0, 1, 2, 3, 4), [])
    assert rows(places) == []
    places.renew(_all_but(of=0), walkers[:2])
    places.look(1.0)
    assert rows(places) == [(0, 0), (1, 0)]


def test_rows_may_be_had_in_another_order(places, walkers):
    places.reorder([4, 2, 0, 1, 3])
    move(walkers[4], 5)
    places.look(1.0)
    assert rows(places) == [(4, 5), (2, 0), (0, 0), (1, 0), (3, 0)]


def _all_but(*gone, of=5):
    return np.array([row not in gone for row in range(of)], np.bool_)
