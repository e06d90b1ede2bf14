"""Who is told what many sensors sense, all of it at once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ai_core.senses.sensation import Point, Sensation

__all__ = ["SensationBatch", "SensationReceiver", "StimulusBatch", "What"]


What = tuple[int, str, Point, float, str]
"""A signal that was heard: source, name of the modality, where it came from (m), when it left there (s), tag."""


class SensationBatch(NamedTuple):
    """Sensations in the order in which they are told.

    Attributes:
        sensor_ids: who sensed.
        which: what each sensed, by its place in ``what``.
        intensities: how strong it was at each.
        what: source, name of the modality, and where it came from (m).
    """

    sensor_ids: list[int]
    which: list[int]
    intensities: list[float]
    what: list[tuple[int, str, Point]]


class StimulusBatch(NamedTuple):
    """Signals at sensors, in the order in which they arrived.

    Attributes:
        sensor_ids: where each arrived.
        which: what arrived, by its place in ``what``.
        intensities: how strong it was there.
        what: each signal once.
        now_s: when it arrived (s).
    """

    sensor_ids: list[int]
    which: list[int]
    intensities: list[float]
    what: list[What]
    now_s: float

    def sensation(self, place: int) -> Sensation:
        """Return one of them, by its place."""
        source_id, modality, position, sent_at, tag = self.what[self.which[place]]
        return Sensation(
            self.sensor_ids[place], source_id, modality, self.intensities[place], position, sent_at, self.now_s, tag)


class SensationReceiver(Protocol):
    """Is told in place of the ``on_sensed`` of sensors, so that many cost one call.

    What is told together has been taken in by all memories before the first is told. Who was
    removed meanwhile is told nothing.
    """

    def listening(self, sensor_ids: Sequence[int]) -> list[bool]:
        """Return for each of some sensors whether anybody is told what it senses."""

    def tell(self, told: SensationBatch) -> None:
        """Tell all of it, in order."""
