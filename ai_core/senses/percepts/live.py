"""Fields that are brought up to date when somebody reads them.

What a sensor sees frame after frame is kept in arrays, for all sensors
together. Records of single targets learn of it when they are asked.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from ai_core.senses.percepts.memory import MemoryChange

__all__ = ["PerceptOwner", "SyncedField"]

Value = TypeVar("Value")


class PerceptOwner(Protocol):
    """Looks after records: knows what they have not been told yet."""

    def catch_up(self) -> None:
        """Bring all its records up to date."""

    def was_changed(self) -> None:
        """Learn that somebody else has changed a record, a memory or a meter."""

    def tell(self, changes: Sequence[MemoryChange]) -> None:
        """Tell listeners what changed when somebody else changed it."""


class SyncedField(Generic[Value]):
    """A field of something with a ``_mind``, or None; read only.

    Args:
        slot: where its value is.
    """

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __get__(self, record: object, owner: type | None = None) -> Value:
        mind: PerceptOwner | None = record._mind  # type: ignore[attr-defined]
        if mind is not None:
            mind.catch_up()
        value: Value = getattr(record, self._slot)
        return value

    def __set__(self, record: object, value: Value) -> None:
        raise AttributeError(f"{self._slot[1:]} is read-only; only its owner writes it")
