"""Statistics as a table of plain text."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import statistics_table

ROWS = [
    {"id": 0, "name": "senses", "used_us_mean": 4.256, "faults": 0, "is_paused": False},
    {"id": 1, "name": "paths", "used_us_mean": 120.0, "faults": 3, "is_paused": True},
    {"id": 2, "name": "guard 7", "used_us_mean": 0.0, "faults": 0, "is_paused": False},
]


def order(text):
    return [line.split()[0] for line in text.splitlines()[2:]]


def test_a_heading_a_rule_and_a_line_for_each_row():
    assert statistics_table(ROWS).splitlines() == [
        "id  name     used_us_mean  faults  is_paused",
        "--  -------  ------------  ------  ---------",
        " 0  senses           4.26       0          -",
        " 1  paths          120.00       3        yes",
        " 2  guard 7          0.00       0          -",
    ]


def test_columns_are_those_asked_for_in_that_order():
    assert statistics_table(ROWS, columns=["faults", "name"]).splitlines()[:3] == [
        "faults  name", "------  -------", "     0  senses",
    ]


def test_largest_come_first_and_ties_keep_their_order():
    assert order(statistics_table(ROWS, sort_by="used_us_mean")) == ["1", "0", "2"]
    assert order(statistics_table(ROWS, sort_by="faults")) == ["1", "0", "2"]
    assert order(statistics_table(ROWS, sort_by="name")) == ["2", "1", "0"]
    assert order(statistics_table(ROWS, columns=["name"], sort_by="faults"))[0] == "paths"


def test_rows_without_the_sort_key_come_last_in_either_direction():
    rows = [{"n": "a"}, {"n": "b", "x": 1}, {"n": "c", "x": float("nan")}, {"n": "d", "x": 5}, {"n": "e", "x": "?"}]
    assert order(statistics_table(rows, sort_by="x")) == ["d", "b", "e", "a", "c"]


def test_what_a_row_does_not_have_is_left_empty():
    assert statistics_table([{"name": "a", "steps": 3}, {"name": "b"}]).splitlines()[2:] == ["a         3", "b"]


def test_no_more_rows_than_asked_for_and_how_many_there_are():
    text = statistics_table(ROWS, sort_by="used_us_mean", max_rows=2)
    assert (order(text), text.splitlines()[-1]) == (["1", "0", "and"], "and 1 more")
    assert "more" not in statistics_table(ROWS, max_rows=3)


def test_names_of_any_kind_keep_to_their_cell():
    text = statistics_table([{"name": "two\nlines\t\x1b[31m", "n": 1}, {"name": "x" * 99, "n": 2}])
    assert text.splitlines()[2:] == ["two?lines??[31m".ljust(40) + "  1", "x" * 37 + "...  2"]


def test_a_text_that_just_fits_is_not_cut():
    assert statistics_table([{"name": "x" * 40}]).splitlines()[2] == "x" * 40


def test_fractions_have_two_decimals_and_whole_numbers_none():
    assert statistics_table([{"us": 999.25}, {"us": 3}, {"us": 3.0}]).splitlines()[2:] == ["999.25", "     3", "  3.00"]


def test_numbers_of_numpy_and_infinities_are_numbers():
    rows = [{"us": np.float32(1.5)}, {"us": np.int64(20)}, {"us": float("inf")}]
    assert statistics_table(rows, sort_by="us").splitlines()[2:] == [" inf", "  20", "1.50"]


def test_a_table_of_nothing_is_empty_or_a_heading():
    assert statistics_table([]) == ""
    assert statistics_table([], columns=["name", "runs"], sort_by="runs") == "name  runs\n----  ----"


def test_a_schedulers_rows_are_such_rows(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(lambda turn: None, name="think")
    scheduler.add(lambda turn: None, name="see", period_frames=2, phase_frames=0)
    for _ in range(3):
        scheduler.advance(Budget.of_steps(9))
    text = statistics_table(scheduler.statistics(), columns=["name", "runs"], sort_by="name")
    assert text.splitlines()[2:] == ["see       2", "think     3"]


@given(st.lists(st.dictionaries(
    st.sampled_from(["name", "runs", "us"]), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
), max_size=6))
def test_whatever_is_in_the_rows_no_line_is_wider_than_the_rule(rows):
    lines = statistics_table(rows).split("\n")
    assert len(lines) == (len(rows) + 2 if any(rows) else 1)
    assert max(map(len, lines)) == len(lines[min(1, len(lines) - 1)])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rows": [3]}, TypeError, r"rows must be dicts, got 3; use scheduler.statistics\(\)"),
        ({"columns": "name"}, TypeError, r"must be an iterable of names, got the string 'name'; use \['name'\]"),
        ({"columns": ["nam"]}, UnknownNameError, "unknown column 'nam'; did you mean 'name'"),
        ({"sort_by": "speed"}, UnknownNameError, "unknown column 'speed'; known:"),
        ({"max_rows": 0}, ValueError, "max_rows must be at least 1, got 0; use None for all"),
        ({"max_rows": 1.0}, TypeError, "max_rows must be an integer"),
    ],
)
def test_bad_arguments_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        statistics_table(**{"rows": ROWS, **settings})
