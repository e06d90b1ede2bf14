"""The nodes of ai_core: Godot types in and out, one call into the library.

Scheduling: AIScheduler, AIBehavior, Timeslicer. Events: AIEventManager, SignalEvent. Queries: PollingStation.
Paths: PathService. Cover: CoverMap. Senses: SenseManager, SenseModality, SightCone, Sensor3D, SenseSource3D,
SenseRegion3D and SensePortal3D (each also 2D), SenseGraphBaker. Decisions: HabitTree, Habit; StateMachine, AIState,
StateTransition; RuleSet, RuleMind. Level of detail: ImportanceManager, ImportanceViewer, BehavioralLOD, LODBehavior,
GroupLOD. Influence maps: DecisionMap, DecisionLayer, MapWriter. Squads: Squad, SquadMember, Formation. Sides:
Strategist, StrategicProduct. Debugging: AIDebugOverlay.
"""
# ruff: noqa: F401 - importing a class declares it
from __future__ import annotations

from addons.ai_core.nodes.debugging.ai_debug_overlay import AIDebugOverlay
from addons.ai_core.nodes.events.ai_event_manager import AIEventManager
from addons.ai_core.nodes.events.signal_event import SignalEvent
from addons.ai_core.nodes.habits.built_in_habits import (
    HabitCallMethod,
    HabitCheckValue,
    HabitEmitSignal,
    HabitPlayAnimation,
    HabitSetValue,
    HabitWait,
)
from addons.ai_core.nodes.habits.habit import Habit
from addons.ai_core.nodes.habits.habit_tree import HabitTree
from addons.ai_core.nodes.habits.moving_habits import (
    HabitAttack,
    HabitFlee,
    HabitLookAt,
    HabitMoveTo,
    HabitPatrol,
    HabitSearch,
)
from addons.ai_core.nodes.level_of_detail.behavioral_lod import BehavioralLOD
from addons.ai_core.nodes.level_of_detail.group_lod import GroupLOD
from addons.ai_core.nodes.level_of_detail.importance_manager import ImportanceManager
from addons.ai_core.nodes.level_of_detail.importance_viewer import ImportanceViewer
from addons.ai_core.nodes.level_of_detail.lod_behavior import LODBehavior
from addons.ai_core.nodes.maps.cover_map import CoverMap
from addons.ai_core.nodes.maps.decision_layer import DecisionLayer
from addons.ai_core.nodes.maps.decision_map import DecisionMap
from addons.ai_core.nodes.maps.map_writer import MapWriter
from addons.ai_core.nodes.paths.path_service import PathService
from addons.ai_core.nodes.polling.polling_station import PollingStation
from addons.ai_core.nodes.rules.rule_mind import RuleMind
from addons.ai_core.nodes.rules.rule_set import RuleSet
from addons.ai_core.nodes.scheduling.ai_behavior import AIBehavior
from addons.ai_core.nodes.scheduling.ai_scheduler import AIScheduler
from addons.ai_core.nodes.scheduling.timeslicer import Timeslicer
from addons.ai_core.nodes.senses.sense_graph_baker import SenseGraphBaker
from addons.ai_core.nodes.senses.sense_manager import SenseManager
from addons.ai_core.nodes.senses.sense_modality import SenseModality
from addons.ai_core.nodes.senses.sense_portal import SensePortal2D, SensePortal3D
from addons.ai_core.nodes.senses.sense_region import SenseRegion2D, SenseRegion3D
from addons.ai_core.nodes.senses.sense_source import SenseSource2D, SenseSource3D
from addons.ai_core.nodes.senses.sensor import Sensor2D, Sensor3D
from addons.ai_core.nodes.senses.sight_cone import SightCone
from addons.ai_core.nodes.squads.formation import Formation
from addons.ai_core.nodes.squads.squad import Squad
from addons.ai_core.nodes.squads.squad_member import SquadMember
from addons.ai_core.nodes.squads.strategic_product import StrategicProduct
from addons.ai_core.nodes.squads.strategist import Strategist
from addons.ai_core.nodes.state_machines.ai_state import AIState
from addons.ai_core.nodes.state_machines.state_machine import StateMachine
from addons.ai_core.nodes.state_machines.state_transition import StateTransition
