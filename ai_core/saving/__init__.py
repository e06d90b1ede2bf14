"""What every saveable part uses to write and to read its state.

A part is saveable by having two methods, whoever defined it: ``save_state()``
returns plain data, ``prepare_state(state)`` checks such data to the end and
returns the function that makes the change. Inside them:
- ``Fields`` reads a saved dict field by field, and says where it is wrong.
- ``SavedValues`` for what belongs to the game: event arguments, blackboards.
- ``save_random``, ``prepare_random`` for generators of chance.
- ``match_by_name`` for what must be there already: tasks, sensors, sources.
"""
from ai_core.saving.chance import RandomState, prepare_random, save_random
from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.matching import match_by_name
from ai_core.saving.values import SavedValues

__all__ = [
    "Fields",
    "RandomState",
    "SavedValues",
    "State",
    "StateError",
    "match_by_name",
    "prepare_random",
    "save_random",
]
