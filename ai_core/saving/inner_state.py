"""The state of an object's inner object, saved inside its own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.saving.fields import State, StateError

__all__ = ["inner_state", "is_saveable", "prepared_inner"]


def is_saveable(one: object) -> bool:
    """Return True for an object that has ``save_state`` and ``prepare_state``."""
    return not isinstance(one, type) and all(
        callable(getattr(one, name, None)) for name in ("save_state", "prepare_state")
    )


def inner_state(inner: Any) -> State | None:
    """Return the state of an inner object, None if it is not saveable."""
    state: State | None = inner.save_state() if is_saveable(inner) else None
    return state


def prepared_inner(inner: Any, state: object, place: str) -> Callable[[], object]:
    """Check a result of ``inner_state``; return the function that loads it, which does nothing for None."""
    if state is None:
        return int
    if not is_saveable(inner):
        raise StateError(f"{place} has a saved state, but the current object has no prepare_state")
    try:
        load: Callable[[], object] = inner.prepare_state(state)
    except StateError as error:
        raise StateError(f"{place}: {error}") from error
    return load
