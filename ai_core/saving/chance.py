"""State of random number generators: Python's ``random.Random``, or any saveable object."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ai_core.errors import shown
from ai_core.saving.declared_state import Change, DeclaredState, Part, Saveable
from ai_core.saving.fields import State, refuse
from ai_core.saving.inner_state import is_saveable
from ai_core.saving.kinds import Number, Optional, Record, Text, Whole

__all__ = ["RandomGenerator", "RandomState"]

WORDS = 624
"""Length of the state of the Mersenne Twister (words of 32 bits)."""

GETSTATE_VERSION = 3
"""First item of the result of ``random.Random.getstate``, in every Python since 3.2."""


class RandomGenerator(Part):
    """A ``random.Random``, a generator with ``save_state`` and ``prepare_state``, or None; its sequence continues."""

    def save(self, value: Any, owner: Any) -> State | None:
        """Return the state of a generator.

        Raises:
            TypeError: if it is neither.
        """
        return None if value is None else _saved(value)

    def prepare(self, part: Any, plain: Any, place: str, within: SimpleNamespace | None = None) -> Change:
        """Check the state of a generator; return the function that restores it."""
        if plain is None:
            return int
        if part is None:
            refuse(place, "requires a random generator; set one before loading")
        if is_saveable(part):
            return super().prepare(part, plain, place, within)
        saved = STATE.read(plain, place, None)
        return lambda: part.setstate((GETSTATE_VERSION, (*saved.words, saved.index), saved.gauss_next))


def _saved(source: Any) -> State:
    if is_saveable(source):
        saved: State = source.save_state()
        return saved
    try:
        state = source.getstate()
    except (AttributeError, NotImplementedError):  # random.SystemRandom has none
        state = None
    if not isinstance(state, tuple) or len(state) != 3 or state[0] != GETSTATE_VERSION:
        raise TypeError(
            f"{shown(source)} cannot be saved; use random.Random(seed), or add the methods"
            " save_state and prepare_state to your generator"
        )
    _, words, gauss_next = state
    return {"index": words[-1], "words": "".join(f"{word:08x}" for word in words[:-1]), "gauss_next": gauss_next}


class _Words(Text):
    def read(self, plain: Any, place: str, owner: Any) -> Any:
        text = super().read(plain, place, owner)
        if len(text) != 8 * WORDS or not set(text) <= set("0123456789abcdef"):
            refuse(place, f"must be {WORDS} words of 8 hex digits")
        return [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]


STATE = Record(SimpleNamespace, index=Whole(maximum=WORDS), words=_Words(), gauss_next=Optional(Number()))


class RandomState(Saveable):
    """Makes a ``random.Random`` part of a snapshot.

    Args:
        source: the generator; after loading, its sequence continues.
    """

    STATE = DeclaredState(source=RandomGenerator(at="_source"))

    def __init__(self, source: Any) -> None:
        _saved(source)
        self._source = source
