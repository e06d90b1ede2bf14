"""A signal: something that was emitted, such as a sound or a smell."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["Signal"]


class Signal(NamedTuple):
    """Something that was emitted.

    Attributes:
        order: signals emitted before it (count).
        source_id: what emitted it; it may have been removed since.
        modality: number of its modality.
        strength: at its origin, no unit.
        position: its origin (m), as sensors are told; in a sense graph the last portal.
        sent_at_s: game time of the emission (s).
        affiliation: of its source, as bits.
        tag: kind of signal, for listeners.
        channel: repeated signals of one source on one channel replace each other at a sensor; "" for none.
    """

    order: int
    source_id: int
    modality: int
    strength: float
    position: Point
    sent_at_s: float
    affiliation: int = 1
    tag: str = ""
    channel: str = ""
