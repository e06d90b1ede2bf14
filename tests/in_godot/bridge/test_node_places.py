"""Where many nodes are, read in one crossing."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import GodotFreedError, NodePlaces, Vector2, Vector3, construct, place_of
from tests.in_godot.bridge import bridge_nodes  # noqa: F401 - registers the classes

FAR = float("inf")


@pytest.fixture
def rows():
    return np.full((3, 3), -1, np.float32), np.full((3, 3), -1, np.float32)


def at(node, *places, of="Node3D"):
    return [node(of, position=Vector3(*place)) for place in places]


@pytest.mark.parametrize("of", ["Node3D", "BridgeProbe"])
def test_it_reads_where_nodes_are_and_where_they_look(node, rows, of):
    positions, forwards = rows
    nodes = at(node, (1, 2, 3), (4, 5, 6), (7, 8, 9), of=of)
    nodes[1].rotation = Vector3(0, np.pi / 2, 0)
    nodes[2].scale = Vector3(2, 2, 2)
    assert NodePlaces(nodes).read(positions, forwards) == []
    assert positions.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert forwards == pytest.approx(np.array([[0, 0, -1], [-1, 0, 0], [0, 0, -1]]), abs=1e-6)


def test_rows_may_lie_as_columns(node):
    positions, forwards = (np.zeros((9, 3), np.float32, order="F") for _ in range(2))
    assert NodePlaces(at(node, (1, 2, 3), (4, 5, 6))).read(positions[2:4], forwards[2:4]) == []
    assert positions[1:5].tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]]
    assert forwards[1:5].tolist() == [[0, 0, 0], [0, 0, -1], [0, 0, -1], [0, 0, 0]]


@pytest.mark.parametrize("of", ["Node3D", "BridgeProbe"])
def test_a_freed_node_is_reported_and_keeps_its_row(node, rows, of):
    nodes = at(node, (1, 2, 3), (4, 5, 6), (7, 8, 9), of=of)
    nodes[0].free()
    places = NodePlaces(nodes)
    assert places.read(*rows) == [0]
    nodes[1].free()
    rows[0][1] = 0
    nodes[2].position = Vector3(0, 0, 9)
    assert places.read(*rows) == [0, 1]
    assert rows[0].tolist() == [[-1, -1, -1], [0, 0, 0], [0, 0, 9]]


def test_who_is_nowhere_is_told_and_its_row_stays(node, rows):
    nodes = at(node, (1, 2, 3), (FAR, 0, 0), (0, 0, 0))
    nodes[2].scale = Vector3(FAR, 1, 1)
    assert NodePlaces(nodes).read(rows[0]) == [1]
    assert NodePlaces(nodes).read(*rows) == [1, 2]
    assert rows[0].tolist() == [[1, 2, 3], [-1, -1, -1], [0, 0, 0]]


def test_children_follow_their_parents_and_another_parent(node, rows):
    one, other = at(node, (1, 0, 0), (0, 5, 0))
    child = construct("Node3D")
    one.add_child(child)
    child.position = Vector3(0, 0, 7)
    places = NodePlaces([child])
    assert places.read(*rows) == []
    assert rows[0][0].tolist() == [1, 0, 7]
    child.reparent(other, False)
    one.free()
    assert places.read(*rows) == []
    assert rows[0][0].tolist() == [0, 5, 7]


def test_rows_that_are_too_few_or_too_narrow_are_refused(node):
    places = NodePlaces(at(node, (1, 2, 3), (4, 5, 6)))
    with pytest.raises(ValueError, match="2 nodes need 2 rows, got 1"):
        places.read(np.zeros((1, 3), np.float32))
    with pytest.raises(ValueError, match="3 columns, got 2"):
        places.read(np.zeros((2, 2), np.float32))
    with pytest.raises(TypeError):
        NodePlaces([None])
    with pytest.raises(TypeError, match="needs a Node3D, got <Node2D"):
        NodePlaces([node("Node2D")])
    with pytest.raises(TypeError, match="needs a Node2D, got <Node3D"):
        NodePlaces([node("Node3D")], 0.01)


def test_nodes_come_and_go_one_by_one(node, rows):
    one, two, three = at(node, (1, 0, 0), (2, 0, 0), (3, 0, 0), of="BridgeProbe")
    places = NodePlaces()
    places.put(2, three)
    places.put(0, one)
    assert places.nodes == [one, None, three]
    assert places.read(*rows) == []
    assert rows[0][:, 0].tolist() == [1, -1, 3]
    places.drop(0)
    places.put(1, two)
    one.position = two.position = three.position = Vector3(9, 0, 0)
    three.free()
    assert places.read(*rows) == [2]
    assert rows[0][:, 0].tolist() == [1, 9, 3]
    places.put(2, one)
    places.drop(1)
    one.position = Vector3(5, 0, 0)
    assert places.read(*rows) == []
    assert rows[0][:, 0].tolist() == [1, 9, 5]
    places.drop(2)
    assert places.nodes == []


def test_a_freed_node_that_others_dropped_is_reported(node, rows):
    one, two = at(node, (1, 2, 3), (4, 5, 6), of="BridgeProbe")
    kept, dropping = NodePlaces([one]), NodePlaces([one, two])
    dropping.drop(0)
    dropping.put(1, one)
    dropping.drop(1)
    one.free()
    assert kept.read(*rows) == [0]
    assert dropping.read(*rows) == []


def test_arrays_must_have_room_for_a_later_row(node):
    positions = np.full((2, 3), -1, np.float32)
    nodes = at(node, (1, 2, 3), (4, 5, 6), (7, 8, 9))
    places = NodePlaces(nodes[:2])
    assert places.read(positions) == []
    places.put(2, nodes[2])
    with pytest.raises(ValueError, match="3 nodes need 3 rows, got 2"):
        places.read(positions)
    places.drop(2)
    assert places.read(positions) == []


def test_what_is_no_node_or_no_row_is_refused(node):
    one, = at(node, (1, 2, 3))
    places = NodePlaces([one])
    for wrong in (None, 1):
        with pytest.raises(TypeError):
            places.put(0, wrong)
    with pytest.raises(TypeError, match="needs a Node3D, got <Node2D"):
        places.put(0, node("Node2D"))
    with pytest.raises(ValueError, match="0 or more, got -1"):
        places.put(-1, one)
    for row in (-1, 1):
        with pytest.raises(IndexError, match=f"one of 1 rows, got {row}"):
            places.drop(row)
    assert places.nodes == [one]


@pytest.mark.parametrize("columns", [2, 3])
def test_nodes_in_the_plane_are_read_in_metres_and_look_along_x(node, columns):
    positions, forwards = (np.full((5, columns), -1, np.float32) for _ in range(2))
    nodes = [node("Node2D", position=Vector2(*place)) for place in ((100, 50), (0, FAR), (3, 4), (0, 8), (0, 0))]
    nodes[2].rotation = np.pi / 2
    nodes[2].scale = Vector2(3, 3)
    nodes[3].scale = Vector2(0, 0)
    nodes[4].scale = Vector2(float("nan"), 1)
    assert NodePlaces(nodes, 0.02).read(positions[:, :2]) == [1]
    assert NodePlaces(nodes, 0.02).read(positions, forwards) == [1, 4]
    assert positions[[0, 1, 2], :2] == pytest.approx(np.array([[2, 1], [-1, -1], [0.06, 0.08]]))
    assert forwards[[0, 1, 2, 3], :2] == pytest.approx(np.array([[1, 0], [-1, -1], [0, 1], [1, 0]]), abs=1e-6)
    assert (forwards[[0, 2, 3], 2:] == 0).all()


def test_one_node_is_read_by_itself(node):
    assert place_of(node("Node3D", position=Vector3(1, 2, 3))) == (1, 2, 3)
    assert place_of(node("Node2D", position=Vector2(100, 50)), 0.02) == (2, 1, 0)
    gone = node("Node2D")
    gone.free()
    with pytest.raises(GodotFreedError):
        place_of(gone, 0.02)
