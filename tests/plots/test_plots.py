"""Heat maps, curves and the SVG of a drawing."""
from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from ai_core.plots import Drawing, Line, Rect, curves, heat_map
from ai_core.plots.heat_map import GROUND, WALL


def colours(drawing, shape, cell_px=12):
    """The colour in the middle of each cell: the last box that covers it."""
    def at(row, column):
        x, y = 12 + (column + 0.5) * cell_px, 34 + (row + 0.5) * cell_px
        found = [
            one.colour for one in drawing.boxes
            if one.x <= x < one.x + one.width and one.y <= y < one.y + one.height]
        return found[-1]
    return [[at(row, column) for column in range(shape[1])] for row in range(shape[0])]


def test_a_larger_value_is_darker_and_a_wall_is_a_wall():
    values = np.array([[0.0, 1.0, 4.0], [np.nan, -1.0, 2.0]])
    found = colours(heat_map(values, closed=[[False] * 3, [False, False, True]]), values.shape)
    brightness = [[sum(one) for one in row] for row in found]
    assert brightness[0][0] > brightness[0][1] > brightness[0][2]
    assert found[0][0] == GROUND
    assert found[1][0] == found[1][2] == WALL
    assert found[1][1][0] > found[1][1][2], "negative values are orange"


def test_a_map_of_one_scale_ignores_its_largest_value():
    low = colours(heat_map([[1.0, 2.0]], most=8.0), (1, 2))
    high = colours(heat_map([[1.0, 8.0]], most=8.0), (1, 2))
    assert low[0][0] == high[0][0] != high[0][1]


def test_paths_and_marks_lie_at_the_middle_of_their_cells():
    drawing = heat_map(np.zeros((4, 5)), cell_px=10, paths={"guard": [(0, 0), (3, 4)]}, marks={"thief": (1, 2)})
    assert drawing.lines[0].points == [(17.0, 39.0), (57.0, 69.0)]
    assert (drawing.dots[0].x, drawing.dots[0].y) == (37.0, 49.0)


def test_cells_of_one_colour_share_an_element():
    text = heat_map(np.zeros((50, 50))).svg()
    assert len(text) < 8_000
    assert ElementTree.fromstring(text).tag.endswith("svg")


def test_a_curve_rises_with_its_values_and_breaks_at_gaps():
    values = {"awareness": [0.0, 0.5, np.nan, 1.0]}
    drawing = curves([0.0, 1.0, 2.0, 3.0], values, levels={"alert": 0.8}, moments={"seen": 1.0})
    first, second = drawing.lines[-2:]
    (x0, y0), (x1, y1) = first.points
    assert x0 < x1
    assert y0 > y1 > second.points[0][1]
    assert {"awareness", "alert", "seen"} <= {one.text for one in drawing.texts}


def test_names_at_the_ends_of_lines_do_not_overlap():
    drawing = curves([0.0, 1.0], {"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, 1.0]})
    places = sorted(one.y for one in drawing.texts if one.text in {"a", "b", "c"})
    assert len(places) == 3
    assert all(b - a >= 13 for a, b in itertools.pairwise(places))


def test_a_constant_line_has_a_picture():
    ElementTree.fromstring(curves([5.0], {"load": [0.0]}).svg())


@pytest.mark.parametrize(("call", "why"), [
    (lambda: heat_map([1.0, 2.0]), r"shape \(rows, columns\), got \(2,\)"),
    (lambda: heat_map([[1.0]], closed=[[True, False]]), r"got \(1, 2\)"),
    (lambda: heat_map([[1.0]], cell_px=0), "at least 1, got 0"),
    (lambda: heat_map([[1.0]], most=0.0), "above 0, got 0.0"),
    (lambda: curves([], {}), "n at least 1"),
    (lambda: curves([1.0], {"a": [1.0, 2.0]}), "line 'a'"),
    (lambda: curves([1.0], {"a": [1.0]}, width=10), "got 10 by 260"),
])
def test_wrong_arguments_are_named(call, why):
    with pytest.raises(ValueError, match=why):
        call()


def test_a_notebook_shows_a_drawing():
    box, line = Rect(0, 0, 5, 5, (1, 2, 3), "tip & more"), Line([(0, 0), (5, 5)])
    drawing = Drawing(20, 10, "a <b>", boxes=[box], lines=[line])
    root = ElementTree.fromstring(drawing._repr_svg_())
    assert [one.text for one in root.iter() if one.tag.endswith("title")] == ["a <b>", "tip & more"]


def test_the_samples_of_its_page_print_their_comments(capsys):
    page = Path(__file__).parents[2] / "docs" / "library" / "plots.md"
    [sample] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    exec(sample, {})
    assert capsys.readouterr().out.split() == re.findall(r"print\(.*\) +# (.*)", sample)
