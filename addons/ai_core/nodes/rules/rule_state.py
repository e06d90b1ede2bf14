"""Saves of a library RuleMind whose rules are others now, as after an update of the game."""
from __future__ import annotations

from ai_core.decisions.rules import RuleSet
from ai_core.saving.fields import State, checked_dict, checked_list, place_in

NOUNS = {"parameters": "parameter", "facts": "fact", "fired": "rule"}
"""Noun of the parts in each field of a saved mind that has some."""


def named_parts(state: object, place: str) -> list[str]:
    """Return the parameters, facts and rules of a saved mind by noun and name, in the order of ``NOUNS``.

    Args:
        state: the state of a mind; None for no mind, which has no parts.
        place: where that is in the whole state.

    Raises:
        StateError: if they are not stored by name.
    """
    if state is None:
        return []
    fields = checked_dict(place, state)
    return [
        f"{noun} {name}" for field, noun in NOUNS.items()
        for name in checked_dict(place_in(place, field), fields.get(field))]


def fitted_state(state: State, begun: State, rules: RuleSet, place: str) -> State:
    """Return a saved state for a mind with other rules: parts that it still has are as saved, new ones begin.

    Args:
        state: the saved state, whose ``named_parts`` are known.
        begun: the state of a mind that begins with the present rules.
        rules: the present rules.
        place: where the saved state is in the whole state.

    Raises:
        StateError: if its list of failing callbacks is broken.
    """
    kept = {field: {name: state[field].get(name, one) for name, one in begun[field].items()} for field in NOUNS}
    callbacks, where = rules.callback_names(), place_in(place, "failing")
    failing = [
        one for number, one in enumerate(checked_list(where, state.get("failing")))
        if str(checked_list(f"{where}[{number}]", one, 2)[0]) in callbacks]
    return {**state, **kept, "failing": failing}
