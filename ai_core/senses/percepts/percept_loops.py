# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# Row by row, with branches: as fast with -O1 as with -O3, compiled in half of the time.
# distutils: extra_compile_args = -O1
# mypy: ignore-errors
"""Memory and awareness of sensors, advanced row by row.

A row is what one sensor knows of one target, a ``KnownTarget``. Everything that can happen to it happens here: it is
sensed, reported, lost, expired and forgotten, and its awareness rises and falls through levels. What happened is
collected in lists, in the order of rows; ``Perception`` sorts them, and listeners hear of it later.

Between two changes of visibility a meter is a straight line, so moments of crossings are exact at any frame rate, as
are those at which a target is lost, expires and is forgotten.
"""
from __future__ import annotations

from bisect import insort
from typing import NamedTuple

import cython
import numpy as np
from cython.cimports.libc.math import floor

from ai_core.senses.percepts.awareness import UNAWARE, AwarenessReasons
from ai_core.senses.sensation import LevelChange, MemoryChange, Sensation

__all__ = [
    "MEMORY_NUMBERS", "METER_NUMBERS", "NOT_IN_VIEW", "NO_SENSE", "KnownTarget", "MemoryDurations",
    "Mind", "PerceptTable", "WatchedTarget", "number_in"]

MEMORY_NUMBERS = (
    "is_noticed", "is_expired", "first_sensed_s", "last_sensed_s", "noticed_s", "known_at_s", "x", "y", "z",
    "vx", "vy", "vz", "first_seen_s", "last_seen_s", "seen_x", "seen_y", "seen_z")
"""What ``KnownTarget.memory_numbers`` returns: ``noticed_s`` is until when the sensor sensed it itself; NaN stands for
a moment that never was."""

METER_NUMBERS = ("level", "value", "visibility", "line_s", "line_value", "meter_s")
"""What ``KnownTarget.meter_numbers`` returns: the line of the meter starts at (``line_s``, ``line_value``)."""

NO_SENSE = (0.0, -np.inf, 0.0, 0.0)
"""What ``KnownTarget.by_modality`` returns for a modality in which nothing was sensed."""

NOT_IN_VIEW = -np.inf
"""Number of a look long ago."""

ID_BITS = cython.declare(cython.int, 31)            # of a target in a key: pairs_in_view.ID_BITS
ID_MASK = cython.declare(cython.longlong, (1 << 31) - 1)
SLOT_MASK = cython.declare(cython.int, 0xFFFFF)     # of an id, its row: id_table.SLOT_BITS
PHASE_STEP = cython.declare(cython.double, (5 ** 0.5 - 1) / 2)  # share of a turn between the reports of two sensors
INFINITY = cython.declare(cython.double, float("inf"))
NEVER = cython.declare(cython.double, float("nan"))
NO_KEY = cython.declare(cython.longlong, -1)        # of a row that is in no table any more
FEW = cython.declare(cython.Py_ssize_t, 16)         # share of new rows, as a divisor, from which on all are sorted


class MemoryDurations(NamedTuple):
    """Durations of a memory (s); ``SenseMemory`` describes them."""

    lose_after_s: float
    max_age_s: float
    keep_expired_s: float
    free_knowledge_s: float


@cython.no_gc
@cython.final
@cython.cclass
class Mind:
    """Settings of sensors. ``owner_id`` is the sensor under whose id their memory is kept, -1 if each has its own."""

    owner_id: cython.longlong
    has_memory: cython.bint
    lose_after_s: cython.double
    max_age_s: cython.double
    keep_expired_s: cython.double
    free_knowledge_s: cython.double
    has_awareness: cython.bint
    gain_per_s: cython.double
    decay_per_s: cython.double
    gain_per_signal: cython.double
    levels: list                    # reached at, left at, reaction time (s)
    level_names: tuple              # from level 0
    modalities: list                # names, by number
    settings: tuple                 # what it was made of

    def __init__(self, modalities: list, owner_id: cython.longlong, memory: object, awareness: object) -> None:
        self.modalities, self.settings, self.owner_id = modalities, (owner_id, memory, awareness), owner_id
        self.has_memory, self.has_awareness = memory is not None, awareness is not None
        self.lose_after_s, self.max_age_s, self.keep_expired_s, self.free_knowledge_s = (
            (0.0, 0.0, 0.0, 0.0) if memory is None else memory)
        self.levels, self.level_names = [], (UNAWARE,)
        if awareness is not None:
            self.gain_per_s, self.decay_per_s = awareness.gain_per_s, awareness.decay_per_s
            self.gain_per_signal, self.level_names = awareness.gain_per_signal, tuple(awareness.level_names)
            self.levels = [(one.rises_at, one.falls_at, one.reaction_s) for one in awareness.levels]


@cython.no_gc
@cython.final
@cython.cclass
class Sense:
    """A target in one modality, and in others.

    The newest sensation, how the target shows itself now, and what its stimuli added to the awareness.
    """

    number: cython.Py_ssize_t
    strength: cython.double
    sensed_at_s: cython.double
    shown: cython.double
    stimulus_gain: cython.double
    following: Sense


