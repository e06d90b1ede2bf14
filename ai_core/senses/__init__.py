"""Senses: what does each character perceive, remember, and grow aware of?

Which one to choose:
- ``RegionalSenseManager`` for open ground, or walls thicker than a sound
  carries: every signal reaches as far as its ``Modality`` allows.
- ``SenseMemory`` for targets noticed, lost and forgotten; on its own, too.
- ``AwarenessSettings`` and ``Awareness`` for a meter that fills while
  something shows itself; on its own, too.

Rejected: one object per signal and sensor (a signal to 1,000 sensors would
make 1,000 objects); telling of sight every frame (memory follows it anyway).
"""
from __future__ import annotations

from ai_core.senses.awareness import Awareness, AwarenessLevel, AwarenessSettings, LevelChange
from ai_core.senses.continuous_sensing import LineOfSight
from ai_core.senses.memory import MemoryChange, Remembered, SenseMemory
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight import SightCone

__all__ = [
    "Awareness",
    "AwarenessLevel",
    "AwarenessSettings",
    "LevelChange",
    "LineOfSight",
    "MemoryChange",
    "Modality",
    "RegionalSenseManager",
    "Remembered",
    "Sensation",
    "SenseMemory",
    "SightCone",
]
