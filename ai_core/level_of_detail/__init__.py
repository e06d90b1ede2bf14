"""How much thought does each one deserve?

Begin with ``Importance``: one number for each agent, for all viewers. Then
- ``SchedulingLOD``: the same behavior, less often or with less time.
- ``BehavioralLOD``: another, cheaper behavior; ``LevelLimits`` where no more
  than so many may be detailed at once, whatever the camera does.
- ``GroupLOD``: many simulated as one; ``Community`` keeps who they are as
  counts and distributions (``Population``), and known people as they were.

Rejected: distance alone as importance (a main character behind the camera is
missed); a distribution fitted to random numbers that were drawn from it (it
drifts away within a hundred openings).
"""
from ai_core.level_of_detail.behavior_ranges import ARBITRATIONS, BehaviorRanges
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import PARTS, ImportanceSettings
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Distribution, Normal, PowerLaw, Quantiles
from ai_core.level_of_detail.population.people import CharacterDraft, NamedPerson, People, made_characters
from ai_core.level_of_detail.population.population import Population
from ai_core.level_of_detail.scheduling_lod import RateBand, SchedulingLOD, TaskRate
from ai_core.level_of_detail.viewer import Viewer

__all__ = [
    "ARBITRATIONS",
    "PARTS",
    "BehaviorRanges",
    "BehavioralLOD",
    "Categorical",
    "CharacterDraft",
    "Community",
    "Distribution",
    "GroupLOD",
    "Importance",
    "ImportanceSettings",
    "LODBehavior",
    "Level",
    "LevelLimits",
    "NamedPerson",
    "Normal",
    "People",
    "Population",
    "PowerLaw",
    "Quantiles",
    "RateBand",
    "SchedulingLOD",
    "TaskRate",
    "Viewer",
    "made_characters",
]
