"""Scent trails: marks that sources leave, that fade, and that trackers follow.

Each source has its own scent. The strength of a source determines how far each mark reaches and how long the trail is.
A tracker goes to the newest mark that it smells, and from there to the next.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.clock import moment_s
from ai_core.errors import finite_number, point, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Part, Refuse, Saveable
from ai_core.saving.fields import LARGEST_FLOAT32, LATEST_S, MOST
from ai_core.saving.kinds import ArrayOf, Columns, ListOf, Seconds, Whole
from ai_core.senses.id_table import LARGEST_ID, SLOT_MASK
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import ALL_AFFILIATIONS, SourceTable, affiliation_mask

__all__ = ["ScentMark", "ScentTrails", "TrailSmelling"]

Distances = Callable[[NDArray[np.float32]], NDArray[np.float64]]
"""Returns the length of the path of a smell from places (n, 3), ``inf`` for no path (m)."""


class ScentMark(NamedTuple):
    """A mark as smelled at a place.

    Attributes:
        scent: id of the source that left it.
        position: where it is (m).
        intensity: its intensity at that place, now.
        left_at_s: game time when its source was last there (s).
    """

    scent: int
    position: Point
    intensity: float
    left_at_s: float


MARK_EVERY_S = 0.1
"""Time between two updates of the marks of sources (s)."""


class ScentTrails(Saveable):
    """Marks of any number of scents.

    Args:
        modality_name: modality of the marks; an emitted one.
        radius_m: how far a fresh mark of strength 1 reaches (m), above 0; others in proportion, and less as they fade.
        spacing_m: distance between two marks of a trail (m), above 0.
        kept_per_s: share of a mark's strength kept per second, 0 to 1.
        faintest: strength below which a mark is removed, above 0.
        max_marks: most marks at a time (count), 1 or more; the oldest are removed first.
        sniff_every_s: time between two smells of one sensor (s), 0 or more.

    Raises:
        TypeError, ValueError: if an argument is of another type or out of range.

    Source: 003_designing_ai_for_games, senses.
    """

    SHOWN = ("modality_name",)

    STATE = DeclaredState(
        marks=Columns(
            at="_marks",
            scent=ArrayOf(np.int64, minimum=0, maximum=MOST),
            position=ArrayOf(np.float32, shape=(None, 3), minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32),
            strength=ArrayOf(minimum=0),
            left_at_s=ArrayOf(minimum=-LATEST_S, maximum=LATEST_S),
            affiliation=ArrayOf(np.int64, minimum=0, maximum=ALL_AFFILIATIONS)),
    )

    def __init__(
        self, *, modality_name: str = "smell", radius_m: float = 3.0, spacing_m: float = 1.0, kept_per_s: float = 0.97,
        faintest: float = 0.05, max_marks: int = 2048, sniff_every_s: float = 0.25,
    ) -> None:
        self.modality_name = modality_name
        self._radius_m = finite_number("radius_m", radius_m, above=0)
        self._spacing_m = finite_number("spacing_m", spacing_m, above=0)
        self._kept_per_s = finite_number("kept_per_s", kept_per_s, minimum=0, maximum=1)
        self._faintest = finite_number("faintest", faintest, above=0)
        self._maximum = whole_number("max_marks", max_marks, minimum=1)
        self.sniff_every_s = finite_number("sniff_every_s", sniff_every_s, minimum=0)
        self._cleared_s = -math.inf     # when marks that are too faint were removed last
        self._marks: dict[str, NDArray[Any]] = {         # of each scent the oldest first
            "scent": np.zeros(0, np.int64), "position": np.zeros((0, 3), np.float32), "strength": np.zeros(0),
            "left_at_s": np.zeros(0), "affiliation": np.zeros(0, np.int64)}

    def __len__(self) -> int:
        return len(self._marks["scent"])

    def leave(
        self, scent: int, position: ArrayLike, strength: float, now_s: float, affiliation: int = ALL_AFFILIATIONS,
    ) -> None:
        """Leave a mark, or renew the last mark of this scent if it is near.

        Args:
            scent: id of the source.
            position: where its source is (m).
            strength: how strongly it smells, 0 or more.
            now_s: game time (s).
            affiliation: groups that its source belongs to, as bits.

        Raises:
            TypeError, ValueError: if an argument is of another type or out of range.

        Cost: O(marks) in NumPy: 5 µs for 2,048 marks, 20 µs for a new mark.
        """
        place = point("position", position)
        strength = finite_number("strength", strength, minimum=0)
        now_s = moment_s("now_s", now_s)
        scent = whole_number("scent", scent, minimum=0, maximum=MOST)
        affiliation = affiliation_mask("affiliation", affiliation)
        if strength < self._faintest:
            return
        marks = self._marks
        for last in np.flatnonzero(marks["scent"] == scent)[-1:].tolist():
            is_near = math.dist(marks["position"][last].tolist(), place.tolist()) < self._spacing_m
            age_s = max(now_s - float(marks["left_at_s"][last]), 0.0)
            if is_near and float(marks["strength"][last]) * self._kept_per_s**age_s >= self._faintest:
                marks["strength"][last], marks["left_at_s"][last] = strength, now_s
                marks["affiliation"][last] = affiliation
                return
        new = {"scent": scent, "position": place, "strength": strength, "left_at_s": now_s, "affiliation": affiliation}
        if len(self) >= self._maximum and now_s != self._cleared_s:
            self._cleared_s = now_s
            self._keep(self._strengths(now_s) >= self._faintest)
        if len(self) >= self._maximum:
            self._keep(np.arange(len(self)) != self._marks["left_at_s"].argmin())
        self._marks = {
            name: np.concatenate((column, np.array([new[name]], column.dtype)))
            for name, column in self._marks.items()}

    def smelled(
        self, position: ArrayLike, threshold: float, kept_per_m: float, now_s: float, *, scent: int | None = None,
        excluded: int = -1, detection_mask: int = ALL_AFFILIATIONS, distances_m: Distances | None = None,
    ) -> list[ScentMark]:
        """Return the newest mark of each scent that is smelled at a place, by scent.

        Args:
            position: place of the sensor (m).
            threshold: weakest intensity that it smells.
            kept_per_m: share kept per metre.
            now_s: game time (s).
            scent: only this one; None for all.
            excluded: a scent to leave out.
            detection_mask: affiliations of the sources that it smells, as bits.
            distances_m: path lengths from places to the sensor; None for straight lines.

        Raises:
            TypeError, ValueError: if an argument is of another type or out of range.

        Cost: O(marks) in NumPy.
        """
        threshold = finite_number("threshold", threshold)
        kept_per_m = finite_number("kept_per_m", kept_per_m, minimum=0, maximum=1)
        here = point("position", position)
        strengths = self._strengths(moment_s("now_s", now_s))
        is_left = strengths >= self._faintest
        if not is_left.all():
            self._keep(is_left)
            strengths = strengths[is_left]
        marks = self._marks
        if distances_m is None:
            offset = marks["position"].astype(np.float64) - here
            distance_m = np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2 + offset[:, 2] ** 2)
        else:
            distance_m = distances_m(marks["position"])
        intensity = strengths * np.float_power(kept_per_m, distance_m)
        is_smelled = (distance_m <= self._radius_m * strengths) & (intensity >= threshold)
        is_smelled &= (marks["scent"] != excluded) & ((marks["affiliation"] & detection_mask) != 0)
        if scent is not None:
            is_smelled &= marks["scent"] == scent
        rows = np.flatnonzero(is_smelled)
        newest = dict(zip(marks["scent"][rows].tolist(), rows.tolist(), strict=True))  # ascending: later ones replace
        found = []
        for one in sorted(newest):
            row = newest[one]
            x, y, z = marks["position"][row].tolist()
            found.append(ScentMark(one, (x, y, z), float(intensity[row]), float(marks["left_at_s"][row])))
        return found

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._marks = {name: column[kept] for name, column in self._marks.items()}

    def _strengths(self, now_s: float) -> NDArray[np.float64]:
        marks = self._marks
        age_s = np.maximum(now_s - marks["left_at_s"], 0.0)
        strengths: NDArray[np.float64] = marks["strength"] * np.float_power(self._kept_per_s, age_s)
        return strengths

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.marks["scent"]) > self._maximum:
            refuse("marks", f"must have at most {self._maximum} rows, got {len(values.marks['scent'])}")


class TrailSmelling(Saveable):
    """Lets the sources of a sense manager leave marks, and its sensors smell them, at intervals."""

    STATE = DeclaredState(
        trails=Part(), marked_s=Seconds(absent=-np.inf, at="_marked_s"),
        sniffed_s=Seconds(absent=-np.inf, at="_sniffed_s"),
        to_mark=ListOf(Whole(maximum=LARGEST_ID), make=deque, at="_to_mark"),
        to_smell=ListOf(Whole(maximum=LARGEST_ID), make=deque, at="_to_smell"))

    def __init__(
        self, trails: ScentTrails, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable,
        perception: Perception,
    ) -> None:
        self.trails, self._sensors, self._sources, self._perception = trails, sensors, sources, perception
        self._modalities, self._number = modalities, modalities.number(trails.modality_name)
        if modalities[self._number].is_continuous:
            raise ValueError(
                f"scent_trails must use an emitted modality, got the continuous {shown(trails.modality_name)}")
        self._marked_s = self._sniffed_s = -np.inf
        self._to_mark: deque[int] = deque()
        self._to_smell: deque[int] = deque()
        # Returns the distance of a modality from places to a sensor, by its slot (m); None for straight lines.
        self.path_m: Callable[[int, int, NDArray[np.float32]], NDArray[np.float64]] | None = None

    def advance(self, budget: Budget, now_s: float) -> bool:
        """Leave marks, and let sensors smell; return False if the budget ended first.

        A step is one source that leaves a mark, or one sensor that smells.

        Cost: O(marks) in NumPy for each of them.
        """
        sources = self._sources
        if not (self._to_mark or self._to_smell):
            if now_s >= self._marked_s + MARK_EVERY_S:
                self._marked_s = now_s
                ids = sources.ids.ids
                self._to_mark.extend(ids[sources.strength[ids & SLOT_MASK, self._number] > 0].tolist())
            if now_s >= self._sniffed_s + self.trails.sniff_every_s:
                self._sniffed_s = now_s
                ids = self._sensors.ids.ids
                slots = ids & SLOT_MASK
                self._to_smell.extend(ids[np.isfinite(self._sensors.threshold[slots, self._number])].tolist())
        for waiting, known, work in (
                (self._to_mark, sources.ids, self._leave), (self._to_smell, self._sensors.ids, self._sniff)):
            while waiting:
                if budget.is_spent:
                    return False
                budget.spend()
                one = waiting.popleft()
                if known.knows(one):
                    work(one, budget, now_s)
        return True

    def track(self, slot: int, scent: int | None, now_s: float) -> ScentMark | None:
        """Return the newest mark that a sensor smells; ties go to the smallest scent."""
        marks = self._smelled(slot, scent, now_s)
        return max(marks, key=lambda mark: (mark.left_at_s, -mark.scent), default=None)

    def _leave(self, source_id: int, budget: Budget, now_s: float) -> None:
        sources, slot = self._sources, source_id & SLOT_MASK
        self.trails.leave(
            source_id, sources.position[slot], max(0.0, float(sources.strength[slot, self._number])), now_s,
            int(sources.affiliation[slot]))

    def _smelled(self, slot: int, scent: int | None, now_s: float) -> list[ScentMark]:
        sensors, path_m = self._sensors, self.path_m
        if not np.isfinite(sensors.threshold[slot, self._number]):
            return []
        return self.trails.smelled(
            sensors.position[slot], float(sensors.threshold[slot, self._number]),
            self._modalities[self._number].kept_per_m, now_s,
            scent=scent, excluded=int(sensors.self_source[slot]), detection_mask=int(sensors.detection_mask[slot]),
            distances_m=None if path_m is None else lambda places: path_m(self._number, slot, places))

    def _sniff(self, sensor_id: int, budget: Budget, now_s: float) -> None:
        marks = self._smelled(self._sensors.ids.slot(sensor_id), None, now_s)
        if marks:
            self._perception.hear([
                Sensation(sensor_id, one.scent, self.trails.modality_name, one.intensity, one.position, one.left_at_s,
                          now_s, "trail") for one in marks], budget)
