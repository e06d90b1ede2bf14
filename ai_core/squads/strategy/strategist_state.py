"""Saving and loading of a strategist as plain data."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.saving.fields import Fields, State
from ai_core.squads.strategy.production import WEALTHS, Wealth

if TYPE_CHECKING:
    from ai_core.squads.strategy.strategist import Strategist

__all__ = ["prepared", "saved"]

VERSION = 1

MOST_SQUADS = 1_000_000


def saved(strategist: Strategist) -> State:
    """Return a strategist as plain data."""
    return {
        "version": VERSION,
        "machine": strategist.machine.save_state(),
        "mind": strategist.mind.save_state(),
        "adaptive": strategist.adaptive.save_state(),
        "wealth": strategist.wealth,
        "tactic": strategist.tactic,
        "target": None if strategist.target is None else list(strategist.target),
        "began_attack_at": list(strategist.began_attack_at),
        "last_attack_s": strategist.last_attack_s,
        "thought_at_s": strategist.thought_at_s,
        "has_thought": strategist.has_thought,
        "thoughts": strategist.thoughts,
        "is_staging": strategist.is_staging,
        "staging": None if strategist.staging is None else list(strategist.staging),
        "first_count": strategist.first_count,
        "flanked": sorted(strategist.flanked),
        "scouting": [{"squad": number, "goal": list(goal)} for number, goal in sorted(strategist.scouting.items())],
    }


def prepared(strategist: Strategist, state: object) -> Callable[[], None]:
    """Check a saved state and return the function that restores it in the strategist.

    Raises:
        StateError: if the state cannot be loaded; names the field and the reason.
    """
    fields = Fields.versioned(state, version=VERSION)
    changes = [
        strategist.machine.prepare_state(fields.anything("machine")),
        strategist.mind.prepare_state(fields.anything("mind")),
        strategist.adaptive.prepare_state(fields.anything("adaptive")),
    ]
    wealth = fields.one_of("wealth", WEALTHS)
    tactic = fields.one_of("tactic", ("", *strategist.adaptive.memory.choices))
    target = None if fields.anything("target") is None else _pair(fields, "target")
    began_attack_at = _pair(fields, "began_attack_at")
    last_attack_s, thought_at_s = fields.seconds("last_attack_s"), fields.seconds("thought_at_s")
    has_thought, thoughts = fields.flag("has_thought"), fields.whole("thoughts")
    staging = None if fields.anything("staging") is None else _pair(fields, "staging")
    is_staging, first_count = fields.flag("is_staging"), fields.number("first_count", minimum=0)
    flanked = set(fields.wholes("flanked", maximum=MOST_SQUADS))
    scouting = {}
    for one in fields.groups("scouting"):
        scouting[one.whole("squad", maximum=MOST_SQUADS)] = _pair(one, "goal")
        one.end()
    fields.end()

    def change() -> None:
        for put in changes:
            put()
        strategist.wealth = _wealth(wealth)
        strategist.tactic, strategist.target, strategist.began_attack_at = tactic, target, began_attack_at
        strategist.last_attack_s, strategist.thought_at_s = last_attack_s, thought_at_s
        strategist.has_thought, strategist.thoughts = has_thought, thoughts
        strategist.flanked, strategist.scouting = flanked, scouting
        strategist.is_staging, strategist.staging, strategist.first_count = is_staging, staging, first_count

    return change


def _pair(fields: Fields, name: str) -> tuple[float, float]:
    x, y = fields.numbers(name, count=2)
    return (x, y)


def _wealth(name: str) -> Wealth:
    return next(one for one in WEALTHS if one == name)
