"""Arguments of every sense manager, for type checkers and for code completion."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from ai_core.faults import FaultIsolation
from ai_core.senses.modality import Modality
from ai_core.senses.scent.scent_trails import ScentTrails
from ai_core.senses.sensation import SensationReceiver
from ai_core.senses.sight.camouflage import Background, Camouflage
from ai_core.senses.sight.continuous_sensing import LineOfSight
from ai_core.senses.stimuli.muffling import Between
from ai_core.trace import Trace

__all__ = ["SenseSettings"]


class SenseSettings(TypedDict, total=False):
    """Settings of a ``RegionalSenseManager``, which says what each means."""

    line_of_sight: LineOfSight | None
    modalities: Iterable[Modality] | None
    max_rays: int
    period_frames: int
    report_every_s: float
    up: Sequence[float]
    occlusion: Between | None
    background: Background | None
    camouflage: Camouflage | None
    scent_trails: ScentTrails | None
    max_clues: int
    audience: SensationReceiver | None
    faults: FaultIsolation | None
    trace: Trace | None
