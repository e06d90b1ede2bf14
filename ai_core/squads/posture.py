"""The posture of a strategist: rules over graded facts send events to a state machine."""
from __future__ import annotations

from ai_core.decisions.rules import Rule, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import StateMachineDefinition
from ai_core.decisions.state_machine_states import State, Transition

__all__ = ["FACTS", "POSTURES", "POSTURE_RULES", "machine_for", "share_of"]

POSTURES = ("opening", "building", "attacking", "defending", "retreating")
"""What an army is at as a whole."""

FACTS = ("threatened", "strength", "local_strength", "knows_target", "gathered", "attacking", "overdue")
"""What the rules are about, 0 to 1: strengths are shares, 0.5 where both sides are equal."""

POSTURE_RULES = RuleSet(
    [
        Rule("home is threatened", "threatened > nerve", lambda mind: "threat", salience=4, repeats=True),
        Rule("the attack fails", "attacking and local_strength < retreat_share", lambda mind: "losing",
             salience=3, repeats=True),
        Rule("nothing is left to attack", "attacking and not knows_target", lambda mind: "done",
             salience=2.5, repeats=True),
        Rule("we are stronger", "knows_target and strength > attack_share and gathered > 0.5 and not attacking",
             lambda mind: "advantage", salience=2, repeats=True),
        Rule("we have waited long enough", "knows_target and overdue and gathered > 0.5 and not attacking",
             lambda mind: "advantage", salience=1.5, repeats=True),
        Rule("it is calm", "threatened < 0.02", lambda mind: "calm", salience=1, repeats=True),
    ],
    facts=dict.fromkeys(FACTS, 0.0),
    parameters={"nerve": 0.25, "attack_share": 0.6, "retreat_share": 0.4},
)
"""Which rule fires is why a posture changes; what they compare with is personality."""

OPENING_S = 20.0
"""Nobody is attacked before (s): the first minute belongs to scouts and gatherers."""

CALM_S = 4.0
"""How long a posture lasts at least before calm ends it (s); less makes an army turn on its heels."""

DEFINITION = StateMachineDefinition(
    "strategist",
    [State(name) for name in POSTURES],
    [
        Transition("threat", "opening", "defending"),
        Transition("threat", "building", "defending"),
        Transition("threat", "retreating", "defending"),
        Transition("threat", "attacking", "defending", guard=lambda machine: machine.owner.goes_home()),
        Transition("advantage", "building", "attacking"),
        Transition("losing", "attacking", "retreating"),
        Transition("done", "attacking", "building"),
        Transition("calm", "defending", "building", guard=lambda machine: machine.time_in_state_s >= CALM_S),
        Transition("calm", "retreating", "building", guard=lambda machine: machine.time_in_state_s >= CALM_S),
        Transition(None, "opening", "building", after_s=OPENING_S),
    ],
)


def machine_for(owner: object) -> StateMachine:
    """Return a machine in the posture "opening".

    Args:
        owner: its ``goes_home()`` says whether an attack is broken off for a threat at home.
    """
    machine = StateMachine(DEFINITION, owner=owner)
    machine.start()
    return machine


def share_of(ratio: float) -> float:
    """Return a power ratio as a share: 0.5 for 1, 1 for ``inf``."""
    return 1.0 if ratio == float("inf") else ratio / (1.0 + ratio)