@cython.no_gc
@cython.final
@cython.cclass
class KnownTarget:
    """What a sensor knows of one target: its memory, and its awareness; read-only, and up to date.

    Of a forgotten target it keeps the last values until the target is sensed again, and of a sensor without awareness,
    or whose meter is empty, ``value`` and ``level`` are 0.

    Attributes:
        target: id of the source.
        first_sensed_s: when it was first sensed since it was last forgotten (s).
        last_sensed_s: when it was last sensed, by this sensor or by a reporting one (s).
        known_at_s: when it was at its last known position: time of emission, not of arrival (s).
        is_noticed: True until the target is lost; False if it is only reported.
        is_expired: True once the target is older than its maximum age.
        is_known: whether the memory holds it; False if it is forgotten, or the sensor has no memory.
        has_meter: whether the sensor is aware of it.
        value: of the awareness meter, from 0 to 1.
        visibility: of the target; 0 if it is hidden.
        level: the awareness level that was reported last; 0 is unaware.
        meter_s: when the meter was advanced last (s).
        looked, shown_at: number of the last look at which it was in view, for memory and meter.
        key: sensor, then target; -1 if it is in no table any more.
    """

    target = cython.declare(cython.longlong, visibility="readonly")
    first_sensed_s = cython.declare(cython.double, visibility="readonly")
    last_sensed_s = cython.declare(cython.double, visibility="readonly")
    known_at_s = cython.declare(cython.double, visibility="readonly")
    is_noticed = cython.declare(cython.bint, visibility="readonly")
    is_expired = cython.declare(cython.bint, visibility="readonly")
    is_known = cython.declare(cython.bint, visibility="readonly")
    has_meter = cython.declare(cython.bint, visibility="readonly")
    value = cython.declare(cython.double, visibility="readonly")
    visibility = cython.declare(cython.double, visibility="readonly")
    level = cython.declare(cython.Py_ssize_t, visibility="readonly")
    meter_s = cython.declare(cython.double, visibility="readonly")
    shown_at = cython.declare(cython.double, visibility="readonly")
    looked = cython.declare(cython.double, visibility="readonly")
    key = cython.declare(cython.longlong, visibility="readonly")
    mind: Mind
    senses: Sense
    noticed_s: cython.double
    x: cython.double
    y: cython.double
    z: cython.double
    vx: cython.double
    vy: cython.double
    vz: cython.double
    began_s: cython.double          # first sighting, NaN for none
    seen_s: cython.double           # last sighting
    seen_x: cython.double
    seen_y: cython.double
    seen_z: cython.double
    reached: cython.Py_ssize_t      # the level whose reaction may still be pending
    line_s: cython.double
    line_value: cython.double
    reacts_at_s: list               # by level, when those that are reached are reported

    def __init__(self, key: cython.longlong, mind: Mind) -> None:
        self.key, self.mind, self.target, self.senses = key, mind, key & ID_MASK, None
        self.is_known, self.has_meter, self.reacts_at_s = False, False, []
        self.level = self.reached = 0
        self.value = self.visibility = 0.0

    def __lt__(self, other: KnownTarget) -> bool:
        return self.key < other.key

    def __repr__(self) -> str:
        return (f"<KnownTarget target={self.target} strength={self.strength:g} is_expired={self.is_expired}"
                f" last_known_position={self.last_known_position}>")

    @property
    def last_known_position(self) -> tuple[float, float, float]:
        """Newest known position, by any sense (m)."""
        return self.x, self.y, self.z

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Estimate from the last two sightings (m/s)."""
        return self.vx, self.vy, self.vz

    @property
    def first_seen_s(self) -> float | None:
        """When it was first seen (s), or None."""
        return None if self.began_s != self.began_s else self.began_s

    @property
    def last_seen_s(self) -> float | None:
        """When it was last seen (s), or None."""
        return None if self.seen_s != self.seen_s else self.seen_s

    @property
    def last_seen_position(self) -> tuple[float, float, float] | None:
        """Newest position by sight (m), or None."""
        return None if self.seen_s != self.seen_s else (self.seen_x, self.seen_y, self.seen_z)

    @property
    def strengths(self) -> dict[str, float]:
        """Newest intensity by modality name; ``RADIO`` for reports."""
        return {name: strength for name, (strength, at_s, _, _) in self.by_modality().items() if at_s > -INFINITY}

    @property
    def sensed_at_s(self) -> dict[str, float]:
        """Time of the newest sensation by modality name (s)."""
        return {name: at_s for name, (_, at_s, _, _) in self.by_modality().items() if at_s > -INFINITY}

    @property
    def dominant_modality(self) -> str:
        """The most reliable modality: the newest, then the strongest, then the first by name."""
        strengths, times = self.strengths, self.sensed_at_s
        return min(strengths, key=lambda name: (-times[name], -strengths[name], name))

    @property
    def strength(self) -> float:
        """The newest intensity of the dominant modality."""
        return self.strengths[self.dominant_modality]

    def age_s(self, now_s: float, modality: str | None = None) -> float:
        """Return the time since the last sensation (s); ``inf`` if there was none.

        Args:
            now_s: game time (s).
            modality: name of the modality; None for any.
        """
        return now_s - (self.last_sensed_s if modality is None else self.sensed_at_s.get(modality, -INFINITY))

    def extrapolated_position(self, now_s: float) -> tuple[float, float, float]:
        """Return the position of the target now if it kept its velocity (m)."""
        passed_s: cython.double = now_s - self.known_at_s
        return self.x + self.vx * passed_s, self.y + self.vy * passed_s, self.z + self.vz * passed_s

    @property
    def level_name(self) -> str:
        """Name of the awareness level that was reported last."""
        return self.mind.level_names[self.level]

    def why(self) -> AwarenessReasons:
        """Return the reasons for the value of the awareness meter."""
        senses, pending_s = self.by_modality(), self.pending_s
        return AwarenessReasons(
            self.target, self.value, self.level_name, self.slope(),
            {name: one[2] for name, one in senses.items() if one[2]},
            {name: one[3] for name, one in senses.items() if one[3]}, pending_s[0] if pending_s else None)

    # For tables and saves.

    @property
    def pending_s(self) -> list:
        """When the levels above its own that are reached are reported (s)."""
        return self.reacts_at_s[self.level : self.reached]

    def by_modality(self) -> dict:
        """Return strength, when it was sensed (s), how it shows itself, and its stimuli's gain, by modality name."""
        found: dict = {}
        one: Sense = self.senses
        while one is not None:
            found[one.number] = one.strength, one.sensed_at_s, one.shown, one.stimulus_gain
            one = one.following
        return {self.mind.modalities[number]: found[number] for number in sorted(found)}

    def put_senses(self, numbers: dict) -> None:
        """Take what ``by_modality`` returned."""
        one: Sense
        self.senses = None
        for name, four in numbers.items():
            one = self.sense_in(number_in(self.mind.modalities, name))
            one.strength, one.sensed_at_s, one.shown, one.stimulus_gain = four

    def memory_numbers(self) -> tuple:
        """Return ``MEMORY_NUMBERS``."""
        return (
            self.is_noticed, self.is_expired, self.first_sensed_s, self.last_sensed_s, self.noticed_s, self.known_at_s,
            self.x, self.y, self.z, self.vx, self.vy, self.vz, self.began_s, self.seen_s, self.seen_x, self.seen_y,
            self.seen_z)

    def put_memory(self, numbers, looked: cython.double) -> None:
        """Take what ``memory_numbers`` and ``looked`` returned."""
        (self.is_noticed, self.is_expired, self.first_sensed_s, self.last_sensed_s, self.noticed_s, self.known_at_s,
         self.x, self.y, self.z, self.vx, self.vy, self.vz, self.began_s, self.seen_s, self.seen_x, self.seen_y,
         self.seen_z) = numbers
        self.is_known, self.looked = True, looked

    def meter_numbers(self) -> tuple:
        """Return ``METER_NUMBERS``."""
        return self.level, self.value, self.visibility, self.line_s, self.line_value, self.meter_s

    def put_meter(self, numbers, shown_at: cython.double, pending_s: list) -> None:
        """Take what ``meter_numbers``, ``shown_at`` and ``pending_s`` returned."""
        self.begin_meter(0.0)
        self.level, self.value, self.visibility, self.line_s, self.line_value, self.meter_s = numbers
        self.shown_at, self.reached = shown_at, self.level + len(pending_s)
        self.reacts_at_s[self.level : self.reached] = pending_s

    @cython.ccall
    def begin_meter(self, now_s: cython.double):
        """Begin the awareness meter at 0."""
        one: Sense = self.senses
        self.has_meter, self.shown_at, self.line_s, self.meter_s = True, -INFINITY, now_s, now_s
        self.value = self.visibility = self.line_value = 0.0
        self.level = self.reached = 0
        self.reacts_at_s = [0.0] * len(self.mind.levels)
        while one is not None:
            one.shown = one.stimulus_gain = 0
            one = one.following

    # The memory.

    @cython.cfunc
    def sense_in(self, number: cython.Py_ssize_t) -> Sense:
        """Return the part of a modality, which is made if there is none."""
        one: Sense = self.senses
        while one is not None and one.number != number:
            one = one.following
        if one is None:
            one = Sense()
            one.number, one.strength, one.sensed_at_s, one.shown, one.stimulus_gain = number, 0.0, -INFINITY, 0.0, 0.0
            one.following, self.senses = self.senses, one
        return one

    @cython.cfunc
    def note(self, changes: list, sensor_id: cython.longlong, kind: str, at_s: cython.double):
        """List a change."""
        changes.append(MemoryChange(sensor_id, kind, self.target, at_s, (self.x, self.y, self.z)))

    @cython.cfunc
    def note_sensed(self, number: cython.Py_ssize_t, strength: cython.double, at_s: cython.double):
        one: Sense = self.sense_in(number)
        one.strength, one.sensed_at_s = strength, at_s

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, at_s: cython.double) -> cython.void:
        """Begin the memory, and keep the meter."""
        one: Sense = self.senses
        self.is_known, self.is_noticed, self.is_expired, self.looked = True, False, False, -INFINITY
        self.first_sensed_s = self.last_sensed_s = self.noticed_s = at_s
        self.known_at_s, self.began_s, self.seen_s = -INFINITY, NEVER, NEVER
        self.x = self.y = self.z = self.vx = self.vy = self.vz = self.seen_x = self.seen_y = self.seen_z = 0
        while one is not None:
            one.strength, one.sensed_at_s = 0, -INFINITY
            one = one.following

    @cython.cfunc
    def remember(
        self, changes: list, sensor_id: cython.longlong, number: cython.Py_ssize_t, intensity: cython.double,
        x: cython.double, y: cython.double, z: cython.double, sent_s: cython.double, now_s: cython.double,
        is_seen: cython.bint,
    ):
        """Note that the target is sensed; a change is reported to the given sensor."""
        if self.is_known and not (self.is_noticed and now_s <= self.noticed_s + self.mind.lose_after_s):
            self.let_pass(changes, sensor_id, now_s)
        if not self.is_known:
            self.begin(now_s)
        if is_seen:
            self.sight(x, y, z, sent_s)
        if sent_s >= self.known_at_s:
            self.x, self.y, self.z, self.known_at_s = x, y, z, sent_s
        self.last_sensed_s = self.noticed_s = now_s
        self.note_sensed(number, intensity, now_s)
        self.is_expired = False
        if not self.is_noticed:
            self.is_noticed = True
            self.note(changes, sensor_id, "gained", now_s)

    @cython.cfunc
    @cython.exceptval(check=False)
    def sight(self, x: cython.double, y: cython.double, z: cython.double, seen_s: cython.double) -> cython.void:
        """Note a sighting; the velocity is that between it and another one of a target that was not lost since."""
        passed_s: cython.double = seen_s - self.seen_s   # NaN at first
        if passed_s > 0 and self.is_noticed:
            self.vx, self.vy = (x - self.seen_x) / passed_s, (y - self.seen_y) / passed_s
            self.vz = (z - self.seen_z) / passed_s
        elif passed_s > 0:
            self.vx = self.vy = self.vz = 0
        if self.began_s != self.began_s:
            self.began_s = seen_s
        self.seen_x, self.seen_y, self.seen_z, self.seen_s = x, y, z, seen_s

    @cython.cfunc
    def keep_in_view(
        self, changes: list, sensor_id: cython.longlong, number: cython.Py_ssize_t, intensity: cython.double,
        x: cython.double, y: cython.double, z: cython.double, now_s: cython.double, is_seen: cython.bint,
        looks: cython.double,
    ):
        """Note that the target is in view, and was without a break since the last look."""
        if self.is_known and self.is_noticed and self.looked >= looks - 1:
            self.noticed_s, self.last_sensed_s = max(self.noticed_s, now_s), max(self.last_sensed_s, now_s)
        self.remember(changes, sensor_id, number, intensity, x, y, z, now_s, now_s, is_seen)
        self.looked = looks

    @cython.cfunc
    def let_pass(self, changes: list, sensor_id: cython.longlong, now_s: cython.double):
        """Let the target be lost, expire and be forgotten by time passing."""
        at_s: cython.double = self.noticed_s + self.mind.lose_after_s
        if not self.is_known:
            return
        if self.is_noticed and now_s > at_s:
            self.is_noticed = False
            self.note(changes, sensor_id, "lost", at_s)
        at_s = self.last_sensed_s + self.mind.max_age_s
        if not self.is_expired and now_s > at_s:
            self.is_expired = True
            self.note(changes, sensor_id, "expired", at_s)
        at_s += self.mind.keep_expired_s
        if now_s > at_s:
            self.note(changes, sensor_id, "forgotten", at_s)
            self.is_known = self.is_noticed = False

    @cython.cfunc
    @cython.exceptval(check=False)
    def follow_freely(self, x: cython.double, y: cython.double, z: cython.double, at_s: cython.double) -> cython.void:
        passed_s: cython.double = at_s - self.known_at_s
        if passed_s > 0:
            self.vx, self.vy, self.vz = (x - self.x) / passed_s, (y - self.y) / passed_s, (z - self.z) / passed_s
            self.x, self.y, self.z, self.known_at_s = x, y, z, at_s

    # The awareness meter.

    @cython.cfunc
    @cython.exceptval(check=False)
    def shown_in(self, number: cython.Py_ssize_t) -> cython.double:
        one: Sense = self.senses
        while one is not None and one.number != number:
            one = one.following
        return 0.0 if one is None else one.shown

    @cython.cfunc
    @cython.exceptval(check=False)
    def hide(self) -> cython.void:
        one: Sense = self.senses
        while one is not None:
            one.shown = 0
            one = one.following

    @cython.cfunc
    @cython.exceptval(check=False)
    def take_look(self, looks: cython.double) -> cython.void:
        """Take over how the target showed itself in a look."""
        visibility: cython.double = 0
        one: Sense = self.senses
        if self.shown_at == looks:
            while one is not None:
                visibility = max(visibility, one.shown)
                one = one.following
        elif self.shown_at > -INFINITY:
            self.hide()
            self.shown_at = -INFINITY
        self.put_visibility(visibility)

    @cython.cfunc
    def show(self, number: cython.Py_ssize_t, intensity: cython.double, looks: cython.double, now_s: cython.double):
        """Note for the meter how strongly the target shows itself in a look."""
        if not self.has_meter:
            self.begin_meter(now_s)
        if self.shown_at != looks:
            self.hide()
            self.shown_at = looks
        one: Sense = self.sense_in(number)
        one.shown = intensity

    @cython.cfunc
    @cython.exceptval(check=False)
    def slope(self) -> cython.double:
        return self.visibility * self.mind.gain_per_s if self.visibility > 0 else -self.mind.decay_per_s

    @cython.cfunc
    @cython.exceptval(check=False)
    def drift(self, now_s: cython.double) -> cython.void:
        """Move along the line."""
        one: Sense
        if now_s < self.meter_s:
            return
        self.meter_s = now_s
        self.value = min(1.0, max(0.0, self.line_value + self.slope() * (now_s - self.line_s)))
        if self.value == 0:
            one = self.senses
            while one is not None:
                one.stimulus_gain = 0
                one = one.following

    @cython.cfunc
    @cython.exceptval(check=False)
    def put_visibility(self, visibility: cython.double) -> cython.void:
        if visibility != self.visibility:
            self.visibility, self.line_s, self.line_value = visibility, self.meter_s, self.value

    @cython.cfunc
    def startle(self, crossed: list, number: cython.Py_ssize_t, intensity: cython.double, now_s: cython.double):
        """Raise the meter by a stimulus."""
        if not self.has_meter:
            self.begin_meter(now_s)
        self.drift(now_s)
        self.cross(crossed)
        raised: cython.double = min(1.0, self.value + intensity * self.mind.gain_per_signal)
        one: Sense = self.sense_in(number)
        one.stimulus_gain += raised - self.value
        self.value = self.line_value = raised
        self.line_s = now_s
        self.cross(crossed)

    @cython.cfunc
    def cross(self, crossed: list):
        """Cross the levels that are reached or left; list those whose reaction time has passed."""
        levels: list = self.mind.levels
        rises_at: cython.double
        falls_at: cython.double
        reaction_s: cython.double
        at_s: cython.double
        while self.reached < len(levels):
            rises_at, falls_at, reaction_s = levels[self.reached]
            if not self.value >= rises_at:
                break
            at_s = self.moment_of(rises_at) + reaction_s
            if self.reached > self.level:
                at_s = max(at_s, self.reacts_at_s[self.reached - 1])
            self.reacts_at_s[self.reached] = at_s
            self.reached += 1
        while self.reached > 0:
            rises_at, falls_at, reaction_s = levels[self.reached - 1]
            if not self.value <= falls_at:
                break
            at_s = self.moment_of(falls_at)
            self.react(crossed, at_s)
            if self.reached == self.level:
                self.level -= 1
                self.note_level(crossed, at_s)
            self.reached -= 1
        self.react(crossed, self.meter_s)

    @cython.cfunc
    def react(self, crossed: list, until_s: cython.double):
        """List the levels whose reaction time has passed by then."""
        while self.level < self.reached and self.reacts_at_s[self.level] <= until_s:
            self.level += 1
            self.note_level(crossed, self.reacts_at_s[self.level - 1])

    @cython.cfunc
    def note_level(self, crossed: list, at_s: cython.double):
        """List the level that was reached or left."""
        crossed.append(LevelChange(self.key >> ID_BITS, self.target, self.level, self.level_name, at_s))

    @cython.cfunc
    @cython.exceptval(check=False)
    def moment_of(self, value: cython.double) -> cython.double:
        """Return when the line passed a value: now at the latest."""
        slope: cython.double = self.slope()
        if self.line_value == value or slope == 0:
            return self.line_s
        passed_s: cython.double = (value - self.line_value) / slope
        return self.line_s + passed_s if 0 <= passed_s <= self.meter_s - self.line_s else self.meter_s


