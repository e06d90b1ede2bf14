"""Batches of sensations, and the interface of their receiver."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ai_core.budget import Budget
from ai_core.senses.sensation import Point

__all__ = ["Hear", "SensationBatch", "SensationReceiver", "StimulusBatch", "What"]


What = tuple[int, int, Point, float, str]
"""A signal that was heard: source, number of the modality, where it came from (m), when it left there (s), tag."""


class SensationBatch(NamedTuple):
    """Sensations in the order in which they are reported.

    Attributes:
        sensor_ids: the sensor of each sensation.
        which: for each sensation the index of its stimulus in ``what``.
        intensities: strength of each at its sensor.
        what: source, name of the modality and origin (m) of each stimulus.
    """

    sensor_ids: list[int]
    which: list[int]
    intensities: list[float]
    what: list[tuple[int, str, Point]]


class StimulusBatch(NamedTuple):
    """Signals at sensors, in the order of arrival.

    Attributes:
        sensor_ids: the sensor that each arrived at.
        which: for each arrival the index of its signal in ``what``.
        intensities: strength of each at its sensor.
        what: each signal once.
        now_s: game time of the arrival (s).
    """

    sensor_ids: list[int]
    which: list[int]
    intensities: list[float]
    what: list[What]
    now_s: float


Hear = Callable[[StimulusBatch, Budget], None]
"""Delivers a batch of arrivals to sensors and listeners."""


class SensationReceiver(Protocol):
    """Receives sensations in batches, in place of the ``on_sensed`` of sensors: many cost one call.

    All memories contain the whole batch before it is reported. Sensors removed meanwhile are
    left out.
    """

    def receive(self, batch: SensationBatch) -> None:
        """Receive a batch of sensations, in order."""
