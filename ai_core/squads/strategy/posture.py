"""The posture of a strategist: rules over graded facts send events to a state machine."""
from __future__ import annotations

from dataclasses import dataclass

from ai_core.decisions.rules.rule_set import Rule, RuleSet
from ai_core.decisions.state_machines.state_machine import StateMachine
from ai_core.decisions.state_machines.state_machine_definition import State, StateMachineDefinition, Transition
from ai_core.errors import finite_number


@dataclass(frozen=True, slots=True)
class Personality:
    """Four numbers of 0 to 1; what follows from them is below, each in its unit.

    Attributes:
        aggression: how small an advantage it attacks with, and whether it goes on while its home is threatened.
        caution: how early it breaks an attack off, how little makes it defend, and how much it builds for that.
        greed: how much it invests in gathering before it arms.
        curiosity: how fresh it keeps its maps, and with how many scouts.

    Raises:
        TypeError, ValueError: if one is no number of 0 to 1.
    """

    aggression: float = 0.5
    caution: float = 0.5
    greed: float = 0.5
    curiosity: float = 0.5

    def __post_init__(self) -> None:
        for name in ("aggression", "caution", "greed", "curiosity"):
            finite_number(name, getattr(self, name), minimum=0, maximum=1)

    @property
    def attack_at(self) -> float:
        """Power ratio from which it attacks: 2 to 0.9."""
        return 2.0 - 1.1 * self.aggression

    @property
    def retreat_below(self) -> float:
        """Power ratio below which it breaks an attack off: 0.3 to 0.9."""
        return 0.3 + 0.6 * self.caution

    @property
    def nerve(self) -> float:
        """Threat to its home, as a share of its own power, from which it defends: 0.5 to 0.05."""
        return 0.5 - 0.45 * self.caution

    @property
    def stale_after_s(self) -> float:
        """Age of what it knows of a cell from which a scout is sent (s): 120 to 20."""
        return 120.0 - 100.0 * self.curiosity

    @property
    def most_scouts(self) -> int:
        """Squads that scout at once (count): 0 to 4."""
        return round(4 * self.curiosity)

    @property
    def defenses_share(self) -> float:
        """What it puts into defenses, as a share of the army it aims at: 0 to 0.4, for the careful who are not bold."""
        return 0.4 * self.caution * (1 - self.aggression)

    @property
    def gatherers_share(self) -> float:
        """Share of its units that gather, as long as there is something to gather: 0.1 to 0.4."""
        return 0.1 + 0.3 * self.greed


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


__all__ = ["FACTS", "POSTURES", "POSTURE_RULES", "Personality", "machine_for", "share_of"]
