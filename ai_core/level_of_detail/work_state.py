"""The state of work that no scheduler runs, but a level of detail: saved if the work can be."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.saving.fields import StateError

__all__ = ["prepared_work", "saved_work"]


def saved_work(work: object) -> Any:
    """Return the state of work; None if it has none, as a function."""
    found: Any = work
    return found.save_state() if _is_saveable(work) else None


def prepared_work(name: str, work: object, saved: object) -> Callable[[], object]:
    """Check the state of work; return what loads it, which is nothing where none was saved.

    Args:
        name: what messages call it.

    Raises:
        StateError: if it cannot be loaded; says whose it is, and why.
    """
    if saved is None:
        return lambda: None
    if not _is_saveable(work):
        raise StateError(f"work of {name!r} was saved, and has no prepare_state here")
    found: Any = work
    try:
        prepared: Callable[[], object] = found.prepare_state(saved)
    except StateError as error:
        raise StateError(f"work of {name!r}: {error}") from error
    return prepared


def _is_saveable(work: object) -> bool:
    return not isinstance(work, type) and all(
        callable(getattr(work, name, None)) for name in ("save_state", "prepare_state")
    )
