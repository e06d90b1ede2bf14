"""The wave through a graph: equal to a plain Dijkstra, in one go or in many."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.graph.parts import Passage, SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph, lengths, shares_kept
from ai_core.senses.graph.sense_wavefront import FROM_SOURCE, WavefrontLabels, spread
from tests.senses.graph_worlds import POINT, door, graphs, hearing, plainly_reached, room


def first_labels(ways, region, origin, strength, kind, faintest):
    rows = np.array(ways.out_of(region), np.int32)
    leg_m = lengths(np.array([origin]) - ways.start[rows])
    distance = leg_m + ways.distance_m[rows]
    intensity = strength * (shares_kept(float(ways.kept_per_m[region]), leg_m) * ways.kept[rows])
    ok = (distance <= kind.range_m) & (intensity >= faintest) & (intensity > 0)
    return WavefrontLabels(rows[ok], distance[ok], intensity[ok], np.full(int(ok.sum()), FROM_SOURCE, np.int32))


def run(ways, waiting, kind, faintest, most, until_m=math.inf):
    """Spread to the end, ``most`` passages at a time; return everything that came of it."""
    reached, settled = [], np.zeros(0, np.int32)
    while True:
        out, left = WavefrontLabels.empty(most), WavefrontLabels.empty(len(ways))
        count, rest = spread(ways, waiting, settled, kind.range_m, faintest, until_m, most, out, left)
        settled = np.concatenate((settled, out.row[:count]))
        reached += zip(*(column[:count].tolist() for column in out), strict=True)
        waiting = left.part(rest)
        if not count:
            return reached, [column.tolist() for column in waiting]


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), origin=POINT, strength=st.sampled_from([0.5, 1.0, 40.0]), data=st.data(),
       range_m=st.sampled_from([3.0, 12.0, 100.0]))
def test_it_equals_plain_dijkstra_with_doors_opening_and_closing(graph, origin, strength, data, range_m):
    kind, faintest = hearing(range_m=range_m), 1e-3
    ways = graph.ways(kind)
    for _ in range(3):
        if graph.portals:
            number = data.draw(st.integers(0, len(graph.portals) - 1))
            graph.set_open(number, not graph.is_open(number))
        expected = plainly_reached(graph, kind, 0, origin, strength, faintest)
        waiting = first_labels(ways, 0, origin, strength, kind, faintest)
        for most in (1, 3, 100):
            reached, left = run(ways, waiting, kind, faintest, most)
            assert left == [[]] * 4
            found = {int(ways.portal[row]): (m, i, int(ways.portal[p]) if p >= 0 else -1)
                     for row, m, i, p in reached}
            assert found == expected
            assert list(found) == sorted(found, key=lambda k: (found[k][0], -found[k][1], ways._row_of[k]))


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), origin=POINT, until_m=st.sampled_from([0.0, 2.0, 6.0]), most=st.integers(1, 5))
def test_what_is_left_lies_farther_than_it_may_go(graph, origin, until_m, most):
    kind = hearing()
    ways = graph.ways(kind)
    waiting = first_labels(ways, 0, origin, 9.0, kind, 1e-3)
    found = run(ways, waiting, kind, 1e-3, most, until_m)
    assert found == run(ways, waiting, kind, 1e-3, 100, until_m)
    assert all(distance > until_m for distance in found[1][1])


def test_of_two_equal_paths_the_stronger_then_smaller_id_counts():
    def way(a, b, name, kept_per_m):
        return SensePortal(a, b, {"hearing": Passage((0, 0, 0), kept_per_m=kept_per_m)}, name)

    graph = SenseGraph(
        [room(name, (4.0 * k, 0, 0)) for k, name in enumerate("abcd")],
        [way("a", "b", "faint", 0.5), way("a", "b", "loud", 0.9), way("a", "b", "as loud", 0.9),
         way("b", "c", "on", 1.0)])
    kind = hearing()
    ways = graph.ways(kind)
    reached, _ = run(ways, first_labels(ways, 0, (0, 0, 0), 1.0, kind, 1e-3), kind, 1e-3, 9)
    order = [ways.portal[row] for row, *_ in reached]
    assert order == [1, 2, 0, 3]
    assert ways.portal[reached[-1][3]] == 1


def test_rows_that_are_not_there_are_refused():
    graph = SenseGraph([room("a", (0, 0, 0)), room("b", (4, 0, 0))], door("a", "b", (1, 0, 0), "hearing"))
    ways = graph.ways(hearing())
    bad = WavefrontLabels(np.array([7], np.int32), np.zeros(1), np.ones(1), np.array([-1], np.int32))
    with pytest.raises(IndexError):
        spread(ways, bad, np.zeros(0, np.int32), 9.0, 1e-3, 9.0, 9, WavefrontLabels.empty(9), WavefrontLabels.empty(9))
