"""Who senses the same target by the same signals again: footsteps, a hum, a smell that stays.

As long as nothing happens by signals of who is noticed already but that strengths,
moments and places move on, each is noted in one row beside memory and meter, and they
learn of it when somebody asks. Of what is in view a meter moves along the line of its
followed pair, and a signal raises that.

This is the twin in Python of ``_heard_pairs``, which is used in its place where it was
built, with the same results to the last bit.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ai_core.senses.audience import StimulusBatch
from ai_core.senses.percepts.followed_pairs import PerceptTable, Rows, row_of
from ai_core.twins import twin, twin_class

if TYPE_CHECKING:
    from ai_core.senses.percepts.awareness import Awareness
    from ai_core.senses.percepts.perceiver import SensorMind
    from ai_core.senses.percepts.remembered import KnownTarget
    from ai_core.senses.sensation import Point, Sensation

__all__ = ["INTERFACE", "HeardPair", "HeardPairs", "take_in_all"]

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the kernel."""


NOTHING_FOLLOWED: Rows = {}


@twin_class("ai_core.senses.percepts._heard_pairs", INTERFACE)
class HeardPair:
    """What the newest signals say of one target of one sensor; see ``KnownTarget`` and ``Awareness``.

    Args:
        sensation: the first signal that is to be taken in; at the moment of the last one before it.
        lose_after_s: of the memory (s).
        record: what is remembered of the target, or None.
        meter: how aware the sensor is of it, or None.
        is_in_view: it is followed.
    """

    __slots__ = (
        "at_s", "begun", "begun_s", "fall", "gain", "intensity", "is_calmed", "is_fresh", "is_in_view", "known_at_s",
        "lose_after_s", "meter", "modality", "position", "record", "rise", "slope", "stimulus_gain",
    )

    def __init__(
        self, sensation: Sensation, lose_after_s: float, record: KnownTarget | None, meter: Awareness | None,
        is_in_view: bool = False,
    ) -> None:
        self.modality = sensation.modality
        self.intensity = sensation.intensity
        self.at_s = sensation.at
        self.lose_after_s = lose_after_s
        self.record = record
        self.position = sensation.position
        self.known_at_s = sensation.sent_at
        self.meter = meter
        self.begun_s = self.begun = self.gain = self.slope = self.stimulus_gain = 0.0
        self.rise, self.fall = math.inf, -1.0
        self.is_calmed = self.is_fresh = False
        self.is_in_view = is_in_view
        if record is not None:
            self.position, self.known_at_s = record.as_noted
        if meter is not None:
            self.begun_s, self.begun, self.slope = meter.line
            self.gain = meter.settings.gain_per_signal
            self.rise, self.fall = meter.thresholds
            self.stimulus_gain = meter.startled_by(self.modality)
        if is_in_view:
            self.at_s = self.known_at_s = -math.inf

    def take_in(
        self, modality: str, intensity: float, position: Point, sent_at: float, now_s: float,
        followed: Rows = NOTHING_FOLLOWED, row: int = -1,
    ) -> bool:
        """Note one more signal; return False if more happens by it than can be noted here.

        Args:
            followed: if it is in view, columns of ``PerceptTable``.
            row: which of them is this.
        """
        sensed_s, known_at_s = self.at_s, self.known_at_s
        if self.is_in_view:
            looked_s = float(followed["at_s"][row])
            if now_s <= looked_s:
                return False
            sensed_s, known_at_s = max(sensed_s, looked_s), max(known_at_s, looked_s)
            self.begun_s, self.begun = float(followed["begun_s"][row]), float(followed["begun"][row])
            self.slope = float(followed["slope"][row])
            self.rise, self.fall = float(followed["rise"][row]), float(followed["fall"][row])
        if modality != self.modality or now_s > sensed_s + self.lose_after_s:
            return False
        if self.meter is not None:
            value = min(1.0, max(0.0, self.begun + self.slope * (now_s - self.begun_s)))
            raised = min(1.0, value + intensity * self.gain)
            if value <= self.fall or raised >= self.rise or (self.is_in_view and not raised):
                return False
            if not value:
                self.stimulus_gain, self.is_calmed = 0.0, True
            self.stimulus_gain += raised - value
            self.begun_s, self.begun = now_s, raised
            if self.is_in_view:
                followed["begun_s"][row], followed["begun"][row] = now_s, raised
        if sent_at >= known_at_s:
            self.position, self.known_at_s = position, sent_at
        self.at_s, self.intensity, self.is_fresh = now_s, intensity, True
        return True

    def put_into_record(self) -> None:
        """Bring record and meter up to date, of what is in view between the looks before and after."""
        self.is_fresh = False
        record, meter = self.record, self.meter
        if record is not None:
            if self.known_at_s >= record.as_noted[1]:
                record.know(self.position, self.known_at_s)
            record.sense(self.modality, self.intensity, self.at_s)
        if meter is not None:
            meter.be_startled(self.begun, self.begun_s, self.modality, self.stimulus_gain, anew=self.is_calmed)
            self.is_calmed = False


NO_ROWS: dict[int, HeardPair] = {}


