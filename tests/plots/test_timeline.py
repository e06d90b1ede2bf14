"""The timeline: frames across, which task ran when, the budget line, overruns in red."""
from __future__ import annotations

import struct
import zlib
from xml.etree import ElementTree

import pytest

from ai_core.plots import Drawing, Label, timeline
from ai_core.plots.drawing import INK, OVERRAN, RAN, RAN_INSIDE
from ai_core.plots.timeline import MOST_ROWS, overrun_of
from ai_core.recording import FrameRecord, Header, Recording
from ai_core.recording.frame_watch import TaskRunRecord
from tools.drawing_png import LETTERS, png_of


def run(name, steps, *, granted=5.0, depth=0, used_us=0.0):
    return TaskRunRecord(name, depth, granted, steps, None, used_us)


def frame(number, *runs, budget=10.0):
    return FrameRecord(number, number / 60, budget, None, (), runs, {}, {})


def recording(*frames, is_timed=False):
    return Recording(Header("yard", 3, (), is_timed=is_timed), frames)


QUIET = recording(frame(1, run("think", 2)), frame(2), frame(3, run("think", 4), run("see", 3)))
SPIKE = recording(frame(1, run("think", 2)), frame(2, run("see", 3), run("path", 9, granted=4.0)))


def tips(drawing, colour=None):
    return [box.tip for box in drawing.boxes if box.tip and colour in (None, box.colour)]


def pixels(png):
    """Rows of (red, green, blue), read back from a PNG as png_of writes it."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    [length] = struct.unpack(">I", png[start - 4 : start])
    raw = zlib.decompress(png[start + 4 : start + 4 + length])
    stride = 3 * width + 1
    rows = [raw[y * stride + 1 : (y + 1) * stride] for y in range(height)]
    return [[tuple(row[3 * x : 3 * x + 3]) for x in range(width)] for row in rows]


def test_work_has_a_cell_in_each_frame_in_which_it_ran():
    cells = [tip for tip in tips(timeline(QUIET)) if "think" in tip or "see" in tip]
    assert cells == [
        "frame 1: think, 2 steps, granted 5", "frame 3: think, 4 steps, granted 5", "frame 3: see, 3 steps, granted 5",
    ]


def test_time_goes_from_left_to_right_and_each_task_has_its_row():
    places = {box.tip[:14]: (box.x, box.y) for box in timeline(QUIET).boxes if "granted" in box.tip}
    assert places["frame 1: think"][0] < places["frame 3: think"][0] == places["frame 3: see, "][0]
    assert places["frame 1: think"][1] == places["frame 3: think"][1] != places["frame 3: see, "][1]


def test_the_budget_is_a_line_at_its_height():
    drawing = timeline(SPIKE)
    heights = [box.y for box in drawing.boxes if box.tip == "budget"]
    [red] = [box for box in drawing.boxes if box.colour == OVERRAN and box.tip.endswith("over")]
    assert heights == [pytest.approx(red.y + red.height)] * 2
    assert "budget 10 steps" in [words.text for words in drawing.texts]


def test_what_overran_is_red_and_nothing_else_is():
    assert tips(timeline(QUIET), OVERRAN) == []
    assert tips(timeline(SPIKE), OVERRAN) == ["frame 2: 12 steps, over", "frame 2: path, 9 steps, granted 4"]


def test_overrun_is_blamed_on_excess_use_not_on_later_work():
    late = frame(1, run("path", 11, granted=4.0), run("see", 2, granted=5.0))
    assert overrun_of(late, is_timed=False) == 0


def test_with_time_the_time_counts_not_the_steps():
    timed = frame(1, run("see", 90, used_us=4.0), run("path", 1, granted=4.0, used_us=8.5), budget=10.0)
    assert overrun_of(timed, is_timed=True) == 1
    assert "frame 1: 12.5 µs, over" in tips(timeline(recording(timed, is_timed=True)))


def test_nested_work_is_not_counted_twice_and_has_its_own_color():
    nested = recording(frame(1, run("inner", 6, depth=1), run("outer", 8)))
    assert overrun_of(nested.frames[0], is_timed=False) is None
    [cell] = [box for box in timeline(nested).boxes if "inner" in box.tip]
    assert cell.colour != RAN
    assert max(cell.colour) == cell.colour[1], "green, as the legend says"
    assert RAN_INSIDE in [box.colour for box in timeline(nested).boxes]


def test_a_frame_without_a_budget_never_overruns():
    assert overrun_of(frame(1, run("think", 900), budget=None), is_timed=False) is None
    assert "budget" not in tips(timeline(recording(frame(1, run("think", 900), budget=None))))


def test_work_beyond_the_rows_there_are_shares_the_last_one():
    many = recording(frame(1, *(run(f"visitor {n}", 100 - n % 90) for n in range(MOST_ROWS + 10)), budget=None))
    drawing = timeline(many)
    assert len({box.y for box in drawing.boxes if "visitor" in box.tip}) == MOST_ROWS
    assert [words.text for words in drawing.texts].count("11 others") == 1


def test_rows_are_in_natural_order():
    drawing = timeline(recording(frame(1, run("guard 10", 1), run("guard 9", 1))))
    labels = [(words.y, words.text) for words in drawing.texts if "guard" in words.text]
    assert [text for _, text in sorted(labels)] == ["guard 9", "guard 10"]


def test_long_recordings_fit_the_page_and_keep_their_spikes():
    frames = [frame(n, run("think", 40 if n == 2_222 else 1)) for n in range(1, 5_001)]
    drawing = timeline(recording(*frames))
    assert drawing.width < 1_300
    assert "frame 2222: 40 steps, over" in tips(drawing, OVERRAN)


def test_an_empty_recording_has_a_picture_too():
    drawing = timeline(recording())
    assert png_of(drawing).startswith(b"\x89PNG")
    ElementTree.fromstring(drawing.svg())


def test_the_svg_is_one_whatever_tasks_are_called():
    rude = recording(frame(1, run('<a & "b">\x00\ud800', 1)))
    root = ElementTree.fromstring(timeline(rude).svg())
    names = [element.text for element in root.iter() if element.text and "<a &" in element.text]
    assert any('<a & "b">??' in name for name in names)


def test_the_png_shows_the_same_boxes():
    drawing = timeline(SPIKE)
    shown = pixels(png_of(drawing))
    assert (len(shown), len(shown[0])) == (drawing.height, drawing.width)
    for box in drawing.boxes:
        if box.colour == OVERRAN:
            assert shown[round(box.y + box.height / 2)][round(box.x + box.width / 2)] == OVERRAN


def test_the_png_writes_letters():
    drawing = Drawing(12, 12, "", texts=[Label(0, 6, "L")])
    shown = pixels(png_of(drawing))
    dots = ["".join("#" if shown[y][x] == INK else "." for x in (0, 2, 4)) for y in (1, 3, 5, 7, 9)]
    assert dots == ["#..", "#..", "#..", "#..", "###"]
    assert all(len(rows) == 5 and set(rows) <= set("01234567") for rows in LETTERS.values())


def test_what_lies_outside_the_picture_is_left_out():
    drawing = Drawing(10, 10, "", texts=[Label(4, 5, "long text"), Label(4, 5, "long text", INK, "end")])
    assert len(pixels(png_of(drawing))) == 10
