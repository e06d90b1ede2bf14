"""Posture of a strategist: rules over graded facts send events to a state machine."""
from __future__ import annotations

from dataclasses import dataclass

from ai_core.decisions.rules import Rule, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition, Transition
from ai_core.errors import finite_number


@dataclass(frozen=True, slots=True)
class Personality:
    """Four traits of a strategist, 0 to 1 each; properties derive limits from them.

    Attributes:
        aggression: lowers the advantage needed for an attack, and lets an attack continue while home is threatened.
        caution: raises the ratio at which an attack is broken off, lowers the threat at which the strategist
            defends, and raises the spending on defenses.
        greed: raises the share of gatherers.
        curiosity: raises the number of scouts and lowers the age at which knowledge counts as stale.

    Raises:
        TypeError, ValueError: if a trait is not a number from 0 to 1.
    """

    aggression: float = 0.5
    caution: float = 0.5
    greed: float = 0.5
    curiosity: float = 0.5

    def __post_init__(self) -> None:
        for name in ("aggression", "caution", "greed", "curiosity"):
            finite_number(name, getattr(self, name), minimum=0, maximum=1)

    @property
    def attack_ratio(self) -> float:
        """Power ratio at which the strategist attacks: 2 to 0.9, falling with aggression."""
        return 2.0 - 1.1 * self.aggression

    @property
    def retreat_ratio(self) -> float:
        """Power ratio below which the strategist breaks off an attack: 0.3 to 0.9, rising with caution."""
        return 0.3 + 0.6 * self.caution

    @property
    def defend_threshold(self) -> float:
        """Threat to home, as the enemy's share of the combined power, above which it defends: 0.5 to 0.05."""
        return 0.5 - 0.45 * self.caution

    @property
    def stale_after_s(self) -> float:
        """Time since a cell was seen after which a scout is sent (s): 120 to 20, falling with curiosity."""
        return 120.0 - 100.0 * self.curiosity

    @property
    def max_scouts(self) -> int:
        """Largest number of squads that scout at once (count): 0 to 4."""
        return round(4 * self.curiosity)

    @property
    def defenses_share(self) -> float:
        """Spending on defenses as a share of ``army_cost``: 0 to 0.4, rising with caution, falling with aggression."""
        return 0.4 * self.caution * (1 - self.aggression)

    @property
    def gatherers_share(self) -> float:
        """Wanted share of gatherers among its units while resources are known: 0.1 to 0.4, rising with greed."""
        return 0.1 + 0.3 * self.greed


POSTURES = ("opening", "building", "attacking", "defending", "retreating")
"""Postures of an army as a whole."""
FACTS = ("threatened", "strength", "local_strength", "knows_target", "gathered", "attacking", "overdue")
"""Facts of the rules, graded 0 to 1; strengths are shares, 0.5 for equal sides."""
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
    parameters={"nerve": 0.25, "attack_share": 0.6, "retreat_share": 0.4})
"""Rules that change the posture; the name of the rule that fired is the reason, and personality sets the parameters."""
OPENING_S = 20.0
"""Duration of the posture "opening" (s): before its end there is no attack; scouts and gatherers go first."""
CALM_S = 4.0
"""Least duration of "defending" and "retreating" before calm ends them (s); less makes an army turn back and forth."""
DEFINITION = StateMachineDefinition(
    "strategist",
    [State(name) for name in POSTURES],
    [
        Transition("threat", "opening", "defending"),
        Transition("threat", "building", "defending"),
        Transition("threat", "retreating", "defending"),
        Transition("threat", "attacking", "defending", guard=lambda machine: machine.owner.defends_home()),
        Transition("advantage", "building", "attacking"),
        Transition("losing", "attacking", "retreating"),
        Transition("done", "attacking", "building"),
        Transition("calm", "defending", "building", guard=lambda machine: machine.time_in_state_s >= CALM_S),
        Transition("calm", "retreating", "building", guard=lambda machine: machine.time_in_state_s >= CALM_S),
        Transition(None, "opening", "building", after_s=OPENING_S),
    ])


def posture_machine(owner: object) -> StateMachine:
    """Return a started state machine in the posture "opening".

    ``owner.defends_home()`` returns whether a threat at home breaks off an attack.
    """
    machine = StateMachine(DEFINITION, owner=owner)
    machine.start()
    return machine


def share_of(ratio: float) -> float:
    """Return a power ratio as a share: 0.5 for 1, 1 for ``inf``."""
    return 1.0 if ratio == float("inf") else ratio / (1.0 + ratio)


__all__ = ["FACTS", "POSTURES", "POSTURE_RULES", "Personality", "posture_machine", "share_of"]
