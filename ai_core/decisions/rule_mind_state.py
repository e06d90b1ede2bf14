"""The saved state of a mind of rules: grades, what fired when, and the parameters.

Loading fires and asks nothing.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ai_core.decisions.callback_faults import read_failing
from ai_core.saving.fields import LATEST_S, Fields, State

if TYPE_CHECKING:
    from ai_core.decisions.rule_mind import RuleMind

__all__ = ["SaveableMind"]

VERSION = 1


class SaveableMind:
    """What makes a ``RuleMind`` saveable."""

    def save_state(self) -> State:
        """Return facts, parameters and what fired, as plain data.

        Raises:
            RuntimeError: if called from inside a rule or fact of this mind.
        """
        return _saved(cast("RuleMind", self))

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the rules that are here; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a rule or fact of this mind.
        """
        return _prepared(cast("RuleMind", self), state)


def _saved(mind: RuleMind) -> State:
    _check_at_rest(mind)
    mind._look_again()
    rules = mind.rules
    return {
        "version": VERSION,
        "parameters": {name: mind._parameters[index] for name, index in rules.parameters.items()},
        "facts": {name: [mind._grades[index], mind._changed[index]] for name, index in rules.facts.items()},
        "fired": {one.rule.name: list(mind._fired[one.index]) for one in rules.firing},
        "moment": mind._moment,
        "thoughts": mind._thoughts,
        "waited_s": mind._waited_s,
        "failing": [] if mind._faults is None else mind._faults.save(),
    }


def _prepared(mind: RuleMind, state: object) -> Callable[[], None]:
    _check_at_rest(mind)
    fields, rules = Fields.versioned(state, version=VERSION), mind.rules
    moment, thoughts = fields.whole("moment"), fields.whole("thoughts")
    group = fields.group("parameters")
    parameters = [group.number(name) for name in rules.parameters]
    group.end()
    grades, changed = _read_facts(mind, fields.group("facts"), moment)
    group = fields.group("fired")
    fired = [tuple(group.wholes(one.rule.name, count=2, minimum=-1)) for one in rules.firing]
    group.end()
    waited_s = fields.number_or("waited_s", -1.0, minimum=0.0, maximum=LATEST_S)
    failing = read_failing(fields, {*rules.callback_names(), "its own rules"})
    fields.end()

    def change() -> None:
        mind._parameters, mind._grades, mind._changed = parameters, grades, changed
        mind._fired = [(at_moment, in_thought) for at_moment, in_thought in fired]
        mind._moment, mind._thoughts = moment, thoughts
        mind._waited_s = None if waited_s < 0 else waited_s
        mind._to_conclude = set(rules.concluded)  # what rules say now counts, not what they said
        mind._to_look_at = set(range(len(rules.firing)))
        if failing or mind._faults is not None:
            mind._callback_faults().put(failing)

    return change


def _read_facts(mind: RuleMind, fields: Fields, moment: int) -> tuple[list[float], list[int]]:
    grades, changed = [], []
    for name in mind.rules.facts:
        pair = fields.items(name, count=2)
        one = Fields({"grade": pair[0], "changed": pair[1]}, fields.place_of(name))
        grades.append(one.number("grade", minimum=0.0, maximum=1.0))
        changed.append(one.whole("changed", maximum=moment))
    fields.end()
    return grades, changed


def _check_at_rest(mind: RuleMind) -> None:
    if mind._is_thinking:
        raise RuntimeError(f"{mind.name!r} is in the middle of a thought; save and load between two frames")
