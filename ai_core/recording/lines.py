"""Line format of recordings: JSON lines, each with a checksum over the line and the previous ones.

A changed, missing or moved line is detected and reported.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard
from zlib import crc32

from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.recording.frame_watch import TaskRunRecord, report_digests, runs_of
from ai_core.recording.grants import Grant
from ai_core.recording.notes import FIELDS_OF_A_RUN, REPORT_KINDS
from ai_core.recording.packed import unpack
from ai_core.recording.recording import FrameRecord, Header, Recording

__all__ = ["MAXIMUM_LINE_CHARACTERS", "VERSION", "LineWriter", "RecordingError", "read_recording"]

VERSION = 1
"""Version of the format (no unit); increased when an older reader would misread a recording."""

MAXIMUM_LINE_CHARACTERS = 4_000_000
"""Longest line that is read (characters): 50,000 runs in one frame.

A longer line is not from a recorder, and reading it could exhaust memory.
"""

LARGEST_INT = 2**63
"""Largest integer copied without the JSON encoder, either sign (no unit); it rejects integers too long to write."""

_CHECK_START = ',"check":"'
_CHECK_LENGTH = len(_CHECK_START) + 8 + len('"}')


class RecordingError(ValueError):
    """A recording that cannot be read.

    Args:
        line: number of the line, from 1; 0 for the whole recording.
        why: the error and its remedy.
    """

    def __init__(self, line: int, why: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {why}" if line else why)


class LineWriter:
    """Converts header, frames and end into lines with checksums."""

    def __init__(self) -> None:
        self._check = 0
        self._frames = 0

    def header(self, header: Header) -> str:
        """Return the first line."""
        return self._line(_json_of({
            "recording": VERSION, "name": header.name, "seed": header.seed,
            "parts": list(header.parts), "exact": header.exact, "timed": header.is_timed,
            "look_every": header.digest_every_frames, "made_with": dict(header.made_with),
        })[:-1])

    def frame(
        self, now: TimeIndex, *, budget: float | None, inputs: object, ran: str,
        parts: Mapping[str, str] | None,
    ) -> str:
        """Return the line of one frame, with inputs of ``kept_inputs`` and task runs of ``Notes.packed``."""
        self._frames += 1
        frame, seconds = now
        limit = "null" if budget is None else budget
        seen = "" if parts is None else f',"parts":{_json_of(parts)}'
        return self._line(
            f'{{"frame":{frame},"s":{seconds},"budget":{limit},"inputs":{_json_of(inputs)},"ran":"{ran}"{seen}'
        )

    def end(self) -> str:
        """Return the last line."""
        return self._line(f'{{"end":{self._frames}')

    def _line(self, body: str) -> str:
        self._check = check = _check_of(self._check, body)
        return f'{body}{_CHECK_START}{check:08x}"}}'


def kept_inputs(inputs: object) -> object:
    """Return a copy of the inputs, to be written later.

    Cost: O(size), a quarter of the cost of writing.
    """
    try:
        return _copied(inputs)
    except (_UnusualError, RecursionError):
        pass
    try:
        return json.loads(_json_of(inputs), object_pairs_hook=_without_duplicates)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"inputs must be plain JSON data, got {shown(inputs)}: {error}") from None


class _UnusualError(Exception):
    """Data that only the JSON encoder can check."""


def _copied(value: Any) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if (kind is float and value - value == 0) or (kind is int and -LARGEST_INT <= value <= LARGEST_INT):
        return value
    if kind is list or kind is tuple:
        return [_copied(one) for one in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _copied(one) for key, one in value.items()}
    raise _UnusualError


def read_recording(lines: Iterable[str], *, allow_cut: bool = False) -> Recording:
    """Read a recording from its lines, for example from a file opened as UTF-8 text.

    Args:
        lines: lines written by a ``Recorder``, with or without line ends.
        allow_cut: True to accept a recording without its last lines, for example to investigate a crash.

    Raises:
        RecordingError: if the lines are not a recording, have another version, or were changed; the
            message names the line.

    Cost: O(size).
    """
    return _LineReader(allow_cut).read(lines)


class _LineReader:
    def __init__(self, allow_cut: bool) -> None:
        self._allow_cut = allow_cut
        self._number = 0
        self._check = 0

    def read(self, lines: Iterable[str]) -> Recording:
        pairs = self._objects(lines)
        first = next(pairs, None)
        if first is None:
            raise RecordingError(0, "the recording is empty")
        header = self._header(first)
        frames: list[FrameRecord] = []
        is_whole = False
        for values in pairs:
            if is_whole:
                self._fail("a line follows the end of the recording")
            if "end" in values:
                is_whole = True
                if values["end"] != len(frames):
                    self._fail(f"the end is after {shown(values['end'])} frames, got {len(frames)}")
            else:
                frames.append(self._frame(values, frames[-1].frame if frames else -1, header))
        if not is_whole and not self._allow_cut:
            self._fail("the recording is cut short here; use allow_cut=True to read the lines up to here")
        return Recording(header, tuple(frames), is_whole)

    def _objects(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        cut: RecordingError | None = None
        for number, line in enumerate(lines, 1):
            if cut is not None:
                raise cut
            self._number = number
            try:
                values = self._object(line.rstrip("\r\n"))
            except RecordingError as error:
                if not self._allow_cut or number == 1:
                    raise
                cut = error  # allowed if it is the last line
                continue
            yield values

    def _object(self, line: str) -> dict[str, Any]:
        if len(line) > MAXIMUM_LINE_CHARACTERS:
            self._fail(f"a line must have at most {MAXIMUM_LINE_CHARACTERS} characters, got {len(line)}")
        body, tail = line[:-_CHECK_LENGTH], line[-_CHECK_LENGTH:]
        if not (line.startswith("{") and tail.startswith(_CHECK_START) and tail.endswith('"}')):
            self._fail(f"this is not a line of a recording: {shown(line)}")
        check = _check_of(self._check, body)
        if tail != f'{_CHECK_START}{check:08x}"}}':
            self._fail("the line was changed, or an earlier line is missing or moved; record the run again")
        self._check = check
        try:
            values = json.loads(line, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self._fail(f"the line must be JSON: {error}")
        assert isinstance(values, dict)
        return values

    def _header(self, values: dict[str, Any]) -> Header:
        version = values.get("recording")
        if type(version) is not int or version != VERSION:
            self._fail(f"unknown version {shown(version)} of recordings; this reader supports version {VERSION}")
        parts = self._get(values, "parts", list)
        if not all(isinstance(name, str) for name in parts):
            self._fail(f"'parts' must be strings, got {shown(parts)}")
        look_every = self._get(values, "look_every", int)
        if look_every < 1:
            self._fail(f"'look_every' must be at least 1, got {look_every}")
        return Header(
            self._get(values, "name", str), self._get(values, "seed", int), tuple(parts),
            self._get(values, "exact", bool), self._get(values, "timed", bool),
            self._texts(values, "made_with"), look_every,
        )

    def _frame(self, values: dict[str, Any], last: int, header: Header) -> FrameRecord:
        frame = self._get(values, "frame", int)
        if frame <= last:
            self._fail(f"frame {frame} must come after frame {last}")
        budget = None if values.get("budget") is None else self._get(values, "budget", int, float)
        parts = self._texts(values, "parts") if "parts" in values else None
        unknown = sorted(set(parts or ()) - set(header.parts))
        if unknown:
            self._fail(f"part {unknown[0]!r} is not in the header")
        runs, reports, grants = self._ran(self._get(values, "ran", str), header.exact)
        return FrameRecord(
            frame, float(self._get(values, "s", int, float)), budget, values.get("inputs"),
            grants, runs, parts, reports,
        )

    def _ran(
        self, text: str, exact: bool
    ) -> tuple[tuple[TaskRunRecord, ...], dict[str, str], tuple[Grant | None, ...]]:
        """Return the runs, digests of the reports, and the grants of a frame."""
        try:
            ran = unpack(text)
            if not (_is_row(ran, (list,), (tuple,), (list,)) and _is_row(ran[1], *[(list,)] * len(REPORT_KINDS))):
                raise ValueError("it must be runs, reports and grants")
            noted, reports, grants = ran
            _check_runs(noted)
            strange = [one for one in grants if one is not None and not _is_row(one, (int,), (int,))]
            if strange:
                raise ValueError(f"a grant must be None or (steps, asks), got {shown(strange[0])}")
            return (
                runs_of(noted, exact=exact), report_digests(reports, exact=exact),
                tuple(None if one is None else Grant(*one) for one in grants),
            )
        except (ValueError, RecursionError) as error:
            return self._fail(f"invalid 'ran': {error}")

    def _get(self, values: dict[str, Any], name: str, *kinds: type) -> Any:
        value = values.get(name)
        if type(value) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            self._fail(f"{name!r} must be {wanted}, got {shown(value)}")
        return value

    def _texts(self, values: dict[str, Any], name: str) -> dict[str, str]:
        texts: dict[str, str] = self._get(values, name, dict)
        for key, text in texts.items():
            if not isinstance(text, str):
                self._fail(f"{name!r} of {key!r} must be a string, got {shown(text)}")
        return texts

    def _fail(self, why: str) -> NoReturn:
        raise RecordingError(self._number, why)


_json_of = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _check_of(before: int, body: str) -> int:
    return crc32(body.encode("utf-8", "surrogatepass"), before)


def _check_runs(noted: Sequence[Any]) -> None:
    number = (int, float)
    kinds = ((str,), (int,), number, (int,), number)
    for at in range(0, len(noted), FIELDS_OF_A_RUN):
        run = noted[at : at + FIELDS_OF_A_RUN]
        if len(run) < FIELDS_OF_A_RUN or not _is_row(tuple(run[:-1]), *kinds):
            raise ValueError(f"a run must be name, depth, granted, steps, µs and result, got {shown(run)}")


def _is_row(value: object, *kinds: tuple[type, ...]) -> TypeGuard[tuple[Any, ...]]:
    return (
        isinstance(value, tuple)
        and len(value) == len(kinds)
        and all(type(one) in kind for one, kind in zip(value, kinds, strict=True))
    )


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} is used twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
