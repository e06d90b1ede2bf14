"""Level of detail: less AI work for less important agents.

``Importance`` computes one number per agent for all viewers. Based on it:

- ``SchedulingLOD`` runs the same behavior less often or with less time.
- ``BehavioralLOD`` runs another, cheaper behavior; ``LevelLimits`` limits the number of agents per
  level, whatever the camera shows.
- ``GroupLOD`` simulates many agents as one; ``Community`` keeps its people as counts and
  distributions (``Population``), and named people with their facts.

Rejected: distance alone as importance, because it misses a main character behind the camera; a
distribution fitted to random numbers that were drawn from it, because it drifts within a hundred
openings.
"""
from ai_core.level_of_detail.behavior_ranges import ARBITRATIONS, BehaviorRanges
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import PARTS, ImportanceSettings
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Distribution, Normal, PowerLaw
from ai_core.level_of_detail.population.people import CharacterDraft, NamedPerson, People, make_characters
from ai_core.level_of_detail.population.population import Population
from ai_core.level_of_detail.scheduling_lod import RateBand, SchedulingLOD, TaskRate
from ai_core.level_of_detail.viewer import Viewer

__all__ = [
    "ARBITRATIONS", "PARTS", "BehaviorRanges", "BehavioralLOD", "Categorical", "CharacterDraft", "Community",
    "Distribution", "GroupLOD", "Importance", "ImportanceSettings", "LODBehavior", "Level", "LevelLimits",
    "NamedPerson", "Normal", "People", "Population", "PowerLaw", "RateBand", "SchedulingLOD", "TaskRate",
    "Viewer", "make_characters",
]
