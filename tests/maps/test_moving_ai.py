"""Maps and scenarios of the Moving AI benchmark."""
from __future__ import annotations

import pytest

from ai_core.maps.moving_ai import Scenario, read_map, read_scenarios

MAP = "type octile\nheight 2\nwidth 3\nmap\n.G@\nT.S\n"
LINE = "0 maps/a map.map 3 2 0 0 2 1 2.41421356"


def test_letters_tell_where_one_can_walk():
    assert read_map(MAP).tolist() == [[True, True, False], [False, True, True]]


def test_a_scenario_is_told_by_row_then_column():
    found = read_scenarios(f"version 1.0\n\n{LINE}\n")
    assert found == [Scenario(start=(0, 0), goal=(1, 2), length=2.41421356)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1 of a map must begin with 'type', got the end"),
        ("maps/den.map", "got the file name 'maps/den.map'; read the file first"),
        ("type octile\nwidth 3\n", "line 2 of a map must begin with 'height'"),
        (MAP.replace("height 2", "height two"), "line 2 of a map must give a size"),
        (MAP.replace("width 3", "width 99999999999999"), "line 3 of a map must give a size"),
        (MAP.replace("height 2", "height 3"), "must have 3 rows, but ends after 2"),
        (MAP.replace("T.S", "T."), "line 6 of the map must have 3 cells, got 2"),
        (MAP.replace("T.S", "T.?"), "line 6 of the map has unknown character '?'"),
    ],
)
def test_a_map_that_is_corrupt_is_refused_with_its_line(text, says):
    with pytest.raises(ValueError, match=says.replace("?", r"\?")):
        read_map(text)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("0 a.map 3 2", "line 2 of the scenarios must have 9 fields, got 4"),
        (LINE.replace("2.41421356", "far"), "line 2 of the scenarios must end in 5 numbers"),
        (LINE.replace("0 0 2 1", "0 -1 2 1"), "line 2 of the scenarios must have numbers of 0 or more"),
        (LINE.replace("2.41421356", "nan"), "line 2 of the scenarios must have numbers of 0 or more"),
    ],
)
def test_scenarios_that_are_corrupt_are_refused_with_their_line(line, says):
    with pytest.raises(ValueError, match=says):
        read_scenarios(f"version 1\n{line}")
