"""The sources as arrays: positions and strengths; and their details beside those: parts, tag, actions, clues."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import (
    check_type,
    finite_number,
    keep_number,
    numbers,
    point,
    positions,
    several,
    shown,
    whole_number,
)
from ai_core.senses.id_table import IdTable, grown
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sight.camouflage import NO_PATTERN, Camouflage

__all__ = [
    "ALL_AFFILIATIONS", "NO_STRENGTH", "PLAIN", "Clue", "SourceDetails", "SourceTable", "VisiblePart",
    "affiliation_mask", "named_levels", "places_of", "visible_parts"]

MOST_PARTS = 16
"""Parts of one source (count): each costs a ray whenever the source is looked at."""

ALL_AFFILIATIONS = (1 << 32) - 1
"""All 32 bits of an affiliation mask, as many as the flags of an engine."""

NO_STRENGTH = -1.0
"""Stands for "cannot be sensed in this modality" among strengths (0 or more)."""

MOTION_S = 0.2
"""Time over which speeds are smoothed (s): a source that stops counts as moving that long.

Lower values make a body that moves in steps of physics flicker between two frames; higher ones react later.
"""

FILLS = {
    "position": 0, "own_strength": NO_STRENGTH, "strength": NO_STRENGTH, "light": 1, "size": 1, "speed": 0,
    "measured": 0, "pattern": NO_PATTERN, "affiliation": 0}
"""Columns, and what new rows of them hold."""

@dataclass(frozen=True)
class VisiblePart:
    """A point of a source that a line of sight is traced to.

    Args:
        name: name of the part, for queries: "head".
        offset: from the position of the source (m), in world axes.
        share: weight of the part, above 0; only the proportion to the other parts counts.
    """

    name: str
    offset: Point
    share: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {shown(self.name)}")
        x, y, z = point("offset", self.offset).tolist()
        object.__setattr__(self, "offset", (x, y, z))
        keep_number(self, "share", above=0)


@dataclass(frozen=True)
class Clue:
    """The data of a clue, which is an invisible marker that a source left.

    Attributes:
        about: id of the source that left it, or -1; the source may have been removed since.
        left_at_s: game time when it was left (s).
        until_s: game time when it expires (s).
    """

    about: int
    left_at_s: float
    until_s: float


@dataclass(frozen=True)
class SourceDetails:
    """Settings that most sources leave at their defaults.

    Attributes:
        tag: what its sensations are called, for listeners: "blood".
        actions: strength of the signal of each thing it does.
        parts: points to which lines of sight are asked; none for its position alone.
        clue: its data if it is a clue, else None.
        gives_light: whether it emits light, and so is visible through two portals of a sense graph.
    """

    tag: str = ""
    actions: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[VisiblePart, ...] = ()
    clue: Clue | None = None
    gives_light: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.tag, str):
            raise TypeError(f"tag must be a string, got {shown(self.tag)}")
        check_type("gives_light", self.gives_light, bool)


PLAIN = SourceDetails()
"""Details of a source without any."""


class SourceTable:
    """One row per source; ``ids`` holds the rows in use.

    Attributes:
        position, measured: (capacity, 3) float32, now and at the last measurement of speeds (m).
        own_strength: (capacity, modalities) float64, as set, or ``NO_STRENGTH``.
        strength: (capacity, modalities) float64, the highest possible now: the own strength times light, contrast to
            the background, and motion.
        light, size, speed: (capacity,) float64: how brightly it is lit, 0 or more; it is seen as if it were so many
            times nearer, above 0; and its speed, smoothed over ``MOTION_S`` (m/s), 0 unless motion counts.
        measured_at_s: game time of the last measurement of speeds (s).
        counts_motion: whether motion counts in any modality.
        pattern: (capacity,) number of its pattern, or ``NO_PATTERN``.
        affiliation: (capacity,) int64, groups that it belongs to, as bits.
        shown: whether any source ever had a strength, by number of the modality.
        details: tag, actions, parts, clue and light by id; sources without any are left out.
        lights: ids of the sources that give light.
        most_parts: the most visible parts that any source has (count).
        layout: another object whenever one of the arrays is replaced.
        new_ids, saved_ids: of the last load: ids since then by those before it, and the ids of the save.
        clues: a heap of (time of expiry (s), id) of temporary sources.
    """

    def __init__(
        self, modalities: ModalitySet, camouflage: Camouflage | None = None, *, has_backdrops: bool = False,
    ) -> None:
        self._modalities = modalities
        self._lit = [number for number in range(len(modalities)) if modalities[number].needs_light]
        self._moving = [number for number in range(len(modalities)) if modalities[number].still_share < 1]
        self.counts_motion = bool(self._moving)
        self.camouflage = Camouflage({}) if camouflage is None else camouflage
        self.has_backdrops = has_backdrops
        self.ids, self.new_ids, self.saved_ids = IdTable("source"), dict[int, int](), list[int]()
        rows = self.ids.capacity
        self.position = np.zeros((rows, 3), np.float32, order="F")  # as the sensors'
        self.own_strength = np.full((rows, len(modalities)), NO_STRENGTH)
        self.strength = np.full((rows, len(modalities)), NO_STRENGTH)
        self.light = np.ones(rows)
        self.size = np.ones(rows)
        self.speed, self.measured, self.measured_at_s = np.zeros(rows), np.zeros((rows, 3), np.float32), -math.inf
        self.pattern = np.full(rows, NO_PATTERN, np.intp)
        self.affiliation = np.zeros(rows, np.int64)
        self.shown = [False] * len(modalities)
        self.details: dict[int, SourceDetails] = {}
        self.lights: set[int] = set()
        self.most_parts, self.layout = 0, object()
        self.clues: list[tuple[float, int]] = []

    def add(
        self, position: ArrayLike, strengths: Mapping[str, float], affiliation: int, name: str = "", *,
        light: float = 1.0, size: float = 1.0, pattern: str = "", details: SourceDetails = PLAIN,
    ) -> int:
        """Add a source, and return its id; everything is checked before anything changes."""
        place = point("position", position)
        row = self._modalities.row("strengths", strengths, NO_STRENGTH)
        bits = affiliation_mask("affiliation", affiliation)
        brightness = finite_number("light", light, minimum=0)
        times = _size(size)
        number = self.camouflage.number(pattern)
        new = self.ids.add(name)
        self.fit()
        slot = self.ids.slot(new)
        self.position[slot] = self.measured[slot] = place
        self.speed[slot] = 0.0
        self._put_own(slot, row.tolist())
        self.light[slot], self.size[slot], self.pattern[slot] = brightness, times, number
        self.affiliation[slot] = bits
        if details is not PLAIN:
            self.put_details(new, details)
        if brightness == 1 and not (self.has_backdrops or self._moving):       # most sources: no factor counts
            self.strength[slot] = row
        else:
            self.refresh(slice(slot, slot + 1))
        return new

    def remove(self, source_id: int) -> None:
        """Remove a source; its row, which no id leads to, stays as it is."""
        self.ids.remove(source_id)
        if source_id in self.details:
            self.put_details(int(source_id), PLAIN)

    def add_clue(self, clue: int, until_s: float, most: int) -> None:
        """Let a source expire at a time (s); of more than ``most`` clues, others that expire first are removed."""
        if not all(self.ids.knows(one) for _, one in self.clues):
            self.clues = [one for one in self.clues if self.ids.knows(one[1])]
            heapify(self.clues)
        while len(self.clues) >= most:
            self.remove(heappop(self.clues)[1])
        heappush(self.clues, (until_s, clue))

    def expire_clues(self, now_s: float) -> None:
        """Remove the clues that have expired. Cost: O(1) while none has."""
        while self.clues and self.clues[0][0] <= now_s:
            _, source_id = heappop(self.clues)
            if self.ids.knows(source_id):
                self.remove(source_id)

    def collect_clues(self) -> None:
        """Find the clues among the sources."""
        self.clues = [(one.clue.until_s, source_id) for source_id, one in self.details.items() if one.clue is not None]
        heapify(self.clues)

    def change(
        self, source_id: int, strengths: Mapping[str, float] | None, affiliation: int | None, *,
        light: float | None = None, size: float | None = None, pattern: str | None = None, tag: str | None = None,
        actions: Mapping[str, float] | None = None, parts: Sequence[VisiblePart] | None = None,
        gives_light: bool | None = None,
    ) -> None:
        """Replace what is not None; everything is checked before anything changes."""
        slot = self.ids.slot(source_id)
        if all(one is None for one in (strengths, affiliation, light, size, pattern, tag, actions, parts, gives_light)):
            return
        row = self.own_strength[slot] if strengths is None else (
            self._modalities.row("strengths", strengths, NO_STRENGTH))
        bits = self.affiliation[slot] if affiliation is None else affiliation_mask("affiliation", affiliation)
        brightness = self.light[slot] if light is None else finite_number("light", light, minimum=0)
        times = self.size[slot] if size is None else _size(size)
        number = self.pattern[slot] if pattern is None else self.camouflage.number(pattern)
        changed: dict[str, Any] = {
            "tag": tag, "actions": None if actions is None else named_levels(actions),
            "parts": None if parts is None else visible_parts(parts), "gives_light": gives_light}
        details = replace(self.details_of(source_id), **{name: one for name, one in changed.items() if one is not None})
        self._put_own(slot, row.tolist())
        self.affiliation[slot], self.light[slot], self.size[slot] = bits, brightness, times
        self.pattern[slot] = number
        self.put_details(int(source_id), details)
        self.refresh(slice(slot, slot + 1))

    def move(self, ids: ArrayLike, places: ArrayLike) -> None:
        """Move sources; the last position counts if an id occurs twice."""
        slots = self.ids.slots(ids)
        self.position[slots] = places_of("positions", places, len(slots))

    def light_up(self, ids: ArrayLike, light: ArrayLike) -> None:
        """Set the light of many sources; everything is checked before one changes."""
        slots = self.ids.slots(ids)
        levels = numbers("light", light)
        if levels.shape != slots.shape:
            raise ValueError(f"light must have shape ({len(slots)},), one element per id, got {levels.shape}")
        if not (np.isfinite(levels) & (levels >= 0)).all():
            raise ValueError("light must be finite and 0 or more for every id")
        self.light[slots] = levels
        self.refresh(slots)

    def details_of(self, source_id: int) -> SourceDetails:
        """Return the details of a source."""
        self.ids.slot(source_id)
        return self.details.get(int(source_id), PLAIN)

    def put_details(self, source_id: int, details: SourceDetails) -> None:
        """Set the details of a source."""
        before = len(self.details.get(source_id, PLAIN).parts)
        (self.lights.add if details.gives_light else self.lights.discard)(source_id)
        if details == PLAIN:
            self.details.pop(source_id, None)
        else:
            self.details[source_id] = details
        self.most_parts = max(self.most_parts, len(details.parts))
        if before == self.most_parts > len(details.parts):
            self.most_parts = max((len(one.parts) for one in self.details.values()), default=0)

    def row(self, source_id: int) -> SimpleNamespace:
        """Return a source, for saving."""
        slot = self.ids.slot(source_id)
        x, y, z = self.position[slot].tolist()
        u, v, w = self.measured[slot].tolist()
        strengths = {number: one for number, one in enumerate(self.own_strength[slot].tolist()) if one >= 0}
        return SimpleNamespace(
            id=source_id, name=self.ids.names[source_id], position=(x, y, z), strengths=strengths,
            affiliation=int(self.affiliation[slot]), light=float(self.light[slot]), size=float(self.size[slot]),
            speed=float(self.speed[slot]), measured=(u, v, w), pattern=self.camouflage.name(int(self.pattern[slot])),
            details=self.details.get(source_id, PLAIN))

    def put_row(self, row: SimpleNamespace) -> None:
        """Set a row whose id is in use."""
        slot, numbers = self.ids.slot(row.id), range(len(self._modalities))
        self.position[slot], self.measured[slot], self.speed[slot] = row.position, row.measured, row.speed
        self._put_own(slot, [row.strengths.get(number, NO_STRENGTH) for number in numbers])
        self.affiliation[slot], self.light[slot], self.size[slot] = row.affiliation, row.light, row.size
        self.pattern[slot] = self.camouflage.number(row.pattern)
        self.put_details(row.id, row.details)
        self.refresh(slice(slot, slot + 1))

    def _put_own(self, slot: int, strengths: list[float]) -> None:
        """Set the own strengths of a row."""
        self.own_strength[slot] = strengths
        for number, strength in enumerate(strengths):
            if strength >= 0:
                self.shown[number] = True

    def refresh(self, slots: NDArray[np.intp] | slice) -> None:
        """Update ``strength`` of some rows."""
        own = self.own_strength[slots]
        self.strength[slots] = own
        if self._lit:
            factor = self.highest_factor(slots)
            for number in self._lit:
                self.strength[slots, number] = np.where(own[:, number] < 0, NO_STRENGTH, own[:, number] * factor)
        for number in self._moving:
            strength = self.strength[slots, number]
            self.strength[slots, number] = np.where(
                strength < 0, NO_STRENGTH, strength * self.motion_factor(number, slots))

    def measure_motion(self, now_s: float) -> None:
        """Measure how fast sources move; call it once in each advance if ``counts_motion``. Cost: O(sources)."""
        passed_s = now_s - self.measured_at_s
        if passed_s <= 0:
            return
        rows = slice(self.ids.rows)
        if passed_s < math.inf:
            way = (self.position[rows] - self.measured[rows]).astype(np.float64)
            fastest = max(self._modalities[number].full_motion_m_per_s for number in self._moving)
            speed = np.minimum(np.sqrt((way * way).sum(axis=1)) / passed_s, fastest)
            self.speed[rows] += (1 - math.exp(-passed_s / MOTION_S)) * (speed - self.speed[rows])
        self.measured[rows], self.measured_at_s = self.position[rows], now_s
        self.refresh(rows)

    def motion_factor(self, number: int, slots: NDArray[np.intp] | slice | int) -> NDArray[np.float64]:
        """Return the factor of motion on the strengths of sources in a modality, 1 where motion does not count."""
        kind = self._modalities[number]
        moved = np.minimum(self.speed[slots] / kind.full_motion_m_per_s, 1.0)
        factor: NDArray[np.float64] = kind.still_share + (1 - kind.still_share) * moved
        return factor

    def highest_factor(self, slots: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        """Return the highest factor of light, and of contrast to a background, on strengths."""
        light = self.light[slots]
        if not self.has_backdrops:
            return light
        # A dark figure before a bright wall shows by how much darker it is.
        return np.maximum(light, 1.0 - light) * self.camouflage.highest(self.pattern[slots])

    def fit(self) -> None:
        """Make room for all rows of ``ids``."""
        rows = self.ids.capacity
        if rows > len(self.position):
            self.layout = object()
            for name, fill in FILLS.items():
                setattr(self, name, grown(getattr(self, name), rows, fill))


def affiliation_mask(name: str, value: int) -> int:
    """Return ``value`` if it is a mask of 32 bits."""
    return whole_number(name, value, minimum=0, maximum=ALL_AFFILIATIONS, remedy="it is a mask of 32 bits")


def places_of(name: str, places: ArrayLike, count: int) -> NDArray[np.float32]:
    """Return the places of so many ids as (count, 3); the third coordinate is 0 if it is not given."""
    given = positions(name, places)
    if len(given) != count:
        raise ValueError(f"{name} must have a row per id, got {len(given)} for {count} ids")
    full = np.zeros((count, 3), np.float32)
    full[:, : given.shape[1]] = given
    return full


def _size(size: float) -> float:
    return finite_number("size", size, minimum=1e-3, maximum=1e6, remedy="1 is the size that ranges are defined for")


def visible_parts(parts: Sequence[VisiblePart]) -> tuple[VisiblePart, ...]:
    """Return parts, checked."""
    parts = several("parts", parts, VisiblePart)
    if len(parts) > MOST_PARTS:
        raise ValueError(f"parts must hold at most {MOST_PARTS} parts, got {len(parts)}; each part costs a ray")
    if len({one.name for one in parts}) < len(parts):
        raise ValueError(
            f"parts must have unique names, got {', '.join(repr(one.name) for one in parts)}; rename the repeated one")
    return parts


def named_levels(actions: Mapping[str, float]) -> dict[str, float]:
    """Return strengths by action, checked."""
    if not isinstance(actions, Mapping):
        raise TypeError(f"actions must map action names to strengths, got {shown(actions)}")
    for name in actions:
        if not isinstance(name, str):
            raise TypeError(f"actions must have strings as keys, got {shown(name)}")
    return {name: finite_number(f"actions[{name!r}]", level, minimum=0) for name, level in actions.items()}
