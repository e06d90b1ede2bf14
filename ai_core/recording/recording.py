"""A recording: a header, and one record per frame."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ai_core.recording.frame_watch import Run
from ai_core.recording.grants import Grant

__all__ = ["FrameRecord", "Header", "Recording"]


@dataclass(frozen=True)
class Header:
    """What a recording is of.

    Attributes:
        name: what was recorded: the name of a scenario, for instance.
        seed: the seed it was built with.
        parts: names of the parts, in the order in which they are compared.
        exact: True if digests tell numbers apart by every bit.
        is_timed: True if frames ran on time, False if on steps.
        made_with: versions of what made it, for the message when it differs.
        look_every_frames: how often each part was looked at.
    """

    name: str
    seed: int
    parts: tuple[str, ...]
    exact: bool = False
    is_timed: bool = False
    made_with: Mapping[str, str] = field(default_factory=dict)
    look_every_frames: int = 1


class FrameRecord(NamedTuple):
    """One frame.

    Attributes:
        frame: number of the frame on the clock when it ended.
        seconds: game time then (s).
        budget: what the frame might use (steps, or µs), None for no limit.
        inputs: what came from outside: plain JSON data.
        grants: where each budget was spent; empty when steps were counted.
        runs: the work that ran, in the order in which it ended.
        parts: digests of the parts that changed since they were last looked
            at; None if nobody looked.
        told: digests of what was told, by kind.
    """

    frame: int
    seconds: float
    budget: float | None
    inputs: Any
    grants: tuple[Grant | None, ...]
    runs: tuple[Run, ...]
    parts: Mapping[str, str] | None
    told: Mapping[str, str]


class Recording(NamedTuple):
    """A recording that was read.

    Attributes:
        header: what it is of.
        frames: what happened.
        is_whole: False if it was cut short, by a crash for instance.
    """

    header: Header
    frames: tuple[FrameRecord, ...]
    is_whole: bool = True