@cython.cclass
class WatchedTarget:
    """What a sensor knew of one target when ``update_watched`` looked last; the base of a reader's own class.

    Attributes:
        target: id of the target, -1 for none.
        phase: frames by which the turns of ``has_choice`` are shifted.
        period: frames from one look to the next.
        chooses_every: looks from one turn of ``has_choice`` to the next.
        has_choice: in its turns it is listed as changed if another target may be more important.
        by_awareness: only if the sensor is more aware of another target.
        is_new: it is listed as changed once.
        is_known, is_noticed, is_in_view: whether the sensor remembers it, has not lost it, and sees it.
        is_placed: whether it is remembered where it is now; a budget may leave a target in view out of some frames.
        awareness, level: value of the meter, from 0 to 1, and awareness level.
        x, y, z: the last known position (m).
        reader: what is handed back if only the awareness or the place changed; None to list that as changed, too.
        character: the character of the target in view; if it is another one, that is listed as changed.
        place: the place of the target in view that was handed back last.
        known_at: of the reader; None after a new place.
        row: all that the sensor remembers of the target; None if it does not remember it.
    """

    sensor_id = cython.declare(cython.longlong, visibility="public")
    target = cython.declare(cython.longlong, visibility="public")
    phase = cython.declare(cython.longlong, visibility="public")
    period = cython.declare(cython.longlong, visibility="public")
    chooses_every = cython.declare(cython.longlong, visibility="public")
    has_choice = cython.declare(cython.bint, visibility="public")
    by_awareness = cython.declare(cython.bint, visibility="public")
    is_new = cython.declare(cython.bint, visibility="public")
    is_known = cython.declare(cython.bint, visibility="public")
    is_noticed = cython.declare(cython.bint, visibility="public")
    is_in_view = cython.declare(cython.bint, visibility="public")
    is_placed = cython.declare(cython.bint, visibility="public")
    awareness = cython.declare(cython.double, visibility="public")
    level = cython.declare(cython.longlong, visibility="public")
    x = cython.declare(cython.double, visibility="public")
    y = cython.declare(cython.double, visibility="public")
    z = cython.declare(cython.double, visibility="public")
    reader = cython.declare(object, visibility="public")
    character = cython.declare(object, visibility="public")
    place = cython.declare(object, visibility="public")
    known_at = cython.declare(object, visibility="public")
    row = cython.declare(KnownTarget, visibility="readonly")

    def __init__(self) -> None:
        self.sensor_id = self.target = -1
        self.phase, self.period, self.chooses_every, self.level = 0, 1, 1, 0
        self.has_choice = self.by_awareness = self.is_known = self.is_noticed = self.is_in_view = False
        self.is_new = True
        self.awareness = self.x = self.y = self.z = 0.0
        self.reader = self.character = self.place = self.known_at = None
        self.row = None

    def forget(self) -> None:
        """Have no target; what is remembered of the last one may be of a table that is gone."""
        self.target, self.row = -1, None


