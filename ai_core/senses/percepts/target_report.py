"""The report of a target from one character to another, by radio or by shouting."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["RADIO", "TargetReport"]

RADIO = "radio"
"""Stands for reports among the modalities of a target."""


class TargetReport(NamedTuple):
    """Where a target was, and when; plain data for messages.

    Attributes:
        target: id of the source.
        position: last known (m).
        velocity: estimate at that time (m/s).
        strength: intensity of the dominant modality of the reporting sensor.
        at_s: when the target was there (s).
    """

    target: int
    position: Point
    velocity: Point
    strength: float
    at_s: float
