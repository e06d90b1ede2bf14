"""The wave through a graph: equal to a plain Dijkstra, in one go or in many."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.graph import sense_graph_waves
from ai_core.senses.graph.parts import Passage, SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph, lengths
from ai_core.senses.graph.sense_graph_waves import FROM_SOURCE, SpreadingWave
from ai_core.senses.sensation import Signal
from tests.senses.graph.graph_worlds import POINT, door, graphs, hearing, plainly_reached, room


def run(table, origin, strength, kind, faintest, most, until_m=math.inf):
    """Spread to the end, ``most`` passages at a time; return what it passed, and what it waits for."""
    def first_legs(wave):
        rows = table.out_of(wave.region)
        leg_m = lengths(np.array([origin]) - table.start[list(rows)])
        return list(zip(rows, leg_m, np.float_power(float(table.kept_per_m[0]), leg_m), strict=True))

    wave = SpreadingWave(Signal(0, 0, 0, strength, origin, 0.0), 0)
    is_done = False
    while not is_done:
        count, is_done = wave.spread(table, first_legs, kind.range_m, faintest, until_m, most)
        assert count == most or is_done
        if most == 3:
            wave = SpreadingWave(wave.signal, 0, waiting=wave.waiting, passed=wave.passed)
    assert wave.passed[0] == (0.0, -strength, FROM_SOURCE)
    return wave.passed[1:], sorted(one for one in wave.waiting)


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), origin=POINT, strength=st.sampled_from([0.5, 1.0, 40.0]), data=st.data(),
       range_m=st.sampled_from([3.0, 12.0, 100.0]))
def test_it_equals_plain_dijkstra_with_doors_opening_and_closing(graph, origin, strength, data, range_m):
    kind, faintest = hearing(range_m=range_m), 1e-3
    table = graph.table(kind)
    for _ in range(3):
        if graph.portals:
            number = data.draw(st.integers(0, len(graph.portals) - 1))
            graph.set_open(number, not graph.is_open(number))
        expected = plainly_reached(graph, kind, 0, origin, strength, faintest)
        for most in (1, 3, 100):
            reached, left = run(table, origin, strength, kind, faintest, most)
            assert left == []
            found = {int(table.portal[row]): (m, -i) for m, i, row in reached}
            assert found.keys() == expected.keys()
            for number, both in expected.items():
                assert found[number] == pytest.approx(both, rel=1e-12)
            starts = [round(m - float(table.distance_m[row]), 9) for m, _, row in reached]
            assert starts == sorted(starts)


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), origin=POINT, until_m=st.sampled_from([0.0, 2.0, 6.0]), most=st.integers(1, 5))
def test_what_is_left_lies_farther_than_it_may_go(graph, origin, until_m, most):
    kind = hearing()
    table = graph.table(kind)
    found = run(table, origin, 9.0, kind, 1e-3, most, until_m)
    assert found == run(table, origin, 9.0, kind, 1e-3, 100, until_m)
    assert all(distance > until_m for distance, _, _ in found[1])


def test_a_hall_with_many_doors_is_passed_in_blocks(monkeypatch):
    doors, kind = 40, hearing()
    graph = SenseGraph(
        [room("hall", (0, 0, 0), 40), *(room(f"r{k}", (60, 0, 4.0 * k)) for k in range(doors))],
        [one for k in range(doors) for one in door("hall", f"r{k}", (0, 0, k / 4), "hearing")])
    table, looked, passed = graph.table(kind), [], []
    legs_of = table.legs
    monkeypatch.setattr(table, "legs", lambda row: looked.append(len(legs_of(row))) or legs_of(row))
    for most_looked in (100, 10**9):
        monkeypatch.setattr(sense_graph_waves, "PASSAGES_PER_BLOCK", most_looked)
        wave, is_done = SpreadingWave(Signal(0, 0, 0, 9.0, (0.0, 0.0, 0.0), 0.0), 0), False
        while not is_done:
            looked.clear()
            _, is_done = wave.spread(
                table, lambda wave: [(row, 1.0, 1.0) for row in table.out_of(0)], kind.range_m, 1e-3, math.inf, 10**9)
            assert sum(looked) < most_looked + doors
        passed.append(wave.passed)
    assert passed[0] == passed[1]
    assert len(passed[0]) == 1 + 2 * doors


def test_of_two_equal_paths_the_stronger_then_smaller_id_counts():
    def way(a, b, name, kept_per_m):
        return SensePortal(a, b, {"hearing": Passage((0, 0, 0), kept_per_m=kept_per_m)}, name)

    graph = SenseGraph(
        [room(name, (4.0 * k, 0, 0)) for k, name in enumerate("abcd")],
        [way("a", "b", "faint", 0.5), way("a", "b", "loud", 0.9), way("a", "b", "as loud", 0.9),
         way("b", "c", "on", 1.0)])
    kind = hearing()
    table = graph.table(kind)
    reached, _ = run(table, (0, 0, 0), 1.0, kind, 1e-3, 9)
    order = [table.portal[row] for _, _, row in reached]
    assert sorted(order) == [0, 1, 2, 3]
    assert reached[-1][1] == reached[order.index(1)][1], "it came through the stronger one"
