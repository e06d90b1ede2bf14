"""Growth curves: what is in them, and that a browser can read them."""
from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tools.benchmarking.growth_picture import curves_of, growth_picture, write_pictures
from tools.benchmarking.results import Result

SVG = "{http://www.w3.org/2000/svg}"


def result(n, ours_us, other="peer", other_us=1.0, name="work"):
    return Result("demo", name, n, ours_us, other, other_us, other_us / ours_us, None, 0.0)


def test_a_curve_is_drawn_of_each_case_of_what_has_several_sizes():
    results = [result(1, 1.0), result(1000, 5.0), result(10, 2.0), result(1, 1.0, name="of one size")]
    assert curves_of(results) == {
        "work": {"ours": [(1, 1.0), (10, 2.0), (1000, 5.0)], "peer": [(1, 1.0), (10, 1.0), (1000, 1.0)]}
    }


def test_ours_is_drawn_once_however_many_others_there_are():
    results = [result(n, 1.0, other) for n in (1, 10) for other in ("a", "b")]
    assert curves_of(results)["work"]["ours"] == [(1, 1.0), (10, 1.0)]


def test_limits_of_different_heights_are_one_line():
    results = [result(1, 1.0, "limit 2 µs", 2.0), result(10, 1.0, "limit 5 µs", 5.0)]
    assert curves_of(results)["work"]["limit"] == [(1, 2.0), (10, 5.0)]


def test_the_picture_is_well_formed_and_names_every_case():
    curves = {"ours": [(10, 2.0), (100, 30.0)], "loop <fast>": [(10, 1.0), (100, 9.0)]}
    picture = ElementTree.fromstring(growth_picture("work & play", curves))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"work & play", "ours, 30 µs", "loop <fast>, 9 µs"} <= set(texts)
    assert len(list(picture.iter(f"{SVG}polyline"))) == 2


def test_ten_times_as_much_is_one_step_on_either_axis():
    picture = ElementTree.fromstring(growth_picture("work", {"ours": [(1, 1.0), (10, 10.0), (100, 100.0)]}))
    [line] = picture.iter(f"{SVG}polyline")
    (ax, ay), (bx, by), (cx, cy) = (tuple(map(float, place.split(","))) for place in line.get("points").split())
    assert bx - ax == pytest.approx(cx - bx, abs=0.2)
    assert ay - by == pytest.approx(by - cy, abs=0.2)
    assert bx > ax
    assert by < ay


def test_labels_do_not_cover_each_other():
    curves = {name: [(1, 1.0), (10, 5.0)] for name in ("ours", "a", "b")}
    picture = ElementTree.fromstring(growth_picture("work", curves))
    heights = sorted(float(text.get("y")) for text in picture.iter(f"{SVG}text") if text.text.endswith(", 5 µs"))
    assert heights[1] - heights[0] >= 15
    assert heights[2] - heights[1] >= 15


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="must hold points above 0"):
        growth_picture("work", {"ours": [(0, 1.0), (10, 2.0)]})


def test_files_are_named_by_suite_and_measurement(tmp_path):
    results = [result(n, 1.0, name="event to n, all") for n in (1, 10)]
    written = write_pictures(results, tmp_path)
    assert [file.name for file in written] == ["demo_event_to_n_all.svg"]
