"""What one character tells another of a target, by radio or by shouting."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["RADIO", "TargetReport"]

RADIO = "radio"
"""Stands among a target's modalities for what others told of it."""


class TargetReport(NamedTuple):
    """Where a target was, and when; plain data that may travel.

    Attributes:
        target: id of the source.
        position: last known (m).
        velocity: estimate then (m/s).
        strength: of the dominant sense of who reports.
        at_s: when the target was there (s).
    """

    target: int
    position: Point
    velocity: Point
    strength: float
    at_s: float
