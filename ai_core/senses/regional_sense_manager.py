"""The regional sense manager: every signal reaches as far as its modality carries.

Three phases, as in the source: aggregation (which sensors are in reach), testing
(threshold, affiliation, cone, line of sight) and notification (on arrival).
Walls block sight. They muffle sounds and smells by the share that ``occlusion`` returns.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import (
    as_array,
    check_callables,
    check_kind,
    check_kinds,
    coordinates,
    finite_number,
    named,
    point,
    shown,
    whole_number,
)
from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import Change, ClockNow, DeclaredState, Hook, Inner, Part, Refuse, Same, Saveable
from ai_core.saving.fields import LATEST_S, refuse
from ai_core.saving.kinds import ByName, Number, Record, Seconds, Whole
from ai_core.senses.id_table import SLOT_MASK
from ai_core.senses.modality import ByModality, Modality, ModalitySet
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.percept_loops import KnownTarget, WatchedTarget
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.scent.scent_trails import ScentMark, ScentTrails, TrailSmelling
from ai_core.senses.sensation import LevelChange, MemoryChange, Sensation, SensationReceiver
from ai_core.senses.sense_reasons import FactorsBetween, SenseReasons
from ai_core.senses.sensor_table import LONGEST_PERIOD, SensorTable
from ai_core.senses.sight.camouflage import Background, Camouflage
from ai_core.senses.sight.continuous_sensing import NO_QUERY, ContinuousSensing, LineOfSight
from ai_core.senses.sight.pair_keys import ids_of, key_of
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.sight.visibility import Visibility
from ai_core.senses.source_table import (
    ALL_AFFILIATIONS,
    PLAIN,
    Clue,
    SourceDetails,
    SourceTable,
    VisiblePart,
    named_levels,
    visible_parts,
)
from ai_core.senses.stimuli.emitted_signals import MOST_AT_ONCE, EmittedSignals
from ai_core.senses.stimuli.muffling import Between, checked_shares
from ai_core.senses.table_state import SENSORS, SOURCES, without_clues
from ai_core.senses.turns import LEAST_US, Stage, Turns
from ai_core.trace import Trace, given_trace

__all__ = ["REPORT_EVERY_S", "RegionalSenseManager"]

MAXIMUM_RAYS = 256
"""Default of the most lines of sight per advance (count), about 0.1 ms of rays.

Higher values notice sooner and cost more in every frame; with p pairs in view a new
pair is queried after ceil(p / max_rays) advances at the latest.
"""

RAYS_AT_ONCE = 64
"""Lines of sight that are queried before the first check (count): 40 µs where caches are cold.

Each further piece is twice as large. More overrun a small budget, fewer pay for many calls.
"""

MOST_CLUES = 1024
"""Default of the most clues at a time (count). More show a longer past, and make every look more expensive."""

REPORT_EVERY_S = 0.25
"""Time between two reports of a source that stays in view (s).

Memory follows the source at every look; this only limits the callbacks.
"""

FEW_PAIRS = 1024
"""Pairs of sensor and source up to which looking and the first rays are one piece, without shares (count).

