"""What do we do together?

``Squad``: members, a commander who thinks for all, one path, and a ``Formation`` whose slots
move along it. Hand it ``GridRoutes``, ``GridClearance`` and ``GridStanding`` where there are walls.
``Capabilities`` and ``Force``: who can do what to whom; ``StanceJudge``: fight, hold or retreat.
``Tactic`` and its kind: what members do about whom they meet, chosen by ``TacticByRules``.
``AttackTokens``: two at once. ``give_roles``, ``assign``: who is what, and where, at the least cost.
``Strategist``: decides for a whole side; told a ``StrategicSituation``, it returns a plan.

Rejected: slots relative to other members. Who follows a follower swings.
"""
from __future__ import annotations

from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.battle_forecast import BattleForecast, forecast
from ai_core.squads.capabilities import Capabilities, Force, power_ratio
from ai_core.squads.commander import SquadMember, nearest_to_goal, toughest
from ai_core.squads.formation import Formation, FormationSlot
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.orders import Order
from ai_core.squads.roles import RoleAssignment, RoleNeed, give_roles
from ai_core.squads.routes import GridRoutes, StraightRoutes
from ai_core.squads.situation import Sighting, TacticalSituation
from ai_core.squads.slot_assignment import SlotAssignment, assign, with_few_changes
from ai_core.squads.squad import Squad
from ai_core.squads.stance import Stance, StanceJudge, StancePolicy
from ai_core.squads.standing import GridClearance, GridStanding
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
from ai_core.squads.tactic_choice import SITUATION_FACTS, TacticByRules
from ai_core.squads.tactics import (
    BoundingOverwatch,
    Flanking,
    HealingSupport,
    Sacrifice,
    Scouting,
    SquadTask,
    SuppressingFire,
    Tactic,
)

__all__ = [
    "SITUATION_FACTS",
    "AttackTokens",
    "BattleForecast",
    "BoundingOverwatch",
    "BuildOrder",
    "Capabilities",
    "DefenseReport",
    "EnemyReport",
    "Flanking",
    "Force",
    "Formation",
    "FormationSlot",
    "GridClearance",
    "GridRoutes",
    "GridStanding",
    "HealingSupport",
    "MarchSettings",
    "Mission",
    "Order",
    "Personality",
    "Product",
    "Purchase",
    "RoleAssignment",
    "RoleNeed",
    "Sacrifice",
    "Scouting",
    "Sighting",
    "SlotAssignment",
    "Squad",
    "SquadMember",
    "SquadReport",
    "SquadTask",
    "Stance",
    "StanceJudge",
    "StancePolicy",
    "StraightRoutes",
    "StrategicPlan",
    "StrategicSituation",
    "Strategist",
    "SuppressingFire",
    "Tactic",
    "TacticByRules",
    "TacticalSituation",
    "TechnologyTree",
    "assign",
    "forecast",
    "give_roles",
    "nearest_to_goal",
    "power_ratio",
    "toughest",
    "with_few_changes",
]
