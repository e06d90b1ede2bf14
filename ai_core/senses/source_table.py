"""What can be sensed, as arrays: where each source is and how strong."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ai_core.errors import point, positions, whole_number
from ai_core.senses.id_table import IdTable, grown
from ai_core.senses.modality import ModalitySet

__all__ = ["ALL_AFFILIATIONS", "NO_STRENGTH", "SourceTable", "affiliation_mask", "same_rows"]

ALL_AFFILIATIONS = (1 << 32) - 1
"""Every one of the 32 bits of an affiliation mask, as many as an engine's flags."""

NO_STRENGTH = -1.0
"""Stands for "cannot be sensed in this modality" among strengths (0 or more)."""


class SourceTable:
    """One row per source; ``ids`` knows which rows are in use.

    Attributes:
        position: (capacity, 3) float32 (m).
        strength: (capacity, modalities) float64, or ``NO_STRENGTH``.
        affiliation: (capacity,) int64, what it belongs to, as bits.
        changes: how often something was moved or removed (count).
    """

    def __init__(self, modalities: ModalitySet) -> None:
        self._modalities = modalities
        self.changes = 0
        self.ids = IdTable("source")
        rows = self.ids.capacity
        self.position = np.zeros((rows, 3), np.float32, order="F")  # as the sensors'
        self.strength = np.full((rows, len(modalities)), NO_STRENGTH)
        self.affiliation = np.zeros(rows, np.int64)

    def add(
        self, position: object, strengths: Mapping[str, float], affiliation: int, name: str = ""
    ) -> int:
        """Return the id of a new source; checks everything before it changes anything."""
        place = point("position", position)
        row = self._modalities.row("strengths", strengths, NO_STRENGTH)
        bits = affiliation_mask("affiliation", affiliation)
        new = self.ids.add(name)
        self._fit()
        slot = self.ids.slot(new)
        self.position[slot] = place
        self.strength[slot] = row
        self.affiliation[slot] = bits
        return new

    def remove(self, source_id: int) -> None:
        """Give up a source."""
        self.changes += 1
        self.strength[self.ids.remove(source_id)] = NO_STRENGTH

    def change(
        self, source_id: int, strengths: Mapping[str, float] | None, affiliation: int | None
    ) -> None:
        """Replace what is not None."""
        slot = self.ids.slot(source_id)
        row = self.strength[slot]
        if strengths is not None:
            row = self._modalities.row("strengths", strengths, NO_STRENGTH)
        if affiliation is not None:
            self.affiliation[slot] = affiliation_mask("affiliation", affiliation)
        self.strength[slot] = row

    def move(self, ids: object, places: object) -> None:
        """Put sources at new positions; the last one counts if an id comes twice."""
        slots = self.ids.slots(ids)
        new = positions("positions", places)
        same_rows("positions", len(new), len(slots))
        self.changes += 1
        self.position[slots, : new.shape[1]] = new
        self.position[slots, new.shape[1] :] = 0

    def _fit(self) -> None:
        rows = self.ids.capacity
        if rows > len(self.position):
            self.position = grown(self.position, rows, 0)
            self.strength = grown(self.strength, rows, NO_STRENGTH)
            self.affiliation = grown(self.affiliation, rows, 0)


def affiliation_mask(name: str, value: int) -> int:
    """Return ``value`` if it is a mask of 32 bits.

    Raises:
        TypeError: if it is not a whole number.
        ValueError: if it is negative or has more bits.
    """
    return whole_number(
        name, value, minimum=0, maximum=ALL_AFFILIATIONS, remedy="it is a mask of 32 bits"
    )


def same_rows(name: str, rows: int, wanted: int) -> None:
    """Check that an array has one row per id.

    Raises:
        ValueError: if it does not.
    """
    if rows != wanted:
        raise ValueError(f"{name} must have one row per id, got {rows} for {wanted} ids")
