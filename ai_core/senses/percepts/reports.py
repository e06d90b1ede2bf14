"""What sensors are told without a visit: of all that stays in view, and to whom nobody listens."""
from __future__ import annotations

from collections.abc import Mapping
from itertools import count, repeat
from operator import itemgetter

import numpy as np

from ai_core.clock import Clock
from ai_core.faults import FaultIsolation
from ai_core.senses.audience import SensationBatch, SensationReceiver, StimulusBatch, What
from ai_core.senses.percepts.in_view import Row, SensationRows, VisibleBatch
from ai_core.senses.percepts.perceiver import SensorMind
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight.pairs_in_view import ID_BITS
from ai_core.trace import Trace

__all__ = ["SensationDispatcher"]

first_three = itemgetter(slice(3))

made_of = tuple.__new__
"""Makes a named tuple of all its parts in half the time that calling it takes."""

Alone = tuple[What, float, float]
"""What it was; how strong; when it was told."""


class SensationDispatcher:
    """Tells an audience, and keeps what each sensor was told last until somebody asks.

    Args:
        perceivers: minds by sensor id.
        trace: as long as it listens to sensations, each is told by itself.
        audience: told in place of ``on_sensed``, or None.
        clock: game time.
        faults: where an audience that raises is reported.

    Attributes:
        audience: as it was given.
    """

    def __init__(
        self, perceivers: Mapping[int, SensorMind], trace: Trace, audience: SensationReceiver | None, clock: Clock,
        faults: FaultIsolation,
    ) -> None:
        self._clock, self._faults = clock, faults
        self._perceivers = perceivers
        self._trace = trace
        self.audience = audience
        self.audience_key = self, "tell"  # an audience may have no hash
        # Of what stays in view what it was, how strong and when; of signals, and what nobody was told, its place.
        self._last: dict[int, tuple[SensationRows | StimulusBatch, int] | Alone] = {}

    def clear(self) -> None:
        """Know nothing of what was told."""
        self._last.clear()

    def take_last(self, sensor_id: int) -> Sensation | None:
        """Return what a sensor was told since this was asked last, the newest of it; None if nothing."""
        told = self._last.pop(sensor_id, None)
        if told is None:
            return None
        if len(told) == 2:
            block, place = told
            return block.sensation(place) if isinstance(block, StimulusBatch) else block.sensation(sensor_id, place)
        (source_id, modality, position, sent_at, tag), intensity, now_s = told
        return Sensation(sensor_id, source_id, modality, intensity, position, sent_at, now_s, tag)

    def who(self, view: VisibleBatch, visited: set[int]) -> tuple[set[int], set[int], set[int]]:
        """Return of those who are told without a visit to whom nobody listens, who is told alone, and the others."""
        told = view.tells - visited
        if not told or self._trace.sensed:
            return set(), told, set()
        if self.audience is None:
            loud = {one for one in told if self._perceivers[one].listens}
            return told - loud, loud, set()
        ids = list(told)
        loud = {one for one, listens in zip(ids, self.audience.listening(ids), strict=True) if listens}
        return told - loud, set(), loud

    def note_quiet(self, view: VisibleBatch, quiet: set[int], end: int) -> None:
        """Note that sensors to which nobody listens were told what stays in view, those before a place."""
        if quiet:
            rows = view.note_told(0, end, quiet)
            ends = np.flatnonzero((view.keys[rows[1:]] ^ view.keys[rows[:-1]]) >> ID_BITS)
            rows = rows[[*ends.tolist(), -1]] if len(rows) else rows
            block = view.block_told(rows)
            self._last.update(zip((view.keys[rows] >> ID_BITS).tolist(), zip(repeat(block), count()), strict=False))

    def tell_heard(self, heard: StimulusBatch, first: int, end: int) -> None:
        """Tell the audience of signals at sensors, from one to another."""
        sensor_ids, which, intensities, what, _ = heard
        # Copies, also of all: what an audience does with its own is nothing to who asks later what it was told.
        sensor_ids, which, intensities = sensor_ids[first:end], which[first:end], intensities[first:end]
        self._last.update(zip(sensor_ids, zip(repeat(heard), count(first)), strict=False))
        self._tell(made_of(SensationBatch, (sensor_ids, which, intensities, list(map(first_three, what)))))

    def tell_together(self, view: VisibleBatch, first: int, end: int, some: set[int]) -> None:
        """Tell some of the sensors with places from one to another what stays in view."""
        if self.audience is None or some.isdisjoint(view.sensor_ids[first:end]):
            return
        rows = view.rows_told(view.note_told(first, end, some))
        numbers: dict[tuple[int, str], int] = {}
        which = [numbers.setdefault((source, name), len(numbers)) for _, source, name, _, _ in rows]
        places = {(source, name): place for _, source, name, _, place in rows}
        self._keep(rows, view.now_s)
        what = [(source, name, places[source, name]) for source, name in numbers]
        self._tell(SensationBatch([row[0] for row in rows], which, [row[3] for row in rows], what))

    def _tell(self, told: SensationBatch) -> None:
        """Tell the audience; what it raises is reported, and costs nobody what is still to be sensed."""
        assert self.audience is not None
        key = self.audience_key
        if self._faults.has_quarantined and self._faults.is_quarantined(key):
            return
        try:
            self.audience.tell(told)
        except Exception as error:
            self._faults.failed(key, "audience of sensors", self._clock.now.frame, error)
        else:
            if self._faults.has_failing:
                self._faults.succeeded(key)

    def _keep(self, rows: list[Row], now_s: float) -> None:
        for sensor_id, source_id, modality, intensity, position in rows:
            self._last[sensor_id] = (source_id, modality, position, now_s, ""), intensity, now_s