@cython.final
@cython.cclass
class PerceptTable:
    """All that sensors remember and are aware of, with modalities as they come: the first have the given names.

    ``see`` and ``advance`` read positions from a ``SourceTable``.

    Attributes:
        rows: all rows, by sensor, then target.
        modalities: names of all modalities.
        now_s: game time of the last pass over all rows (s).
        revision: number of passes and changes of rows so far.
        changes, levels_crossed, sensations: what was not collected yet; sensations are those of what is in view.
        has_ended: whether a row has nothing to hold any more.
        looks: number of the last look.

    Cost: a new row O(log n), and 8 bytes a row that is moved; 400 bytes a row.
    """

    rows = cython.declare(list, visibility="readonly")
    modalities = cython.declare(list, visibility="readonly")
    now_s = cython.declare(cython.double, visibility="public")
    revision = cython.declare(cython.longlong, visibility="public")
    changes = cython.declare(list, visibility="public")
    levels_crossed = cython.declare(list, visibility="public")
    sensations = cython.declare(list, visibility="public")
    has_ended = cython.declare(cython.bint, visibility="readonly")
    looks = cython.declare(cython.double, visibility="public")
    percepts: dict                  # the rows by key: sensor, then target
    new: list                       # those that are not in ``rows`` yet
    minds: dict                     # settings by sensor
    last_mind: Mind                 # most sensors of a scene have the same
    # Sources, and pairs in view, that are viewed.
    sources: object
    layout: object
    places: cython.const[cython.float][:, :]
    ids: cython.const[cython.int][::1]
    pair_columns: tuple
    pair_keys: cython.const[cython.longlong][::1]
    pair_intensity: cython.const[cython.double][::1]
    pair_sensed: cython.const[cython.uchar][::1]
    pair_reported_s: cython.double[::1]

    def __init__(self, modalities, sources) -> None:
        self.modalities = list(modalities)
        self.rows, self.new, self.percepts, self.minds = [], [], {}, {}
        self.now_s, self.revision = -INFINITY, 0
        self.changes, self.levels_crossed, self.sensations = [], [], []
        self.has_ended = False
        self.looks = 1      # no row was in view at look 0
        self.sources, self.layout, self.pair_columns, self.last_mind = sources, None, None, None

    def __len__(self) -> int:
        return len(self.rows)

    # -- rows

    def number(self, modality: str) -> int:
        """Return the number of a modality; a new name gets a new one."""
        return number_in(self.modalities, modality)

    def put_mind(self, sensor_id: int, owner_id: int, memory: object, awareness: object) -> None:
        """Set ``MemoryDurations`` and ``AwarenessSettings`` of a sensor, or None; the owner has its memory."""
        one: KnownTarget
        mind: Mind = self.last_mind
        owner_id = -1 if owner_id == sensor_id else owner_id
        if mind is None or mind.settings != (owner_id, memory, awareness):
            mind = self.last_mind = Mind(self.modalities, owner_id, memory, awareness)
        self.minds[sensor_id] = mind
        first, end = self.span(sensor_id)
        for one in self.rows[first:end]:
            one.mind = mind

    def drop_mind(self, sensor_id: int) -> None:
        """End all rows of a sensor that is removed."""
        one: KnownTarget
        first, end = self.span(sensor_id)
        for one in self.rows[first:end]:
            del self.percepts[one.key]
            one.has_meter, one.key = False, NO_KEY
        del self.rows[first:end], self.minds[sensor_id]

    @cython.ccall
    def row(self, key: cython.longlong) -> KnownTarget:
        """Return the row of a key, which is made if there is none; call ``insert_new`` after the last."""
        found = self.percepts.get(key)
        if found is None:
            found = self.percepts[key] = KnownTarget(key, self.minds[key >> ID_BITS])
            self.new.append(found)
        return found

    @cython.ccall
    def insert_new(self):
        """Let the new rows stand among the others."""
        new: list = self.new
        if not new:
            return
        self.new = []
        if len(new) * FEW > len(self.rows):
            self.rows = sorted([*self.rows, *new])
        else:
            for one in new:
                insort(self.rows, one)

    def drop_ended(self, sensor_id: cython.longlong = -1) -> None:
        """Drop rows that hold neither a memory nor a meter, of one sensor, or -1 for all. Cost: O(rows of these)."""
        one: KnownTarget
        kept: list = []
        first, end = (0, len(self.rows)) if sensor_id < 0 else self.span(sensor_id)
        for one in self.rows[first:end]:
            if one.is_known or one.has_meter:
                kept.append(one)
            else:
                del self.percepts[one.key]
                one.key = NO_KEY
        self.rows[first:end] = kept
        self.has_ended = self.has_ended and sensor_id >= 0

    def forget(self, sensor_id: int, rows: list) -> None:
        """End the memories of some rows of a sensor, which is no change to report."""
        one: KnownTarget
        for one in rows:
            one.is_known = False
        self.drop_ended(sensor_id)

    def forget_all(self, sensor_id: int) -> None:
        """End all memories and meters of a sensor, which is no change to report."""
        one: KnownTarget
        first, end = self.span(sensor_id)
        for one in self.rows[first:end]:
            one.has_meter = one.is_known = False
        self.drop_ended(sensor_id)

    def move_memory(self, sensor_id: int, other_id: int) -> None:
        """Move what a sensor remembers, but not its meters, to another sensor."""
        one: KnownTarget
        there: KnownTarget
        for one in self.known(sensor_id):
            there, sensed = self.row(other_id << ID_BITS | one.target), one.by_modality()
            one.is_known = False
            there.put_memory(one.memory_numbers(), NOT_IN_VIEW)
            shown = there.by_modality()
            there.put_senses({name: (*sensed.get(name, NO_SENSE)[:2], *shown.get(name, NO_SENSE)[2:])
                              for name in {**sensed, **shown}})
        self.insert_new()
        self.drop_ended(sensor_id)

    # -- looking up

    def span(self, sensor_id: cython.longlong) -> tuple:
        """Return the place of the first row of a sensor, and the one after its last."""
        return self.place_of(sensor_id << ID_BITS), self.place_of((sensor_id + 1) << ID_BITS)

    def known(self, sensor_id: cython.longlong) -> list:
        """Return the rows of a sensor that hold a memory, by target."""
        first, end = self.span(sensor_id)
        return [one for one in self.rows[first:end] if one.is_known]

    def find(self, sensor_id: cython.longlong, target: cython.longlong) -> KnownTarget | None:
        """Return what a sensor knows of a target, None if there is nothing."""
        return self.percepts.get(sensor_id << ID_BITS | target)

    @cython.ccall
    @cython.exceptval(check=False)
    def place_of(self, key: cython.longlong) -> cython.Py_ssize_t:
        """Return the place of the first row whose key is not smaller."""
        first: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t = len(self.rows)
        middle: cython.Py_ssize_t
        one: KnownTarget
        while first < end:
            middle = (first + end) // 2
            one = self.rows[middle]
            if one.key < key:
                first = middle + 1
            else:
                end = middle
        return first

    def first_target(
        self, sensor_id: cython.longlong, present: cython.longlong, here: object, nearer: cython.double,
    ) -> cython.longlong:
        """See ``RegionalSenseManager.first_target``."""
        one: KnownTarget
        own: KnownTarget
        mind: Mind = self.minds.get(sensor_id)
        best: KnownTarget = None
        rank: cython.double
        best_rank: cython.double = 0.0
        x: cython.double = 0.0
        y: cython.double = 0.0
        z: cython.double = 0.0
        by_distance: cython.bint = here is not None
        if mind is None:
            return -1
        if by_distance:
            x, y, z = here
        owner_id: cython.longlong = sensor_id if mind.owner_id < 0 else mind.owner_id
        at: cython.Py_ssize_t = self.place_of(owner_id << ID_BITS)
        while at < len(self.rows):
            one = self.rows[at]
            at += 1
            if one.key >> ID_BITS != owner_id:
                break
            if not one.is_known:
                continue
            if by_distance:
                rank = -((x - one.x) ** 2 + (y - one.y) ** 2 + (z - one.z) ** 2)
                if one.target == present:
                    rank *= nearer * nearer
            else:
                own = self.own_row(one, sensor_id)
                rank = own.value if own is not None and own.has_meter else 0.0
            if best is None or one.is_noticed > best.is_noticed or (one.is_noticed == best.is_noticed and (
                    rank > best_rank or (rank == best_rank and one.target == present))):
                best, best_rank = one, rank
        return -1 if best is None else best.target

    @cython.cfunc
    def own_row(self, row: KnownTarget, sensor_id: cython.longlong) -> KnownTarget:
        """Return a sensor's own row for the target of a row of its memory, which may be shared; None for none."""
        return row if row.key >> ID_BITS == sensor_id else self.percepts.get(sensor_id << ID_BITS | row.target)

    def update_watched(
        self, watched: list, sight: cython.Py_ssize_t, frame: cython.longlong, places: dict, find: object,
        is_current: cython.bint,
    ) -> tuple:
        """Bring watched targets up to date; see ``RegionalSenseManager.update_watched``.

        Args:
            is_current: whether positions of sources are of this frame.
        """
        awareness: cython.double
        one: WatchedTarget
        found: tuple
        changed: list = []
        aware: list = []
        awarenesses: list = []
        moved: list = []
        moved_to: list = []
        for one in watched:
            one.is_placed = is_current
            awareness = one.awareness
            if self.is_changed(one, sight) or (
                    one.has_choice and (frame + one.phase) // one.period % one.chooses_every == 0
                    and not (one.by_awareness
                             and self.first_target(one.sensor_id, one.target, None, 1.0) == one.target)):
                changed.append(one)
                continue
            if one.is_in_view and one.is_placed:
                found = places.get(one.target)
                if found is None:
                    found = places[one.target] = find(one)
                if found[0] is not one.place and found[0] != one.place:
                    if one.reader is None or found[0] is None:
                        changed.append(one)
                        continue
                    one.place, one.known_at = found[0], None
                    moved.append(one.reader)
                    moved_to.append(found[0])
                if found[1] is not one.character:
                    changed.append(one)
                    continue
            if one.awareness != awareness:
                if one.reader is None:
                    changed.append(one)
                else:
                    aware.append(one.reader)
                    awarenesses.append(one.awareness)
        return changed, aware, awarenesses, moved, moved_to

    @cython.cfunc
    def is_changed(self, one: WatchedTarget, sight: cython.Py_ssize_t) -> cython.bint:
        """Take over the present state; return whether more than the awareness, or the place in view, is new."""
        mind: Mind
        row: KnownTarget = one.row
        own: KnownTarget
        is_in_view: cython.bint
        level: cython.longlong
        if row is None or row.key != (one.sensor_id << ID_BITS | one.target) or row.mind.owner_id >= 0:
            mind, row = self.minds.get(one.sensor_id), None
            if mind is not None and one.target >= 0:
                row = self.percepts.get((one.sensor_id if mind.owner_id < 0 else mind.owner_id) << ID_BITS | one.target)
            one.row = row
        one.is_known = row is not None and row.is_known
        if not one.is_known:
            return True
        own = self.own_row(row, one.sensor_id)
        is_aware: cython.bint = own is not None and own.has_meter
        is_in_view = row.is_noticed and is_aware and own.shown_in(sight) > 0
        level = own.level if is_aware else 0
        if self.layout is not self.sources.layout:
            self.view_sources()
        slot: cython.Py_ssize_t = one.target & SLOT_MASK
        one.is_placed = one.is_placed and slot < self.places.shape[0] and (
            row.x == self.places[slot, 0] and row.y == self.places[slot, 1] and row.z == self.places[slot, 2])
        is_new: cython.bint = (
            one.is_new or row.is_noticed != one.is_noticed or is_in_view != one.is_in_view or level != one.level
            or (not (is_in_view and one.is_placed) and (one.x != row.x or one.y != row.y or one.z != row.z)))
        one.is_new, one.is_noticed, one.is_in_view, one.level = False, row.is_noticed, is_in_view, level
        one.awareness = own.value if is_aware else 0.0
        one.x, one.y, one.z = row.x, row.y, row.z
        return is_new

    # -- memories

    def settle(self, sensor_id: cython.longlong, now_s: cython.double) -> None:
        """Let time pass in a memory: its targets are lost, expire and are forgotten."""
        row: KnownTarget
        for row in self.known(sensor_id):
            row.let_pass(self.changes, sensor_id, now_s)

    def learn(self, sensor_id: cython.longlong, number: cython.Py_ssize_t, report, now_s: cython.double) -> None:
        """Note in a memory the ``TargetReport`` of another memory."""
        row: KnownTarget = self.row(sensor_id << ID_BITS | report.target)
        self.insert_new()
        if not row.is_known:
            row.begin(report.at_s)
        row.x, row.y, row.z = report.position
        row.vx, row.vy, row.vz = report.velocity
        row.known_at_s, row.last_sensed_s = report.at_s, max(row.last_sensed_s, report.at_s)
        row.note_sensed(number, report.strength, report.at_s)
        row.is_expired = False
        row.note(self.changes, sensor_id, "reported", now_s)

    # -- passes over many rows

    def hear(self, sensations: list, now_s: cython.double) -> None:
        """Take in each ``Sensation`` of a signal."""
        intensity: cython.double
        sensor_id: cython.longlong
        target: cython.longlong
        number: cython.Py_ssize_t
        mind: Mind
        row: KnownTarget
        for one in sensations:
            sensation: tuple = cython.cast(tuple, one)
            sensor_id, target, intensity = sensation[0], sensation[1], sensation[3]
            mind = self.minds.get(sensor_id)
            if mind is None:
                continue
            number = self.modalities.index(sensation[2])
            x, y, z = cython.cast(tuple, sensation[4])
            if mind.has_memory:
                row = self.row((sensor_id if mind.owner_id < 0 else mind.owner_id) << ID_BITS | target)
                row.remember(self.changes, sensor_id, number, intensity, x, y, z, sensation[5], now_s, False)
            if mind.has_awareness:
                row = self.row(sensor_id << ID_BITS | target)
                row.startle(self.levels_crossed, number, intensity, now_s)
        self.insert_new()

    def see(
        self, columns: tuple, number: cython.Py_ssize_t, is_seen: cython.bint, now_s: cython.double,
        report_every_s: cython.double, first: cython.Py_ssize_t, end: cython.Py_ssize_t,
    ) -> bool:
        """Take in the pairs of a modality that are in view; return whether anything is listed.

        Args:
            columns: ``PairsInView.columns``, or others like them; reported_at_s is overwritten.
            is_seen: whether it is a kind of sight.
            report_every_s: time between two reports of what stays in view (s).
            first, end: indices of pairs.

        Cost: O(pairs + rows of their sensors).
        """
        at: cython.Py_ssize_t
        index: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        key: cython.longlong
        sensor_id: cython.longlong
        target: cython.longlong
        mind: Mind
        row: KnownTarget
        own: KnownTarget
        x: cython.double
        y: cython.double
        z: cython.double
        rows: list = self.rows
        modality: str = self.modalities[number]
        if self.layout is not self.sources.layout:
            self.view_sources()
        if columns is not self.pair_columns:
            self.view_pairs(columns)
        if not 0 <= first <= end <= self.pair_keys.shape[0]:
            raise IndexError(f"there are no pairs {first} to {end}")
        at = self.place_of(self.pair_keys[first]) if first < end else 0
        for index in range(first, end):
            key = self.pair_keys[index]
            sensor_id, target = key >> ID_BITS, key & ID_MASK
            slot = target & SLOT_MASK
            if not self.pair_sensed[index] or slot >= self.ids.shape[0] or self.ids[slot] != target:
                continue
            own = None
            while at < len(rows):
                own = rows[at]
                if own.key >= key:
                    break
                at += 1
            if own is not None and own.key == key:
                mind = own.mind
            else:
                mind = self.minds.get(sensor_id)
                if mind is None:
                    continue
                if mind.has_awareness or (mind.has_memory and mind.owner_id < 0):
                    own = self.row(key)
            x, y, z = self.places[slot, 0], self.places[slot, 1], self.places[slot, 2]
            if mind.has_memory:
                row = own if mind.owner_id < 0 else self.row(mind.owner_id << ID_BITS | target)
                row.keep_in_view(
                    self.changes, sensor_id, number, self.pair_intensity[index], x, y, z, now_s, is_seen, self.looks)
            if mind.has_awareness:
                own.show(number, self.pair_intensity[index], self.looks, now_s)
            if is_due(now_s, self.pair_reported_s[index], report_every_s, sensor_id):
                self.pair_reported_s[index] = now_s
                self.sensations.append(tuple.__new__(Sensation, (
                    sensor_id, target, modality, self.pair_intensity[index], (x, y, z), now_s, now_s, "")))
        self.insert_new()
        return self.has_news()

    @cython.cfunc
    def has_news(self):
        return len(self.sensations) > 0 or len(self.changes) > 0 or len(self.levels_crossed) > 0

    @cython.cfunc
    def view_sources(self):
        places, ids = self.sources.position, self.sources.ids.by_slot
        if len(places) < len(ids) or places.shape[1] != 3:
            raise ValueError("positions of sources must have a row per id")
        self.places, self.ids, self.layout = memoryview(places), memoryview(ids), self.sources.layout

    @cython.cfunc
    def view_pairs(self, columns: tuple):
        keys, intensity, is_sensed, reported_at_s = columns
        if not len(keys) == len(intensity) == len(is_sensed) == len(reported_at_s):
            raise ValueError("the columns of pairs must be of one length")
        self.pair_columns = None
        self.pair_keys, self.pair_intensity = memoryview(keys), memoryview(intensity)
        self.pair_sensed, self.pair_reported_s = memoryview(is_sensed.view(np.uint8)), memoryview(reported_at_s)
        self.pair_columns = columns

    def advance(self, now_s: cython.double, first: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bool:
        """Let time pass in some rows, after ``see`` has taken in what is in view; return whether anything is listed.

        Cost: O(rows), 10 to 30 ns a row.
        """
        place: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        row: KnownTarget
        rows: list = self.rows
        if not 0 <= first <= end <= len(rows):
            raise IndexError(f"there are no rows {first} to {end}")
        if self.layout is not self.sources.layout:
            self.view_sources()
        for place in range(first, end):
            row = rows[place]
            if row.is_known and row.looked < self.looks:
                row.let_pass(self.changes, row.key >> ID_BITS, now_s)
                if row.mind.free_knowledge_s > 0 and row.is_known and (now_s <= row.seen_s + row.mind.free_knowledge_s):
                    slot = row.target & SLOT_MASK
                    if slot < self.ids.shape[0] and self.ids[slot] == row.target:
                        row.follow_freely(self.places[slot, 0], self.places[slot, 1], self.places[slot, 2], now_s)
            if row.has_meter:
                row.drift(now_s)
                row.cross(self.levels_crossed)
                row.take_look(self.looks)
                row.has_meter = row.value != 0 or row.visibility != 0
            if not (row.is_known or row.has_meter):
                self.has_ended = True
        return self.has_news()


def number_in(modalities: list, name: str) -> int:
    """Return the number of a modality; a new name is appended."""
    if name not in modalities:
        modalities.append(name)
    return modalities.index(name)


@cython.cfunc
@cython.exceptval(check=False)
def is_due(
    now_s: cython.double, told_s: cython.double, every_s: cython.double, sensor_id: cython.longlong,
) -> cython.bint:
    """Return whether what is in view is reported now: what is new at once, else each sensor in its turn.

    The golden section spreads the turns of any number of sensors evenly.
    """
    phase: cython.double
    if told_s == -INFINITY:
        return True
    if every_s <= 0:
        return True
    if now_s < told_s + every_s / 2:
        return False
    phase = (sensor_id * PHASE_STEP) % 1.0
    return floor(now_s / every_s - phase) > floor(told_s / every_s - phase)
