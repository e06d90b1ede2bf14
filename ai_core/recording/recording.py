"""Recording of a run: a header, and one record per frame."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ai_core.recording.frame_watch import TaskRunRecord
from ai_core.recording.grants import Grant

__all__ = ["FrameRecord", "Header", "Recording"]


@dataclass(frozen=True)
class Header:
    """Description of a recording.

    Attributes:
        name: name of the recorded run, such as a scenario.
        seed: seed of the run.
        parts: names of the parts, in the order of comparison.
        exact: True if digests distinguish numbers by every bit.
        is_timed: True if frames had time budgets, False for budgets of steps.
        made_with: versions of the software used, for the message about a difference.
        digest_every_frames: frames between two digests of a part (frames).
    """

    name: str
    seed: int
    parts: tuple[str, ...]
    exact: bool = False
    is_timed: bool = False
    made_with: Mapping[str, str] = field(default_factory=dict)
    digest_every_frames: int = 1


class FrameRecord(NamedTuple):
    """Record of one frame.

    Attributes:
        frame: frame number of the clock at the end of the frame.
        seconds: game time at the end of the frame (s).
        budget: budget of the frame (steps or µs), None for no limit.
        inputs: external inputs, as plain JSON data.
        grants: grant of each time budget; empty for budgets of steps.
        runs: task runs, in the order of their ends.
        parts: digests of the parts that changed since their last digest; None if no part was due.
        reports: digests of reported events, sensations, states and paths, by kind.
    """

    frame: int
    seconds: float
    budget: float | None
    inputs: Any
    grants: tuple[Grant | None, ...]
    runs: tuple[TaskRunRecord, ...]
    parts: Mapping[str, str] | None
    reports: Mapping[str, str]


class Recording(NamedTuple):
    """A recording read from lines.

    Attributes:
        header: description of the recording.
        frames: records of the frames, in order.
        is_whole: False if the end is missing, for example after a crash.
    """

    header: Header
    frames: tuple[FrameRecord, ...]
    is_whole: bool = True
