"""Adding, changing, moving and removing sources, and leaving clues."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import Clock
from ai_core.errors import finite_number
from ai_core.saving.fields import LATEST_S
from ai_core.senses.clues import Clues
from ai_core.senses.source_details import (
    Clue,
    SourceDetails,
    VisiblePart,
    named_levels,
    visible_parts,
)
from ai_core.senses.source_table import SourceTable

__all__ = ["SourceRegistry"]


class SourceRegistry:
    """The part of ``RegionalSenseManager`` that manages sources."""

    clock: Clock
    _sources: SourceTable
    _clues: Clues

    def add_source(
        self, *, position: object, strengths: Mapping[str, float], affiliation: int = 1,
        name: str = "", light: float = 1.0, size: float = 1.0, pattern: str = "", tag: str = "",
        actions: Mapping[str, float] | None = None, parts: Sequence[VisiblePart] = (),
    ) -> int:
        """Add a source, which sensors can sense, and return its id.

        Args:
            position: where it is (m), 3 or 2 coordinates.
            strengths: strength by modality. In continuous modalities it is sensed all the time;
                in emitted ones it is the default strength of ``emit``.
            affiliation: groups that it belongs to, as bits.
            name: identifies it when a save is loaded; sources without a name are matched in the
                order in which they were added.
            light: how brightly it is lit, 0 or more; strengths that need light are multiplied by it.
            size: it is sensed as if it were this many times nearer, 0.001 to 1e6.
            pattern: its camouflage pattern, a name of ``camouflage``.
            tag: kind of source, for listeners.
            actions: strength of the signal of each of its actions, for ``act``.
            parts: points that lines of sight are traced to; empty for its position.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; then nothing is added.
            UnknownNameError: if a modality or pattern is unknown.
        """
        levels = {} if actions is None else named_levels(actions)
        details = SourceDetails(tag, levels, visible_parts(parts))
        return self._sources.add(
            position, strengths, affiliation, name,
            light=light, size=size, pattern=pattern, details=details,
        )

    def change_source(
        self,
        source_id: int,
        *,
        strengths: Mapping[str, float] | None = None,
        affiliation: int | None = None,
        light: float | None = None,
        size: float | None = None,
        pattern: str | None = None,
        tag: str | None = None,
        actions: Mapping[str, float] | None = None,
        parts: Sequence[VisiblePart] | None = None,
        name: str | None = None,
    ) -> None:
        """Replace the settings that are not None.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_source``; then nothing is changed.
        """
        if name is not None:
            self._sources.ids.check_name(name)
        self._sources.change(
            source_id, strengths, affiliation, light=light, size=size, pattern=pattern,
            tag=tag, actions=actions, parts=parts,
        )
        if name is not None:
            self._sources.ids.rename(source_id, name)

    def remove_source(self, source_id: int) -> None:
        """Remove a source; signals that it emitted travel on, and memories of it remain.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sources.remove(source_id)

    def move_sources(self, ids: object, positions: object) -> None:
        """Set the positions of many sources; as ``move_sensors``."""
        self._sources.move(ids, positions)

    def put_sources(self, ids: NDArray[np.int32], positions: NDArray[np.float32]) -> None:
        """Set the positions of sources without checking the arrays; as ``put_sensors``."""
        self._sources.put_places(ids, positions)

    def source_places_to_put(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.float32], bool]:
        """Return an array to write source positions to, and whether it is a copy; as ``places_to_put`` of sensors."""
        return self._sources.places_to_put(ids)

    def light_sources(self, ids: object, light: object) -> None:
        """Set how brightly many sources are lit; once per frame or less.

        Args:
            ids: shape (n,).
            light: shape (n,), 0 or more.

        Raises:
            TypeError, ValueError, UnknownNameError: if an array is invalid; then nothing is changed.

        Cost: O(n) in NumPy.
        """
        self._sources.light_up(ids, light)

    def tag_of(self, source_id: int) -> str:
        """Return the tag of a source, for listeners; "" for a removed source, such as an expired clue.

        Raises:
            UnknownNameError: if no source ever had this id.
        """
        return "" if self._sources.ids.was_removed(source_id) else self._sources.details_of(source_id).tag

    def leave_clue(
        self,
        *,
        position: object,
        strengths: Mapping[str, float],
        lasts_s: float,
        tag: str,
        about: int = -1,
        affiliation: int = 1,
        light: float = 1.0,
        size: float = 1.0,
    ) -> int:
        """Add a clue: an invisible marker, which is a temporary source, and return its id.

        A clue is sensed like any other source, its tag names its kind, and it expires after a
        while. If there are too many clues, the one that expires first is removed.

        Args:
            position: where it is (m).
            strengths: strength by modality.
            lasts_s: lifetime (s), above 0.
            tag: kind of clue: "blood", "footprint".
            about: id of the source that left it, or -1 for none.
            affiliation, light, size: as ``add_source``.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_source``.

        Source: 003_designing_ai_for_games, temporary objects.
        """
        now_s = self.clock.now.seconds
        lasts_s = finite_number("lasts_s", lasts_s, above=0, maximum=LATEST_S - now_s)
        if about != -1:
            self._sources.ids.slot(about)
        details = SourceDetails(tag, clue=Clue(int(about), now_s, now_s + lasts_s))
        new = self._sources.add(
            position, strengths, affiliation, light=light, size=size, details=details
        )
        self._clues.make_room(self._sources)
        self._clues.add(new, now_s + lasts_s)
        return new

    def clue_of(self, source_id: int) -> Clue | None:
        """Return the data of a clue; None for an expired clue, and for any other source.

        Raises:
            UnknownNameError: if no source ever had this id.
        """
        return None if self._sources.ids.was_removed(source_id) else self._sources.details_of(source_id).clue
