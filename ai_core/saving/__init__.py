"""Tools with which saveable parts write and read their state.

An object is saveable if it has two methods: ``save_state()``
returns plain data, ``prepare_state(state)`` checks such data completely and
returns the function that applies it. They use:
- ``Saveable`` with a ``DeclaredState``: the fields are listed once, the rest is generic.
- ``SavedValues`` for values of the game: event arguments, blackboards.
- ``RandomGenerator`` for a field with a random number generator, ``RandomState`` for one that is a part itself.
- ``match_by_name`` for objects that must already exist: tasks, sensors, sources.
"""
from ai_core.saving.chance import RandomGenerator, RandomState
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import State, StateError
from ai_core.saving.matching import match_by_name
from ai_core.saving.values import SavedValues

__all__ = [
    "DeclaredState",
    "RandomGenerator",
    "RandomState",
    "Saveable",
    "SavedValues",
    "State",
    "StateError",
    "match_by_name",
]