They take some 50 µs, and what the game needs for its rays. More overrun a small budget further; with fewer, small
scenes pay for shares without a need.
"""

NO_LIMIT = Budget.unlimited()
"""For work whose size is known to be small."""

SIGNALS, SIGHT, PERCEPTS = range(3)
"""Kinds of work that share the budget: see ``Turns``."""

RAYS = ("line_of_sight", "occlusion")
"""Callables of the game that may fail."""

TRAVEL = ByModality(Record(SimpleNamespace, range_m=Number(1e-9), kept_per_m=Number(0, 1)), at="_changed_modalities")
"""How the ranges and shares kept per metre of changed modalities are saved."""

WatchedPlace = tuple[Any, Any]
"""Place and character of a target in view, as its reader sees them."""

WatchedChanges = tuple[list[Any], list[Any], list[float], list[Any], list[Any]]
"""What changed of watched targets; see ``PerceptTable.update_watched``."""


class RegionalSenseManager(Saveable):
    """Reports to sensors the sources that they sense, in any modality.

    Sensations are reported in the order of arrival, ties by sensor id, then by order of emission. A signal begins in
    the advance after its emission with the sensors in reach then, and is measured at the sensor again when it arrives:
    a sensor that moves away hears it later and fainter, or not at all; a sensor that moves closer is notified at the
    time first computed. For slow signals the front is simulated instead. A signal emitted during an advance is
    delivered in the next advance at the earliest.

    Args:
        clock: game time.
        line_of_sight: called at most once per advance, or None: nothing blocks sight. Where it raises, nothing
            new is seen; after three times in a row it is quarantined, see ``release``.
        modalities: senses of this world; None for sight and hearing.
        max_rays: most lines of sight per advance, those of ``occlusion`` included; 1 or more.
        period_frames: see the property.
        report_every_s: see ``REPORT_EVERY_S`` (s); 0 reports every look.
        up: (3,) up direction for sight cones; (0, 0, 1) in a 2D world.
        occlusion: share of a sound or smell that passes the obstacles on a line, or None: all
            of it. Called with many lines at once, at most half of ``max_rays`` per advance.
            Remaining signals arrive later, or are dropped ``LATEST_S`` after they were due:
            ``arrivals_given_up``. Where it raises, signals pass unmuffled; it is quarantined likewise.
        background: what is behind visible targets, or None. With it, patterns and silhouettes
            count; it doubles the rays. Its faults are reported, and count, as those of ``line_of_sight``.
        camouflage: visibility of patterns in front of others, or None.
        scent_trails: marks left by sources that have a strength in its modality, smelled by
            sensors that have a threshold for it; None for no trails.
        max_clues: most clues at a time; 1 or more.
        audience: receives sensations in batches, in place of each sensor's ``on_sensed``; see ``SensationReceiver``.
        faults: where listeners that raise are reported; None logs them.
        trace: receives every sensation that a sensor receives.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or ``up`` is the zero vector.

    Source: 001_world_interfacing, regional sense manager.
    """

    SHOWN = ("sensor_names", "source_names")

    STATE = DeclaredState(
        now=ClockNow(at="clock.now"), modalities=Same(at="_modality_names"), turns=Inner(at="_turns"),
        rests_until=Whole(at="_rests_until"),
        rays_asked=Whole(at="_rays_asked"),
        failures=ByName(FAILURES_STATE, lambda owner: RAYS, at="_ray_failures"),
        sources=SOURCES, sensors=SENSORS,
        measured_at_s=Seconds(absent=-math.inf, at="_sources.measured_at_s"),
        percepts=Inner(at="_perception"), signals=Inner(at="_emitted"), looking=Inner(at="_continuous"),
        changed_modalities=TRAVEL, smelling=Hook())
    # Sensors and sources are matched by name, those of one name by the order of adding, and get their saved ids back;
    # those that are not in the save are kept, under new ids and without memories.

    def __init__(
        self, clock: Clock, *, line_of_sight: LineOfSight | None = None, modalities: Iterable[Modality] | None = None,
        max_rays: int = MAXIMUM_RAYS, period_frames: int = 1, report_every_s: float = REPORT_EVERY_S,
        up: Sequence[float] = (0.0, 1.0, 0.0), occlusion: Between | None = None, background: Background | None = None,
        camouflage: Camouflage | None = None, scent_trails: ScentTrails | None = None, max_clues: int = MOST_CLUES,
        audience: SensationReceiver | None = None, faults: FaultIsolation | None = None, trace: Trace | None = None,
    ) -> None:
        self.line_of_sight = line_of_sight
        self.max_rays = whole_number("max_rays", max_rays, minimum=1)
        self.clock, self._up = checked_clock(clock), _upward(up)
        check_kind("camouflage", camouflage, Camouflage)
        check_callables(line_of_sight=line_of_sight, occlusion=occlusion, background=background)
        if audience is not None and not callable(getattr(audience, "receive", None)):
            raise TypeError(f"audience must have a method receive, got {shown(audience)}; see SensationReceiver")
        self._modalities = ModalitySet((Modality.sight(), Modality.hearing()) if modalities is None else modalities)
        self.faults = given_faults(faults)
        self._sensors = SensorTable(self._modalities, self._up.tolist())
        self.period_frames = period_frames
        self._sources = SourceTable(self._modalities, camouflage, has_backdrops=bool(background))
        self._perception = Perception(
            clock, self._modalities, self._sources, given_trace(trace),
            finite_number("report_every_s", report_every_s, minimum=0), audience, self.faults,
            self._sensors)
        self._continuous = ContinuousSensing(self._modalities, self._sensors, self._sources)
        self._visibility = Visibility(self._modalities, self._sensors, self._sources, background)
        self._emitted = EmittedSignals(self._modalities, self._sensors, self._sources, self._kept, occlusion)
        self._max_clues = whole_number("max_clues", max_clues, minimum=1)
        check_kind("scent_trails", scent_trails, ScentTrails)
        self._smelling = None if scent_trails is None else TrailSmelling(
            scent_trails, self._modalities, self._sensors, self._sources, self._perception)
        self._rays_asked, self._is_advancing = 0, False
        self._placed_in = -1        # frame of the last advance
        self._turns = self._made_turns()

    @property
    def period_frames(self) -> int:
        """Frames of the clock from one look of all sensors to the next (count), 1 to ``LONGEST_PERIOD``.

        Sounds and other signals arrive in every frame; sensors see, and memory and awareness advance, in a look.
        An advance without a look in which no signal is under way does nothing: see ``is_idle``.
        """
        return self._sensors.period

    @period_frames.setter
    def period_frames(self, period_frames: int) -> None:
        self._sensors.period = whole_number("period_frames", period_frames, minimum=1, maximum=LONGEST_PERIOD)
        self._rests_until = 0

    @property
    def occlusion(self) -> Between | None:
        """What returns the share of sounds and smells that passes obstacles; may be set at any time."""
        return self._emitted.occlusion

    @occlusion.setter
    def occlusion(self, occlusion: Between | None) -> None:
        check_callables(occlusion=occlusion)
        self._emitted.occlusion = occlusion

    @property
    def is_idle(self) -> bool:
        """Whether an advance would do nothing, so that an engine need neither write positions nor call it."""
        return self.clock.now.frame < self._rests_until and not self._emitted.has_work

    # Sensors.

    def add_sensor(
        self, *, position: ArrayLike, forward: ArrayLike, thresholds: Mapping[str, float],
        sight_cones: Sequence[SightCone] = (), detection_mask: int = ALL_AFFILIATIONS, self_source: int | None = None,
        memory: SenseMemory | None = None, awareness: AwarenessSettings | None = None, name: str = "",
        on_sensed: Callable[[Sensation], object] | None = None,
        on_gained: Callable[[MemoryChange], object] | None = None,
        on_lost: Callable[[MemoryChange], object] | None = None,
        on_forgotten: Callable[[MemoryChange], object] | None = None,
        on_awareness_changed: Callable[[LevelChange], object] | None = None,
        on_expired: Callable[[MemoryChange], object] | None = None,
        on_reported: Callable[[MemoryChange], object] | None = None,
    ) -> int:
        """Add a sensor, and return its id.

        Args:
            position: where its ears and eyes are (m), 3 or 2 coordinates.
            forward: viewing direction, any length but 0.
            thresholds: weakest intensity that it senses, by modality; it lacks the senses that are not listed.
            sight_cones: the first cone that contains a target counts.
            detection_mask: affiliations that it senses, as bits.
            self_source: id of its own source, which it never senses.
            memory: its memory, which sensors of one manager may share, or None for no memory.
            awareness: settings of its awareness of targets, or None.
            name: identifies it when a save is loaded; sensors without a name are matched in the
                order in which they were added.
            on_sensed: called with each sensation; for a target that stays in view only every ``report_every_s``.
            on_gained, on_lost, on_expired, on_forgotten: called when its memory changes.
            on_awareness_changed: called when the level of a target changes.
            on_reported: called when it learns of a target from a report.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; then nothing is added.
            UnknownNameError: if a modality is unknown.
        """
        check_kinds(memory=(memory, SenseMemory), awareness=(awareness, AwarenessSettings))
        self._perception.check_memory(memory)
        given = {
            "on_sensed": on_sensed, "on_gained": on_gained, "on_lost": on_lost, "on_forgotten": on_forgotten,
            "on_awareness_changed": on_awareness_changed, "on_expired": on_expired, "on_reported": on_reported}
        listeners = {name: one for name, one in given.items() if one is not None}
        check_callables(**listeners)
        new = self._sensors.add(position, forward, thresholds, sight_cones, detection_mask, self_source, name)
        self._perception.add(new, listeners, memory, awareness)
        self._rests_until = 0
        return new

    def change_sensor(
        self, sensor_id: int, *, thresholds: Mapping[str, float] | None = None,
        sight_cones: Sequence[SightCone] | None = None, detection_mask: int | None = None,
        self_source: int | None = None, name: str | None = None,
    ) -> None:
        """Replace the settings that are not None; ``self_source`` -1 for none.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_sensor``; then nothing is changed.
        """
        if name is not None:
            self._sensors.ids.check_name(name)
        self._sensors.change(sensor_id, thresholds, sight_cones, detection_mask, self_source)
        if name is not None:
            self._sensors.ids.rename(sensor_id, name)

    def remove_sensor(self, sensor_id: int) -> None:
        """Remove a sensor; signals on their way to it are dropped.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sensors.remove(sensor_id)
        self._perception.remove(int(sensor_id))

    def move_sensors(self, ids: ArrayLike, positions: ArrayLike, forwards: ArrayLike | None = None) -> None:
        """Set the positions of many sensors; once per frame.

        Args:
            ids: shape (n,); of an id that occurs twice the last position counts.
            positions: shape (n, 3), or in a 2D world, whose ``up`` is (0, 0, 1), (n, 2) (m).
            forwards: as positions, any length but 0; None keeps them.

        Raises:
            TypeError, ValueError: if an array has another shape or type; then nothing moves.
            UnknownNameError: if an id is not in use; then nothing moves.

        Cost: O(n) in NumPy.
        """
        self._check_columns(positions=positions, forwards=forwards)
        self._sensors.move(ids, positions, forwards)

    def arrays_to_write(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return positions (m) and directions of sensors, and positions of sources, for an engine that writes them.

        Each has shape (rows, 3); ``row_of`` returns the row of an id. Write finite numbers, and directions of
        unit length, which are not checked. Ask again in every frame: arrays are replaced as they grow.

        Cost: O(1).
        """
        return self._sensors.position, self._sensors.forward, self._sources.position

    @staticmethod
    def row_of(known_id: int) -> int:
        """Return the row of a sensor or source in ``arrays_to_write``."""
        return known_id & SLOT_MASK

    def set_importance(
        self, sensor_ids: ArrayLike, importances: ArrayLike, source_ids: ArrayLike | None = None
    ) -> None:
        """Set which sensors, or which pairs, come first when there are too few rays for all.

        A pair of importance 1 is queried as if it had waited 8 passes longer, and no longer: an
        important target is noticed sooner, and no pair is left out. A pair has the importance of
        its sensor or its own, whichever is higher; 0, the default, is the least.

        Args:
            sensor_ids: shape (n,).
            importances: shape (n,), 0 to 1.
            source_ids: shape (n,), the target of each pair; None for all targets of each sensor.

        Raises:
            TypeError, ValueError: if an array has another shape or type; then nothing changes.
            UnknownNameError: if an id is not in use; then nothing changes.

        Cost: O(n).
        """
        self._continuous.turns.set_importance(sensor_ids, importances, source_ids)

    def set_sensitivity(
        self, sensor_id: int, modality_name: str, sensitivity: float, *, for_s: float | None = None
    ) -> None:
        """Change the sensitivity of a sense: deafened by a blast, alert in the dark.

        Args:
            sensor_id: the sensor.
            modality_name: the modality.
            sensitivity: factor on every intensity in it; 1 is the default, 0 senses nothing.
            for_s: duration (s), above 0; None for permanent. The last call counts.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid; then nothing is changed.
        """
        until_s, now_s = None, self.clock.now.seconds
        if for_s is not None:
            until_s = now_s + finite_number("for_s", for_s, above=0, maximum=LATEST_S - now_s)
        self._sensors.put_sensitivity(sensor_id, self._modalities.number(modality_name), sensitivity, until_s)

    # Sources.

    def add_source(
        self, *, position: ArrayLike, strengths: Mapping[str, float], affiliation: int = 1,
        name: str = "", light: float = 1.0, size: float = 1.0, pattern: str = "", tag: str = "",
        actions: Mapping[str, float] | None = None, parts: Sequence[VisiblePart] = (), gives_light: bool = False,
        lasts_s: float | None = None, about: int = -1,
    ) -> int:
        """Add a source, which sensors can sense, and return its id.

        A source that lasts for a time is a clue: an invisible marker, such as blood or a footprint. If there are too
        many clues, the one that expires first is removed.

        Args:
            position: where it is (m), 3 or 2 coordinates.
            strengths: strength by modality. In continuous modalities it is sensed all the time;
                in emitted ones it is the default strength of ``emit``.
            affiliation: groups that it belongs to, as bits.
            name: identifies it when a save is loaded; sources without a name are matched in the
                order in which they were added.
            light: how brightly it is lit, 0 or more; strengths that need light are multiplied by it.
            size: it is seen as if it were this many times nearer, and so in every continuous modality, 0.001 to
                1e6; emitted signals, such as sounds, do not depend on it.
            pattern: its camouflage pattern, a name of ``camouflage``.
            tag: kind of source, for listeners.
            actions: strength of the signal of each of its actions, for ``act``.
            parts: points that lines of sight are traced to; empty for its position.
            gives_light: whether it emits light: in a sense graph it is then visible through two portals, not one.
            lasts_s: time after which it is removed (s), above 0; None for never.
            about: of a clue, id of the source that left it; -1 for none.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; then nothing is added.
            UnknownNameError: if a modality, pattern or ``about`` is unknown.

        Source: 003_designing_ai_for_games, temporary objects.
        """
        details = PLAIN
        if tag != "" or actions or parts or gives_light is not False:
            details = SourceDetails(
                tag, {} if actions is None else named_levels(actions), visible_parts(parts), gives_light=gives_light)
        if lasts_s is not None:
            now_s = self.clock.now.seconds
            until_s = now_s + finite_number("lasts_s", lasts_s, above=0, maximum=LATEST_S - now_s)
            if about != -1:
                self._sources.ids.slot(about)
            details = replace(details, clue=Clue(int(about), now_s, until_s))
        elif about != -1:
            raise ValueError(f"about must be -1 for a source that is no clue, got {about}; pass lasts_s")
        new = self._sources.add(
            position, strengths, affiliation, name, light=light, size=size, pattern=pattern, details=details)
        if lasts_s is not None:
            self._sources.add_clue(new, until_s, self._max_clues)
        return new

    def change_source(
        self, source_id: int, *, strengths: Mapping[str, float] | None = None, affiliation: int | None = None,
        light: float | None = None, size: float | None = None, pattern: str | None = None, tag: str | None = None,
        actions: Mapping[str, float] | None = None, parts: Sequence[VisiblePart] | None = None,
        gives_light: bool | None = None, name: str | None = None,
    ) -> None:
        """Replace the settings that are not None.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_source``; then nothing is changed.
        """
        if name is not None:
            self._sources.ids.check_name(name)
        self._sources.change(
            source_id, strengths, affiliation, light=light, size=size, pattern=pattern,
            tag=tag, actions=actions, parts=parts, gives_light=gives_light)
        if name is not None:
            self._sources.ids.rename(source_id, name)

    def remove_source(self, source_id: int) -> None:
        """Remove a source; signals that it emitted travel on, and memories of it remain.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sources.remove(source_id)

    def move_sources(self, ids: ArrayLike, positions: ArrayLike) -> None:
        """Set the positions of many sources; as ``move_sensors``."""
        self._check_columns(positions=positions)
        self._sources.move(ids, positions)

    def light_sources(self, ids: ArrayLike, light: ArrayLike) -> None:
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

    def clue_of(self, source_id: int) -> Clue | None:
        """Return the data of a clue; None for an expired clue, and for any other source.

        Raises:
            UnknownNameError: if no source ever had this id.
        """
        return None if self._sources.ids.was_removed(source_id) else self._sources.details_of(source_id).clue

    # The world.

    def emit(
        self, source_id: int, modality_name: str, strength: float | None = None, position: ArrayLike | None = None, *,
        tag: str | None = None, channel: str = "",
    ) -> None:
        """Send a signal that travels and is sensed once, such as a sound.

        Args:
            source_id: the source that emits it.
            modality_name: an emitted modality.
            strength: at its origin, 0 or more; None for the strength of the source.
            position: its origin (m); None for the position of the source.
            tag: kind of signal, for listeners; None for the tag of the source.
            channel: of the signals of a source on the same channel that reach a sensor in an
                advance, only the last is reported; "" for none.

        Raises:
            TypeError: if a number, string or position is of another type.
            ValueError: if a value is out of range, the modality is continuous, or the source has no strength in it.
            UnknownNameError: if the source or the modality is unknown.

        Cost: O(1) here. Signals emitted while no sensor moves are offered
            together: O(sensors) for each, below 1 ns for a sensor far away.
        """
        self._emitted.emit(source_id, modality_name, strength, position, tag, channel, self.clock.now.seconds)

    def act(
        self, source_id: int, action: str, modality_name: str = "hearing", position: ArrayLike | None = None
    ) -> None:
        """Emit the signal of an action with the strength that the source has for it.

        The action is the tag and the channel of the signal: footsteps replace footsteps.

        Raises:
            UnknownNameError: if the source, its action or the modality is unknown.
            TypeError, ValueError: as ``emit``.
        """
        level = named("action", action, self._sources.details_of(source_id).actions)
        self.emit(source_id, modality_name, level, position, tag=action, channel=action)

    def touch(
        self, sensor_id: int, source_id: int, modality_name: str = "touch", strength: float = 1.0,
        position: ArrayLike | None = None, *, tag: str | None = None,
    ) -> None:
        """Deliver a collision, hit or damage to one sensor.

        The signal takes the normal signal path: threshold, affiliation and memory count, and it
        is delivered in the next advance. Any modality is allowed.

        Args:
            sensor_id: the sensor that is hit.
            source_id: the cause.
            modality_name: modality of the signal.
            strength: how strong it is, 0 or more.
            position: where it happened (m); None for the position of the source.
            tag: kind of signal: "collision", "damage"; None for the tag of the source.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid.
        """
        self._emitted.touch(sensor_id, source_id, modality_name, strength, position, tag, self.clock.now.seconds)

    def set_wind(self, velocity: ArrayLike) -> None:
        """Set the wind: slow signals, such as smells, drift with it.

        Args:
            velocity: direction and speed (m/s), 3 or 2 coordinates.

        Raises:
            TypeError, ValueError: if it is not a velocity.
        """
        self._emitted.wind.set(velocity, self.clock.now.seconds)

    def add_noise(self, modality_name: str, level: float, position: ArrayLike | None = None) -> int:
        """Add a background noise, which masks signals that are weaker than it at the sensor.

        Args:
            modality_name: an emitted modality.
            level: at its origin, or everywhere; 0 or more.
            position: its origin (m), from which it weakens on a straight line, whatever stands between, also in a
                sense graph; None for everywhere.

        Returns:
            An id for ``remove_noise``.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid.

        Cost: O(noises) for each signal at a sensor.
        """
        return self._emitted.noise.add(modality_name, level, position)

    def remove_noise(self, noise_id: int) -> None:
        """Remove a background noise.

        Raises:
            UnknownNameError: if no noise has this id.
        """
        self._emitted.noise.remove(noise_id)

    def change_modality(self, name: str, *, range_m: float | None = None, kept_per_m: float | None = None) -> None:
        """Change how signals of a modality travel from now on: fog, haze, rain, clear air.

        Args:
            name: name of the modality.
            range_m: its range (m), or None to keep it.
            kept_per_m: share kept per metre, or None to keep it.

        Raises:
            TypeError, ValueError: as ``Modality``; then nothing is changed.
            UnknownNameError: if the modality is unknown.
        """
        number = self._modalities.number(name)
        before = self._modalities[number]
        changed = replace(
            before, range_m=before.range_m if range_m is None else range_m,
            kept_per_m=before.kept_per_m if kept_per_m is None else kept_per_m)
        self._modalities.replace(number, changed)

    def advance(self, budget: Budget) -> None:
        """Deliver due signals, update sight, and advance memory and awareness.

        Three kinds of work share a budget of time: signals; sight and touch; and one pass over memory and awareness,
        of some 50 ns a percept, which notifies listeners. Work in which the budget ends continues in the next
        advance, and work for which there was no room comes first there, with at least 50 µs: see ``Turns``. Other
        budgets do not end the pass: signals and sight share them. A step is a signal at a sensor, the front of a slow
        signal, a looking sensor, a ray, or a sensor that smells. The overrun is at most one block of sensors, 64 to
        512 rays, 16 arrivals, or a listener; without signals, up to ``FEW_PAIRS`` pairs, 1,024, are a block, and one
        piece with the first rays.

        With a ``period_frames`` above 1, sensors look, and memory and awareness advance, in one of so many frames.

        Signals that are emitted faster than the budget lets them be delivered are merged, those of one
        source and channel (without a channel: of one tag) at one sensor; what is due more than
        ``LATEST_S``, 2 s, too late is dropped. The log warns of both once, ``statistics`` counts them.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called from a listener.
        """
        if not isinstance(budget, Budget):
            check_budget(budget)  # type: ignore[unreachable]
        if self._is_advancing:
            raise RuntimeError("advance is already running; a listener must not call it")
        self._rays_asked = 0
        if self._rests_until and self.is_idle:
            return
        self._is_advancing = True
        emitted, sight, now = self._emitted, self._continuous, self.clock.now
        try:
            if self._sensors.until_s:
                self._sensors.recover(now.seconds)
            if self._sources.clues:
                self._sources.expire_clues(now.seconds)
            self._sensors.turn, self._placed_in = now.frame // self._sensors.period, now.frame
            if self._sources.counts_motion:
                self._sources.measure_motion(now.seconds)
            self._rests_until = 0
            has_signals = emitted.sent != emitted.quiet_at or bool(self._perception.heard) or (
                self._smelling is not None)
            if has_signals:
                emitted.sent_before, emitted.rays_left = emitted.sent, max(1, self.max_rays // 2)
            limit = None if budget.is_unlimited or budget.charges_runs else budget      # one of time
            is_few = limit is not None and not has_signals and not sight.is_looking and (
                not self._turns.is_interrupted) and (
                len(self._sensors.ids.names) * len(self._sources.ids.names) <= FEW_PAIRS)
            if is_few or budget.is_unlimited:
                undone = self._advance_whole(budget, limit, now.seconds, has_signals)
            else:
                busy = (SIGNALS, SIGHT) if limit is None else (SIGNALS, SIGHT, PERCEPTS)
                undone = self._turns.advance(budget, now.seconds, busy[not has_signals:])
                if limit is None and not self._perceive(None, now.seconds):
                    undone.append(PERCEPTS)
            if undone or sight.ages.is_late:
                sight.ages.note_round(now.seconds, is_done=PERCEPTS not in undone)
                if SIGHT in undone:
                    sight.ages.note_interrupted()
            if self._sensors.period > 1 and not undone:
                self._rests_until = self._next_frame()
        finally:
            self._is_advancing = False

    def _advance_whole(self, budget: Budget, limit: Budget | None, now_s: float, has_signals: bool) -> list[int]:
        """Run all work in order, without turns; return the kinds that the budget ended."""
        sight, turns = self._continuous, self._turns
        for stage in turns.kinds[SIGNALS] if has_signals else ():
            stage(budget, now_s)
        sight.look(budget if limit is None else NO_LIMIT, now_s)
        undone: list[int] = []
        if sight.pairs_needing_rays:
            part = budget if limit is None else NO_LIMIT if sight.pairs_needing_rays <= RAYS_AT_ONCE else (
                limit.part_of_at_least(LEAST_US))
            if not self._ask(part, now_s):
                undone.append(SIGHT)
        if limit is not None and limit.is_spent:
            turns.owe(PERCEPTS, SIGHT)
            undone.append(PERCEPTS)
        elif not self._perceive(limit, now_s):
            undone.append(PERCEPTS)
        return undone

    def _next_frame(self) -> int:
        """Return until which frame there is nothing to do unless a signal comes; 0 if something is left to do."""
        sight, percepts = self._continuous, self._perception
        is_at_rest = percepts.is_at_rest and not sight.is_looking and not self._turns.is_interrupted and (
            not sight.pairs or sight.looked_in == percepts.looked_in)
        if not is_at_rest or self._smelling is not None or sight.pairs_needing_rays > self.max_rays:
            return 0
        return (percepts.looked_in + 1) * self._sensors.period

    def release(self, sensor_id: int | None = None) -> None:
        """Release from quarantine: the listeners of a sensor, the rays, or the audience.

        Args:
            sensor_id: sensor whose listeners are released; None for ``line_of_sight``, ``occlusion`` and ``audience``.
        """
        if sensor_id is None:
            self.faults.release(self._perception.audience_key)
            self.faults.release((self, "line_of_sight"))
            self.faults.release((self, "occlusion"))
        else:
            self._perception.release(self._known_sensor(sensor_id))

    # Queries.

    def memory_of(self, sensor_id: int) -> SenseMemory | None:
        """Return a sensor's memory, or None if it has none."""
        return self._perception.memory_of(self._known_sensor(sensor_id))

    def awareness_of(self, sensor_id: int, target: int) -> KnownTarget | None:
        """Return what a sensor is aware of about a target, which may have been removed; None if it is not aware of it.

        Its ``value`` is the awareness, ``level_name`` its level, and ``why()`` tells the reasons.

        Raises:
            UnknownNameError: if the sensor is unknown, or no source ever had the id and the sensor knows of none.
        """
        memory = self.memory_of(sensor_id)
        if memory is None or memory.find(target) is None:       # known by a report, or by a save of another level
            self._sources.ids.check_used(target)
        return self._perception.awareness_of(int(sensor_id), target)

    def first_target(
        self, sensor_id: int, *, present: int = -1, here: tuple[float, ...] | None = None, nearer: float = 1.0,
    ) -> int:
        """Return the target that a sensor remembers and is most aware of, or the nearest; -1 for none.

        Targets that are not lost precede; of equal ones the present one, then the one with the smallest id.

        Args:
            sensor_id: the sensor, with memory and awareness.
            present: the present target; -1 for none.
            here: position from which distances count (m); None for the awareness.
            nearer: share of its distance that counts for the present target, 0 to 1.

        Raises:
            TypeError, ValueError: if an argument has the wrong type, or is out of range.
            UnknownNameError: if the sensor is unknown.

        Cost: O(log percepts + targets of the sensor), some 1 µs for a few.
        """
        sensor_id = self._known_sensor(sensor_id)
        present = whole_number("present", present, minimum=-1)
        here = None if here is None else coordinates("here", here)
        nearer = finite_number("nearer", nearer, minimum=0, maximum=1)
        found: int = self._perception.table.first_target(sensor_id, present, here, nearer)
        return found

    def update_watched(
        self, watched: list[WatchedTarget], places: dict[int, WatchedPlace],
        find: Callable[[Any], WatchedPlace], modality_name: str = "sight",
    ) -> WatchedChanges:
        """Bring watched targets up to date, for readers of many in each frame.

        Args:
            watched: the targets; unknown sensors and targets are listed as changed, and not known.
            places: (place, character) of targets in view, by id, as the reader sees them; found ones are added. Where a
                budget leaves a target out of this frame, it is listed as changed if it was seen elsewhere since.
            find: called with one of them, returns (place, character) of its target.
            modality_name: the modality that decides whether a target is in view.

        Returns:
            (changed, aware, awareness, moved, places): the watched that changed otherwise; the readers of those of
            which only the awareness changed, with it; and of those whose target in view moved, with its place.

        Cost: O(watched), some 1 µs each at 60 frames a second, with ``find`` for each target.
        """
        frame = self.clock.now.frame
        changes: WatchedChanges = self._perception.table.update_watched(
            watched, self._modalities.number(modality_name), frame, places, find,
            self._placed_in == frame or self.is_idle)
        return changes

    def last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return the newest sensation of a sensor, also if it has no listener.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        return self._perception.last_sensation(self._known_sensor(sensor_id))

    def sensed_by(self, sensor_id: int, modality_name: str = "sight") -> list[int]:
        """Return the ids of the sources that a sensor senses now in a continuous modality, ascending."""
        self._known_sensor(sensor_id)
        pairs = self._continuous.pairs.get(self._modalities.number(modality_name))
        if pairs is None:
            raise ValueError(
                f"modality_name must be a continuous modality, got {shown(modality_name)};"
                " an emitted signal is sensed once: look it up in memory_of"
            )
        _, found = ids_of(pairs.keys[pairs.sensed_by(sensor_id)])
        known: list[int] = found[self._sources.ids.are_known(found)].tolist()
        return known

    def seen_parts(self, sensor_id: int, source_id: int, modality_name: str = "sight") -> tuple[str, ...]:
        """Return the names of the parts of a source that a sensor saw at its last line of sight query.

        None for a source without parts, or one that is not seen.

        Raises:
            UnknownNameError: if an id or the modality is unknown.
        """
        if source_id not in self.sensed_by(sensor_id, modality_name):
            self._sources.ids.slot(source_id)
            return ()
        number = self._modalities.number(modality_name)
        view = self._continuous.pairs[number].views.get(key_of(sensor_id, source_id))
        return () if view is None else self._visibility.names_of(source_id, view[1])

    def why(self, sensor_id: int, target: int) -> SenseReasons:
        """Return why a sensor senses a target as it does, or does not; for tools and for hints.

        Args:
            sensor_id: the sensor.
            target: id of a source, which may have been removed.

        Raises:
            UnknownNameError: if the sensor is unknown, or no source ever had the id.

        Cost: that of a signal of each emitted modality, outside any budget. No line of sight is queried; ``occlusion``
            is, for what muffled modalities carry here.
        """
        self._known_sensor(sensor_id)
        self._sources.ids.check_used(target)
        factors = {}
        if self._sources.ids.knows(target):
            between = FactorsBetween(
                self._modalities, self._sensors, self._sources, self._continuous, self._emitted,
                self.clock.now.frame, self._visibility.names_of)
            factors = {
                self._modalities[number].name: between.of(number, sensor_id, target)
                for number in range(len(self._modalities))
            }
        meter = self._perception.awareness_of(int(sensor_id), int(target))
        return SenseReasons(int(sensor_id), int(target), factors, None if meter is None else meter.why())

    def track(self, sensor_id: int, scent: int | None = None) -> ScentMark | None:
        """Return the newest mark of a scent trail that a sensor smells at its position.

        Moving to the mark and calling this again follows the trail to the source that left it. The ``detection_mask``
        counts as it does for signals, with the affiliation that the source had there.

        Args:
            sensor_id: the sensor.
            scent: id of the source to track; None for any source but its own.

        Raises:
            UnknownNameError: if the sensor is unknown.
            RuntimeError: if the manager was made without ``scent_trails``.
        """
        slot = self._sensors.ids.slot(sensor_id)
        if self._smelling is None:
            raise RuntimeError("the sense manager has no scent trails; pass scent_trails to its constructor")
        return self._smelling.track(slot, scent, self.clock.now.seconds)

    def statistics(self) -> dict[str, float]:
        """Return counts, and how well the rays keep up with the pairs in view, by name.

        - ``sensors``, ``sources``, ``clues``, ``arrivals_under_way``, ``waves_spreading``,
          ``scent_marks``, ``pairs_in_view`` (which take turns for a ray): current counts.
        - ``arrivals_given_up``: total of signals at sensors that were dropped because occlusion
          had no ray for them in time; a higher ``max_rays`` prevents that.
        - ``stimuli_waiting``: signals that have not begun: new ones, and those that wait for the budget.
        - ``stimuli_merged``, ``stimuli_dropped``: totals of signals, and of signals at sensors, that merged
          with an earlier one of their source and channel because it had waited, or were dropped because
          they came too late; a larger budget prevents that.
        - ``rays_asked``: rays of the last advance, those of the background included.
        - ``passes``: completed passes over all pairs; one per advance while the budget suffices.
        - ``oldest_query_passes``, ``oldest_query_s``: how long the pair with the longest wait has
          waited by now; the seconds at most those of the last 1,000 passes.
        - ``longest_wait_passes``, ``longest_wait_s``: the longest wait of any pair so far.
        - ``advances_until_all_are_asked``: the current upper bound on the wait, in passes.
        - ``noticed_within_s``: the same in seconds, at the pace of the slowest of the last passes: a sensor notices a
          target in view that is not hidden, and its listeners are notified, within this time.
        """
        continuous = self._continuous
        pairs_at_once = max(1, self.max_rays // self._visibility.most_rays_per_pair)
        bound = continuous.passes_until_noticed(continuous.ages.fewest(pairs_at_once))
        now_s, ages, oldest = self.clock.now.seconds, continuous.ages, continuous.oldest_moment
        slowest_pass_s = max(ages.slowest_pass_s, ages.age_s(ages.new, now_s))      # or the one under way
        # Interrupted, a pass may have come by a sensor just before a target comes into its view.
        passes = bound + ages.was_interrupted
        return {
            "sensors": len(self._sensors.ids), "sources": len(self._sources.ids), "clues": len(self._sources.clues),
            **self._emitted.statistics(), "scent_marks": 0 if self._smelling is None else len(self._smelling.trails),
            "pairs_in_view": continuous.pairs_needing_rays, "rays_asked": self._rays_asked,
            "passes": continuous.ages.passes, "oldest_query_passes": 0 if oldest is None else ages.age_passes(oldest),
            "oldest_query_s": 0.0 if oldest is None else ages.age_s(oldest, now_s),
            "longest_wait_passes": continuous.ages.longest_wait_passes,
            "longest_wait_s": continuous.ages.longest_wait_s, "advances_until_all_are_asked": bound,
            "noticed_within_s": passes * slowest_pass_s + ages.notice_s(now_s)}

    # State.

    @property
    def sensor_names(self) -> Mapping[int, str]:
        """Names of sensors by id, in the order of adding; loading may change the ids."""
        return self._sensors.ids.names

    @property
    def source_names(self) -> Mapping[int, str]:
        """Names of sources by id, as ``sensor_names``; without clues, which loading makes itself."""
        return without_clues(self._sources.ids.names, self._sources.details)

    @property
    def new_ids(self) -> tuple[Mapping[int, int], Mapping[int, int]]:
        """Ids of sensors, and of sources, since the last load, by those before it; without clues."""
        return self._sensors.new_ids, self._sources.new_ids

    def forget_all(self) -> None:
        """Clear all memories and meters, for a clock that was set back without the senses."""
        self._rests_until = 0
        for sensor_id in self.sensor_names:
            self._perception.forget_all(sensor_id)

    @property
    def _changed_modalities(self) -> dict[int, Modality]:
        pairs = zip(self._modalities.at_first, self._modalities.all, strict=True)
        return {number: now for number, (first, now) in enumerate(pairs) if now != first}

    @_changed_modalities.setter
    def _changed_modalities(self, travel: Mapping[int, Modality]) -> None:
        for number, one in {**dict(enumerate(self._modalities.at_first)), **travel}.items():
            self.change_modality(self._modalities[number].name, range_m=one.range_m, kept_per_m=one.kept_per_m)

    def _save_smelling(self) -> object:
        return None if self._smelling is None else self._smelling.save_state()

    def _prepare_smelling(self, plain: object, place: str) -> Change:
        if (self._smelling is None) != (plain is None):
            refuse(place, "must be saved if, and only if, the sense manager has scent_trails")
        return int if self._smelling is None else Part().prepare(self._smelling, plain, place)

    @property
    def _ray_failures(self) -> list[Failures]:
        return [self.faults.failures_of((self, name)) for name in RAYS]

    @_ray_failures.setter
    def _ray_failures(self, failures: list[Failures]) -> None:
        for name, one in zip(RAYS, failures, strict=True):
            self.faults.put_failures((self, name), one)

    @property
    def _modality_names(self) -> list[str]:
        return [one.name for one in self._modalities.all]

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        period, sensors = self.period_frames, values.sensors
        has_others = len(sensors.ids) > len(sensors.saved_ids)      # which look in the next frame
        if has_others or values.rests_until > (values.now.frame // period + 1) * period:
            values.rests_until = 0

    def _finish_load(self) -> None:
        self._sources.collect_clues()

    def _check_at_rest(self) -> None:
        if self._is_advancing:
            raise RuntimeError("a listener is being called; save and load between two frames")

    # Stages.

    def _made_turns(self) -> Turns:
        return Turns(self._signal_stages(), (self._continuous.look, self._ask), (self._perceive,))

    def _signal_stages(self) -> tuple[Stage, ...]:
        return (self._signal,) if self._smelling is None else (self._signal, self._smelling.advance)

    def _signal(self, budget: Budget, now_s: float) -> bool:
        """Deliver signals to sensors; the rays for what muffles them are at most half of all."""
        emitted, perception = self._emitted, self._perception
        if perception.heard and not perception.notify_heard(budget):
            return False
        rays = emitted.rays_left
        is_done = emitted.advance(budget, now_s, perception.hear)
        self._rays_asked += rays - emitted.rays_left
        return is_done

    def _perceive(self, budget: Budget | None, now_s: float) -> bool:
        """Continue the pass over percepts, within a budget of time."""
        if self._continuous.found_at_s != now_s:
            self._continuous.drop_distant()
        return self._perception.advance(self._continuous.pairs, budget)

    def _ask(self, budget: Budget, now_s: float) -> bool:
        """Query the lines of sight of the pairs whose turn it is; return False if the budget was spent before."""
        continuous, rays = self._continuous, self.line_of_sight
        if not continuous.pairs_needing_rays:
            return True
        is_plain = self._visibility.is_plain
        if rays is None and is_plain:
            continuous.see_all()
            return True
        if self.faults.has_quarantined and self.faults.is_quarantined((self, "line_of_sight")):
            return True
        is_unlimited = budget.is_unlimited
        if not is_unlimited and budget.is_spent:
            return False
        # Signals had theirs first, or have half of the rays at most.
        waiting = min(self._emitted.lines_waiting, self.max_rays // 2)
        left = max(1, self.max_rays - max(self._rays_asked, waiting))
        at_once, asked = self.max_rays if is_unlimited else RAYS_AT_ONCE, 0
        question = continuous.next_question(left, unordered=at_once if is_plain else 0)
        wanted = len(question.row)
        if not is_plain:
            question, _ = self._visibility.affordable(question, left)
        if left < self.max_rays and (len(question.row) < wanted or wanted == left):
            continuous.ages.note_cut_short(len(question.row))
        while count := len(question.row):
            if asked and budget.is_spent:
                break
            part, rest = question, NO_QUERY
            if not is_plain or count > at_once:
                part, count = self._visibility.affordable(question, at_once)
                rest = question.part(len(part.row), len(question.row))
            self._rays_asked += count
            budget.spend(count)
            try:
                continuous.ask(
                    part, rays if rays is not None and is_plain else self._visibility.of(part, continuous, rays),
                    now_s)
            except Exception as error:      # then nothing new is seen, and hearing goes on
                self.faults.failed((self, "line_of_sight"), "line_of_sight", self.clock.now.frame, error)
                return True
            if self.faults.has_failing:
                self.faults.succeeded((self, "line_of_sight"))
            asked, question, at_once = asked + len(part.row), rest, max(at_once, min(2 * at_once, MOST_AT_ONCE))
        if len(question.row):
            continuous.ages.note_cut_short(asked)
        return True

    def _kept(
        self, number: int, start: NDArray[np.float32], end: NDArray[np.float32], ids: NDArray[np.int32]
    ) -> list[float]:
        """Return the share of a modality that passes along lines; 1 without ``occlusion``, or if it failed."""
        key, kind = (self, "occlusion"), self._modalities[number]
        if len(ids) and self.occlusion and kind.is_muffled and not self.faults.is_quarantined(key):
            try:
                shares = checked_shares(self.occlusion(start, end, ids, kind.name), len(ids))
            except Exception as error:  # sounds go on as if nothing stood between
                self.faults.failed(key, "occlusion", self.clock.now.frame, error)
            else:
                self.faults.succeeded(key)
                return shares
        return [1.0] * len(ids)

    def _check_columns(self, **columns: ArrayLike | None) -> None:
        """Refuse two coordinates in a 3D world, where the third would silently be 0."""
        for name, one in columns.items() if self._up[2] == 0 else ():
            if one is not None and as_array(name, one).shape[1:] == (2,):
                raise ValueError(f"{name} must have shape (n, 3), got 2 columns; for a 2D world pass up=(0, 0, 1)")

    def _known_sensor(self, sensor_id: int) -> int:
        """Return the id of a sensor; raise UnknownNameError if it is not in use."""
        self._sensors.ids.slot(sensor_id)
        return int(sensor_id)


def _upward(up: Sequence[float]) -> NDArray[np.float64]:
    upward = point("up", up).astype(np.float64)
    if not upward.any():
        raise ValueError("up must not be the zero vector, got (0, 0, 0)")
    unit: NDArray[np.float64] = upward / np.linalg.norm(upward)
    return unit
