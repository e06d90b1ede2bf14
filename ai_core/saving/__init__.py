"""Tools with which saveable parts write and read their state.

An object is saveable if it has two methods: ``save_state()``
returns plain data, ``prepare_state(state)`` checks such data completely and
returns the function that applies it. They use:
- ``Saveable`` with a ``DeclaredState``: the fields are listed once, the rest is generic.
- ``Fields`` to read a saved dict field by field, where a declaration does not fit; errors name the place.
- ``SavedValues`` for values of the game: event arguments, blackboards.
- ``save_random``, ``prepare_random`` for random number generators.
- ``match_by_name`` for objects that must already exist: tasks, sensors, sources.
"""
from ai_core.saving.chance import RandomState, prepare_random, save_random
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.matching import match_by_name
from ai_core.saving.values import SavedValues

__all__ = [
    "DeclaredState",
    "Fields",
    "RandomState",
    "Saveable",
    "SavedValues",
    "State",
    "StateError",
    "match_by_name",
    "prepare_random",
    "save_random",
]
