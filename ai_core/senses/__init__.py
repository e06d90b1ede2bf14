"""Senses: what each character perceives, remembers and becomes aware of.

Choose a manager and its parts:
- ``RegionalSenseManager``: open ground, or walls thicker than a sound carries. Every
  signal reaches as far as its ``Modality`` allows.
- ``SenseGraphManager``: buildings. Signals travel through regions and portals, so walls,
  doors, ducts and cameras count.
- ``SenseGraphBaking``: builds the graph of a level from its ground and from rays.
- ``SenseMemory``: targets noticed, lost and forgotten.
- ``AwarenessSettings``: a meter that fills while a target is perceived.

Rejected: an object per signal and sensor (a signal to 1,000 sensors would make 1,000
objects), and a sight callback every frame (memory follows visible targets anyway).
"""
from __future__ import annotations

from ai_core.senses.baking.baking import BakingReport, BakingSettings, SenseGraphBaking
from ai_core.senses.baking.ground import WalkableGrid, WalkablePolygons
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.parts import Box, Boxes, Passage, Prism, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_manager import SenseGraphManager
from ai_core.senses.graph.smell import ScentGradient
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessLevel, AwarenessReasons, AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory, TargetReport
from ai_core.senses.percepts.percept_loops import KnownTarget
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.scent.scent_trails import ScentMark, ScentTrails
from ai_core.senses.sensation import LevelChange, MemoryChange, Sensation, SensationReceiver
from ai_core.senses.sense_reasons import SenseFactors, SenseReasons
from ai_core.senses.sight.camouflage import Backdrop, Background, Camouflage
from ai_core.senses.sight.continuous_sensing import LineOfSight
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import Clue, VisiblePart
from ai_core.senses.stimuli.muffling import Between, Materials

__all__ = [
    "AwarenessLevel", "AwarenessReasons", "AwarenessSettings", "Backdrop", "Background", "BakingReport",
    "BakingSettings", "Between", "Box", "Boxes", "Camouflage", "Clue", "KnownTarget", "LevelChange", "LineOfSight",
    "Materials", "MemoryChange", "Modality", "Passage", "Prism", "RegionalSenseManager", "ScentGradient", "ScentMark",
    "ScentTrails", "Sensation", "SensationReceiver", "SenseFactors", "SenseGraph", "SenseGraphBaking",
    "SenseGraphManager", "SenseMemory", "SensePortal", "SenseReasons", "SenseRegion", "SightCone", "TargetReport",
    "VisiblePart", "WalkableGrid", "WalkablePolygons", "graph_from_text", "graph_to_text"]
