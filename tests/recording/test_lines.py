"""The lines of a recording: what was written is read, and what was damaged is refused with its line."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ai_core.clock import TimeIndex
from ai_core.recording.digest import digest_of, digest_of_text
from ai_core.recording.frame_watch import TaskRunRecord
from ai_core.recording.grants import Grant
from ai_core.recording.lines import (
    MAXIMUM_LINE_CHARACTERS,
    LineWriter,
    RecordingError,
    _check_of,
    kept_inputs,
    read_recording,
)
from ai_core.recording.packed import pack
from ai_core.recording.recording import FrameRecord, Header

HEADER = Header(
    "yard", 7, ("guard", "door"), exact=True, is_timed=True, made_with={"python": "3.11.2"}, digest_every_frames=5
)
FRAMES = (
    FrameRecord(1, 0.1, 500.0, {"move": [0.5, -1.0]}, (None, Grant(3, 1)),
                (TaskRunRecord("guard", 0, 120.5, 3, digest_of(["chase", 0.1], exact=True), 17.25),),
                {"guard": "aa", "door": "bb"}, {}),
    FrameRecord(2, 0.2, None, None, (), (TaskRunRecord("door", 1, None, 1, None),), {},
                {"events": digest_of_text('["shot",1]\n["shot",2]')}),
    FrameRecord(4, 0.4, 0.0, None, (), (), None, {}),
)
RAN = (
    (["guard", 0, 120.5, 3, 17.25, ("chase", 0.1)], ([], [], [], []), [None, (3, 1)]),
    (["door", 1, float("inf"), 1, 0.0, None], ([("shot", 1), ("shot", 2)], [], [], []), []),
    ([], ([], [], [], []), []),
)


def written():
    writer = LineWriter()
    lines = [writer.header(HEADER)]
    for record, ran in zip(FRAMES, RAN, strict=True):
        lines.append(writer.frame(
            TimeIndex(record.frame, record.seconds), budget=record.budget,
            inputs=kept_inputs(record.inputs), ran=pack(ran), parts=record.parts,
        ))
    return [*lines, writer.end()]


def signed(*bodies):
    """Lines with good checks, whatever they say."""
    lines, check = [], 0
    for body in bodies:
        check = _check_of(check, body[:-1])
        lines.append(f'{body[:-1]},"check":"{check:08x}"}}')
    return lines


def frame_of(number=1, *, ran=RAN[2], more=""):
    """The line of a frame without its check."""
    packed = ran if isinstance(ran, str) else pack(ran)
    return f'{{"frame":{number},"s":0,"inputs":null,"ran":"{packed}"{more}}}'


GOOD_HEADER = (
    '{"recording":1,"name":"yard","seed":7,"parts":["guard"],"exact":false,"timed":false,"look_every":1,"made_with":{}}'
)


def test_what_was_written_is_read():
    recording = read_recording(line + "\r\n" for line in written())
    assert recording.header == HEADER
    assert recording.frames == FRAMES
    assert recording.is_whole


@given(some.data())
def test_any_change_of_any_character_is_found_in_its_line(data):
    lines = written()
    number = data.draw(some.integers(0, len(lines) - 1))
    place = data.draw(some.integers(0, len(lines[number]) - 1))
    letter = data.draw(some.characters(exclude_characters=lines[number][place] + "\r\n"))
    lines[number] = lines[number][:place] + letter + lines[number][place + 1:]
    with pytest.raises(RecordingError, match=f"^line {number + 1}: "):
        read_recording(lines)


def test_a_lost_line_is_missed_where_it_was():
    lines = written()
    del lines[2]
    with pytest.raises(RecordingError, match="line 3: the line was changed, or an earlier line is missing or moved"):
        read_recording(lines)


def test_lines_that_changed_places_are_found():
    lines = written()
    lines[1], lines[2] = lines[2], lines[1]
    with pytest.raises(RecordingError, match="line 2: "):
        read_recording(lines)


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_truncated_recording_is_reported_and_can_still_be_read(kept):
    lines = [*written()[:kept], written()[kept][:20]]
    with pytest.raises(RecordingError, match=f"line {kept + 1}: this is not a line of a recording"):
        read_recording(lines)
    with pytest.raises(RecordingError, match=f"line {kept}: the recording is cut short here"):
        read_recording(lines[:-1])
    for cut in (lines, lines[:-1]):
        recording = read_recording(cut, allow_cut=True)
        assert recording.frames == FRAMES[: kept - 1]
        assert not recording.is_whole


def test_damage_before_the_last_line_is_no_cut():
    lines = written()
    lines[2] = lines[2][:30]
    with pytest.raises(RecordingError, match="line 3: this is not a line"):
        read_recording(lines, allow_cut=True)


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([], "the recording is empty"),
        (['{"frame":1}'], "unknown version None of recordings; this reader supports version 1"),
        (['{"recording":2}'], "line 1: unknown version 2 of recordings"),
        (['{"recording":true}'], "line 1: unknown version True"),
        ([GOOD_HEADER.replace(":7", ':"7"')], "line 1: 'seed' must be int, got '7'"),
        ([GOOD_HEADER.replace('["guard"]', "[1]")], r"line 1: 'parts' must be strings, got \[1\]"),
        ([GOOD_HEADER.replace('"name":"yard",', "")], "line 1: 'name' must be str, got None"),
        ([GOOD_HEADER, '{"frame":1,"frame":2}'], "line 2: the line must be JSON: 'frame' is used twice"),
        ([GOOD_HEADER, '{"frame":NaN}'], "line 2: the line must be JSON: NaN is not a JSON number"),
        ([GOOD_HEADER, '{"frame":1,"a":' + "[" * 100_000 + "}"], "line 2: the line must be JSON: "),
        ([GOOD_HEADER, '{"frame":' + "9" * 5_000 + "}"], "line 2: the line must be JSON: "),
        ([GOOD_HEADER, '{"frame":1.0}'], "line 2: 'frame' must be int, got 1.0"),
        ([GOOD_HEADER.replace('"look_every":1', '"look_every":0')], "line 1: 'look_every' must be at least 1, got 0"),
        ([GOOD_HEADER, '{"frame":1,"s":0}'], "line 2: 'ran' must be str, got None"),
        ([GOOD_HEADER, frame_of(ran="a b")], "line 2: invalid 'ran': it is not packed data"),
        ([GOOD_HEADER, frame_of(ran=([], []))], "line 2: invalid 'ran': it must be runs, reports and grants"),
        ([GOOD_HEADER, frame_of(ran=([], ([],), []))], "it must be runs, reports and grants"),
        ([GOOD_HEADER, frame_of(ran=(["a", 0, 1], *RAN[2][1:]))], "a run must be name, depth, granted"),
        ([GOOD_HEADER, frame_of(ran=(["a", 0, 1, 1.5, 0.0, None], *RAN[2][1:]))], "a run must be name, depth"),
        ([GOOD_HEADER, frame_of(ran=(*RAN[2][:2], [(1, 2, 3)]))], "line 2: .* 'ran': a grant must be None or .steps"),
        ([GOOD_HEADER, frame_of(more=',"parts":{"guard":1}')], "line 2: 'parts' of 'guard' must be a string"),
        ([GOOD_HEADER, frame_of(more=',"parts":{"door":""}')], "line 2: part 'door' is not in the header"),
        ([GOOD_HEADER, frame_of(3), frame_of(3)], "line 3: frame 3 must come after frame 3"),
        ([GOOD_HEADER, '{"end":4}'], "line 2: the end is after 4 frames, got 0"),
        ([GOOD_HEADER, '{"end":0}', '{"end":0}'], "line 3: a line follows the end"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(bodies, message):
    with pytest.raises(RecordingError, match=message):
        read_recording(signed(*bodies))


def test_an_enormous_line_is_not_even_looked_into():
    with pytest.raises(RecordingError, match=f"line 1: a line must have at most {MAXIMUM_LINE_CHARACTERS} characters"):
        read_recording(["{" * (MAXIMUM_LINE_CHARACTERS + 1)])


def test_a_result_too_large_for_a_digest_is_an_error_of_its_line():
    huge = frame_of(ran=(["a", 0, 1, 1, 0.0, 10 ** 5000], *RAN[2][1:]))
    with pytest.raises(RecordingError, match="line 2: invalid 'ran'"):
        read_recording(signed(GOOD_HEADER, huge))


@pytest.mark.parametrize("inputs", [object(), {"x": float("nan")}, {1j: 0}])
def test_inputs_that_are_not_plain_data_are_refused_on_recording(inputs):
    with pytest.raises(TypeError, match="inputs must be plain JSON data, got "):
        kept_inputs(inputs)


@pytest.mark.parametrize("inputs", [
    {"move": (0.5, -1), "names": ["bob", None, True]}, 2 ** 70, {1: "a"}, {"x": 1e300, "deep": [[[{}]]]}, "\ud800",
])
def test_inputs_are_kept_as_they_were_and_as_json_has_them(inputs):
    wanted = json.loads(json.dumps(inputs))
    kept = kept_inputs(inputs)
    assert kept == wanted
    if isinstance(inputs, dict):
        inputs.clear()
        assert kept == wanted


def test_inputs_with_two_keys_that_are_one_in_json_are_refused():
    with pytest.raises(TypeError, match=r"inputs must be plain JSON data, got .*: '1' is used twice"):
        kept_inputs({1: "a", "1": "b"})


def test_inputs_that_hold_themselves_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="inputs must be plain JSON data"):
        kept_inputs(endless)
