"""Squads: formations, tactics and strategy.

- ``Squad``: members, a commander that decides for all, one path, and a ``Formation`` whose slots
  move along the path. On ground with walls give it ``GridRoutes``, ``GridClearance`` and ``NearestFreeCell``.
- ``Capabilities`` and ``Force``: attack, toughness and healing of members and groups.
  ``StanceJudge``: fight, hold or retreat.
- ``Tactic`` and its subclasses: tasks of members against enemies, chosen by ``TacticByRules``.
- ``AttackTokens``: limits the number of simultaneous attackers.
- ``assign_roles``, ``assign``: roles and slots at the least total cost.
- ``Strategist``: decides for a whole side; turns a ``StrategicSituation`` into a ``StrategicPlan``.

Rejected: slots relative to other members. A member that follows a follower swings from side to side.
"""
from __future__ import annotations

from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.battle_forecast import BattleForecast, forecast
from ai_core.squads.capabilities import Capabilities, Force, power_ratio
from ai_core.squads.commander import Order, SquadMember, nearest_to_goal, toughest
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.free_cells import GridClearance, NearestFreeCell
from ai_core.squads.routes import GridRoutes, StraightRoutes
from ai_core.squads.situation import Sighting, TacticalSituation
from ai_core.squads.slot_assignment import (
    RoleAssignment,
    RoleNeed,
    SlotAssignment,
    assign,
    assign_roles,
    reassign_slots,
)
from ai_core.squads.squad import Squad
from ai_core.squads.stance import Stance, StanceJudge, StancePolicy
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategy.strategic_situation import (
    DefenseReport,
    EnemyReport,
    Mission,
    Purchase,
    SquadReport,
    StrategicPlan,
    StrategicSituation,
)
from ai_core.squads.strategy.strategist import Strategist
from ai_core.squads.tactics import (
    SITUATION_FACTS,
    BoundingOverwatch,
    Flanking,
    HealingSupport,
    Sacrifice,
    Scouting,
    SquadTask,
    SuppressingFire,
    Tactic,
    TacticByRules,
)

__all__ = [
    "SITUATION_FACTS", "AttackTokens", "BattleForecast", "BoundingOverwatch", "BuildOrder", "Capabilities",
    "DefenseReport", "EnemyReport", "Flanking", "Force", "Formation", "FormationSlot", "GridClearance", "GridRoutes",
    "HealingSupport", "MarchSettings", "Mission", "NearestFreeCell", "Order", "Personality", "Product", "Purchase",
    "RoleAssignment", "RoleNeed", "Sacrifice", "Scouting", "Sighting", "SlotAssignment", "Squad", "SquadMember",
    "SquadReport", "SquadTask", "Stance", "StanceJudge", "StancePolicy", "StraightRoutes", "StrategicPlan",
    "StrategicSituation", "Strategist", "SuppressingFire", "Tactic", "TacticByRules", "TacticalSituation",
    "TechnologyTree", "assign", "assign_roles", "forecast", "nearest_to_goal", "power_ratio", "reassign_slots",
    "toughest",
]
