"""Decision making: what a character does next.

- ``Habit`` and ``HabitTree`` are a behaviour tree with priority selectors, for tasks
  that consist of smaller tasks: fight is attack or dodge, attack is aim and then shoot.
- ``StateMachine`` is for characters that stay in a state until an event occurs.
- ``RuleSet`` and ``RuleMind`` apply fuzzy rules, shared by many characters.
- ``AdaptiveChoice`` selects a tactic, and learns from the outcomes.

Rejected: evaluating every habit from the root at each tick (behaviour trees without
memory). A habit begins and ends exactly once, with a callback for each.
Rejected: numbers for the priority of habits. Numbers creep upwards; order does not.
"""
from __future__ import annotations

from ai_core.decisions.adaptation import (
    AdaptiveChoice,
    ChoiceResult,
    Prediction,
    SequencePrediction,
    SuccessMemory,
    bands,
)
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
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import FOR_EVER, Launch, Outcome, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Callback, Habit
from ai_core.decisions.habits.utility import Consideration, Score
from ai_core.decisions.population import HabitPopulation
from ai_core.decisions.rules import FiredRule, Rule, RuleMind, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import PREVIOUS, History, State, StateMachineDefinition, Transition

__all__ = [
    "FOR_EVER", "PREVIOUS", "AdaptiveChoice", "Blackboard", "Call", "CallMethod", "Callback", "ChangeValue",
    "CheckValue", "ChoiceResult", "Consideration", "Emit", "FiredRule", "Habit", "HabitBatch", "HabitContext",
    "HabitPopulation", "HabitTree", "History", "Launch", "LookAt", "MoveTo", "Outcome", "PlayAnimation", "Prediction",
    "Rule", "RuleMind", "RuleSet", "Score", "SequencePrediction", "SetValue", "State", "StateMachine",
    "StateMachineDefinition", "Status", "SuccessMemory", "Transition", "ValueIs", "Wait", "WaitFor", "bands"]
