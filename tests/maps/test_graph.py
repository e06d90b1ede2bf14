"""Graphs as arrays."""
from __future__ import annotations

import pytest

from ai_core.maps.graph import Graph


def test_connections_are_ordered_by_where_they_begin_and_end():
    graph = Graph(3, [2, 0, 0], [0, 2, 1], [5.0, 2.0, 1.0])
    assert graph.moves_from(0) == [(1, 1.0), (2, 2.0)]
    assert graph.moves_from(1) == []
    assert graph.moves_from(2) == [(0, 5.0)]


def test_the_least_cost_per_metre_is_a_little_less_than_it_is():
    graph = Graph(3, [0, 1], [1, 2], [4.0, 3.0], positions=[[0, 0], [2, 0], [2, 3]])
    assert 1 - 1e-8 < graph.cost_per_m < 1


def test_a_graph_without_connections_is_one():
    graph = Graph(1, [], [], [])
    assert graph.moves_from(0) == []


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((0, [], [], []), ValueError, "size must be at least 1"),
        ((2, [0], [2], [1.0]), ValueError, "ends must be 0 to 1"),
        ((2, [0.5], [1], [1.0]), TypeError, "begins must be integers"),
        ((2, [0], [1], [-1.0]), ValueError, "costs must be 0 or more and finite, got -1.0"),
        ((2, [0], [1], [float("nan")]), ValueError, "got nan"),
        ((2, [0], [1], [1.0, 2.0]), ValueError, "must have equal length"),
    ],
)
def test_what_is_no_graph_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        Graph(*arguments)


def test_positions_are_checked():
    with pytest.raises(ValueError, match=r"positions must have shape \(2, 2 or 3\)"):
        Graph(2, [0], [1], [1.0], positions=[[0, 0]])
    with pytest.raises(ValueError, match="positions must be finite"):
        Graph(2, [0], [1], [1.0], positions=[[0, 0], [0, float("nan")]])
