"""The state of what a piece of work is made of, saved inside that of the work."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.saving.fields import Fields, State, StateError

__all__ = ["inner_state", "prepared_inner"]


def inner_state(inner: Any) -> State | None:
    """Return the state of what work is made of, None if it is not saveable."""
    state: State | None = inner.save_state() if _is_saveable(inner) else None
    return state


def prepared_inner(fields: Fields, name: str, inner: Any) -> Callable[[], object]:
    """Check the state in a field; return what loads it, which does nothing if it is None.

    Raises:
        StateError: if it cannot be loaded; says where in it, and why.
    """
    state = fields.anything(name)
    if state is None:
        return int
    if not _is_saveable(inner):
        fields.refuse(name, "was saved, and what is here has no prepare_state")
    try:
        load: Callable[[], object] = inner.prepare_state(state)
    except StateError as error:
        raise StateError(f"{fields.place_of(name)!r}: {error}") from error
    return load


def _is_saveable(inner: object) -> bool:
    return not isinstance(inner, type) and all(
        callable(getattr(inner, name, None)) for name in ("save_state", "prepare_state")
    )
