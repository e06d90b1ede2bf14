"""The map of explored ways."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ai_core.budget import Budget
from ai_core.paths import ExploredMap


def apart(one, other):
    return float(abs(one - other))


def line(length=10):
    """Places 0, 1, 2, … in a row, of which 0 to 5 were visited."""
    explored = ExploredMap()
    for place in range(6):
        explored.report(place, [one for one in (place - 1, place + 1) if 0 <= one < length])
    explored.advance(Budget.unlimited())
    return explored


def answered(explored, question):
    explored.advance(Budget.unlimited())
    assert question.is_answered
    return question.path


def test_a_known_goal_gets_the_shortest_known_way():
    explored = line()
    assert answered(explored, explored.ask(1, 4, apart)) == [1, 2, 3, 4]


def test_an_unknown_goal_gets_the_way_to_where_it_may_be():
    explored = line()
    question = explored.ask(1, 9, apart)
    assert answered(explored, question) == [1, 2, 3, 4, 5, 6]
    assert not question.reaches_goal


def test_fully_known_map_without_the_goal_has_no_path():
    explored = line(6)
    question = explored.ask(1, 9, apart)
    assert answered(explored, question) is None


def test_reports_are_seen_only_after_the_map_advances():
    explored = ExploredMap()
    explored.report(3, [4])
    assert not explored.knows(3)
    explored.advance(Budget.of_steps(1))
    assert explored.knows(3)
    assert explored.neighbors_of(3) == (4,)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_however_it_is_cut_up_the_answers_are_the_same(steps):
    explored = line()
    questions = [explored.ask(start, 9, apart) for start in range(5)]
    explored.report(6, [5, 7])
    frames = 0
    while not explored.is_done:
        explored.advance(Budget.of_steps(steps))
        frames += 1
    assert [one.path[-1] for one in questions] == [7] * 5
    assert frames >= 30 // steps


def test_what_has_changed_is_forgotten_with_what_led_there():
    explored = line()
    explored.forget([3])
    assert [explored.knows(place) for place in range(6)] == [True, True, False, False, False, True]


def test_repeated_report_while_waiting_is_taken_in_once():
    explored = ExploredMap()
    for _ in range(50):
        for place in (1, 2):
            explored.report(place, [place + 1])
    explored.report(2, [1])
    explored.forget([9])
    budget = Budget.of_steps(1000)
    explored.advance(budget)
    assert budget.steps == 3
    assert (explored.neighbors_of(1), explored.neighbors_of(2)) == ((2,), (1,))
    explored.report(1, [2])
    explored.report(2, [3])
    explored.forget([3])
    explored.report(1, [2])
    explored.advance(Budget.unlimited())
    assert (explored.neighbors_of(1), explored.neighbors_of(2)) == ((2,), (3,))


def test_reports_from_many_threads_are_all_taken_in():
    explored = ExploredMap()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda place: explored.report(place, [place + 1]), range(2000)))
    explored.advance(Budget.unlimited())
    assert len(explored) == 2000


def test_saving_changes_nothing_even_while_a_query_is_answered():
    def asked(is_saved):
        explored = ExploredMap()
        for place in range(6):
            explored.report(place, [place + 1])
        explored.advance(Budget.unlimited())
        question = explored.ask(0, 9, lambda one, other: abs(one - other))
        explored.advance(Budget.of_steps(2))
        explored.report(6, [7])
        if is_saved:
            assert explored.save_state()["reports"] == [[6, [7]]]
        version = explored.version
        explored.advance(Budget.of_steps(20))
        return question.path, version

    assert asked(True) == asked(False)


def test_last_of_several_reports_that_revert_counts():
    explored = ExploredMap()
    for ways in ([1], [2], [1]):
        explored.report(0, ways)
    explored.advance(Budget.of_steps(2))
    explored.report(0, [2])
    explored.advance(Budget.unlimited())
    assert explored.neighbors_of(0) == (2,)
