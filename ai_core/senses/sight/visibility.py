"""The visible share of a target: parts, light, background, and ranges for losing it."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown
from ai_core.senses.id_table import SLOT_MASK
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.camouflage import Backdrop, Background
from ai_core.senses.sight.continuous_sensing import ContinuousSensing, LineOfSight, check_answers
from ai_core.senses.sight.pair_keys import keys_of
from ai_core.senses.sight.pair_loops import LineQuery, PairsInView
from ai_core.senses.source_table import SourceTable, VisiblePart

__all__ = ["Visibility"]

MOST_VIEWS_LEFT = 64
"""Pairs that are not in view any more and whose views are kept, besides as many as are (count)."""

WHOLE = (VisiblePart("", (0.0, 0.0, 0.0)),)
"""Parts of a source without any."""

Floats = NDArray[np.float64]


class Visibility:
    """Turns the answers of rays into the clarity of targets."""

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, background: Background | None,
    ) -> None:
        self._modalities, self._sensors, self._sources, self._background = modalities, sensors, sources, background

    @property
    def is_plain(self) -> bool:
        """True if a free line alone decides whether a target is seen."""
        return self._background is None and not self._sensors.keeps_targets and not self._sources.most_parts

    @property
    def most_rays_per_pair(self) -> int:
        """Largest number of rays per pair (count)."""
        return max(1, self._sources.most_parts) * (1 if self._background is None else 2)

    def affordable(self, question: LineQuery, max_rays: int) -> tuple[LineQuery, int]:
        """Return the first pairs that a number of rays suffices for, one at least, and their rays."""
        if self._background is None and not self._sources.most_parts:
            return question.part(0, max_rays), min(len(question.row), max_rays)
        each = [len(parts) for parts in self._parts_of(question.source_ids)]
        if not each:
            return question, 0
        total = np.cumsum(each) * (1 if self._background is None else 2)
        count = max(1, int(np.searchsorted(total, max_rays, side="right")))
        return question.part(0, count), int(total[count - 1])

    def of(self, question: LineQuery, continuous: ContinuousSensing, line_of_sight: LineOfSight | None) -> LineOfSight:
        """Return a function that answers for whole pairs, with rays from ``line_of_sight``."""

        def answer(
            eyes: NDArray[np.float32], targets: NDArray[np.float32], sensor_ids: NDArray[np.int32],
            source_ids: NDArray[np.int32],
        ) -> NDArray[np.bool_] | None:
            asked, count = self._may_be_gained(question, continuous).tolist(), len(source_ids)
            lines = [
                (row, part, one.share, one.offset) for row, parts in enumerate(self._parts_of(source_ids)) if asked[row]
                for part, one in enumerate(parts)]
            rows, part = (np.array([line[column] for line in lines], np.intp) for column in (0, 1))
            share = np.array([line[2] for line in lines], np.float64)
            points = targets[rows] + np.array([line[3] for line in lines], np.float32).reshape(-1, 3)
            origins, lookers, looked_at = eyes[rows], sensor_ids[rows], source_ids[rows]
            is_free: NDArray[np.bool_] | None = np.ones(len(rows), np.bool_)
            if line_of_sight is not None:
                is_free = line_of_sight(origins, points, lookers, looked_at)
            if is_free is None:
                return None
            check_answers(is_free, len(rows))
            weight: Floats = np.where(is_free, share, 0.0)
            free = np.flatnonzero(is_free)
            weight[free] *= self._factors(origins[free], points[free], lookers[free], looked_at[free])
            whole = np.bincount(rows, share, count)
            clarity = np.bincount(rows, weight, count) / np.where(whole > 0, whole, 1.0)
            bits = np.bincount(rows, np.where(is_free, 2.0**part, 0.0), count).astype(np.int64)
            return self._noted(question, continuous.pairs, clarity, bits)

        return answer

    def names_of(self, source_id: int, bits: int) -> tuple[str, ...]:
        """Return the names of the parts of a bit mask; none for a source without parts."""
        parts = self._sources.details_of(source_id).parts
        return tuple(one.name for k, one in enumerate(parts) if bits >> k & 1)

    def _parts_of(self, source_ids: NDArray[np.int32]) -> list[tuple[VisiblePart, ...]]:
        """Return the parts that lines of sight are traced to, of each source."""
        details = self._sources.details
        return [(details[one].parts if one in details else ()) or WHOLE for one in source_ids.tolist()]

    def _may_be_gained(self, question: LineQuery, continuous: ContinuousSensing) -> NDArray[np.bool_]:
        """Return False for targets beyond the range of sight that are not seen already."""
        if not self._sensors.keeps_targets:
            return np.ones(len(question.row), np.bool_)
        seen = np.array([
            continuous.pairs[number].is_sensed[row]
            for number, row in zip(question.modality.tolist(), question.row.tolist(), strict=True)
        ], np.bool_)
        slots = question.sensor_ids & SLOT_MASK
        first = continuous.cones(slots, continuous.offsets(question))
        only_keeps = (first >= 0) & (self._sensors.cones[slots, first, 4] > 0)
        needs_cone = np.array([self._modalities[one].needs_cone for one in question.modality.tolist()])
        may: NDArray[np.bool_] = seen | ~only_keeps | ~needs_cone
        return may

    def _factors(
        self, eyes: NDArray[np.float32], points: NDArray[np.float32], sensor_ids: NDArray[np.int32],
        source_ids: NDArray[np.int32],
    ) -> Floats:
        """Return for free lines the factor of light and background, relative to the highest possible."""
        if self._background is None or not len(eyes):
            return np.ones(len(eyes))
        slots = source_ids & SLOT_MASK
        light = self._sources.light[slots]
        factor = light
        behind = self._background(eyes, points, sensor_ids, source_ids)
        if behind is not None:
            pattern, backlight = _checked_backdrop(behind, len(eyes))
            if backlight is not None:
                factor = np.maximum(light, np.clip(backlight, 0.0, 1.0) - light)
            factor = factor * self._sources.camouflage.factors(self._sources.pattern[slots], pattern)
        highest = self._sources.highest_factor(slots)
        found: Floats = np.divide(factor, highest, out=np.zeros(len(eyes)), where=highest > 0)
        return found

    def _noted(
        self, question: LineQuery, pairs: dict[int, PairsInView], clarity: Floats, bits: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Keep the answers, and return which targets are seen strongly enough."""
        is_seen = bits > 0
        slots = question.sensor_ids & SLOT_MASK
        keys = keys_of(question.sensor_ids, question.source_ids)
        for number in np.unique(question.modality).tolist():
            mine = question.modality == number
            intensity = pairs[number].intensity[question.row[mine]] * clarity[mine]
            is_seen[mine] &= intensity >= self._sensors.threshold[slots[mine], number]
            views = pairs[number].views
            noted = zip(clarity[mine].tolist(), bits[mine].tolist(), strict=True)
            views.update(zip(keys[mine].tolist(), noted, strict=True))
            if len(views) > 2 * len(pairs[number]) + MOST_VIEWS_LEFT:
                pairs[number].views = {key: views[key] for key in pairs[number].keys.tolist() if key in views}
        return is_seen


def _checked_backdrop(behind: object, wanted: int) -> tuple[NDArray[np.intp], Floats | None]:
    if not isinstance(behind, Backdrop):
        raise TypeError(f"background must return a Backdrop, or None, got {shown(behind)}")
    pattern = np.asarray(behind.pattern)
    if pattern.shape != (wanted,) or pattern.dtype.kind not in "iu":
        raise ValueError(f"background must return {wanted} integer pattern indices, got {shown(pattern)}")
    if behind.light is None:
        return pattern.astype(np.intp), None
    light = np.asarray(behind.light, np.float64)
    if light.shape != (wanted,) or not np.isfinite(light).all():
        raise ValueError(f"background must return {wanted} finite light levels, got {shown(light)}")
    return pattern.astype(np.intp), light
