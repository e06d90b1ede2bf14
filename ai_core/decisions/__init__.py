"""What do I do now?

Choose ``Habit`` and ``HabitTree`` when a task falls into smaller tasks: fight
is attack or dodge, attack is aim and then shoot.
Choose ``StateMachine`` where a character is something until something happens.
Choose ``RuleSet`` and ``RuleMind`` where many decide by the same conditions,
and ``AdaptiveChoice`` where it should learn from how it went.

Rejected: asking every habit from the root each time and comparing (behaviour
trees without memory). A habit knows when it begins and ends, each exactly once.
Rejected: numbers for priority of habits. They creep upwards; order does not.
"""
from __future__ import annotations

from ai_core.decisions.adaptation.adaptive import AdaptiveChoice, ChoiceResult
from ai_core.decisions.adaptation.sequence_prediction import Prediction, SequencePrediction
from ai_core.decisions.adaptation.success_memory import SuccessMemory, bands
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import (
    Call,
    CallMethod,
    ChangeValue,
    CheckValue,
    Emit,
    LookAt,
    MoveTo,
    PlayAnimation,
    SetValue,
    ValueIs,
    Wait,
    WaitFor,
)
from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habit_population import HabitPopulation
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import FOR_EVER, Callback, Habit, Launch, Outcome, Status
from ai_core.decisions.rules.rule_mind import FiredRule, RuleMind
from ai_core.decisions.rules.rule_set import Rule, RuleSet
from ai_core.decisions.state_machines.state_machine import StateMachine
from ai_core.decisions.state_machines.state_machine_definition import (
    PREVIOUS,
    History,
    State,
    StateMachineDefinition,
    Transition,
)

__all__ = [
    "FOR_EVER",
    "PREVIOUS",
    "AdaptiveChoice",
    "Blackboard",
    "Call",
    "CallMethod",
    "Callback",
    "ChangeValue",
    "CheckValue",
    "ChoiceResult",
    "Emit",
    "FiredRule",
    "Habit",
    "HabitBatch",
    "HabitContext",
    "HabitPopulation",
    "HabitTree",
    "History",
    "Launch",
    "LookAt",
    "MoveTo",
    "Outcome",
    "PlayAnimation",
    "Prediction",
    "Rule",
    "RuleMind",
    "RuleSet",
    "SequencePrediction",
    "SetValue",
    "State",
    "StateMachine",
    "StateMachineDefinition",
    "Status",
    "SuccessMemory",
    "Transition",
    "ValueIs",
    "Wait",
    "WaitFor",
    "bands",
]
