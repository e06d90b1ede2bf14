"""State of random number generators: Python's ``random.Random``, or any saveable object."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.described import Described
from ai_core.errors import shown
from ai_core.saving.fields import Fields, State, StateError
from ai_core.saving.inner_state import is_saveable

__all__ = ["RandomState", "prepare_random", "save_random"]

WORDS = 624
"""Length of the state of the Mersenne Twister (words of 32 bits)."""

GETSTATE_VERSION = 3
"""First item of the result of ``random.Random.getstate``, in every Python since 3.2."""


class RandomState(Described):
    """Makes a ``random.Random`` part of a snapshot.

    Args:
        source: the generator; after loading, its sequence continues.
    """

    def __init__(self, source: Any) -> None:
        save_random(source)
        self._source = source

    def save_state(self) -> State:
        """Return the state of the generator."""
        return save_random(self._source)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a state; return the function that restores the generator."""
        return prepare_random(self._source, state)


def save_random(source: Any) -> State:
    """Return the state of a generator.

    Raises:
        TypeError: if it is neither a ``random.Random`` nor saveable itself.
    """
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
    return {
        "version": 1,
        "index": words[-1],
        "words": "".join(f"{word:08x}" for word in words[:-1]),
        "gauss_next": gauss_next,
    }


def prepare_random(source: Any, state: object, place: str = "") -> Callable[[], None]:
    """Check a state written by ``save_random``; return the function that restores the generator.

    Args:
        source: the generator.
        state: the saved state.
        place: its place in the whole state.

    Raises:
        StateError: if it is not such a state.
    """
    if is_saveable(source):
        prepared: Callable[[], None] = source.prepare_state(state)
        return prepared
    fields = Fields.versioned(state, version=1, place=place)
    index = fields.whole("index", maximum=WORDS)
    text = fields.text("words")
    gauss_next = None if fields.anything("gauss_next") is None else fields.number("gauss_next")
    fields.end()
    if len(text) != 8 * WORDS or not set(text) <= set("0123456789abcdef"):
        raise StateError(f"{fields.place_of('words')!r} must be {WORDS} words of 8 hex digits")
    words = tuple(int(text[at : at + 8], 16) for at in range(0, len(text), 8))
    return lambda: source.setstate((GETSTATE_VERSION, (*words, index), gauss_next))