@twin
def take_in_all(
    rows: dict[int, dict[int, HeardPair]], heard: StimulusBatch, first: int, visited: set[int], fresh: set[int],
    followed: Rows,
) -> int:
    """Note signals in rows of sensor and source, from one on, until one for which that cannot be done.

    Args:
        rows: by sensor, then source.
        heard: the signals.
        first: which of them is first.
        visited: sensors of which nothing is noted.
        fresh: takes in sensors of which something was noted.
        followed: columns of ``PerceptTable``; of what is in view the meters' lines go on from here.

    Returns:
        Which was not noted, or how many there are.
    """
    sensor_ids, which, intensities, what, now_s = heard
    for place in range(first, len(sensor_ids)):
        sensor_id = sensor_ids[place]
        source_id, modality, position, sent_at, _ = what[which[place]]
        pair = rows.get(sensor_id, NO_ROWS).get(source_id)
        if pair is None or sensor_id in visited:
            return place
        row = row_of(followed, sensor_id, source_id) if pair.is_in_view else -1
        if (row < 0 and pair.is_in_view) or not pair.take_in(
                modality, intensities[place], position, sent_at, now_s, followed, row):
            return place
        fresh.add(sensor_id)
    return len(sensor_ids)


class HeardPairs:
    """A row for each sensor and target, as long as nothing happens by its signals.

    Args:
        minds: by sensor id.
        followed: what is in view.

    Attributes:
        rows: by sensor, then target, as ``take_in_all`` has them.
        fresh: sensors of which something was noted that their minds do not know.

    Cost: a signal O(1), without a visit of the sensor; O(log n) with n pairs in view.
    """

    def __init__(self, minds: Mapping[int, SensorMind], followed: PerceptTable) -> None:
        self._minds, self._followed = minds, followed
        self.rows: dict[int, dict[int, HeardPair]] = {}
        self.fresh: set[int] = set()

    def clear(self) -> None:
        """Note nothing."""
        self.rows.clear()
        self.fresh.clear()

    def drop(self, sensor_id: int) -> None:
        """Note nothing of a sensor any more."""
        self.rows.pop(sensor_id, None)
        self.fresh.discard(sensor_id)

    def take_in(self, sensation: Sensation, visited: set[int]) -> bool:
        """Note a signal at a sensor; return False if its mind has to take it in itself, or is visited."""
        what = sensation.source_id, sensation.modality, sensation.position, sensation.sent_at, sensation.tag
        heard = StimulusBatch([sensation.sensor_id], [0], [sensation.intensity], [what], sensation.at)
        return self.take_in_all(heard, 0, visited) > 0

    def take_in_all(self, heard: StimulusBatch, first: int, visited: set[int]) -> int:
        """Note signals from one on, until one whose mind has to take it in itself, or is visited; return which."""
        end = len(heard.sensor_ids)
        first = take_in_all(self.rows, heard, first, visited, self.fresh, self._followed.rows)
        while first < end and heard.sensor_ids[first] not in visited and self._has_begun(heard, first):
            first = take_in_all(self.rows, heard, first, visited, self.fresh, self._followed.rows)
        return first

    def drop_pair(self, sensor_id: int, target: int) -> None:
        """Note nothing of a target whose signals a mind has taken in itself, until the next of them."""
        if sensor_id in self.rows:
            self.rows[sensor_id].pop(target, None)

    def _has_begun(self, heard: StimulusBatch, place: int) -> bool:
        """Note from now on what is heard of a target, if it was not and that is simple; return whether to try again."""
        sensor_id, target = heard.sensor_ids[place], heard.what[heard.which[place]][0]
        followed = self._followed.mind_of(sensor_id, target)
        if followed is not None and not self._followed.is_tidy:
            self._followed.tidy()
            return True
        if target in self.rows.get(sensor_id, NO_ROWS):
            return False
        perceiver = self._minds[sensor_id]
        memory, sensation = perceiver.memory, heard.sensation(place)
        record, meter = followed or (None if memory is None else memory.find(target), perceiver.meters.get(target))
        if meter is not None and meter.next_reaction_s() != math.inf:
            return False
        if followed is None:
            if not _is_simple(perceiver, target, record, meter):
                return False
            if record is not None:
                sensation = sensation._replace(at=record.sensed_until_s)
        lose_after_s = math.inf if memory is None else memory.lose_after_s
        pair = HeardPair(sensation, lose_after_s, record, meter, followed is not None)
        self.rows.setdefault(sensor_id, {})[target] = pair
        return True

    def put_into_records(
        self, perceiver: SensorMind, *, until_s: float = math.inf, of_view: bool = True
    ) -> bool:
        """Bring memory and meters up to date with what a sensor heard; return False if they were.

        Args:
            perceiver: the sensor's mind.
            until_s: what was heard later is left out (s). Of what is in view, sounds and looks go
                into the records in the order in which they came.
            of_view: whether what is in view is brought up to date, too.
        """
        sensor_id, memory = perceiver.sensor_id, perceiver.memory
        if sensor_id not in self.fresh:
            return False
        is_put = is_left = False
        for pair in self.rows[sensor_id].values():
            if pair.is_fresh and pair.at_s <= until_s and (of_view or not pair.is_in_view):
                is_put = True
                pair.put_into_record()
                if memory is not None:
                    memory.note_moment(pair.at_s)
            is_left = is_left or pair.is_fresh
        if not is_left:
            self.fresh.discard(sensor_id)
        return is_put


def _is_simple(perceiver: SensorMind, target: int, record: KnownTarget | None, meter: Awareness | None) -> bool:
    """Return whether nothing need happen by a signal of a target that no row follows but that numbers move on."""
    if perceiver.is_mindless or not perceiver.owns_memory or target in perceiver.in_view:
        return False
    if perceiver.memory is not None and (record is None or not record.is_noticed or record.is_expired):
        return False
    return not meter.is_shown if meter is not None else not perceiver.grows_aware
